#define _GNU_SOURCE
#include "COpenSSL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* Result, name, parameters, arguments. The compiler compares these with OpenSSL's headers. */
#define FUNCTIONS(f, v)                                                                                                \
    f(BIO *, BIO_new, (const BIO_METHOD *type), (type))                                                                \
    f(const BIO_METHOD *, BIO_s_mem, (void), ())                                                                       \
    f(size_t, BIO_ctrl_pending, (BIO * bio), (bio))                                                                    \
    f(int, BIO_read, (BIO * bio, void *bytes, int size), (bio, bytes, size))                                           \
    f(int, BIO_write, (BIO * bio, const void *bytes, int size), (bio, bytes, size))                                    \
    v(ERR_clear_error, (void), ())                                                                                     \
    f(unsigned long, ERR_get_error, (void), ())                                                                        \
    f(const char *, ERR_reason_error_string, (unsigned long code), (code))                                             \
    f(int, OPENSSL_init_ssl, (uint64_t options, const OPENSSL_INIT_SETTINGS *settings), (options, settings))           \
    f(const SSL_METHOD *, TLS_client_method, (void), ())                                                               \
    f(const SSL_METHOD *, TLS_server_method, (void), ())                                                               \
    f(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *method), (method))                                                    \
    v(SSL_CTX_free, (SSL_CTX * context), (context))                                                                    \
    f(long, SSL_CTX_ctrl, (SSL_CTX * context, int command, long number, void *pointer),                                \
      (context, command, number, pointer))                                                                             \
    f(uint64_t, SSL_CTX_set_options, (SSL_CTX * context, uint64_t options), (context, options))                        \
    f(int, SSL_CTX_set_num_tickets, (SSL_CTX * context, size_t count), (context, count))                               \
    v(SSL_CTX_set_verify, (SSL_CTX * context, int mode, SSL_verify_cb callback), (context, mode, callback))            \
    f(int, SSL_CTX_set_default_verify_paths, (SSL_CTX * context), (context))                                           \
    f(int, SSL_CTX_load_verify_locations, (SSL_CTX * context, const char *file, const char *directory),                \
      (context, file, directory))                                                                                      \
    v(SSL_CTX_set_default_passwd_cb, (SSL_CTX * context, pem_password_cb * callback), (context, callback))             \
    f(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * context, const char *file), (context, file))                 \
    f(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * context, const char *file, int type), (context, file, type))        \
    f(int, SSL_CTX_check_private_key, (const SSL_CTX *context), (context))                                             \
    f(SSL *, SSL_new, (SSL_CTX * context), (context))                                                                  \
    v(SSL_free, (SSL * ssl), (ssl))                                                                                    \
    f(long, SSL_ctrl, (SSL * ssl, int command, long number, void *pointer), (ssl, command, number, pointer))           \
    v(SSL_set_bio, (SSL * ssl, BIO * incoming, BIO * outgoing), (ssl, incoming, outgoing))                             \
    v(SSL_set_connect_state, (SSL * ssl), (ssl))                                                                       \
    v(SSL_set_accept_state, (SSL * ssl), (ssl))                                                                        \
    f(int, SSL_do_handshake, (SSL * ssl), (ssl))                                                                       \
    f(int, SSL_read, (SSL * ssl, void *bytes, int size), (ssl, bytes, size))                                           \
    f(int, SSL_write, (SSL * ssl, const void *bytes, int size), (ssl, bytes, size))                                    \
    f(int, SSL_shutdown, (SSL * ssl), (ssl))                                                                           \
    f(int, SSL_version, (const SSL *ssl), (ssl))                                                                       \
    f(int, SSL_session_reused, (const SSL *ssl), (ssl))                                                                \
    f(int, SSL_get_error, (const SSL *ssl, int result), (ssl, result))                                                 \
    f(long, SSL_get_verify_result, (const SSL *ssl), (ssl))                                                            \
    f(X509 *, SSL_get0_peer_certificate, (const SSL *ssl), (ssl))                                                      \
    f(const ASN1_TIME *, X509_get0_notAfter, (const X509 *certificate), (certificate))                                 \
    f(int, ASN1_TIME_diff, (int *days, int *seconds, const ASN1_TIME *from, const ASN1_TIME *to),                      \
      (days, seconds, from, to))                                                                                       \
    f(X509_VERIFY_PARAM *, SSL_get0_param, (SSL * ssl), (ssl))                                                         \
    f(int, SSL_export_keying_material,                                                                                 \
      (SSL * ssl, unsigned char *result, size_t size, const char *label, size_t length, const unsigned char *context, \
       size_t context_size, int use_context),                                                                          \
      (ssl, result, size, label, length, context, context_size, use_context))                                          \
    f(int, X509_VERIFY_PARAM_set1_host, (X509_VERIFY_PARAM * parameters, const char *name, size_t length),             \
      (parameters, name, length))                                                                                      \
    f(int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM * parameters, const char *address),                       \
      (parameters, address))                                                                                           \
    v(X509_VERIFY_PARAM_set_hostflags, (X509_VERIFY_PARAM * parameters, unsigned int flags), (parameters, flags))      \
    f(const char *, X509_verify_cert_error_string, (long code), (code))                                                \
    f(const char *, X509_get_default_cert_dir, (void), ())                                                             \
    f(const char *, X509_get_default_cert_dir_env, (void), ())                                                         \
    f(const char *, X509_get_default_cert_file, (void), ())                                                            \
    f(const char *, X509_get_default_cert_file_env, (void), ())

