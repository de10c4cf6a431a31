#!/usr/bin/env bash
# Builds Bellwire for C: the shared library, the static library, the header, the pkg-config and CMake files, and the
# bellwire program. None of them needs Swift to run or to link.
#
#   build.sh [--prefix DIR] [--build-dir DIR]
#
#   --prefix DIR      also installs there with install.sh, which has more options and can uninstall
#   --build-dir DIR   where to build (default: build/ in the checkout); the result is in its stage/
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
header=$root/include/bellwire.h
order_file=$here/order.txt
soname=libbellwire.so.1

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

# MARK: Arguments

usage="usage: build.sh [--prefix DIR] [--build-dir DIR]"
prefix=""
build=$root/build
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --build-dir)
            [ -n "${2:-}" ] || fail "$1 takes a directory; $usage"
            directory=$(realpath --canonicalize-missing --no-symlinks -- "$2")
            if [ "$1" = --prefix ]; then prefix=$directory; else build=$directory; fi
            shift 2
            ;;
        -h | --help)
            sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *) fail "unknown option '$1'; $usage" ;;
    esac
done

# MARK: What it needs

command -v swift > /dev/null || fail "swift is not on the PATH; Bellwire needs Swift 6.3 (https://swift.org/install)"
missing=$("$here/packages.sh" --print)
[ -z "$missing" ] || fail "Debian packages are missing: ${missing//$'\n'/ }; bindings/c/packages.sh installs them"

mkdir -p "$build/stage/lib/.debug" "$build/stage/include" "$build/stage/bin" || fail "cannot create $build"
stage=$build/stage
log=$build/build.log
exec 9> "$build/.lock"
flock 9 # a second build waits for the first, and then has nothing to do

# Swift's caches go to the home directory; a build account may have none.
if [ ! -w "${HOME:-/nonexistent}" ]; then
    export HOME=$build/home XDG_CACHE_HOME=$build/home/.cache
    mkdir -p "$XDG_CACHE_HOME"
fi

# Runs a step with its output in the log, and shows the end of the log if it fails.
run() {
    if ! "$@" > "$log" 2>&1 < /dev/null; then
        tail -n 40 "$log" >&2
        fail "'$1' failed; the end of $log is above"
    fi
}

# MARK: Compile

# One build makes the modules' archive and the program. The linking compiler needs -static-stdlib; --static-swift-stdlib
# does not apply to libraries. Paths in debug information are relative to the checkout and the build directory.
# (Tests/reproducible.sh compares two builds.)
maps=("$build/swift=/build" "$root=.")
flags=(-Xswiftc -static-stdlib)
for map in "${maps[@]}"; do flags+=(-Xswiftc -file-prefix-map -Xswiftc "$map" -Xcc "-ffile-prefix-map=$map"); done
# Remove the archive first: an update in place keeps the objects of deleted sources.
release=$build/swift/release
modules=$release/libbellwire-modules.a
rm -f "$modules"
echo "Building Bellwire (release) in $build; about five minutes the first time. Progress: tail -f $log"
run swift build --package-path "$root" --scratch-path "$build/swift" -c release "${flags[@]}" \
    --explicit-target-dependency-import-check error

# MARK: Link, unless nothing that goes in has changed

info=$(swiftc -print-target-info -static-stdlib)
runtime=$(sed -n 's/^ *"runtimeResourcePath": "\(.*\)"$/\1/p' <<< "$info")/linux
architecture=$(sed -n 's/^ *"arch": "\(.*\)",$/\1/p' <<< "$info")
[ -f "$runtime/libswiftCore.a" ] || fail "this Swift has no static standard library at $runtime"
# Swift's own clang, with which swiftc links as well, and its lld, which takes an order of functions.
clang=$(dirname "$(realpath "$(command -v swiftc)")")/clang

