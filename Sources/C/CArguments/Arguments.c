#include "CArguments.h"

#include <stddef.h>

static int count;
static char **words;

/* The GNU C library passes the arguments of main() to constructors. */
static void __attribute__((constructor)) keep(int argc, char **argv) {
    count = argc;
    words = argv;
}

int bw_word_count(void) { return count; }

const char *bw_word(int index) { return index >= 0 && index < count ? words[index] : NULL; }
