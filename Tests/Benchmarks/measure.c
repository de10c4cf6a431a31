/*
 * measure.c - what the kernel tells about a process, and the end of a run that cannot go on.
 */
#include "measure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(2);
}

double cpu_seconds(pid_t process)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0)
        broken("no processor time of process %d", (int)process);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

long status_number(pid_t process, const char *key)
{
    char path[64], line[256];
    long number = -1;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    file = fopen(path, "r");
    while (file != NULL && number < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtol(line + strlen(key), NULL, 10);
    if (file != NULL)
        fclose(file);
    return number;
}
