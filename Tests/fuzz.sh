#!/usr/bin/env bash
# Fuzzes the parsers and state machines with libFuzzer and AddressSanitizer, in a release build of its own (.build/fuzz).
# Asks no questions; can be run again. Each run continues with the inputs that earlier runs have found.
#
#   Tests/fuzz.sh [--seconds N] [--jobs N] [--keep] [--list] [TARGET…]
#
#   --seconds N   how long each target runs; default 20
#   --jobs N      how many targets run at a time; default 1
#   --keep        then replaces the kept inputs named found-… (Tests/Fuzz/Corpus) with a small set of the same coverage
#   --list        print the targets' names
#
# Without names it runs all targets. Prints one line for each: executions, covered edges, features, findings. A finding's
# input is saved, its path is printed, and the program's report is beside it. To repeat one:
#   .build/fuzz/release/fuzz TARGET FILE
# Exit: 0 no findings; 1 a target has a finding; 2 it could not run.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 2
seconds=20
jobs=1
keep=false
list=false
names=()
usage() {
    echo "Tests/fuzz.sh: $1; usage: Tests/fuzz.sh [--seconds N] [--jobs N] [--keep] [--list] [TARGET…]" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
        --seconds | --jobs)
            [[ ${2:-} =~ ^[1-9][0-9]{0,6}$ ]] || usage "$1 takes a number"
            if [ "$1" = --seconds ]; then seconds=$2; else jobs=$2; fi
            shift
            ;;
        --keep) keep=true ;;
        --list) list=true ;;
        -*) usage "unknown option '$1'" ;;
        *) names+=("$1") ;;
    esac
    shift
done

work=$root/.build/fuzz
program=$work/release/fuzz
mkdir -p "$work/findings"
# gold cannot link what libFuzzer's coverage makes of the code; the toolchain's own linker can.
if ! BELLWIRE_FUZZ=1 swift build --ignore-lock -c release --product fuzz --scratch-path "$work" --sanitize address \
    -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table \
    -Xswiftc -enable-testing -Xswiftc -use-ld=lld > "$work/build.log" 2>&1; then
    tail -n 40 "$work/build.log" >&2
    exit 2
fi

# A trap is reported by the sanitizer; the Swift runtime's own report would wait for a debugger.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_stack_use_after_return=0:handle_abort=1:abort_on_error=1
declare -A limits=()
all=()
while read -r name limit; do
    all+=("$name")
    limits[$name]=$limit
done < <("$program")
if $list; then
    printf '%s\n' "${all[@]}"
    exit 0
fi
[ ${#names[@]} -gt 0 ] || names=("${all[@]}")
for name in "${names[@]}"; do
    [ -n "${limits[$name]:-}" ] || usage "no target is named '$name'; see --list"
done

# fuzz TARGET: one line, and 1 if there is a finding.
fuzz() {
    local name=$1 kept=Tests/Fuzz/Corpus/$1 found=$work/corpus/$1 log=$work/findings/$1.log status=0
    local dictionary=Tests/Fuzz/Dictionaries/$1.dict options=()
    mkdir -p "$found" "$kept"
    case $name in
        frames | payload | push-service | pairing-texts | pairing-payloads | options | envelope | methods | method-results)
            dictionary=Tests/Fuzz/Dictionaries/wire.dict ;;
    esac
    if [ -f "$dictionary" ]; then options+=("-dict=$dictionary"); fi
    "$program" "$name" -max_total_time="$seconds" -max_len="${limits[$name]}" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$work/findings/$name-" "${options[@]}" "$found" "$kept" \
        > "$log" 2>&1 || status=$?
    local executions edges features
    executions=$(sed -nE 's/^stat::number_of_executed_units: +([0-9]+)$/\1/p' "$log" | tail -n 1)
    read -r edges features < <(sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+) .*/\1 \2/p' "$log" | tail -n 1)
    printf '%-18s %10s executions  %6s edges  %6s features  %s\n' "$name" "${executions:--}" "${edges:--}" \
        "${features:--}" "$([ "$status" -eq 0 ] && echo "no findings" || echo "FINDING")"
    [ "$status" -eq 0 ] && return 0
    grep -m 1 -E '^FINDING: |ERROR: |Fatal error' "$log" | sed 's/^/    /'
    sed -nE 's/.*Test unit written to (.*)$/    input: \1/p' "$log"
    echo "    report: ${log#"$root/"}"
    return 1
}

# minimise TARGET: of the kept inputs and those that were found as few as cover the same, at most 24. Those with a name stay.
minimise() {
    local name=$1 kept=Tests/Fuzz/Corpus/$1 small
    small=$(mktemp -d)
    "$program" "$name" -set_cover_merge=1 -max_len="${limits[$name]}" "$small" "$kept" "$work/corpus/$name" \
        > "$work/findings/$name.merge.log" 2>&1 || return 1
    rm -f "$kept"/found-*
    # Every size of input, from the smallest to the largest.
    find "$small" -type f -printf '%s %p\n' | sort -n | cut -d ' ' -f 2- \
        | awk '{ line[NR] = $0 } END { n = NR < 24 ? NR : 24; for (i = 0; i < n; i++) print line[int(i * NR / n) + 1] }' \
        | while read -r file; do cp "$file" "$kept/found-$(basename "$file" | cut -c 1-12)"; done
    rm -rf "$small"
}

failed=0
running=0
for name in "${names[@]}"; do
    if [ "$running" -ge "$jobs" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    fuzz "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
if $keep && [ "$failed" -eq 0 ]; then
    for name in "${names[@]}"; do minimise "$name" || failed=2; done
fi
exit "$failed"
