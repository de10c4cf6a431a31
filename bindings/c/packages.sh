#!/usr/bin/env bash
# The Debian packages that building and testing need: the one list that every script here reads.
#
#   packages.sh [--tests] [--print]
#
# Installs what is missing, after saying what that is; as root, or through sudo when that asks no password.
#   --tests   also what only the tests and examples need
#   --print   prints the missing packages, one a line, and installs nothing
set -euo pipefail

build=(
    # the compilers that Swift links with, and what the release is made with
    binutils gcc g++ libc6-dev pkg-config git ca-certificates
    # what Swift's own programs load
    libncurses6 libxml2 libcurl4 zlib1g tzdata
    # the libraries that Bellwire stands on
    libhttp-parser-dev libjansson-dev libqrencode-dev libsodium-dev libsqlite3-dev libssl-dev libuv1-dev libwslay-dev
    # of these the headers: they are loaded when they are used, where they are there
    libcurl4-openssl-dev libpng-dev libsystemd-dev libturbojpeg0-dev libzbar-dev
)
# clang-14, not clang: the latter would put itself over the clang of a Swift that was unpacked into /usr.
# dbus-daemon to python3-gi: a private bus, with services on it that the tests play; iproute2 changes a network.
# fish to zsh: the shells whose completion is tested, and both formatters of manual pages.
# dunst to xvfb: a real notification server on a screen that nobody sees, clicked on and looked at.
tests=(
    clang-14 cmake make openssl python3 python3-venv shellcheck valgrind
    dbus-daemon iproute2 python3-dbus python3-dbusmock python3-gi util-linux
    fish groff-base man-db mandoc zsh
    dunst fonts-dejavu-core imagemagick xdotool xvfb
    # a reader of QR codes that is not ours, and what turns SVG into pixels
    librsvg2-bin zbar-tools
    # what the examples in the documentation take: commands, a unit of systemd, the main loops of GLib and Qt
    curl jq libglib2.0-dev qtbase5-dev systemd
    # the Debian packages: what makes them, what looks them over, and what runs the units as systemd would
    chrpath debhelper dh-python dpkg-dev lintian python3-seccomp
    # what completes in bash
    bash-completion
    # examples/tray, and the panel that it is tried on: its window manager, the clipboard, and what reads windows out
    libgtk-3-dev libayatana-appindicator3-dev
    xfce4-panel xfwm4 xfconf x11-utils xclip at-spi2-core gir1.2-atspi-2.0 adwaita-icon-theme hicolor-icon-theme
    librsvg2-common
    # the other build of curl, which a machine may have alone
    libcurl3-gnutls
    # a locale with a decimal comma is made out of what locales has
    locales
)

packages=("${build[@]}")
print=false
for argument in "$@"; do
    case $argument in
        --tests) packages+=("${tests[@]}") ;;
        --print) print=true ;;
        *)
            echo "packages.sh: unknown option '$argument'; usage: packages.sh [--tests] [--print]" >&2
            exit 2
            ;;
    esac
done

if ! command -v apt-get > /dev/null; then
    $print && exit 0
    echo "packages.sh: apt-get not found; install the equivalents of: ${packages[*]}" >&2
    exit 1
fi

# dpkg-query fails when one of the names is unknown to it, and still prints the others.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2> /dev/null | sed -n 's/^installed //p' || true)
missing=()
for package in "${packages[@]}"; do
    grep -qxF "$package" <<< "$installed" || missing+=("$package")
done
if $print; then
    if [ ${#missing[@]} -gt 0 ]; then printf '%s\n' "${missing[@]}"; fi
    exit 0
fi
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
        as_root=(sudo -n)
    else
        echo "Packages are missing, and installing them requires root. Run this command, then try again:" >&2
        echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi

echo "Installing Debian packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" < /dev/null > "$log" 2>&1
}
# The index may be absent or old on a fresh machine.
if ! install install --no-install-recommends "${missing[@]}"; then
    if ! { install update && install install --no-install-recommends "${missing[@]}"; }; then
        tail -n 20 "$log" >&2
        echo "packages.sh: apt-get failed; its last lines are above." >&2
        exit 1
    fi
fi
