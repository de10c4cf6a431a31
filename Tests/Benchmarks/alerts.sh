#!/usr/bin/env bash
# Measures waiting alerts, on a release build, over the C interface.
#
#   Tests/Benchmarks/alerts.sh [--short]
#
#   --short   prints the times without bounds
#
# Measures how soon an urgent push and a reminder are shown beside 200 pushes whose images hang (0.3 s), how soon a denial
# counts for alerts that wait (50 ms), and whether 1,000 alerts that waited come in their order.
# $BELLWIRE_BUILD is where bindings/c/build.sh built; default build/ in the checkout.
# Exit: 0 all bounds held; 1 a bound was missed; 2 something was lost or could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BELLWIRE_BUILD:-$root/build}
"$root/Tests/prepare.sh" || exit 2
status=0
BELLWIRE_STAGE=${BELLWIRE_STAGE:-$build/stage} "$root/.build/venv/bin/python" "$root/Tests/Benchmarks/alerts.py" "$@" ||
    status=$?
exit "$status"
