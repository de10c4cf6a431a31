/*
 * tls.c - TLS of the load generator's clients.
 *
 * They do not check the relay's certificate: that would cost the two cores of a run more, and tells nothing of the relay.
 */
#include "load.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

static SSL_CTX *make_context(void)
{
    SSL_CTX *made = SSL_CTX_new(TLS_client_method());
    if (made == NULL)
        broken("no TLS: %s", ERR_reason_error_string(ERR_get_error()));
    SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                               | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(made, SSL_VERIFY_NONE, NULL);
    return made;
}

int tls_handshake(struct peer *peer)
{
    static SSL_CTX *context;
    int result;
    if (context == NULL)
        context = make_context();
    if (peer->tls == NULL) {
        peer->tls = SSL_new(context);
        if (peer->tls == NULL || SSL_set_fd(peer->tls, peer->socket) != 1)
            broken("no TLS: %s", ERR_reason_error_string(ERR_get_error()));
    }
    ERR_clear_error();
    result = SSL_connect(peer->tls);
    /* What a client says in a handshake fits into the buffers of its socket. */
    if (result != 1 && SSL_get_error(peer->tls, result) != SSL_ERROR_WANT_READ)
        broken("the TLS handshake of connection %u: %s", peer->number, ERR_reason_error_string(ERR_get_error()));
    return result == 1;
}

/* What a system call would return where nothing, or nothing more, can be sent or received. */
static ssize_t outcome(struct peer *peer, int result)
{
    switch (SSL_get_error(peer->tls, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: errno = EPROTO; return -1;
    }
}

ssize_t tls_send(struct peer *peer, const void *bytes, size_t length)
{
    int taken;
    ERR_clear_error();
    taken = SSL_write(peer->tls, bytes, (int)length);
    return taken > 0 ? taken : outcome(peer, taken);
}

ssize_t tls_receive(struct peer *peer, void *bytes, size_t size)
{
    size_t length = 0;
    int got = 1;
    ERR_clear_error();
    /* Each call returns one record, and epoll does not see records that OpenSSL has already read. */
    while (length < size && (got = SSL_read(peer->tls, (uint8_t *)bytes + length, (int)(size - length))) > 0)
        length += (size_t)got;
    return length > 0 ? (ssize_t)length : outcome(peer, got);
}

void tls_binding(const struct peer *peer, uint8_t binding[TLS_BINDING])
{
    static const char label[] = "EXPORTER-Channel-Binding";
    if (SSL_export_keying_material(peer->tls, binding, TLS_BINDING, label, sizeof label - 1, (const uint8_t *)"", 0, 1)
        != 1)
        broken("TLS exports no keying material");
}

void tls_free(struct peer *peer)
{
    SSL_free(peer->tls);
    peer->tls = NULL;
}
