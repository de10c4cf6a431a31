#!/usr/bin/env bash
# Measures how soon `bellwire agent` gets alerts shown by real notification servers.
#
#   Tests/Benchmarks/servers.sh [--short] [--count N] [--server NAME]...
#
#   --short   prints the times without bounds
#   --count   ordinary pushes before the urgent one; default 200
#   --server  dunst, xfce4-notifyd or notification-daemon; default: all
#
# Needs the notification servers, Xvfb and dbus-monitor. Measures how soon an urgent push is shown behind ordinary ones, and
# a reminder beside them, and both at a server that shows as many banners as it can (0.3 s each).
# $BELLWIRE_BUILD is where bindings/c/build.sh built; default build/ in the checkout.
# Exit: 0 all bounds held; 1 a bound was missed; 2 something was lost or could not run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BELLWIRE_BUILD:-$root/build}
"$root/Tests/prepare.sh" || exit 2
status=0
BELLWIRE_STAGE=${BELLWIRE_STAGE:-$build/stage} "$root/.build/venv/bin/python" "$root/Tests/Benchmarks/servers.py" "$@" ||
    status=$?
exit "$status"
