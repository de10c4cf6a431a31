#!/usr/bin/env bash
# Builds the Debian packages libbellwire1, libbellwire-dev, python3-bellwire, bellwire and bellwire-tray, with debhelper,
# from the output of bindings/c/build.sh and the sources of examples/tray. The build is reproducible.
#
#   build.sh [--output DIR] [--stage DIR]
#
#   --output DIR   where to put the packages (default: build/debian in the checkout)
#   --stage DIR    the tree that bindings/c/build.sh made (default: $BELLWIRE_STAGE, or build/stage in the checkout, which
#                  is built first when it is not there)
# bindings/c/packages.sh --tests installs what it needs. DEBFULLNAME and DEBEMAIL name the maintainer, BELLWIRE_HOMEPAGE
# and BELLWIRE_VCS the project's page and repository: https URLs.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C.UTF-8
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$root/bindings/python/src/bellwire

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

usage="usage: build.sh [--output DIR] [--stage DIR]"
output=$root/build/debian
stage=""
while [ $# -gt 0 ]; do
    case $1 in
        --output | --stage)
            [ -n "${2:-}" ] || fail "$1 needs a directory; $usage"
            printf -v "${1#--}" %s "$(realpath --canonicalize-missing -- "$2")"
            shift 2
            ;;
        -h | --help)
            sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *) fail "unknown argument '$1'; $usage" ;;
    esac
done

# MARK: What it needs

for tool in dpkg-buildpackage dh dh_python3 chrpath msgfmt; do
    command -v "$tool" > /dev/null || fail "$tool is missing; run bindings/c/packages.sh --tests"
done
[ -f "$python/__init__.py" ] || fail "the Python package is not in this checkout: $python/__init__.py is missing"
stage=${stage:-${BELLWIRE_STAGE:-}}
if [ -z "$stage" ]; then
    stage=$root/build/stage
    [ -f "$stage/bin/bellwire" ] || "$root/bindings/c/build.sh"
fi
[ -f "$stage/lib/libbellwire.so.1" ] || fail "$stage is not a complete build; run bindings/c/build.sh"

# Every time in the packages is that of the last commit, or what the environment says.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2> /dev/null) \
        || fail "this is not a git checkout: set SOURCE_DATE_EPOCH to the time of the sources, in seconds"
fi
export SOURCE_DATE_EPOCH

# The project has no public address of its own yet. A name below .invalid never leads anywhere.
homepage=${BELLWIRE_HOMEPAGE:-https://bellwire.invalid}
vcs=${BELLWIRE_VCS:-$homepage/bellwire}
for url in "$homepage" "$vcs"; do
    [[ $url =~ ^https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/-]*)?$ ]] || fail "'$url' is not an https URL: see BELLWIRE_HOMEPAGE and BELLWIRE_VCS in --help"
done

version=$(sed -n 's/^#define BW_VERSION "\(.*\)"$/\1/p' "$stage/include/bellwire.h")

# MARK: The tree that the packages are made in

mkdir -p "$output" || fail "cannot create $output"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/bellwire-$version
mkdir -p "$tree/bindings/c" "$tree/debian/source" "$tree/stage" "$tree/python" "$tree/tray"

cp -a "$root/LICENSE" "$tree/"
cp -a "$root/bindings/c/install.sh" "$root/bindings/c"/*.pc.in "$root/bindings/c/cmake" "$tree/bindings/c/"
cp -a "$root/bindings/systemd" "$tree/bindings/"
cp -a "$stage/bin" "$stage/include" "$stage/lib" "$stage/share" "$tree/stage/"

tar -C "$root/examples/tray" --exclude=build --exclude=screenshots -c . | tar -C "$tree/tray" -x

# The library that a wheel carries inside is that of the package libbellwire1 here.
tar -C "$(dirname "$python")" --exclude=__pycache__ --exclude='*.so*' --exclude=_lib -c bellwire | tar -C "$tree/python" -x
metadata=$tree/python/bellwire-$version.dist-info
mkdir "$metadata"
cat > "$metadata/METADATA" << METADATA
Metadata-Version: 2.1
Name: bellwire
Version: $version
Summary: End-to-end encrypted push notifications between your own machines
License: MIT
Requires-Python: >=3.9
Project-URL: Homepage, $homepage
Project-URL: Source, $vcs
METADATA

addressed() { sed "s|@HOMEPAGE@|$homepage|; s|@VCS@|$vcs|"; }
addressed < "$here/control" > "$tree/debian/control"
"$here/copyright.py" --licence "$root/LICENSE" --sbom "$stage/share/doc/bellwire/bellwire.spdx.json" | addressed > "$tree/debian/copyright"
cp -a "$here"/{rules,not-installed,*.install,*.postinst,*.prerm,*.postrm,*.lintian-overrides} "$tree/debian/"
"$here/symbols.sh" > "$tree/debian/libbellwire1.symbols"
echo "3.0 (quilt)" > "$tree/debian/source/format"
cat > "$tree/debian/changelog" << CHANGELOG
bellwire ($version-1) unstable; urgency=medium

  * Bellwire $version.

 -- ${DEBFULLNAME:-The Bellwire authors} <${DEBEMAIL:-authors@bellwire.invalid}>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

# Of a file that is older than the commit the package would keep the time of this checkout.
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

# MARK: Build

if ! (cd "$tree" && dpkg-buildpackage --build=binary --no-sign) > "$work/log" 2>&1 < /dev/null; then
    tail -n 40 "$work/log" >&2
    fail "dpkg-buildpackage failed; its last lines are above"
fi
mv "$work"/*.deb "$output/"
(cd "$output" && stat -c '  %n: %s bytes' ./*.deb)
echo "Built in $output"
