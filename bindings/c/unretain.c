/* unretain ARCHIVE...: lets the linker drop what nobody uses of a static library.
 *
 * Swift's own libraries mark all that is public in them as to be retained (SHF_GNU_RETAIN), as a library needs it whose
 * users are not known. Here the only user is linked with it. The mark is taken from code and data; Swift's metadata
 * sections keep theirs, for the runtime finds what is in them by walking through. Files are changed in place. */
#include <ar.h>
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1 << 21)
#endif

static int is_plain(const char *name) {
    return !strncmp(name, ".text", 5) || !strncmp(name, ".rodata", 7) || !strncmp(name, ".data", 5);
}

/* An object file in memory; members of archives lie on even addresses only, so everything is copied out and in. */
static long unretain(unsigned char *object, size_t size) {
    Elf64_Ehdr header;
    if (size < sizeof header) return 0;
    memcpy(&header, object, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_REL)
        return 0;
    Elf64_Shdr section;
    if (header.e_shentsize != sizeof section || header.e_shoff > size - sizeof section) return -1;
    memcpy(&section, object + header.e_shoff, sizeof section);
    /* With very many sections their numbers stand in the first one (gABI, "Sections"). */
    uint64_t count = header.e_shnum ? header.e_shnum : section.sh_size;
    uint64_t names = header.e_shstrndx == SHN_XINDEX ? section.sh_link : header.e_shstrndx;
    if (count > (size - header.e_shoff) / sizeof section || names >= count) return -1;
    Elf64_Shdr strings;
    memcpy(&strings, object + header.e_shoff + names * sizeof strings, sizeof strings);
    if (strings.sh_offset > size || strings.sh_size > size - strings.sh_offset || !strings.sh_size
        || object[strings.sh_offset + strings.sh_size - 1])
        return -1;
    long changed = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *place = object + header.e_shoff + i * sizeof section;
        memcpy(&section, place, sizeof section);
        if (section.sh_name >= strings.sh_size) return -1;
        if (!(section.sh_flags & SHF_GNU_RETAIN)
            || !is_plain((const char *)object + strings.sh_offset + section.sh_name))
            continue;
        section.sh_flags &= ~(uint64_t)SHF_GNU_RETAIN;
        memcpy(place, &section, sizeof section);
        changed++;
    }
    return changed;
}

static long unretain_archive(unsigned char *archive, size_t size) {
    if (size < SARMAG || memcmp(archive, ARMAG, SARMAG)) return -1;
    long changed = 0;
    for (size_t place = SARMAG; place + sizeof(struct ar_hdr) <= size;) {
        struct ar_hdr member;
        memcpy(&member, archive + place, sizeof member);
        char text[sizeof member.ar_size + 1] = {0};
        memcpy(text, member.ar_size, sizeof member.ar_size);
        size_t length = strtoul(text, NULL, 10);
        place += sizeof member;
        if (memcmp(member.ar_fmag, ARFMAG, sizeof member.ar_fmag) || length > size - place) return -1;
        long result = unretain(archive + place, length);
        if (result < 0) return -1;
        changed += result;
        place += length + length % 2;
    }
    return changed;
}

static int run(const char *path) {
    FILE *file = fopen(path, "r+b");
    if (!file || fseek(file, 0, SEEK_END)) {
        fprintf(stderr, "unretain: %s: %s\n", path, strerror(errno));
        if (file) fclose(file);
        return 1;
    }
    long size = ftell(file);
    unsigned char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    int failed = 1;
    if (bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size) {
        long changed = unretain_archive(bytes, (size_t)size);
        if (changed < 0) {
            fprintf(stderr, "unretain: %s is no archive of objects that can be read\n", path);
        } else {
            rewind(file);
            failed = fwrite(bytes, 1, (size_t)size, file) != (size_t)size;
        }
    }
    free(bytes);
    if (fclose(file)) failed = 1;
    return failed;
}

int main(int count, char **paths) {
    int failed = 0;
    for (int i = 1; i < count; i++) failed |= run(paths[i]);
    return failed;
}
