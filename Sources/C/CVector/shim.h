#pragma once
#include <stdint.h>
#include <string.h>

/* Swift's SIMD types can't make a number out of a mask; Clang's vectors can, on every processor. */
typedef uint8_t vector_bytes __attribute__((ext_vector_type(16)));
typedef _Bool vector_mask __attribute__((ext_vector_type(16)));

/* What ends a run of plain text in a JSON string, among 16 bytes: bit n is set if byte n is a quote, a backslash or a
 * control character. */
static inline uint32_t vector_json_stops(const void *text) {
    vector_bytes bytes;
    memcpy(&bytes, text, sizeof bytes);
    vector_mask mask = __builtin_convertvector((bytes == '"') | (bytes == '\\') | (bytes < 0x20), vector_mask);
    uint16_t bits;
    memcpy(&bits, &mask, sizeof bits);
    return bits;
}
