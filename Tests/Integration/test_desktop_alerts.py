"""`bellwire desktop` shows what devices send as alerts of the desktop environment, unless it shall not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktopbus import PlayedServer, PrivateBus, Screen, missing_bus, missing_screen
from hosts import Host, Refused
from programs import BELLWIRE, Program, wait_until

Start = Callable[..., Program]

pytestmark = pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    bus = PrivateBus()
    yield bus
    bus.close()


class House:
    """`bellwire desktop` on a private bus, and a device that is paired with it."""

    def __init__(self, start: Start, bus: PrivateBus, home: Path) -> None:
        self.bus, self.home = bus, home
        self.desktop = self.run("--qr-text", "--relay", "127.0.0.1:0", "--name", "Desk")
        relay = self.desktop.line("Relay at (ws://.*)$")[1]
        code = self.desktop.line('^{"type":"desktop-pairing".*$').string
        options = {"state_dir": str(home / "phone"), "name": "Phone", "relay_url": relay, "follow_system": False}
        self.phone = Host(start, "device", options)
        self.phone.call("bw_pairing_scan", code, 15_000)

    def run(self, *options: str) -> Program:
        state = {"XDG_STATE_HOME": str(self.home / "desk"), "TZ": "UTC"}
        return self.bus.run(BELLWIRE, "desktop", *options, **state)

    def send(self, title: str, **params: str) -> str:
        sent = self.phone.notification("send", {"title": title, "body": "Body", **params})
        return str(sent["notificationId"])

    def is_taken(self, title: str) -> bool:
        """False: there is no connection to the desktop yet."""
        try:
            self.send(title)
        except Refused:
            return False
        return True

    def unread(self) -> list[str]:
        rows = self.phone.notification("get_history", {"unreadOnly": True})["notifications"]
        return [str(row["title"]) for row in rows]

    def close(self) -> None:
        self.phone.close()
        assert self.desktop.end() == 0, self.desktop.err.all


@pytest.fixture
def house(start: Start, bus: PrivateBus, tmp_path: Path) -> Iterator[House]:
    house = House(start, bus, tmp_path)
    yield house
    house.close()


def test_what_a_device_sends_is_shown_and_printed(house: House) -> None:
    """With the program's name, as plain text, with the urgency of its priority; and the line is printed as well."""
    server = PlayedServer(house.bus, "actions", "body", "body-markup")
    house.send("Dinner <b>", body="is & was")
    banner = server.shown("Dinner <b>")
    assert banner["program"] == "Bellwire" and banner["body"] == "is &amp; was" and banner["hints"]["urgency"] == 1
    assert list(banner["actions"]) == ["Mark as read"], "there is nothing to open"
    house.desktop.line("  Dinner <b>  is & was$")
    house.send("Fire", priority="urgent")
    assert server.shown("Fire")["hints"]["urgency"] == 2
    house.send("Leaves fall", priority="low")
    assert server.shown("Leaves fall")["hints"]["urgency"] == 0


def test_its_button_marks_it_as_read_and_a_tap_only_closes_it(house: House) -> None:
    server = PlayedServer(house.bus, "actions", "body")
    house.send("To be marked")
    house.send("To be tapped")
    marked, tapped = server.shown("To be marked"), server.shown("To be tapped")
    server.tap(tapped)
    server.press(marked, "Mark as read")
    wait_until(lambda: house.unread() == ["To be tapped"], 15)


def test_what_is_read_or_deleted_elsewhere_leaves_the_screen(house: House) -> None:
    server = PlayedServer(house.bus, "actions", "body")
    read, deleted, cleared = (house.send(title) for title in ("Read", "Deleted", "Cleared"))
    banners = [server.shown(title) for title in ("Read", "Deleted", "Cleared")]
    house.phone.notification("mark_as_read", {"notificationId": read})
    server.taken_away(banners[0])
    house.phone.notification("delete", {"notificationId": deleted})
    server.taken_away(banners[1])
    house.phone.notification("clear_all")
    server.taken_away(banners[2])
    assert cleared


def test_quiet_hours_and_no_alerts_show_nothing(house: House) -> None:
    server = PlayedServer(house.bus, "actions", "body")
    always = {"quietHoursEnabled": True, "quietHoursStart": "00:00", "quietHoursEnd": "23:59"}
    house.phone.notification("update_settings", always)
    house.phone.notification("send", {"title": "Silenced", "body": "Body"})
    house.send("Passes", priority="urgent")
    server.shown("Passes")
    house.phone.notification("update_settings", {"quietHoursEnabled": False})
    house.send("Loud again")
    server.shown("Loud again")
    assert server.titles == ["Passes", "Loud again"]
    # The same desktop with --no-alerts has no connection to the bus.
    relay = house.phone.call("bw_pairing_list")[0]["signalingUrl"].removeprefix("ws://").rstrip("/")
    assert house.desktop.end() == 0
    house.desktop = house.run("--no-alerts", "--no-pair", "--relay", relay)
    # A message tells that it is there: "online" may still be that of the desktop before.
    wait_until(lambda: house.is_taken("Unseen"), 30)
    house.desktop.line("  Unseen  ")
    assert server.titles == ["Passes", "Loud again"]
    assert house.desktop.pid not in {house.bus.process(name) for name in house.bus.names}


def test_without_a_server_it_says_so_once_and_shows_with_one(house: House) -> None:
    """What came in the last minute is shown then, in order, unless it was read in the meantime."""
    house.send("First")
    house.phone.notification("mark_as_read", {"notificationId": house.send("Read")})
    house.send("Second")
    for title in ("First", "Read", "Second"):
        house.desktop.line(f"  {title}  ")
    house.desktop.error_line("cannot show alerts .*--no-alerts")
    server = PlayedServer(house.bus, "actions", "body")
    server.shown("Second")
    house.send("Third")
    server.shown("Third")
    assert server.titles == ["First", "Second", "Third"]
    server.end()
    house.send("Fourth")
    house.desktop.line("  Fourth  ")
    assert len([line for line in house.desktop.err.all if "cannot show alerts" in line]) == 1


def test_a_flood_is_bounded(house: House) -> None:
    """A device that sends without pause doesn't fill the notification server's queue, and nothing is lost in the history."""
    server = PlayedServer(house.bus, "actions", "body")
    for number in range(120):
        house.send(f"Push {number}")
    house.desktop.line("  Push 119  ")
    house.send("After it")
    server.shown("After it")


def test_without_a_bus_it_prints_as_before_and_shows_with_one(start: Start, bus: PrivateBus, tmp_path: Path) -> None:
    house = House(start, bus, tmp_path)
    bus.stop()
    house.send("No bus")
    house.desktop.line("  No bus  ")
    house.desktop.error_line("cannot show alerts")
    bus.start()
    server = PlayedServer(bus, "actions", "body")
    server.shown("No bus")
    house.close()


@pytest.mark.skipif(missing_screen() is not None, reason=str(missing_screen()))
def test_on_a_real_screen_it_is_seen_and_clicked(house: House) -> None:
    screen = Screen(house.bus)
    wait_until(lambda: "true" in house.bus.call("NameHasOwner", "string:org.freedesktop.Notifications"), 15)
    try:
        house.send("Dinner is ready", body="The table in the garden")
        screen.until(lambda seen: seen[screen.NORMAL] > 10_000 and seen[screen.TEXT] > 400, keep="desktop-alert")
        screen.click(2)
        screen.until(lambda seen: seen[screen.NORMAL] == 0)
        house.send("Fire", priority="urgent")
        screen.until(lambda seen: seen[screen.CRITICAL] > 5_000)
    finally:
        screen.close()
