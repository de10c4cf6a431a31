/*
 * desktop_alert.h - what a device asks the desktop to show, on its screen. A device's own alerts are the library's.
 */
#ifndef TRAY_DESKTOP_ALERT_H
#define TRAY_DESKTOP_ALERT_H

#include <gio/gio.h>
#include <jansson.h>

/* Shows a notification, data as of the event notification.received, where there is a notification server. opened is
 * called with its id when somebody taps it. */
typedef struct DesktopAlerts DesktopAlerts;
DesktopAlerts *desktop_alerts_new(void (*opened)(const char *id, gpointer), gpointer user_data);
void desktop_alerts_show(DesktopAlerts *self, json_t *data);
void desktop_alerts_free(DesktopAlerts *self);

#endif
