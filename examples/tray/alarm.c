#include "alarm.h"

#include <glib-unix.h>
#include <sys/timerfd.h>
#include <unistd.h>

typedef struct {
    int descriptor;
    void (*ring)(gpointer);
    gpointer user_data;
} Alarm;

static void alarm_free(gpointer data) {
    Alarm *alarm = data;
    close(alarm->descriptor);
    g_free(alarm);
}

static gboolean on_ring(gint descriptor, GIOCondition condition, gpointer data) {
    (void)descriptor, (void)condition;
    Alarm *alarm = data;
    alarm->ring(alarm->user_data);
    return G_SOURCE_REMOVE;
}

guint alarm_at(gint64 seconds, void (*ring)(gpointer), gpointer user_data) {
    /* The clock on the wall goes on while the machine sleeps; GLib's timeouts stand still. */
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (descriptor < 0) return 0;
    struct itimerspec moment = {{0, 0}, {(time_t)MAX(seconds, 1), 0}};
    if (timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &moment, NULL) != 0) {
        close(descriptor);
        return 0;
    }
    Alarm *alarm = g_new(Alarm, 1);
    *alarm = (Alarm){descriptor, ring, user_data};
    return g_unix_fd_add_full(G_PRIORITY_DEFAULT, descriptor, G_IO_IN, on_ring, alarm, alarm_free);
}