inputs=$(
    {
        cat "$modules" "$release/bellwire" "$root"/include/*.h "$here"/{build.sh,archive.c,older.c,bellwire.pc.in} "$here"/cmake/*.in
        [ ! -f "$order_file" ] || cat "$order_file"
        echo "$info"
    } | sha256sum
)

# The functions that the header declares. Both libraries export exactly these.
declared=$(cc -E -P "$header" | grep -oE '\bbw_[a-z0-9_]+\(' | tr -d '(' | sort -u)
version=$(sed -n 's/^#define BW_VERSION "\(.*\)"$/\1/p' "$header")

# The libraries that the modules need, from the list that the compiler left in them, and those of Swift's runtime.
list_libraries() {
    local library
    swift_libraries=()
    system_libraries=()
    run swift-autolink-extract "$modules" -o "$build/autolink.list"
    for library in $(sed -n 's/^-l//p' "$build/autolink.list" | sort -u) swiftCore dispatch BlocksRuntime; do
        if [ -f "$runtime/lib$library.a" ]; then
            swift_libraries+=("-l$library")
        else
            system_libraries+=("-l$library")
        fi
    done
}

# The version script requires every function of the header, so one without a body, which the compiler does not notice,
# fails the build here. Nodelete, because Swift's runtime cannot be unloaded. The runtime uses a few functions of
# libstdc++: linked statically they take 0.07 MB, the shared library would take 0.7 MB of each process.
# Pages without running code are not resident, so the functions that a listening program calls are placed together.
# order.txt lists them; order.sh records it; the build works without it. Unnamed functions, small ones that release the
# values of closures, are also placed together.
link_shared() {
    {
        echo "BELLWIRE_1 {"
        echo "  global:"
        awk '{ print "    " $0 ";" }' <<< "$declared"
        echo "  local: *;"
        echo "};"
    } > "$build/exports.map"
    local order=()
    if [ -f "$order_file" ]; then
        order=(-Xlinker "--symbol-ordering-file=$order_file" -Xlinker --no-warn-symbol-ordering)
    fi
    echo 'SECTIONS { .text.nameless : { *(.text..L*) } } INSERT BEFORE .text;' > "$build/nameless.ld"
    cc -O2 -fPIC -fvisibility=hidden -fno-builtin -Wall -Wextra -Werror -c "$here/older.c" -o "$build/older.o"
    run "$clang" -shared -fuse-ld=lld -o "$build/$soname" "$runtime/$architecture/swiftrt.o" "$build/older.o" \
        -Wl,--whole-archive "$modules" -Wl,--no-whole-archive \
        -L "$runtime" -Wl,--start-group "${swift_libraries[@]}" -Wl,--end-group "${system_libraries[@]}" \
        -l:libstdc++.a -lm -Wl,--as-needed -Wl,--gc-sections \
        ${order[@]+"${order[@]}"} -Xlinker "--script=$build/nameless.ld" \
        "-Wl,-soname,$soname" -Xlinker "--version-script=$build/exports.map" -Wl,--no-undefined-version -Wl,-z,defs \
        -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,--build-id
    # Debug information stays here, where debuggers and valgrind look for it; it is not installed.
    run objcopy --only-keep-debug "$build/$soname" "$stage/lib/.debug/$soname.debug"
    run strip --strip-all "$build/$soname"
    run objcopy "--add-gnu-debuglink=$stage/lib/.debug/$soname.debug" "$build/$soname"
    mv "$build/$soname" "$stage/lib/$soname"
    ln -sfn "$soname" "$stage/lib/libbellwire.so"
}

# The archive is one object in which everything but the header's functions is local, so that it does not clash with the
# templates of a C++ program (groups are resolved here) or with another Swift runtime.
link_static() {
    local library variable copies=() redirections=() renames=() section
    # It contains jansson and libuv, because a program may have other versions of them. They read four variables of libc
    # in a way that works only in programs; archive.c provides these instead.
    cc -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -c "$here/archive.c" -o "$build/archive.o"
    for variable in $(nm --defined-only "$build/archive.o" | sed -n 's/^.* [A-Z] bellwire_//p'); do
        redirections+=(--redefine-sym "$variable=bellwire_$variable")
    done
    for library in jansson uv_a; do
        run objcopy "${redirections[@]}" "$(cc "-print-file-name=lib$library.a")" "$build/lib$library.a"
        copies+=("$build/lib$library.a")
    done
    # swiftrt.o registers the metadata; without it dynamic casts fail.
    run ld -r --force-group-allocation -o "$build/bellwire.o" "$runtime/$architecture/swiftrt.o" \
        --whole-archive "$modules" --no-whole-archive \
        -L "$runtime" --start-group "${swift_libraries[@]}" --end-group "${copies[@]}" "$build/archive.o"
    # swiftrt.o finds metadata by section name, and the linker merges sections of the same name. With names of our own,
    # our runtime sees only our metadata, and the runtime of a Swift program only its own.
    for section in $(objdump -h "$build/bellwire.o" | awk '$2 ~ /^swift5_/ { print $2 }' | sort -u); do
        renames+=(--rename-section "$section=bellwire_$section")
    done
    for section in $(nm -u "$build/bellwire.o" | sed -n 's/^ *[Uw] __start_\(swift5_.*\)$/\1/p'); do
        renames+=(--redefine-sym "__start_$section=__start_bellwire_$section")
        renames+=(--redefine-sym "__stop_$section=__stop_bellwire_$section")
    done
    echo "$declared" > "$build/exports.list"
    run objcopy --strip-debug --keep-global-symbols="$build/exports.list" "${renames[@]}" "$build/bellwire.o"
    rm -f "$build/libbellwire.a"
    run ar rcsD "$build/libbellwire.a" "$build/bellwire.o"
    mv "$build/libbellwire.a" "$stage/lib/libbellwire.a"
    rm "$build/bellwire.o" "${copies[@]}" "$build/archive.o"
}

describe() {
    mkdir -p "$stage/lib/pkgconfig" "$stage/lib/cmake/bellwire"
    # @PREFIX@ is the path from the libraries to the prefix; install.sh sets others.
    sed "s/@VERSION@/$version/g; s/@PREFIX@/../g" "$here/bellwire.pc.in" > "$stage/lib/pkgconfig/bellwire.pc"
    for template in "$here"/cmake/*.in; do
        sed "s/@VERSION@/$version/g; s/@PREFIX@/../g" "$template" > "$stage/lib/cmake/bellwire/$(basename "$template" .in)"
    done
    cp "$root"/include/*.h "$stage/include/"
}

if [ "$(cat "$build/inputs.sum" 2> /dev/null || true)" != "$inputs" ]; then
    rm -f "$build/inputs.sum"
    echo "Linking"
    list_libraries
    link_shared
    link_static
    run strip -o "$build/bellwire" "$release/bellwire"
    mv "$build/bellwire" "$stage/bin/bellwire"
    describe
    echo "$inputs" > "$build/inputs.sum"
fi
(cd "$stage" && stat -c '  %n: %s bytes' "lib/$soname" lib/libbellwire.a bin/bellwire)

# MARK: Install

if [ -n "$prefix" ]; then
    "$here/install.sh" --stage "$stage" --prefix "$prefix"
else
    echo "Built in $stage"
fi
