"""The scenes of daily life: a relay, a desktop and devices in a process each, driven over the C interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import QUEUED, STATUS, Host
from peers import FakeDesktop, Object, Server
from programs import Program, fastest, wait_until

Start = Callable[..., Program]


class House:
    """A desktop and a device at one relay, paired by the desktop's code."""

    def __init__(self, start: Start, relay: str, home: Path, **device_options: Any) -> None:
        self._start, self._relay, self._home = start, relay, home
        self.desktop = self.open("desktop", "desktop")
        self.desktop.start()
        self.device = self.open("device", "device", **device_options)
        self.pair(self.device)

    def open(self, role: str, name: str, **more: Any) -> Host:
        options = {"state_dir": str(self._home / name), "name": name.title(), "relay_url": self._relay}
        return Host(self._start, role, {**options, "follow_system": False, **more})

    def pair(self, device: Host) -> None:
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        paired = device.call("bw_pairing_scan", offer["payload"], 15_000)
        assert paired["secure"] is True

    def send(self, title: str, **params: Any) -> Object:
        """A push of the desktop's own."""
        found: Object = self.desktop.call("bw_desktop_notify", {"title": title, "body": "", **params}, 10_000)
        return found

    def history(self, **query: Any) -> Object:
        found: Object = self.desktop.call("bw_desktop_history", query)
        return found

    def unread(self) -> int:
        count: int = self.device.state["unread"]
        return count


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, tmp_path)
    yield house
    house.device.close()
    house.desktop.close()


@pytest.fixture
def watched(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    """The same, with somebody who sees the alerts that the device's program shows."""
    house = House(start, relay, tmp_path, alerts="host")
    house.device.answer("present", 0)
    house.device.start()
    yield house
    house.device.close()
    house.desktop.close()


def banners(house: House) -> list[str]:
    return [question["alert"]["title"] for question in house.device.questions("present")]


@pytest.mark.parametrize("rows", [0, 3])
def test_1_the_history_comes_within_half_a_second_also_when_empty(house: House, rows: int) -> None:
    for number in range(rows):
        house.send(f"Row {number}")
    history: Object = {}

    def read() -> float:
        begin = time.monotonic()
        history.update(house.device.notification("get_history"))
        return time.monotonic() - begin

    fastest(read, 0.5)
    assert [row["title"] for row in history["notifications"]] == [f"Row {number}" for number in reversed(range(rows))]
    assert (history["total"], history["unreadCount"]) == (rows, rows)


def test_2_a_push_is_there_within_two_seconds_and_counts(house: House) -> None:
    pushed = 0

    def push() -> float:
        nonlocal pushed
        pushed += 1
        begin = time.monotonic()
        house.desktop.begin("bw_desktop_notify", {"title": "Build done", "body": ""}, 10_000)
        push = house.device.event("notification.received", title="Build done")
        taken = time.monotonic() - begin
        assert (push["late"], push["silenced"]) == (False, False)
        house.device.event("unread.changed", unread=pushed)
        assert house.unread() == pushed
        return taken

    fastest(push, 2)


def test_3_three_pushes_over_two_paths_each_are_three_in_order(start: Start, tmp_path: Path) -> None:
    near, far = FakeDesktop(), Server()
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "follow_system": False})
    scan = device.begin("bw_pairing_scan", near.code(relayUrl=far.url), 15_000)
    near.pair()
    assert scan()["status"] == 0
    over_relay = FakeDesktop.__new__(FakeDesktop)
    over_relay.server, over_relay.peer_id, over_relay.url = far, near.peer_id, far.url
    over_relay.accept()
    for number in range(3):
        near.push(number)
        over_relay.push(number)
    over_relay.push("last")
    device.event("notification.received", id="notif-last")
    assert [push["id"] for push in device.of("notification.received")] == [
        "notif-0",
        "notif-1",
        "notif-2",
        "notif-last",
    ]
    assert device.state["unread"] == 4
    device.close()
    near.close()
    far.close()


def test_4_marking_read_is_true_on_the_desktop(house: House) -> None:
    house.send("Read me")
    push = house.device.event("notification.received", title="Read me")
    answer = house.device.notification("mark_as_read", {"notificationId": push["id"]})
    assert (answer["success"], answer["markedCount"]) == (True, 1)
    assert house.history()["notifications"][0]["read"] is True
    assert house.device.notification("mark_as_read", {"notificationId": push["id"]})["markedCount"] == 0
    assert house.device.notification("get_unread_count")["count"] == 0


def test_5_marking_read_without_a_connection_waits_in_the_queue(house: House) -> None:
    house.send("Read me later")
    push = house.device.event("notification.received", title="Read me later")
    house.desktop.call("bw_desktop_stop")
    house.device.event("connection.changed")
    outcome = house.device.outcome("bw_notification_mark_as_read", None, {"notificationId": push["id"]}, 5_000)
    assert outcome["status"] == QUEUED, outcome
    house.device.event("queue.changed", pending=1)
    house.desktop.start()
    house.device.event("queue.changed", count=0)
    assert house.history()["notifications"][0]["read"] is True


