#!/usr/bin/env bash
# Runs the long tests: they kill programs at random, and nothing may be lost, duplicated or out of order. Builds what it
# needs first. Asks no questions; can be run again. Takes about ten minutes.
#
#   Tests/soak.sh [--seed N] [crashes] [queue] [alerts] [store] [relays] [damage] [failures] [chaos] [privacy]
#     [sharing] [cluster] [steps] [power]
#
#   --seed N   seed that decides what is killed when (default: 1)
#   crashes    10,000 pushes while relay, desktops and device are killed, also at each fail point
#   queue      1,000 queued commands while relay, desktop and device are killed
#   alerts     1,000 pushes and 300 reminders while the device that shows them is killed
#   store      100 kills of a relay that stores frames
#   relays     1,000 pushes through a simulation of each deployed relay while it breaks; takes about half an hour
#   damage     each page of both databases, logs and copies is flipped, zeroed or cut off; takes about 15 minutes
#   failures   each call of pwrite, fdatasync, open, socket and pthread_create fails once; takes about half an hour
#   chaos      20 pushes a second for 20 minutes through connections that are cut inside frames, delayed and half-open;
#              memory, descriptors and threads stay flat, and are drawn into .build/tests/soak.svg. For hours:
#              Tests/Soak/chaos.py --seconds 14400 --curve FILE
#   privacy    1,000 samples of each answer of a relay that must not tell whether an id is there, compared in time; takes
#              ten minutes
#   sharing    10,000 pushes to four programs with one device, which are killed at random; 100 takeovers are measured
#   cluster    10,000 pushes over three relays that work together over three NATS servers, all killed at random
#   steps      a relay is killed before and within each step of what it does for its peers, alone and in a cluster
#   power      a relay starts on each of more than 1,000 disks as a loss of power leaves them
#
# Without names it runs the first four. The last line is "N passed, N failed"; the exit code is 0 if nothing failed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage="usage: Tests/soak.sh [--seed N] [crashes] [queue] [alerts] [store] [relays] [damage] [failures] [chaos] [privacy] [sharing] [cluster] [steps] [power]"
seed=1
names=()
while [ $# -gt 0 ]; do
    case $1 in
        --seed)
            [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "Tests/soak.sh: --seed takes a number; $usage" >&2; exit 2; }
            seed=$2
            shift
            ;;
        crashes | queue | alerts | store | relays | damage | failures | chaos | privacy | sharing | cluster | steps | power)
            names+=("$1")
            ;;
        *)
            echo "Tests/soak.sh: unknown argument '$1'; $usage" >&2
            exit 2
            ;;
    esac
    shift
done
[ ${#names[@]} -gt 0 ] || names=(crashes queue alerts store)

"$root/Tests/prepare.sh" --library || exit 2
python=$root/.build/venv/bin/python

# four_parts PROGRAM OPTION…: the program four times at once, each with every fourth of its cases.
four_parts() {
    local first status=0 parts=()
    for first in 1 2 3 4; do
        "$@" --every 4 --first "$first" > "$root/.build/tests/part$first.log" 2>&1 &
        parts+=($!)
    done
    for first in 1 2 3 4; do
        wait "${parts[first - 1]}" || status=1
        grep -v '^ok ' "$root/.build/tests/part$first.log"
    done
    return "$status"
}

passed=0
failed=0
for name in "${names[@]}"; do
    echo "== $name"
    case $name in
        crashes | store) command=("$root/Tests/Soak/$name.sh") ;;
        relays)
            (cd "$root" && swift build --product bellwire) || exit 2
            command=("$python" "$root/Tests/Soak/relays.py")
            ;;
        sharing)
            mkdir -p "$root/.build/tests"
            cc -std=c99 -g -O1 -D_GNU_SOURCE -pthread -I"$root/build/stage/include" "$root/Tests/ABI/sharing.c" \
                -L"$root/build/stage/lib" -lbellwire -ljansson "-Wl,-rpath,$root/build/stage/lib" \
                -o "$root/.build/tests/sharing" || exit 2
            "$root/.build/tests/sharing" --measure 100 || exit 2
            command=(env SHARING_PUSHES=10000 SHARING_SEED="$seed" "$root/.build/tests/sharing"
                programs_killed_at_random)
            ;;
        damage | failures)
            mkdir -p "$root/.build/tests"
            cc -std=c99 -g -O1 -D_GNU_SOURCE -pthread -I"$root/build/stage/include" "$root/Tests/ABI/$name.c" \
                -L"$root/build/stage/lib" -lbellwire -ljansson -ldl -rdynamic "-Wl,-rpath,$root/build/stage/lib" \
                -o "$root/.build/tests/$name" || exit 2
            command=("$root/.build/tests/$name" --every 1)
            if [ "$name" = failures ]; then command=(four_parts "$root/.build/tests/$name"); fi
            ;;
        chaos)
            mkdir -p "$root/.build/tests"
            command=("$python" "$root/Tests/Soak/chaos.py" --seconds 1200 --curve "$root/.build/tests/soak.svg")
            ;;
        cluster) command=("$root/Tests/Soak/crashes.sh" --relays 3) ;;
        privacy) command=("$python" "$root/Tests/Soak/privacy.py") ;;
        steps | power)
            files=("$root"/Tests/Integration/test_{relay,cluster}_steps.py)
            if [ "$name" = power ]; then files=("$root/Tests/Integration/test_relay_power_loss.py"); fi
            command=(env BELLWIRE_ALL_STEPS=1 "$python" -m pytest -q -s -p no:cacheprovider "${files[@]}")
            ;;
        queue | alerts) command=("$python" "$root/Tests/Integration/${name%s}_crashes.py") ;;
    esac
    # Nothing of these is random, or it has its seed already.
    [[ $name == @(damage|failures|sharing|steps|power) ]] || command+=(--seed "$seed")
    if "${command[@]}"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name with seed $seed"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
