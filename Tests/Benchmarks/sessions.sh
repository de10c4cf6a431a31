#!/usr/bin/env bash
# Measures the processor time of encrypted sessions, on a release build.
#
#   Tests/Benchmarks/sessions.sh [--short]
#
#   --short   a small form without bounds, for the test run: it checks that every frame opens once
#
# Measures a handshake, both sides together (bound: 1 ms), and sealing and opening 400 bytes (bound: 3 µs each).
# $BELLWIRE_BUILD is where bindings/c/build.sh built; default build/ in the checkout.
# Exit: 0 all bounds held; 1 a bound was missed; 2 a frame was lost, or something could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=${BELLWIRE_BUILD:-$root/build}/swift/release/sessions
[ -x "$program" ] || { echo "no program at $program: build it with bindings/c/build.sh" >&2; exit 2; }
status=0
"$program" "$@" || status=$?
if [ "$status" -eq 1 ]; then echo "a bound was missed"; fi
exit "$status"
