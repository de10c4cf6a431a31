#!/usr/bin/env bash
# Runs the Swift tests with sanitizers, in a debug build of their own for each (.build/sanitize-NAME). Asks no questions;
# can be run again. A build takes about ten minutes on two cores.
#
#   Tests/sanitize.sh [--filter REGEX] [--jobs N] [address] [thread]
#
#   --filter REGEX   only the tests whose names match
#   --jobs N         how many compilers run at a time (default: as many as there are processors)
#   address          AddressSanitizer with LeakSanitizer; C code is checked by UndefinedBehaviorSanitizer as well, Swift
#                    makes such checks by itself in every build
#   thread           ThreadSanitizer
#
# Without names it runs with address. Each report fails the run. Tests/Support/Sanitizers has the suppressions, each with its
# reason. The full outputs and reports are in .build/sanitize. The last line is "N passed, N failed", where pure tests and
# socket tests count as one each.
set -uo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 2
exec < /dev/null

filter="" jobs=$(nproc) names=()
usage() {
    echo "Tests/sanitize.sh: $1; usage: Tests/sanitize.sh [--filter REGEX] [--jobs N] [address] [thread]" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
        --filter | --jobs)
            [ -n "${2:-}" ] || usage "$1 needs a value"
            if [ "$1" = --filter ]; then filter=$2; else jobs=$2; fi
            shift
            ;;
        address | thread) names+=("$1") ;;
        *) usage "unknown option '$1'" ;;
    esac
    shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || usage "--jobs takes a number"
[ ${#names[@]} -gt 0 ] || names=(address)

logs=$root/.build/sanitize
mkdir -p "$logs"
suppressions=$root/Tests/Support/Sanitizers
# As in Tests/run.sh: these share the process's event loop and SQLite thread.
one_at_a_time='^(Transport|NATS|Signalling|Peering|HTTPClient|SystemServices|Relay|DeviceAlerts|Device|Desktop|CABI)Tests\.'
# How reports begin.
reported='(ERROR|WARNING): (Address|Leak|Thread)Sanitizer|runtime error: '

export SWIFT_BACKTRACE=enable=no
# Reports go to files of their own: what the tests start may close its standard error.
export ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=1:log_exe_name=1
export LSAN_OPTIONS=suppressions=$suppressions/leaks.txt:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=0
# The tests decide the exit code; a report counts by itself.
export TSAN_OPTIONS=suppressions=$suppressions/threads.txt:print_suppressions=0:exitcode=0:history_size=4

passed=0 failed=0

# result NAME LOG BEGIN STATUS: one line, and the reports if there are any.
result() {
    local name=$1 log=$2 begin=$3 status=$4 reports
    reports=$(cat "$log" "$log".report.* 2> /dev/null | grep -cE "$reported")
    if [ "$status" -eq 0 ] && [ "$reports" -eq 0 ]; then
        passed=$((passed + 1))
        printf '%-16s passed  (%d s)\n' "$name" $((SECONDS - begin))
        return
    fi
    failed=$((failed + 1))
    printf '%-16s FAILED  (%d s): status %d, %d reports; all of it is in %s\n' "$name" $((SECONDS - begin)) "$status" \
        "$reports" "${log#"$root/"}"
    cat "$log" "$log".report.* 2> /dev/null | grep -E "$reported|recorded an issue|SUMMARY: " | sort | uniq -c | sort -rn \
        | head -n 20 | sed 's/^/    /'
}

# tests NAME OPTION…
tests() {
    local name=$1 log=$logs/$1.log begin=$SECONDS status=0 option
    shift
    rm -f "$log" "$log".report.*
    for option in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        declare -x "$option=${!option%%:log_path=*}:log_path=$log.report"
    done
    timeout --kill-after=20 "$limit" env ${preloaded:+"LD_PRELOAD=$preloaded"} swift test --skip-build --ignore-lock \
        "${flags[@]}" --disable-xctest "$@" > "$log" 2>&1 || status=$?
    result "$name" "$log" "$begin" "$status"
}

# Builds mutexes.so, and makes sure that with it a contended Mutex isn't reported and a race is.
controlled() {
    # The compiler of the toolchain knows Swift's calls.
    "$(dirname "$(readlink -f "$(command -v swift)")")/clang" -O1 -g -Wall -Wextra -D_GNU_SOURCE -fPIC -shared \
        "$suppressions/mutexes.c" -o "$preloaded" || return 1
    swiftc -swift-version 6 -parse-as-library -sanitize=thread "$suppressions/control.swift" -o "$logs/control" || return 1
    local status=0
    TSAN_OPTIONS=exitcode=66 LD_PRELOAD=$preloaded timeout 120 "$logs/control" || return 1
    TSAN_OPTIONS=exitcode=66 LD_PRELOAD=$preloaded timeout 120 "$logs/control" race || status=$?
    [ "$status" -eq 66 ]
}

# all NAME: builds with a sanitizer, and runs the tests.
all() {
    local name=$1 begin=$SECONDS
    flags=(--sanitize "$name" --scratch-path "$root/.build/sanitize-$name") preloaded="" limit=3000
    case $name in
        address) flags+=(-Xcc -fsanitize=undefined) ;;
        thread)
            preloaded=$logs/mutexes.so limit=6000
            if ! controlled > "$logs/control.log" 2>&1; then
                result thread-control "$logs/control.log" "$begin" 1
                return
            fi
            ;;
    esac
    if ! swift build --build-tests --ignore-lock --jobs "$jobs" "${flags[@]}" > "$logs/$name-build.log" 2>&1; then
        result "$name-build" "$logs/$name-build.log" "$begin" 1
        tail -n 20 "$logs/$name-build.log" | sed 's/^/    /'
    elif [ -n "$filter" ]; then
        tests "$name" --no-parallel --filter "$filter"
    else
        tests "$name-pure" --parallel --skip "$one_at_a_time"
        tests "$name-sockets" --no-parallel --filter "$one_at_a_time"
    fi
}

for name in "${names[@]}"; do all "$name"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
