/*
 * processes.c - the processes of the push benchmark, and what of them is measured from outside.
 */
#include "driver.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- shared with the roles ------------------------------------------------------------------------------------ */

struct counters *map_counters(const char *path, int create)
{
    void *memory;
    int file;
    if (path == NULL)
        return NULL;
    file = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
    if (file < 0 || (create && ftruncate(file, sizeof(struct counters)) != 0))
        broken("cannot open %s", path);
    memory = mmap(NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED)
        broken("cannot map %s", path);
    return memory;
}

/* ---- processes ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t is_ending;

static void child_ended(int signal)
{
    (void)signal;
    if (!is_ending)
        _exit(2);
}

void watch_processes(void)
{
    signal(SIGCHLD, child_ended);
    signal(SIGPIPE, SIG_IGN);
}

const char *answer(struct process *process)
{
    if (fgets(process->line, LINE, process->answers) == NULL)
        broken("the %s has ended", process->name);
    process->line[strcspn(process->line, "\n")] = '\0';
    return process->line;
}

const char *ask(struct process *process, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(process->commands, format, arguments);
    va_end(arguments);
    fputc('\n', process->commands);
    fflush(process->commands);
    return answer(process);
}

void start(struct process *process, const char *name, const char *role, const char *directory, const char *relay,
           const char *counters)
{
    int to[2], from[2];
    fflush(NULL);
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        broken("no pipes");
    process->name = name;
    process->counters = map_counters(counters, 1);
    process->pid = fork();
    if (process->pid < 0)
        broken("no process");
    if (process->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        if (counters != NULL) {
            setenv(COUNTERS_VARIABLE, counters, 1);
            setenv("LD_PRELOAD", counted_library, 1);
        }
        execl("/proc/self/exe", "push", role, directory, relay, (char *)NULL);
        broken("cannot start the %s", name);
    }
    close(to[0]);
    close(from[1]);
    process->commands = fdopen(to[1], "w");
    process->answers = fdopen(from[0], "r");
}

void end(struct process *process)
{
    is_ending = 1;
    fclose(process->commands);
    if (waitpid(process->pid, NULL, 0) < 0)
        broken("the %s cannot be waited for", process->name);
    fclose(process->answers);
    is_ending = 0;
}

void pause_ms(long milliseconds)
{
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&pause, &pause) != 0) {}
}
