/*
 * push.c - what a push costs, from bw_desktop_notify_async() to the device's callback.
 *
 *   push [--short | --indexing ROWS | --sharing] [--json FILE] --work DIR --counted LIBRARY
 *
 * Started by push.sh. Relay, desktop and device are this program in other roles, each a process with the shared library.
 * Every push must arrive once and in order, or the run ends with 2. "Under way" are the pushes that bw_desktop_notify_async
 * has taken and not yet completed. Latencies are from the call to the callback by the clock that all processes share;
 * processor time is user and system time of all threads of a process; syncs and writes come from a run of their own, in
 * which LIBRARY is preloaded.
 * Ends with 0, with 1 when a bar was missed, or with 2.
 */
#include "Push/driver.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

int is_short;
const char *work, *counted_library;

static FILE *json;
static int missed;

/* ---- what is printed ------------------------------------------------------------------------------------------ */

static void bar(const char *what, double value, double bound, int at_least, const char *unit)
{
    int holds = at_least ? value >= bound : value <= bound;
    printf("  %s %s: %.2f %s (bar %s %.2f)\n", holds ? "ok    " : "MISSED", what, value, unit,
           at_least ? "at least" : "at most", bound);
    fprintf(json, ",\n  {\"bar\":\"%s\",\"value\":%.4f,\"bound\":%.4f,\"held\":%s}", what, value, bound,
            holds ? "true" : "false");
    missed += !holds;
}

static void print_timed_head(void)
{
    printf("  %-22s %7s %8s %8s %8s %8s %9s   %s\n", "under way", "pushes", "p50 ms", "p90 ms", "p99 ms", "max ms",
           "pushes/s", "CPU us/push: relay desktop device");
}

static void print_timed(const struct load *load, const struct outcome *outcome, uint64_t rows)
{
    printf("  %-22s %7" PRIu64 " %8.2f %8.2f %8.2f %8.2f %9.0f   %18.0f %7.0f %6.0f", load->name, outcome->sent,
           outcome->p50, outcome->p90, outcome->p99, outcome->most, outcome->rate, outcome->relay_us,
           outcome->desktop_us, outcome->device_us);
    if (outcome->late > 0)
        printf("   (%" PRIu64 " not acknowledged within 2 s)", outcome->late);
    putchar('\n');
    fflush(stdout);
    fprintf(json,
            ",\n  {\"run\":\"timed\",\"unread\":%" PRIu64 ",\"load\":\"%s\",\"pushes\":%" PRIu64 ",\"p50_ms\":%.4f,"
            "\"p90_ms\":%.4f,\"p99_ms\":%.4f,\"max_ms\":%.4f,\"per_s\":%.1f,\"relay_us\":%.2f,\"desktop_us\":%.2f,"
            "\"device_us\":%.2f}",
            rows, load->name, outcome->sent, outcome->p50, outcome->p90, outcome->p99, outcome->most, outcome->rate,
            outcome->relay_us, outcome->desktop_us, outcome->device_us);
}

static void print_counted(const struct load *load, const struct outcome *outcome)
{
    static const char *const names[2] = {"desktop", "device"};
    const struct counters *const of[2] = {&outcome->desktop, &outcome->device};
    double n = (double)outcome->sent;
    for (int i = 0; i < 2; i++) {
        double syncs = (double)of[i]->syncs / n, writes = (double)of[i]->writes / n, bytes = (double)of[i]->bytes / n;
        double pages = (double)of[i]->log_pages / n, checkpointed = (double)of[i]->checkpointed / n;
        printf("  %-22s %7" PRIu64 " %-8s %8.2f %8.2f %8.2f %10.2f %10.0f\n", load->name, outcome->sent, names[i], syncs,
               writes, pages, checkpointed, bytes);
        fprintf(json,
                ",\n  {\"run\":\"counted\",\"load\":\"%s\",\"process\":\"%s\",\"pushes\":%" PRIu64
                ",\"syncs\":%.4f,\"writes\":%.4f,\"log_pages\":%.4f,\"checkpointed\":%.4f,\"bytes\":%.1f}",
                load->name, names[i], outcome->sent, syncs, writes, pages, checkpointed, bytes);
    }
    fflush(stdout);
}

