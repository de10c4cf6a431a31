/*
 * loads.c - a relay, a desktop and a device, and pushes between them.
 */
#include "driver.h"

#include <string.h>
#include <unistd.h>

enum { KEPT_BY_DEFAULT = 10000 };

/* ---- a relay, a desktop and a device -------------------------------------------------------------------------- */

double fill(struct process *desktop, uint64_t rows)
{
    uint64_t sent, begin, last, late;
    if (rows > KEPT_BY_DEFAULT)
        ask(desktop, "keep %" PRIu64, rows);
    if (sscanf(ask(desktop, "send %" PRIu64 " 600 256 0 0", rows), "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &sent,
               &begin, &last, &late) != 4
        || sent != rows)
        broken("the desktop's answer is '%s'", desktop->line);
    return (double)rows * 1e9 / (double)(last - begin);
}

void open_trio(struct trio *trio, const char *name, uint64_t rows, int counts)
{
    static const char *const roles[3] = {"relay", "desktop", "device"};
    char counters[3][512], directory[3][512], text[LINE];
    for (int i = 0; i < 3; i++) {
        snprintf(counters[i], sizeof counters[i], "%s/%s.%" PRIu64 ".%s.counters", work, name, rows, roles[i]);
        snprintf(directory[i], sizeof directory[i], "%s/%s.%" PRIu64 ".%s", work, name, rows, roles[i]);
        if (counts)
            map_counters(counters[i], 1);
    }
    if (counts) {
        setenv(DESKTOP_COUNTERS_VARIABLE, counters[1], 1);
        setenv(DEVICE_COUNTERS_VARIABLE, counters[2], 1);
    }
    start(&trio->relay, "relay", "relay", "", "", counts ? counters[0] : NULL);
    snprintf(trio->url, sizeof trio->url, "%.63s", answer(&trio->relay));
    start(&trio->desktop, "desktop", "desktop", directory[1], trio->url, counts ? counters[1] : NULL);
    start(&trio->device, "device", "device", directory[2], trio->url, counts ? counters[2] : NULL);
    unsetenv(DESKTOP_COUNTERS_VARIABLE);
    unsetenv(DEVICE_COUNTERS_VARIABLE);
    answer(&trio->desktop);
    answer(&trio->device);
    if (rows > 0)
        fill(&trio->desktop, rows);
    snprintf(text, sizeof text, "%s", ask(&trio->desktop, "offer"));
    ask(&trio->device, "pair %s", text);
    ask(&trio->device, "unread %" PRIu64, rows);
    trio->next = 0;
}

void close_trio(struct trio *trio)
{
    end(&trio->device);
    end(&trio->desktop);
    end(&trio->relay);
}

void await_quiet(const struct trio *trio)
{
    uint64_t deadline = now_ns() + UINT64_C(60000000000);
    double before, after = cpu_seconds(trio->desktop.pid) + cpu_seconds(trio->device.pid);
    do {
        before = after;
        pause_ms(300);
        after = cpu_seconds(trio->desktop.pid) + cpu_seconds(trio->device.pid);
    } while (after - before > 0.01 && now_ns() < deadline);
}

/* ---- loads ---------------------------------------------------------------------------------------------------- */

static struct counters difference(const struct counters *after, const struct counters *before)
{
    struct counters result = {after->syncs - before->syncs, after->writes - before->writes,
                              after->bytes - before->bytes, after->log_pages - before->log_pages,
                              after->checkpointed - before->checkpointed};
    return result;
}

struct outcome run(struct trio *trio, const struct load *load)
{
    struct outcome outcome;
    struct counters desktop = {0, 0, 0, 0, 0}, device = {0, 0, 0, 0, 0};
    uint64_t begin, last_answer, last_arrival, received, p50, p90, p99, most, desktop_syncs, device_syncs;
    uint64_t desktop_pages, device_pages;
    double relay_s, desktop_s, device_s, n;
    memset(&outcome, 0, sizeof outcome);
    ask(&trio->device, "expect %" PRIu64 " %" PRIu64, trio->next, load->count);
    if (trio->desktop.counters != NULL) {
        desktop = *trio->desktop.counters;
        device = *trio->device.counters;
    }
    relay_s = cpu_seconds(trio->relay.pid);
    desktop_s = cpu_seconds(trio->desktop.pid);
    device_s = cpu_seconds(trio->device.pid);
    if (sscanf(ask(&trio->desktop, "send %" PRIu64 " %f %" PRIu64 " %f %" PRIu64, load->count, load->seconds,
                   load->window, load->rate, trio->next),
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &outcome.sent, &begin, &last_answer, &outcome.late) != 4)
        broken("the desktop's answer is '%s'", trio->desktop.line);
    trio->next += outcome.sent;
    if (sscanf(ask(&trio->device, "report %" PRIu64, trio->next),
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64,
               &received, &p50, &p90, &p99, &most, &last_arrival, &desktop_syncs, &device_syncs, &desktop_pages,
               &device_pages) != 10)
        broken("the device's answer is '%s'", trio->device.line);
    if (received != outcome.sent || outcome.sent == 0)
        broken("%" PRIu64 " pushes were sent, %" PRIu64 " came", outcome.sent, received);
    /* Marks that may follow a push belong to its cost. */
    pause_ms(120);
    n = (double)outcome.sent;
    outcome.relay_us = (cpu_seconds(trio->relay.pid) - relay_s) / n * 1e6;
    outcome.desktop_us = (cpu_seconds(trio->desktop.pid) - desktop_s) / n * 1e6;
    outcome.device_us = (cpu_seconds(trio->device.pid) - device_s) / n * 1e6;
    outcome.p50 = (double)p50 / 1e6;
    outcome.p90 = (double)p90 / 1e6;
    outcome.p99 = (double)p99 / 1e6;
    outcome.most = (double)most / 1e6;
    outcome.rate = n * 1e9 / (double)(last_arrival - begin);
    if (trio->desktop.counters != NULL) {
        outcome.desktop = difference(trio->desktop.counters, &desktop);
        outcome.device = difference(trio->device.counters, &device);
        outcome.desktop_syncs_before_callback = (double)desktop_syncs / n;
        outcome.device_syncs_before_callback = (double)device_syncs / n;
        outcome.desktop_pages_before_callback = (double)desktop_pages / n;
        outcome.device_pages_before_callback = (double)device_pages / n;
    }
    return outcome;
}
