"""Alerts at notification servers that people use, on a screen that nobody sees."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktopbus import FREEDESKTOP, SERVERS, PrivateBus, Screen, missing_bus, missing_screen
from programs import wait_until
from test_system_alerts import CHAT, House, bus, make

__all__ = ["bus", "make"]

pytestmark = pytest.mark.skipif(
    (missing_bus() or missing_screen()) is not None, reason=str(missing_bus() or missing_screen())
)

RED = (0xE0, 0x10, 0x20)
#: Where a click is a tap, if not on the text, as parts of width and height: there it dismisses the banner.
TAP = {"xfce4-notifyd": (0.19, 0.7)}


@pytest.fixture(params=[*SERVERS])
def server(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if not Path(SERVERS[name]).exists():
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture
def screen(bus: PrivateBus, server: str) -> Iterator[Screen]:
    screen = Screen(bus, server)
    yield screen
    screen.close()


def picture(path: Path, size: int) -> Path:
    """A red square."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(RED) * size) * size)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path


def is_red(pixel: tuple[int, int, int]) -> bool:
    """Also where a theme has drawn over it."""
    return pixel[0] > 0xB0 and pixel[1] < 0x40 and pixel[2] < 0x50


Box = tuple[int, int, int, int]


def still_box(screen: Screen, empty: bytes) -> Box:
    """Where there are banners: left, top, right, bottom."""
    found: list[Box] = []

    def is_there() -> bool:
        seen = screen.changed(empty)
        # The same twice: it may fade or slide in.
        found.append(seen or (0, 0, 0, 0))
        return len(found) > 1 and seen is not None and found[-1] == found[-2]

    wait_until(is_there, 20)
    return found[-1]


def until_changed(screen: Screen, before: bytes) -> None:
    wait_until(lambda: screen.pixels() != before, 20)


def height(box: Box) -> int:
    return box[3] - box[1]


def tap_on(server: str, box: Box) -> tuple[int, int]:
    """A point of the first banner that is a tap on it."""
    left, top, right, bottom = box
    across, down = TAP.get(server, (0.33, 0.33))
    return left + int(across * (right - left)), top + int(down * (bottom - top))


def test_it_is_seen_tapped_and_taken_away(
    make: Callable[..., House], bus: PrivateBus, screen: Screen, server: str, tmp_path: Path
) -> None:
    house = make()
    house.until_ready()
    house.authorize()
    house.device.call("bw_alerts_categories", CHAT)
    empty = screen.pixels()

    # A tap on the text, or on the button.
    tapped = house.push("A chat & <b>", body='<b>bold?</b> &amp; "quotes"', category="CHAT", priority="urgent")
    house.presented(tapped)
    box = still_box(screen, empty)
    left, top, right, bottom = box
    assert right - left > 100 and bottom - top > 30
    screen.colours(keep=f"{server}-text")
    screen.click(1, tap_on(server, box))
    response = house.response(tapped)
    assert response["action"] == "default" and house.delivered == []
    wait_until(lambda: screen.changed(empty) is None, 20)

    # An image, and what is read elsewhere leaves the screen.
    image = picture(tmp_path / "red & square.png", 128)
    reminder = {"id": "red", "title": "Picture", "body": "with an image", "attachments": [str(image)]}
    house.device.call("bw_reminder_add", {**reminder, "level": "timeSensitive"})
    house.presented("red")
    wait_until(lambda: sum(n for pixel, n in screen.colours().items() if is_red(pixel)) > 500, 20)
    screen.colours(keep=f"{server}-image")
    house.device.call("bw_alerts_remove", None, "red", None)
    assert house.delivered == []
    # notification-daemon 3.20 answers CloseNotification, and leaves the banner on the screen.
    if server != "notification-daemon":
        wait_until(lambda: screen.changed(empty) is None, 20)

    # No server has a text field: a reply is a button that asks for its text, if it is offered at all.
    assert "inline-reply" not in house.presenter["capabilities"]


def test_no_alert_of_a_thread_takes_the_place_of_another(
    make: Callable[..., House], bus: PrivateBus, screen: Screen, server: str
) -> None:
    """None of these servers groups by thread: each alert has a banner of its own, and all can be removed together."""
    house = make()
    house.until_ready()
    assert "x-kde-origin-name" not in house.presenter["capabilities"]
    house.authorize()
    empty = screen.pixels()
    # notification-daemon 3.20 shows one banner at a time: the others wait behind it.
    is_queue = server == "notification-daemon"
    pushed, heights = [], [0]
    for number in (1, 2, 3):
        pushed.append(house.push(f"Message {number}", threadId="chat", priority="urgent"))
        house.presented(pushed[-1])
        if number == 1 or not is_queue:
            wait_until(lambda: height(still_box(screen, empty)) > heights[-1], 20)
            heights.append(height(still_box(screen, empty)))
    screen.colours(keep=f"{server}-thread")
    assert house.delivered == ["Message 3", "Message 2", "Message 1"]
    if is_queue:
        # The first is still there, and the second comes after it.
        for identity in pushed[:2]:
            box, before = still_box(screen, empty), screen.pixels()
            screen.click(1, tap_on(server, box))
            assert house.response(identity)["action"] == "default"
            until_changed(screen, before)
    house.device.call("bw_alerts_remove", None, None, "chat")
    assert house.delivered == []
    # notification-daemon answers CloseNotification, and leaves the banner on the screen.
    if not is_queue:
        wait_until(lambda: screen.changed(empty) is None, 20)


def test_what_the_server_took_along_is_not_listed(make: Callable[..., House], bus: PrivateBus, screen: Screen) -> None:
    house = make()
    house.until_ready()
    house.authorize()
    house.presented(house.push("Before", priority="urgent"))
    wait_until(lambda: house.delivered == ["Before"])
    house.restart()
    house.until_ready()
    assert house.delivered == ["Before"]
    house.device.close()
    screen.dunst.kill()
    again = Screen(bus, "dunst")
    house.device = house.begin()
    wait_until(lambda: house.delivered == [])
    again.close()


def test_dunst_says_that_it_is_paused(make: Callable[..., House], bus: PrivateBus) -> None:
    screen = Screen(bus)
    house = make()
    house.until_ready()
    wait_until(lambda: house.presenter.get("doNotDisturb") is False)
    arguments = ["string:org.dunstproject.cmd0", "string:paused", "variant:boolean:true"]
    subprocess.run(
        [
            "dbus-send",
            f"--bus={bus.address}",
            "--print-reply",
            f"--dest={FREEDESKTOP}",
            "/org/freedesktop/Notifications",
            "org.freedesktop.DBus.Properties.Set",
            *arguments,
        ],
        check=True,
        capture_output=True,
        timeout=20,
    )
    wait_until(lambda: house.presenter.get("doNotDisturb") is True)
    screen.close()