/* ---- the parts of a run --------------------------------------------------------------------------------------- */

enum { ALONE, THIRTY_TWO, MANY, STEADY, LOADS };
/* Levels of unread rows in the long form. */
enum { TWENTY_THOUSAND = 2, LEVELS = 4 };

static const struct load long_loads[LOADS] = {{"1", 1, 0, 2000, 3},
                                              {"32", 32, 0, 10000, 3},
                                              {"256", 256, 0, 30000, 4},
                                              {"steady, 300/s", 1000, 300, 900, 3}};
static const struct load short_loads[LOADS] = {{"1", 1, 0, 100, 1},
                                               {"32", 32, 0, 500, 1},
                                               {"256", 256, 0, 1000, 2},
                                               {"steady, 300/s", 1000, 300, 150, 1}};

/* How many pushes a second a desktop without devices takes. */
static double alone(void)
{
    struct trio trio;
    double rate;
    char directory[512];
    snprintf(directory, sizeof directory, "%s/alone", work);
    start(&trio.relay, "relay", "relay", "", "", NULL);
    start(&trio.desktop, "desktop", "desktop", directory, answer(&trio.relay), NULL);
    answer(&trio.desktop);
    rate = fill(&trio.desktop, is_short ? 2000 : 40000);
    end(&trio.desktop);
    end(&trio.relay);
    printf("a desktop without devices, 256 under way: %.0f pushes/s\n", rate);
    fprintf(json, ",\n  {\"alone_per_s\":%.1f}", rate);
    return rate;
}

static void memory(const struct trio *trio, uint64_t rows)
{
    long kib = status_number(trio->device.pid, "VmRSS:"), threads = status_number(trio->device.pid, "Threads:");
    printf("  the device afterwards: %.1f MiB resident, %ld threads\n", (double)kib / 1024, threads);
    fprintf(json, ",\n  {\"unread\":%" PRIu64 ",\"device_rss_kib\":%ld,\"device_threads\":%ld}", rows, kib, threads);
}

/* One push at a time while both sides search text that was never searched, right after many rows came. `slowest_ms`
 * gets the slower search. */
static double beside_indexing(struct trio *trio, uint64_t rows, double *slowest_ms)
{
    static const struct load load = {"1, beside a search", 1, 0, 2000, 2};
    struct outcome outcome;
    double desktop_ms, device_ms;
    ask(&trio->desktop, "search");
    ask(&trio->device, "search");
    outcome = run(trio, &load);
    desktop_ms = strtod(ask(&trio->desktop, "searched"), NULL) / 1000;
    device_ms = strtod(ask(&trio->device, "searched"), NULL) / 1000;
    print_timed(&load, &outcome, rows);
    printf("  the first search: %.1f ms of the history, %.1f ms of the inbox\n", desktop_ms, device_ms);
    fprintf(json, ",\n  {\"unread\":%" PRIu64 ",\"history_search_ms\":%.2f,\"inbox_search_ms\":%.2f}", rows, desktop_ms,
            device_ms);
    *slowest_ms = desktop_ms > device_ms ? desktop_ms : device_ms;
    return outcome.p50;
}

/* One level of unread rows. Gives the p50 of one at a time beside a search. */
static double timed_run(struct outcome *outcomes, uint64_t rows, int searches)
{
    const struct load *loads = is_short ? short_loads : long_loads;
    struct trio trio;
    double beside = 0, slowest_ms;
    printf("%" PRIu64 " unread rows\n", rows);
    print_timed_head();
    open_trio(&trio, "timed", rows, 0);
    if (searches)
        beside = beside_indexing(&trio, rows, &slowest_ms);
    for (int i = 0; i < LOADS; i++) {
        await_quiet(&trio);
        outcomes[i] = run(&trio, &loads[i]);
        print_timed(&loads[i], &outcomes[i], rows);
        if (rows == 0)
            ask(&trio.device, "read");
    }
    memory(&trio, rows);
    close_trio(&trio);
    return beside;
}

