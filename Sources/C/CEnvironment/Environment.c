#define _GNU_SOURCE
#include "CEnvironment.h"

#include <unistd.h>

void __attribute__((constructor(101))) bw_environment_prepare(void) {
    static char *nothing[1];
    if (!environ) environ = nothing;
}
