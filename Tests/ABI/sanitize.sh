#!/usr/bin/env bash
# Runs C programs of these tests with sanitizers and helgrind: the seven threads of hammer.c; with AddressSanitizer,
# callbacks and forks too.
#
#   Tests/ABI/sanitize.sh [--stage DIR] [thread] [address] [helgrind]
#
# The programs are instrumented and the library is not. So this is what each can see:
#
#   thread     races of the programs' own data: what callbacks, completions and destroys touch. Calls that the library makes
#              to libc are left out: the atomics that order them are not instrumented.
#   address    what the library does wrong through malloc, free and libc: double frees, frees of foreign pointers, writes of
#              libc functions beyond a block; uses after free by the programs, such as of a result or of user_data.
#   helgrind   what the library and all libraries below it do wrong with POSIX threads: locks taken in different orders,
#              freed while held, unlocked by another thread; and races of the libraries below. Races of Swift code are left
#              out, with the reason in helgrind.supp: Tests/sanitize.sh thread finds those.
#
# Without names it runs all. Prints "N passed, N failed"; the exit code is 0 if nothing failed.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
stage=$root/build/stage
usage="usage: Tests/ABI/sanitize.sh [--stage DIR] [thread] [address] [helgrind]"
names=()
while [ $# -gt 0 ]; do
    case $1 in
        --stage)
            stage=$(cd "${2:-}" && pwd) || exit 2
            shift
            ;;
        thread | address | helgrind) names+=("$1") ;;
        *)
            echo "sanitize.sh: unknown argument '$1'; $usage" >&2
            exit 2
            ;;
    esac
    shift
done
[ ${#names[@]} -gt 0 ] || names=(thread address helgrind)
[ -e "$stage/lib/libbellwire.so.1" ] || { echo "no library in $stage: build it with bindings/c/build.sh" >&2; exit 2; }

work=$(mktemp -d "${TMPDIR:-/tmp}/bellwire-sanitize-XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
for name in "${names[@]}"; do
    flags=()
    runner=(env)
    programs=("hammer seven_threads")
    case $name in
        thread)
            flags=(-fsanitize=thread)
            runner=(env CHECK_SCALE=5 TSAN_OPTIONS=exitcode=66:ignore_noninstrumented_modules=1)
            ;;
        address)
            flags=(-fsanitize=address)
            runner=(env CHECK_SCALE=3 ASAN_OPTIONS=detect_leaks=0)
            # Not forks under load: a child may hang on a lock of the sanitizer's, which another thread held.
            programs+=("callbacks" "forks")
            ;;
        helgrind)
            # DWARF 4: Debian's valgrind does not read all of 5.
            flags=(-gdwarf-4)
            runner=(env CHECK_SCALE=20 valgrind --tool=helgrind --quiet --fair-sched=yes --error-exitcode=66
                --history-level=approx "--extra-debuginfo-path=$stage/lib/.debug" "--suppressions=$here/helgrind.supp")
            ;;
    esac
    for program in "${programs[@]}"; do
        read -ra words <<< "$program"
        binary=$work/${words[0]}.$name
        if ! gcc -std=c99 -g -O1 -D_GNU_SOURCE -pthread "${flags[@]}" -I"$stage/include" "$here/${words[0]}.c" \
            -L"$stage/lib" -lbellwire -ljansson -ldl -rdynamic "-Wl,-rpath,$stage/lib" -o "$binary"; then
            failed=$((failed + 1))
            continue
        fi
        if timeout 900 "${runner[@]}" "$binary" "${words[@]:1}" > "$work/log" 2>&1; then
            passed=$((passed + 1))
            echo "ok    $name: $program"
        else
            failed=$((failed + 1))
            echo "FAIL  $name: $program"
            grep -v '^ok ' "$work/log" | head -n 60
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
