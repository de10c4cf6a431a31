#!/usr/bin/env bash
# The relay against what a user would pick instead, side by side in one run.
#
#   Tests/Benchmarks/relay.sh [--short] [PROGRAM]
#
# PROGRAM (or $BELLWIRE) is a release build of bellwire; default what bindings/c/build.sh makes. The load generator and the
# bound of raw forwarding come from ../shared/bench beside the checkout ($BENCH_SOURCES overrides). mosquitto is used
# when it is there. Exit: 0 all bounds held; 1 a bound was missed; 2 something could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
short=
if [ "${1:-}" = --short ]; then
    short=--short
    shift
fi
program=${1:-${BELLWIRE:-$root/build/stage/bin/bellwire}}
sources=${BENCH_SOURCES:-$root/../shared/bench}
[ -x "$program" ] || { echo "no program at $program: build it with bindings/c/build.sh" >&2; exit 2; }
[ -f "$sources/relayload.c" ] || { echo "no load generator at $sources" >&2; exit 2; }

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cc -O2 -pthread -o "$build/relayload" "$sources/relayload.c"
cc -O2 -o "$build/rawforward" "$sources/rawforward.c"
exec_status=0
python3 "$root/Tests/Benchmarks/relay.py" $short \
    --program "$program" --load "$build/relayload" --raw "$build/rawforward" --work "$build" || exec_status=$?
exit "$exec_status"
