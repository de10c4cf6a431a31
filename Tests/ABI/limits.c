/*
 * Limits between programs that share a device: answers and batches larger than a frame, programs that do not read, and
 * connections that never say who they are.
 */
#include "sharing.h"

#include <sys/resource.h>

/* Larger than a frame between programs, which is 16 MiB, once each control character takes six bytes in JSON. */
enum { PUSHES = 48, BODY_BYTES = 65000, FRAME_BYTES = 16 << 20 };

/* Valgrind takes forty times as long: there an inbox and a backlog are only larger than a page and a batch, which are cut at
 * 2 and 4 MiB, and a list of alerts only larger than the 8 MiB that fit. */
static int rows(void)
{
    return check_scale() > 1 ? 12 : PUSHES;
}

static int alerts(void)
{
    return check_scale() > 1 ? 24 : PUSHES;
}

/* ---- calls that may never return ------------------------------------------------------------------------------- */

/* A call on a thread of its own: one that never returns fails the test, and ends when the handle is closed. */
struct attempt {
    bw_status (*call)(struct attempt *attempt);
    bw_device *device;
    const char *text;
    char *json;
    bw_status status;
    char *error;
    int pipes[2];
    pthread_t thread;
};

static void *carry_out(void *context)
{
    struct attempt *attempt = (struct attempt *)context;
    attempt->status = attempt->call(attempt);
    attempt->error = attempt->status < 0 ? bw_last_error() : NULL;
    if (write(attempt->pipes[1], "", 1) != 1)
        abort();
    return NULL;
}

static void begin(struct attempt *attempt, bw_status (*call)(struct attempt *), bw_device *device, const char *text)
{
    memset(attempt, 0, sizeof *attempt);
    attempt->call = call;
    attempt->device = device;
    attempt->text = text;
    if (pipe(attempt->pipes) != 0 || pthread_create(&attempt->thread, NULL, carry_out, attempt) != 0)
        abort();
}

/* Whether it has returned in time. */
static int returns(struct attempt *attempt)
{
    struct pollfd entry;
    entry.fd = attempt->pipes[0];
    entry.events = POLLIN;
    return poll(&entry, 1, within(30000)) == 1;
}

static void finish(struct attempt *attempt)
{
    pthread_join(attempt->thread, NULL);
    close(attempt->pipes[0]);
    close(attempt->pipes[1]);
    bw_free(attempt->json);
    bw_free(attempt->error);
}

static bw_status load_inbox(struct attempt *attempt)
{
    return bw_inbox_load(attempt->device, attempt->text, &attempt->json);
}

static bw_status list_reminders(struct attempt *attempt)
{
    return bw_reminder_list(attempt->device, &attempt->json);
}

static bw_status list_delivered(struct attempt *attempt)
{
    return bw_alerts_delivered(attempt->device, &attempt->json);
}

static bw_status receive(struct attempt *attempt)
{
    return bw_device_receive(attempt->device, "fcm", attempt->text, &attempt->json);
}

static bw_status invoke(struct attempt *attempt)
{
    return bw_device_invoke(attempt->device, NULL, "notes.add", attempt->text, within(10000), NULL);
}

/* Of the calls that return at once: in time, with that status. */
static int gives(bw_status (*call)(struct attempt *), bw_device *device, const char *text, bw_status status,
                 const char *part, const char *what)
{
    struct attempt attempt;
    int good;
    begin(&attempt, call, device, text);
    good = returns(&attempt);
    CHECK(good, what);
    if (good) {
        CHECK_TEXT(bw_status_name(attempt.status), bw_status_name(status));
        if (part != NULL)
            good = CHECK(attempt.error != NULL && strstr(attempt.error, part) != NULL, "with an error that says why");
        good = good && attempt.status == status;
        finish(&attempt);
    } else {
        CHECK_STATUS(bw_device_close(device), BW_OK);
        finish(&attempt);
    }
    return good;
}

/* ---- larger than a frame --------------------------------------------------------------------------------------- */

/* JSON with a text of control characters; the caller's to free. */
static char *long_text(const char *before, int count, const char *after)
{
    char *text = (char *)malloc(strlen(before) + (size_t)count * 6 + strlen(after) + 1);
    char *end = text + sprintf(text, "%s", before);
    while (count-- > 0)
        end += sprintf(end, "\\u0001");
    strcpy(end, after);
    return text;
}

