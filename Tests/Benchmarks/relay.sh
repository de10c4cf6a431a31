#!/usr/bin/env bash
# Compares the relay with raw forwarding, with mosquitto and with nats-server, side by side in one run.
#
#   Tests/Benchmarks/relay.sh [--short] [PROGRAM]
#
#   --short   a small form without bounds, for the test run: it checks that every message arrives once and in order
#   PROGRAM   a release build of bellwire; default $BELLWIRE, or what bindings/c/build.sh makes
#
# Load/load.c generates the load. Load/forward.c forwards the same messages without reading them: it is the bound.
# mosquitto and nats-server take part if they are installed; two relays that work together need nats-server.
# Exit: 0 all bounds held; 1 a bound was missed; 2 a message was lost, repeated, out of order or altered, or something could
# not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
sources=$root/Tests/Benchmarks
short=
if [ "${1:-}" = --short ]; then
    short=--short
    shift
fi
program=${1:-${BELLWIRE:-${BELLWIRE_STAGE:-$root/build/stage}/bin/bellwire}}
"$root/Tests/prepare.sh" || exit 2
[ -x "$program" ] || { echo "no program at $program: build it with bindings/c/build.sh" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Werror)
cc "${flags[@]}" -o "$work/load" "$sources/measure.c" \
    "$sources"/Load/{load,runs,stored,beside,peers,tls,message,identity,websocket,raw,mqtt,nats}.c \
    -lsodium -lssl -lcrypto
cc "${flags[@]}" -o "$work/ping" "$sources/measure.c" "$sources/Load/ping.c"
cc "${flags[@]}" -o "$work/forward" "$sources/measure.c" "$sources/Load/forward.c"
status=0
"$root/.build/venv/bin/python" "$sources/relay.py" $short \
    --program "$program" --load "$work/load" --forward "$work/forward" --ping "$work/ping" --work "$work" || status=$?
exit "$status"
