/*
 * Several programs with one desktop: who holds it, what its guests may do, and what happens when the holder ends.
 *
 *   desktops [TEST…]                     the tests
 *   desktops --measure KILLS             prints how long a takeover takes
 *   desktops --program DIR LOG APPLICATION   a program of its own; DESKTOP_PORT is that of its relay
 */
#include "sharing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* ---- programs and handles -------------------------------------------------------------------------------------- */

/* A listening socket on a free port of loopback. */
static int take_port(int *port)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, length) != 0 || listen(descriptor, 1) != 0
        || getsockname(descriptor, (struct sockaddr *)&address, &length) != 0)
        abort();
    *port = ntohs(address.sin_port);
    return descriptor;
}

static int free_port(void)
{
    int port;
    close(take_port(&port));
    return port;
}

/* A port of 0: without a relay. An empty application: the program has its default name. */
static bw_status open_sharing(const char *directory, int port, const char *application, const char *more,
                              bw_desktop **desktop)
{
    char options[1024];
    char name[160] = "";
    char relay[96] = "";
    if (application[0] != 0)
        snprintf(name, sizeof name, ",\"application_id\":\"%.100s\"", application);
    if (port != 0)
        snprintf(relay, sizeof relay, ",\"relay\":{\"listen\":\"127.0.0.1:%d\"}", port);
    snprintf(options, sizeof options, "{\"state_dir\":\"%.400s\"%s%s%.200s}", directory, relay, name, more);
    return bw_desktop_open(options, desktop);
}

static bw_desktop *open_shared_desktop(const char *directory, int port, const char *application)
{
    bw_desktop *desktop = NULL;
    CHECK_STATUS(open_sharing(directory, port, application, ",\"follow_system\":false", &desktop), BW_OK);
    return desktop;
}

static int is_desktop_part(bw_desktop *desktop, const char *part)
{
    char *json = NULL;
    return bw_desktop_state(desktop, &json) == BW_OK && has_part(json, part);
}

static int is_started(bw_desktop *desktop)
{
    char *json = NULL;
    json_t *state;
    int is;
    if (bw_desktop_state(desktop, &json) != BW_OK)
        return -1;
    state = parsed(json);
    is = json_is_true(json_object_get(state, "started"));
    json_decref(state);
    return is;
}

/* How many commands came again and were answered with their first answer. */
static int repeated_commands(bw_desktop *desktop)
{
    char *json = NULL;
    json_t *state;
    int count;
    if (!CHECK_STATUS(bw_desktop_state(desktop, &json), BW_OK))
        return 0;
    state = parsed(json);
    count = (int)json_integer_value(json_object_get(json_object_get(state, "counters"), "repeatedCommands"));
    json_decref(state);
    return count;
}

static int be_a_desktop(char **argv)
{
    bw_desktop *desktop = NULL;
    const char *port = getenv("DESKTOP_PORT");
    int log = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0 || open_sharing(argv[2], port != NULL ? atoi(port) : 0, argv[4], ",\"follow_system\":false", &desktop) != BW_OK
        || bw_desktop_subscribe(desktop, "notification.received", write_down, &log, NULL, NULL) != BW_OK
        || bw_desktop_start(desktop) != BW_OK || write(log, "ready 0\n", 8) != 8)
        return 3;
    return serve_until_input_ends(only_desktop(desktop));
}

static void prepare_program(struct program *program, const char *name, int port)
{
    char text[16];
    snprintf(text, sizeof text, "%d", port);
    setenv("DESKTOP_PORT", text, 1);
    path_in(program->log, sizeof program->log, name);
    snprintf(program->application, sizeof program->application, "org.example.Program");
}

/* A push with that number as its title. */
static bw_status push_async(bw_desktop *desktop, int number, struct outcome *outcome)
{
    char push[96];
    snprintf(push, sizeof push, "{\"title\":\"%d\",\"body\":\"b\"}", number);
    return bw_desktop_notify_async(desktop, push, within(20000), complete, outcome, NULL);
}

