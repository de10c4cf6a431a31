/*
 * Hosts that are killed inside callbacks, at random: every push arrives, in order, and comes again only if it says so.
 *
 *   killed [TEST…]                     the test; KILLED_SEED repeats a run, KILLED_PUSHES sets its length at least
 *   killed --device DIR LOG SEED MOST  a device that is killed in at most its MOSTth callback; 0 = it ends when told
 */
#include "roles.h"

/* ---- the device, a process of its own ------------------------------------------------------------------------ */

struct life {
    int log;
    uint64_t random;
    int callbacks_left;
    int dies_unsaid; /* before it has written down what it was told */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *kill_from_another_thread(void *context)
{
    (void)context;
    kill(getpid(), SIGKILL);
    return NULL;
}

static void die(struct life *life)
{
    pthread_t thread;
    if (next_random(&life->random) % 2 && pthread_create(&thread, NULL, kill_from_another_thread, NULL) == 0)
        pthread_join(thread, NULL);
    kill(getpid(), SIGKILL);
}

static void live(void *user_data, const char *event, const char *event_json)
{
    struct life *life = (struct life *)user_data;
    json_t *value = json_loads(event_json, 0, NULL);
    json_t *data = json_object_get(value, "data");
    char line[128];
    int length = snprintf(line, sizeof line, "%.60s %d\n", json_string_value(json_object_get(data, "title")),
                          json_is_true(json_object_get(data, "redelivered")));
    int dies = life->callbacks_left > 0 && --life->callbacks_left == 0;
    (void)event;
    if (dies && life->dies_unsaid)
        die(life);
    if (write(life->log, line, (size_t)length) != length)
        abort();
    if (dies)
        die(life);
    json_decref(value);
}

static int be_a_device(char **argv)
{
    struct life life;
    char options[512];
    bw_device *device = NULL;
    uint64_t most = strtoull(argv[5], NULL, 10);
    memset(&life, 0, sizeof life);
    life.random = strtoull(argv[4], NULL, 10) | 1;
    next_random(&life.random);
    if (most > 0)
        life.callbacks_left = (int)(1 + next_random(&life.random) % most);
    life.dies_unsaid = (int)(next_random(&life.random) % 2);
    life.log = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"follow_system\":false}", argv[2]);
    if (life.log < 0 || bw_device_open(options, &device) != BW_OK
        || bw_device_subscribe(device, "notification.received", live, &life, NULL, NULL) != BW_OK
        || bw_device_start(device) != BW_OK)
        return 3;
    return serve_until_input_ends(only_device(device));
}

/* ---- its desktop, and whoever kills it ------------------------------------------------------------------------ */

/* Pushes that are sent ahead of what was told, and callbacks of most lives. */
enum { BACKLOG = 12, MOST = 16 };

static const char *self;

struct child {
    pid_t pid;
    int control; /* it ends when this is closed */
};

static struct child start_device(const char *directory, const char *log, uint64_t seed, int most)
{
    struct child child;
    char seed_text[32];
    char most_text[16];
    int pipes[2];
    snprintf(seed_text, sizeof seed_text, "%" PRIu64, seed);
    snprintf(most_text, sizeof most_text, "%d", most);
    if (pipe(pipes) != 0)
        abort();
    fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
    child.control = pipes[1];
    child.pid = fork();
    if (child.pid == 0) {
        dup2(pipes[0], STDIN_FILENO);
        close(pipes[0]);
        execl(self, self, "--device", directory, log, seed_text, most_text, (char *)NULL);
        _exit(6);
    }
    close(pipes[0]);
    return child;
}

/* The pushes that were told so far, in the log's order. Each "first" told is checked against what went before. */
struct told {
    int total, repeated, again_unsaid, out_of_order;
    int next; /* the number of the next push that is new */
};

