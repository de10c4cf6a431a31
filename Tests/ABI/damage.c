/*
 * Damages each page of a desktop's and a device's database, of their logs and of the copies of the pairings, one at a
 * time, and opens both sides: each still has the other, with the rights that it had, and pushes arrive.
 *
 *     damage [--every N] [--from K] [--verbose]
 *
 * A page is damaged in five ways: one bit is flipped at one of three places, it is zeroed, or the file ends before it.
 * Without --every, a sample is taken: every 61st case, from the 7th. --every 1 is the whole matrix.
 */
#include "roles.h"

#define PAGE 4096
#define OPTIONS "\"follow_system\":false,\"relay_url\":\"ws://127.0.0.1:%d\""

enum how { FLIP, FLIP_SECOND, FLIP_THIRD, ZERO, CUT, WHOLE };
static const char *const ways[] = {"flip", "flip 2", "flip 3", "zero", "cut", "none"};
static const char *const desktop_files[] = {"desktop.db", "desktop.db-wal", "desktop.pairings"};
static const char *const device_files[] = {"device.db", "device.db-wal", "device.pairings"};

static int port, verbose;
static long every = 61, from = 7; /* which cases */
static char paired[80], desktop_id[80];
static const char stranger[] = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";

/* What the matrix has come to. */
static struct figures {
    int cases, moved_aside, restored, lost, history, waiting;
} figures;

/* ---- files --------------------------------------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    char buffer[65536];
    ssize_t count;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while ((count = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)count) != count)
            CHECK(0, "a file is copied");
    close(in);
    close(out);
}

/* The files that matter; not the lock, nor what SQLite makes anew. */
static void copy_state(const char *from, const char *to)
{
    struct dirent *entry;
    DIR *stream = opendir(from);
    remove_tree(to);
    mkdir(to, 0700);
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        char one[512], other[512];
        if (entry->d_name[0] == '.' || strstr(entry->d_name, "-shm") != NULL || strcmp(entry->d_name, "lock") == 0)
            continue;
        snprintf(one, sizeof one, "%.200s/%.200s", from, entry->d_name);
        snprintf(other, sizeof other, "%.200s/%.200s", to, entry->d_name);
        copy_file(one, other);
    }
    if (stream != NULL)
        closedir(stream);
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : 0;
}

static void damage(const char *path, off_t page, enum how how)
{
    static const char zeros[PAGE] = {0};
    off_t size = size_of(path), at = page * PAGE;
    off_t count = size - at < PAGE ? size - at : PAGE;
    int file = open(path, O_RDWR);
    char byte = 0;
    int good = 1;
    if (how == CUT)
        good = ftruncate(file, at) == 0;
    if (how == ZERO)
        good = pwrite(file, zeros, (size_t)count, at) == count;
    if (how <= FLIP_THIRD) {
        /* Somewhere in it, the same in each run. */
        at += ((unsigned long)page * 2654435761U + 1013 + (unsigned long)how * 40503) % (unsigned long)count;
        good = pread(file, &byte, 1, at) == 1;
        byte = (char)(byte ^ 0x20);
        good = good && pwrite(file, &byte, 1, at) == 1;
    }
    close(file);
    CHECK_NUMBER(good, 1);
}

static int is_moved_aside(const char *directory)
{
    struct dirent *entry;
    int found = 0;
    DIR *stream = opendir(directory);
    while (stream != NULL && (entry = readdir(stream)) != NULL)
        found = found || strstr(entry->d_name, ".damaged-") != NULL;
    if (stream != NULL)
        closedir(stream);
    return found;
}

/* ---- both sides ---------------------------------------------------------------------------------------------- */

struct side {
    bw_desktop *desktop;
    bw_device *device;
    struct record of_desktop, of_device;
};

static bw_desktop *a_desktop(const char *state_dir)
{
    char options[512];
    bw_desktop *desktop = NULL;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"name\":\"Desk\"," OPTIONS "}", state_dir, port);
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    return desktop;
}

static bw_device *a_device(const char *state_dir)
{
    char options[512];
    bw_device *device = NULL;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"name\":\"Phone\"," OPTIONS "}", state_dir, port);
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    return device;
}

static void begin(struct side *side, const char *desktop, const char *device)
{
    memset(side, 0, sizeof *side);
    record_begin(&side->of_desktop);
    record_begin(&side->of_device);
    side->desktop = a_desktop(desktop);
    side->device = a_device(device);
    bw_desktop_subscribe(side->desktop, "problem", record_event, &side->of_desktop, NULL, NULL);
    bw_device_subscribe(side->device, "problem", record_event, &side->of_device, NULL, NULL);
    bw_device_subscribe(side->device, "notification.received", record_event, &side->of_device, NULL, NULL);
    CHECK_STATUS(bw_desktop_start(side->desktop), BW_OK);
    CHECK_STATUS(bw_device_start(side->device), BW_OK);
}

