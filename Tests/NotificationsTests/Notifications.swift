// Notifications
