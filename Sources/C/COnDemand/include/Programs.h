/* Programs of the desktop environment. Any thread. */
#pragma once

#pragma GCC visibility push(hidden)

/* Starts a program that lives on by itself: its name and its arguments, with spaces between them and no quoting; and one
 * more argument, which is passed as it is, or NULL. Blocks for the time that takes. 0, -ENOENT (it is not on the PATH), or
 * the negative of what posix_spawn() gives. */
int bw_program_start(const char *command, const char *argument);

#pragma GCC visibility pop
