/*
 * Preloaded into a relay: counts its steps, kills it before one of them, and records what it does to its files.
 *
 * A step is a call that changes something outside of the process: a file or directory is written, cut, synced, created,
 * renamed or deleted, or bytes are sent. Answers of the health page are no steps, so that a test may ask for them at any
 * time. See relay_steps.py, which compiles this file and reads the records.
 *
 *     BELLWIRE_STEPS      a file with a struct control, which the test shares
 *     BELLWIRE_RECORD     the file to which records are appended
 *     BELLWIRE_RECORDED   the directory whose files are recorded; without a symbolic link in its path
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
    /* Steps are counted, beginning with 0. */
    int64_t is_armed;
    int64_t count;
    /* The process is killed before this step; -1 = never. */
    int64_t fatal;
    /* If the fatal step writes or sends, half of it is done first. */
    int64_t halves;
};

/*
 * Followed by `length` bytes: data, or names below the recorded directory. The kinds: b the process begins; c a file is
 * created; w written; t its size is set; s it is synced; d a directory is synced; u a name is deleted; r renamed (both
 * names, one per line); m a directory is created; o bytes are sent.
 */
struct record {
    uint32_t kind;
    uint32_t length;
    uint64_t inode;
    int64_t offset;
};

static struct control *control;
static int records = -1;
static char root[PATH_MAX];
static size_t root_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(void)
{
    for (;;)
        syscall(SYS_kill, getpid(), SIGKILL);
}

/* Before each step. Returns whether half of it must be done before the process dies. */
static int step(int is_writing)
{
    if (control == NULL || !__atomic_load_n(&control->is_armed, __ATOMIC_SEQ_CST))
        return 0;
    if (__atomic_fetch_add(&control->count, 1, __ATOMIC_SEQ_CST) != control->fatal)
        return 0;
    if (is_writing && control->halves)
        return 1;
    die();
    return 0;
}

/* ---- records ------------------------------------------------------------------------------------------------- */

static struct iovec whole(const void *bytes, size_t count)
{
    struct iovec part;
    memcpy(&part.iov_base, &bytes, sizeof bytes);
    part.iov_len = count;
    return part;
}

static void put(char kind, uint64_t inode, int64_t offset, const void *data, size_t length)
{
    struct record record = {(uint32_t)kind, (uint32_t)length, inode, offset};
    struct iovec parts[2];
    parts[0] = whole(&record, sizeof record);
    parts[1] = whole(data, length);
    if (syscall(SYS_writev, records, parts, 2) != (long)(sizeof record + length))
        abort();
}

