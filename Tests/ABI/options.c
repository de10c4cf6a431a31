/* Options that cannot be, and state directories that cannot be used. */
#include "roles.h"

static void refused_device(const char *options, bw_status status, const char *part)
{
    bw_device *device = NULL;
    CHECK_STATUS(bw_device_open(options, &device), status);
    CHECK_ERROR(status, part);
    if (!CHECK(device == NULL, "no handle was given"))
        bw_device_close(device);
}

static void refused_desktop(const char *options, bw_status status, const char *part)
{
    bw_desktop *desktop = NULL;
    CHECK_STATUS(bw_desktop_open(options, &desktop), status);
    CHECK_ERROR(status, part);
    if (!CHECK(desktop == NULL, "no handle was given"))
        bw_desktop_close(desktop);
}

static void refused_relay(const char *options, bw_status status, const char *part)
{
    bw_relay *relay = NULL;
    CHECK_STATUS(bw_relay_open(options, &relay), status);
    CHECK_ERROR(status, part);
    if (!CHECK(relay == NULL, "no handle was given"))
        bw_relay_close(relay);
}

/* Options of so many nested arrays. */
static char *nested(int depth)
{
    char *text = (char *)malloc((size_t)depth * 2 + 32);
    strcpy(text, "{\"name\":");
    memset(text + 8, '[', (size_t)depth);
    memset(text + 8 + depth, ']', (size_t)depth);
    strcpy(text + 8 + 2 * depth, "}");
    return text;
}

static void texts_that_are_no_options(void)
{
    char *deep = nested(10000);
    refused_device("", BW_E_INVALID, "");
    refused_device("{", BW_E_INVALID, "");
    refused_device("[]", BW_E_INVALID, "");
    refused_device("\"text\"", BW_E_INVALID, "");
    refused_device("{} {}", BW_E_INVALID, "");
    refused_device("{\"name\":\"\xff\"}", BW_E_INVALID, "");
    refused_device("{\"name\":\"a\",\"name\":\"b\"}", BW_E_INVALID, "");
    refused_device(deep, BW_E_INVALID, "");
    refused_desktop("null", BW_E_INVALID, "");
    refused_relay("{\"listen\"", BW_E_INVALID, "");
    free(deep);
}

static void unknown_keys(void)
{
    refused_device("{\"state_dir\":\":memory:\",\"nmae\":\"x\"}", BW_E_INVALID, "nmae");
    refused_device("{\"state_dir\":\":memory:\",\"tls\":{\"verify\":false}}", BW_E_INVALID, "verify");
    refused_device("{\"state_dir\":\":memory:\",\"confirm\":true}", BW_E_INVALID, "confirm");
    refused_desktop("{\"state_dir\":\":memory:\",\"listen\":\"127.0.0.1:0\"}", BW_E_INVALID, "listen");
    refused_desktop("{\"state_dir\":\":memory:\",\"relay\":{\"lisen\":\"127.0.0.1:0\"}}", BW_E_INVALID, "lisen");
    refused_relay("{\"confirm\":true}", BW_E_INVALID, "confirm");
    refused_relay("{\"tls\":{\"certificate\":\"x\"}}", BW_E_INVALID, "certificate");
}

static void wrong_types(void)
{
    refused_device("{\"state_dir\":5}", BW_E_INVALID, "state_dir");
    refused_device("{\"state_dir\":\":memory:\",\"name\":[]}", BW_E_INVALID, "name");
    refused_device("{\"state_dir\":\":memory:\",\"platform\":{}}", BW_E_INVALID, "platform");
    refused_device("{\"state_dir\":\":memory:\",\"relay_url\":true}", BW_E_INVALID, "relay_url");
    refused_device("{\"state_dir\":\":memory:\",\"tls\":\"ca.pem\"}", BW_E_INVALID, "tls");
    refused_device("{\"state_dir\":\":memory:\",\"tls\":{\"ca_file\":1}}", BW_E_INVALID, "ca_file");
    refused_device("{\"state_dir\":\":memory:\",\"legacy\":true}", BW_E_INVALID, "legacy");
    refused_device("{\"state_dir\":\":memory:\",\"threaded\":\"yes\"}", BW_E_INVALID, "threaded");
    refused_desktop("{\"state_dir\":\":memory:\",\"relay\":\"127.0.0.1:0\"}", BW_E_INVALID, "relay");
    refused_desktop("{\"state_dir\":\":memory:\",\"confirm\":1}", BW_E_INVALID, "confirm");
    refused_relay("{\"listen\":9001}", BW_E_INVALID, "listen");
    refused_relay("{\"threaded\":0}", BW_E_INVALID, "threaded");
}

