#!/usr/bin/env bash
# The checks before a release: hardening, compatibility, licences and SBOM, and reproducible builds.
#
#   Tests/release.sh [--stage DIR] [--against COMMIT] [--record] [PART…]
#
#   --stage DIR        the output of bindings/c/build.sh (default: it is built into build/stage)
#   --against COMMIT   the release to be compatible with (default: the last tag named v…; without one, only the list
#                      Tests/ABI/interface.txt is compared)
#   --record           writes that list again, from the header; commit it with the release
#   PART               one of the parts below; without any, all run
#
#   hardening     flags of the shared library and the program, and what the libraries export
#   interface     every function, type and number of the last release is still in the header, and is exported: compares
#                 the headers, then both shared libraries with abidiff
#   inventory     licences and SBOM of the tree, the packages and the wheel
#   reproducible  two builds in different directories are byte-identical (needs a checkout without changes)
#
# Prints a line for each part. The last line is "N passed, N failed"; the exit code is 0 if nothing failed.
set -uo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 2
exec < /dev/null

stage="" against="" record=false parts=()
usage() {
    echo "Tests/release.sh: $1; usage: Tests/release.sh [--stage DIR] [--against COMMIT] [--record] [PART…]" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
        --stage | --against)
            [ -n "${2:-}" ] || usage "$1 needs a value"
            if [ "$1" = --stage ]; then stage=$(cd "$2" && pwd) || exit 2; else against=$2; fi
            shift
            ;;
        --record) record=true ;;
        hardening | interface | inventory | reproducible) parts+=("$1") ;;
        *) usage "unknown option or part '$1'" ;;
    esac
    shift
done
[ ${#parts[@]} -gt 0 ] || parts=(hardening interface inventory reproducible)

kept=Tests/ABI/interface.txt
if $record; then
    python3 Tests/ABI/interface.py include/bellwire.h > "$kept" || exit 2
    echo "Wrote $kept."
    exit 0
fi

logs=$root/.build/release
mkdir -p "$logs"
if [ -z "$stage" ]; then
    stage=$root/build/stage
    Tests/prepare.sh || exit 2
    bindings/c/build.sh > "$logs/build.log" 2>&1 || { tail -n 40 "$logs/build.log" >&2; exit 2; }
fi
library=$stage/lib/libbellwire.so.1
[ -e "$library" ] || { echo "Tests/release.sh: no library in $stage: build it with bindings/c/build.sh" >&2; exit 2; }

# MARK: The parts

hardening() {
    Tests/ABI/run.sh --stage "$stage" --filter '^layout$'
}

# missing OLD NEW: the lines of one file that another doesn't have.
missing() {
    LC_ALL=C comm -23 <(LC_ALL=C sort "$1") <(LC_ALL=C sort "$2")
}

# abi HEADER: the ABI version of a header.
abi() {
    sed -n 's/^#define BW_ABI_VERSION //p' "$1"
}

interface() {
    local work=$logs/interface failed=0 old base lost added
    rm -rf "$work"
    mkdir -p "$work"
    python3 Tests/ABI/interface.py "$stage/include/bellwire.h" > "$work/now.txt" || return 1
    [ -s "$work/now.txt" ] || { echo "the header declares nothing"; return 1; }

    lost=$(missing "$kept" "$work/now.txt")
    if [ -n "$lost" ]; then
        echo "Lost since $kept was written:"
        echo "$lost"
        failed=1
    fi
    added=$(missing "$work/now.txt" "$kept")
    if [ -n "$added" ]; then
        echo "Not in $kept: write it again with Tests/release.sh --record"
        echo "$added"
        failed=1
    fi
    # What is declared and not exported links in no program.
    nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u > "$work/exported.txt"
    grep -oE '\bbw_[a-z0-9_]+ ?\(' "$work/now.txt" | tr -d ' (' | sort -u > "$work/declared.txt"
    lost=$(missing "$work/declared.txt" "$work/exported.txt")
    if [ -n "$lost" ]; then
        echo "Declared, and not exported:"
        echo "$lost"
        failed=1
    fi

    old=${against:-$(git describe --tags --match 'v*' --abbrev=0 HEAD 2> /dev/null)}
    if [ -z "$old" ]; then
        echo "There is no tag yet: nothing else to compare with."
        return "$failed"
    fi
    old=$(git rev-parse --verify --quiet "$old^{commit}") || { echo "no commit $against in this clone"; return 1; }
    git show "$old:include/bellwire.h" > "$work/old.h" || return 1
    python3 Tests/ABI/interface.py "$work/old.h" > "$work/old.txt" || return 1
    lost=$(missing "$work/old.txt" "$work/now.txt")
    if [ -n "$lost" ]; then
        echo "Lost since $old:"
        echo "$lost"
        failed=1
    fi
    if [ -n "$(missing "$work/now.txt" "$work/old.txt")" ] && [ "$(abi "$stage/include/bellwire.h")" -le "$(abi "$work/old.h")" ]; then
        echo "Functions or numbers were added since $old: increase BW_ABI_VERSION"
        failed=1
    fi
    base=$root/.build/compatibility/$old
    if [ ! -e "$base/build/stage/lib/libbellwire.so.1" ]; then
        rm -rf "$base"
        mkdir -p "$base"
        git archive "$old" | tar -x -C "$base"
        "$base/bindings/c/build.sh" > "$logs/old.log" 2>&1 || { tail -n 40 "$logs/old.log"; return 1; }
    fi
    # Bit 8 of its status is a change that breaks programs; 1 and 2 are its own errors.
    local status=0
    abidiff --no-added-syms "$base/build/stage/lib/libbellwire.so.1" "$library" || status=$?
    [ $((status & 11)) -eq 0 ] || failed=1
    return "$failed"
}

inventory() {
    BELLWIRE_STAGE=$stage .build/venv/bin/python -m pytest -q -p no:cacheprovider \
        Tests/Integration/test_packages.py::test_a_prefix_says_what_is_inside_and_under_which_licences \
        Tests/Integration/test_packages.py::test_each_package_in_machine_code_says_what_is_inside \
        Tests/Python/test_wheel.py::test_it_says_what_is_inside_and_under_which_licences
}

reproducible() {
    if [ -n "$(git status --porcelain)" ]; then
        echo "There are changes that are not committed: a release is a commit."
        return 1
    fi
    Tests/reproducible.sh
}

passed=0 failed=0
for part in "${parts[@]}"; do
    begin=$SECONDS
    if "$part" > "$logs/$part.log" 2>&1; then
        passed=$((passed + 1))
        printf '%-14s passed  (%d s)\n' "$part" $((SECONDS - begin))
    else
        failed=$((failed + 1))
        printf '%-14s FAILED  (%d s); all of it is in %s\n' "$part" $((SECONDS - begin)) "${logs#"$root/"}/$part.log"
        tail -n 40 "$logs/$part.log" | sed 's/^/    /'
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
