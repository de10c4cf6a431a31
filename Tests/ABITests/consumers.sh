# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: programs that use the installed tree as users do.

# The flags that pkg-config gives for a tree.
flags() {
    local tree=$1
    shift
    PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config "$@" bellwire
}

test_consumers() {
    local tree=$work/moved static=$work/static compiler version
    version=$(sed -n 's/^#define BW_VERSION "\(.*\)"/\1/p' "$root/include/bellwire.h")

    # The tree is moved away from where it was made, and has a space in its name for good measure.
    mkdir -p "$tree"
    cp -a "$stage/." "$tree/"
    # A tree without the shared library: -lbellwire then is the archive.
    cp -a "$tree" "$static"
    rm "$static"/lib/libbellwire.so*

    gives "pkg-config tells the version" "$version" flags "$tree" --modversion

    for compiler in "$gcc" "$clang"; do
        # shellcheck disable=SC2046 # flags are words
        works "$compiler links the shared library" \
            "$compiler" -std=c99 "${warnings[@]}" "$here/consumer.c" $(flags "$tree" --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" env LD_LIBRARY_PATH="$tree/lib" "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links the archive" \
            "$compiler" -std=c99 "${warnings[@]}" "$here/consumer.c" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links the archive, dropping sections that nothing refers to" \
            "$compiler" -std=c99 "${warnings[@]}" -Wl,--gc-sections "$here/consumer.c" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" "$work/consumer"
    done
    for compiler in "$gxx" "$clangxx"; do
        # shellcheck disable=SC2046
        works "$compiler links the shared library" \
            "$compiler" -std=c++17 "${warnings[@]}" "$here/consumer.cc" $(flags "$tree" --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens, 1000 words, caught" env LD_LIBRARY_PATH="$tree/lib" "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links the archive beside the same templates of its own" \
            "$compiler" -std=c++17 "${warnings[@]}" "$here/consumer.cc" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens, 1000 words, caught" "$work/consumer"
    done

    works "CMake finds the package" cmake -S "$here/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_C_COMPILER="$gcc"
    works "CMake builds with both targets" cmake --build "$work/cmake"
    gives "  the shared one runs" "$version opens" "$work/cmake/shared"
    gives "  the static one runs" "$version opens" "$work/cmake/static"
    same "  and the static one needs no libbellwire.so" "$(readelf -d "$work/cmake/static" | grep -F libbellwire)" ""
    if cmake -S "$here/cmake" -B "$work/cmake-newer" -DCMAKE_PREFIX_PATH="$tree" -DWANTED=999.0 > "$work/output" 2>&1; then
        bad "CMake refuses a version that is too old" < "$work/output"
    else
        ok "CMake refuses a version that is too old"
    fi

    test_two_swifts "$static" "$version"
}

# A host in C with a Swift archive of somebody else's beside ours: two Swift runtimes in one program.
test_two_swifts() {
    local static=$1 expected="$2 opens; 1342" runtime architecture compiler
    runtime=$(PATH=$full_path swiftc -print-target-info -static-stdlib | sed -n 's/^ *"runtimeResourcePath": "\(.*\)"$/\1/p')/linux
    architecture=$(uname -m)
    local modules=(-lswiftCore -lswift_Concurrency -lswift_StringProcessing -lswift_RegexParser -ldispatch -lBlocksRuntime)
    local theirs=("-L$runtime" "-Wl,--start-group" "${modules[@]}" "-Wl,--end-group")

    works "a Swift archive of another's is made" env PATH="$full_path" \
        swiftc -static-stdlib -parse-as-library -O -c "$here/another.swift" -o "$work/another.o"
    # As its maker might: the module alone, its runtime linked by the host …
    ar rcs "$work/libanother.a" "$work/another.o"
    # … or with its own runtime inside, all but its function made local.
    ld -r --force-group-allocation -o "$work/whole.o" "$work/another.o" "$runtime/$architecture/swiftrt.o" -L"$runtime" \
        --start-group "${modules[@]}" --end-group
    objcopy --keep-global-symbol=another_count "$work/whole.o"
    ar rcs "$work/libwhole.a" "$work/whole.o"

    for compiler in "$gcc" "$clang"; do
        # shellcheck disable=SC2046
        works "$compiler links the archive, then another's with its runtime" \
            "$compiler" -std=c99 "${warnings[@]}" -DANOTHER "$here/consumer.c" $(flags "$static" --static --cflags --libs) \
            "$work/libanother.a" "$runtime/$architecture/swiftrt.o" "${theirs[@]}" -lstdc++ -lm -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links another's with its runtime, then the archive" \
            "$compiler" -std=c99 "${warnings[@]}" -DANOTHER "$here/consumer.c" "$work/libanother.a" "$runtime/$architecture/swiftrt.o" \
            "${theirs[@]}" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links the archive and another that is made like it" \
            "$compiler" -std=c99 "${warnings[@]}" -DANOTHER "$here/consumer.c" "$work/libwhole.a" \
            $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
    done
}