static void values_out_of_range(void)
{
    char options[600];
    char name[258];
    memset(name, 'n', sizeof name);
    name[257] = 0;
    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"name\":\"%s\"}", name);
    refused_device(options, BW_E_INVALID, "name");
    refused_device("{\"state_dir\":\":memory:\",\"platform\":\"my platform\"}", BW_E_INVALID, "platform");
    refused_device("{\"state_dir\":\":memory:\",\"relay_url\":\"http://127.0.0.1/\"}", BW_E_INVALID, "relay_url");
    refused_device("{\"state_dir\":\":memory:\",\"relay_url\":\"ws://\"}", BW_E_INVALID, "relay_url");
    refused_device("{\"state_dir\":\":memory:\",\"legacy\":\"some\"}", BW_E_INVALID, "legacy");
    refused_device("{\"state_dir\":\":memory:\",\"late_alerts\":\"all\"}", BW_E_INVALID, "late_alerts");
    refused_device("{\"state_dir\":\":memory:\",\"yields\":1}", BW_E_INVALID, "yields");
    refused_device("{\"state_dir\":\":memory:\",\"yields\":true,\"shared\":false}", BW_E_INVALID, "yields");
    refused_device("{\"state_dir\":\":memory:\",\"shared\":\"no\"}", BW_E_INVALID, "shared");
    refused_desktop("{\"state_dir\":\":memory:\",\"yields\":1}", BW_E_INVALID, "yields");
    refused_desktop("{\"state_dir\":\":memory:\",\"yields\":true,\"shared\":false}", BW_E_INVALID, "yields");
    refused_desktop("{\"state_dir\":\":memory:\",\"application_id\":\"no id\"}", BW_E_INVALID, "application_id");
    refused_desktop("{\"state_dir\":\":memory:\",\"late_alerts\":\"each\"}", BW_E_INVALID, "late_alerts");
    refused_device("{\"state_dir\":\"\"}", BW_E_INVALID, "state_dir");
    refused_relay("{\"listen\":\"127.0.0.1\"}", BW_E_INVALID, "listen");
    refused_relay("{\"listen\":\"127.0.0.1:65536\"}", BW_E_INVALID, "listen");
    refused_relay("{\"listen\":\"127.0.0.1:-1\"}", BW_E_INVALID, "listen");
    refused_relay("{\"listen\":\"127.0.0.1:x\"}", BW_E_INVALID, "listen");
}

static void good_options(void)
{
    bw_device *device = NULL;
    char *json = NULL;
    json_t *state;
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\",\"name\":\"B\xc3\xbcro\",\"platform\":\"linux\","
                                "\"relay_url\":\"ws://127.0.0.1:1/\",\"legacy\":\"none\",\"threaded\":false,\"late_alerts\":\"summary\"}",
                                &device),
                 BW_OK);
    CHECK_STATUS(bw_device_state(device, &json), BW_OK);
    state = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(state, "name")), "B\xc3\xbcro");
    CHECK(json_is_false(json_object_get(state, "started")), "it is not started by opening");
    CHECK_NUMBER(json_integer_value(json_object_get(state, "unread")), 0);
    CHECK(strncmp(json_string_value(json_object_get(state, "id")), "did:key:z", 9) == 0, "its id is a did:key");
    json_decref(state);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* The defaults are those of the XDG directories. */
