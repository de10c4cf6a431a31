#!/usr/bin/env bash
# The notification skill at size, on a release build, over the C interface.
#
#   Tests/Benchmarks/skill.sh [--short]
#
# Measures pages and searches of a history of 1,000,000 rows (--short: 50,000), the draining of a queue of 100 commands,
# and what a push costs between the socket's text and the host's event, against what jansson takes to parse it
# (../shared/bench/parsebound.c beside the checkout; $BENCH_SOURCES overrides). push.sh measures whole pushes.
# $BELLWIRE_BUILD is where bindings/c/build.sh built; default build/ in the checkout.
# Exit: 0 all bounds held; 1 a bound was missed; 2 something could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BELLWIRE_BUILD:-$root/build}
sources=${BENCH_SOURCES:-$root/../shared/bench}
handover=$build/swift/release/handover
[ -x "$handover" ] || { echo "no program at $handover: build it with bindings/c/build.sh" >&2; exit 2; }
[ -f "$sources/parsebound.c" ] || { echo "no parser's bound at $sources" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/parsebound" "$sources/parsebound.c" -ljansson
status=0
BELLWIRE_STAGE=${BELLWIRE_STAGE:-$build/stage} python3 "$root/Tests/Benchmarks/skill.py" "$@" \
    --handover "$handover" --parse "$work/parsebound" --work "$work" || status=$?
exit "$status"