enum { FIRST, SPACED, COUNTED_ALONE, COUNTED_BATCH, COUNTED_MANY, COUNTED_STEADY, COUNTED_LOADS };

static void counted_run(struct outcome *outcomes)
{
    static const struct load loads[COUNTED_LOADS] = {{"the first of a process", 1, 1 / 0.15, 1, 30},
                                                     {"1, every 150 ms", 1, 1 / 0.15, 20, 30},
                                                     {"1", 1, 0, 200, 2},
                                                     {"64", 64, 0, 2048, 4},
                                                     {"256", 256, 0, 4096, 4},
                                                     {"steady, 300/s", 1000, 300, 300, 2}};
    struct trio trio;
    printf("counted run, a preloaded library counts; for each push\n");
    printf("  %-22s %7s %-8s %8s %8s %8s %10s %10s\n", "under way", "pushes", "process", "syncs", "writes", "pages",
           "checkpoint", "bytes");
    open_trio(&trio, "counted", 0, 1);
    await_quiet(&trio);
    for (int i = 0; i < COUNTED_LOADS; i++) {
        struct load load = loads[i];
        if (is_short && load.count > 100)
            load.count /= 4;
        outcomes[i] = run(&trio, &load);
        print_counted(&load, &outcomes[i]);
    }
    /* The device notes once that a host takes its pushes: at the first one. */
    printf("  before the callback, every 150 ms: %.2f syncs of the desktop, %.2f of the device; the first of a process: "
           "%.2f and %.2f\n",
           outcomes[SPACED].desktop_syncs_before_callback, outcomes[SPACED].device_syncs_before_callback,
           outcomes[FIRST].desktop_syncs_before_callback, outcomes[FIRST].device_syncs_before_callback);
    printf("  %.2f pages of the desktop, %.2f of the device\n", outcomes[SPACED].desktop_pages_before_callback,
           outcomes[SPACED].device_pages_before_callback);
    close_trio(&trio);
}

/* What does not depend on the machine. A push and the marks behind it have a commit each. */
static void counted_bars(const struct outcome *counted)
{
    const struct outcome *alone = &counted[SPACED];
    double n = (double)alone->sent;
    bar("syncs before the callback, desktop", alone->desktop_syncs_before_callback, 1, 0, "a push");
    bar("syncs before the callback, device", alone->device_syncs_before_callback, 1, 0, "a push");
    bar("pages of a push alone, desktop", alone->desktop_pages_before_callback, 6, 0, "a commit");
    bar("pages of a push alone, device", alone->device_pages_before_callback, 6, 0, "a commit");
    bar("pages of the marks behind it, desktop",
        (double)alone->desktop.log_pages / n - alone->desktop_pages_before_callback, 6, 0, "a commit");
    bar("pages of the marks behind it, device",
        (double)alone->device.log_pages / n - alone->device_pages_before_callback, 6, 0, "a commit");
}

static double cost_us(const struct outcome *outcome) { return outcome->desktop_us + outcome->device_us; }