/* The ids of all rows, page by page; the caller's to release. NULL if a page does not come. */
static json_t *walk(bw_device *device, int *pages)
{
    char params[256] = "{\"limit\":500}";
    json_t *ids = json_array();
    for (*pages = 0; *pages < rows(); ++*pages) {
        struct attempt attempt;
        json_t *page;
        const char *next;
        size_t index;
        begin(&attempt, load_inbox, device, params);
        if (!returns(&attempt) || attempt.status != BW_OK) {
            CHECK(0, "a page of the inbox comes");
            bw_device_close(device);
            finish(&attempt);
            json_decref(ids);
            return NULL;
        }
        page = parsed(attempt.json);
        attempt.json = NULL;
        for (index = 0; index < json_array_size(json_object_get(page, "notifications")); index++)
            json_array_append(ids, json_object_get(json_array_get(json_object_get(page, "notifications"), index), "id"));
        CHECK_NUMBER(json_integer_value(json_object_get(page, "total")), rows());
        next = json_string_value(json_object_get(page, "next"));
        snprintf(params, sizeof params, "{\"limit\":500,\"before\":\"%.200s\"}", next != NULL ? next : "");
        finish(&attempt);
        if (next == NULL) {
            json_decref(page);
            return ids;
        }
        json_decref(page);
    }
    CHECK(0, "the pages end");
    json_decref(ids);
    return NULL;
}

struct reader {
    bw_device *device;
    struct record *record;
};

static bw_status read_all(struct attempt *attempt)
{
    struct reader *reader = (struct reader *)(void *)attempt->text;
    return dispatch_until(only_device(attempt->device), recorded, reader->record, 20000) ? BW_OK : BW_E_TIMEOUT;
}

