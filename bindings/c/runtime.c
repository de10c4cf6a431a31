// Parts of Swift's runtime that build.sh puts in the place of its own in libbellwire.so.
#include <stdint.h>

// The names and the word boundaries of Unicode's characters are 0.6 MB of tables in the standard library, and nothing in
// Bellwire asks for either. With these functions the linker drops the tables: `Unicode.Scalar.Properties.name` and
// `.nameAlias` are nil, and each character is a word of its own.
intptr_t _swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity);
const char *_swift_stdlib_getNameAlias(uint32_t scalar);
uint8_t _swift_stdlib_getWordBreakProperty(uint32_t scalar);

// What the runtime reads its debugging switches (SWIFT_…) from when it is loaded, in place of `environ`: that is NULL
// after clearenv(), which it does not expect; and a library takes no such switches from its host's user.
static char *nothing[1];
char **bellwire_environ = nothing;

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
