/* Variables of libc that jansson and libuv, as Debian compiles their archives, read by an address that only a program
 * can have: build.sh gives them these in libbellwire.a, so that it goes into shared libraries as well. The values are
 * those at load. Bellwire calls none of the functions that read the streams or the environment (json_loadf(),
 * uv_print_all_handles(), uv_spawn(), uv_os_environ()). */
#include <netinet/in.h>
#include <stdio.h>

extern char **environ;

const struct in6_addr bellwire_in6addr_any = IN6ADDR_ANY_INIT;
FILE *bellwire_stdin;
FILE *bellwire_stderr;
char **bellwire_environ;

static void __attribute__((constructor)) copy(void) {
    bellwire_stdin = stdin;
    bellwire_stderr = stderr;
    bellwire_environ = environ;
}
