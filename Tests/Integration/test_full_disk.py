"""A disk that takes no more: the host is told, nothing is half-written, and all goes on when there is room again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hosts import STATUS
from programs import Program
from test_daily_life import House

Start = Callable[..., Program]


def test_a_desktop_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    start: Start, relay: str, tmp_path: Path
) -> None:
    house = House(start, relay, tmp_path)
    house.send("Before")
    house.device.event("notification.received", title="Before")
    house.desktop.limit_files(1)
    outcome = house.desktop.outcome("bw_desktop_notify", {"title": "Full", "body": ""}, 10_000)
    assert outcome["status"] == STATUS["BW_E_STORE"], outcome
    assert outcome["error"]["message"]
    # A device's command is refused as well, and changes nothing.
    refused = house.device.outcome("bw_notification_clear_all", None, None, 10_000)
    assert refused["status"] in (STATUS["BW_E_REMOTE"], STATUS["BW_E_TIMEOUT"]), refused
    house.desktop.limit_files(None)
    house.send("After")
    house.device.event("notification.received", title="After")
    history = house.history()
    assert [row["title"] for row in history["notifications"]] == ["After", "Before"]
    assert (history["total"], history["unreadCount"]) == (2, 2)
    house.device.close()
    house.desktop.close()


def test_a_device_whose_disk_is_full_gets_its_pushes_when_it_is_not(start: Start, relay: str, tmp_path: Path) -> None:
    house = House(start, relay, tmp_path)
    house.send("Before")
    house.device.event("notification.received", title="Before")
    house.device.limit_files(1)
    answer = house.send("While full")
    assert (answer["deliveredCount"], answer["failedCount"]) == (0, 1)
    house.device.event("problem", code="store_failed")
    assert len(house.device.of("notification.received")) == 1
    house.device.limit_files(None)
    house.send("After")
    house.device.event("notification.received", timeout=30, title="After")
    titles = [push["title"] for push in house.device.of("notification.received")]
    assert titles == ["Before", "While full", "After"]
    assert house.unread() == 3
    house.device.close()
    house.desktop.close()
