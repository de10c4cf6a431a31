# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: the C programs, compiled by gcc and clang as C99 and as C++17. Of each library one variant, of another
# compiler and language, is linked and runs, natively and under valgrind.

# The slowest under valgrind first, so that two lanes end at about the same time.
programs=(limits sharing guests desktops endtoend complaints process alerts callbacks hammer forks inbox jansson killed queue
    pushservices library options scan unwinding hostile extremes)
variants=(gcc-c99 clang-c99 gcc-c++17 clang-c++17)

# library_of VARIANT PROGRAM: the library that it is linked with; nothing = it is only compiled. Exceptions pass through
# both libraries, so what throws them is linked with both.
library_of() {
    case $1:$2 in
        gcc-c99:* | gcc-c++17:unwinding | gcc-c++17:hostile) echo shared ;;
        clang-c++17:*) echo static ;;
    esac
}

# Whether a linked program runs under valgrind, too.
is_checked() {
    case $1 in
        # bellwire.h: a dispatch whose callback is left never frees its memory.
        unwinding.* | hostile.*) return 1 ;;
    esac
}

# The compilers by the names of the variants.
compile_with() {
    case $1 in
        gcc-c99) echo "$gcc -std=c99" ;;
        clang-c99) echo "$clang -std=c99" ;;
        gcc-c++17) echo "$gxx -std=c++17 -x c++" ;;
        clang-c++17) echo "$clangxx -std=c++17 -x c++" ;;
    esac
}

# Runs a program by itself or under valgrind, where everything takes longer, to a log that ends with the seconds, the
# processor time and the status: the program's, or 99 when valgrind found something. A program that hangs is ended.
# Children of a fork are not checked: the stacks of threads that they don't have would count as leaks.
run_logged() {
    local log=$1 how=$2 program=$3 status begin=$SECONDS TIMEFORMAT='%U %S'
    shift 3
    if [ "$how" = native ]; then
        { time timeout --kill-after=10 300 "$program" "$@" > "$log" 2>&1; } 2> "$log.time"
        status=$?
    else
        # Of threads that never wait, one alone could run for minutes: they take turns.
        {
            time CHECK_SCALE=10 timeout --kill-after=10 1500 valgrind --quiet --fair-sched=yes \
                --log-file="$log.valgrind" --leak-check=full --show-leak-kinds=definite --num-callers=30 \
                --child-silent-after-fork=yes --suppressions="$here/valgrind.supp" "$program" "$@" > "$log" 2>&1
        } 2> "$log.time"
        status=$?
        if [ -s "$log.valgrind" ]; then
            cat "$log.valgrind" >> "$log"
            [ "$status" -ne 0 ] || status=99
        fi
    fi
    # If a signal has ended the program, the shell says so in a line before the times.
    printf 'seconds %d s [%d]\nstatus %d\n' $((SECONDS - begin)) "$(awk 'END {printf "%d", $1 + $2}' "$log.time")" "$status" >> "$log"
}

# Adds a log's checks to the counts. One that did not get to its end, or with an error of valgrind's, has failed.
count_log() {
    local name=$1 log=$2 good bad status seconds
    good=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^FAIL ' "$log")
    status=$(sed -n '$s/^status //p' "$log")
    seconds=$(sed -n 's/^seconds //p' "$log" | tail -n 1)
    passed=$((passed + good))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then grep '^FAIL ' "$log" | sed "s|^FAIL |FAIL  $name:|"; fi
    if [ "$status" != 0 ] && ! { [ "$status" = 1 ] && [ "$bad" -gt 0 ]; }; then
        bad "$name: ended with status $status" < <(grep -vE '^(ok|FAIL|seconds) ' "$log")
    fi
    printf '%-52s %5d passed, %d failed  (%s)\n' "$name" "$good" "$bad" "$seconds"
}

# compile_logged PROGRAM VARIANT: to a log, which stays empty if all is well.
compile_logged() {
    (compile "$@" || echo "status $?") > "$work/compiled/$1.$2" 2>&1
}