static void end(struct side *side)
{
    bw_device_close(side->device);
    bw_desktop_close(side->desktop);
    record_end(&side->of_desktop);
    record_end(&side->of_device);
}

/* How many events of the name have that text as the member. */
static int count_of(const struct record *record, const char *member, const char *text)
{
    size_t index;
    int count = 0;
    for (index = 0; index < json_array_size(record->all); index++) {
        json_t *data = json_object_get(json_array_get(record->all, index), "data");
        const char *value = json_string_value(json_object_get(data, member));
        count += value != NULL && strcmp(value, text) == 0;
    }
    return count;
}

struct wish {
    struct side *side;
    const char *title;
};

static int has_come(void *context)
{
    struct wish *wish = (struct wish *)context;
    return count_of(&wish->side->of_device, "title", wish->title) > 0;
}

static struct dispatched handles_of(struct side *side)
{
    struct dispatched handles;
    memset(&handles, 0, sizeof handles);
    handles.device = side->device;
    handles.desktop = side->desktop;
    return handles;
}

static int arrives(struct side *side, const char *title)
{
    struct wish wish;
    wish.side = side;
    wish.title = title;
    return dispatch_until(handles_of(side), has_come, &wish, 15000);
}

static bw_status notify(bw_desktop *desktop, const char *title, int32_t wait)
{
    char params[128];
    snprintf(params, sizeof params, "{\"title\":\"%.40s\",\"body\":\"a body of some length, so that rows fill pages\"}",
             title);
    return bw_desktop_notify(desktop, params, wait, NULL);
}

static json_t *devices_of(bw_desktop *desktop)
{
    char *json = NULL;
    CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
    return parsed(json);
}

static json_t *desktops_of(bw_device *device)
{
    char *json = NULL;
    CHECK_STATUS(bw_pairing_list(device, &json), BW_OK);
    return parsed(json);
}

static const char *text_in(const json_t *array, const char *member)
{
    const char *text = json_string_value(json_object_get(json_array_get(array, 0), member));
    return text != NULL ? text : "";
}

/* ---- the state that is damaged ------------------------------------------------------------------------------- */

/* A paired device with fewer rights than usual, one that was unpaired, a revoked key, some history, and a push that
 * waits. Leaves "live" (as after a kill, with logs) and "closed" of each side. */
static void make(void)
{
    char desktop[128], device[128], other[128], live[128], closed[128];
    struct side side, second;
    json_t *list;
    int number;
    path_in(desktop, sizeof desktop, "desktop");
    path_in(device, sizeof device, "device");
    path_in(other, sizeof other, "other");
    begin(&side, desktop, device);
    CHECK_NUMBER(pair(side.device, side.desktop), 1);
    memset(&second, 0, sizeof second);
    second.device = a_device(other);
    CHECK_STATUS(bw_device_start(second.device), BW_OK);
    list = devices_of(side.desktop);
    snprintf(paired, sizeof paired, "%.70s", text_in(list, "id"));
    json_decref(list);
    list = desktops_of(side.device);
    snprintf(desktop_id, sizeof desktop_id, "%.70s", text_in(list, "id"));
    json_decref(list);
    CHECK_NUMBER(pair(second.device, side.desktop), 1);
    list = devices_of(side.desktop);
    CHECK_NUMBER(json_array_size(list), 2);
    CHECK_STATUS(
        bw_desktop_unpair(side.desktop, json_string_value(json_object_get(json_array_get(list, 1), "id"))), BW_OK);
    json_decref(list);
    bw_device_close(second.device);
    CHECK_STATUS(bw_desktop_revoke(side.desktop, stranger), BW_OK);
    CHECK_STATUS(bw_desktop_allow(side.desktop, paired, "notification", "safe"), BW_OK);
    for (number = 0; number < 40; number++) {
        char title[32];
        snprintf(title, sizeof title, "push %d", number);
        CHECK_STATUS(notify(side.desktop, title, within(5000)), BW_OK);
        CHECK(arrives(&side, title), "a push arrives");
    }
    copy_state(device, path_in(live, sizeof live, "device.live"));
    bw_device_close(side.device);
    copy_state(device, path_in(closed, sizeof closed, "device.closed"));
    CHECK(notify(side.desktop, "waiting", within(10000)) >= 0, "a push is stored for a device that is away");
    copy_state(desktop, path_in(live, sizeof live, "desktop.live"));
    bw_desktop_close(side.desktop);
    copy_state(desktop, path_in(closed, sizeof closed, "desktop.closed"));
    record_end(&side.of_desktop);
    record_end(&side.of_device);
}

