#!/usr/bin/env bash
# Runs the benchmarks with their bounds, on a release build that it makes first. Asks no questions; can be run again.
# Takes about a quarter of an hour; the numbers are meaningful only on an idle machine.
#
#   Tests/benchmark.sh [--short] [relay] [push] [skill] [sessions] [alerts]
#
#   --short   small runs without bounds, which check that everything arrives once and in order
#   relay     the relay, compared with raw forwarding, and with mosquitto if it is installed
#   push      the cost of a push between a desktop and a device
#   skill     pages and searches of a long history, the offline queue, delivery to the program
#   sessions  handshakes and frames of the seal
#   alerts    alerts that wait: beside images that hang, after a denial, in their order
#
# Without names it runs all five. The comments at the top of the scripts in Tests/Benchmarks say what each measures.
# Exit: 0 all bounds held; 1 a bound was missed; 2 a message was lost, or something could not run.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
short=()
names=()
for argument in "$@"; do
    case $argument in
        --short) short=(--short) ;;
        relay | push | skill | sessions | alerts) names+=("$argument") ;;
        *)
            echo "Tests/benchmark.sh: unknown argument '$argument'; usage: Tests/benchmark.sh [--short] [relay] [push] [skill] [sessions] [alerts]" >&2
            exit 2
            ;;
    esac
done
[ ${#names[@]} -gt 0 ] || names=(relay push skill sessions alerts)

"$root/Tests/prepare.sh" --library || exit 2
worst=0
for name in "${names[@]}"; do
    echo "== $name"
    status=0
    "$root/Tests/Benchmarks/$name.sh" "${short[@]}" || status=$?
    if [ "$status" -gt "$worst" ]; then worst=$status; fi
done
exit "$worst"
