/* host PLUGIN...: loads each, calls it, and unloads them all: prints "NAME: VERSION opens" for each. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    void *loaded[8] = {NULL};
    int number;
    for (number = 1; number < count && number < 8; number++) {
        const char *(*run)(void) = NULL;
        const char *name = strrchr(arguments[number], '/') + 1;
        const char *version;
        void *symbol;
        loaded[number] = dlopen(arguments[number], RTLD_NOW | RTLD_LOCAL);
        symbol = loaded[number] != NULL ? dlsym(loaded[number], "plugin_run") : NULL;
        if (symbol == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        memcpy(&run, &symbol, sizeof run);
        version = run();
        printf("%.*s: %s opens\n", (int)strcspn(name, "."), name, version != NULL ? version : "none");
    }
    for (number = 1; number < count && number < 8; number++)
        dlclose(loaded[number]);
    return 0;
}
