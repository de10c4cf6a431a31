#include "CArguments.h"

#include <sys/timex.h>

int bw_clock_is_kept(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 ? -1 : result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