static void default_state_dir(void)
{
    char path[256];
    struct stat found;
    bw_device *device = NULL;
    setenv("XDG_STATE_HOME", path_in(path, sizeof path, "xdg"), 1);
    CHECK_STATUS(bw_device_open(NULL, &device), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    path_in(path, sizeof path, "xdg/bellwire/device");
    CHECK(stat(path, &found) == 0 && S_ISDIR(found.st_mode), "NULL options keep the state in $XDG_STATE_HOME");
    CHECK_NUMBER(found.st_mode & 0777, 0700);
    unsetenv("XDG_STATE_HOME");
}

/* ---- the state directory ------------------------------------------------------------------------------------- */

static void made_private(void)
{
    char path[256];
    char file[600];
    struct stat found;
    struct dirent *entry;
    DIR *stream;
    char *first_json = NULL;
    char *second_json = NULL;
    json_t *first, *second;
    bw_device *device;
    mode_t mask = umask(0);
    path_in(path, sizeof path, "private/deeper");
    device = open_device(path);
    umask(mask);
    CHECK(stat(path, &found) == 0, "the state_dir is made");
    CHECK_NUMBER(found.st_mode & 0777, 0700);
    stream = opendir(path);
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        snprintf(file, sizeof file, "%.200s/%.250s", path, entry->d_name);
        if (stat(file, &found) == 0 && S_ISREG(found.st_mode))
            CHECK_NUMBER(found.st_mode & 0077, 0);
    }
    if (stream != NULL)
        closedir(stream);

    CHECK_STATUS(bw_device_state(device, &first_json), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    device = open_device(path);
    CHECK_STATUS(bw_device_state(device, &second_json), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    first = parsed(first_json);
    second = parsed(second_json);
    CHECK(json_equal(json_object_get(first, "id"), json_object_get(second, "id")), "the identity stays the same");
    json_decref(first);
    json_decref(second);
}

static void in_memory(void)
{
    bw_device *first, *second;
    int before;
    char current[256];
    CHECK(getcwd(current, sizeof current) != NULL && chdir(work_directory()) == 0, "changes to an empty directory");
    before = entries_of(".");
    first = open_device(":memory:");
    second = open_device(":memory:");
    CHECK_NUMBER(entries_of("."), before);
    CHECK_STATUS(bw_device_close(first), BW_OK);
    CHECK_STATUS(bw_device_close(second), BW_OK);
    CHECK(chdir(current) == 0, "changes back");
}

static void options_for(char *options, size_t size, const char *path)
{
    snprintf(options, size, "{\"state_dir\":\"%.300s\"}", path);
}

static void a_file_in_the_way(void)
{
    char path[256];
    char options[512];
    int fd = open(path_in(path, sizeof path, "file"), O_CREAT | O_WRONLY, 0600);
    close(fd);
    options_for(options, sizeof options, path);
    refused_device(options, BW_E_IO, path);
    options_for(options, sizeof options, path_in(path, sizeof path, "file/below"));
    refused_device(options, BW_E_IO, path);
    refused_desktop(options, BW_E_IO, path);
}

static char unreadable[256];

/* Root may read everything; so this is done as nobody. */
static int open_unreadable(void)
{
    char options[512];
    int failed = check_failed;
    if (geteuid() == 0 && setuid(65534) != 0)
        return 2;
    options_for(options, sizeof options, unreadable);
    refused_device(options, BW_E_IO, unreadable);
    return check_failed != failed;
}

static void not_readable(void)
{
    path_in(unreadable, sizeof unreadable, "unreadable");
    chmod(work_directory(), 0755);
    CHECK(mkdir(unreadable, 0) == 0, "makes a directory that nobody may read");
    CHECK_NUMBER(in_child(open_unreadable), 0);
    chmod(unreadable, 0700);
}

static void key_that_others_can_read(void)
{
    char path[256];
    char file[600];
    char options[512];
    char head[17];
    struct dirent *entry;
    DIR *stream;
    int opened_up = 0;
    bw_device *device = open_device(path_in(path, sizeof path, "open-key"));
    CHECK_STATUS(bw_device_close(device), BW_OK);
    stream = opendir(path);
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        struct stat found;
        int fd;
        snprintf(file, sizeof file, "%.200s/%.250s", path, entry->d_name);
        if (stat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
            continue;
        memset(head, 0, sizeof head);
        fd = open(file, O_RDONLY);
        if (fd >= 0 && read(fd, head, sizeof head - 1) < 0)
            head[0] = 0;
        close(fd);
        if (strncmp(head, "SQLite format 3", 15) != 0 && strstr(entry->d_name, "key") != NULL)
            opened_up += chmod(file, 0644) == 0;
    }
    if (stream != NULL)
        closedir(stream);
    CHECK_NUMBER(opened_up, 1);
    options_for(options, sizeof options, path);
    refused_device(options, BW_E_DENIED, path);
}

/* For a handle that wants the directory for itself. */
static void alone_options_for(char *options, size_t size, const char *path)
{
    snprintf(options, size, "{\"state_dir\":\"%.300s\",\"shared\":false}", path);
}

static void in_use_by_this_process(void)
{
    char path[256];
    char options[512];
    bw_device *device = open_device(path_in(path, sizeof path, "shared"));
    alone_options_for(options, sizeof options, path);
    refused_device(options, BW_E_BUSY, path);
    options_for(options, sizeof options, path);
    refused_desktop(options, BW_E_INVALID, "runs a device");
    alone_options_for(options, sizeof options, path);
    refused_desktop(options, BW_E_BUSY, path);
    /* The attempts must not have dropped the lock that the open handle holds. */
    refused_device(options, BW_E_BUSY, path);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    /* One that has it for itself lets nobody join. */
    device = NULL;
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    options_for(options, sizeof options, path);
    refused_device(options, BW_E_BUSY, path);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    device = open_device(path);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* The same directory under another name is the same directory. */
static void in_use_under_another_name(void)
{
    char path[256];
    char other[256];
    char options[512];
    bw_device *device = open_device(path_in(path, sizeof path, "named"));
    CHECK(symlink(path, path_in(other, sizeof other, "alias")) == 0, "makes a symbolic link");
    alone_options_for(options, sizeof options, other);
    refused_device(options, BW_E_BUSY, "");
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static const char *program;

/* The other process is this program, with "--hold PATH": opens it, says so on stdout, and waits to be killed. */
static int hold(const char *path)
{
    char options[512];
    bw_device *device = NULL;
    options_for(options, sizeof options, path);
    if (bw_device_open(options, &device) != BW_OK)
        return 1;
    puts("held");
    fflush(stdout);
    alarm(120);
    for (;;)
        pause();
}

static void in_use_by_another_process(void)
{
    char path[256];
    char options[512];
    char line[8] = "";
    int ends[2];
    pid_t child;
    path_in(path, sizeof path, "elsewhere");
    options_for(options, sizeof options, path);
    fflush(stdout);
    if (pipe(ends) != 0)
        return;
    child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--hold", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    CHECK(read(ends[0], line, 4) == 4 && strcmp(line, "held") == 0, "another process opens the state_dir");
    close(ends[0]);
    alone_options_for(options, sizeof options, path);
    refused_device(options, BW_E_BUSY, path);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    {
        bw_device *device = open_device(path);
        CHECK_STATUS(bw_device_close(device), BW_OK);
    }
}

/* ---- a damaged database -------------------------------------------------------------------------------------- */

static int overwritten;

/* Overwrites the databases in a directory; counts those moved aside. */
static int for_files(const char *path, int damage)
{
    struct dirent *entry;
    int aside = 0;
    DIR *stream = opendir(path);
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        char file[600];
        char head[17];
        int fd;
        snprintf(file, sizeof file, "%.200s/%.250s", path, entry->d_name);
        aside += strstr(entry->d_name, ".damaged-") != NULL && strstr(entry->d_name, "-wal") == NULL
            && strstr(entry->d_name, "-shm") == NULL;
        if (!damage || (fd = open(file, O_RDWR)) < 0)
            continue;
        memset(head, 0, sizeof head);
        if (pread(fd, head, sizeof head - 1, 0) == (ssize_t)(sizeof head - 1)
            && strncmp(head, "SQLite format 3", 15) == 0)
            overwritten += pwrite(fd, "this is no database, not any more", 33, 0) == 33;
        close(fd);
    }
    if (stream != NULL)
        closedir(stream);
    return aside;
}

static void damaged_database(void)
{
    char path[256];
    struct record record;
    bw_device *device;
    char *json = NULL;
    json_t *state;
    record_begin(&record);
    device = open_device(path_in(path, sizeof path, "damaged"));
    CHECK_STATUS(bw_device_close(device), BW_OK);
    overwritten = 0;
    for_files(path, 1);
    CHECK_NUMBER(overwritten, 1);

    device = open_device(path);
    CHECK_NUMBER(for_files(path, 0), 1);
    CHECK_STATUS(bw_device_subscribe(device, "problem", record_event, &record, record_destroy, NULL), BW_OK);
    record.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &record, 5000), "a problem event says so");
    {
        char *text = json_dumps(json_array_get(record.all, 0), 0);
        CHECK(text != NULL && strstr(text, ".damaged-") != NULL, "it names where the damaged file is");
        free(text);
    }
    CHECK_STATUS(bw_device_state(device, &json), BW_OK);
    state = parsed(json);
    CHECK_NUMBER(json_integer_value(json_object_get(state, "unread")), 0);
    json_decref(state);
    CHECK_STATUS(bw_device_close(device), BW_OK);

    /* It is said once: the new database is whole. */
    device = open_device(path);
    CHECK_NUMBER(for_files(path, 0), 1);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&record);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "--hold") == 0)
        return hold(argv[2]);
    /* Before anything is opened: these fork, and a fork of a process that opened is refused. */
    RUN(not_readable);
    RUN(in_use_by_another_process);
    RUN(texts_that_are_no_options);
    RUN(unknown_keys);
    RUN(wrong_types);
    RUN(values_out_of_range);
    RUN(good_options);
    RUN(default_state_dir);
    RUN(made_private);
    RUN(in_memory);
    RUN(a_file_in_the_way);
    RUN(key_that_others_can_read);
    RUN(in_use_by_this_process);
    RUN(in_use_under_another_name);
    RUN(damaged_database);
    return check_end();
}
