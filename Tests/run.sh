#!/usr/bin/env bash
# Installs missing packages and runs all tests. Needs Swift 6.3 on the PATH; asks no questions; can be run again.
#
#   Tests/run.sh [--filter REGEX]
#
#   --filter REGEX   only the Swift, ABI and integration tests whose names match; no lint, benchmarks or examples
#
# The last line is "N passed, N failed"; the exit code is 0 if nothing failed. The full outputs are in .build/tests.
# shellcheck disable=SC2317 # beside calls functions by their names
set -uo pipefail
export LC_ALL=C.UTF-8 PYTHONUNBUFFERED=1

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
exec < /dev/null

filter=""
while [ $# -gt 0 ]; do
    case $1 in
        --filter)
            [ -n "${2:-}" ] || { echo "Tests/run.sh: --filter takes a regular expression" >&2; exit 2; }
            filter=$2
            shift 2
            ;;
        *)
            echo "Tests/run.sh: unknown option '$1'; usage: Tests/run.sh [--filter REGEX]" >&2
            exit 2
            ;;
    esac
done

# Swift's and pip's caches go to the home directory; a build account may have none.
if [ ! -w "${HOME:-/nonexistent}" ]; then
    export HOME=$root/.build/home XDG_CACHE_HOME=$root/.build/home/.cache
    mkdir -p "$XDG_CACHE_HOME"
fi

logs=$root/.build/tests
rm -rf "$logs"
mkdir -p "$logs/running"
passed=0
failed=0
started=$SECONDS

# MARK: Counting

# result NAME PASSED FAILED SECONDS: adds a suite's count to the sum, and prints it with the seconds and, in brackets, the
# processor time of the suite's processes.
result() {
    local cpu=""
    passed=$((passed + $2))
    failed=$((failed + $3))
    if [ -s "$logs/$1.cpu" ]; then cpu=" [$(awk '{printf "%d", $1 + $2}' "$logs/$1.cpu")]"; fi
    printf '%-28s %4d passed, %d failed  (%d s%s)\n' "$1" "$2" "$3" "$4" "$cpu"
}

# Runs a command with its output in the suite's log. A suite that hangs is ended, and has failed.
logged() {
    local log=$logs/$1.log limit=$2 mark=$logs/running/$1 status
    shift 2
    date +%s > "$mark"
    # What runs beside others starts with Ctrl-C ignored, which its tests must not inherit.
    local TIMEFORMAT='%U %S'
    { time timeout --kill-after=20 "$limit" env --default-signal=INT,QUIT,PIPE "$@" > "$log" 2>&1; } 2> "${log%.log}.cpu"
    status=$?
    rm -f "$mark"
    return "$status"
}

indented() {
    sed 's/^/    /'
}

# Prints what failed, and keeps the lines that name it for the end of the run.
noted() {
    local text
    text=$(cat)
    grep '^FAIL' <<< "$text" >> "$logs/failed"
    indented <<< "$text"
}

# check NAME LIMIT COMMAND…: one test, passed when the command ends with 0.
check() {
    local name=$1 limit=$2 begin=$SECONDS status
    shift 2
    logged "$name" "$limit" "$@"
    status=$?
    if [ "$status" -eq 0 ]; then
        result "$name" 1 0 $((SECONDS - begin))
        if [[ $name == *-benchmarks ]]; then indented < "$logs/$name.log"; fi
        return 0
    fi
    result "$name" 0 1 $((SECONDS - begin))
    tail -n 40 "$logs/$name.log" | indented
    echo "FAILED: $name ended with status $status" | noted
    return 1
}

# counted NAME LIMIT COMMAND…: a suite that prints "FAIL…" lines and ends with "N passed, N failed".
counted() {
    local name=$1 limit=$2 begin=$SECONDS status good bad
    shift 2
    logged "$name" "$limit" "$@"
    status=$?
    read -r good bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$logs/$name.log" | tail -n 1)
    settle "$name" "$status" "${good:-}" "${bad:-}" "$begin"
    if [ "${bad:-1}" -gt 0 ]; then grep -A 12 '^FAIL' "$logs/$name.log" | head -n 200 | noted; fi
}

