/*
 * Several programs with one device: who holds it, what its guests may do, and what happens when the holder ends.
 *
 *   sharing [TEST…]                        the tests; SHARING_SEED repeats a run, SHARING_PUSHES sets its length
 *   sharing --measure KILLS                prints what a guest costs and how long a takeover takes
 */
#include "sharing.h"

/* ---- one process ----------------------------------------------------------------------------------------------- */

static void calls_and_pushes_of_a_guest(void)
{
    char directory[96];
    char *json = NULL;
    json_t *list;
    struct record first, second;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *holder, *guest;
    path_in(directory, sizeof directory, "shared");
    record_begin(&first);
    record_begin(&second);
    holder = open_shared(directory, "org.example.First");
    guest = open_shared(directory, "org.example.Second");
    CHECK(is_part(holder, "holder"), "the first to open it is the holder");
    CHECK(is_part(guest, "guest"), "the second is a guest");
    CHECK_STATUS(bw_device_subscribe(holder, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(guest, "notification.received", record_event, &second, NULL, NULL), BW_OK);

    /* A guest pairs, and both see it. */
    if (!pair(guest, desktop))
        return;
    CHECK_STATUS(bw_pairing_list(holder, &json), BW_OK);
    list = parsed(json);
    CHECK_NUMBER(json_array_size(list), 1);
    json_decref(list);
    CHECK_STATUS(bw_pairing_list(guest, &json), BW_OK);
    list = parsed(json);
    CHECK_NUMBER(json_array_size(list), 1);
    json_decref(list);

    /* Calls of a guest reach the desktop; wrong parameters are found at once. */
    CHECK_STATUS(bw_notification_get_unread_count(guest, NULL, NULL, within(10000), &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_notification_send(guest, NULL, "{\"title\":7}", within(10000), NULL), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send_async(guest, NULL, "{\"title\":7}", within(10000), complete, NULL, NULL),
                 BW_E_INVALID);
    CHECK_STATUS(bw_pairing_unpair(guest, "did:key:nobody"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_load(guest, "{\"limit\":1}", &json), BW_OK);
    bw_free(json);

    /* Each gets every push once, from its first dispatch with a subscription on. */
    CHECK_STATUS(bw_device_dispatch(holder), BW_OK);
    CHECK_STATUS(bw_device_dispatch(guest), BW_OK);
    notify(desktop, 0);
    notify(desktop, 1);
    first.wanted = second.wanted = 2;
    CHECK(dispatch_until(only_device(holder), recorded, &first, 10000), "the holder gets the pushes");
    CHECK(dispatch_until(only_device(guest), recorded, &second, 10000), "the guest gets them, too");
    CHECK(is_title(&first, 0, 0) && is_title(&first, 1, 1), "in order");
    CHECK(is_title(&second, 0, 0) && is_title(&second, 1, 1), "in order, at the guest");

    /* The holder ends; the guest goes on. */
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK(is_part(guest, "holder"), "when the holder ends, the guest takes over");
    notify(desktop, 2);
    second.wanted = 3;
    CHECK(dispatch_until(only_device(guest), recorded, &second, 10000), "its subscriptions go on");
    CHECK(is_title(&second, 2, 2), "with the next push, and nothing comes twice");
    CHECK_STATUS(bw_notification_get_unread_count(guest, NULL, NULL, within(10000), NULL), BW_OK);

    /* The first program comes again: what it has missed, and no more. */
    holder = open_shared(directory, "org.example.First");
    CHECK(is_part(holder, "guest"), "who comes again is a guest");
    CHECK_STATUS(bw_device_subscribe(holder, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    first.wanted = 3;
    CHECK(dispatch_until(only_device(holder), recorded, &first, 10000), "a program gets what it has missed");
    CHECK(is_title(&first, 2, 2), "by its own mark");
    CHECK_NUMBER(first.events, 3);
    CHECK_NUMBER(second.events, 3);

    CHECK_STATUS(bw_device_close(guest), BW_OK);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&first);
    record_end(&second);
}

static void options_of_a_guest(void)
{
    char directory[96];
    char options[256];
    bw_device *holder = NULL, *guest = NULL;
    path_in(directory, sizeof directory, "options");
    CHECK_STATUS(open_with(directory, "org.example.First", ",\"name\":\"one\",\"late_alerts\":\"each\"", &holder), BW_OK);
    CHECK_STATUS(open_with(directory, "org.example.Second", ",\"name\":\"two\"", &guest), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "shared_option");
    CHECK_STATUS(open_with(directory, "org.example.Second", ",\"relay_url\":\"ws://127.0.0.1:1\"", &guest), BW_E_INVALID);
    CHECK_STATUS(open_with(directory, "org.example.Second", ",\"name\":\"one\",\"platform\":\"linux\"", &guest), BW_OK);
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    /* Without any option but the directory it joins, and for itself it gets nothing. */
    snprintf(options, sizeof options, "{\"state_dir\":\"%.100s\"}", directory);
    CHECK_STATUS(bw_device_open(options, &guest), BW_OK);
    CHECK(is_part(guest, "guest"), "sharing is the default");
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    snprintf(options, sizeof options, "{\"state_dir\":\"%.100s\",\"shared\":false}", directory);
    CHECK_STATUS(bw_device_open(options, &guest), BW_E_BUSY);
    CHECK_STATUS(open_with(directory, "org.example.Second", ",\"yields\":true,\"shared\":false", &guest), BW_E_INVALID);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK_STATUS(bw_device_open(options, &guest), BW_OK);
    CHECK_STATUS(open_with(directory, "org.example.Second", "", &holder), BW_E_BUSY);
    CHECK_STATUS(bw_device_close(guest), BW_OK);
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static void a_path_longer_than_a_socket_address(void)
{
    char directory[600];
    bw_device *holder, *guest;
    path_in(directory, 96, "long");
    while (strlen(directory) < 400)
        strcat(directory, "/a-directory-with-a-rather-long-name");
    holder = open_shared(directory, "org.example.First");
    guest = open_shared(directory, "org.example.Second");
    CHECK(is_part(guest, "guest"), "a long path is shared");
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK(is_part(guest, "holder"), "and taken over");
    CHECK_STATUS(bw_device_close(guest), BW_OK);
}

static int has_problem(void *context)
{
    return has_event((struct record *)context, "problem", "code", "sharing_unavailable");
}

static void a_directory_without_a_socket(void)
{
    char directory[96];
    char socket_path[128];
    struct record problems;
    bw_device *holder, *guest = NULL;
    record_begin(&problems);
    path_in(directory, sizeof directory, "nosocket");
    snprintf(socket_path, sizeof socket_path, "%s/holder.sock", directory);
    CHECK(mkdir(directory, 0700) == 0 && mkdir(socket_path, 0700) == 0, "a directory is in the socket's place");
    holder = open_shared(directory, "org.example.First");
    CHECK_STATUS(bw_device_subscribe(holder, "problem", record_event, &problems, NULL, NULL), BW_OK);
    CHECK(dispatch_until(only_device(holder), has_problem, &problems, 5000), "the holder works, and reports it");
    CHECK_STATUS(open_with(directory, "org.example.Second", "", &guest), BW_E_BUSY);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    record_end(&problems);
}

static void a_socket_of_another_user(void)
{
    char directory[96];
    char socket_path[128];
    bw_device *holder, *guest = NULL;
    if (geteuid() != 0)
        return;
    path_in(directory, sizeof directory, "foreign");
    snprintf(socket_path, sizeof socket_path, "%s/holder.sock", directory);
    holder = open_shared(directory, "org.example.First");
    CHECK(lchown(socket_path, 65534, 65534) == 0, "the socket is another user's");
    CHECK_STATUS(open_with(directory, "org.example.Second", "", &guest), BW_E_DENIED);
    CHECK_ERROR(BW_E_DENIED, "socket_owner");
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    guest = open_shared(directory, "org.example.Second");
    CHECK_STATUS(bw_device_close(guest), BW_OK);
}

/* Introduces itself, calls, and is gone before the answer. */
static int leave_inside_a_call(const char *directory)
{
    char answer[2048];
    int descriptor = reach(directory);
    int good = descriptor >= 0
        && send_frame(descriptor,
                      "{\"message\":\"hello\",\"protocol\":2,\"library\":\"0\",\"role\":\"device\",\"application\":\"x\"}")
        && recv(descriptor, answer, sizeof answer, 0) > 4
        && send_frame(descriptor, "{\"message\":\"call\",\"number\":1,\"name\":\"pairing.list\",\"arguments\":[]}");
    close(descriptor);
    return good;
}

/* Says something to the holder as another program would, and reads the answer; the text is the caller's. */
static int say(const char *directory, const char *text, char *answer, size_t size)
{
    ssize_t count;
    int descriptor = reach(directory);
    memset(answer, 0, size);
    if (descriptor < 0 || !send_frame(descriptor, text)) {
        close(descriptor);
        return -1;
    }
    count = recv(descriptor, answer, size - 1, 0);
    memmove(answer, answer + 4, size - 4);
    close(descriptor);
    return (int)count;
}

static void another_version_and_nonsense(void)
{
    char directory[96];
    char answer[2048];
    int round;
    bw_device *holder;
    path_in(directory, sizeof directory, "version");
    holder = open_shared(directory, "org.example.First");
    CHECK(say(directory, "{\"message\":\"hello\",\"protocol\":99,\"library\":\"9.9.9\"}", answer, sizeof answer) > 0,
          "the holder answers another version");
    CHECK(strstr(answer, "library_version") != NULL && strstr(answer, "9.9.9") != NULL, "with an error that names both");
    CHECK_NUMBER(say(directory, "{\"message\":\"call\",\"number\":1,\"name\":\"state\",\"arguments\":[]}", answer, sizeof answer),
                 0);
    CHECK_NUMBER(say(directory, "{\"message\":", answer, sizeof answer), 0);
    /* Two frames at once, the second of which is a call whose answer nobody reads. */
    for (round = 0; round < 20; round++)
        CHECK(leave_inside_a_call(directory), "a guest ends inside a call");
    CHECK_NUMBER(say(directory, "[]", answer, sizeof answer), 0);
    CHECK(is_part(holder, "holder"), "the holder goes on");
    CHECK_STATUS(bw_device_close(holder), BW_OK);
}

/* ---- many programs --------------------------------------------------------------------------------------------- */

enum { HANDLES = 200 };

static void two_hundred_guests(void)
{
    static bw_device *guests[HANDLES];
    static struct record records[HANDLES];
    char directory[96];
    char application[64];
    int index, good = 0;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *holder;
    path_in(directory, sizeof directory, "many");
    holder = open_shared(directory, "org.example.Holder");
    if (!pair(holder, desktop))
        return;
    for (index = 0; index < HANDLES; index++) {
        record_begin(&records[index]);
        records[index].wanted = 1;
        snprintf(application, sizeof application, "org.example.Guest%d", index);
        if (open_with(directory, application, "", &guests[index]) == BW_OK
            && bw_device_subscribe(guests[index], "notification.received", record_event, &records[index], NULL, NULL)
                == BW_OK
            && bw_device_dispatch(guests[index]) == BW_OK)
            good++;
    }
    CHECK_NUMBER(good, HANDLES);
    notify(desktop, 0);
    for (index = 0; index < HANDLES; index++)
        good -= dispatch_until(only_device(guests[index]), recorded, &records[index], 20000);
    CHECK_NUMBER(good, 0);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    for (index = 0; index < HANDLES; index++) {
        good += records[index].events == 1 && bw_device_close(guests[index]) == BW_OK;
        record_end(&records[index]);
    }
    CHECK_NUMBER(good, HANDLES);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

/* ---- holders and guests that are killed ------------------------------------------------------------------------ */

enum { PROGRAMS = 4, BACKLOG = 40 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void programs_killed_at_random(void)
{
    struct program programs[PROGRAMS];
    struct told told;
    char directory[96];
    const char *seed_text = getenv("SHARING_SEED");
    const char *pushes_text = getenv("SHARING_PUSHES");
    int pushes = pushes_text != NULL ? atoi(pushes_text) : 300;
    uint64_t seed = seed_text != NULL ? strtoull(seed_text, NULL, 10) : (uint64_t)epoch_ms() ^ (uint64_t)getpid() << 20;
    uint64_t random = seed | 1;
    int64_t deadline = monotonic_ms() + within(pushes * 100 + 30000);
    int64_t next_death = 0;
    int index, sent = 0, deaths = 0, slowest = 0;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device;
    path_in(directory, sizeof directory, "killed");
    printf("      seed %" PRIu64 ": SHARING_SEED repeats it\n", seed);
    if (pushes_text != NULL)
        alarm((unsigned)(pushes + 60));
    device = open_shared(directory, "org.example.Pairer");
    if (!pair(device, desktop))
        return;
    CHECK_STATUS(bw_device_close(device), BW_OK);
    for (index = 0; index < PROGRAMS; index++) {
        char name[32];
        snprintf(name, sizeof name, "log%d", index);
        path_in(programs[index].log, sizeof programs[index].log, name);
        snprintf(programs[index].application, sizeof programs[index].application, "org.example.Program%d", index);
        start_program(&programs[index], directory);
    }
    /* A program gets what comes from its first start on. */
    for (index = 0; index < PROGRAMS; index++)
        while (!is_ready(programs[index].log) && monotonic_ms() < deadline)
            poll(NULL, 0, 5);
    while (monotonic_ms() < deadline) {
        slowest = pushes;
        for (index = 0; index < PROGRAMS; index++) {
            read_log(programs[index].log, &told);
            slowest = told.next < slowest ? told.next : slowest;
        }
        if (slowest == pushes)
            break;
        if (sent < pushes && sent < slowest + BACKLOG)
            notify(desktop, sent++);
        bw_desktop_dispatch(desktop);
        for (index = 0; index < PROGRAMS; index++) {
            int status;
            if (waitpid(programs[index].pid, &status, WNOHANG) != programs[index].pid)
                continue;
            CHECK_NUMBER(status, 0);
            CHECK(0, "no program ends by itself");
            close(programs[index].control);
            start_program(&programs[index], directory);
        }
        if (monotonic_ms() >= next_death && sent < pushes) {
            index = (int)(next_random(&random) % PROGRAMS);
            end_program(&programs[index], next_random(&random) % 4 == 0 ? 0 : SIGKILL);
            start_program(&programs[index], directory);
            next_death = monotonic_ms() + 20 + (int64_t)(next_random(&random) % 60);
            deaths++;
        }
        poll(NULL, 0, 2);
    }
    for (index = 0; index < PROGRAMS; index++) {
        end_program(&programs[index], 0);
        read_log(programs[index].log, &told);
        CHECK_NUMBER(told.next, pushes);
        CHECK_NUMBER(told.missed, 0);
        CHECK_NUMBER(told.again_unsaid, 0);
        printf("      %s: %d callbacks, %d again\n", programs[index].application, told.total, told.again_said);
    }
    printf("      %d pushes, %d ends\n", sent, deaths);
    CHECK(deaths > 0, "programs were killed");
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

/* ---- measured: for Tests/soak.sh ------------------------------------------------------------------------------- */

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int by_size(const void *one, const void *other)
{
    int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
    return left < right ? -1 : left > right;
}

static void say_times(const char *what, int64_t *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_size);
    printf("%s: p50 %.3f ms, p99 %.3f ms, worst %.3f ms of %d\n", what, (double)times[count / 2] / 1000,
           (double)times[count * 99 / 100] / 1000, (double)times[count - 1] / 1000, count);
}

static long resident_kb(pid_t pid)
{
    char path[64];
    char line[128];
    long kb = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kb;
}

/* A guest's calls, its memory, and how long a call takes whose holder is killed right before. */
static int measure(int rounds)
{
    static int64_t times[10000];
    char directory[96];
    struct program program, other;
    bw_device *device = NULL;
    char *json = NULL;
    int round;
    memset(&program, 0, sizeof program);
    memset(&other, 0, sizeof other);
    path_in(directory, sizeof directory, "measured");
    path_in(program.log, sizeof program.log, "program");
    path_in(other.log, sizeof other.log, "other");
    snprintf(program.application, sizeof program.application, "org.example.Program");
    snprintf(other.application, sizeof other.application, "org.example.Other");
    begin_program(&program, directory);
    begin_program(&other, directory);
    printf("resident: holder %ld kB, guest %ld kB\n", resident_kb(program.pid), resident_kb(other.pid));
    if (end_program(&other, 0) != 0 || open_with(directory, "org.example.Measured", "", &device) != BW_OK)
        return 1;
    for (round = 0; round < 10000; round++) {
        int64_t start = monotonic_us();
        if (bw_pairing_list(device, &json) != BW_OK)
            return 1;
        times[round] = monotonic_us() - start;
        bw_free(json);
    }
    say_times("a guest's call", times, 10000);
    for (round = 0; round < rounds; round++) {
        int64_t start;
        int status;
        kill(program.pid, SIGKILL);
        start = monotonic_us();
        if (!is_part(device, "holder"))
            return 1;
        times[round] = monotonic_us() - start;
        close(program.control);
        waitpid(program.pid, &status, 0);
        begin_program(&program, directory);
        if (bw_device_close(device) != BW_OK || open_with(directory, "org.example.Measured", "", &device) != BW_OK)
            return 1;
        while (!is_part(device, "guest")) {
            /* The other program was slower. */
            if (bw_device_close(device) != BW_OK)
                return 1;
            poll(NULL, 0, 20);
            if (open_with(directory, "org.example.Measured", "", &device) != BW_OK)
                return 1;
        }
    }
    say_times("a call whose holder is killed", times, rounds);
    bw_device_close(device);
    end_program(&program, 0);
    return 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "--measure") == 0)
        return measure(atoi(argv[2]));
    if (argc == 5 && strcmp(argv[1], "--program") == 0)
        return be_a_program(argv);
    signal(SIGPIPE, SIG_IGN);
    RUN(calls_and_pushes_of_a_guest);
    RUN(options_of_a_guest);
    RUN(a_path_longer_than_a_socket_address);
    RUN(a_directory_without_a_socket);
    RUN(a_socket_of_another_user);
    RUN(another_version_and_nonsense);
    RUN(two_hundred_guests);
    RUN(programs_killed_at_random);
    return check_end();
}
