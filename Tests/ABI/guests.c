/*
 * Programs that share a device and are stopped, run twice, or want to hold it: what their guests and holders see.
 *
 *   guests [TEST…]    the tests
 */
#include "sharing.h"

static void a_guest_that_stops_reading(void)
{
    struct program program;
    struct told told;
    struct record record;
    char directory[96];
    int64_t deadline;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *holder;
    path_in(directory, sizeof directory, "stopped");
    path_in(program.log, sizeof program.log, "stopped.log");
    snprintf(program.application, sizeof program.application, "org.example.Stopped");
    record_begin(&record);
    holder = open_shared(directory, "org.example.First");
    if (!pair(holder, desktop))
        return;
    CHECK_STATUS(bw_device_subscribe(holder, "notification.received", record_event, &record, NULL, NULL), BW_OK);
    /* It gets what comes after its first dispatch. */
    CHECK_STATUS(bw_device_dispatch(holder), BW_OK);
    begin_program(&program, directory);
    stop_program(&program);
    notify(desktop, 0);
    notify(desktop, 1);
    record.wanted = 2;
    CHECK(dispatch_until(only_device(holder), recorded, &record, 10000), "a guest that is stopped holds nobody up");
    CHECK(is_part(holder, "holder"), "calls work");
    kill(program.pid, SIGCONT);
    deadline = monotonic_ms() + within(20000);
    do {
        read_log(program.log, &told);
        poll(NULL, 0, 5);
    } while (told.next < 2 && monotonic_ms() < deadline);
    CHECK_NUMBER(told.next, 2);
    CHECK_NUMBER(end_program(&program, 0), 0);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
}

/* The problem names this process. */
static int names_process(struct record *problems, pid_t pid)
{
    size_t index;
    json_t *event;
    json_array_foreach(problems->all, index, event) {
        json_t *data = json_object_get(event, "data");
        const char *code = json_string_value(json_object_get(data, "code"));
        if (code != NULL && strcmp(code, "holder_silent") == 0)
            return json_integer_value(json_object_get(data, "process")) == (json_int_t)pid;
    }
    return 0;
}

