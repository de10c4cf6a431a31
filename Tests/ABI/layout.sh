# shellcheck shell=bash disable=SC2154 # run.sh sets what these share
# Sourced by run.sh: exported symbols, required libraries and hardening of the libraries.

test_layout() {
    local so=$stage/lib/libbellwire.so.1 archive=$stage/lib/libbellwire.a declared dynamic objects marks object

    # The compiler's own list of what the header declares; build.sh reads the header in another way.
    echo '#include <bellwire.h>' > "$work/declared.c"
    "$gcc" -I"$stage/include" -fsyntax-only -aux-info "$work/declared.txt" "$work/declared.c"
    declared=$(sed -n 's/^.*bellwire\.h:.*[ *]\(bw_[a-z0-9_]*\) (.*$/\1/p' "$work/declared.txt" | sort -u)
    same "the header declares functions" "$(($(wc -l <<< "$declared") > 50))" 1

    same "the installed header is the project's" "$(sha256sum < "$stage/include/bellwire.h")" "$(sha256sum < "$root/include/bellwire.h")"
    same "every function of the header is implemented in Swift, and no other" \
        "$(grep -rhoE '@_cdecl\("bw_[a-z0-9_]+"\)' "$root/Sources/Library/CABI" | sed 's/.*"\(.*\)".*/\1/' | sort)" "$declared"
    same "each is implemented against the header" \
        "$(grep -rhE -A 2 '@_cdecl\("bw_' "$root/Sources/Library/CABI" | tr -d '\n' | grep -oE '@_cdecl\("bw_[a-z0-9_]+"\) *@implementation *public func bw_[a-z0-9_]+' \
            | sed 's/.*func //' | sort)" "$declared"
    same "the shared library exports the header's functions, under BELLWIRE_1, and nothing else" \
        "$(nm -D --defined-only --with-symbol-versions "$so" | awk '$2 != "A" { print $3 }' | sort)" \
        "$(awk '{ print $0 "@@BELLWIRE_1" }' <<< "$declared")"
    same "the archive's global symbols are the header's functions" \
        "$(nm --defined-only --extern-only "$archive" | awk 'NF == 3 { print $3 }' | sort)" "$declared"
    same "the archive leaves no symbol of Swift's to the host" \
        "$(nm --undefined-only "$archive" | awk '{ print $NF }' | grep -vE '^__(start|stop)_bellwire_swift5_' \
            | grep -E '^(_?swift|[$]s|_?dispatch_|_Block_|__(start|stop)_)')" ""

    # Otherwise the checks below would pass on no output.
    same "the tools read the libraries" \
        "$(($(objdump -r "$archive" | grep -cE ' R_(X86_64|AARCH64)_') > 0)) $(($(readelf -VW "$so" | grep -c 'GLIBC_') > 0))" "1 1"
    # Such relocations a linker can make in programs alone.
    same "the archive is position-independent" \
        "$(objdump -r "$archive" | grep -oE ' (R_X86_64_(32S?|TPOFF32|GOTTPOFF)|R_AARCH64_TLSLE_[A-Z0-9_]+) ' | sort -u)" ""
    same "the archive takes nothing of jansson's or libuv's from its host" \
        "$(nm --undefined-only "$archive" | awk '{ print $NF }' | grep -E '^(json|uv)_')" ""
    same "nothing calls what would read the copies of libc's variables in the archive (bindings/c/archive.c)" \
        "$(grep -rnE '\b(json_loadf|json_dumpf|uv_print_(all|active)_handles|uv_spawn|uv_os_environ)\(' "$root/Sources")" ""
    same "complaints.c gives user data to every function that takes some" \
        "$("$gcc" -E -P -I"$stage/include" "$here/complaints.c" | sed -n '/^static bw_status give_user_data/,/^}/p' | grep -oE 'bw_[a-z0-9_]+\(' | tr -d '(' | sort -u)" \
        "$(sed -n 's/^.*bellwire\.h:.*[ *]\(bw_[a-z0-9_]*\) (.*bw_destroy.*$/\1/p' "$work/declared.txt" | sort -u)"
    same "modules that valgrind.supp covers have no unsafe code" \
        "$(grep -rli unsafe "$root"/Sources/{Features/Pairing,Roles/{Peering,Device,Desktop,DeviceAlerts}} 2>&1)" ""

    dynamic=$(readelf -dW "$so")
    same "the soname" "$(sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' <<< "$dynamic")" libbellwire.so.1
    same "no path to search libraries in" "$(grep -E '\((RPATH|RUNPATH)\)' <<< "$dynamic")" ""
    same "it stays loaded, binds at load, has no text relocations" \
        "$(sed -n 's/.*(FLAGS_1) *Flags: //p' <<< "$dynamic" | tr ' ' '\n' | grep -xE 'NODELETE|NOW' | sort | paste -sd' ')$(grep -F TEXTREL <<< "$dynamic")" \
        "NODELETE NOW"
    same "its relocations are read-only after loading, its stack is not executable" \
        "$(readelf -lW "$so" | awk '$1 == "GNU_RELRO" { print $1 } $1 == "GNU_STACK" { print $1, $7 }' | sort | paste -sd' ')" \
        "GNU_RELRO GNU_STACK RW"
    objects=("${stage%/*}"/swift/release/{COnDemand,COpenSSL,CEnvironment}.build/*.o)
    case $(uname -m) in aarch64) marks="AArch64 feature: BTI, PAC" ;; *) marks="x86 feature: IBT, SHSTK" ;; esac
    same "its C code marks the targets of indirect jumps" \
        "$(for object in "${objects[@]}"; do readelf -nW "$object" | grep -oF "$marks" || echo "$object"; done | sort -u)" "$marks"
    same "its C code checks its buffers and its stack" \
        "$(nm --undefined-only -D "$so" "$stage/bin/bellwire" | grep -oE '__(snprintf|stack)_chk' | sort | uniq -c | awk '{ print $2 $1 }' | paste -sd' ')" \
        "__snprintf_chk2 __stack_chk2"
    same "the program binds at load, has read-only relocations and no path to search libraries in" \
        "$(readelf -dW "$stage/bin/bellwire" | grep -oE '\bNOW\b|RUNPATH|RPATH' | sort -u | paste -sd' ') $(readelf -lW "$stage/bin/bellwire" | grep -oE 'GNU_RELRO' | sort -u)" \
        "NOW GNU_RELRO"
    same "it needs only libraries that Debian has" \
        "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<< "$dynamic" | sed 's/^ld-linux.*/ld-linux/' \
            | grep -vxE 'libjansson\.so\.4|libuv\.so\.1|libwslay\.so\.1|libhttp_parser\.so\.2\.9|libssl\.so\.3|libcrypto\.so\.3|libsodium\.so\.23|libsqlite3\.so\.0|libqrencode\.so\.4|libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux')" ""
    same "it needs glibc 2.34 or older, by its symbols and its relocations" \
        "$(readelf -VW "$so" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1 | sed -E 's/GLIBC_2\.([0-9]|[12][0-9]|3[0-4])$//')$(grep -F '(RELR)' <<< "$dynamic")" ""
    same "OpenSSL is loaded when it is used" "$(grep -oE 'lib(ssl|crypto)\.so' <<< "$dynamic")" ""
    same "it is stripped" "$(readelf -SW "$so" | grep -oE '\.(symtab|debug_[a-z]+)')" ""
    objcopy -O binary --only-section=swift5_backtrace "$stage/bin/bellwire" "$work/backtrace"
    same "the section that link.sh leaves out of the file holds zeros" \
        "$(stat -c %s "$work/backtrace") $(tr -d '\0' < "$work/backtrace" | wc -c)" "65536 0"
    same "it is at most 13 MB" "$(($(stat -c %s "$so") <= 13000000))" 1
    same "libbellwire.so leads to it" "$(readlink "$stage/lib/libbellwire.so")" libbellwire.so.1
    same "no path of this checkout is in it" "$(strings "$so" | grep -F "$root" | head -n 3)" ""
    gives "the program runs with no Swift" "$(sed -n 's/^#define BW_VERSION "\(.*\)"/\1/p' "$root/include/bellwire.h")" \
        sh -c "'$stage/bin/bellwire' --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+'"
}

# Bounds on types and files, then a sample of each violation to show that the check can fail.
test_structure() {
    local sample=$work/structure name
    local folder=$sample/Features/Sample
    same "types and files are within their bounds, and nothing else is keyed by peer" \
        "$(python3 "$here/structure.py" "$root/Sources" 2>&1)" ""

    mkdir -p "$folder" "$sample/Network/Below" "$sample/Roles/Above" "$sample/Loose"
    {
        echo 'struct Large<Value> where Value: Sendable {'
        for name in {a..o}; do echo "    private(set) var ${name}1: [String: (Int, @Sendable (Int) -> Void)] = [:]"; done
        cat << 'SWIFT'
    let last: Result<Int, Never>, text = "} // not the end: \(Other { $0 })"
}

/// Exactly the 15 that are allowed. The others are not stored.
final class Small {
    static let shared = Small()
    var computed: Int { let local = 1; return local }
    var long: Int {
        get { stored }
        set { stored = newValue }
    }
    var stored = 0 { didSet { let local = oldValue; print(local) } }
    lazy var made: Int = { let local = 1; return local }()
    var (x, y) = (0, 0)
SWIFT
        for name in {a..k}; do echo "    var ${name}2: Int?"; done
        cat << 'SWIFT'
    func call(_ let: Int) { var local = 0; local += let }
    enum Kind { case one; static var count = 0 }
}

actor Keyed {
    var seen: [PeerID: Int] = [:]
    let given: [PeerID: Int] = [:]
    var kept: Dictionary<PeerID, Int>?
}
SWIFT
        for name in Device Desktop; do
            echo "final class ${name}Switchboard {"
            for property in {a..l}; do echo "    let $property: Int"; done
            if [[ $name == Desktop ]]; then echo '    private lazy var m = 0'; fi
            echo '}'
        done
    } > "$folder/Types.swift"
    yes '// line' | head -n 501 > "$folder/Long.swift"
    yes '// line' | head -n 500 > "$folder/NotLong.swift"
    yes '// line' | head -n 201 > "$folder/DeviceSwitchboard.swift"
    yes '// line' | head -n 200 > "$folder/DeviceSwitchboard+More.swift"
    yes '// line' | head -n 400 > "$folder/DesktopSwitchboard.swift"
    {
        echo 'import Below'
        echo 'package import Above'
        echo 'import struct Above.Value'
    } > "$folder/Imports.swift"
    echo 'import Sample' > "$sample/Roles/Above/Imports.swift"
    same "each violation is found, and nothing else" \
        "$(python3 "$here/structure.py" "$sample" | sed -E "s%^($folder|$sample)/%%; s/(stored properties).*/\1/; s/(is keyed by peer).*/\1/")" \
        "DeviceSwitchboard.swift:1: DeviceSwitchboard has 401 lines; at most 400
Long.swift:1: 501 lines; at most 500
Types.swift:1: Large has 17 stored properties
Types.swift:46: Keyed.seen is keyed by peer
Types.swift:46: Keyed.kept is keyed by peer
Types.swift:65: DesktopSwitchboard has 13 stored properties
Loose:1: Loose is not a floor
Imports.swift:2: Sample imports Above from Roles, a floor above its own
Imports.swift:3: Sample imports Above from Roles, a floor above its own"
    same "with findings it fails" "$(python3 "$here/structure.py" "$sample" > /dev/null; echo $?)" 1
    works "without findings it succeeds" python3 "$here/structure.py" "$root/Sources"
}

