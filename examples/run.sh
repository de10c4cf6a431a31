#!/usr/bin/env bash
# Shows Bellwire at work on this machine: builds it, starts a relay and a desktop, pairs examples/print_pushes.c with the
# desktop, pushes three notifications, and a fourth one while the C program is not running.
#
#   run.sh [--listen]
#
#   --listen   keeps running and prints what you push from another terminal, until Ctrl-C
#
# Needs Swift 6.3. Keys, databases and logs are in a temporary directory, which is removed at the end.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
stage=$root/build/stage
work=""
pids=()
stays=false

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }

# fail MESSAGE [LOG...]: also shows the end of each log.
fail() {
    printf 'run.sh: %s\n' "$1" >&2
    local log
    for log in "${@:2}"; do
        [ -s "$log" ] || continue
        printf '%s\n' "--- the end of ${log##*/}:" >&2
        tail -n 20 "$log" >&2
    done
    exit 1
}

for argument in "$@"; do
    case $argument in
        --listen) stays=true ;;
        -h | --help)
            sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *)
            say "run.sh: unknown option '$argument'; usage: run.sh [--listen]" >&2
            exit 2
            ;;
    esac
done

# end PID: stops a process that was started here, within five seconds, and returns its exit code.
end() {
    kill -TERM "$1" 2> /dev/null || true
    timeout 5 tail -f /dev/null --pid="$1" || kill -KILL "$1" 2> /dev/null || true
    wait "$1"
}

