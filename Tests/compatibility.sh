#!/usr/bin/env bash
# Pairs the programs of an earlier commit with those of this checkout, in each flow and with each on either side, then
# updates them in place (Tests/Soak/compatibility.py). Builds both first; takes about ten minutes.
#
#   Tests/compatibility.sh [COMMIT]
#
#   COMMIT   the earlier one (default: b4e4d74, the last one without sessions)
#
# The last line is "N passed, N failed"; the exit code is 0 if nothing failed.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -le 1 ] || { echo "usage: Tests/compatibility.sh [COMMIT]" >&2; exit 2; }
commit=$(git -C "$root" rev-parse --verify --quiet "${1:-b4e4d74}^{commit}") \
    || { echo "Tests/compatibility.sh: no commit ${1:-b4e4d74} in this clone" >&2; exit 2; }
"$root/Tests/prepare.sh" --library || exit 2

old=$root/.build/compatibility/$commit
if [ ! -x "$old/build/stage/bin/bellwire" ]; then
    rm -rf "$old"
    mkdir -p "$old"
    git -C "$root" archive "$commit" | tar -x -C "$old"
    "$old/bindings/c/build.sh"
fi
exec "$root/.build/venv/bin/python" "$root/Tests/Soak/compatibility.py" \
    "$old/build/stage/bin/bellwire" "$root/build/stage/bin/bellwire"
