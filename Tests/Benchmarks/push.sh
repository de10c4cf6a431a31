#!/usr/bin/env bash
# Measures the cost of a push between a desktop and a device, durable on both sides, over the C interface.
#
#   Tests/Benchmarks/push.sh [--short | --indexing ROWS | --sharing] [--json FILE]
#
#   --short           a small form for the test run, without bounds on time: every push must arrive once and in order,
#                     and a push alone may write no more than six pages in each of its commits
#   --indexing ROWS   only pushes beside the indexing of a history of so many rows, against pushes after it
#   --sharing         only what sharing the device costs, by turns with one that is not shared
#   --json FILE       also writes the numbers there
#
# Measures latency, rate, processor time, disk syncs and writes of relay, desktop and device in three processes, with 0,
# 10,000, 20,000 and 100,000 unread rows in the inbox, beside what the machine itself needs for a commit, a sync and a hop.
# $BELLWIRE_STAGE is the tree that bindings/c/build.sh made; default build/stage in the checkout. The databases are in
# a new directory under $TMPDIR (default /tmp): it should be on a disk, not in memory.
# Exit: 0 all bounds held; 1 a bound was missed; 2 a push was lost, repeated or out of order, or something could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=${BELLWIRE_STAGE:-$root/build/stage}
sources=$root/Tests/Benchmarks
"$root/Tests/prepare.sh" || exit 2
[ -e "$stage/lib/libbellwire.so" ] || { echo "no library in $stage: build it with bindings/c/build.sh" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Werror)
cc "${flags[@]}" -shared -fPIC -o "$work/counted.so" "$sources/Push/counted.c"
cc "${flags[@]}" -pthread -I"$stage/include" -o "$work/push" "$sources/push.c" "$sources/measure.c" \
    "$sources"/Push/{processes,loads,roles,floors}.c -L"$stage/lib" -Wl,-rpath,"$stage/lib" -lbellwire -lsqlite3

read -r load _ < /proc/loadavg
echo "$(nproc) cores, load $load, $(stat -c %s "$(realpath "$stage/lib/libbellwire.so")") bytes of library"
status=0
"$work/push" "$@" --work "$work" --counted "$work/counted.so" || status=$?
exit "$status"
