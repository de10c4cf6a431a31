#!/usr/bin/env bash
# Links what build.sh compiled: the shared library, the static library and the bellwire program, with the header and the
# pkg-config and CMake files beside them.
#
#   link.sh --release DIR --stage DIR [--order FILE]
#
#   --release DIR   Swift's build directory, with the modules' archive and the program
#   --stage DIR     where the result goes: lib, include and bin
#   --order FILE    the functions to place together in the shared library, one per line: order.txt. Without it, or if it
#                   is out of date, the library works, too, but uses more memory
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
header=$root/include/bellwire.h
soname=libbellwire.so.1

fail() {
    echo "link.sh: $*" >&2
    exit 1
}

usage="usage: link.sh --release DIR --stage DIR [--order FILE]"
release="" stage="" order_file=""
while [ $# -gt 0 ]; do
    [ -n "${2:-}" ] || fail "$usage"
    case $1 in
        --release) release=$2 ;;
        --stage) stage=$(realpath --canonicalize-missing --no-symlinks -- "$2") ;;
        --order) order_file=$2 ;;
        *) fail "unknown option '$1'; $usage" ;;
    esac
    shift 2
done
if [ -z "$release" ] || [ -z "$stage" ]; then fail "$usage"; fi
modules=$release/libbellwire-modules.a
for file in "$modules" "$release/bellwire" ${order_file:+"$order_file"}; do
    [ -f "$file" ] || fail "$file is not there"
done

mkdir -p "$stage/lib/.debug" "$stage/include" "$stage/bin" || fail "$stage cannot be made"
# Beside the result, into which finished files are moved: programs that run keep theirs.
build=$(mktemp -d "$(dirname "$stage")/link-XXXXXX")
trap 'rm -rf "$build"' EXIT
log=$build/log

# Runs a step, and shows the end of its output when it fails.
run() {
    if ! "$@" > "$log" 2>&1 < /dev/null; then
        tail -n 40 "$log" >&2
        fail "'$1' failed; the end of its output is above"
    fi
}

info=$(swiftc -print-target-info -static-stdlib)
runtime=$(sed -n 's/^ *"runtimeResourcePath": "\(.*\)"$/\1/p' <<< "$info")/linux
architecture=$(sed -n 's/^ *"arch": "\(.*\)",$/\1/p' <<< "$info")
[ -f "$runtime/libswiftCore.a" ] || fail "this Swift has no static standard library at $runtime"
# Swift's own clang, with which swiftc links as well, and its lld, which takes an order of functions.
clang=$(dirname "$(realpath "$(command -v swiftc)")")/clang

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
#
# Pages without running code are not resident, so the functions that a listening program calls are placed together.
# order.txt lists them; order.sh records it; the build works without it. Unnamed functions, small ones that release the
# values of closures, are also placed together. The compiler's hashes of modules are of no use here.
link_shared() {
    {
        echo "BELLWIRE_1 {"
        echo "  global:"
        awk '{ print "    " $0 ";" }' <<< "$declared"
        echo "  local: *;"
        echo "};"
    } > "$build/exports.map"
    local order=()
    if [ -n "$order_file" ]; then
        order=(-Xlinker "--symbol-ordering-file=$order_file" -Xlinker --no-warn-symbol-ordering)
    fi
    # Settings of Swift's backtraces are 64 KiB of zeros, which the file need not hold.
    {
        echo 'SECTIONS { /DISCARD/ : { *(.swift_modhash) } .text.nameless : { *(.text..L*) } } INSERT BEFORE .text;'
        echo 'SECTIONS { swift5_backtrace (NOLOAD) : { *(swift5_backtrace) } } INSERT AFTER .bss;'
    } > "$build/layout.ld"
    cc -O2 -fPIC -fvisibility=hidden -fno-builtin -Wall -Wextra -Werror -c "$here/older.c" -o "$build/older.o"
    # Functions with the same instructions are folded into one, 4 % of the file: no code compares functions' addresses.
    run "$clang" -shared -fuse-ld=lld -Wl,--trace -o "$build/$soname" "$runtime/$architecture/swiftrt.o" \
        "$build/older.o" "$build/fork.o" \
        -Wl,--whole-archive "$modules" -Wl,--no-whole-archive \
        -L "$runtime" -Wl,--start-group "${swift_libraries[@]}" -Wl,--end-group "${system_libraries[@]}" \
        -l:libstdc++.a -lm -Wl,--as-needed -Wl,--gc-sections \
        ${order[@]+"${order[@]}"} -Xlinker "--script=$build/layout.ld" \
        "-Wl,-soname,$soname" -Xlinker "--version-script=$build/exports.map" -Wl,--no-undefined-version -Wl,-z,defs \
        -Wl,--icf=all -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,--build-id
    cp "$log" "$build/linked"
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
    run ld -r --trace --force-group-allocation -o "$build/bellwire.o" "$runtime/$architecture/swiftrt.o" \
        --whole-archive "$modules" --no-whole-archive \
        -L "$runtime" --start-group "${swift_libraries[@]}" --end-group "${copies[@]}" \
        "$build/archive.o" "$build/fork.o"
    cat "$log" >> "$build/linked"
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
    run ar rcsD "$build/libbellwire.a" "$build/bellwire.o"
    mv "$build/libbellwire.a" "$stage/lib/libbellwire.a"
}

describe() {
    mkdir -p "$stage/lib/pkgconfig" "$stage/lib/cmake/bellwire"
    # @PREFIX@ is the path from the libraries to the prefix; install.sh sets others.
    local template folder
    for template in "$here"/*.pc.in "$here"/cmake/*.in; do
        case $template in *.pc.in) folder=pkgconfig ;; *) folder=cmake/bellwire ;; esac
        sed "s/@VERSION@/$version/g; s/@PREFIX@/../g" "$template" > "$stage/lib/$folder/$(basename "$template" .in)"
    done
    cp "$root"/include/*.h "$stage/include/"
}

# The SBOM and the licences of everything that is inside. Of the program too: what it links, the libraries link.
take_inventory() {
    local inside=() library
    for library in jansson uv_a; do inside+=("$(cc "-print-file-name=lib$library.a")"); done
    grep -vF "$build/" "$build/linked" > "$build/linked.others"
    mkdir -p "$build/doc"
    run python3 "$root/bindings/python/_build/inventory.py" --name bellwire --version "$version" --ours "$(realpath "$release")" \
        --output "$build/doc" --linked "$build/linked.others" "${inside[@]}"
    rm -rf "$stage/share/doc/bellwire"
    mkdir -p "$stage/share/doc"
    mv "$build/doc" "$stage/share/doc/bellwire"
}

list_libraries
cc -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -c "$here/fork.c" -o "$build/fork.o"
link_shared
link_static
run strip -o "$build/bellwire" "$release/bellwire"
mv "$build/bellwire" "$stage/bin/bellwire"
describe
take_inventory