# reported NAME LIMIT COMMAND…: a suite that writes the JUnit report $logs/NAME.xml, as Swift Testing and pytest do.
reported() {
    local name=$1 limit=$2 begin=$SECONDS status good bad
    shift 2
    logged "$name" "$limit" "$@"
    status=$?
    # pytest's word for a filter that no test of it matches.
    if [ -n "$filter" ] && [ "$status" -eq 5 ]; then status=0; fi
    read -r good bad < <(python3 - "$logs/$name" <<'PYTHON'
import glob, sys, xml.etree.ElementTree as tree

good = bad = 0
with open(sys.argv[1] + ".failures", "w", encoding="utf-8") as out, \
     open(sys.argv[1] + ".measured", "w", encoding="utf-8") as measured:
    # Swift puts "-swift-testing" into the name when XCTest reports as well.
    reports = glob.glob(glob.escape(sys.argv[1]) + "*.xml")
    for case in (case for report in reports for case in tree.parse(report).iter("testcase")):
        name = f'{case.get("classname")} {case.get("name")}'
        for fact in case.iter("property"):
            print(f'measured: {fact.get("name")} {fact.get("value")}', file=measured)
        faults = case.findall("failure") + case.findall("error")
        skipped = case.find("skipped")
        if faults:
            bad += 1
            print("FAILED:", name, file=out)
            for fault in faults:
                print(fault.text or fault.get("message") or "", file=out)
        elif skipped is not None:
            print("skipped:", name, skipped.get("message") or skipped.text or "", file=out)
        else:
            good += 1
if reports:
    print(good, bad)
PYTHON
    )
    settle "$name" "$status" "${good:-}" "${bad:-}" "$begin"
    if [ -s "$logs/$name.failures" ]; then head -n 300 "$logs/$name.failures" | noted; fi
    if [ -s "$logs/$name.measured" ]; then indented < "$logs/$name.measured"; fi
}

# settle NAME STATUS PASSED FAILED BEGIN: without a count, or with a bad end that no failed test explains, the suite
# itself has failed.
settle() {
    local good=${3:-0} bad=${4:-0}
    if [ -z "$3" ] || { [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        result "$1" "$good" $((bad + 1)) $((SECONDS - $5))
        tail -n 60 "$logs/$1.log" | indented
        echo "FAILED: $1 ended with status $2 $([ -n "$3" ] || echo "and no count")" | noted
    else
        result "$1" "$good" "$bad" $((SECONDS - $5))
    fi
}

# beside KIND NAME LIMIT COMMAND…: a suite (check, counted or reported) that runs while others do. joined NAME waits for
# it, prints what it printed, adds its count to the sum, and fails when something in it has failed.
declare -A running=()
beside() {
    apart "$@" > "$logs/$2.said" 2>&1 &
    running[$2]=$!
}

apart() {
    local passed=0 failed=0
    "$@"
    echo "$passed $failed" > "$logs/$2.count"
}

joined() {
    local good="" bad=""
    wait "${running[$1]}"
    cat "$logs/$1.said"
    read -r good bad < "$logs/$1.count" || echo "FAILED: $1 left no count" | noted
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-1}))
    [ "${bad:-1}" -eq 0 ]
}

# begun NAME TEXT: waits until a suite that runs beside others has printed this text, or has ended.
begun() {
    : >> "$logs/$1.log"
    tail --pid="${running[$1]}" --lines=+1 --follow "$logs/$1.log" 2> /dev/null | grep --quiet --max-count=1 "$2" || true
}

finish() {
    if [ -s "$logs/failed" ]; then
        echo "What failed:"
        indented < "$logs/failed"
    fi
    echo "All took $((SECONDS - started)) s; outputs in ${logs#"$root/"}."
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}

# MARK: What runs

# Suites print when they have ended, which takes minutes: beside them, Tests/progress.sh names those under way.
Tests/progress.sh "$logs/running" $$ &
progress=$!
trap 'kill "$progress" 2> /dev/null' EXIT

# MARK: What it needs

if ! command -v swift > /dev/null; then
    echo "Tests/run.sh: swift is not on the PATH; Bellwire needs Swift 6.3 (https://swift.org/install)" >&2
    result setup 0 1 0
    finish
fi
date +%s > "$logs/running/prepare"
if ! Tests/prepare.sh; then
    result prepare 0 1 0
    finish