/* The path below the recorded directory; NULL = it is elsewhere. */
static const char *below(const char *path)
{
    if (records < 0 || path == NULL || strncmp(path, root, root_length) != 0)
        return NULL;
    if (path[root_length] == '\0')
        return "";
    return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

static const char *name_of(int descriptor, char *path)
{
    char link[32];
    long length;
    if (records < 0)
        return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    return below(path);
}

static uint64_t inode_of(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static void put_name(char kind, uint64_t inode, const char *name)
{
    put(kind, inode, 0, name, strlen(name));
}

static void __attribute__((constructor)) begin(void)
{
    const char *shared = getenv("BELLWIRE_STEPS"), *file = getenv("BELLWIRE_RECORD");
    const char *directory = getenv("BELLWIRE_RECORDED");
    if (shared != NULL) {
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CLOEXEC);
        void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (descriptor < 0 || memory == MAP_FAILED)
            abort();
        control = memory;
        syscall(SYS_close, descriptor);
    }
    if (file != NULL && directory != NULL) {
        records = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        root_length = strlen(directory);
        if (records < 0 || root_length >= sizeof root)
            abort();
        memcpy(root, directory, root_length + 1);
        put('b', 0, 0, NULL, 0);
    }
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static int opened(const char *path, int flags, mode_t mode)
{
    const char *name = below(path);
    int creates, descriptor, error;
    if ((flags & (O_CREAT | O_TRUNC)) == 0)
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    pthread_mutex_lock(&lock);
    creates = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    if (creates || (flags & O_TRUNC) != 0)
        step(0);
    descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    error = errno;
    if (descriptor >= 0 && name != NULL) {
        if (creates)
            put_name('c', inode_of(descriptor), name);
        else if ((flags & O_TRUNC) != 0)
            put('t', inode_of(descriptor), 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return descriptor;
}

#include "../ABI/opening.h"

static ssize_t written(int file, const void *bytes, size_t count, off_t offset)
{
    char path[PATH_MAX];
    const char *name;
    ssize_t done;
    int error;
    pthread_mutex_lock(&lock);
    name = name_of(file, path);
    if (step(1)) {
        syscall(SYS_pwrite64, file, bytes, count / 2, offset);
        die();
    }
    done = syscall(SYS_pwrite64, file, bytes, count, offset);
    error = errno;
    if (done > 0 && name != NULL)
        put('w', inode_of(file), offset, bytes, (size_t)done);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    return written(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset)
{
    return written(file, bytes, count, offset);
}

static int cut(int file, off_t size)
{
    char path[PATH_MAX];
    const char *name;
    int result, error;
    pthread_mutex_lock(&lock);
    name = name_of(file, path);
    step(0);
    result = (int)syscall(SYS_ftruncate, file, size);
    error = errno;
    if (result == 0 && name != NULL)
        put('t', inode_of(file), size, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int ftruncate(int file, off_t size)
{
    return cut(file, size);
}

int ftruncate64(int file, off_t size)
{
    return cut(file, size);
}

static int synced(int file, long number)
{
    char path[PATH_MAX];
    const char *name;
    struct stat status;
    int result, error;
    pthread_mutex_lock(&lock);
    name = name_of(file, path);
    step(0);
    result = (int)syscall(number, file);
    error = errno;
    if (result == 0 && name != NULL && fstat(file, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            put_name('d', 0, name);
        else
            put('s', (uint64_t)status.st_ino, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int fdatasync(int file)
{
    return synced(file, SYS_fdatasync);
}

int fsync(int file)
{
    return synced(file, SYS_fsync);
}

/* ---- directories ---------------------------------------------------------------------------------------------- */

int unlink(const char *path)
{
    const char *name = below(path);
    int result, error;
    pthread_mutex_lock(&lock);
    /* Of what does not exist, nothing is deleted. */
    if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        step(0);
    result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    error = errno;
    if (result == 0 && name != NULL)
        put_name('u', 0, name);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int rename(const char *from, const char *to)
{
    const char *name = below(from), *other = below(to);
    char names[2 * PATH_MAX];
    int result, error;
    pthread_mutex_lock(&lock);
    if (faccessat(AT_FDCWD, from, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        step(0);
    result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    error = errno;
    if (result == 0 && name != NULL && other != NULL)
        put('r', 0, 0, names, (size_t)snprintf(names, sizeof names, "%s\n%s", name, other));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    const char *name = below(path);
    int result, error;
    pthread_mutex_lock(&lock);
    if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        step(0);
    result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    error = errno;
    if (result == 0 && name != NULL)
        put_name('m', 0, name);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* ---- what is sent --------------------------------------------------------------------------------------------- */

static const char page[] = "HTTP/1.1 200";

static int is_page(const void *bytes, size_t count)
{
    return count >= sizeof page - 1 && memcmp(bytes, page, sizeof page - 1) == 0;
}

/* Records it before it is sent: whoever receives it finds it recorded. Returns whether half of it must be sent. */
static int sends(int file, const struct iovec *parts, size_t count)
{
    struct stat status;
    int is_socket = fstat(file, &status) == 0 && S_ISSOCK(status.st_mode);
    size_t index;
    if (count == 0 || (!(is_socket && is_page(parts[0].iov_base, parts[0].iov_len)) && step(1)))
        return count > 0;
    pthread_mutex_lock(&lock);
    for (index = 0; records >= 0 && is_socket && index < count; index++)
        put('o', 0, 0, parts[index].iov_base, parts[index].iov_len);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void send_half(int file, const struct iovec *part)
{
    syscall(SYS_write, file, part->iov_base, part->iov_len / 2);
    die();
}

ssize_t write(int file, const void *bytes, size_t count)
{
    struct iovec part = whole(bytes, count);
    if (sends(file, &part, 1))
        send_half(file, &part);
    return syscall(SYS_write, file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    if (sends(file, parts, (size_t)count))
        send_half(file, parts);
    return syscall(SYS_writev, file, parts, count);
}

ssize_t send(int file, const void *bytes, size_t count, int flags)
{
    struct iovec part = whole(bytes, count);
    if (sends(file, &part, 1))
        send_half(file, &part);
    return syscall(SYS_sendto, file, bytes, count, flags, NULL, 0);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    if (sends(file, message->msg_iov, message->msg_iovlen))
        send_half(file, message->msg_iov);
    return syscall(SYS_sendmsg, file, message, flags);
}