/* How often the history has a push with that word in its title. */
static int times_in_history(bw_desktop *desktop, const char *word)
{
    char query[64];
    char *json = NULL;
    json_t *page;
    int count;
    snprintf(query, sizeof query, "{\"query\":\"%s\"}", word);
    if (!CHECK_STATUS(bw_desktop_history(desktop, query, &json), BW_OK))
        return -1;
    page = parsed(json);
    count = (int)json_integer_value(json_object_get(page, "total"));
    json_decref(page);
    return count;
}

static int is_connected(void *context)
{
    char *json = NULL;
    json_t *state;
    int is;
    if (bw_device_state((bw_device *)context, &json) != BW_OK)
        return 0;
    state = parsed(json);
    is = json_is_true(
        json_object_get(json_array_get(json_object_get(state, "connection"), 0), "online"));
    json_decref(state);
    return is;
}

/* Without the backoff of a device that has lost its desktop several times within seconds. */
static void reconnect(bw_device *device)
{
    CHECK_STATUS(bw_device_suspend(device), BW_OK);
    CHECK_STATUS(bw_device_resume(device), BW_OK);
}

/* ---- one process ----------------------------------------------------------------------------------------------- */

static void calls_and_events_of_a_guest(void)
{
    char directory[96];
    char *json = NULL;
    json_t *list;
    struct record first, second, pushes;
    struct dispatched both;
    int port = free_port();
    bw_device *device = open_device(":memory:");
    bw_desktop *holder, *guest;
    path_in(directory, sizeof directory, "shared");
    record_begin(&first);
    record_begin(&second);
    record_begin(&pushes);
    holder = open_shared_desktop(directory, port, "org.example.First");
    guest = open_shared_desktop(directory, 0, "org.example.Second");
    CHECK(is_desktop_part(holder, "holder"), "the first to open it is the holder");
    CHECK(is_desktop_part(guest, "guest"), "the second is a guest");
    CHECK_STATUS(bw_desktop_subscribe(holder, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(guest, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &pushes, NULL, NULL), BW_OK);

    /* A guest offers a code, and both see the device. */
    if (!pair(device, guest))
        return;
    CHECK_STATUS(bw_desktop_devices(holder, &json), BW_OK);
    list = parsed(json);
    CHECK_NUMBER(json_array_size(list), 1);
    json_decref(list);
    CHECK_STATUS(bw_desktop_devices(guest, &json), BW_OK);
    list = parsed(json);
    CHECK_NUMBER(json_array_size(list), 1);
    json_decref(list);

    /* Every kind of call goes to the holder; wrong parameters are found at once. */
    CHECK_STATUS(bw_desktop_notify(guest, "{\"title\":7}", within(10000), NULL), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "title");
    CHECK_STATUS(bw_desktop_notify_async(guest, "{\"title\":7}", within(10000), complete, NULL, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_unpair(guest, "did:key:nobody"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_confirm(guest, "scan", 1), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_confirm(guest, "nonsense", 1), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_invoke(guest, "desktop.setGroup", "{\"name\":\"all\",\"devices\":[]}", within(10000), &json),
                 BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_invoke(guest, "desktop.groups", NULL, within(10000), &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_invoke(guest, "notification.markAllAsRead", NULL, within(10000), NULL), BW_OK);
    CHECK_STATUS(bw_desktop_invoke(guest, "no.such", NULL, within(10000), NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_desktop_permissions(guest, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_allow(guest, "did:key:nobody", "notification", "safe"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_allow(guest, "did:key:nobody", "notification", "everything"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_tokens(guest, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_revoked(guest, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_rekey_status(guest, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_desktop_seal_push(guest, "did:key:nobody", "x", NULL, &json), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_pairing_cancel(guest, NULL), BW_OK);

    /* A guest pushes, and what a device asks to show is an event for both. */
    CHECK_STATUS(bw_desktop_notify(guest, "{\"title\":\"0\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    CHECK_STATUS(bw_desktop_notify(holder, "{\"title\":\"1\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    pushes.wanted = 2;
    CHECK(dispatch_until(only_device(device), recorded, &pushes, 10000), "the device gets the pushes of both");
    CHECK(is_title(&pushes, 0, 0) && is_title(&pushes, 1, 1), "in order");
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"2\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    first.wanted = second.wanted = 1;
    CHECK(dispatch_until(only_desktop(holder), recorded, &first, 10000), "the holder gets the event");
    CHECK(dispatch_until(only_desktop(guest), recorded, &second, 10000), "and the guest, too");

    /* The desktop runs until all that have started it have stopped it. */
    CHECK_STATUS(bw_desktop_start(holder), BW_OK);
    CHECK_STATUS(bw_desktop_stop(holder), BW_OK);
    CHECK_NUMBER(is_started(guest), 1);
    CHECK_STATUS(bw_desktop_stop(guest), BW_OK);
    CHECK_NUMBER(is_started(guest), 0);
    CHECK_STATUS(bw_desktop_start(guest), BW_OK);
    CHECK_NUMBER(is_started(holder), 1);

    /* The holder ends; the guest goes on, with the holder's relay. */
    pushes.wanted = 3; /* the one that the device sent came back */
    CHECK_STATUS(bw_desktop_close(holder), BW_OK);
    CHECK(is_desktop_part(guest, "holder"), "when the holder ends, the guest takes over");
    CHECK_NUMBER(is_started(guest), 1);
    memset(&both, 0, sizeof both);
    both.device = device;
    both.desktop = guest;
    CHECK(dispatch_until(both, is_connected, device, 20000), "the device connects again");
    CHECK_STATUS(bw_desktop_notify(guest, "{\"title\":\"3\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    while (pushes.events < 4 && !has_event(&pushes, "notification.received", "title", "3"))
        if (!CHECK(dispatch_until(only_device(device), recorded, &pushes, 10000), "the device gets the next push"))
            break;
        else
            pushes.wanted = pushes.events + 1;
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"4\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    second.wanted = 2;
    CHECK(dispatch_until(only_desktop(guest), recorded, &second, 10000), "its subscriptions go on");
    CHECK_STATUS(bw_desktop_close(guest), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&first);
    record_end(&second);
    record_end(&pushes);
}

static void options_of_a_guest(void)
{
    char directory[96];
    int port = free_port();
    bw_desktop *holder = NULL, *guest = NULL;
    path_in(directory, sizeof directory, "options");
    CHECK_STATUS(open_sharing(directory, port, "org.example.First", ",\"name\":\"one\",\"confirm\":true", &holder), BW_OK);
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"name\":\"two\"", &guest), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "shared_option");
    CHECK_STATUS(open_sharing(directory, port + 1, "", "", &guest), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "\"relay\\\"");
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"confirm\":false", &guest), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "confirm");
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"max_commands_per_second\":7", &guest), BW_E_INVALID);
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"shared\":false", &guest), BW_E_BUSY);
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"shared\":false,\"yields\":true", &guest), BW_E_INVALID);
    CHECK_STATUS(open_sharing(directory, 0, "not an id", "", &guest), BW_E_INVALID);
    CHECK_STATUS(open_sharing(directory, 0, "", ",\"alerts\":\"host\"", &guest), BW_E_INVALID);
    CHECK_STATUS(open_sharing(directory, port, "",
                              ",\"name\":\"one\",\"confirm\":true,\"max_commands_per_second\":200,\"legacy\":\"qr\"",
                              &guest), BW_OK);
    CHECK(is_desktop_part(guest, "guest"), "the same options are welcome");
    CHECK_STATUS(bw_desktop_close(guest), BW_OK);
    CHECK_STATUS(bw_desktop_close(holder), BW_OK);

    CHECK_STATUS(open_sharing(directory, 0, "", ",\"shared\":false", &holder), BW_OK);
    CHECK_STATUS(open_sharing(directory, 0, "", "", &guest), BW_E_BUSY);
    CHECK_STATUS(bw_desktop_close(holder), BW_OK);
}

static void a_directory_of_the_other_role(void)
{
    char directory[96];
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    path_in(directory, sizeof directory, "device");
    device = open_shared(directory, "");
    CHECK_STATUS(open_sharing(directory, 0, "", "", &desktop), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "runs a device");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    path_in(directory, sizeof directory, "desktop");
    CHECK_STATUS(open_sharing(directory, 0, "", "", &desktop), BW_OK);
    CHECK_STATUS(open_with(directory, "", "", &device), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "runs a desktop");
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

struct started {
    bw_desktop *desktop;
};

static int has_started(void *context)
{
    return is_started(((struct started *)context)->desktop) == 1;
}

/* A holder that yields, and a program whose relay can't have its address at first. */
static void an_address_that_is_taken(void)
{
    char directory[96];
    struct record first, second;
    struct started context;
    int port, listener = take_port(&port);
    bw_desktop *yielding = NULL, *main_program = NULL;
    path_in(directory, sizeof directory, "taken");
    record_begin(&first);
    record_begin(&second);
    CHECK_STATUS(open_sharing(directory, free_port(), "org.example.First", ",\"follow_system\":false,\"yields\":true",
                              &yielding), BW_OK);
    CHECK_STATUS(bw_desktop_start(yielding), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(yielding, "problem", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(open_sharing(directory, port, "org.example.Second", ",\"follow_system\":false", &main_program), BW_OK);
    CHECK(is_desktop_part(main_program, "holder"), "a holder that yields gives way to other options");
    CHECK(is_desktop_part(yielding, "guest"), "and becomes a guest");
    CHECK_STATUS(bw_desktop_subscribe(main_program, "problem", record_event, &second, NULL, NULL), BW_OK);
    second.wanted = 1;
    CHECK(dispatch_until(only_desktop(main_program), recorded, &second, 10000), "a problem is reported");
    CHECK(has_event(&second, "problem", "code", "start_failed"), "that it could not be started");
    CHECK_STATUS(bw_desktop_start(main_program), BW_E_NETWORK);
    CHECK_STATUS(bw_desktop_start(yielding), BW_E_NETWORK);
    CHECK_NUMBER(is_started(main_program), 0);
    CHECK_STATUS(bw_desktop_close(yielding), BW_OK);

    /* A program that had started it is back: the start is retried. */
    yielding = NULL;
    CHECK_STATUS(bw_desktop_close(main_program), BW_OK);
    CHECK_STATUS(open_sharing(directory, free_port(), "org.example.First", ",\"follow_system\":false,\"yields\":true",
                              &yielding), BW_OK);
    CHECK_STATUS(bw_desktop_start(yielding), BW_OK);
    CHECK_STATUS(open_sharing(directory, port, "org.example.Second", ",\"follow_system\":false", &main_program), BW_OK);
    CHECK(is_desktop_part(yielding, "guest"), "the holder yields again");
    CHECK_NUMBER(is_started(main_program), 0);
    close(listener);
    context.desktop = main_program;
    {
        int64_t deadline = monotonic_ms() + within(10000);
        while (!has_started(&context) && monotonic_ms() < deadline)
            poll(NULL, 0, 5);
    }
    CHECK(has_started(&context), "it starts once its address is free");
    CHECK_STATUS(bw_desktop_close(yielding), BW_OK);
    CHECK_STATUS(bw_desktop_close(main_program), BW_OK);
    record_end(&first);
    record_end(&second);
}

/* A push is under way when its holder, who yields, hands the desktop over: it waits for a device that is offline. */
static void a_push_of_a_holder_that_yields(void)
{
    char directory[96];
    struct outcome outcome;
    bw_device *device = open_device(":memory:");
    bw_desktop *yielding = NULL, *other = NULL;
    path_in(directory, sizeof directory, "yields");
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(open_sharing(directory, free_port(), "org.example.First", ",\"follow_system\":false,\"yields\":true",
                              &yielding), BW_OK);
    if (!pair(device, yielding))
        return;
    CHECK_STATUS(bw_device_stop(device), BW_OK);
    CHECK_STATUS(bw_desktop_notify_async(yielding, "{\"title\":\"push0x\",\"body\":\"b\"}", within(20000), complete, &outcome,
                                         NULL), BW_OK);
    CHECK_STATUS(open_sharing(directory, free_port(), "org.example.Second", ",\"follow_system\":false", &other), BW_OK);
    CHECK(is_desktop_part(other, "holder"), "the holder yields");
    CHECK(dispatch_until(only_desktop(yielding), completed, &outcome, 20000), "the push is answered");
    CHECK_STATUS(outcome.status, BW_OK);
    CHECK_NUMBER(times_in_history(other, "push0x"), 1);
    CHECK_STATUS(bw_desktop_close(yielding), BW_OK);
    CHECK_STATUS(bw_desktop_close(other), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* ---- a holder that is killed ----------------------------------------------------------------------------------- */

static void a_guest_takes_over(void)
{
    struct program program, third;
    struct told told;
    char directory[96];
    struct record pushes, events;
    struct dispatched both;
    int64_t began;
    int port = free_port();
    bw_device *device = open_device(":memory:");
    bw_desktop *guest;
    path_in(directory, sizeof directory, "killed");
    prepare_program(&program, "killed.log", port);
    prepare_program(&third, "third.log", port);
    record_begin(&pushes);
    record_begin(&events);
    begin_program(&program, directory);
    guest = open_shared_desktop(directory, 0, "org.example.Guest");
    CHECK(is_desktop_part(guest, "guest"), "the other program holds the desktop");
    begin_program(&third, directory);
    CHECK_STATUS(bw_desktop_subscribe(guest, "notification.received", record_event, &events, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &pushes, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_start(guest), BW_OK);
    if (!pair(device, guest))
        return;
    CHECK_STATUS(bw_desktop_notify(guest, "{\"title\":\"0\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    pushes.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &pushes, 10000), "a push before");

    kill(program.pid, SIGKILL);
    began = monotonic_ms();
    CHECK(is_desktop_part(guest, "holder") || is_desktop_part(guest, "guest"), "a call is answered by the next holder");
    printf("      answered after %d ms\n", (int)(monotonic_ms() - began));
    CHECK(monotonic_ms() - began <= within(1000), "within a second");
    end_program(&program, 0);
    CHECK_NUMBER(is_started(guest), 1);
    memset(&both, 0, sizeof both);
    both.device = device;
    both.desktop = guest;
    CHECK(dispatch_until(both, is_connected, device, 20000), "the device connects again");
    printf("      the device was back after %d ms\n", (int)(monotonic_ms() - began));
    CHECK_STATUS(bw_desktop_notify(guest, "{\"title\":\"1\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    pushes.wanted = 2;
    CHECK(dispatch_until(only_device(device), recorded, &pushes, 10000), "and gets the next push");
    CHECK(is_title(&pushes, 1, 1), "once");
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"0\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    events.wanted = 1;
    CHECK(dispatch_until(only_desktop(guest), recorded, &events, 10000), "its subscriptions go on");
    began = monotonic_ms();
    do {
        read_log(third.log, &told);
        poll(NULL, 0, 5);
    } while (told.next < 1 && monotonic_ms() < began + within(10000));
    CHECK_NUMBER(told.next, 1);
    CHECK_NUMBER(end_program(&third, 0), 0);
    CHECK_STATUS(bw_desktop_close(guest), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&pushes);
    record_end(&events);
}

/* The holder is killed while pushes of a guest are somewhere between the guest, the holder, its store and the device. */
static void pushes_whose_holder_is_killed(void)
{
    enum { ROUNDS = 12, PUSHES = 40 };
    struct program program;
    char directory[96];
    struct record pushes;
    struct dispatched both;
    struct outcome outcomes[PUSHES];
    int round, index, good, again = 0, sent = 0, repeated = 0;
    int port = free_port();
    bw_device *device = open_device(":memory:");
    bw_desktop *guest = NULL;
    path_in(directory, sizeof directory, "pushes");
    prepare_program(&program, "pushes.log", port);
    record_begin(&pushes);
    CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &pushes, NULL, NULL), BW_OK);
    memset(&both, 0, sizeof both);
    both.device = device;
    for (round = 0; round < ROUNDS; round++) {
        begin_program(&program, directory);
        guest = open_shared_desktop(directory, 0, "org.example.Guest");
        CHECK(is_desktop_part(guest, "guest"), "the other program holds the desktop");
        CHECK_STATUS(bw_desktop_start(guest), BW_OK);
        if (round == 0 && !pair(device, guest))
            return;
        both.desktop = guest;
        reconnect(device);
        CHECK(dispatch_until(both, is_connected, device, 20000), "the device is there");
        memset(outcomes, 0, sizeof outcomes);
        /* In the last rounds the holder has not read the calls. */
        if (round >= ROUNDS - 2)
            stop_program(&program);
        for (index = 0, good = 0; index < PUSHES; index++)
            good += push_async(guest, sent++, &outcomes[index]) == BW_OK;
        CHECK_NUMBER(good, PUSHES);
        poll(NULL, 0, round % 6);
        end_program(&program, SIGKILL);
        for (index = 0, good = 0; index < PUSHES; index++)
            good += dispatch_until(both, completed, &outcomes[index], 30000) && outcomes[index].status == BW_OK;
        CHECK_NUMBER(good, PUSHES);
        reconnect(device);
        pushes.wanted = sent;
        CHECK(dispatch_until(both, recorded, &pushes, 20000), "the device gets every push");
        repeated += repeated_commands(guest);
        CHECK_STATUS(bw_desktop_close(guest), BW_OK);
    }
    CHECK_NUMBER(pushes.events, sent);
    for (index = 0; index < sent; index++)
        again += !is_title(&pushes, index, index);
    CHECK_NUMBER(again, 0);
    printf("      %d pushes, of which %d were stored before their holder was killed\n", sent, repeated);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&pushes);
}

/* ---- measured -------------------------------------------------------------------------------------------------- */

/* How long a call takes whose holder is killed right before. */
static int measure(int rounds)
{
    char directory[96];
    struct program program;
    int64_t total = 0, worst = 0;
    int round, port = free_port();
    path_in(directory, sizeof directory, "measured");
    prepare_program(&program, "measured.log", port);
    for (round = 0; round < rounds; round++) {
        bw_desktop *desktop;
        int64_t start, took;
        begin_program(&program, directory);
        desktop = open_shared_desktop(directory, 0, "org.example.Measured");
        if (!is_desktop_part(desktop, "guest") || bw_desktop_start(desktop) != BW_OK)
            return 1;
        kill(program.pid, SIGKILL);
        start = monotonic_ms();
        if (!is_desktop_part(desktop, "holder"))
            return 1;
        took = monotonic_ms() - start;
        total += took;
        worst = took > worst ? took : worst;
        end_program(&program, 0);
        if (bw_desktop_close(desktop) != BW_OK)
            return 1;
    }
    printf("a call whose holder is killed: mean %d ms, worst %d ms of %d\n", (int)(total / rounds), (int)worst, rounds);
    return 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "--measure") == 0)
        return measure(atoi(argv[2]));
    if (argc == 5 && strcmp(argv[1], "--program") == 0)
        return be_a_desktop(argv);
    signal(SIGPIPE, SIG_IGN);
    RUN(calls_and_events_of_a_guest);
    RUN(options_of_a_guest);
    RUN(a_directory_of_the_other_role);
    RUN(an_address_that_is_taken);
    RUN(a_push_of_a_holder_that_yields);
    RUN(a_guest_takes_over);
    RUN(pushes_whose_holder_is_killed);
    return check_end();
}
