/*
 * ping.c - how long a NATS server takes to answer a PING, as a bound for the relay benchmark.
 *
 *   ping PORT COUNT
 *
 * One connection on loopback, one PING at a time. Prints one line of JSON.
 */
#include "../measure.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The next line of the server's, without looking into it beyond its first letters. */
static void expect(FILE *server, const char *beginning)
{
    static char line[1 << 20];
    do {
        if (fgets(line, sizeof line, server) == NULL)
            broken("the NATS server ended the connection");
    } while (strncmp(line, beginning, strlen(beginning)) != 0);
}

int main(int argc, char **argv)
{
    static const char hello[] = "CONNECT {\"verbose\":false}\r\nPING\r\n", ping[] = "PING\r\n";
    struct sockaddr_in address;
    const size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    uint64_t *samples = calloc(count + 1, sizeof *samples);
    int one = 1, connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FILE *server;
    if (count == 0 || samples == NULL || connection < 0)
        broken("usage: ping PORT COUNT");
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0)
        broken("no NATS server on port %s", argv[1]);
    server = fdopen(connection, "r");
    if (server == NULL || write(connection, hello, sizeof hello - 1) < 0)
        broken("cannot write to the NATS server");
    expect(server, "PONG");
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = now_ns();
        if (write(connection, ping, sizeof ping - 1) < 0)
            broken("cannot write to the NATS server");
        expect(server, "PONG");
        samples[i] = now_ns() - begin;
    }
    qsort(samples, count, sizeof *samples, by_size);
    printf("{\"p50_us\":%.1f}\n", (double)percentile(samples, count, 50) / 1e3);
    return 0;
}
