#!/usr/bin/env bash
# Builds Bellwire for C: the shared library, the static library, the header, the pkg-config and CMake files, and the
# bellwire program. None of them needs Swift where it runs or is linked.
#
#   build.sh [--prefix DIR] [--build-dir DIR]
#
#   --prefix DIR      also installs there: install.sh, which has more options, and removes it again
#   --build-dir DIR   where it builds (default: build/ in the checkout); the result stands in its stage/
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
header=$root/include/bellwire.h
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

command -v swift > /dev/null || fail "swift is not on the PATH; Bellwire takes Swift 6.3 (https://swift.org/install)"
missing=$("$here/packages.sh" --print)
[ -z "$missing" ] || fail "Debian packages are missing: ${missing//$'\n'/ }; bindings/c/packages.sh installs them"

mkdir -p "$build/stage/lib/.debug" "$build/stage/include" "$build/stage/bin" || fail "$build cannot be made"
stage=$build/stage
log=$build/build.log
exec 9> "$build/.lock"
flock 9 # of two at once, the second waits and then finds everything done

# Swift's caches go to the home directory; a build account may have none.
if [ ! -w "${HOME:-/nonexistent}" ]; then
    export HOME=$build/home XDG_CACHE_HOME=$build/home/.cache
    mkdir -p "$XDG_CACHE_HOME"
fi

# Runs a step with its output in the log, and shows the log's end when it fails.
run() {
    if ! "$@" > "$log" 2>&1 < /dev/null; then
        tail -n 40 "$log" >&2
        fail "'$1' failed; the end of $log is above"
    fi
}

# MARK: Compile

# One build makes the rooms' objects and the program. -static-stdlib has to reach the compiler that links;
# --static-swift-stdlib does not reach libraries.
echo "Building Bellwire (release) in $build"
run swift build --package-path "$root" --scratch-path "$build/swift" -c release -Xswiftc -static-stdlib \
    --explicit-target-dependency-import-check error
release=$build/swift/release

# What SwiftPM links into the program, less the program's own objects, is the library. (A glob would also find objects
# whose sources are gone.) The list is quoted as response files are, which xargs reads too.
objects=$build/objects.list
grep -v '/bellwire\.build/' "$release/bellwire.product/Objects.LinkFileList" > "$build/objects.all"
# Rooms that a listening device does not enter stand together: what is beside no code that runs is not resident.
seldom='/(Addresses|Alerts|COnDemand|Calendar|Desktop|DeviceAlerts|History|HTTPClient|QR|Relay)\.build/'
{
    grep -Ev "$seldom" "$build/objects.all"
    grep -E "$seldom" "$build/objects.all"
} > "$objects"

# MARK: Link, unless nothing that goes in has changed

info=$(swiftc -print-target-info -static-stdlib)
runtime=$(sed -n 's/^ *"runtimeResourcePath": "\(.*\)"$/\1/p' <<< "$info")/linux
architecture=$(sed -n 's/^ *"arch": "\(.*\)",$/\1/p' <<< "$info")
[ -f "$runtime/libswiftCore.a" ] || fail "this Swift has no static standard library at $runtime"

