# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: the archive inside shared libraries that a host loads, as plug-ins, JNI and Node addons are.

test_plugin() {
    local compiler options version_of_header
    version_of_header=$(sed -n 's/^#define BW_VERSION "\(.*\)"$/\1/p' "$root/include/bellwire.h")
    archive_options
    works "a host that loads plug-ins" "$gcc" -std=c99 "${warnings[@]}" "$here/host.c" -ldl -o "$work/host"
    for compiler in "$gcc" "$clang"; do
        works "$compiler links the archive into a shared library" "$compiler" -std=c99 "${warnings[@]}" -shared -fPIC \
            -Wl,-z,defs -Wl,-z,text -I"$stage/include" "$here/plugin.c" "${options[@]}" -o "$work/first.so"
        gives "  which works where it is loaded" "first: $version_of_header opens" "$work/host" "$work/first.so"
    done
    # Two plug-ins of different makers, each with its own copy.
    cp "$work/first.so" "$work/second.so"
    gives "  and so do two of them in one host" \
        "first: $version_of_header opens"$'\n'"second: $version_of_header opens" "$work/host" "$work/first.so" "$work/second.so"
    if PATH=$full_path command -v rustc > /dev/null; then test_cdylib; fi
}

# A Rust cdylib with the archive inside. Rust is not among what Tests/run.sh installs: where it is, it is tried.
test_cdylib() {
    local arguments=() option
    for option in "${options[@]}"; do arguments+=(-C "link-arg=$option"); done
    works "rustc links the archive into a cdylib" env PATH="$full_path" \
        rustc --edition 2021 --crate-type cdylib "$here/plugin.rs" "${arguments[@]}" -o "$work/rust.so"
    gives "  which works where it is loaded" "rust: $version_of_header opens" "$work/host" "$work/rust.so"
}
