/* Functions of libm that have a newer version since glibc 2.35, for the shared library, which runs with 2.34. Bellwire
 * calls none of them; Swift's module Glibc refers to all of C's mathematics. */
#include <math.h>

/* The squares of floats are exact in doubles, and their sum neither overflows nor vanishes there. */
float hypotf(float x, float y) { return isinf(x) || isinf(y) ? INFINITY : (float)sqrt((double)x * x + (double)y * y); }