#define FIELD(result, name, parameters, arguments) __typeof__(&name) name;
#define VOID_FIELD(name, parameters, arguments) __typeof__(&name) name;
static struct { FUNCTIONS(FIELD, VOID_FIELD) } openssl;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_loaded;
/* Written under the lock. */
static char reason[256];

/* Whether it is an OpenSSL of the version that the headers are of. */
static bool is_version_3(void *library) {
    unsigned int (*major)(void);
    if (!library) return false;
    *(void **)(void *)&major = dlsym(library, "OPENSSL_version_major");
    return major && major() == 3;
}

static void load(void) {
    static const struct {
        const char *name;
        void **field;
    } entries[] = {
#define ENTRY(result, name, parameters, arguments) {#name, (void **)(void *)&openssl.name},
#define VOID_ENTRY(name, parameters, arguments) {#name, (void **)(void *)&openssl.name},
        FUNCTIONS(ENTRY, VOID_ENTRY)};
    /* dlsym also looks in what a library needs: in libcrypto, and where this one was made to need an OpenSSL of its own,
     * as in a Python wheel, in that. */
    Dl_info self;
    void *library = dladdr(&lock, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!is_version_3(library) || !dlsym(library, "SSL_CTX_new")) library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        snprintf(reason, sizeof reason, "%s", error ? error : "libssl.so.3 cannot be loaded");
        return;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].field = dlsym(library, entries[i].name);
        if (!*entries[i].field) {
            snprintf(reason, sizeof reason, "libssl.so.3 has no %s", entries[i].name);
            return;
        }
    }
    atomic_store(&is_loaded, true);
}

/* A failure is not kept: out of descriptors or memory, the next connection tries again. */
static bool loads(void) {
    if (atomic_load(&is_loaded)) return true;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&is_loaded)) load();
    pthread_mutex_unlock(&lock);
    return atomic_load(&is_loaded);
}

const char *bw_openssl_missing(void) { return loads() ? NULL : reason; }

/* Under OpenSSL's own names: they are hidden, so that nobody outside is given them for OpenSSL's. */
#define DEFINE(result, name, parameters, arguments)                                                                    \
    result name parameters { return loads() ? openssl.name arguments : (result)0; }
#define DEFINE_VOID(name, parameters, arguments)                                                                       \
    void name parameters {                                                                                             \
        if (loads()) openssl.name arguments;                                                                           \
    }
FUNCTIONS(DEFINE, DEFINE_VOID)
