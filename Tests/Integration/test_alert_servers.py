"""Notification servers that are full or slow: every alert is shown once, and urgent ones don't wait behind the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Start
from desktopbus import PlayedServer, PrivateBus, missing_bus
from test_system_alerts import BUTTONS, House

pytestmark = pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    bus = PrivateBus()
    yield bus
    bus.close()


@pytest.fixture
def house(start: Start, relay: str, bus: PrivateBus, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, bus, tmp_path)
    house.authorize()
    yield house
    house.device.close()
    house.desktop.close()


def reminder(house: House, title: str) -> None:
    at = int(time.time() * 1000) + 300
    house.device.call("bw_reminder_add", {"id": title, "title": title, "trigger": {"type": "moment", "at": at}})


def test_a_full_server_loses_no_alert(bus: PrivateBus, house: House) -> None:
    server = PlayedServer(bus, *BUTTONS)
    server.limit(capacity=5)
    ordinary = [f"Ordinary {number}" for number in range(12)]
    for title in ordinary:
        house.push(title)
    shown = [server.shown(title) for title in ordinary[:5]]
    # An urgent push takes the place of the oldest.
    house.push("Urgent", priority="urgent")
    urgent = server.shown("Urgent")
    server.taken_away(shown[0])
    reminder(house, "Reminder")
    # Each free place is for the next one.
    places = [*shown[1:], urgent]
    for _ in range(8):
        server.dismiss(places.pop(0))
        places.append(server.wait(lambda line: "shows" in line))
    assert sorted(server.titles) == sorted([*ordinary, "Urgent", "Reminder"])
    assert house.state["counters"]["failed"] == 0


def test_a_slow_server_is_not_flooded(bus: PrivateBus, house: House) -> None:
    server = PlayedServer(bus, *BUTTONS)
    server.limit(pace=0.3)
    ordinary = [f"Ordinary {number}" for number in range(40)]
    for title in ordinary:
        house.push(title)
    server.shown(ordinary[0])
    server.shown(ordinary[5])
    house.push("Urgent", priority="urgent")
    server.shown("Urgent")
    before = server.titles.index("Urgent")
    assert before <= 12, f"{before} ordinary ones came first"
    server.shown(ordinary[-1], 60)
    assert sorted(server.titles) == sorted([*ordinary, "Urgent"])
    assert house.state["counters"]["failed"] == 0