static void a_holder_that_is_stopped(void)
{
    struct program program;
    struct record problems, pushes;
    char directory[96];
    char number[32];
    char *json = NULL;
    int64_t began;
    bw_status status;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *guest, *other = NULL;
    path_in(directory, sizeof directory, "silent");
    path_in(program.log, sizeof program.log, "silent.log");
    snprintf(program.application, sizeof program.application, "org.example.Stopped");
    record_begin(&problems);
    record_begin(&pushes);
    begin_program(&program, directory);
    guest = open_shared(directory, "org.example.Guest");
    CHECK(is_part(guest, "guest"), "the other program holds the device");
    if (!pair(guest, desktop))
        return;
    CHECK_STATUS(bw_device_subscribe(guest, "problem", record_event, &problems, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(guest, "notification.received", record_event, &pushes, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(guest), BW_OK);
    notify(desktop, 0);
    pushes.wanted = 1;
    CHECK(dispatch_until(only_device(guest), recorded, &pushes, 10000), "a push before it is stopped");

    stop_program(&program);
    snprintf(number, sizeof number, "%d", (int)program.pid);
    began = monotonic_ms();
    CHECK_STATUS(bw_pairing_list(guest, &json), BW_E_BUSY);
    CHECK_ERROR(BW_E_BUSY, "holder_silent");
    CHECK_ERROR(BW_E_BUSY, number);
    CHECK(monotonic_ms() - began < within(10000), "a call does not wait for long");
    began = monotonic_ms();
    CHECK_STATUS(bw_pairing_list(guest, &json), BW_E_BUSY);
    CHECK(monotonic_ms() - began < within(1000), "the next ones don't wait");
    CHECK_STATUS(bw_device_dispatch(guest), BW_OK);
    CHECK(names_process(&problems, program.pid), "the problem says which process it is");
    CHECK_STATUS(open_with(directory, "org.example.Other", "", &other), BW_E_BUSY);
    CHECK_ERROR(BW_E_BUSY, number);
    notify(desktop, 1);

    kill(program.pid, SIGCONT);
    pushes.wanted = 2;
    CHECK(dispatch_until(only_device(guest), recorded, &pushes, 20000), "pushes come when the holder goes on");
    CHECK_NUMBER(pushes.events, 2);
    began = monotonic_ms();
    do {
        status = bw_pairing_list(guest, &json);
        poll(NULL, 0, 5);
    } while (status == BW_E_BUSY && monotonic_ms() < began + within(10000));
    CHECK_STATUS(status, BW_OK);
    bw_free(json);

    /* It is killed while it is stopped: the guest takes over. */
    stop_program(&program);
    CHECK_STATUS(bw_pairing_list(guest, &json), BW_E_BUSY);
    end_program(&program, SIGKILL);
    began = monotonic_ms();
    while (!is_part(guest, "holder") && monotonic_ms() < began + within(10000))
        poll(NULL, 0, 5);
    CHECK(is_part(guest, "holder"), "the guest takes over from a process that was killed");
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&problems);
    record_end(&pushes);
}

static void copies_of_a_program(void)
{
    char directory[96];
    struct record first, second;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *one, *two;
    path_in(directory, sizeof directory, "copies");
    record_begin(&first);
    record_begin(&second);
    one = open_shared(directory, "");
    two = open_shared(directory, "");
    if (!pair(one, desktop))
        return;
    CHECK_STATUS(bw_device_start(two), BW_OK);
    CHECK_STATUS(bw_device_subscribe(one, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(two, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(one), BW_OK);
    CHECK_STATUS(bw_device_dispatch(two), BW_OK);
    notify(desktop, 0);
    first.wanted = second.wanted = 1;
    CHECK(dispatch_until(only_device(one), recorded, &first, 10000), "the first copy gets the push");
    CHECK(dispatch_until(only_device(two), recorded, &second, 10000), "and so does the second");

    /* The first ends, and the second takes over, by the mark that it has. */
    CHECK_STATUS(bw_device_close(one), BW_OK);
    notify(desktop, 1);
    second.wanted = 2;
    CHECK(dispatch_until(only_device(two), recorded, &second, 10000), "the second goes on");
    CHECK(is_title(&second, 1, 1), "with the next push");

    /* What the name has missed waits for it. */
    one = open_shared(directory, "");
    CHECK_STATUS(bw_device_start(one), BW_OK);
    CHECK_STATUS(bw_device_subscribe(one, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    first.wanted = 2;
    CHECK(dispatch_until(only_device(one), recorded, &first, 10000), "the program's own mark is as it was");
    CHECK(is_title(&first, 1, 1), "with what came meanwhile");
    CHECK_STATUS(bw_device_close(two), BW_OK);

    /* A copy that ends is forgotten: another one gets nothing of before. */
    notify(desktop, 2);
    first.wanted = 3;
    CHECK(dispatch_until(only_device(one), recorded, &first, 10000), "the first goes on alone");
    two = open_shared(directory, "");
    CHECK_STATUS(bw_device_subscribe(two, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(two), BW_OK);
    notify(desktop, 3);
    second.wanted = 3;
    CHECK(dispatch_until(only_device(two), recorded, &second, 10000), "a new copy gets what comes from then on");
    CHECK(is_title(&second, 2, 3), "and nothing of before");
    CHECK_STATUS(bw_device_close(two), BW_OK);
    CHECK_STATUS(bw_device_close(one), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&first);
    record_end(&second);
}


static int shows_alerts(bw_device *device)
{
    char *json = NULL;
    json_t *state;
    int shows;
    if (bw_device_state(device, &json) != BW_OK)
        return 0;
    state = parsed(json);
    shows = json_is_true(
        json_object_get(json_object_get(json_object_get(state, "sharing"), "holder"), "showsAlerts"));
    json_decref(state);
    return shows;
}

static void programs_that_take_over(void)
{
    char directory[96];
    struct record first, second;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *plain, *alerts = NULL, *lamp = NULL, *agent = NULL;
    path_in(directory, sizeof directory, "takeover");
    record_begin(&first);
    record_begin(&second);
    plain = open_shared(directory, "org.example.Plain");
    if (!pair(plain, desktop))
        return;
    CHECK_STATUS(bw_device_subscribe(plain, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(plain), BW_OK);
    notify(desktop, 0);
    first.wanted = 1;
    CHECK(dispatch_until(only_device(plain), recorded, &first, 10000), "a push for the first program");

    /* A program that shows alerts takes over from one that shows none, which goes on as its guest. */
    CHECK_STATUS(open_with(directory, "org.example.Alerts", ",\"alerts\":\"host\",\"late_alerts\":\"each\"", &alerts),
                 BW_OK);
    CHECK(is_part(alerts, "holder") && shows_alerts(alerts), "who shows alerts becomes the holder");
    CHECK(is_part(plain, "guest") && shows_alerts(plain), "and the holder its guest");
    notify(desktop, 1);
    first.wanted = 2;
    CHECK(dispatch_until(only_device(plain), recorded, &first, 10000), "its subscriptions go on, and it stays started");
    CHECK(is_title(&first, 1, 1), "nothing comes twice");
    CHECK_STATUS(open_with(directory, "org.example.Other", ",\"alerts\":\"system\"", &lamp), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "shared_option");
    CHECK_STATUS(bw_device_close(alerts), BW_OK);
    CHECK(is_part(plain, "holder") && !shows_alerts(plain), "callbacks for alerts are not taken over");

    /* A holder that yields gives way to options that differ, and comes back. */
    CHECK_STATUS(bw_device_close(plain), BW_OK);
    CHECK_STATUS(open_with(directory, "org.example.Agent", ",\"yields\":true,\"name\":\"agent\"", &agent), BW_OK);
    CHECK_STATUS(bw_device_start(agent), BW_OK);
    CHECK_STATUS(open_with(directory, "org.example.Lamp", ",\"name\":\"lamp\"", &lamp), BW_OK);
    CHECK(is_part(lamp, "holder") && is_part(agent, "guest"), "a holder that yields becomes a guest");
    CHECK_STATUS(bw_device_subscribe(lamp, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(lamp), BW_OK);
    notify(desktop, 2);
    second.wanted = 1;
    CHECK(dispatch_until(only_device(lamp), recorded, &second, 10000), "it had started the device, which stays so");
    CHECK_STATUS(bw_device_close(lamp), BW_OK);
    CHECK(is_part(agent, "holder"), "and the holder again afterwards");
    CHECK_STATUS(bw_device_close(agent), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&first);
    record_end(&second);
}

/* How often the desktop's history has a push with that title. */
static int times_kept(bw_device *device, int number)
{
    char query[64];
    char *json = NULL;
    json_t *page;
    int count;
    int64_t deadline = monotonic_ms() + within(10000);
    bw_status status;
    snprintf(query, sizeof query, "{\"query\":\"command%dx\"}", number);
    /* A holder that has just taken over is not connected yet. */
    do {
        status = bw_notification_get_history(device, NULL, query, within(10000), &json);
        poll(NULL, 0, status == BW_E_OFFLINE ? 5 : 0);
    } while (status == BW_E_OFFLINE && monotonic_ms() < deadline);
    if (!CHECK_STATUS(status, BW_OK))
        return -1;
    page = parsed(json);
    count = (int)json_integer_value(json_object_get(page, "total"));
    json_decref(page);
    return count;
}

/* The holder is killed while a guest's command is somewhere between the guest, the holder and the desktop. */
static void commands_whose_holder_is_killed(void)
{
    enum { ROUNDS = 12 };
    struct program program;
    char directory[96];
    char push[96];
    int round;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *guest;
    path_in(directory, sizeof directory, "commands");
    path_in(program.log, sizeof program.log, "commands.log");
    snprintf(program.application, sizeof program.application, "org.example.Holder");
    guest = open_shared(directory, "org.example.Guest");
    if (!pair(guest, desktop))
        return;
    for (round = 0; round < ROUNDS; round++) {
        struct outcome *outcome = (struct outcome *)calloc(1, sizeof *outcome);
        CHECK_STATUS(bw_device_close(guest), BW_OK);
        begin_program(&program, directory);
        guest = open_shared(directory, "org.example.Guest");
        CHECK(is_part(guest, "guest"), "the other program holds the device");
        CHECK_STATUS(bw_device_start(guest), BW_OK);
        /* The connection is there. */
        CHECK_STATUS(bw_notification_get_unread_count(guest, NULL, NULL, within(10000), NULL), BW_OK);
        /* In the last rounds the holder has not read the call. */
        if (round >= ROUNDS - 2)
            stop_program(&program);
        snprintf(push, sizeof push, "{\"title\":\"command%dx\",\"body\":\"b\"}", round);
        CHECK_STATUS(bw_notification_send_async(guest, NULL, push, within(20000), complete, outcome, NULL), BW_OK);
        poll(NULL, 0, round % 5);
        end_program(&program, SIGKILL);
        CHECK(dispatch_until(only_device(guest), completed, outcome, 20000), "the next holder answers");
        CHECK_STATUS(outcome->status, BW_OK);
        CHECK_NUMBER(times_kept(guest, round), 1);
        free(outcome);
    }
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

/* A process that waits for a directory's lock, and then has it until its standard input ends. */
struct keeper {
    pid_t pid;
    int told; /* gets a byte once it has the lock */
    int release;
};

static void begin_keeper(struct keeper *keeper, const char *directory)
{
    char path[128];
    int to[2], from[2];
    snprintf(path, sizeof path, "%s/lock", directory);
    if (pipe(to) != 0 || pipe(from) != 0)
        abort();
    keeper->pid = fork();
    if (keeper->pid < 0)
        abort();
    if (keeper->pid == 0) {
        struct flock region;
        int descriptor = open(path, O_RDWR | O_CLOEXEC);
        char byte = 1;
        memset(&region, 0, sizeof region);
        region.l_type = F_WRLCK;
        region.l_whence = SEEK_SET;
        close(to[1]);
        if (descriptor < 0 || fcntl(descriptor, F_SETLKW, &region) != 0 || write(from[1], &byte, 1) != 1)
            _exit(1);
        while (read(to[0], &byte, 1) > 0)
            continue;
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    keeper->told = from[0];
    keeper->release = to[1];
}

/* proc(5): "1: -> POSIX ADVISORY WRITE PID …" is a process that waits for a lock. */
static int waits_for_lock(pid_t pid)
{
    char line[256];
    char awaited[64];
    int found = 0;
    FILE *locks = fopen("/proc/locks", "r");
    snprintf(awaited, sizeof awaited, " WRITE %d ", (int)pid);
    while (locks != NULL && fgets(line, sizeof line, locks) != NULL)
        found = found || (strstr(line, "->") != NULL && strstr(line, awaited) != NULL);
    if (locks != NULL)
        fclose(locks);
    return found;
}

/* Whether it has the lock, once somebody has. */
static int has_lock(const struct keeper *keeper, bw_device *guest)
{
    struct pollfd fd;
    int64_t deadline = monotonic_ms() + within(10000);
    fd.fd = keeper->told;
    fd.events = POLLIN;
    while (poll(&fd, 1, 10) == 0)
        if (monotonic_ms() > deadline || is_part(guest, "holder"))
            return 0;
    return 1;
}

static void end_keeper(struct keeper *keeper)
{
    int status = -1;
    close(keeper->release);
    CHECK(waitpid(keeper->pid, &status, 0) == keeper->pid && status == 0, "the lock's keeper ends");
    close(keeper->told);
}

/* The command is made after the holder's death and before anyone has taken over. */
static void commands_while_nobody_holds_the_device(void)
{
    struct program program;
    struct keeper keeper;
    char directory[96];
    int64_t deadline;
    int is_free, tries;
    struct outcome *outcome = (struct outcome *)calloc(1, sizeof *outcome);
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *guest = NULL;
    path_in(directory, sizeof directory, "nobody");
    path_in(program.log, sizeof program.log, "nobody.log");
    snprintf(program.application, sizeof program.application, "org.example.Holder");
    /* The guest may be faster than the keeper, though it hears of the holder's death later. */
    for (tries = 0, is_free = 0; tries < 10 && !is_free; tries++) {
        begin_program(&program, directory);
        guest = open_shared(directory, "org.example.Guest");
        CHECK(is_part(guest, "guest"), "the other program holds the device");
        if (tries == 0 && !pair(guest, desktop))
            return;
        CHECK_STATUS(bw_device_start(guest), BW_OK);
        CHECK_STATUS(bw_notification_get_unread_count(guest, NULL, NULL, within(10000), NULL), BW_OK);
        begin_keeper(&keeper, directory);
        deadline = monotonic_ms() + within(10000);
        while (!waits_for_lock(keeper.pid) && monotonic_ms() < deadline)
            poll(NULL, 0, 1);
        CHECK(waits_for_lock(keeper.pid), "the keeper waits for the lock");
        end_program(&program, SIGKILL);
        is_free = has_lock(&keeper, guest);
        if (!is_free) {
            CHECK_STATUS(bw_device_close(guest), BW_OK);
            guest = NULL;
            end_keeper(&keeper);
        }
    }
    if (!CHECK(is_free, "nobody holds the device"))
        return;
    CHECK_STATUS(bw_notification_send_async(guest, NULL, "{\"title\":\"command0x\",\"body\":\"b\"}", within(20000),
                                            complete, outcome, NULL), BW_OK);
    end_keeper(&keeper);
    CHECK(dispatch_until(only_device(guest), completed, outcome, 20000), "the next holder sends it");
    CHECK_STATUS(outcome->status, BW_OK);
    CHECK_NUMBER(times_kept(guest, 0), 1);
    free(outcome);
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 5 && strcmp(argv[1], "--program") == 0)
        return be_a_program(argv);
    signal(SIGPIPE, SIG_IGN);
    RUN(a_guest_that_stops_reading);
    RUN(a_holder_that_is_stopped);
    RUN(copies_of_a_program);
    RUN(programs_that_take_over);
    RUN(commands_whose_holder_is_killed);
    RUN(commands_while_nobody_holds_the_device);
    return check_end();
}
