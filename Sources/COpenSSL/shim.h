#pragma once
/* SHA1_* are deprecated in favour of EVP, which starts the whole of OpenSSL: see bw_sha1. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Macros of OpenSSL with casts in them, which Swift does not import. */
static inline int bw_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline int bw_ssl_ctx_require_tls12(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline void bw_ssl_ctx_set_manners(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline int bw_ssl_has_extended_master_secret(SSL *ssl) { return SSL_get_extms_support(ssl) == 1; }
static inline int bw_err_reason(unsigned long code) { return ERR_GET_REASON(code); }
/* The reason is an errno then. */
static inline int bw_err_is_system(unsigned long code) { return ERR_SYSTEM_ERROR(code) != 0; }

/* SHA-1 of a WebSocket handshake. The low-level calls need no start of OpenSSL, whose providers and error texts would
 * be 2 MB of a program that speaks no TLS. */
static inline void bw_sha1(const void *bytes, size_t count, unsigned char digest[20]) {
    SHA_CTX context;
    SHA1_Init(&context);
    SHA1_Update(&context, bytes, count);
    SHA1_Final(digest, &context);
}
