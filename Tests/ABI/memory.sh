# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: lives in which an allocation or another call fails, and lives with damaged databases. With the
# shared library alone: its debug information tells what is Swift's runtime.

# torture PROGRAM: compiled twice, and run once
torture() {
    local program=$1 variant name
    mkdir -p "$work/bin" "$work/logs"
    for variant in gcc-c99 clang-c++17; do
        name=$program.shared.$variant
        # shellcheck disable=SC2046 # compilers are words
        works "$name compiles" $(compile_with "$variant") -g -O1 "${warnings[@]}" -D_GNU_SOURCE -pthread -I"$stage/include" \
            "$here/$program.c" -x none -L"$stage/lib" -lbellwire -ljansson -ldl -rdynamic "-Wl,-rpath,$stage/lib" \
            -o "$work/$name"
    done
    name=$program.shared.gcc-c99
    BELLWIRE_DEBUG_FILE=$stage/lib/.debug/libbellwire.so.1.debug run_logged "$work/logs/$name" native "$work/$name"
    count_log "$name" "$work/logs/$name"
    grep -E '^(ends |[a-z_]+: [0-9]+ |[0-9]+ cases)' "$work/logs/$name"
}

test_memory() { torture outofmemory; }

# A sample of the matrix; Tests/soak.sh damage has all of it.
test_damage() { torture damage; }

# A sample of the calls; Tests/soak.sh failures has all of them.
test_failures() { torture failures; }
