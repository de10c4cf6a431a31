#!/usr/bin/env bash
# Installs or uninstalls the output of build.sh: the libraries, the headers, pkg-config and CMake files, the bellwire
# program with its completions, man pages, the documentation, and systemd units. Needs Swift only if the build is missing.
#
#   install.sh [install] --prefix DIR [--libdir DIR] [--destdir DIR] [--stage DIR]
#   install.sh uninstall --prefix DIR [--destdir DIR]
#
#   --prefix DIR    where to install: /usr/local, ~/.local, …
#   --libdir DIR    where to install the libraries, below the prefix (default: lib)
#   --destdir DIR   installs below this directory instead of /, for building packages; no installed file contains it
#   --stage DIR     the output of build.sh (default: $BELLWIRE_STAGE, or build/stage in the checkout, which is built
#                   first if it is missing)
#
# Installing again replaces the older version. The manifest share/bellwire/install.manifest lists all installed files:
# uninstall removes them, but keeps and reports files that were changed after the installation.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

# MARK: Arguments

usage="usage: install.sh [install|uninstall] --prefix DIR [--libdir DIR] [--destdir DIR] [--stage DIR]"
action=install
prefix="" libdir="" destdir="" stage=""
case ${1:-} in
    install | uninstall)
        action=$1
        shift
        ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --libdir | --destdir | --stage)
            [ -n "${2:-}" ] || fail "$1 needs a directory; $usage"
            # A line of the manifest is a path, and systemd has no way to write such a name.
            case $2 in *[[:cntrl:]]*) fail "$1: the name must not contain control characters" ;; esac
            printf -v "${1#--}" %s "$2"
            shift 2
            ;;
        -h | --help)
            sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *) fail "unknown argument '$1'; $usage" ;;
    esac
done
[ -n "$prefix" ] || fail "--prefix is required; $usage"
prefix=$(realpath --canonicalize-missing --no-symlinks -- "$prefix")
[ -z "$destdir" ] || destdir=$(realpath --canonicalize-missing --no-symlinks -- "$destdir")
# Both without a slash at the end, also where they are /.
target=${destdir%/}${prefix%/}
manifest=share/bellwire/install.manifest

# MARK: The manifest
# Lines of a kind, a tab, and a path below the prefix:
#   file SHA256 PATH, link DESTINATION PATH, directory - PATH (one that was made for it), prefix - . (this was, too)

# Prints a manifest that can be trusted to name nothing outside the prefix.
read_manifest() {
    local file=$1
    if ! awk -F '\t' '
        $0 == "prefix\t-\t." { next }
        NF != 3 || $1 !~ /^(file|link|directory)$/ || $3 == "" || $3 ~ /^\/|(^|\/)\.\.?(\/|$)|\/\// { exit 1 }
    ' "$file"; then
        fail "$file is damaged, so nothing was removed; delete it and the files it lists by hand"
    fi
    cat "$file"
}

# unchanged KIND VALUE PATH: whether it is still as it was installed.
unchanged() {
    case $1 in
        file) [ -f "$3" ] && [ ! -L "$3" ] && [ "$(sha256sum < "$3")" = "$2  -" ] ;;
        link) [ -L "$3" ] && [ "$(readlink -- "$3")" = "$2" ] ;;
    esac
}

# remove_files MANIFEST: removes what it lists as it was installed.
remove_files() {
    local kind value path
    while IFS=$'\t' read -r kind value path; do
        if unchanged "$kind" "$value" "$target/$path"; then rm -f -- "$target/$path"; fi
    done < <(grep -E '^(file|link)' <<< "$1")
    while IFS= read -r path; do
        if [ -e "$target/$path" ] || [ -L "$target/$path" ]; then
            echo "install.sh: kept, because it was changed after the installation: $target/$path" >&2
        fi
    done < <(grep -E '^(file|link)' <<< "$1" | cut -f 3 | sort -u)
}

# remove_directories MANIFEST: removes those that it lists, the deepest first, where they are empty.
remove_directories() {
    local path
    while IFS= read -r path; do
        if [ -d "$target/$path" ] && [ ! -L "$target/$path" ]; then
            rmdir --ignore-fail-on-non-empty -- "$target/$path"
        fi
    done < <(sed -n 's/^directory\t-\t//p' <<< "$1" | sort -r)
    if grep -qx 'prefix	-	.' <<< "$1"; then rmdir --ignore-fail-on-non-empty -- "$target"; fi
}

# MARK: Uninstall

