"""Commands whose connections end while they wait, or whose desktop does not answer in time: each of the eleven methods,
between real processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Start
from hosts import QUEUED, STATUS, Host
from peers import Object, now
from programs import freeze, wait_until
from queue_crashes import House

NOTICE: Object = {"title": "Tea", "body": ""}
METHODS: list[tuple[str, Object | None]] = [
    ("send", NOTICE),
    ("send_to_mobile", NOTICE),
    ("broadcast", NOTICE),
    ("get_history", None),
    ("mark_as_read", {"notificationId": "n-1"}),
    ("mark_all_as_read", None),
    ("delete", {"notificationId": "n-1"}),
    ("clear_all", None),
    ("get_unread_count", None),
    ("get_settings", None),
    ("update_settings", {"soundEnabled": False}),
]
CAN_WAIT = {"mark_as_read", "mark_all_as_read", "delete", "clear_all", "update_settings"}
TELLING = {"send", "send_to_mobile", "broadcast"}


@pytest.fixture
def house(start: Start, tmp_path: Path) -> Iterator[House]:
    house = House(start, tmp_path / "house")
    yield house
    house.close()


def total(desktop: Host) -> int:
    found: int = desktop.call("bw_desktop_history", None)["total"]
    return found


@pytest.fixture
def frozen(house: House) -> Iterator[House]:
    """The desktop's process has stopped: what is sent to it waits, and is not answered."""
    freeze(house.desktop.program.pid)
    yield house
    os.kill(house.desktop.program.pid, signal.SIGCONT)


@pytest.mark.parametrize(("method", "params"), METHODS)
def test_a_method_that_nobody_answers_times_out_and_may_be_carried_out_later(
    frozen: House, method: str, params: Object | None
) -> None:
    begin = time.monotonic()
    outcome = frozen.device.outcome(f"bw_notification_{method}", None, params, 300)
    assert outcome["status"] == STATUS["BW_E_TIMEOUT"], outcome
    assert "may still be executed" in outcome["error"]["message"]
    # Nothing else ends it: the desktop stands still.
    assert time.monotonic() - begin >= 0.25


def test_what_comes_after_its_time_is_not_carried_out(house: House) -> None:
    freeze(house.desktop.program.pid)
    for method, params in METHODS:
        if method in TELLING:
            outcome = house.device.outcome(f"bw_notification_{method}", None, params, 200)
            assert outcome["status"] == STATUS["BW_E_TIMEOUT"], outcome
    # Until the last of them is over.
    end = now() + 250
    wait_until(lambda: now() > end)
    os.kill(house.desktop.program.pid, signal.SIGCONT)
    assert house.device.notification("get_unread_count")["count"] == 0
    assert house.desktop.state["counters"]["lateCommands"] == 3
    assert total(house.desktop) == 0


@pytest.mark.parametrize(("method", "params"), METHODS)
def test_a_connection_that_ends_while_a_method_waits_does_not_lose_it(
    house: House, method: str, params: Object | None
) -> None:
    # What the device asks by itself when it comes would be taken for the call.
    house.device.notification("get_unread_count")
    wait_until(lambda: not house.device.call("bw_inbox_state")["loading"])
    freeze(house.desktop.program.pid)
    before = house.forwarded()
    outcome = house.device.begin(f"bw_notification_{method}", None, params, 30_000)
    wait_until(lambda: house.forwarded() > before)
    # What the relay had of it is gone.
    house.kill("relay")
    os.kill(house.desktop.program.pid, signal.SIGCONT)
    house.revive("relay")
    found = outcome(40)
    if found["status"] == QUEUED:
        # The device was back before its desktop.
        assert method in CAN_WAIT
        assert house.device.event("queue.ended", id=found["result"]["id"])["outcome"] == "done"
    else:
        assert found["status"] == 0, found
        assert found["result"].get("success", True)
    assert total(house.desktop) == (1 if method in TELLING else 0)


def test_commands_under_way_when_the_device_is_killed_leave_nothing_behind(house: House) -> None:
    for number in range(5):
        house.device.begin("bw_notification_send", None, {"title": f"{number}", "body": ""}, 10_000)
    house.kill("device")
    house.revive("device")
    assert house.device.state["queue"]["count"] == 0
    house.device.event("connection.changed", online=True)
    assert house.device.notification("get_unread_count")["count"] == total(house.desktop) <= 5
