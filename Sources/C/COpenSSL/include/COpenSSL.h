/* OpenSSL, loaded when it is first called: until then a process that speaks no TLS has none of its 2 MB. Functions that
 * OpenSSL.c does not define are declared here and cannot be linked. */
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Why OpenSSL cannot be loaded, or NULL. Without it, its functions do nothing and return 0 or NULL. */
const char *bw_openssl_missing(void);

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
