#!/usr/bin/env bash
# Builds Bellwire with its fail points, pushes 10,000 times, and kills relay, desktops and device meanwhile: every push
# arrives once and in order. Takes a few minutes; asks nothing; can be run again. Tests/soak.sh runs it with the others.
#
#   Tests/Soak/crashes.sh [--pushes N] [--seed N] [...]      crashes.py --help has the options
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
Tests/prepare.sh
swift build --product bellwire
exec .build/venv/bin/python Tests/Soak/crashes.py "$@"
