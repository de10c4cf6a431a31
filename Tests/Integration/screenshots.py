"""Takes the pictures of examples/tray that the README shows, anew. Not a test: pytest runs it only when it is named.

.build/venv/bin/python -m pytest Tests/Integration/screenshots.py
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from desktopbus import SYSTEM_PYTHON
from hosts import Host
from programs import wait_until
from test_tray import House, Start, history
from trays import HEIGHT, SOURCES, WIDTH, Session, Tray, Window, build_tray, missing_tray

pytestmark = pytest.mark.skipif(missing_tray() is not None, reason=str(missing_tray()))

PICTURES = SOURCES / "screenshots"
BACKGROUND = "#24405a"
#: A window behind all others: nothing else paints the background where windows have shadows.
DESKTOP = """
import sys
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk
style = Gtk.CssProvider()
style.load_from_data(("window { background: %s; }" % sys.argv[1]).encode())
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, 800)
window = Gtk.Window(title="Background", type_hint=Gdk.WindowTypeHint.DESKTOP)
window.set_default_size(2000, 2000)
window.connect("map-event", lambda *_: print("shown", flush=True))
window.show()
Gtk.main()
"""
#: Who sends, what, and whether it has been read.
NOTIFICATIONS = [
    ("Studio", "Backup finished", "48 GB in 12 minutes, nothing skipped", "normal", True),
    ("Office NAS", "Disk 2 reports 48 °C", "Warmer than usual; the fan runs at full speed", "high", False),
    ("Studio", "Anna: lunch at one?", "The usual place, or the new one by the river", "normal", False),
    ("Studio", "Tests passed", "1,284 tests in 4 min 12 s on branch release", "normal", False),
    ("Office NAS", "Snapshot kept", "Weekly snapshot 47 of /home", "normal", True),
    ("Studio", "Build done", "bellwire 0.1.0 for Debian 12: all packages are in the archive", "normal", False),
]


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    """On a screen with a background and shadows, as a person has it."""
    session = Session(tmp_path / "session", pretty=True)
    session.run(SYSTEM_PYTHON, "-c", DESKTOP, BACKGROUND).line("shown")
    session.start_panel()
    house = House(start, relay, session, build_tray(tmp_path / "build"), tmp_path)
    yield house
    house.close()
    session.close()


def until_read(desktop: Host, title: str) -> None:
    wait_until(lambda: [row["read"] for row in history(desktop) if row["title"] == title] == [True])


def settled(session: Session) -> None:
    """Until two pictures in a row are the same: nothing is being drawn or faded in."""
    last: list[str] = []

    def is_the_same() -> bool:
        last.append(session.colours())
        return len(last) > 4 and len(set(last[-4:])) == 1

    wait_until(is_the_same, 20)


def keep(session: Session, name: str, area: str) -> None:
    settled(session)
    whole = session.home / "screen.png"
    session.picture(whole)
    subprocess.run(["convert", whole, "-crop", area, "+repage", "-strip", PICTURES / f"{name}.png"], check=True)


def keep_window(window: Window, name: str) -> None:
    """The window with its shadow. The pointer stays out of the way, so that nothing is highlighted."""
    session = window.session
    window.activate()
    session.tool("xdotool", "mousemove", str(WIDTH - 5), str(HEIGHT - 5))
    shape = session.tool("xdotool", "search", "--onlyvisible", "--name", f"^{window.title}$", "getwindowgeometry")
    position, size = re.search(r"Position: (\d+),(\d+)", shape), re.search(r"Geometry: (\d+)x(\d+)", shape)
    assert position is not None and size is not None, shape
    keep(session, name, f"{size[1]}x{size[2]}+{position[1]}+{position[2]}")


def keep_first_start(house: House) -> None:
    tray = Tray(house.session, house._program, f"--state-dir={house.home / 'new'}")
    house.trays.append(tray)
    tray.until_shown()
    keep_window(house.session.until_open("Pair"), "start")
    assert tray.end() == 0


def test_pictures(house: House) -> None:
    keep_first_start(house)
    desktops: dict[str, Host] = {"Studio": house.paired_desktop()}
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))

    tray.click("Pair…")
    window = house.session.until_open("Pair")
    desktops["Office NAS"] = house.host("desktop", "Office NAS")
    window.press("Read")
    window.write("Text of the pairing code", desktops["Office NAS"].call("bw_desktop_offer", 10_000)["payload"])
    window.press("Pair")
    window.until_says("Paired with Office NAS")
    window.press("Desktops")
    tray.until(lambda: tray.has("Office NAS – online"))
    keep_window(window, "compare")
    window.press("They match")
    window.press("Show")
    window.until_says("Scan this code")
    keep_window(window, "pair")
    window.close()

    for count, (desktop, title, body, priority, _) in enumerate(NOTIFICATIONS, 1):
        house.push(desktops[desktop], title, body=body, priority=priority)
        tray.until_unread(count)
    for desktop, title, _, _, is_read in NOTIFICATIONS:
        if is_read:
            tray.click(title)
            until_read(desktops[desktop], title)
    tray.until_unread(4)
    tray.click("History…")
    window = house.session.until_open("History")
    window.until(lambda: len(window.rows()) == len(NOTIFICATIONS))
    window.activate()
    house.session.tool("xdotool", "key", "Tab", "Home", "Return")
    window.press("Reply")
    tray.until_unread(3)
    keep_window(window, "history")
    window.close()

    house.session.run("dunst", "-config", "/dev/null", **Session.UNREAD)
    house.session.until_owned("org.freedesktop.Notifications")
    for setting in ("Show alerts", "Start at login"):
        tray.click(setting)
        tray.until(lambda: tray.entry(setting)["toggle-state"] == 1)  # noqa: B023
    house.session.open_menu()
    keep(house.session, "menu", f"400x510+{WIDTH - 400}+0")
    house.session.tool("xdotool", "key", "Escape")
