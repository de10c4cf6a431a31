/*
 * runs.c - what is measured of a server, each printed as one line of JSON.
 */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/prctl.h>

/* How long messages under way may take after the last was sent. */
#define DRAIN_NS UINT64_C(10000000000)

enum { COMING_AT_ONCE = 4000 /* a relay refuses more that are not registered */ };

static uint64_t milliseconds(long count) { return (uint64_t)count * 1000000u; }

/* The receivers of messages are the odd peers below `end`. */
static uint64_t under_way(uint32_t end)
{
    uint64_t count = 0;
    for (uint32_t receiver = 1; receiver < end; receiver += 2)
        count += peers[receiver].sent - peers[receiver].arrived;
    return count;
}

static void drain(uint32_t end)
{
    const uint64_t deadline = now_ns() + DRAIN_NS;
    while (under_way(end) > 0 && now_ns() < deadline)
        pump(20000000);
}

/* Of all servers together, in seconds. */
static double servers_cpu(void)
{
    double seconds = cpu_seconds((pid_t)options.pid);
    return options.other_pid > 0 ? seconds + cpu_seconds((pid_t)options.other_pid) : seconds;
}

int finish(uint64_t missing)
{
    int is_well;
    tally.lost += missing;
    is_well = (tally.lost | tally.repeated | tally.misrouted | tally.altered | tally.refused) == 0;
    printf(",\"lost\":%" PRIu64 ",\"repeated\":%" PRIu64 ",\"misrouted\":%" PRIu64 ",\"altered\":%" PRIu64
           ",\"refused\":%" PRIu64 ",\"ok\":%s}\n",
           tally.lost, tally.repeated, tally.misrouted, tally.altered, tally.refused, is_well ? "true" : "false");
    return is_well ? 0 : 2;
}

/* ---- throughput: peers 2 i send to peers 2 i + 1 --------------------------------------------------------------- */

static void fill_windows(uint32_t end)
{
    for (uint32_t sender = 0; sender < end; sender += 2) {
        const struct peer *receiver = &peers[sender + 1];
        while (receiver->sent - receiver->arrived < (uint64_t)options.window)
            send_message(&peers[sender], sender + 1);
    }
}

int run_throughput(void)
{
    const uint32_t end = 2 * (uint32_t)options.pairs;
    uint64_t begin, until, now, arrived = 0;
    double server_cpu = 0, own_cpu = 0, seconds;
    int measures = 0;
    make_peers(end);
    register_peers(0, end, REGISTERING_AT_ONCE);
    await_quiet();
    begin = now_ns() + milliseconds(options.warm_up_ms);
    until = begin + milliseconds(options.run_ms);
    while ((now = now_ns()) < until) {
        if (!measures && now >= begin) {
            measures = 1;
            begin = now;
            arrived = tally.arrived;
            server_cpu = servers_cpu();
            own_cpu = cpu_seconds(0);
        }
        fill_windows(end);
        pump(20000000);
    }
    seconds = (double)(now - begin) / 1e9;
    arrived = tally.arrived - arrived;
    server_cpu = servers_cpu() - server_cpu;
    own_cpu = cpu_seconds(0) - own_cpu;
    drain(end);
    printf("{\"messages_per_s\":%.0f,\"server_cpu_us\":%.3f,\"own_cpu_us\":%.3f", (double)arrived / seconds,
           1e6 * server_cpu / (double)(arrived > 0 ? arrived : 1), 1e6 * own_cpu / (double)(arrived > 0 ? arrived : 1));
    return finish(under_way(end));
}

/* ---- latency: peer 0 sends to peer 1, the others do nothing ---------------------------------------------------- */

static struct {
    uint64_t *sent_at, *samples;
    uint64_t first; /* sequence numbers before it are the warm-up's */
    size_t count;
} latencies;

static void take_sample(uint64_t sequence)
{
    if (sequence >= latencies.first)
        latencies.samples[latencies.count++] = now_ns() - latencies.sent_at[sequence];
}

/* An open loop: a message that is late does not hold up the next. */
static void send_steadily(uint64_t count)
{
    const uint64_t begin = now_ns() + 1000000;
    uint64_t sequence = 0;
    while (sequence < count) {
        const uint64_t due = begin + sequence * 1000000000u / (uint64_t)options.rate, now = now_ns();
        if (now < due) {
            pump(due - now);
            continue;
        }
        latencies.sent_at[sequence++] = now_ns();
        send_message(&peers[0], 1);
        pump(0);
    }
}

int run_latency(void)
{
    const uint64_t rate = (uint64_t)options.rate;
    const uint64_t count = rate * (uint64_t)(options.run_ms + options.warm_up_ms) / 1000;
    make_peers(2 + (uint32_t)options.idle);
    latencies.sent_at = calloc(count, sizeof *latencies.sent_at);
    latencies.samples = calloc(count, sizeof *latencies.samples);
    latencies.first = rate * (uint64_t)options.warm_up_ms / 1000;
    if (latencies.sent_at == NULL || latencies.samples == NULL)
        broken("out of memory");
    register_peers(2, (uint32_t)options.idle, REGISTERING_AT_ONCE);
    register_peers(0, 2, REGISTERING_AT_ONCE);
    await_quiet();
    on_arrival = take_sample;
    /* By default the kernel may wake a sleeper 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1000ul);
    send_steadily(count);
    drain(2);
    qsort(latencies.samples, latencies.count, sizeof *latencies.samples, by_size);
    printf("{\"samples\":%zu,\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_us\":%.1f", latencies.count,
           (double)percentile(latencies.samples, latencies.count, 50) / 1e3,
           (double)percentile(latencies.samples, latencies.count, 90) / 1e3,
           (double)percentile(latencies.samples, latencies.count, 99) / 1e3);
    return finish(under_way(2));
}

/* ---- registrations --------------------------------------------------------------------------------------------- */

int run_registrations(void)
{
    const uint32_t count = (uint32_t)options.idle;
    uint64_t begin, end;
    make_peers(count);
    milestone.count = ((uint64_t)count * 95 + 99) / 100;
    begin = now_ns();
    register_peers(0, count, COMING_AT_ONCE);
    end = now_ns();
    await_quiet();
    for (const uint64_t until = now_ns() + milliseconds(options.settle_ms); now_ns() < until;)
        pump(20000000);
    printf("{\"registration_ms\":%.1f,\"of_95_percent_ms\":%.1f,\"server_rss_kib\":%ld", (double)(end - begin) / 1e6,
           (double)(milestone.at - begin) / 1e6, status_number((pid_t)options.pid, "VmRSS:"));
    return finish(0);
}