test_header() {
    local compiler header
    same "the installed header for json_t is the project's" \
        "$(sha256sum < "$stage/include/bellwire_jansson.h")" "$(sha256sum < "$root/include/bellwire_jansson.h")"
    for header in bellwire bellwire_jansson; do
        echo "#include <$header.h>
int main(void) { return bw_abi_version() == BW_ABI_VERSION ? 0 : 1; }" > "$work/header.c"
        cp "$work/header.c" "$work/header.cc"
        for compiler in "$gcc -std="{c99,c11,c17,gnu2x} "$clang -std="{c99,c11,c17,gnu2x}; do
            # shellcheck disable=SC2086 # a compiler and its options
            works "$header.h compiles: $compiler" $compiler "${warnings[@]}" -Wshadow -Wconversion -Wcast-qual -Wstrict-prototypes \
                -I"$stage/include" -fsyntax-only "$work/header.c"
        done
        for compiler in "$gxx -std="{c++11,c++14,c++17,c++20} "$clangxx -std="{c++11,c++14,c++17,c++20}; do
            # shellcheck disable=SC2086
            works "$header.h compiles: $compiler" $compiler "${warnings[@]}" -Wshadow -Wconversion -Wold-style-cast \
                -I"$stage/include" -fsyntax-only "$work/header.cc"
        done
    done
    # Included first, last, and twice, it needs nothing before it.
    echo '#include <bellwire.h>
#include <bellwire_jansson.h>
#include <bellwire.h>
#include <bellwire_jansson.h>
bw_status (*open_function)(const char *, bw_device **) = bw_device_open;' > "$work/twice.c"
    works "the headers can be included twice" "$gcc" -std=c99 "${warnings[@]}" -I"$stage/include" -fsyntax-only "$work/twice.c"
}