if [ "$action" = uninstall ]; then
    [ -z "$libdir$stage" ] || fail "uninstall accepts only --prefix and --destdir; the rest is in the manifest"
    [ -f "$target/$manifest" ] \
        || fail "install.sh has not installed anything in ${target:-/}: $target/$manifest is missing; use the same --prefix and --destdir as for the installation"
    listed=$(read_manifest "$target/$manifest")
    remove_files "$listed"
    rm -f -- "$target/$manifest"
    remove_directories "$listed"
    echo "Removed from ${target:-/}"
    exit 0
fi

# MARK: What is installed, put together

libdir=${libdir:-lib}
case $libdir in
    /*) libdir=$(realpath --canonicalize-missing --no-symlinks --relative-to="${prefix%/}/" -- "$libdir") ;;
    *) libdir=$(realpath --canonicalize-missing --no-symlinks --relative-to=/ -- "/$libdir") ;;
esac
case $libdir in . | .. | ../*) fail "--libdir must be below the prefix $prefix" ;; esac

stage=${stage:-${BELLWIRE_STAGE:-}}
if [ -n "$stage" ]; then
    stage=$(realpath --canonicalize-missing -- "$stage")
else
    stage=$root/build/stage
    [ -f "$stage/bin/bellwire" ] || "$here/build.sh"
fi
for part in lib/libbellwire.so.1 lib/libbellwire.a include/bellwire.h bin/bellwire share/man/man3/bellwire.3 share/doc/bellwire/README.md; do
    [ -f "$stage/$part" ] || fail "$stage is not a complete build: $part is missing; run bindings/c/build.sh"
done
program=$stage/bin/bellwire
version=$(sed -n 's/^#define BW_VERSION "\(.*\)"$/\1/p' "$stage/include/bellwire.h")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"

# put MODE FILE PATH: a file of what is installed; FILE - is the standard input.
put() {
    mkdir -p "$tree/$(dirname "$3")"
    if [ "$2" = - ]; then cat > "$tree/$3"; else cp -- "$2" "$tree/$3"; fi
    chmod "$1" "$tree/$3"
}

# said PATH ARGUMENTS…: what the program prints of itself.
said() {
    local path=$1
    shift
    "$program" "$@" > "$work/said" < /dev/null || fail "'$program $*' failed: the build is older than install.sh; run bindings/c/build.sh again"
    [ -s "$work/said" ] || fail "'$program $*' printed nothing"
    put 644 "$work/said" "$path"
}

# described TEMPLATE PATH: a template, in which the way from the libraries to the prefix is the number of their parents.
described() {
    # shellcheck disable=SC2001 # a pattern that repeats
    sed -e "s/@VERSION@/$version/g" -e "s|@PREFIX@|$(sed 's|[^/]\+|..|g' <<< "$libdir")|g" "$1" | put 644 - "$2"
}

# unit TEMPLATE PATH: a systemd unit with the program's place, as systemd quotes it.
unit() {
    local word=${prefix%/}/bin/bellwire line
    word=${word//\\/\\\\}
    word=${word//%/%%}
    word=${word//\"/\\\"}
    case $word in *[!A-Za-z0-9/._+@%-]*) word=\"$word\" ;; esac
    while IFS= read -r line; do
        printf '%s\n' "${line//@BELLWIRE@/"$word"}"
    done < "$1" | put 644 - "$2"
}

put 755 "$stage/lib/libbellwire.so.1" "$libdir/libbellwire.so.1"
ln -s libbellwire.so.1 "$tree/$libdir/libbellwire.so"
put 644 "$stage/lib/libbellwire.a" "$libdir/libbellwire.a"
for file in "$stage"/include/*.h; do
    put 644 "$file" "include/$(basename "$file")"
done
for file in "$here"/*.pc.in; do
    described "$file" "$libdir/pkgconfig/$(basename "$file" .in)"
done
for file in "$here"/cmake/*.in; do
    described "$file" "$libdir/cmake/bellwire/$(basename "$file" .in)"
done

put 755 "$program" bin/bellwire
said share/bash-completion/completions/bellwire completion bash
said share/zsh/site-functions/_bellwire completion zsh
said share/fish/vendor_completions.d/bellwire.fish completion fish
said share/man/man1/bellwire.1 man
commands=$("$program" man --list < /dev/null) || fail "'$program man --list' failed: the build is older than install.sh; run bindings/c/build.sh again"
[ -n "$commands" ] || fail "'$program man --list' printed nothing"
while IFS= read -r command; do
    [[ $command =~ ^[a-z][a-z-]*$ ]] || fail "'$program man --list' printed '$command', which is not a command name"
    said "share/man/man1/bellwire-$command.1" man "$command"
done <<< "$commands"
for file in "$stage"/share/man/man3/*.3; do
    put 644 "$file" "share/man/man3/$(basename "$file")"
done

unit "$root/bindings/systemd/bellwire-relay.service.in" lib/systemd/system/bellwire-relay.service
unit "$root/bindings/systemd/bellwire-desktop@.service.in" lib/systemd/system/bellwire-desktop@.service
# In share, not in lib: there the user's manager also finds those of ~/.local.
unit "$root/bindings/systemd/bellwire-desktop.service.in" share/systemd/user/bellwire-desktop.service
unit "$root/bindings/systemd/bellwire-agent.service.in" share/systemd/user/bellwire-agent.service
put 644 "$root/bindings/systemd/relay.conf" share/doc/bellwire/examples/relay.conf
put 644 "$root/bindings/systemd/desktop.conf" share/doc/bellwire/examples/desktop.conf
put 644 "$stage/share/doc/bellwire/README.md" share/doc/bellwire/README.md
for file in "$stage"/share/doc/bellwire/documentation/*; do
    put 644 "$file" "share/doc/bellwire/documentation/$(basename "$file")"
done
put 644 "$root/LICENSE" share/doc/bellwire/LICENSE
put 644 "$stage/share/doc/bellwire/bellwire.spdx.json" share/doc/bellwire/bellwire.spdx.json
for licence in "$stage"/share/doc/bellwire/licences/*; do
    put 644 "$licence" "share/doc/bellwire/licences/$(basename "$licence")"
done

# MARK: Install

before=""
if [ -f "$target/$manifest" ]; then before=$(read_manifest "$target/$manifest"); fi

# What is there already belongs to somebody else, unless the manifest says that it was made for us.
mkdir -p "$tree/$(dirname "$manifest")"
(cd "$tree" && find . -mindepth 1 -type d -printf '%P\n') | sort > "$work/directories"
(cd "$tree" && find . -type f -printf '%P\n') | sort > "$work/files"
(cd "$tree" && find . -type l -printf '%l\t%P\n') | sort > "$work/links"
{
    if [ ! -d "${target:-/}" ] || grep -qx 'prefix	-	.' <<< "$before"; then printf 'prefix\t-\t.\n'; fi
    while IFS= read -r path; do
        if [ ! -d "$target/$path" ] || grep -qxF "directory	-	$path" <<< "$before"; then
            printf 'directory\t-\t%s\n' "$path"
        fi
    done < "$work/directories"
    (cd "$tree" && xargs -r -d '\n' sha256sum -- < "$work/files") | sed -E 's/^([0-9a-f]{64}) [ *](.*)$/file\t\1\t\2/'
    sed 's/^/link\t/' "$work/links"
} > "$work/manifest"

# replace FILE PATH: at no time is there half a file, and a program that runs keeps the library that it has loaded.
replace() {
    # Never through a link that stands there.
    rm -f -- "$2.bellwire-new"
    cp --no-dereference --preserve=mode --no-target-directory -- "$1" "$2.bellwire-new"
    mv --no-target-directory --force -- "$2.bellwire-new" "$2"
}

while IFS= read -r path; do
    mkdir -p -- "$target/$path"
done < "$work/directories"
# Of an install that is interrupted the manifest already names everything, old and new.
{
    cat "$work/manifest"
    if [ -n "$before" ]; then echo "$before"; fi
} | sort -u > "$work/both"
replace "$work/both" "$target/$manifest"
while IFS= read -r path; do
    replace "$tree/$path" "$target/$path"
done < <(cat "$work/files" && cut -f 2 "$work/links")

# What an older version had and this one has not.
gone=$(awk -F '\t' 'NR == FNR { kept[$3] = 1; next } !($3 in kept)' "$work/manifest" - <<< "$before")
if [ -n "$gone" ]; then
    remove_files "$gone"
    remove_directories "$gone"
fi
replace "$work/manifest" "$target/$manifest"

echo "Installed in ${target:-/}"
# Where the loader looks by itself, once it is told to look again.
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig > /dev/null; then
    if ldconfig -v 2> /dev/null | grep -qE "^$(realpath -- "$target/${libdir:-lib}"):"; then ldconfig; fi
fi
