/* What the library does to the process that it is in: threads, descriptors, signals, locale, environment, fork. */
#include "roles.h"

#include <arpa/inet.h>
#include <locale.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

extern char **environ;

struct manners {
    struct sigaction actions[NSIG];
    sigset_t mask;
    char locale[256];
    char *environment;
};

static void look(struct manners *manners)
{
    int number;
    size_t size = 1;
    char **variable;
    memset(manners, 0, sizeof *manners);
    for (number = 1; number < NSIG; number++)
        sigaction(number, NULL, &manners->actions[number]);
    pthread_sigmask(SIG_BLOCK, NULL, &manners->mask);
    snprintf(manners->locale, sizeof manners->locale, "%s", setlocale(LC_ALL, NULL));
    for (variable = environ; *variable != NULL; variable++)
        size += strlen(*variable) + 1;
    manners->environment = (char *)calloc(1, size);
    for (variable = environ; *variable != NULL; variable++) {
        strcat(manners->environment, *variable);
        strcat(manners->environment, "\n");
    }
}

static void same(struct manners *before)
{
    struct manners now;
    int number;
    int changed = 0;
    look(&now);
    for (number = 1; number < NSIG; number++)
        changed += before->actions[number].sa_handler != now.actions[number].sa_handler
            || before->actions[number].sa_flags != now.actions[number].sa_flags;
    CHECK_NUMBER(changed, 0);
    CHECK(memcmp(&before->mask, &now.mask, sizeof now.mask) == 0, "the signal mask is as before");
    CHECK_TEXT(now.locale, before->locale);
    CHECK_TEXT(now.environment, before->environment);
    free(before->environment);
    free(now.environment);
}

static void manners_of_three_roles(void)
{
    struct manners before;
    bw_device *device;
    bw_desktop *desktop;
    bw_relay *relay;
    CHECK_NUMBER(thread_count(), 1);
    look(&before);
    relay = open_relay();
    desktop = open_desktop(":memory:");
    device = open_device(":memory:");
    CHECK(thread_count() <= 3, "at most two threads beside the caller's, with all three roles open");
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    pair(device, desktop);
    CHECK_STATUS(bw_desktop_notify(desktop, "{\"title\":\"t\",\"body\":\"b\"}", within(5000), NULL), BW_OK);
    CHECK(thread_count() <= 3, "and when they have worked");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    same(&before);
}

/* All signals are blocked in the library's threads, so that the host's handlers run on the host's. */
static void signals_stay_with_the_host(void)
{
    char path[300];
    char line[256];
    struct dirent *entry;
    bw_device *device = open_device(":memory:");
    DIR *tasks = opendir("/proc/self/task");
    int blocking = 0;
    int others = 0;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        FILE *status;
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)getpid())
            continue;
        others++;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry->d_name);
        status = fopen(path, "r");
        while (status != NULL && fgets(line, sizeof line, status) != NULL)
            if (strncmp(line, "SigBlk:", 7) == 0) {
                unsigned long long mask = strtoull(line + 7, NULL, 16);
                /* SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM */
                unsigned long long wanted = 1ULL << (SIGINT - 1) | 1ULL << (SIGTERM - 1) | 1ULL << (SIGCHLD - 1)
                    | 1ULL << (SIGUSR1 - 1) | 1ULL << (SIGALRM - 1);
                blocking += (mask & wanted) == wanted;
            }
        if (status != NULL)
            fclose(status);
    }
    if (tasks != NULL)
        closedir(tasks);
    CHECK(others > 0, "the library has threads");
    CHECK_NUMBER(blocking, others);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static void descriptors_are_given_back(void)
{
    int round;
    int before = 0;
    for (round = 0; round < 20; round++) {
        bw_device *device = open_device(":memory:");
        bw_desktop *desktop = open_desktop(":memory:");
        CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
        CHECK_STATUS(bw_device_close(device), BW_OK);
        if (round == 1)
            before = fd_count();
    }
    CHECK_NUMBER(fd_count(), before);
}

