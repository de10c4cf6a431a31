/*
 * opening.h - open() and open64() of a program or library whose functions stand before libc's: both call opened(), which
 * stands before this. C99 and C++.
 */
#ifndef OPENING_H
#define OPENING_H

#include <fcntl.h>
#include <stdarg.h>

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;
    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;
    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    return opened(path, flags, mode);
}

#endif
