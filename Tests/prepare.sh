#!/usr/bin/env bash
# Installs what the tests and benchmarks need: Debian packages, and Python packages into .build/venv. Every script under
# Tests that needs them calls it. It asks no questions, can be run again, and lists what it installs.
#
#   Tests/prepare.sh [--library]
#
#   --library   also builds the library in build/, unless $BELLWIRE_STAGE names another
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

library=false
case $*: in
    :) ;;
    --library:) library=true ;;
    *)
        echo "Tests/prepare.sh: unknown option '$*'; usage: Tests/prepare.sh [--library]" >&2
        exit 2
        ;;
esac

mkdir -p .build
exec 9> .build/prepare.lock
flock 9 # of two at once, the second waits and then finds everything there

# What a package starts must not keep the lock.
bindings/c/packages.sh --tests 9>&-

# Nothing is installed into the system's Python.
requirements=(Tests/Integration/requirements.txt Tests/Python/requirements.txt)
venv=$root/.build/venv
if ! cmp -s <(cat "${requirements[@]}") "$venv/installed" || ! "$venv/bin/python" -c ""; then
    echo "Installing into .build/venv what ${requirements[*]} name"
    options=()
    for file in "${requirements[@]}"; do options+=(--requirement "$file"); done
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    rm -rf "$venv"
    if ! { timeout 300 python3 -m venv "$venv" \
        && timeout 600 "$venv/bin/python" -m pip --disable-pip-version-check install --quiet "${options[@]}"; } > "$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "Tests/prepare.sh: cannot install Python's packages; the last lines of the output are above" >&2
        exit 1
    fi
    cat "${requirements[@]}" > "$venv/installed"
fi

if $library && [ -z "${BELLWIRE_STAGE:-}" ]; then bindings/c/build.sh; fi
