#!/usr/bin/env bash
# Prints what Tests/run.sh runs at the moment, and for how long: a line when this has changed, otherwise every two minutes.
#
#   Tests/progress.sh DIRECTORY PID [SECONDS]
#
#   DIRECTORY   has a file for each running suite, with the time of its start in seconds since 1970
#   PID         ends with this process
#   SECONDS     between two looks (default: 30); the first comes after a tenth of it
set -uo pipefail
export LC_ALL=C.UTF-8

directory=$1 pid=$2 pause=${3:-30}
before="" quiet=0
# A pipe that nothing is written to: reading from it waits without a process of its own, which could outlive this one.
exec {nothing}<> <(:)

look() {
    local file begin text="" names="" now
    now=$(date +%s)
    for file in "$directory"/*; do
        # It can end between the two.
        { read -r begin < "$file"; } 2> /dev/null || continue
        names+=" ${file##*/}"
        text+=", ${file##*/} $((now - begin)) s"
    done
    if [ "$names" = "$before" ] && [ "$quiet" -lt 3 ]; then
        quiet=$((quiet + 1))
        return
    fi
    before=$names quiet=0
    if [ -n "$text" ]; then echo "$(date +%T) running: ${text#, }"; fi
}

read -rt "$(awk -v pause="$pause" 'BEGIN { print pause / 10 }')" -u "$nothing"
while kill -0 "$pid" 2> /dev/null; do
    look
    read -rt "$pause" -u "$nothing" || true
done
