/*
 * load.c - the load generator of the relay benchmark.
 *
 *   load RUN PROTOCOL --port N --pid PID [--OPTION NUMBER]...
 *
 *   RUN       throughput      as many messages as fit: --pairs, --window, --size, --run-ms, --warm-up-ms
 *             latency         one sender and one receiver at a steady --rate, beside --idle peers: --size, --run-ms,
 *                             --warm-up-ms
 *             registrations   --idle peers that register at once; with --proved 1 each proves its id, the same ones in
 *                             each run; with --tls 1 over TLS; they stay for --settle-ms
 *             store           --pairs senders fill the store: --each messages for each of --idle absent peers, at most
 *                             --window unanswered by a sender; until all are on disk if --health has the relay's page
 *             drain           those peers come back, with the same --run-number, --idle and --each
 *             beside          latency at --rate while another client sends as much to absent peers, by turns at a relay
 *                             that stores on disk and at one, --other-port, that stores in memory: --size, --run-ms
 *   --other-port and --other-pid: of the server that receivers connect to, if it is not the senders'
 *
 *   PROTOCOL  websocket       the relay's frames
 *             raw             those of forward.c
 *             mqtt            MQTT 3.1.1, QoS 0; with --qos 1 QoS 1 and persistent sessions
 *             nats            NATS without JetStream
 *
 * Prints one line of JSON. Every message must arrive once, in order and unaltered: "ok" tells.
 * Ends with 0, or with 2 when one did not, or when the run broke: standard error says why then.
 */
#include "load.h"

#include <string.h>
#include <sys/resource.h>

struct options options = {.pairs = 8, .window = 16, .size = 400, .rate = 1000, .run_ms = 3000, .warm_up_ms = 1000,
                          .quiet_ms = 200, .each = 100};
const struct protocol *protocol;
unsigned run_number;

static const struct {
    const char *name;
    long *value;
    long least;
} numbers[] = {
    {"--port", &options.port, 1},      {"--pid", &options.pid, 1},
    {"--pairs", &options.pairs, 1},    {"--window", &options.window, 1},
    {"--size", &options.size, 1},      {"--rate", &options.rate, 1},
    {"--idle", &options.idle, 0},      {"--run-ms", &options.run_ms, 1},
    {"--warm-up-ms", &options.warm_up_ms, 0}, {"--quiet-ms", &options.quiet_ms, 1},
    {"--other-port", &options.other_port, 1}, {"--other-pid", &options.other_pid, 1},
    {"--proved", &options.proved, 0},  {"--tls", &options.tls, 0},
    {"--each", &options.each, 1},      {"--health", &options.health, 1},
    {"--settle-ms", &options.settle_ms, 0},
    {"--qos", &options.qos, 0},        {"--run-number", &options.run_number, 1},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const struct {
    const char *name;
    int (*run)(void);
} runs[] = {{"throughput", run_throughput}, {"latency", run_latency}, {"registrations", run_registrations},
            {"store", run_store}, {"drain", run_drain}, {"beside", run_beside}};
enum { RUNS = sizeof runs / sizeof *runs };

static const struct protocol *const protocols[] = {&websocket_protocol, &raw_protocol, &mqtt_protocol, &nats_protocol};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

static void read_numbers(int count, char **arguments)
{
    for (int i = 0; i < count; i += 2) {
        size_t known = 0;
        char *end;
        while (known < NUMBERS && strcmp(arguments[i], numbers[known].name) != 0)
            known++;
        if (known == NUMBERS || i + 1 == count)
            broken("unknown option '%s', or it has no value", arguments[i]);
        *numbers[known].value = strtol(arguments[i + 1], &end, 10);
        if (*end != '\0' || *numbers[known].value < numbers[known].least || *numbers[known].value > 1000000000)
            broken("%s takes no '%s'", arguments[i], arguments[i + 1]);
    }
    if (options.port == 0 || options.pid == 0)
        broken("--port and --pid are needed");
}

/* A peer takes a descriptor. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    int (*run)(void) = NULL;
    for (size_t i = 0; argc > 2 && i < RUNS; i++)
        if (strcmp(argv[1], runs[i].name) == 0)
            run = runs[i].run;
    for (size_t i = 0; argc > 2 && i < PROTOCOLS; i++)
        if (strcmp(argv[2], protocols[i]->name) == 0)
            protocol = protocols[i];
    if (run == NULL || protocol == NULL)
        broken("usage: load throughput|latency|registrations|store|drain|beside websocket|raw|mqtt|nats --port N "
               "--pid PID [--OPTION NUMBER]...");
    read_numbers(argc - 3, argv + 3);
    raise_descriptor_limit();
    run_number = options.run_number > 0 ? (unsigned)options.run_number : (unsigned)(now_ns() >> 10);
    make_message((size_t)options.size);
    return run();
}
