#!/usr/bin/env bash
# Builds the same commit twice, in two directories with names of different lengths, and compares the results byte by byte.
# Takes the time of two release builds, and needs a checkout without uncommitted changes.
#
#   Tests/reproducible.sh
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -gt 0 ]; then
    echo "usage: Tests/reproducible.sh" >&2
    exit 2
fi
if [ -n "$(git -C "$root" status --porcelain)" ]; then
    echo "reproducible.sh: there are changes that are not committed; the last commit is built, without them" >&2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trees=("$work/one" "$work/another, with a longer name")
for tree in "${trees[@]}"; do
    git clone --quiet "$root" "$tree"
    "$tree/bindings/c/build.sh" > "$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
done

different=0
for file in lib/libbellwire.so.1 lib/.debug/libbellwire.so.1.debug lib/libbellwire.a bin/bellwire; do
    mapfile -t sums < <(for tree in "${trees[@]}"; do sha256sum < "$tree/build/stage/$file"; done)
    if [ "${sums[0]}" = "${sums[1]}" ]; then
        echo "same       $file  ${sums[0]%% *}"
    else
        echo "different  $file  ${sums[0]%% *} ${sums[1]%% *}"
        different=1
    fi
done
exit "$different"