/* ---- one case ------------------------------------------------------------------------------------------------ */

static void expect_problem(const struct record *record, const char *directory, const char *name)
{
    char what[200];
    int is_aside = is_moved_aside(directory);
    snprintf(what, sizeof what, "%.150s: a damaged database is reported", name);
    if (is_aside != count_of(record, "code", "database_damaged"))
        CHECK(0, what);
    figures.moved_aside += is_aside;
    figures.restored += count_of(record, "pairings", "restored");
    figures.lost += count_of(record, "pairings", "lost");
}

/* Counts as one check. */
static void one(const char *variant, const char *file, off_t page, enum how how)
{
    char name[128], what[256], source[128], desktop[128], device[128], path[256], title[64];
    struct side side;
    json_t *devices, *desktops, *json;
    char *text = NULL;
    const char *failure = NULL;
    int before = check_failed, is_desktop = strncmp(file, "desktop", 7) == 0;
    snprintf(name, sizeof name, "%s %s page %ld %s", variant, file, (long)page, ways[how]);
    check_test = name;
    snprintf(source, sizeof source, "desktop.%s", variant);
    copy_state(path_in(path, sizeof path, source), path_in(desktop, sizeof desktop, "desktop.case"));
    snprintf(source, sizeof source, "device.%s", variant);
    copy_state(path_in(path, sizeof path, source), path_in(device, sizeof device, "device.case"));
    snprintf(path, sizeof path, "%.120s/%.60s", is_desktop ? desktop : device, file);
    if (how != WHOLE)
        damage(path, page, how);
    alarm((unsigned)within(120));
    begin(&side, desktop, device);
    devices = devices_of(side.desktop);
    desktops = desktops_of(side.device);
    if (json_array_size(devices) != 1 || strcmp(text_in(devices, "id"), paired) != 0)
        failure = "the desktop has its device, and no other";
    else if (strcmp(text_in(devices, "name"), "Phone") != 0 || strcmp(text_in(desktops, "name"), "Desk") != 0)
        failure = "both have their names";
    else if (json_array_size(desktops) != 1 || strcmp(text_in(desktops, "id"), desktop_id) != 0)
        failure = "the device has its desktop";
    json_decref(devices);
    json_decref(desktops);
    CHECK_STATUS(bw_desktop_permissions(side.desktop, &text), BW_OK);
    json = parsed(text);
    if (failure == NULL
        && strcmp(json_string_value(json_object_get(
                      json_object_get(json_array_get(json_object_get(json, "devices"), 0), "allowed"), "notification")),
                  "safe")
            != 0)
        failure = "the device has the rights that it had";
    json_decref(json);
    text = NULL;
    CHECK_STATUS(bw_desktop_revoked(side.desktop, &text), BW_OK);
    json = parsed(text);
    if (failure == NULL && strcmp(text_in(json, "id"), stranger) != 0)
        failure = "a revoked key is still refused";
    json_decref(json);
    snprintf(title, sizeof title, "after %d", figures.cases);
    if (notify(side.desktop, title, within(10000)) < 0 && failure == NULL)
        failure = "a push is accepted";
    if (failure == NULL && !arrives(&side, title))
        failure = "a push arrives";
    if (failure == NULL && count_of(&side.of_device, "title", title) != 1)
        failure = "a push arrives once";
    /* What waited comes before it, unless the desktop's own files were damaged. */
    figures.waiting += count_of(&side.of_device, "title", "waiting") > 0;
    if (failure == NULL && !is_desktop && count_of(&side.of_device, "title", "waiting") == 0)
        failure = "what was accepted before arrives";
    text = NULL;
    if (bw_desktop_history(side.desktop, "{\"limit\":100}", &text) == BW_OK) {
        json = parsed(text);
        figures.history += (int)json_array_size(json_object_get(json, "notifications")) - 1;
        json_decref(json);
    }
    figures.cases++;
    bw_desktop_dispatch(side.desktop);
    bw_device_dispatch(side.device);
    snprintf(what, sizeof what, "%s", failure != NULL ? failure : "both sides go on");
    expect_problem(&side.of_desktop, desktop, name);
    expect_problem(&side.of_device, device, name);
    if (failure != NULL || verbose) {
        char *one_side = json_dumps(side.of_desktop.all, 0), *other = json_dumps(side.of_device.all, 0);
        printf("      %s: %s\n      desktop %.1200s\n      device %.1200s\n", name, what, one_side, other);
        free(one_side);
        free(other);
    }
    end(&side);
    alarm(0);
    CHECK(failure == NULL && check_failed == before, what);
}

