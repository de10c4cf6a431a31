/*
 * stored.c - messages to absent peers: how many a second the server takes and has on disk, and what comes of them later.
 */
#include "load.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A server that sends nothing for so long has no more. */
#define PATIENCE_NS UINT64_C(5000000000)

/* Senders come first, absent peers after them. Peer `senders + i` gets messages of sender `i % senders`. */
static uint32_t senders(void) { return (uint32_t)options.pairs; }
static uint32_t absent(void) { return (uint32_t)options.idle; }
static uint64_t total(void) { return (uint64_t)options.idle * (uint64_t)options.each; }

/* The relay's page, and how many stored messages it has on disk. */
static uint64_t committed(void)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    static const char name[] = "\nbellwire_relay_store_committed_total ";
    static char page[1 << 18];
    const struct timeval patience = {5, 0};
    struct sockaddr_in address;
    const char *found;
    size_t length = 0;
    ssize_t got = -1;
    const int page_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)options.health);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (page_socket < 0 || setsockopt(page_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0
        || connect(page_socket, (struct sockaddr *)&address, sizeof address) != 0
        || send(page_socket, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
        broken("the relay's health page does not answer");
    while (length < sizeof page - 1 && (got = recv(page_socket, page + length, sizeof page - 1 - length, 0)) > 0)
        length += (size_t)got;
    close(page_socket);
    page[length] = '\0';
    found = strstr(page, name);
    if (got != 0 || found == NULL)
        broken("the relay's health page does not tell what is on disk");
    return strtoull(found + sizeof name - 1, NULL, 10);
}

/* Peers in turn: each message of a sender is for another peer than the one before it. */
static void fill_window(struct peer *sender)
{
    const uint32_t own = absent() / senders();
    while (sender->posted < total() / senders() && sender->posted - sender->accepted < (uint64_t)options.window)
        post_message(sender, senders() + sender->number + senders() * (uint32_t)(sender->posted % own));
}

int run_store(void)
{
    uint64_t begin, accepted, end, before = 0;
    double cpu;
    if (absent() == 0 || absent() % senders() != 0)
        broken("--idle must be a multiple of --pairs");
    make_peers(senders() + absent());
    /* They were here before: at QoS 1 the broker stores messages for known sessions only. */
    register_peers(senders(), absent(), REGISTERING_AT_ONCE);
    await_quiet();
    close_peers(senders(), absent());
    register_peers(0, senders(), REGISTERING_AT_ONCE);
    await_quiet();
    if (options.health > 0)
        before = committed();
    cpu = cpu_seconds((pid_t)options.pid);
    begin = now_ns();
    while (tally.accepted < total()) {
        for (uint32_t sender = 0; sender < senders(); sender++)
            fill_window(&peers[sender]);
        pump(20000000);
    }
    accepted = end = now_ns();
    while (options.health > 0 && committed() - before < total()) {
        pump(1000000);
        end = now_ns();
    }
    cpu = cpu_seconds((pid_t)options.pid) - cpu;
    printf("{\"messages_per_s\":%.0f,\"accepted_per_s\":%.0f,\"server_cpu_us\":%.3f,\"run_number\":%u",
           (double)total() * 1e9 / (double)(end - begin), (double)total() * 1e9 / (double)(accepted - begin),
           1e6 * cpu / (double)total(), run_number);
    return finish(0);
}

int run_drain(void)
{
    uint64_t arrived = 0, last = now_ns();
    make_peers(senders() + absent());
    for (uint32_t number = senders(); number < senders() + absent(); number++)
        peers[number].sent = (uint64_t)options.each;
    register_peers(senders(), absent(), REGISTERING_AT_ONCE);
    while (tally.arrived < total() && now_ns() - last < PATIENCE_NS) {
        pump(20000000);
        if (tally.arrived > arrived)
            last = now_ns();
        arrived = tally.arrived;
    }
    /* What comes again comes now. */
    await_quiet();
    arrived = 0;
    for (uint32_t number = senders(); number < senders() + absent(); number++)
        arrived += peers[number].arrived;
    printf("{\"arrived\":%" PRIu64, tally.arrived);
    return finish(total() - arrived);
}
