// The names and the word boundaries of Unicode's characters are 0.6 MB of tables in Swift's standard library, and nothing
// in Bellwire asks for either. build.sh links these functions in their place, so that the linker drops the tables:
// `Unicode.Scalar.Properties.name` and `.nameAlias` are nil in libbellwire.so, and each character is a word of its own.
#include <stdint.h>

intptr_t _swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity);
const char *_swift_stdlib_getNameAlias(uint32_t scalar);
uint8_t _swift_stdlib_getWordBreakProperty(uint32_t scalar);

// The length of the name: 0 = it has none.
intptr_t _swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity)
{
    (void)scalar;
    (void)buffer;
    (void)capacity;
    return 0;
}

const char *_swift_stdlib_getNameAlias(uint32_t scalar)
{
    (void)scalar;
    return 0;
}

// A number that is no property: "any other" (Unicode Standard Annex 29).
uint8_t _swift_stdlib_getWordBreakProperty(uint32_t scalar)
{
    (void)scalar;
    return 0xFF;
}