fi
rm -f "$logs/running/prepare"
venv=$root/.build/venv

# MARK: The suites

swift_flags=(--explicit-target-dependency-import-check error)
stage=$root/build/stage

# The event loop, the SQLite thread and the machine's services are one for each process: the tests of what uses them run
# one after the other in a process of their own. All others are pure, and run as many at once as there are processors.
one_at_a_time='^(Transport|NATS|Signalling|Peering|HTTPClient|SystemServices|Relay|DeviceAlerts|Device|Desktop|CABI)Tests\.'

# swift_tests NAME OPTION…
swift_tests() {
    local name=$1
    shift
    reported "$name" 1800 swift test --skip-build --ignore-lock "${swift_flags[@]}" --disable-xctest \
        --xunit-output "$logs/$name.xml" "$@"
}

lint() {
    check format-lint 300 swift format lint --strict -r Sources Tests Package.swift
    mapfile -t scripts < <(git ls-files '*.sh' .ci/run .github/hooks)
    check shell-lint 120 shellcheck "${scripts[@]}"
    check python-lint 120 "$venv/bin/ruff" check --no-cache bindings Tests
    check python-format 120 "$venv/bin/ruff" format --no-cache --check bindings Tests
    check text-lint 60 python3 Tests/texts.py
    check promise-lint 60 python3 Tests/promises.py
}

join_swift_tests() {
    if $is_built && [ -z "$filter" ]; then joined swift-pure-tests; joined swift-tests; fi
}

# Both builds, and then all suites at once as soon as they have what they need: most of them wait most of the time.
if [ -z "$filter" ]; then beside lint lints; fi
# The release library and program, as a user gets them.
beside check library 2400 bindings/c/build.sh
if check swift-build 2400 swift build --build-tests "${swift_flags[@]}"; then
    is_built=true
else
    is_built=false
fi
if [ -z "$filter" ]; then joined lints; fi
if $is_built && [ -z "$filter" ]; then
    beside swift_tests swift-pure-tests --parallel --skip "$one_at_a_time"
    # Two that start at the same moment lock each other out of the build's database.
    begun swift-pure-tests "Test run started"
    beside swift_tests swift-tests --no-parallel --filter "$one_at_a_time"
elif $is_built; then
    swift_tests swift-tests --no-parallel --filter "$filter"
fi
if ! joined library; then
    join_swift_tests
    echo "The tests of the library cannot run without it."
    finish
fi

# The tests of one file stay together: they share what a file builds, and the screens, buses and name spaces that it starts.
export BELLWIRE_STAGE=$stage
# pytest has no filter by regular expression: names.py is one.
pytest=(env "PYTHONPATH=$root/Tests" "$venv/bin/python" -m pytest -q -p no:cacheprovider
    ${filter:+-p names --matching "$filter"})
beside counted abi-tests 2400 Tests/ABI/run.sh --stage "$stage" ${filter:+--filter "$filter"}
beside reported python-tests 1800 "${pytest[@]}" --junitxml "$logs/python-tests.xml" Tests/Python
reported integration-tests 2400 "${pytest[@]}" --numprocesses 3 --dist loadfile \
    --junitxml "$logs/integration-tests.xml" Tests/Integration
join_swift_tests
joined python-tests

if [ -z "$filter" ]; then
    if [ -x Tests/Benchmarks/relay.sh ]; then check relay-benchmarks 900 Tests/Benchmarks/relay.sh --short; fi
    if [ -x Tests/Benchmarks/push.sh ]; then check push-benchmarks 300 Tests/Benchmarks/push.sh --short; fi
    if [ -x Tests/Benchmarks/skill.sh ]; then check skill-benchmarks 900 Tests/Benchmarks/skill.sh --short; fi
    if [ -x Tests/Benchmarks/sessions.sh ]; then check session-benchmarks 120 Tests/Benchmarks/sessions.sh --short; fi
    if [ -x examples/run.sh ]; then check examples 900 examples/run.sh; fi
    joined abi-tests
else
    joined abi-tests
    if [ $((passed + failed)) -le 2 ]; then
        # Only the two builds have passed.
        echo "No test's name matches '$filter'."
        failed=$((failed + 1))
    fi
fi

finish
