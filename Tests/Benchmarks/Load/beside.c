/*
 * beside.c - latency between peers that are online while another client sends messages that are stored.
 *
 * A difference of a few percent is less than what one process differs from the next, so one run measures two relays and
 * changes between them every 200 ms: what disturbs the machine disturbs all alike.
 */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/prctl.h>

#define TURN_NS UINT64_C(200000000)
/* Messages at the beginning of a turn find cold caches, and are not counted; after it, commits may end. */
#define WARM_UP_NS UINT64_C(20000000)
#define REST_NS UINT64_C(20000000)
#define PATIENCE_NS UINT64_C(10000000000)

/* At each relay a sender, a receiver, and one who sends to absent peers. Those come after all. */
enum { SENDER, RECEIVER, STORER, AT_RELAY, ONLINE = 2 * AT_RELAY };

enum { WAYS = 3 };
static struct {
    const char *name;
    uint32_t first; /* the peers of its relay */
    int stores;
    uint64_t *samples;
    size_t count;
} ways[WAYS] = {
    {"on disk", 0, 1, NULL, 0}, {"in memory", AT_RELAY, 1, NULL, 0}, {"nothing stored", AT_RELAY, 0, NULL, 0}};

static struct {
    size_t way;
    uint64_t first;    /* sequence numbers before it are the warm-up's */
    uint64_t *sent_at; /* by the sequence number, of one relay         */
} turn;

static int is_in_memory(uint32_t number) { return number >= AT_RELAY && number < ONLINE; }

static void take_sample(uint64_t sequence)
{
    if (sequence >= turn.first)
        ways[turn.way].samples[ways[turn.way].count++] = now_ns() - turn.sent_at[sequence];
}

static void rest(uint64_t until)
{
    uint64_t now;
    while ((now = now_ns()) < until)
        pump(until - now);
}

static uint64_t missing(void)
{
    uint64_t count = 0;
    for (uint32_t first = 0; first < ONLINE; first += AT_RELAY)
        count += peers[first + RECEIVER].sent - peers[first + RECEIVER].arrived + peers[first + STORER].posted
                 - peers[first + STORER].accepted;
    return count;
}

/* An open loop: a message that is late does not hold up the next. Those to be stored are sent halfway between others. */
static void take_turn(size_t way, uint64_t *sent_at)
{
    const uint32_t first = ways[way].first;
    const uint64_t apart = 1000000000u / (uint64_t)options.rate, begin = now_ns() + apart;
    struct peer *const storer = &peers[first + STORER];
    uint64_t *const sequence = &peers[first + RECEIVER].sent;
    /* Absent peers of the two relays have different numbers: even and odd ones. */
    const uint32_t absent = ONLINE + first / AT_RELAY;
    turn.way = way;
    turn.sent_at = sent_at;
    turn.first = *sequence + WARM_UP_NS / apart;
    for (uint64_t at = begin; at < begin + TURN_NS; at += apart) {
        rest(at);
        sent_at[*sequence] = now_ns();
        send_message(&peers[first + SENDER], first + RECEIVER);
        rest(at + apart / 2);
        if (ways[way].stores)
            post_message(storer, absent + 2 * (uint32_t)(storer->posted / (uint64_t)options.each));
    }
    rest(now_ns() + REST_NS);
    for (const uint64_t deadline = now_ns() + PATIENCE_NS; missing() > 0 && now_ns() < deadline;)
        pump(20000000);
}

static uint64_t *room(uint64_t count)
{
    uint64_t *numbers = calloc(count, sizeof *numbers);
    if (numbers == NULL)
        broken("out of memory");
    return numbers;
}

int run_beside(void)
{
    const uint64_t turns = (uint64_t)options.run_ms * 1000000u / TURN_NS + 1;
    const uint64_t of_turn = TURN_NS * (uint64_t)options.rate / 1000000000u + 2;
    uint64_t *sent_at[2];
    if (options.other_port == 0)
        broken("--other-port is needed");
    is_elsewhere = is_in_memory;
    make_peers(ONLINE + 2 * (uint32_t)(turns * of_turn / (uint64_t)options.each + 1));
    for (size_t i = 0; i < 2; i++)
        sent_at[i] = room(2 * turns * of_turn);
    for (size_t way = 0; way < WAYS; way++)
        ways[way].samples = room(turns * of_turn);
    register_peers(0, ONLINE, REGISTERING_AT_ONCE);
    await_quiet();
    on_arrival = take_sample;
    /* By default the kernel may wake a sleeper 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1000ul);
    for (uint64_t i = 0; i < turns; i++)
        for (size_t way = 0; way < WAYS; way++)
            take_turn(way, sent_at[ways[way].first / AT_RELAY]);
    printf("{\"ways\":{");
    for (size_t way = 0; way < WAYS; way++) {
        qsort(ways[way].samples, ways[way].count, sizeof *ways[way].samples, by_size);
        printf("%s\"%s\":{\"samples\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f}", way > 0 ? "," : "", ways[way].name,
               ways[way].count, (double)percentile(ways[way].samples, ways[way].count, 50) / 1e3,
               (double)percentile(ways[way].samples, ways[way].count, 99) / 1e3);
    }
    printf("}");
    return finish(missing());
}
