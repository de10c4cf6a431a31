# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: the C programs, compiled with both libraries by gcc and clang as C99 and as C++17. Those with the
# archive all run, for each is linked anew; of those with the shared library, which is the same for all, one does. One of
# each library also runs under valgrind.

programs=(complaints library options sharing guests callbacks unwinding hostile killed hammer
    scan process forks endtoend queue inbox pushservices alerts jansson)

# runs native|valgrind NAME: under valgrind, of each library the variant of another compiler and language.
runs() {
    # The memory of a dispatch whose callback was left is lost, as bellwire.h says.
    if [[ $1 == valgrind && $2 == @(unwinding|hostile).* ]]; then return 1; fi
    case $2 in
        *.shared.*) [[ $2 == *.gcc-c99 ]] ;;
        *.static.*) [[ $1 == native || $2 == *.clang-c++17 ]] ;;
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
    printf 'seconds %d [%d]\nstatus %d\n' $((SECONDS - begin)) "$(awk '{print $1 + $2}' "$log.time")" "$status" >> "$log"
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
    printf '%-52s %5d passed, %d failed  (%s s)\n' "$name" "$good" "$bad" "$seconds"
}

test_programs() {
    local library variant program how name libraries binary output jobs
    jobs=$(nproc)
    mkdir -p "$work/bin" "$work/logs" "$work/compiled"

    for program in "${programs[@]}" load; do
        [[ $program =~ $filter ]] || continue
        for variant in gcc-c99 clang-c99 gcc-c++17 clang-c++17; do
            for library in shared static; do
                binary=$work/bin/$program.$library.$variant
                case $library in
                    shared) libraries="-L$stage/lib -lbellwire -ljansson -Wl,-rpath,$stage/lib" ;;
                    static) libraries="$stage/lib/libbellwire.a $(flags "$stage" --static --libs | sed 's/-lbellwire//') -ljansson" ;;
                esac
                if [ "$program" = load ]; then
                    [ "$library" = shared ] || continue
                    libraries="-ljansson -ldl"
                fi
                # complaints.c has a getaddrinfo() of its own, for whoever calls it in this process.
                if [ "$program" = complaints ]; then libraries+=" -rdynamic"; fi
                while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
                # DWARF 4: Debian's valgrind does not read all of clang's 5.
                # shellcheck disable=SC2046,SC2086 # compilers and libraries are words
                $(compile_with "$variant") -g -gdwarf-4 -O1 "${warnings[@]}" -D_GNU_SOURCE -pthread -I"$stage/include" "$here/$program.c" -x none \
                    $libraries -o "$binary" > "$work/compiled/$(basename "$binary")" 2>&1 &
            done
        done
    done
    wait
    for output in "$work"/compiled/*; do
        name=$(basename "$output")
        [ -e "$output" ] || continue
        if [ -x "$work/bin/$name" ]; then ok "$name compiles"; else bad "$name compiles" < "$output"; fi
    done

    # Natively first, two at once for each processor: they mostly wait. Under valgrind, where each keeps one busy and
    # connections have time limits all the same, one after the other.
    for how in native valgrind; do
        if [ "$how" = native ]; then jobs=$((2 * $(nproc))); else jobs=1; fi
        for binary in "$work"/bin/*; do
            name=$(basename "$binary")
            if ! [ -x "$binary" ] || ! runs "$how" "$name"; then continue; fi
            local arguments=()
            if [[ $name == load.* ]]; then arguments=("$stage/lib/libbellwire.so.1"); fi
            while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
            run_logged "$work/logs/$how.$name" "$how" "$binary" ${arguments[@]+"${arguments[@]}"} &
        done
        wait
        for binary in "$work"/bin/*; do
            name=$(basename "$binary")
            [ -f "$work/logs/$how.$name" ] && count_log "$name ($how)" "$work/logs/$how.$name"
        done
    done
}
