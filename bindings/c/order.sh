#!/usr/bin/env bash
# Records which functions a listening program calls, into order.txt beside this script. build.sh places them together in
# the shared library, so that the rest of it is not loaded into memory. Needs valgrind and the output of build.sh; build
# again afterwards. An outdated list only costs memory.
#
#   order.sh [--stage DIR]
#
#   --stage DIR   the tree that build.sh made (default: $BELLWIRE_STAGE, or build/stage in the checkout)
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
stage=${BELLWIRE_STAGE:-$root/build/stage}
if [ "${1:-}" = --stage ] && [ $# -eq 2 ]; then
    stage=$2
elif [ $# -gt 0 ]; then
    echo "usage: order.sh [--stage DIR]" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
profile=$work/profile
"$root/Tests/Benchmarks/memory.py" --stage "$stage" -- valgrind --tool=callgrind --compress-strings=no --demangle=no \
    "--callgrind-out-file=$profile" "--log-file=$work/log" > "$work/output" || { cat "$work/output" "$work/log" >&2; exit 1; }

# A function's costs follow the name of its library and its own; '2 and so on are its recursive calls.
awk '/^ob=/ { ours = /libbellwire/ } /^fn=/ && ours && !/^fn=0x/ { sub(/^fn=/, ""); sub(/\x27[0-9]+$/, ""); print }' "$profile" \
    | sort -u > "$work/order.txt"
count=$(wc -l < "$work/order.txt")
if [ "$count" -lt 1000 ]; then
    echo "order.sh: only $count functions were recorded; has the library its debug symbols in $stage/lib/.debug?" >&2
    exit 1
fi
mv "$work/order.txt" "$here/order.txt"
echo "$count functions are in $here/order.txt; build.sh takes them from there"
