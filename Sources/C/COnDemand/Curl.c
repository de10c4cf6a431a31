#include "Curl.h"

#include <curl/curl.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* curl.h checks the types of variadic calls by macros of these names; here they are functions of a table. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FUNCTIONS(f)                                                                                                   \
    f(curl_global_init) f(curl_version_info) f(curl_free) f(curl_slist_append) f(curl_slist_free_all)                  \
    f(curl_easy_init) f(curl_easy_setopt) f(curl_easy_getinfo) f(curl_easy_cleanup) f(curl_multi_init)                 \
    f(curl_multi_setopt) f(curl_multi_add_handle) f(curl_multi_remove_handle) f(curl_multi_socket_action)              \
    f(curl_multi_info_read) f(curl_multi_cleanup) f(curl_url) f(curl_url_set) f(curl_url_get) f(curl_url_cleanup)

struct bw_curl {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
    /* The system's authorities as a directory in which OpenSSL finds each by its hash, or NULL. The file with all of them
     * takes tens of milliseconds to read, each time. */
    const char *authorities;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* MARK: The library */

static const char *fill(void *library, struct bw_curl *curl) {
    const struct {
        const char *name;
        void **field;
    } entries[] = {
#define ENTRY(name) {#name, (void **)(void *)&curl->name},
        FUNCTIONS(ENTRY)};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].field = dlsym(library, entries[i].name);
        if (!*entries[i].field) return entries[i].name;
    }
    return NULL;
}

/* Whoever starts OpenSSL first decides whether it leaves an exit handler in the host: it must not be libcurl. */
static void start_openssl(void *library) {
    int (*start)(uint64_t, const void *);
    *(void **)(void *)&start = dlsym(library, "OPENSSL_init_crypto");
    if (start) start(0x00080000 /* OPENSSL_INIT_NO_ATEXIT */, NULL);
}

/* Whether the directory has a file such as 5ad8a5d6.0. */
static bool is_hashed(const char *path) {
    DIR *directory = path ? opendir(path) : NULL;
    if (!directory) return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(directory));) {
        size_t digits = 0;
        while (isxdigit((unsigned char)entry->d_name[digits])) digits++;
        found = digits == 8 && strcmp(entry->d_name + digits, ".0") == 0;
    }
    closedir(directory);
    return found;
}

static int refuse(void *library, struct bw_curl *curl) {
    free(curl);
    if (library) dlclose(library);
    return -ENOENT;
}

static int load(struct bw_curl **result, const char *name, char *why, size_t size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "it cannot be loaded");
        return -ENOENT;
    }
    struct bw_curl *curl = calloc(1, sizeof *curl);
    const char *missing = curl ? fill(library, curl) : "memory";
    if (missing) {
        snprintf(why, size, "%s has no %s", name, missing);
        return refuse(library, curl);
    }
    /* From this one on curl_global_init() may be called while other threads of the host do the same. */
    const curl_version_info_data *version = curl->curl_version_info(CURLVERSION_NOW);
    if (!version || version->version_num < 0x075500) {
        snprintf(why, size, "it is older than 7.85");
        return refuse(library, curl);
    }
    if (!(version->features & CURL_VERSION_SSL) || !(version->features & CURL_VERSION_IPV6)) {
        snprintf(why, size, "it was built without TLS or IPv6");
        return refuse(library, curl);
    }
    start_openssl(library);
    if (curl->curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        snprintf(why, size, "it does not start");
        return refuse(library, curl);
    }
    const bool is_openssl = version->ssl_version && strncmp(version->ssl_version, "OpenSSL", 7) == 0;
    if (is_openssl && is_hashed(version->capath)) curl->authorities = version->capath;
    *result = curl;
    return 0;
}

int bw_curl_load(const struct bw_curl **result, const char *name, char *why, size_t size) {
    struct bw_curl *curl = NULL;
    pthread_mutex_lock(&lock);
    int r = load(&curl, name, why, size);
    pthread_mutex_unlock(&lock);
    if (r == 0) *result = curl;
    return r;
}