static void an_inbox_and_a_backlog_larger_than_a_frame(void)
{
    char directory[96];
    char *push = long_text("{\"title\":\"t\",\"answerWhen\":\"stored\",\"body\":\"", BODY_BYTES, "\"}");
    struct record first, second;
    struct reader reader;
    struct attempt attempt;
    json_t *of_holder, *of_guest;
    int index, pages, same_pages;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *holder, *guest;
    path_in(directory, sizeof directory, "large");
    record_begin(&first);
    record_begin(&second);
    holder = open_shared(directory, "org.example.First");
    guest = open_shared(directory, "org.example.Second");
    if (!pair(holder, desktop))
        return;
    /* Both are known from their first dispatch on; the second is away while the pushes come. */
    CHECK_STATUS(bw_device_subscribe(holder, "notification.received", record_event, &first, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(guest, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(holder), BW_OK);
    CHECK_STATUS(bw_device_dispatch(guest), BW_OK);
    CHECK_STATUS(bw_device_close(guest), BW_OK);
    for (index = 0; index < rows(); index++)
        CHECK_STATUS(bw_desktop_notify(desktop, push, within(10000), NULL), BW_OK);
    first.wanted = second.wanted = rows();
    CHECK(dispatch_until(only_device(holder), recorded, &first, 60000), "the holder gets all pushes");

    guest = open_shared(directory, "org.example.Second");
    CHECK(is_part(guest, "guest"), "the second program comes back as a guest");
    CHECK_STATUS(bw_device_subscribe(guest, "notification.received", record_event, &second, NULL, NULL), BW_OK);
    reader.device = guest;
    reader.record = &second;
    begin(&attempt, read_all, guest, (const char *)(void *)&reader);
    if (!CHECK(returns(&attempt) && attempt.status == BW_OK, "it gets all that it has missed")) {
        bw_device_close(guest);
        finish(&attempt);
        guest = open_shared(directory, "org.example.Third");
    } else {
        finish(&attempt);
        CHECK_NUMBER(second.events, rows());
        for (index = 0, pages = 0; index < rows(); index++)
            pages += json_equal(json_object_get(json_object_get(json_array_get(first.all, (size_t)index), "data"), "id"),
                                json_object_get(json_object_get(json_array_get(second.all, (size_t)index), "data"), "id"));
        CHECK_NUMBER(pages, rows());
    }

    of_guest = walk(guest, &pages);
    of_holder = walk(holder, &same_pages);
    CHECK_NUMBER(json_array_size(of_holder), rows());
    CHECK(json_equal(of_holder, of_guest), "a guest reads the same inbox as the holder, page by page");
    CHECK_NUMBER(pages, same_pages);
    CHECK(pages > 0, "its pages end before their 500 rows");
    for (index = 1; index < (int)json_array_size(of_guest); index++)
        if (json_equal(json_array_get(of_guest, (size_t)index), json_array_get(of_guest, (size_t)index - 1)))
            CHECK(0, "no row comes twice");
    json_decref(of_guest);
    json_decref(of_holder);
    if (of_guest != NULL)
        CHECK_STATUS(bw_device_close(guest), BW_OK);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&first);
    record_end(&second);
    free(push);
}

static int32_t present(void *user_data, const char *alert_json)
{
    json_t *alert = json_loads(alert_json, 0, NULL);
    if (json_object_get(alert, "withdraw") == NULL)
        ++*(int *)user_data;
    json_decref(alert);
    return 0;
}

static int all_presented(void *context)
{
    return *(int *)context >= alerts();
}

/* The newest first, and as many as fit. */
static void lists_of_alerts_larger_than_a_frame(void)
{
    char directory[96];
    char before[64];
    struct attempt attempt;
    json_t *list;
    int index, presented = 0;
    size_t of_guest;
    bw_device *holder = NULL, *guest;
    path_in(directory, sizeof directory, "alerts");
    CHECK_STATUS(open_with(directory, "org.example.First", ",\"alerts\":\"host\"", &holder), BW_OK);
    guest = open_shared(directory, "org.example.Second");
    CHECK(is_part(guest, "guest"), "the program that shows no alerts is the guest");
    CHECK_STATUS(bw_alerts_on_present(holder, present, &presented, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_authorize(holder, "authorized", 0), BW_OK);
    CHECK_STATUS(bw_device_start(holder), BW_OK);
    for (index = 0; index < alerts(); index++) {
        char *reminder;
        snprintf(before, sizeof before, "{\"id\":\"%d\",\"title\":\"t\",\"body\":\"", index);
        reminder = long_text(before, BODY_BYTES, "\"}");
        CHECK_STATUS(bw_reminder_add(holder, reminder, NULL), BW_OK);
        free(reminder);
    }
    CHECK(dispatch_until(only_device(holder), all_presented, &presented, 60000), "all are shown");
    begin(&attempt, list_delivered, guest, NULL);
    if (!CHECK(returns(&attempt) && attempt.status == BW_OK, "a guest gets the delivered alerts")) {
        bw_device_close(guest);
        finish(&attempt);
        guest = open_shared(directory, "org.example.Third");
    } else {
        CHECK(strlen(attempt.json) < FRAME_BYTES / 2, "cut to what fits");
        list = parsed(attempt.json);
        attempt.json = NULL;
        of_guest = json_array_size(list);
        CHECK(of_guest > 0 && of_guest < (size_t)alerts(), "not all of them");
        snprintf(before, sizeof before, "%d", alerts() - 1);
        CHECK_TEXT(json_string_value(json_object_get(json_object_get(json_array_get(list, 0), "alert"), "id")), before);
        json_decref(list);
        finish(&attempt);
        begin(&attempt, list_delivered, holder, NULL);
        CHECK(returns(&attempt) && attempt.status == BW_OK, "the holder gets them, too");
        list = parsed(attempt.json);
        attempt.json = NULL;
        CHECK_NUMBER(json_array_size(list), of_guest);
        json_decref(list);
        finish(&attempt);
    }

    /* Reminders are few: beyond what can be listed, no more are accepted. */
    for (index = 0; index < PUSHES; index++) {
        char *reminder;
        bw_status status;
        snprintf(before, sizeof before, "{\"id\":\"later %d\",\"title\":\"t\",\"body\":\"", index);
        reminder = long_text(before, BODY_BYTES, "\",\"trigger\":{\"type\":\"interval\",\"seconds\":86400}}");
        status = bw_reminder_add(index % 2 == 0 ? holder : guest, reminder, NULL);
        free(reminder);
        if (status == BW_OK)
            continue;
        CHECK_STATUS(status, BW_E_LIMIT);
        CHECK_ERROR(BW_E_LIMIT, "reminders");
        break;
    }
    CHECK(index > 0 && index < PUSHES, "reminders have a limit in bytes");
    begin(&attempt, list_reminders, guest, NULL);
    if (CHECK(returns(&attempt) && attempt.status == BW_OK, "a guest gets the list of reminders")) {
        list = parsed(attempt.json);
        attempt.json = NULL;
        CHECK_NUMBER(json_array_size(list), index);
        json_decref(list);
        CHECK_STATUS(bw_device_close(guest), BW_OK);
    } else {
        bw_device_close(guest);
    }
    finish(&attempt);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
}

static void one_item_larger_than_a_frame(void)
{
    char directory[96];
    char *payload = long_text("{\"notification\":{\"title\":\"t\",\"body\":\"", FRAME_BYTES / 6, "\"}}");
    char *params = long_text("{\"text\":\"", FRAME_BYTES / 6, "\"}");
    char *largest = long_text("{\"notification\":{\"title\":\"t\",\"body\":\"", 170000, "\"}}");
    struct record record;
    bw_device *holder, *guest;
    path_in(directory, sizeof directory, "item");
    record_begin(&record);
    holder = open_shared(directory, "org.example.First");
    guest = open_shared(directory, "org.example.Second");
    CHECK_STATUS(bw_device_subscribe(guest, "notification.received", record_event, &record, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(guest), BW_OK);
    /* Whichever program passes it on. */
    gives(receive, holder, payload, BW_E_LIMIT, "payload_json", "the holder returns from a payload that is too large");
    if (gives(receive, guest, payload, BW_E_LIMIT, "payload_json", "a guest returns, too")) {
        gives(receive, guest, largest, BW_OK, NULL, "the largest payload is accepted");
        record.wanted = 1;
        CHECK(dispatch_until(only_device(guest), recorded, &record, 20000), "and comes as a push");
        gives(invoke, guest, params, BW_E_LIMIT, "too_large", "a guest returns from parameters that are too large");
        CHECK(is_part(guest, "guest"), "and is connected");
        CHECK_STATUS(bw_device_close(guest), BW_OK);
    }
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    record_end(&record);
    free(payload);
    free(params);
    free(largest);
}

/* ---- programs that do not read --------------------------------------------------------------------------------- */

enum { SILENT_GUESTS = 40, CALLS = 24, BOUND_KB = 128 << 10 };

static long private_kb(pid_t pid)
{
    char path[64];
    char line[128];
    long kb = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kb;
}

/* Whether the other side has closed the connection; what it has sent before stays unread. */
static int is_closed(int descriptor)
{
    struct pollfd entry;
    entry.fd = descriptor;
    entry.events = 0;
    entry.revents = 0;
    return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

static const char hello[] = "{\"message\":\"hello\",\"protocol\":2,\"library\":\"0\",\"role\":\"device\",\"application\":\"%s%d\"}";

static void guests_that_do_not_read(void)
{
    static int guests[SILENT_GUESTS];
    char directory[96];
    char text[256];
    char answer[4096];
    char *push = long_text("{\"title\":\"t\",\"answerWhen\":\"stored\",\"body\":\"", BODY_BYTES, "\"}");
    const char *newest = "{\"title\":\"t\",\"answerWhen\":\"stored\"}";
    struct program program;
    struct told told;
    int64_t deadline;
    long most = 0;
    int index, call, closed = 0;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device;
    memset(&program, 0, sizeof program);
    path_in(directory, sizeof directory, "silent");
    path_in(program.log, sizeof program.log, "silent.log");
    snprintf(program.application, sizeof program.application, "org.example.Holder");
    begin_program(&program, directory);
    device = open_shared(directory, "org.example.Reader");
    if (!pair(device, desktop))
        return;
    for (index = 0; index < PUSHES; index++)
        CHECK_STATUS(bw_desktop_notify(desktop, push, within(10000), NULL), BW_OK);
    CHECK_STATUS(bw_desktop_notify(desktop, newest, within(10000), NULL), BW_OK);
    deadline = monotonic_ms() + within(60000);
    do {
        read_log(program.log, &told);
        poll(NULL, 0, 5);
    } while (told.total < PUSHES + 1 && monotonic_ms() < deadline);
    CHECK_NUMBER(told.total, PUSHES + 1);

    /* Each asks for many pages, and reads no more than the answer to its hello. */
    for (index = 0; index < SILENT_GUESTS; index++) {
        int good;
        guests[index] = reach(directory);
        snprintf(text, sizeof text, hello, "silent", index);
        good = guests[index] >= 0 && send_frame(guests[index], text) && recv(guests[index], answer, sizeof answer, 0) > 4;
        for (call = 1; call <= CALLS && good; call++) {
            snprintf(text, sizeof text,
                     "{\"message\":\"call\",\"number\":%d,\"name\":\"inbox.load\",\"arguments\":[{\"limit\":500}]}",
                     call);
            good = send_frame(guests[index], text);
        }
        /* Without the limit of all together, the holder may have closed the first already. */
        if (index == 0)
            CHECK(good, "a program asks, and does not read");
    }
    /* Meanwhile a program that reads is served, with a row that costs little, and in the end those that do not are closed. */
    deadline = monotonic_ms() + within(90000);
    while (closed < SILENT_GUESTS && monotonic_ms() < deadline) {
        struct attempt attempt;
        long now = private_kb(program.pid);
        most = now > most ? now : most;
        begin(&attempt, load_inbox, device, "{\"limit\":1}");
        if (!returns(&attempt) || attempt.status != BW_OK)
            closed = SILENT_GUESTS + 1;
        finish(&attempt);
        for (index = 0, closed = closed > SILENT_GUESTS ? closed : 0; index < SILENT_GUESTS; index++)
            closed += guests[index] < 0 || is_closed(guests[index]);
        poll(NULL, 0, 2);
    }
    printf("      at most %ld kB private\n", most);
    CHECK_NUMBER(closed, SILENT_GUESTS);
    CHECK(most > 0 && most < BOUND_KB, "the holder's private memory stays below its bound");
    for (index = 0; index < SILENT_GUESTS; index++)
        close(guests[index]);
    CHECK(is_part(device, "guest"), "the holder goes on");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(end_program(&program, 0), 0);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    free(push);
}

/* ---- connections without a hello ------------------------------------------------------------------------------- */

enum { CONNECTIONS = 512 };

static void connections_without_a_hello(void)
{
    static int connections[CONNECTIONS];
    struct rlimit files;
    char directory[96];
    struct program program;
    int64_t deadline;
    int index, good = 0;
    bw_status status = BW_OK;
    bw_device *device = NULL;
    memset(&program, 0, sizeof program);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    path_in(directory, sizeof directory, "quiet");
    path_in(program.log, sizeof program.log, "quiet.log");
    snprintf(program.application, sizeof program.application, "org.example.Holder");
    begin_program(&program, directory);
    for (index = 0; index < CONNECTIONS; index++) {
        connections[index] = reach(directory);
        good += connections[index] >= 0;
    }
    CHECK_NUMBER(good, CONNECTIONS);
    /* A program hears the true reason until they have made room, which takes five seconds and no more than that. */
    deadline = monotonic_ms() + within(20000);
    status = open_with(directory, "org.example.Real", "", &device);
    CHECK_STATUS(status, BW_E_LIMIT);
    CHECK_ERROR(BW_E_LIMIT, "too_many_programs");
    while (status == BW_E_LIMIT && monotonic_ms() < deadline) {
        status = open_with(directory, "org.example.Real", "", &device);
        poll(NULL, 0, 5);
    }
    CHECK_STATUS(status, BW_OK);
    do {
        for (index = 0, good = 0; index < CONNECTIONS; index++)
            good += is_closed(connections[index]);
        poll(NULL, 0, 5);
    } while (good < CONNECTIONS && monotonic_ms() < deadline);
    for (index = 0; index < CONNECTIONS; index++)
        close(connections[index]);
    CHECK_NUMBER(good, CONNECTIONS);
    if (status == BW_OK) {
        CHECK(is_part(device, "guest"), "a real program joins");
        CHECK_STATUS(bw_device_close(device), BW_OK);
    }
    CHECK_NUMBER(end_program(&program, 0), 0);
}

/* ---- a holder that can't be understood ------------------------------------------------------------------------- */

struct impostor {
    int listener;
    int connections;
    int stop[2];
    pthread_t thread;
};

static void answer_with(int descriptor, const unsigned char *bytes, size_t count)
{
    if (send(descriptor, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        return;
}

/* Accepts hellos, and answers everything else with a frame that is too long. */
static void *deceive(void *context)
{
    struct impostor *impostor = (struct impostor *)context;
    static const unsigned char too_long[4] = {0x7f, 0xff, 0xff, 0xff};
    char bytes[4096];
    int guest = -1;
    for (;;) {
        struct pollfd entries[3];
        entries[0].fd = impostor->stop[0];
        entries[1].fd = impostor->listener;
        entries[2].fd = guest;
        entries[0].events = entries[1].events = entries[2].events = POLLIN;
        entries[0].revents = entries[1].revents = entries[2].revents = 0;
        if (poll(entries, guest >= 0 ? 3 : 2, -1) <= 0)
            continue;
        if (entries[0].revents != 0)
            break;
        if (entries[1].revents != 0) {
            if (guest >= 0)
                close(guest);
            guest = accept(impostor->listener, NULL, NULL);
            impostor->connections++;
            continue;
        }
        if (guest >= 0 && entries[2].revents != 0) {
            ssize_t count = recv(guest, bytes, sizeof bytes - 1, 0);
            if (count <= 0) {
                close(guest);
                guest = -1;
                continue;
            }
            bytes[count] = 0;
            if (count > 4 && strstr(bytes + 4, "\"hello\"") != NULL)
                send_frame(guest, "{\"message\":\"welcome\",\"options\":{}}");
            else
                answer_with(guest, too_long, sizeof too_long);
        }
    }
    if (guest >= 0)
        close(guest);
    return NULL;
}

static bw_status list_desktops(struct attempt *attempt)
{
    return bw_pairing_list(attempt->device, &attempt->json);
}

static int is_unreadable(void *context)
{
    return has_event((struct record *)context, "problem", "code", "holder_unreadable");
}

/* In a process of its own, for its lock is one of processes. */
static int be_an_impostor(const char *directory)
{
    struct impostor impostor;
    struct sockaddr_un address;
    struct flock region;
    char path[160];
    char byte;
    int lock;
    memset(&impostor, 0, sizeof impostor);
    memset(&region, 0, sizeof region);
    memset(&address, 0, sizeof address);
    snprintf(path, sizeof path, "%.100s/lock", directory);
    region.l_type = F_WRLCK;
    region.l_whence = SEEK_SET;
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/holder.sock", directory);
    impostor.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (lock < 0 || fcntl(lock, F_SETLK, &region) != 0
        || bind(impostor.listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(impostor.listener, 16) != 0 || pipe(impostor.stop) != 0
        || pthread_create(&impostor.thread, NULL, deceive, &impostor) != 0 || write(1, "ready\n", 6) != 6)
        return 1;
    while (read(0, &byte, 1) > 0)
        continue;
    close(impostor.stop[1]);
    pthread_join(impostor.thread, NULL);
    /* The exit code tells how often it was asked. */
    return impostor.connections > 200 ? 200 : impostor.connections;
}

static void a_holder_that_cannot_be_understood(void)
{
    char directory[96];
    char word[8] = "";
    int in[2], out[2], status = 0, again;
    pid_t pid;
    struct record problems;
    bw_device *guest = NULL;
    record_begin(&problems);
    path_in(directory, sizeof directory, "impostor");
    if (mkdir(directory, 0700) != 0 || pipe(in) != 0 || pipe(out) != 0)
        abort();
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(self, self, "--impostor", directory, (char *)NULL);
        _exit(6);
    }
    close(in[0]);
    close(out[1]);
    CHECK(read(out[0], word, sizeof word - 1) > 0, "another program has the directory");
    CHECK_STATUS(open_with(directory, "org.example.Guest", "", &guest), BW_OK);
    CHECK_STATUS(bw_device_subscribe(guest, "problem", record_event, &problems, NULL, NULL), BW_OK);
    if (gives(list_desktops, guest, NULL, BW_E_PROTOCOL, "16777216", "a call whose answer can't be read returns")) {
        CHECK(dispatch_until(only_device(guest), is_unreadable, &problems, 10000), "a problem tells of it");
        for (again = 0; again < 3; again++)
            gives(list_desktops, guest, NULL, BW_E_PROTOCOL, "16777216", "and so does the next");
        CHECK_STATUS(bw_device_close(guest), BW_OK);
    }
    close(in[1]);
    waitpid(pid, &status, 0);
    close(out[0]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) > 0 && WEXITSTATUS(status) < 20, "it does not try without end");
    record_end(&problems);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 5 && strcmp(argv[1], "--program") == 0)
        return be_a_program(argv);
    if (argc == 3 && strcmp(argv[1], "--impostor") == 0)
        return be_an_impostor(argv[2]);
    signal(SIGPIPE, SIG_IGN);
    RUN(an_inbox_and_a_backlog_larger_than_a_frame);
    RUN(lists_of_alerts_larger_than_a_frame);
    RUN(one_item_larger_than_a_frame);
    RUN(guests_that_do_not_read);
    RUN(connections_without_a_hello);
    RUN(a_holder_that_cannot_be_understood);
    return check_end();
}
