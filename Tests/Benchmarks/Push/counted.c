/*
 * counted.c - counts what a process writes to files, for the counted run of the push benchmark.
 *
 * Preloaded. The counters are in the file that COUNTERS_VARIABLE names, which the benchmark maps as well. Only regular
 * files count: sockets, pipes and eventfds do not.
 */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct counters nowhere;
static struct counters *counters = &nowhere;

static void add(uint64_t *value, uint64_t more) { __atomic_fetch_add(value, more, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void map(void)
{
    const char *path = getenv(COUNTERS_VARIABLE);
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *memory = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED)
            counters = memory;
        close(file);
    }
}

static int is_log(int file)
{
    char link[64], path[4096];
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path);
    return length > 4 && memcmp(path + length - 4, "-wal", 4) == 0;
}

static void count(int file, ssize_t written)
{
    struct stat status;
    if (written <= 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    add(&counters->writes, 1);
    add(&counters->bytes, (uint64_t)written);
    if (written % 4096 == 0)
        add(is_log(file) ? &counters->log_pages : &counters->checkpointed, (uint64_t)written / 4096);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    ssize_t written = syscall(SYS_write, file, bytes, size);
    count(file, written);
    return written;
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset)
{
    ssize_t written = syscall(SYS_pwrite64, file, bytes, size, offset);
    count(file, written);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    return pwrite64(file, bytes, size, offset);
}

int fsync(int file)
{
    add(&counters->syncs, 1);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    add(&counters->syncs, 1);
    return (int)syscall(SYS_fdatasync, file);
}