/* A peer that goes away while the relay writes to it raises SIGPIPE in a careless library; here it would end us. */
static void no_sigpipe(void)
{
    int round;
    bw_relay *relay = open_relay();
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    struct sigaction action;
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    for (round = 0; round < 5; round++) {
        struct sockaddr_in address;
        struct linger at_once = {1, 0};
        char garbage[4096];
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        memset(garbage, 'x', sizeof garbage);
        memset(&address, 0, sizeof address);
        address.sin_family = AF_INET;
        address.sin_port = htons((uint16_t)relay_port(relay));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connects to the relay");
        CHECK(send(fd, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", 33, MSG_NOSIGNAL) == 33, "writes a request");
        if (send(fd, garbage, sizeof garbage, MSG_NOSIGNAL) < 0) {
            /* it may have closed already */
        }
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
    }
    if (pair(device, desktop)) {
        CHECK_STATUS(bw_device_close(device), BW_OK);
        CHECK_STATUS(bw_desktop_notify(desktop, "{\"title\":\"t\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    }
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    sigaction(SIGPIPE, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL, "SIGPIPE is as it was, and was not raised");
}

static void port_in_use(void)
{
    char options[128];
    char address[32];
    int port;
    bw_relay *first = open_relay();
    bw_relay *second = NULL;
    bw_desktop *desktop = NULL;
    CHECK_STATUS(bw_relay_start(first), BW_OK);
    CHECK_STATUS(bw_relay_start(first), BW_OK);
    port = relay_port(first);
    CHECK(port > 0, "a relay on port 0 says which port it has");
    snprintf(address, sizeof address, "127.0.0.1:%d", port);

    snprintf(options, sizeof options, "{\"listen\":\"%s\"}", address);
    CHECK_STATUS(bw_relay_open(options, &second), BW_OK);
    CHECK_STATUS(bw_relay_start(second), BW_E_NETWORK);
    CHECK_ERROR(BW_E_NETWORK, address);

    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay\":{\"listen\":\"%s\"}}", address);
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_E_NETWORK);
    CHECK_ERROR(BW_E_NETWORK, address);
    CHECK_STATUS(bw_desktop_offer(desktop, 1000, NULL), BW_E_INVALID);

    CHECK_STATUS(bw_relay_stop(first), BW_OK);
    CHECK_NUMBER(relay_port(first), 0);
    CHECK_STATUS(bw_relay_start(second), BW_OK);
    CHECK_NUMBER(relay_port(second), port);
    CHECK_STATUS(bw_relay_close(second), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(first), BW_OK);
}

static void addresses_that_cannot_be(void)
{
    bw_relay *relay = NULL;
    CHECK_STATUS(bw_relay_open("{\"listen\":\"192.0.2.1:0\"}", &relay), BW_OK);
    CHECK_STATUS(bw_relay_start(relay), BW_E_NETWORK);
    CHECK_ERROR(BW_E_NETWORK, "192.0.2.1");
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    CHECK_STATUS(bw_relay_open("{\"listen\":\"127.0.0.1:0\",\"tls\":{\"certificate_file\":\"/nonexistent.pem\","
                               "\"key_file\":\"/nonexistent.key\"}}",
                               &relay),
                 BW_OK);
    CHECK_STATUS(bw_relay_start(relay), BW_E_NETWORK);
    CHECK_ERROR(BW_E_NETWORK, "/nonexistent.");
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    {
        bw_desktop *desktop = NULL;
        CHECK_STATUS(bw_desktop_open("{\"state_dir\":\":memory:\"}", &desktop), BW_OK);
        CHECK_STATUS(bw_desktop_start(desktop), BW_E_INVALID);
        CHECK_ERROR(BW_E_INVALID, "relay");
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    }
}

/* ---- fork ---------------------------------------------------------------------------------------------------- */

static bw_device *parents_device;
static bw_desktop *parents_desktop;
static bw_relay *parents_relay;
static int destroyed;

static void count(void *user_data)
{
    (void)user_data;
    destroyed++;
}

static void never(void *user_data, const char *event, const char *event_json)
{
    (void)user_data;
    (void)event;
    (void)event_json;
}

static int child_of_a_fork(void)
{
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    bw_relay *relay = NULL;
    char *json = NULL;
    int failed = check_failed;
    alarm((unsigned)within(20000) / 1000);
    CHECK_TEXT(bw_version(), BW_VERSION);
    CHECK_TEXT(bw_status_name(BW_E_FORKED), "BW_E_FORKED");
    CHECK_NUMBER(bw_abi_version(), BW_ABI_VERSION);
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\"}", &device), BW_E_FORKED);
    CHECK_STATUS(bw_desktop_open("{\"state_dir\":\":memory:\"}", &desktop), BW_E_FORKED);
    CHECK_STATUS(bw_relay_open("{}", &relay), BW_E_FORKED);
    CHECK_STATUS(bw_device_start(parents_device), BW_E_FORKED);
    CHECK_STATUS(bw_device_fd(parents_device), BW_E_FORKED);
    CHECK_STATUS(bw_device_dispatch(parents_device), BW_E_FORKED);
    CHECK_STATUS(bw_device_run(parents_device, 10), BW_E_FORKED);
    CHECK_STATUS(bw_device_state(parents_device, &json), BW_E_FORKED);
    CHECK_STATUS(bw_device_subscribe(parents_device, "*", never, NULL, count, NULL), BW_E_FORKED);
    CHECK_NUMBER(destroyed, 1);
    CHECK_STATUS(bw_pairing_scan(parents_device, "{}", 1000, &json), BW_E_FORKED);
    CHECK_STATUS(bw_notification_send(parents_device, NULL, "{}", 1000, &json), BW_E_FORKED);
    CHECK_STATUS(bw_device_close(parents_device), BW_E_FORKED);
    CHECK_STATUS(bw_desktop_start(parents_desktop), BW_E_FORKED);
    CHECK_STATUS(bw_desktop_dispatch(parents_desktop), BW_E_FORKED);
    CHECK_STATUS(bw_desktop_close(parents_desktop), BW_E_FORKED);
    CHECK_STATUS(bw_relay_start(parents_relay), BW_E_FORKED);
    CHECK_STATUS(bw_relay_close(parents_relay), BW_E_FORKED);
    CHECK_STATUS(bw_set_log(BW_LOG_INFO, NULL, NULL, NULL), BW_E_FORKED);
    CHECK(device == NULL && desktop == NULL && relay == NULL && json == NULL, "no output was written");
    return check_failed != failed;
}

static int child_that_exits(void)
{
    exit(0); /* runs what the library left for exit, in a process whose threads are gone */
}

static int child_that_executes(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static void forks(void)
{
    parents_device = open_device(":memory:");
    parents_desktop = open_desktop(":memory:");
    parents_relay = open_relay();
    CHECK_STATUS(bw_desktop_start(parents_desktop), BW_OK);
    CHECK_NUMBER(in_child(child_of_a_fork), 0);
    CHECK_NUMBER(in_child(child_that_exits), 0);
    CHECK_NUMBER(in_child(child_that_executes), 0);
    /* The parent goes on. */
    CHECK(pair(parents_device, parents_desktop), "the parent's handles work after its children");
    CHECK_STATUS(bw_device_close(parents_device), BW_OK);
    CHECK_STATUS(bw_desktop_close(parents_desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(parents_relay), BW_OK);
}

/* Before anything was opened, a fork is like a new process. */
static int child_that_opens(void)
{
    bw_device *device = NULL;
    if (bw_device_open("{\"state_dir\":\":memory:\"}", &device) != BW_OK)
        return 1;
    return bw_device_close(device) == BW_OK ? 0 : 2;
}

static void fork_before_open(void)
{
    CHECK_NUMBER(in_child(child_that_opens), 0);
    CHECK_NUMBER(in_child(child_that_opens), 0);
}

/* Opens with ever more descriptors allowed: each time it works, or the limit is named. Gives the descriptor limit at
 * which something else happened. */
static int child_with_few_descriptors(void)
{
    int allowed;
    int opened = 0;
    for (allowed = 3; allowed < 60; allowed++) {
        struct rlimit limit;
        bw_desktop *desktop = NULL;
        bw_status status;
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
            return allowed;
        limit.rlim_cur = (rlim_t)allowed;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return allowed;
        status = bw_desktop_open("{\"state_dir\":\":memory:\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}", &desktop);
        if (status == BW_E_LIMIT && desktop == NULL)
            continue;
        if (status != BW_OK)
            return allowed;
        opened++;
        status = bw_desktop_start(desktop);
        if ((status != BW_OK && status != BW_E_NETWORK) || bw_desktop_close(desktop) != BW_OK)
            return allowed;
    }
    return opened > 0 ? 0 : 1;
}

/* A process that has run out of descriptors hears so; libuv by itself would end it. */
static void few_descriptors(void)
{
    CHECK_NUMBER(in_child(child_with_few_descriptors), 0);
}

int main(int argc, char **argv)
{
    RUN(fork_before_open);
    RUN(few_descriptors);
    RUN(manners_of_three_roles);
    RUN(signals_stay_with_the_host);
    RUN(descriptors_are_given_back);
    RUN(no_sigpipe);
    RUN(port_in_use);
    RUN(addresses_that_cannot_be);
    RUN(forks);
    return check_end();
}
