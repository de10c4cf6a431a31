#!/usr/bin/env bash
# Shows Bellwire at work: builds it, starts a relay and a desktop on loopback, pairs examples/print_pushes.c with the
# desktop, pushes three notifications, and shows how the C program prints them.
#
#   run.sh [--listen]
#
#   --listen   keeps running and prints pushes from other terminals, until Ctrl-C
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

# Ends a process that was started here, within five seconds, and hands its exit code on.
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

# await SECONDS PID LOG PATTERN: the first line of the log that matches, in $found; false when none came in time, or the
# process that writes the log has ended.
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

# MARK: Build

step "Packages"
"$root/bindings/c/packages.sh"
say "All packages are installed."

step "Building (a few minutes the first time)"
work=$(mktemp -d)
if [ -t 1 ]; then
    # What the compiler is at, on one line, while the build runs in the foreground, where Ctrl-C ends it.
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
sed 's/^/  /' "$work/build.log"

flags=$(PKG_CONFIG_PATH=$stage/lib/pkgconfig pkg-config --cflags --libs bellwire) ||
    fail "pkg-config does not find the build in $stage"
compile=(cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$root/examples/print_pushes.c" -o "$work/print_pushes")
# shellcheck disable=SC2206 # flags are words
compile+=($flags "-Wl,-rpath,$stage/lib")
"${compile[@]}" > "$work/compile.log" 2>&1 || fail "examples/print_pushes.c does not compile" "$work/compile.log"
say "  print_pushes: examples/print_pushes.c, compiled as C99 and linked with libbellwire.so.1"

# MARK: Start

step "Starting a relay and a desktop on loopback"
bellwire=$stage/bin/bellwire
# All keep their state under this, each in its own directory.
export XDG_STATE_HOME=$work/state
mkfifo "$work/push"
exec {push}<> "$work/push"
# There before anybody reads them: a program makes its own only once it runs.
touch "$work"/{relay,desktop,pushes,print_pushes}.log

"$bellwire" relay --listen 127.0.0.1:0 --no-health > "$work/relay.log" 2>&1 &
relay=$!
pids+=("$relay")
await 20 "$relay" "$work/relay.log" 'ws://[^ ,]+' || fail "the relay did not start" "$work/relay.log"
url=${BASH_REMATCH[0]}
say "  relay at $url"

"$bellwire" desktop --relay-url "$url" --name "Demo desktop" --qr-text --stdin <&"$push" > "$work/desktop.log" 2>&1 &
desktop=$!
pids+=("$desktop")
await 20 "$desktop" "$work/desktop.log" '^\{.*"desktop-pairing"' ||
    fail "the desktop showed no code" "$work/desktop.log" "$work/relay.log"
(umask 077 && printf '%s\n' "$found" > "$work/code.txt")
say "  desktop with a pairing code: ${found:0:60}…"

step "Pairing the C program with it"
"$work/print_pushes" "$work/code.txt" > "$work/pushes.log" 2> "$work/print_pushes.log" &
listener=$!
pids+=("$listener")
await 40 "$listener" "$work/print_pushes.log" 'paired' ||
    fail "print_pushes did not pair" "$work/print_pushes.log" "$work/desktop.log" "$work/relay.log"
say "  print_pushes is paired."

# MARK: Push

step "Pushing three notifications; what follows is printed by print_pushes"
exec {lines}< <(exec tail -n +1 -f --pid="$listener" "$work/pushes.log" 2> /dev/null)
pids+=("$!")
printf '%s\t%s\t%s\n' \
    "Build done" "All tests passed in 2 min 14 s" low \
    "Tea is ready" "Before it gets cold" normal \
    "Door bell" "Somebody is at the door" urgent >&"$push"
for count in 1 2 3; do
    IFS= read -r -t 30 -u "$lines" line ||
        fail "notification $count did not arrive" "$work/print_pushes.log" "$work/desktop.log" "$work/relay.log"
    say "  $line"
done

if $stays; then
    say ""
    say "Listening; press Ctrl-C to stop. Push from another terminal:"
    say "  printf 'Hello\\tfrom another terminal\\n' > $work/push"
    say ""
    trap 'say ""; exit 0' INT
    while IFS= read -r -u "$lines" line; do say "  $line"; done
    fail "print_pushes has ended" "$work/print_pushes.log"
fi

end "$listener" || fail "print_pushes did not end cleanly" "$work/print_pushes.log"
step "Done"
say "Next: examples/run.sh --listen keeps running, so that you can push from another terminal."
say "build/stage/bin/bellwire --help explains the command line. README.md has a C program in 30 lines;"
say "include/bellwire.h is its documentation."
