#!/usr/bin/env bash
# Builds Bellwire with its fail points and kills relay, desktops and device while they push, 10,000 times: every push
# once, in order, none lost. Takes a few minutes; asks nothing; can be run again.
#
#   Tests/Soak/crashes.sh [--pushes N] [--seed N] [...]      crashes.py --help has the options
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
swift build --product bellwire
exec python3 Tests/Soak/crashes.py "$@"