inputs=$(
    {
        xargs sha256sum < "$objects"
        sha256sum "$release/bellwire" "$root"/include/*.h "$here/build.sh" "$here/runtime.c" "$here/unretain.c" "$here/bellwire.pc.in" "$here"/cmake/*.in
        echo "$info"
    } | sha256sum
)

# The functions that the header declares: what both libraries export, and all that they export.
declared=$(cc -E -P "$header" | grep -oE '\bbw_[a-z0-9_]+\(' | tr -d '(' | sort -u)
version=$(sed -n 's/^#define BW_VERSION "\(.*\)"$/\1/p' "$header")

# Swift's own libraries, made smaller for the shared library: without what unwinds their frames (0.7 MB; nothing throws
# through them, and they keep frame pointers, which debuggers and profilers follow), without what is public in them and
# used by nobody here (0.8 MB; unretain.c), and with what runtime.c has in the place of theirs (0.6 MB). Prints the options that put these in the place of those.
trim_runtime() {
    local library name
    mkdir -p "$build/runtime"
    cc -O2 -Wall -Wextra -Werror "$here/unretain.c" -o "$build/runtime/unretain"
    for library in "$runtime"/lib{swiftCore,swiftGlibc,swiftSynchronization,swift_Concurrency,dispatch,BlocksRuntime}.a; do
        name=$(basename "$library")
        objcopy --remove-section=.eh_frame --remove-section=.rela.eh_frame --redefine-sym=environ=bellwire_environ \
            --weaken-symbol=_swift_stdlib_getScalarName --weaken-symbol=_swift_stdlib_getNameAlias \
            --weaken-symbol=_swift_stdlib_getWordBreakProperty "$library" "$build/runtime/$name"
        "$build/runtime/unretain" "$build/runtime/$name"
        printf '%s\n' -Xlinker "--remap-inputs=*/$name=$build/runtime/$name"
    done
    cc -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -c "$here/runtime.c" -o "$build/runtime/runtime.o"
    printf '%s\n' "$build/runtime/runtime.o"
    # Of libstdc++ it uses a few functions: inside they are 0.07 MB, beside it 0.7 MB of each process. A directory that
    # has no other is searched first.
    mkdir -p "$build/runtime/c++"
    ln -sfn "$(g++ -print-file-name=libstdc++.a)" "$build/runtime/c++/libstdc++.a"
    printf '%s\n' -L "$build/runtime/c++"
}

# The linker takes every name of the version script from our objects: a function of the header without a body, which
# the compiler does not notice, ends the build here. Nodelete, because Swift's runtime cannot be unloaded.
# Packed relocations save 0.6 MB, and take glibc 2.36: that of Debian 12. Functions with the same body become one (0.2 MB).
link_shared() {
    {
        echo "BELLWIRE_1 {"
        echo "  global:"
        awk '{ print "    " $0 ";" }' <<< "$declared"
        echo "  local: *;"
        echo "};"
    } > "$build/exports.map"
    trim_runtime > "$build/runtime.list"
    local smaller
    mapfile -t smaller < "$build/runtime.list"
    run swiftc -emit-library -static-stdlib -no-toolchain-stdlib-rpath "@$objects" "${smaller[@]}" -o "$build/$soname" \
        -use-ld=lld -Xlinker -soname -Xlinker "$soname" \
        -Xlinker "--version-script=$build/exports.map" -Xlinker --no-undefined-version -Xlinker -z -Xlinker defs \
        -Xlinker --gc-sections -Xlinker --icf=all -Xlinker --as-needed -Xlinker -z -Xlinker pack-relative-relocs \
        -Xlinker -z -Xlinker nodelete -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
    # What debuggers and valgrind want to know stays here, where they look for it; it is not installed.
    run objcopy --only-keep-debug "$build/$soname" "$stage/lib/.debug/$soname.debug"
    run strip --strip-all "$build/$soname"
    run objcopy "--add-gnu-debuglink=$stage/lib/.debug/$soname.debug" "$build/$soname"
    mv "$build/$soname" "$stage/lib/$soname"
    ln -sfn "$soname" "$stage/lib/libbellwire.so"
}

# The archive is one object in which everything but the header's functions is local, so that it meets neither a C++
# host's templates (groups are resolved here) nor another Swift runtime.
link_static() {
    local libraries=() autolinked library renames=() section
    xargs swift-autolink-extract -o "$build/autolink.list" < "$objects"
    # Swift's own, from the list that the compiler left in the objects; the system's are the host's to link.
    autolinked=$(sort -u "$build/autolink.list" | sed -n 's/^-l//p')
    for library in $autolinked swiftCore dispatch BlocksRuntime; do
        if [ -f "$runtime/lib$library.a" ]; then libraries+=("-l$library"); fi
    done
    # swiftrt.o registers the metadata; without it dynamic casts fail. jansson and libuv are inside: a host may have
    # others, whose names would be taken for theirs.
    run ld -r --force-group-allocation -o "$build/bellwire.o" "@$objects" "$runtime/$architecture/swiftrt.o" \
        -L "$runtime" --start-group "${libraries[@]}" --end-group \
        "$(cc -print-file-name=libjansson.a)" "$(cc -print-file-name=libuv_a.a)"
    # swiftrt.o finds the metadata by the sections' names, in which the linker gathers those of the whole program. Under
    # a name of our own, our runtime sees ours only, and that of a host in Swift sees only its.
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
    rm "$build/bellwire.o"
}

describe() {
    mkdir -p "$stage/lib/pkgconfig" "$stage/lib/cmake/bellwire"
    # @PREFIX@ is the way from the libraries to what they lie in; install.sh knows others.
    sed "s/@VERSION@/$version/g; s/@PREFIX@/../g" "$here/bellwire.pc.in" > "$stage/lib/pkgconfig/bellwire.pc"
    for template in "$here"/cmake/*.in; do
        sed "s/@VERSION@/$version/g; s/@PREFIX@/../g" "$template" > "$stage/lib/cmake/bellwire/$(basename "$template" .in)"
    done
    cp "$root"/include/*.h "$stage/include/"
}

if [ "$(cat "$build/inputs.sum" 2> /dev/null || true)" != "$inputs" ]; then
    rm -f "$build/inputs.sum"
    echo "Linking"
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
