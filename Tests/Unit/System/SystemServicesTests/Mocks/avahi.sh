#!/bin/sh
# Runs a real avahi-daemon on the test's bus, in a network and file tree of its own:
#   unshare -rnm avahi.sh BUS-ADDRESS AVAHI-DAEMON
# Prints "running" before it becomes the daemon.
set -e
mount -t tmpfs none /run
# The daemon wants its user, which only an installed one has; and its messages to go to its own files.
for file in passwd group; do cp "/etc/$file" "/run/$file"; done
grep -q '^avahi:' /run/passwd || echo 'avahi:x:0:0::/:/bin/false' >> /run/passwd
grep -q '^avahi:' /run/group || echo 'avahi:x:0:' >> /run/group
for file in passwd group; do mount --bind "/run/$file" "/etc/$file"; done
printf '[server]\nuse-ipv4=yes\nuse-ipv6=yes\n[publish]\npublish-hinfo=no\n' > /run/avahi.conf
# A network card and its other end.
ip link add name bw0 type veth peer name bw1
ip address add 10.55.0.1/24 dev bw0
ip link set lo up
ip link set bw0 up
ip link set bw1 up
echo running
export DBUS_SYSTEM_BUS_ADDRESS="$1"
exec "$2" --no-drop-root --no-chroot --no-rlimits --no-proc-title -f /run/avahi.conf
