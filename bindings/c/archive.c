/* What libbellwire.a has besides the modules, so that it goes into shared libraries: plug-ins, addons, cdylibs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

/* jansson and libuv, as Debian compiles their archives, read these variables of libc by an address that only a program
 * can have: build.sh gives them these in their place. The values are those at load. Bellwire calls none of the functions
 * that read the streams or the environment (json_loadf(), uv_print_all_handles(), uv_spawn(), uv_os_environ()). */
const struct in6_addr bellwire_in6addr_any = IN6ADDR_ANY_INIT;
FILE *bellwire_stdin;
FILE *bellwire_stderr;
char **bellwire_environ;

static void __attribute__((constructor)) load(void) {
    bellwire_stdin = stdin;
    bellwire_stderr = stderr;
    bellwire_environ = environ;
    /* Swift's runtime cannot be unloaded, and neither then what it is in. (Of a program this finds nothing.) */
    Dl_info self;
    if (dladdr(&bellwire_stdin, &self)) dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
