/*
 * floors.c - what the machine itself needs: a commit, a synchronized write, a hop through a forwarding process.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROW = 400, PAGE = 4096, PAGES = 256 };

static double median_us(uint64_t *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_size);
    return (double)percentile(samples, (size_t)count, 50) / 1000;
}

static double commits(const char *directory, uint64_t *samples, int rounds)
{
    char path[512], row[ROW];
    sqlite3 *database = NULL;
    sqlite3_stmt *insert = NULL;
    snprintf(path, sizeof path, "%s/floor.db", directory);
    memset(row, 'r', sizeof row);
    if (sqlite3_open(path, &database) != SQLITE_OK
        || sqlite3_exec(database,
                        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                        "CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)",
                        NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(database, "INSERT INTO row(text) VALUES (?)", -1, &insert, NULL) != SQLITE_OK)
        broken("the floor's database: %s", sqlite3_errmsg(database));
    for (int i = 0; i < rounds; i++) {
        uint64_t begin = now_ns();
        sqlite3_bind_text(insert, 1, row, ROW, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            broken("the floor's commit: %s", sqlite3_errmsg(database));
        sqlite3_reset(insert);
        samples[i] = now_ns() - begin;
    }
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return median_us(samples, rounds);
}

/* Into a file that has its size already, as a write-ahead log has after its first round. */
static double syncs(const char *directory, uint64_t *samples, int rounds)
{
    char path[512], page[PAGE];
    int file;
    snprintf(path, sizeof path, "%s/floor.pages", directory);
    memset(page, 'p', sizeof page);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        broken("cannot create %s", path);
    for (int i = 0; i < PAGES; i++)
        if (pwrite(file, page, PAGE, (off_t)i * PAGE) != PAGE)
            broken("cannot write %s", path);
    fdatasync(file);
    for (int i = 0; i < rounds; i++) {
        uint64_t begin = now_ns();
        if (pwrite(file, page, PAGE, (off_t)(i % PAGES) * PAGE) != PAGE || fdatasync(file) != 0)
            broken("cannot write %s", path);
        samples[i] = now_ns() - begin;
    }
    close(file);
    return median_us(samples, rounds);
}

static int connected(int port)
{
    struct sockaddr_in address;
    int one = 1, end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) != 0)
        broken("cannot connect to the forwarder");
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return end;
}

static double hops(int port, uint64_t *samples, int rounds)
{
    char message[ROW], arrived[ROW];
    int from = connected(port), to = connected(port);
    memset(message, 'm', sizeof message);
    for (int i = 0; i < rounds; i++) {
        uint64_t begin = now_ns();
        if (send(from, message, ROW, MSG_NOSIGNAL) != ROW || recv(to, arrived, ROW, MSG_WAITALL) != ROW)
            broken("the forwarder has ended");
        samples[i] = now_ns() - begin;
    }
    close(from);
    close(to);
    return median_us(samples, rounds);
}

struct floors measure_floors(const char *directory, int port, int rounds)
{
    struct floors floors;
    uint64_t *samples = malloc((size_t)rounds * sizeof *samples);
    if (samples == NULL)
        broken("out of memory");
    floors.commit_us = commits(directory, samples, rounds);
    floors.sync_us = syncs(directory, samples, rounds);
    floors.hop_us = hops(port, samples, rounds);
    free(samples);
    return floors;
}

int forward_role(void)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    char bytes[65536];
    ssize_t got;
    int from, to, one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 2) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        broken("the forwarder cannot listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    from = accept(listener, NULL, NULL);
    to = accept(listener, NULL, NULL);
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while ((got = recv(from, bytes, sizeof bytes, 0)) > 0)
        for (ssize_t sent = 0, n; sent < got; sent += n)
            if ((n = send(to, bytes + sent, (size_t)(got - sent), MSG_NOSIGNAL)) <= 0)
                broken("the forwarder's receiver has gone");
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0) {}
    return 0;
}
