#pragma once

/* The words of the command line, as the C library passed them when the program was loaded. Swift's own `CommandLine` looks
 * for them beside the environment, where they aren't if a preloaded library has set a variable, or in /proc, which need not
 * be mounted. */
int bw_word_count(void);
/* Ends with a zero byte; NULL for an index out of range. */
const char *bw_word(int index);

/* Whether the machine's clock is kept in time, as the kernel knows it: 1 = yes, 0 = no, -1 = unknown. */
int bw_clock_is_kept(void);

/* Swaps what two paths name, at once; -1 and errno on failure. */
int bw_exchange(const char *one, const char *other);
