# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: programs that use the installed tree as users do, on a machine without Swift.

# Runs a command with nothing of this environment: Debian's programs and the tree are all there is.
clean() {
    env -i PATH=/usr/bin:/bin "$@"
}

# The flags that pkg-config gives for a tree.
flags() {
    local tree=$1
    shift
    clean PKG_CONFIG_PATH="$tree/lib/pkgconfig" pkg-config "$@" bellwire
}

# refuses NAME TEXT COMMAND…: a command that fails, and says this on one of its lines
refuses() {
    local name=$1 text=$2
    shift 2
    if "$@" > "$work/output" 2>&1; then
        echo "it ended with 0" >> "$work/output"
        bad "$name" < "$work/output"
    # CMake breaks its lines where it likes.
    elif tr -s ' \n' ' ' < "$work/output" | grep -qF "$text"; then
        ok "$name"
    else
        echo "it does not say: $text" >> "$work/output"
        bad "$name" < "$work/output"
    fi
}

test_consumers() {
    local tree=$work/moved static=$work/static compiler standard version
    version=$(sed -n 's/^#define BW_VERSION "\(.*\)"/\1/p' "$root/include/bellwire.h")

    # The tree is moved away from where it was made.
    mkdir -p "$tree"
    cp -a "$stage/." "$tree/"
    # A tree without the shared library: -lbellwire then is the archive.
    cp -al "$tree" "$static"
    rm "$static"/lib/libbellwire.so*

    # shellcheck disable=SC2016 # for the other shell
    same "there is no Swift where these are compiled and run" \
        "$(clean sh -c 'command -v swift swiftc; for f in /etc/ld.so.conf.d/*; do grep -i swift "$f"; done')" ""
    gives "pkg-config tells the version" "$version" flags "$tree" --modversion
    works "pkg-config takes this version" flags "$tree" --atleast-version="$version"
    refuses "pkg-config refuses a newer one, in words" "'bellwire >= 999'" \
        clean PKG_CONFIG_PATH="$tree/lib/pkgconfig" pkg-config --print-errors "bellwire >= 999"

    for compiler in "$gcc" "$clang"; do
        for standard in c99 c11 c17 gnu2x; do
            # shellcheck disable=SC2046 # flags are words
            works "$compiler -std=$standard links the shared library" \
                clean "$compiler" "-std=$standard" "${warnings[@]}" "$here/consumer.c" $(flags "$tree" --cflags --libs) -o "$work/consumer"
            gives "  and it runs" "$version opens" clean LD_LIBRARY_PATH="$tree/lib" "$work/consumer"
        done
        # shellcheck disable=SC2046
        works "$compiler links the archive" \
            clean "$compiler" -std=c99 "${warnings[@]}" "$here/consumer.c" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" clean "$work/consumer"
        # shellcheck disable=SC2046
        works "$compiler links the archive, which stands beside the shared library" \
            clean "$compiler" -std=c99 "${warnings[@]}" "$here/consumer.c" $(flags "$tree" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" clean "$work/consumer"
        same "  without the shared library" "$(readelf -d "$work/consumer" | grep -F libbellwire)" ""
        # shellcheck disable=SC2046
        works "$compiler and gold link the archive, which stands beside the shared library" clean "$compiler" -fuse-ld=gold -std=c99 \
            "${warnings[@]}" "$here/consumer.c" $(flags "$tree" --static --cflags --libs) -o "$work/consumer"
        same "  without the shared library" "$(readelf -d "$work/consumer" | grep -F libbellwire)" ""
        # shellcheck disable=SC2046
        works "$compiler links the archive, dropping sections that nothing refers to" \
            clean "$compiler" -std=c99 "${warnings[@]}" -Wl,--gc-sections "$here/consumer.c" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens" clean "$work/consumer"
    done
    # The linker keeps what it finds a use for.
    # shellcheck disable=SC2046
    works "the archive is linked with what pkg-config names and is used" clean "$gcc" -std=c99 "${warnings[@]}" "$here/consumer.c" \
        -Wl,--as-needed $(flags "$static" --static --cflags --libs) -o "$work/consumer"
    same "  which is all that it names, but for what is in libc" \
        "$(readelf -d "$work/consumer" | sed -n 's/.*(NEEDED).*\[lib\(.*\)\.so.*/-l\1/p' | grep -vxE -- '-lc|-lgcc_s' | sort)" \
        "$(flags "$static" --static --libs-only-l | tr ' ' '\n' | grep -vxE -- '|-lbellwire|-l:libbellwire.a|-lpthread|-ldl' | sort)"
    same "  and all that CMake's target names" \
        "$(sed -n 's/.*INTERFACE_LINK_LIBRARIES "\(.*\)".*/\1/p' "$static/lib/cmake/bellwire/bellwireConfig.cmake" | tr ';' '\n' | sort)" \
        "$(flags "$static" --static --libs-only-l | tr ' ' '\n' | sed -n 's/^-l//p' | grep -vxE 'bellwire|:libbellwire.a' | sort)"

    for compiler in "$gxx" "$clangxx"; do
        for standard in c++11 c++14 c++17 c++20; do
            # shellcheck disable=SC2046
            works "$compiler -std=$standard links the shared library" \
                clean "$compiler" "-std=$standard" "${warnings[@]}" "$here/consumer.cc" $(flags "$tree" --cflags --libs) -o "$work/consumer"
            gives "  and it runs" "$version opens, 1000 words, caught" clean LD_LIBRARY_PATH="$tree/lib" "$work/consumer"
        done
        # shellcheck disable=SC2046
        works "$compiler links the archive beside the same templates of its own" \
            clean "$compiler" -std=c++17 "${warnings[@]}" "$here/consumer.cc" $(flags "$static" --static --cflags --libs) -o "$work/consumer"
        gives "  and it runs" "$version opens, 1000 words, caught" clean "$work/consumer"
    done

    test_cmake "$tree" "$version"
}

# find_package, from a directory with a space in its name.
test_cmake() {
    local tree="$work/with a space" version=$2 compiler
    cp -al "$1" "$tree"
    for compiler in "$gcc:$gxx" "$clang:$clangxx"; do
        rm -rf "$work/cmake"
        works "CMake finds the package, with ${compiler%:*}" clean cmake -S "$here/cmake" -B "$work/cmake" \
            -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_C_COMPILER="${compiler%:*}" -DCMAKE_CXX_COMPILER="${compiler#*:}" -DWANTED="$version"
        works "CMake builds C and C++ with both targets" clean cmake --build "$work/cmake"
        gives "  C with the shared library runs" "$version opens" clean "$work/cmake/shared"
        gives "  C with the archive runs" "$version opens" clean "$work/cmake/static"
        gives "  C++ with the shared library runs" "$version opens, 1000 words, caught" clean "$work/cmake/shared++"
        gives "  C++ with the archive runs" "$version opens, 1000 words, caught" clean "$work/cmake/static++"
        same "  and those with the archive need no libbellwire.so" \
            "$(readelf -d "$work/cmake/static" "$work/cmake/static++" | grep -F libbellwire)" ""
    done
    refuses "CMake refuses a version that is too old, in words" "compatible with requested version \"999.0\"" \
        clean cmake -S "$here/cmake" -B "$work/cmake-newer" -DCMAKE_PREFIX_PATH="$tree" -DWANTED=999.0
    refuses "  and one of another major version" "compatible with requested version \"1.0\"" \
        clean cmake -S "$here/cmake" -B "$work/cmake-other" -DCMAKE_PREFIX_PATH="$tree" -DWANTED=1.0
    works "CMake finds the components" clean cmake -S "$here/cmake" -B "$work/cmake-components" -DCMAKE_PREFIX_PATH="$tree" \
        "-DCOMPONENTS=shared;static"
    refuses "CMake refuses a component that there is not, in words" "has no component \"nonsense\"" \
        clean cmake -S "$here/cmake" -B "$work/cmake-nonsense" -DCMAKE_PREFIX_PATH="$tree" "-DCOMPONENTS=shared;nonsense"
    refuses "CMake says where it looked when there is no package" "bellwireConfig.cmake" \
        clean cmake -S "$here/cmake" -B "$work/cmake-none" -DCMAKE_PREFIX_PATH="$work/nowhere"
}