tidy() {
    local index
    for ((index = ${#pids[@]} - 1; index >= 0; index--)); do end "${pids[index]}" > /dev/null 2>&1 || true; done
    if [ -n "$work" ]; then rm -rf "$work"; fi
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# await SECONDS PID LOG PATTERN: sets $found to the first line of the log that matches. Fails if none comes in time, or
# if the process that writes the log ends.
await() {
    local deadline=$((SECONDS + $1)) lines follower line result=1
    found=""
    exec {lines}< <(exec tail -n +1 -f --pid="$2" "$3" 2> /dev/null)
    follower=$!
    while [ "$SECONDS" -lt "$deadline" ] && IFS= read -r -t $((deadline - SECONDS)) -u "$lines" line; do
        if [[ $line =~ $4 ]]; then
            found=$line
            result=0
            break
        fi
    done
    exec {lines}<&-
    kill "$follower" 2> /dev/null || true
    return "$result"
}

# size FILE: its size, for people.
size() { numfmt --to=si --suffix=B --format=%.1f "$(stat -L -c %s "$1")"; }

# MARK: Build

say "Bellwire sends end-to-end encrypted notifications between your own machines. This demo runs three programs on this"
say "machine: a desktop (it sends), a C program (it receives) and a relay between them."

step "Packages"
"$root/bindings/c/packages.sh"
say "  All packages are installed."

step "Building (about five minutes the first time)"
work=$(mktemp -d)
if [ -t 1 ]; then
    # Shows the compiler's progress on one line. The build itself runs in the foreground, so that Ctrl-C stops it.
    mkdir -p "$root/build"
    while IFS= read -r line; do printf '\r\033[K%.78s' "$line"; done \
        < <(exec tail -q -n 0 -F --pid=$$ "$root/build/build.log" 2> /dev/null) &
    pids+=("$!")
fi
"$root/bindings/c/build.sh" > "$work/build.log" 2>&1 || fail "the build failed" "$work/build.log"
if [ ${#pids[@]} -gt 0 ]; then
    end "${pids[0]}" || true
    pids=()
    printf '\r\033[K'
fi
say "  Built in build/stage: the shared library ($(size "$stage/lib/libbellwire.so.1")), the static library and the bellwire program."

flags=$(PKG_CONFIG_PATH=$stage/lib/pkgconfig pkg-config --cflags --libs bellwire) ||
    fail "pkg-config does not find the build in $stage"
compile=(cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$root/examples/print_pushes.c" -o "$work/print_pushes")
# shellcheck disable=SC2206 # flags are words
compile+=($flags "-Wl,-rpath,$stage/lib")
"${compile[@]}" > "$work/compile.log" 2>&1 || fail "examples/print_pushes.c does not compile" "$work/compile.log"
say "  Compiled the receiver: cc examples/print_pushes.c \$(pkg-config --cflags --libs bellwire)"

# MARK: Start

step "Starting a relay and a desktop"
bellwire=$stage/bin/bellwire
# Each program has its own state directory below this one.
export XDG_STATE_HOME=$work/state
mkfifo "$work/push"
exec {push}<> "$work/push"
# The logs must exist before await follows them.
touch "$work"/{relay,desktop,pushes,print_pushes,later,print_pushes_later}.log

"$bellwire" relay --listen 127.0.0.1:0 --no-health > "$work/relay.log" 2>&1 &
relay=$!
pids+=("$relay")
await 20 "$relay" "$work/relay.log" 'ws://[^ ,]+' || fail "the relay did not start" "$work/relay.log"
url=${BASH_REMATCH[0]}
say "  bellwire relay listens at $url."

"$bellwire" desktop --relay-url "$url" --name "Demo desktop" --qr-text --stdin <&"$push" > "$work/desktop.log" 2>&1 &
desktop=$!
pids+=("$desktop")
await 20 "$desktop" "$work/desktop.log" '^\{.*"desktop-pairing"' ||
    fail "the desktop showed no code" "$work/desktop.log" "$work/relay.log"
(umask 077 && printf '%s\n' "$found" > "$work/code.txt")
say "  bellwire desktop offers pairing. The text of its QR code: ${found:0:49}…"

step "Pairing the C program with the desktop"
# listen LOG ERRORS [CODE]: starts print_pushes, waits until it runs, and follows what it prints.
listen() {
    "$work/print_pushes" "${@:3}" > "$1" 2> "$2" &
    listener=$!
    pids+=("$listener")
    await 40 "$listener" "$2" 'waiting for pushes' ||
        fail "print_pushes did not start" "$2" "$work/desktop.log" "$work/relay.log"
    exec {lines}< <(exec tail -n +1 -f --pid="$listener" "$1" 2> /dev/null)
    pids+=("$!")
}

# show COUNT ERRORS: prints the next lines of print_pushes.
show() {
    local count line
    for ((count = 1; count <= $1; count++)); do
        IFS= read -r -t 30 -u "$lines" line ||
            fail "notification $count did not arrive" "$2" "$work/desktop.log" "$work/relay.log"
        say "  $line"
    done
}

listen "$work/pushes.log" "$work/print_pushes.log" "$work/code.txt"
await 20 "$desktop" "$work/desktop.log" 'End-to-end encrypted\. Compare with the device: ([0-9]+, [a-z]+ [a-z]+)\.' ||
    fail "the desktop did not report the pairing" "$work/desktop.log" "$work/print_pushes.log"
say "  Paired, end-to-end encrypted. Both sides can compare these digits and words: ${BASH_REMATCH[1]}."

# MARK: Push

step "Pushing three notifications; the C program prints:"
printf '%s\t%s\t%s\n' \
    "Build done" "All tests passed in 2 min 14 s" low \
    "Tea is ready" "Before it gets cold" normal \
    "Door bell" "Someone is at the door" urgent >&"$push"
show 3 "$work/print_pushes.log"

step "Stopping the C program, pushing a fourth notification, and starting the program again; it prints:"
end "$listener" || fail "print_pushes did not end cleanly" "$work/print_pushes.log"
exec {lines}<&-
printf 'Backup failed\tThe disk is full\thigh\n' >&"$push"
await 20 "$desktop" "$work/desktop.log" 'Pushed to 0 of 1 devices' ||
    fail "the desktop did not store the push" "$work/desktop.log" "$work/relay.log"
listen "$work/later.log" "$work/print_pushes_later.log"
show 1 "$work/print_pushes_later.log"
say "  The desktop kept it, for up to 30 days. Nothing is lost, and nothing comes twice."

if $stays; then
    step "Listening; press Ctrl-C to stop. Push from another terminal:"
    say "  printf 'Hello\tfrom another terminal\n' > $work/push"
    say ""
    trap 'say ""; exit 0' INT
    while IFS= read -r -u "$lines" line; do say "  $line"; done
    fail "print_pushes has ended" "$work/print_pushes_later.log"
fi

end "$listener" || fail "print_pushes did not end cleanly" "$work/print_pushes_later.log"
step "Done. What you can do next:"
say "  examples/run.sh --listen              push your own notifications from another terminal"
say "  build/stage/bin/bellwire --help       pair two of your machines on the command line"
say "  README.md                             a complete C program in 30 lines, and the same in Python"
say "  include/bellwire.h                    the documentation of every function"
