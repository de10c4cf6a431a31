#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Every script reads this one list.
#
#   packages.sh [--tests] [--print]
#
# Lists the missing packages, then installs them: as root, or with sudo if it needs no password.
#   --tests   also installs what only the tests and examples need
#   --print   prints the missing packages, one per line, and installs nothing
set -euo pipefail

build=(
    # compilers and linkers
    binutils gcc g++ libc6-dev pkg-config git ca-certificates
    # for the list of what is inside
    python3
    # libraries that the Swift toolchain needs
    libncurses6 libxml2 libcurl4 zlib1g tzdata
    # libraries that Bellwire links
    libhttp-parser-dev libjansson-dev libqrencode-dev libsodium-dev libsqlite3-dev libssl-dev libuv1-dev libwslay-dev
    # headers of libraries that are loaded on first use
    libcurl4-openssl-dev libgif-dev libpng-dev libsystemd-dev libturbojpeg0-dev libzbar-dev
)
# clang-14, not clang: the latter would replace the clang of a Swift that was unpacked into /usr.
# dbus-daemon to python3-gi: a private bus with services that the tests simulate; iproute2 changes a network.
# fish to zsh: the shells whose completion is tested, and two formatters of manual pages.
# dunst to xvfb: real notification servers on a virtual screen, which the tests click on and capture.
tests=(
    clang-14 cmake make openssl python3 python3-venv shellcheck valgrind
    dbus-daemon iproute2 python3-dbus python3-dbusmock python3-gi util-linux
    fish groff-base man-db mandoc zsh
    dunst notification-daemon xfce4-notifyd xfconf fonts-dejavu-core imagemagick xdotool xvfb
    # an independent QR code reader, and an SVG renderer
    librsvg2-bin zbar-tools
    # for the examples in the documentation: commands, systemd units, the main loops of GLib and Qt
    curl jq libglib2.0-dev qtbase5-dev systemd
    # building and checking the Debian packages, and running the units as systemd does
    chrpath debhelper dh-python dpkg-dev lintian python3-seccomp
    # completion in bash
    bash-completion
    # examples/tray, and a panel to test it on: window manager, clipboard, accessibility tools
    gettext libgtk-3-dev libayatana-appindicator3-dev
    xfce4-panel xfwm4 xfconf x11-utils xclip at-spi2-core gir1.2-atspi-2.0 adwaita-icon-theme hicolor-icon-theme
    librsvg2-common
    # the other build of libcurl; some machines have only this one
    libcurl3-gnutls
    # for a locale with a decimal comma
    locales
    # a wall clock that the tests set
    faketime
    # proxies in front of a relay, and promtool, which checks its metrics
    caddy nginx-light libnginx-mod-stream prometheus
    # the engine of a cluster of relays
    nats-server
    # compares the shared library with that of the last release
    abigail-tools
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

# dpkg-query fails if one name is unknown, but still prints the others.
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
