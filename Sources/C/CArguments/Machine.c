#include "CArguments.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

int bw_clock_is_kept(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 ? -1 : result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/* As linux/fs.h has it, which other systems' headers need not. */
#define EXCHANGE 2

int bw_exchange(const char *one, const char *other) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, EXCHANGE);
}
