/// Where a notification began. Absent or unknown is the desktop.
package enum NotificationSource: String, Sendable, Hashable, CaseIterable {
    case pc
    case mobile
}
