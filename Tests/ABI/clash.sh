# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: hosts that have jansson, libuv and a Swift runtime of their own, or functions with their names.

# What links the archive, in $options.
archive_options() {
    read -ra options < <(flags "$stage" --static --libs)
}

# The host of clash.c, built with a library and run: clash NAME EXPECTED LIBRARY OPTIONS…
clash() {
    local name=$1 expected=$2 library=$3 options=()
    shift 3
    case $library in
        shared) options=("-L$stage/lib" -lbellwire "-Wl,-rpath,$stage/lib") ;;
        static) archive_options ;;
        loaded) options=(-DLOADED -ldl) ;;
    esac
    works "a host with $name" "$gcc" -std=c99 "${warnings[@]}" -D_GNU_SOURCE -I"$stage/include" "$here/clash.c" "$@" "${options[@]}" -o "$work/clash"
    gives "  works beside the $library library" "$expected" "$work/clash" "$stage/lib/libbellwire.so.1"
}

test_clash() {
    # Debian's archives of both; a program that was linked with them has them inside.
    local copies=(-DOWN_COPIES -l:libjansson.a -l:libuv_a.a)
    local whole=(-DOWN_COPIES "-Wl,--whole-archive" -l:libjansson.a -l:libuv_a.a "-Wl,--no-whole-archive")

    clash "jansson and libuv of its own, which it keeps to itself" "both work, each with its own" shared "${copies[@]}" -Wl,--exclude-libs,ALL
    clash "jansson and libuv of its own, which it exports" "both work, with one copy" shared "${whole[@]}" -rdynamic
    clash "jansson and libuv of its own" "both work, each with its own" static "${copies[@]}"
    clash "other functions of those names, which it keeps to itself" "both work" shared -DOWN_NAMES -fvisibility=hidden
    clash "other functions of those names" "both work" static -DOWN_NAMES
    # As a program does that takes plug-ins: whatever it exports, the library finds its own first.
    clash "other functions of those names, which it exports" "both work" loaded -DOWN_NAMES -rdynamic

    test_two_swifts
}

# A host in C with a Swift archive of somebody else's beside ours: two Swift runtimes in one program.
test_two_swifts() {
    local expected runtime architecture compiler option kind resources
    expected="$(sed -n 's/^#define BW_VERSION "\(.*\)"/\1/p' "$root/include/bellwire.h") opens; 1342"
    resources=$(PATH=$full_path swiftc -print-target-info -static-stdlib | sed -n 's/^ *"runtimeResourcePath": "\(.*\)"$/\1/p')
    runtime=$resources/linux
    architecture=$(uname -m)
    local modules=(-lswiftCore -lswift_Concurrency -lswift_StringProcessing -lswift_RegexParser -ldispatch -lBlocksRuntime)
    local theirs=("-L$runtime" "-Wl,--start-group" "${modules[@]}" "-Wl,--end-group")
    local host=(-std=c99 "${warnings[@]}" -DANOTHER "-I$stage/include" "$here/consumer.c")
    local shared=("-L$stage/lib" -lbellwire "-Wl,-rpath,$stage/lib") options=() archive
    archive_options
    archive=("${options[@]}")

    works "a Swift archive of another's is made" env PATH="$full_path" \
        swiftc -static-stdlib -parse-as-library -O -c "$here/another.swift" -o "$work/another.o"
    # As its maker might: the module alone, its runtime linked by the host …
    ar rcs "$work/libanother.a" "$work/another.o"
    # … or with its own runtime inside, all but its function made local …
    ld -r --force-group-allocation -o "$work/whole.o" "$work/another.o" "$runtime/$architecture/swiftrt.o" -L"$runtime" \
        --start-group "${modules[@]}" --end-group
    objcopy --keep-global-symbol=another_count "$work/whole.o"
    ar rcs "$work/libwhole.a" "$work/whole.o"
    # … or as a shared library that needs those of Swift's runtime.
    works "a shared library of another's in Swift is made" env PATH="$full_path" \
        swiftc -parse-as-library -O -emit-library "$here/another.swift" -o "$work/libdynamic.so"

    for compiler in "$gcc" "$clang"; do
        works "$compiler links the archive, then another's with its runtime" "$compiler" "${host[@]}" "${archive[@]}" \
            "$work/libanother.a" "$runtime/$architecture/swiftrt.o" "${theirs[@]}" -lstdc++ -lm -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
        works "$compiler links another's with its runtime, then the archive" "$compiler" "${host[@]}" \
            "$work/libanother.a" "$runtime/$architecture/swiftrt.o" "${theirs[@]}" "${archive[@]}" -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
        works "$compiler links the archive and another that is made like it" "$compiler" "${host[@]}" \
            "$work/libwhole.a" "${archive[@]}" -o "$work/consumer"
        gives "  and both run" "$expected" "$work/consumer"
        # The shared library keeps its runtime to itself, whatever the host exports.
        for option in "" -rdynamic; do
            # shellcheck disable=SC2086 # an option or none
            works "$compiler links the shared library, and another's with its runtime $option" "$compiler" "${host[@]}" $option \
                "$work/libanother.a" "$runtime/$architecture/swiftrt.o" "${theirs[@]}" "${shared[@]}" -lstdc++ -lm -o "$work/consumer"
            gives "  and both run" "$expected" "$work/consumer"
        done
        for kind in shared archive; do
            local -n library=$kind
            works "$compiler links the $kind, and a shared library in Swift" "$compiler" "${host[@]}" \
                "$work/libdynamic.so" "${library[@]}" -o "$work/consumer"
            gives "  and both run" "$expected" env LD_LIBRARY_PATH="${resources%_static}/linux" "$work/consumer"
        done
    done
}