static void bars(const struct floors *floors, struct outcome (*timed)[LOADS], int last, const struct outcome *counted,
                 double alone_per_s, double indexing_p50)
{
    const struct outcome *many = &timed[0][MANY], *batch = &counted[COUNTED_BATCH];
    double alone_ms = (2 * floors->commit_us + 3 * floors->hop_us) / 1000 + 0.3;
    bar("one at a time, p50", timed[0][ALONE].p50, alone_ms, 0, "ms");
    bar("one at a time, 20000 unread rows, p50", timed[TWENTY_THOUSAND][ALONE].p50, alone_ms, 0, "ms");
    bar("one at a time, CPU of the desktop", timed[0][ALONE].desktop_us, 300, 0, "us");
    bar("one at a time, CPU of the device", timed[0][ALONE].device_us, 300, 0, "us");
    bar("256 under way", many->rate, 8000, 1, "pushes/s");
    bar("256 under way, CPU of the relay", many->relay_us, 70, 0, "us");
    bar("256 under way, CPU of the desktop", many->desktop_us, 70, 0, "us");
    bar("256 under way, CPU of the device", many->device_us, 70, 0, "us");
    bar("most unread rows against none, CPU at 256", cost_us(&timed[last][MANY]) / cost_us(many), 1.2, 0, "x");
    bar("most unread rows against none, rate at 256", many->rate / timed[last][MANY].rate, 1.2, 0, "x");
    bar("most unread rows against none, p50 of one", timed[last][ALONE].p50 / timed[0][ALONE].p50, 1.2, 0, "x");
    bar("beside a first search, p50 of one", indexing_p50 / timed[last][ALONE].p50, 2, 0, "x");
    bar("a desktop without devices", alone_per_s, 20000, 1, "pushes/s");
    bar("pages written with 64 under way, desktop",
        (double)(batch->desktop.log_pages + batch->desktop.checkpointed) / (double)batch->sent, 6, 0, "a push");
    bar("pages written with 64 under way, device",
        (double)(batch->device.log_pages + batch->device.checkpointed) / (double)batch->sent, 6, 0, "a push");
}

static struct floors floors_of_now(void)
{
    struct process forwarder;
    struct floors floors;
    start(&forwarder, "forwarder", "forward", "", "", NULL);
    floors = measure_floors(work, (int)strtol(answer(&forwarder), NULL, 10), is_short ? 100 : 500);
    end(&forwarder);
    return floors;
}

static int benchmark(void)
{
    static const uint64_t long_levels[LEVELS] = {0, 10000, 20000, 100000}, short_levels[2] = {0, 2000};
    const uint64_t *levels = is_short ? short_levels : long_levels;
    int count = is_short ? 2 : LEVELS;
    struct outcome timed[LEVELS][LOADS], counted[COUNTED_LOADS];
    struct floors before, after, floors;
    double alone_per_s = 0, indexing_p50 = 0;

    before = floors_of_now();
    alone_per_s = alone();
    for (int i = 0; i < count; i++)
        indexing_p50 = timed_run(timed[i], levels[i], !is_short && i == count - 1);
    counted_run(counted);
    after = floors_of_now();
    floors.commit_us = (before.commit_us + after.commit_us) / 2;
    floors.sync_us = (before.sync_us + after.sync_us) / 2;
    floors.hop_us = (before.hop_us + after.hop_us) / 2;
    printf("floors, medians before and after: SQLite commit %.0f and %.0f us, 4 KiB and fdatasync %.0f and %.0f us, "
           "raw hop %.0f and %.0f us\n",
           before.commit_us, after.commit_us, before.sync_us, after.sync_us, before.hop_us, after.hop_us);
    fprintf(json, ",\n  {\"commit_us\":%.1f,\"sync_us\":%.1f,\"hop_us\":%.1f}", floors.commit_us, floors.sync_us,
            floors.hop_us);
    printf("bars\n");
    counted_bars(counted);
    if (!is_short)
        bars(&floors, timed, count - 1, counted, alone_per_s, indexing_p50);
    if (missed > 0)
        printf("%d bars missed\n", missed);
    else
        printf("all bars held\n");
    return missed > 0;
}

