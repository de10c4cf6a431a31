#!/usr/bin/env bash
# Runs a real dunst on the test's bus, on a screen that nobody sees:
#   dunst.sh BUS-ADDRESS DIRECTORY
# Prints "running" when it shows notifications. Then each line of standard input is one of
#   shot FILE          a picture of the screen, as PNG
#   click X Y BUTTON   a click there
# and is answered with "done", or "failed". Ends with its input.
set -uo pipefail
bus=$1 directory=$2

cat > "$directory/dunstrc" << 'CONFIGURATION'
[global]
    width = 500
    height = 400
    origin = top-left
    offset = 20x20
    font = DejaVu Sans 12
    format = "<b>%s</b>\n%b"
    markup = full
    min_icon_size = 48
    max_icon_size = 48
    enable_recursive_icon_lookup = false
    mouse_left_click = do_action
    mouse_middle_click = close_current
    mouse_right_click = none
[urgency_normal]
    background = "#204060"
    foreground = "#ffffff"
    timeout = 0
[urgency_critical]
    background = "#802020"
    foreground = "#ffffff"
    timeout = 0
CONFIGURATION

server="" screen=""
trap 'kill $server $screen 2> /dev/null; wait' EXIT
trap exit HUP INT TERM
# The screen also ends by itself, with the last who looks at it.
Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp -terminate 3> "$directory/display" 2> "$directory/xvfb.log" &
screen=$!
for _ in $(seq 100); do
    [ -s "$directory/display" ] && break
    sleep 0.1
done
DISPLAY=":$(cat "$directory/display")"
export DISPLAY DBUS_SESSION_BUS_ADDRESS=$bus
# Fonts and icons are looked for where nobody's own settings are.
export HOME=$directory XDG_CONFIG_HOME=$directory XDG_CACHE_HOME=$directory LC_ALL=C.UTF-8
dunst -config "$directory/dunstrc" > "$directory/dunst.log" 2>&1 &
server=$!
echo running

while read -r command first second third; do
    case $command in
        shot) import -window root "$first" ;;
        click) xdotool mousemove "$first" "$second" click "$third" ;;
        *) false ;;
    esac > "$directory/command.log" 2>&1 && answer="done" || answer=failed
    echo "$answer"
done