# compile PROGRAM VARIANT: compiles it, and links it if this variant is one that runs.
compile() {
    local program=$1 variant=$2 library binary object libraries
    library=$(library_of "$variant" "$program")
    if [[ $program == load && $library == static ]]; then library=""; fi
    object=$work/objects/$program.$variant.o
    binary=$work/bin/$program.$library.$variant
    # DWARF 4: Debian's valgrind does not read all of clang's 5.
    # shellcheck disable=SC2046 # a compiler with options
    $(compile_with "$variant") -g -gdwarf-4 -O1 "${warnings[@]}" -D_GNU_SOURCE -pthread -I"$stage/include" \
        -c "$here/$program.c" -o "$object" || return
    case $library in
        shared) libraries="-L$stage/lib -lbellwire -ljansson -Wl,-rpath,$stage/lib" ;;
        static) libraries="$(flags "$stage" --static --libs) -ljansson" ;;
        *) return 0 ;;
    esac
    case $program in
        load) libraries="-ljansson -ldl" ;;
        # It has a getaddrinfo() of its own, which every caller in this process gets.
        complaints) libraries+=" -rdynamic" ;;
    esac
    # The driver by its name alone: "-x c++" would take the object for source code.
    # shellcheck disable=SC2046,SC2086 # libraries are words
    $(compile_with "$variant" | cut -d ' ' -f 1) -pthread "$object" $libraries -o "$binary"
}

# spawn LIMIT COMMAND…: runs it in the background once fewer than LIMIT of this shell's are running.
spawned=()
spawn() {
    local limit=$1 ended pid left=()
    shift
    if [ "${#spawned[@]}" -ge "$limit" ]; then
        wait -n -p ended "${spawned[@]}"
        for pid in "${spawned[@]}"; do [ "$pid" = "$ended" ] || left+=("$pid"); done
        spawned=("${left[@]}")
    fi
    "$@" &
    spawned+=($!)
}

await_spawned() {
    if [ "${#spawned[@]}" -gt 0 ]; then wait "${spawned[@]}"; fi
    spawned=()
}

# run_all native|valgrind JOBS: runs the linked programs, as many at a time.
run_all() {
    local how=$1 jobs=$2 program binary name arguments
    for program in "${programs[@]}" load; do
        for binary in "$work/bin/$program".*; do
            [ -x "$binary" ] || continue # the filter doesn't match it
            name=$(basename "$binary")
            if [ "$how" = valgrind ] && ! is_checked "$name"; then continue; fi
            arguments=()
            if [[ $name == load.* ]]; then arguments=("$stage/lib/libbellwire.so.1"); fi
            spawn "$jobs" run_logged "$work/logs/$how.$name" "$how" "$binary" ${arguments[@]+"${arguments[@]}"}
        done
    done
    await_spawned
}

test_programs() {
    local variant program how name binary output lane
    mkdir -p "$work/bin" "$work/objects" "$work/logs" "$work/compiled"
    for program in "${programs[@]}" load; do
        [[ $program =~ $filter ]] || continue
        for variant in "${variants[@]}"; do
            spawn "$(nproc)" compile_logged "$program" "$variant"
        done
    done
    await_spawned
    for output in "$work"/compiled/*; do
        [ -e "$output" ] || continue
        name=$(basename "$output")
        if [ -s "$output" ]; then bad "$name compiles" < "$output"; else ok "$name compiles"; fi
    done

    # Natively they mostly wait, and under valgrind about half of the time. Time limits of connections stay as they are there,
    # so no more than two at a time.
    (spawned=() && run_all native 2) &
    lane=$!
    run_all valgrind 2
    wait "$lane"
    for how in native valgrind; do
        for binary in "$work"/bin/*; do
            name=$(basename "$binary")
            if [ -f "$work/logs/$how.$name" ]; then count_log "$name ($how)" "$work/logs/$how.$name"; fi
        done
    done
}
