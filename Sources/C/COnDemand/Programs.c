#define _GNU_SOURCE
#include "Programs.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int bw_program_start(const char *command, const char *argument) {
    /* The shell exits at once, so the program becomes a child of init. */
    static const char script[] =
        "command -v \"${0%% *}\" >/dev/null || exit 127; $0 \"$@\" </dev/null >/dev/null 2>&1 &";
    char *const arguments[] = {"/bin/sh", "-c", (char *)script, (char *)command, (char *)argument, NULL};
    posix_spawnattr_t attributes;
    sigset_t signals;
    pid_t child;
    int status = 0;
    int r = posix_spawnattr_init(&attributes);
    if (r != 0) return -r;
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    r = posix_spawn(&child, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    if (r != 0) return -r;
    while (waitpid(child, &status, 0) < 0) {
        /* The status is gone if the host ignores SIGCHLD or reaps every child. */
        if (errno != EINTR) return 0;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOENT;
}
