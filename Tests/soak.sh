#!/usr/bin/env bash
# Runs the long tests: they kill programs at random, and nothing may be lost, duplicated or out of order. Builds what it
# needs first. Asks no questions; can be run again. Takes about ten minutes.
#
#   Tests/soak.sh [--seed N] [crashes] [queue] [alerts] [relays]
#
#   --seed N   seed that decides what is killed when (default: 1)
#   crashes    10,000 pushes while relay, desktops and device are killed, also at each fail point
#   queue      1,000 queued commands while relay, desktop and device are killed
#   alerts     1,000 pushes and 300 reminders while the device that shows them is killed
#   relays     1,000 pushes through each played deployed relay while they break; takes about half an hour
#
# Without names it runs the first three. The last line is "N passed, N failed"; the exit code is 0 if nothing failed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage="usage: Tests/soak.sh [--seed N] [crashes] [queue] [alerts] [relays]"
seed=1
names=()
while [ $# -gt 0 ]; do
    case $1 in
        --seed)
            [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "Tests/soak.sh: --seed takes a number; $usage" >&2; exit 2; }
            seed=$2
            shift
            ;;
        crashes | queue | alerts | relays) names+=("$1") ;;
        *)
            echo "Tests/soak.sh: unknown argument '$1'; $usage" >&2
            exit 2
            ;;
    esac
    shift
done
[ ${#names[@]} -gt 0 ] || names=(crashes queue alerts)

"$root/Tests/prepare.sh" --library || exit 2
python=$root/.build/venv/bin/python
passed=0
failed=0
for name in "${names[@]}"; do
    echo "== $name"
    case $name in
        crashes) command=("$root/Tests/Soak/crashes.sh") ;;
        relays)
            (cd "$root" && swift build --product bellwire) || exit 2
            command=("$python" "$root/Tests/Soak/relays.py")
            ;;
        queue | alerts) command=("$python" "$root/Tests/IntegrationTests/${name%s}_crashes.py") ;;
    esac
    if "${command[@]}" --seed "$seed"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name with seed $seed"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
