#!/usr/bin/env bash
# Measures the notification methods with a long history, on a release build, over the C interface.
#
#   Tests/Benchmarks/skill.sh [--short]
#
#   --short   a small form without bounds, for the test run: it checks what arrives and what is found
#
# Measures pages and searches of a history of 1,000,000 rows (--short: 10,000), the draining of a queue of 100 commands,
# and what a push costs between the socket's text and the host's event (Handover), against what jansson takes to parse it
# (Parse). push.sh measures whole pushes.
# $BELLWIRE_BUILD is where bindings/c/build.sh built; default build/ in the checkout.
# Exit: 0 all bounds held; 1 a bound was missed; 2 something was lost or could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
sources=$root/Tests/Benchmarks
build=${BELLWIRE_BUILD:-$root/build}
handover=$build/swift/release/handover
"$root/Tests/prepare.sh" || exit 2
[ -x "$handover" ] || { echo "no program at $handover: build it with bindings/c/build.sh" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Werror -o "$work/parse" "$sources/measure.c" \
    "$sources"/Parse/{parse,recent}.c -ljansson
status=0
BELLWIRE_STAGE=${BELLWIRE_STAGE:-$build/stage} "$root/.build/venv/bin/python" "$sources/skill.py" "$@" \
    --handover "$handover" --parse "$work/parse" --work "$work" || status=$?
exit "$status"