bool bw_curl_resolve(const struct bw_curl *curl, const char *base, const char *reference, char *result, size_t size) {
    CURLU *url = curl->curl_url();
    /* As curl reads a Location itself; another scheme is to be told as what it is. */
    const unsigned how = CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME;
    char *text = NULL;
    bool ok = url && curl->curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK &&
              curl->curl_url_set(url, CURLUPART_URL, reference, how) == CURLUE_OK &&
              curl->curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK && strlen(text) < size;
    if (ok) strcpy(result, text);
    if (text) curl->curl_free(text);
    if (url) curl->curl_url_cleanup(url);
    return ok;
}

/* MARK: A transfer */

struct bw_transfer {
    const struct bw_curl *curl;
    struct bw_transfer_calls calls;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *pin;
    struct curl_slist *headers;
    bool is_added;
};

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
    (void)easy, (void)unused;
    struct bw_transfer *transfer = context;
    int events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= BW_TRANSFER_READ;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= BW_TRANSFER_WRITE;
    transfer->calls.watch(transfer->calls.context, socket, events);
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct bw_transfer *transfer = context;
    transfer->calls.timer(transfer->calls.context, milliseconds);
    return 0;
}

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct bw_transfer *transfer = context;
    if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
    if (!transfer->calls.connect(transfer->calls.context, &address->addr, address->addrlen)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_close(void *context, curl_socket_t socket) {
    struct bw_transfer *transfer = context;
    /* Whoever watches it must have let go before the number can name another one. */
    transfer->calls.watch(transfer->calls.context, socket, 0);
    return close(socket);
}

static size_t on_head(char *bytes, size_t size, size_t count, void *context) {
    struct bw_transfer *transfer = context;
    long status = 0;
    transfer->curl->curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return transfer->calls.head(transfer->calls.context, status, bytes, size * count) ? size * count : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct bw_transfer *transfer = context;
    return transfer->calls.body(transfer->calls.context, bytes, size * count) ? size * count : 0;
}

static bool prepare(
    struct bw_transfer *transfer, const char *url, const char *pin, const char *ca_file, const char *accept,
    const char *agent, int64_t maximum) {
    const struct bw_curl *curl = transfer->curl;
    transfer->multi = curl->curl_multi_init();
    transfer->easy = curl->curl_easy_init();
    if (!transfer->multi || !transfer->easy) return false;
    if (pin && !(transfer->pin = curl->curl_slist_append(NULL, pin))) return false;
    if (!(transfer->headers = curl->curl_slist_append(NULL, accept))) return false;
    struct curl_slist *headers = curl->curl_slist_append(transfer->headers, agent);
    if (!headers) return false;

    bool ok = true;
#define MULTI(option, value) ok = ok && curl->curl_multi_setopt(transfer->multi, option, value) == CURLM_OK
#define EASY(option, value) ok = ok && curl->curl_easy_setopt(transfer->easy, option, value) == CURLE_OK
    MULTI(CURLMOPT_SOCKETFUNCTION, on_socket);
    MULTI(CURLMOPT_SOCKETDATA, transfer);
    MULTI(CURLMOPT_TIMERFUNCTION, on_timer);
    MULTI(CURLMOPT_TIMERDATA, transfer);
    MULTI(CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);

    EASY(CURLOPT_NOSIGNAL, 1L);
    EASY(CURLOPT_URL, url);
    EASY(CURLOPT_PROTOCOLS_STR, "https");
    EASY(CURLOPT_REDIR_PROTOCOLS_STR, "https");
    EASY(CURLOPT_FOLLOWLOCATION, 0L);
    EASY(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    /* An empty text also turns off what the environment says. */
    EASY(CURLOPT_PROXY, "");
    EASY(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    EASY(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    EASY(CURLOPT_HTTP09_ALLOWED, 0L);
    /* What is compressed stays so: nothing grows here. */
    EASY(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    EASY(CURLOPT_HTTPHEADER, headers);
    EASY(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)maximum);

    EASY(CURLOPT_SSL_VERIFYPEER, 1L);
    EASY(CURLOPT_SSL_VERIFYHOST, 2L);
    EASY(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    EASY(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (ca_file) {
        EASY(CURLOPT_CAINFO, ca_file);
        EASY(CURLOPT_CAPATH, NULL);
    } else if (curl->authorities) {
        EASY(CURLOPT_CAINFO, NULL);
        EASY(CURLOPT_CAPATH, curl->authorities);
    }

    if (transfer->pin) EASY(CURLOPT_RESOLVE, transfer->pin);
    EASY(CURLOPT_FRESH_CONNECT, 1L);
    EASY(CURLOPT_FORBID_REUSE, 1L);
    EASY(CURLOPT_OPENSOCKETFUNCTION, on_open);
    EASY(CURLOPT_OPENSOCKETDATA, transfer);
    EASY(CURLOPT_CLOSESOCKETFUNCTION, on_close);
    EASY(CURLOPT_CLOSESOCKETDATA, transfer);
    EASY(CURLOPT_HEADERFUNCTION, on_head);
    EASY(CURLOPT_HEADERDATA, transfer);
    EASY(CURLOPT_WRITEFUNCTION, on_body);
    EASY(CURLOPT_WRITEDATA, transfer);
#undef MULTI
#undef EASY
    return ok;
}

struct bw_transfer *bw_transfer_new(
    const struct bw_curl *curl, const struct bw_transfer_calls *calls, const char *url, const char *pin,
    const char *ca_file, const char *accept, const char *agent, int64_t maximum) {
    struct bw_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer) return NULL;
    transfer->curl = curl;
    transfer->calls = *calls;
    if (prepare(transfer, url, pin, ca_file, accept, agent, maximum)) return transfer;
    bw_transfer_end(transfer);
    return NULL;
}

static enum bw_transfer_result result_of(CURLcode code) {
    /* CURLE_TOO_LARGE of curl 8.6: a line of the head. */
    if ((int)code == 100) return BW_TRANSFER_TOO_LARGE;
    switch (code) {
    case CURLE_OK: return BW_TRANSFER_DONE;
    case CURLE_WRITE_ERROR: return BW_TRANSFER_STOPPED;
    case CURLE_COULDNT_CONNECT: return BW_TRANSFER_NO_CONNECTION;
    case CURLE_COULDNT_RESOLVE_HOST: return BW_TRANSFER_NO_NAME;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return BW_TRANSFER_CERTIFICATE;
    case CURLE_SSL_CACERT_BADFILE: return BW_TRANSFER_CA_FILE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_SHUTDOWN_FAILED: return BW_TRANSFER_TLS;
    case CURLE_FILESIZE_EXCEEDED: return BW_TRANSFER_TOO_LARGE;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: return BW_TRANSFER_CUT;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING: return BW_TRANSFER_NO_HTTP;
    default: return BW_TRANSFER_OTHER;
    }
}

bool bw_transfer_step(struct bw_transfer *transfer, int descriptor, int events, enum bw_transfer_result *result) {
    const struct bw_curl *curl = transfer->curl;
    if (!transfer->is_added) {
        *result = BW_TRANSFER_OTHER;
        if (curl->curl_multi_add_handle(transfer->multi, transfer->easy) != CURLM_OK) return true;
        transfer->is_added = true;
    }
    int what = 0;
    if (events & BW_TRANSFER_READ) what |= CURL_CSELECT_IN;
    if (events & BW_TRANSFER_WRITE) what |= CURL_CSELECT_OUT;
    if (events & BW_TRANSFER_ERROR) what |= CURL_CSELECT_ERR;
    int running = 0;
    CURLMcode code = curl->curl_multi_socket_action(
        transfer->multi, descriptor < 0 ? CURL_SOCKET_TIMEOUT : descriptor, what, &running);
    int left = 0;
    CURLMsg *message = curl->curl_multi_info_read(transfer->multi, &left);
    if (message && message->msg == CURLMSG_DONE) {
        *result = result_of(message->data.result);
        return true;
    }
    *result = BW_TRANSFER_OTHER;
    return code != CURLM_OK;
}

const char *bw_transfer_content_type(struct bw_transfer *transfer) {
    char *type = NULL;
    transfer->curl->curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    return type;
}

void bw_transfer_end(struct bw_transfer *transfer) {
    const struct bw_curl *curl = transfer->curl;
    if (transfer->is_added) curl->curl_multi_remove_handle(transfer->multi, transfer->easy);
    if (transfer->easy) curl->curl_easy_cleanup(transfer->easy);
    if (transfer->multi) curl->curl_multi_cleanup(transfer->multi);
    curl->curl_slist_free_all(transfer->pin);
    curl->curl_slist_free_all(transfer->headers);
    free(transfer);
}
