#!/usr/bin/env bash
# Builds Bellwire for C: the shared library, the static library, the header, the pkg-config and CMake files, the bellwire
# program, and the documentation. None of them needs Swift to run or to link.
#
#   build.sh [--prefix DIR] [--build-dir DIR]
#
#   --prefix DIR      also installs there with install.sh, which has more options and can uninstall
#   --build-dir DIR   where to build (default: build/ in the checkout); the result is in its stage/
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

# Physical paths: the compiler sees these, and a symbolic link in one would keep it from being mapped below.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)

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
            directory=$(realpath --canonicalize-missing -- "$2")
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

mkdir -p "$build" || fail "cannot create $build"
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
# does not apply to libraries.
#
# The result does not depend on the directory (Tests/reproducible.sh compares two builds). Paths in debug information are
# relative to the checkout and the build directory. Debug information doesn't refer to the compiler's cache of C modules,
# whose files are not shipped. Objects don't contain a hash of the compiler's arguments, which include the directories.
maps=("$build/swift=/build" "$root=.")
flags=(-Xswiftc -static-stdlib)
for option in -no-clang-module-breadcrumbs -disable-incremental-llvm-codegen; do
    flags+=(-Xswiftc -Xfrontend -Xswiftc "$option")
done
for map in "${maps[@]}"; do flags+=(-Xswiftc -file-prefix-map -Xswiftc "$map" -Xcc "-ffile-prefix-map=$map"); done
# The program resolves its symbols at its start, makes its tables read-only, and finds libraries where the system has them.
flags+=(-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now --disable-local-rpath)
# Remove the archive first: an update in place keeps the objects of deleted sources.
release=$build/swift/release
modules=$release/libbellwire-modules.a
rm -f "$modules"
echo "Building Bellwire (release) in $build; about five minutes the first time. Progress: tail -f $log"
run swift build --package-path "$root" --scratch-path "$build/swift" -c release "${flags[@]}" \
    --explicit-target-dependency-import-check error

# MARK: Link, unless nothing that goes in has changed

order=()
if [ -f "$here/order.txt" ]; then order=(--order "$here/order.txt"); fi
inputs=$(
    {
        cat "$modules" "$release/bellwire" "$root"/include/*.h "$here"/{build.sh,link.sh,archive.c,fork.c,older.c} \
            "$root/bindings/python/_build/inventory.py" \
            "$here"/*.pc.in "$here"/cmake/*.in ${order[@]+"$here/order.txt"}
        # Copied into what is linked: an update of one is a reason to link again.
        for library in libjansson.a libuv_a.a libstdc++.a; do cat "$(cc "-print-file-name=$library")"; done
        swiftc -print-target-info -static-stdlib
    } | sha256sum
)
if [ "$(cat "$build/inputs.sum" 2> /dev/null || true)" != "$inputs" ] || [ ! -e "$stage/lib/libbellwire.so.1" ]; then
    rm -f "$build/inputs.sum"
    echo "Linking"
    "$here/link.sh" --release "$release" --stage "$stage" ${order[@]+"${order[@]}"}
    echo "$inputs" > "$build/inputs.sum"
fi
# MARK: Manual pages and pages in Markdown, unless nothing that goes in has changed

date=$(sed -n 's/^ *private static let date = "\(.*\)"$/\1/p' "$root/Sources/Program/bellwire/Manual/ManualPage.swift")
[ -n "$date" ] || fail "ManualPage.swift has no date for the manual pages"
texts=$(
    {
        echo "$date"
        cat "$here"/{build.sh,manual.py,pages.py} "$root"/include/*.h "$root/README.md" "$root"/Sources/Library/CABI/Bellwire.docc/*
    } | sha256sum
)
if [ "$(cat "$build/texts.sum" 2> /dev/null || true)" != "$texts" ] || [ ! -e "$stage/share/doc/bellwire/README.md" ]; then
    rm -f "$build/texts.sum"
    run python3 "$here/manual.py" --include "$root/include" --date "$date" --output "$stage/share/man/man3"
    run python3 "$here/pages.py" --root "$root" --output "$stage/share/doc/bellwire"
    echo "$texts" > "$build/texts.sum"
fi
(cd "$stage" && stat -c '  %n: %s bytes' lib/libbellwire.so.1 lib/libbellwire.a bin/bellwire)

# MARK: Install

if [ -n "$prefix" ]; then
    "$here/install.sh" --stage "$stage" --prefix "$prefix"
else
    echo "Built in $stage"
fi