static struct told read_log(const char *path)
{
    struct told told;
    char title[64];
    int redelivered;
    FILE *file = fopen(path, "r");
    memset(&told, 0, sizeof told);
    while (file != NULL && fscanf(file, "%63s %d", title, &redelivered) == 2) {
        int number = atoi(title);
        told.total++;
        if (number == told.next) {
            told.next++;
        } else if (number < told.next) {
            told.repeated++;
            told.again_unsaid += !redelivered;
        } else {
            told.out_of_order++;
            told.next = number + 1;
        }
    }
    if (file != NULL)
        fclose(file);
    return told;
}

static uint64_t chosen_seed(void)
{
    const char *text = getenv("KILLED_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)epoch_ms() ^ (uint64_t)getpid() << 20;
}

static void killed_in_callbacks(void)
{
    char directory[96];
    char log[96];
    const char *pushes_text = getenv("KILLED_PUSHES");
    int pushes = pushes_text != NULL ? atoi(pushes_text) : 60; /* more, until enough hosts have died */
    uint64_t seed = chosen_seed();
    uint64_t random = seed | 1;
    int64_t deadline = monotonic_ms() + within(pushes * 500 + 25000);
    int sent = 0;
    int deaths = 0;
    int in_vain = 0; /* deaths since something new was told */
    int newest = 0;
    int status = 0;
    struct told told;
    struct child child;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device;
    path_in(directory, sizeof directory, "device");
    path_in(log, sizeof log, "told");
    printf("      seed %" PRIu64 ": KILLED_SEED repeats it\n", seed);
    if (pushes_text != NULL)
        alarm((unsigned)(pushes + 60));
    device = open_device(directory);
    if (!pair(device, desktop))
        return;
    CHECK_STATUS(bw_device_close(device), BW_OK);
    child = start_device(directory, log, next_random(&random), MOST);
    while (monotonic_ms() < deadline) {
        struct timespec pause = {0, 1000000 + (long)(next_random(&random) % 4000000)};
        told = read_log(log);
        if ((sent < pushes || deaths <= pushes / 12) && sent < told.next + BACKLOG) {
            char push[96];
            snprintf(push, sizeof push, "{\"title\":\"%d\",\"body\":\"b\"}", sent++);
            CHECK_STATUS(bw_desktop_notify_async(desktop, push, 60000, complete, calloc(1, sizeof(struct outcome)), free),
                         BW_OK);
        }
        bw_desktop_dispatch(desktop);
        if (sent >= pushes && told.next == sent && deaths > pushes / 12)
            break;
        if (waitpid(child.pid, &status, WNOHANG) == child.pid) {
            if (!CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it ended because it was killed"))
                break;
            deaths++;
            close(child.control);
            in_vain = told.next == newest ? in_vain + 1 : 0;
            newest = told.next;
            /* A dispatch marks what it has handed over at its end, and of what was told before a death nothing is marked:
             * where more waits than such a life has callbacks, one must outlast it. */
            child = start_device(directory, log, next_random(&random), in_vain < 8 ? MOST : sent + MOST);
        }
        nanosleep(&pause, NULL);
    }
    /* What died unsaid comes again; one that nobody kills takes it. */
    close(child.control);
    waitpid(child.pid, &status, 0);
    child = start_device(directory, log, 1, 0);
    while (read_log(log).next < sent && monotonic_ms() < deadline)
        CHECK_STATUS(bw_desktop_run(desktop, 10), BW_OK);
    close(child.control);
    waitpid(child.pid, &status, 0);
    CHECK_NUMBER(status, 0);
    told = read_log(log);
    printf("      %d pushes, %d deaths in callbacks, %d redelivered\n", sent, deaths, told.repeated);
    CHECK_NUMBER(told.next, sent);
    CHECK_NUMBER(told.out_of_order, 0);
    CHECK_NUMBER(told.again_unsaid, 0);
    CHECK(deaths > pushes / 12, "hosts died");
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

int main(int argc, char **argv)
{
    static char path[512];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    self = length > 0 ? path : argv[0];
    if (argc == 6 && strcmp(argv[1], "--device") == 0)
        return be_a_device(argv);
    RUN(killed_in_callbacks);
    return check_end();
}