static void matrix(void)
{
    static const char *const variants[] = {"live", "closed"};
    long number = 0;
    int variant, file, side;
    one("live", "desktop.db", 0, WHOLE);
    one("closed", "device.db", 0, WHOLE);
    for (variant = 0; variant < 2; variant++)
        for (side = 0; side < 2; side++)
            for (file = 0; file < 3; file++) {
                const char *name = side == 0 ? desktop_files[file] : device_files[file];
                char directory[64], place[128], path[256];
                off_t page, pages;
                int how;
                snprintf(directory, sizeof directory, "%s.%s", side == 0 ? "desktop" : "device", variants[variant]);
                snprintf(path, sizeof path, "%.120s/%.60s", path_in(place, sizeof place, directory), name);
                pages = (size_of(path) + PAGE - 1) / PAGE;
                for (page = 0; page < pages; page++)
                    for (how = FLIP; how <= CUT; how++)
                        if (number++ % every == from % every)
                            one(variants[variant], name, page, (enum how)how);
            }
    printf("%d cases of %ld: %d databases moved aside, %d times pairings restored, %d lost, "
           "%.1f rows of history on average of 41, the waiting push arrived %d times\n",
           figures.cases, number, figures.moved_aside, figures.restored, figures.lost,
           figures.cases > 0 ? (double)figures.history / figures.cases : 0.0, figures.waiting);
}

/* ---- both the database and the copy -------------------------------------------------------------------------- */

static int both_are_told(void *context)
{
    struct side *side = (struct side *)context;
    json_t *desktops = desktops_of(side->device);
    const char *problem = json_string_value(
        json_object_get(json_object_get(json_array_get(desktops, 0), "seal"), "problem"));
    int denied = problem != NULL && strcmp(problem, "not_paired") == 0;
    json_decref(desktops);
    return denied && count_of(&side->of_desktop, "pairings", "lost") > 0;
}

/* The desktop says what it has lost. It can't prove it to the device, which lists it as a problem. */
static void both(void)
{
    char path[256], desktop[128], device[128], place[128];
    struct side side;
    json_t *devices;
    check_test = "both the database and the copy";
    copy_state(path_in(place, sizeof place, "desktop.closed"), path_in(desktop, sizeof desktop, "desktop.case"));
    copy_state(path_in(place, sizeof place, "device.closed"), path_in(device, sizeof device, "device.case"));
    snprintf(path, sizeof path, "%.120s/desktop.db", desktop);
    damage(path, 0, ZERO);
    snprintf(path, sizeof path, "%.120s/desktop.pairings", desktop);
    damage(path, 0, FLIP);
    begin(&side, desktop, device);
    devices = devices_of(side.desktop);
    CHECK_NUMBER(json_array_size(devices), 0);
    json_decref(devices);
    CHECK(dispatch_until(handles_of(&side), both_are_told, &side, 15000), "both sides are told");
    CHECK_NUMBER(count_of(&side.of_desktop, "pairings", "lost"), 1);
    CHECK_NUMBER(pair(side.device, side.desktop), 1);
    CHECK_STATUS(notify(side.desktop, "again", within(5000)), BW_OK);
    CHECK(arrives(&side, "again"), "they can be paired again");
    end(&side);
}

static void damaged(void)
{
    bw_relay *relay = NULL;
    CHECK_STATUS(bw_relay_open("{\"listen\":\"127.0.0.1:0\",\"threaded\":true}", &relay), BW_OK);
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    port = relay_port(relay);
    make();
    matrix();
    both();
    bw_relay_close(relay);
}

int main(int argc, char **argv)
{
    int index;
    for (index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--verbose") == 0)
            verbose = 1;
        else if (strcmp(argv[index], "--every") == 0 && index + 1 < argc)
            every = strtol(argv[++index], NULL, 10);
        else if (strcmp(argv[index], "--from") == 0 && index + 1 < argc)
            from = strtol(argv[++index], NULL, 10);
    }
    if (every < 1 || from < 0) {
        fprintf(stderr, "usage: damage [--every N] [--from K] [--verbose]\n");
        return 2;
    }
    argc = 1;
    RUN(damaged);
    return check_end();
}
