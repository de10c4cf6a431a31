#!/usr/bin/env bash
# Tests both libraries as a user gets them: what they export, how they link, and what their functions do.
#
#   Tests/ABI/run.sh --stage DIR [--filter REGEX]
#
#   --stage DIR      the tree that bindings/c/build.sh made
#   --filter REGEX   only the parts and programs whose names match: layout, structure, header, consumers, clash, plugin,
#                    memory, damage, failures, complaints, library, …
#
# Prints a line for each failure ("FAIL…"), and at last "N passed, N failed".
set -uo pipefail
shopt -s inherit_errexit
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
stage=$root/build/stage
filter=.
while [ $# -gt 1 ]; do
    case $1 in
        --stage) stage=$(cd "$2" && pwd) || exit 2 ;;
        --filter) filter=$2 ;;
        *) break ;;
    esac
    shift 2
done
if [ $# -gt 0 ]; then
    echo "usage: Tests/ABI/run.sh --stage DIR [--filter REGEX]" >&2
    exit 2
fi

[ -e "$stage/lib/libbellwire.so.1" ] || { echo "no library in $stage: build it with bindings/c/build.sh" >&2; exit 2; }

# The compilers of Debian; clang by its version, for that of a Swift toolchain may come first.
gcc=gcc gxx=g++ clang=clang-14 clangxx=clang++-14
warnings=(-Wall -Wextra -Wpedantic -Werror)

work=$(mktemp -d "${TMPDIR:-/tmp}/bellwire-abi-tests-XXXXXX")
trap 'rm -rf "$work"' EXIT

# A locale with a decimal comma, for the program that asks for it by its name.
mkdir "$work/locale"
localedef -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" > /dev/null
export LOCPATH=$work/locale

# What links and runs below has no Swift on its path (unless it lives among the system's programs).
full_path=$PATH
bare_path=""
IFS=: read -ra directories <<< "$PATH"
for directory in "${directories[@]}"; do
    case $directory in /usr/bin | /bin | /usr/sbin | /sbin) ;; *) [ ! -e "$directory/swiftc" ] || continue ;; esac
    bare_path+=${bare_path:+:}$directory
done
export PATH=$bare_path

passed=0
failed=0

ok() {
    passed=$((passed + 1))
    echo "ok    $1"
}

# bad NAME < FOUND: with what was found. Not at the end of a pipe: a subshell's count would be lost.
bad() {
    failed=$((failed + 1))
    echo "FAIL  $1"
    sed 's/^/        /' | head -n 60
}

# same NAME ACTUAL EXPECTED: texts that are equal
same() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        bad "$1" < <(diff <(echo "$3") <(echo "$2") | sed 's/^</expected:/; s/^>/found:   /')
    fi
}

# works NAME COMMAND…: a command that ends with 0
works() {
    local name=$1
    shift
    if "$@" > "$work/output" 2>&1; then ok "$name"; else bad "$name" < "$work/output"; fi
}

# gives NAME TEXT COMMAND…: a command that prints a text and ends with 0
gives() {
    local name=$1 text=$2 status
    shift 2
    "$@" > "$work/output" 2>&1
    status=$?
    if [ "$status" -eq 0 ] && [ "$(cat "$work/output")" = "$text" ]; then
        ok "$name"
    else
        echo "status $status; expected: $text" >> "$work/output"
        bad "$name" < "$work/output"
    fi
}

# shellcheck source=layout.sh
. "$here/layout.sh"
# shellcheck source=consumers.sh
. "$here/consumers.sh"
# shellcheck source=clash.sh
. "$here/clash.sh"
# shellcheck source=plugin.sh
. "$here/plugin.sh"
# shellcheck source=programs.sh
. "$here/programs.sh"
# shellcheck source=memory.sh
. "$here/memory.sh"

# Two at once: what mostly compiles, waits and forks, and the programs.
# shellcheck disable=SC2030,SC2031 # the first have counters of their own
{
    passed=0 failed=0
    for part in layout structure header consumers clash plugin memory damage failures; do
        if [[ $part =~ $filter ]]; then "test_$part"; fi
    done
    echo "$passed $failed" > "$work/parts.count"
} > "$work/parts.log" 2>&1 &
parts=$!
# shellcheck disable=SC2031
test_programs
wait "$parts"
cat "$work/parts.log"
read -r good bad < "$work/parts.count" || { good=0 bad=1; echo "FAIL  the parts left no count"; }
# shellcheck disable=SC2031
passed=$((passed + good)) failed=$((failed + bad))

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