def test_6_in_quiet_hours_a_push_is_history_only(house: House) -> None:
    house.device.notification(
        "update_settings", {"quietHoursEnabled": True, "quietHoursStart": "00:00", "quietHoursEnd": "23:59"}
    )
    # Not at the one minute of the day that is not quiet.
    wait_until(lambda: time.gmtime()[3:5] != (23, 59), timeout=70)
    house.send("Psst")
    push = house.device.event("notification.received", title="Psst")
    assert push["silenced"] is True
    house.send("Fire", priority="urgent")
    assert house.device.event("notification.received", title="Fire")["silenced"] is False
    assert [row["title"] for row in house.history()["notifications"]] == ["Fire", "Psst"]
    assert house.unread() == 2


def test_2_a_push_is_an_alert_within_two_seconds(watched: House) -> None:
    watched.device.call("bw_alerts_authorize", "authorized", 0)

    def push() -> float:
        begin = time.monotonic()
        watched.desktop.begin("bw_desktop_notify", {"title": "Build done", "body": ""}, 10_000)
        assert watched.device.question("present")["alert"]["title"] == "Build done"
        taken = time.monotonic() - begin
        watched.device.event("notification.presented", presented=True)
        return taken

    fastest(push, 2)


def test_6_what_is_silenced_is_no_alert(watched: House) -> None:
    watched.device.call("bw_alerts_authorize", "authorized", 0)
    watched.device.notification("update_settings", {"enabled": False})
    watched.send("Psst")
    watched.device.event("notification.presented", presented=False, reason="silenced")
    assert (banners(watched), watched.unread()) == ([], 1)


def test_7_with_alerts_denied_all_but_the_alerts_works(watched: House) -> None:
    watched.device.call("bw_alerts_authorize", "denied", 0)
    watched.send("Unseen")
    push = watched.device.event("notification.received", title="Unseen")
    watched.device.event("notification.presented", id=push["id"], presented=False, reason="denied")
    history = watched.device.notification("get_history")
    assert [row["title"] for row in history["notifications"]] == ["Unseen"]
    assert watched.device.notification("mark_as_read", {"notificationId": push["id"]})["markedCount"] == 1
    assert (banners(watched), watched.unread()) == ([], 0)


def test_8_what_comes_after_an_absence_is_unread_and_no_banner(watched: House) -> None:
    device = watched.device
    device.call("bw_alerts_authorize", "authorized", 0)
    device.call("bw_device_stop")
    for number in range(3):
        watched.send(f"Missed {number}")
    # A push is late when it was sealed more than two seconds after it was made.
    due = time.monotonic() + 2.2
    wait_until(lambda: time.monotonic() > due)
    device.start()
    wait_until(lambda: len(device.of("notification.presented")) == 3)
    assert [told["reason"] for told in device.of("notification.presented")] == ["late"] * 3
    assert (banners(watched), watched.unread()) == ([], 3)


def test_8_pushes_of_a_minute_away_come_late_and_unread(house: House) -> None:
    house.device.call("bw_device_suspend")
    for number in range(3):
        answer = house.send(f"While away {number}")
        assert answer["failedCount"] == 1
    # What comes within two seconds counts as live: this was longer ago.
    due = time.monotonic() + 2.5
    wait_until(lambda: time.monotonic() > due)
    house.device.call("bw_device_resume")
    for number in range(3):
        push = house.device.event("notification.received", title=f"While away {number}")
        assert push["late"] is True
    assert house.unread() == 3
    assert len(house.device.of("notification.received")) == 3


def test_what_the_desktops_own_user_changes_reaches_the_device(house: House) -> None:
    answer = house.desktop.call("bw_desktop_invoke", "notification.updateSettings", {"soundEnabled": False}, 10_000)
    assert answer["settings"]["soundEnabled"] is False
    changed = house.device.wait(
        lambda event: event.get("event") == "settings.changed" and not event["data"]["settings"]["soundEnabled"]
    )
    assert changed["data"]["settings"]["enabled"] is True
    house.send("Seen there")
    house.device.event("unread.changed", unread=1)
    assert house.desktop.call("bw_desktop_invoke", "notification.markAllAsRead", None, 10_000)["markedCount"] == 1
    house.device.event("unread.changed", unread=0)
    for method, params, status in [
        ("notification.sing", None, "BW_E_UNSUPPORTED"),
        ("notification.updateSettings", {"loud": True}, "BW_E_INVALID"),
        ("notification.markAsRead", {"notificationId": ""}, "BW_E_INVALID"),
    ]:
        outcome = house.desktop.outcome("bw_desktop_invoke", method, params, 10_000)
        assert outcome["status"] == STATUS[status], outcome