/* Pushes beside the indexing of so many rows, against pushes after it. */
static int indexing_benchmark(uint64_t rows)
{
    struct trio trio;
    struct outcome usual;
    double slowest_ms, beside;
    printf("%" PRIu64 " rows of history\n", rows);
    print_timed_head();
    open_trio(&trio, "indexing", rows, 0);
    beside = beside_indexing(&trio, rows, &slowest_ms);
    await_quiet(&trio);
    usual = run(&trio, &long_loads[ALONE]);
    print_timed(&long_loads[ALONE], &usual, rows);
    memory(&trio, rows);
    close_trio(&trio);
    bar("beside a first search, p50 of one", beside / usual.p50, 2, 0, "x");
    bar("the first search", slowest_ms, 50, 0, "ms");
    return missed > 0;
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* What sharing costs: the same loads by turns on a device that is shared, which is the default, and on one that is not.
 * Each turn gives a ratio, and the median of them counts. */
static int sharing_benchmark(void)
{
    enum { TURNS = 15, MEASURED = 4 };
    static const struct load one = {"1", 1, 0, 1000, 2}, many = {"256", 256, 0, 10000, 2};
    static const char *const what[MEASURED] = {"sharing, p50 of one", "sharing, CPU of the device at one",
                                               "sharing, CPU of the device at 256", "sharing, time of a push at 256"};
    struct trio shared, unshared, *trios[2] = {&shared, &unshared};
    double ratios[MEASURED][TURNS];
    print_timed_head();
    open_trio(&shared, "shared", 0, 0);
    setenv(UNSHARED_VARIABLE, "1", 1);
    open_trio(&unshared, "unshared", 0, 0);
    unsetenv(UNSHARED_VARIABLE);
    for (int turn = 0; turn < TURNS; turn++) {
        struct outcome alone[2], batch[2];
        for (int i = 0; i < 2; i++) {
            int which = (i + turn) % 2;
            await_quiet(trios[which]);
            alone[which] = run(trios[which], &one);
            batch[which] = run(trios[which], &many);
            ask(&trios[which]->device, "read");
        }
        ratios[0][turn] = alone[0].p50 / alone[1].p50;
        ratios[1][turn] = alone[0].device_us / alone[1].device_us;
        ratios[2][turn] = batch[0].device_us / batch[1].device_us;
        ratios[3][turn] = batch[1].rate / batch[0].rate;
        for (int i = 0; i < 2; i++) {
            print_timed(&one, &alone[i], 0);
            print_timed(&many, &batch[i], 0);
        }
    }
    close_trio(&shared);
    close_trio(&unshared);
    for (int i = 0; i < MEASURED; i++) {
        qsort(ratios[i], TURNS, sizeof(double), ascending);
        bar(what[i], ratios[i][TURNS / 2], 1.03, 0, "x");
    }
    return missed > 0;
}

int main(int argc, char **argv)
{
    const char *numbers = "/dev/null";
    uint64_t indexed_rows = 0;
    int status, is_of_sharing = 0;
    if (argc == 4 && strcmp(argv[1], "relay") == 0)
        return relay_role();
    if (argc == 4 && strcmp(argv[1], "desktop") == 0)
        return desktop_role(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "device") == 0)
        return device_role(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "forward") == 0)
        return forward_role();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--short") == 0)
            is_short = 1;
        else if (strcmp(argv[i], "--indexing") == 0 && i + 1 < argc)
            indexed_rows = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--sharing") == 0)
            is_of_sharing = 1;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            numbers = argv[++i];
        else if (strcmp(argv[i], "--work") == 0 && i + 1 < argc)
            work = argv[++i];
        else if (strcmp(argv[i], "--counted") == 0 && i + 1 < argc)
            counted_library = argv[++i];
        else
            broken("unknown option '%s'", argv[i]);
    }
    if (work == NULL || counted_library == NULL)
        broken("--work and --counted are needed; push.sh gives them");
    watch_processes();
    json = fopen(numbers, "w");
    if (json == NULL)
        broken("cannot write %s", numbers);
    fprintf(json, "[\n  {\"form\":\"%s\",\"cores\":%ld}", is_short ? "short" : "long", sysconf(_SC_NPROCESSORS_ONLN));
    if (is_of_sharing)
        status = sharing_benchmark();
    else
        status = indexed_rows > 0 ? indexing_benchmark(indexed_rows) : benchmark();
    fprintf(json, "\n]\n");
    if (fclose(json) != 0)
        broken("the numbers cannot be written");
    return status;
}
