"""Wall clocks that are wrong for a moment: nothing expires by them, and what expires is reported.

The programs run under libfaketime, which sets their wall clock and leaves the others as they are.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hosts import STATUS, Host
from programs import FAKETIME, Program, freeze, wait_until

AHEAD = "+40d"


class Clock:
    """The wall clock of the programs that were started under it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.set("+0")

    def set(self, offset: str) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(offset + "\n")
        os.replace(new, self.file)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    assert FAKETIME.exists(), f"{FAKETIME} is not there: bindings/c/packages.sh --tests installs it"
    return Clock(tmp_path / "clock")


@pytest.fixture
def device_clock(tmp_path: Path) -> Clock:
    """The device's own, where it is not the desktop's."""
    return Clock(tmp_path / "device-clock")


@pytest.fixture
def host(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Host]]:
    """Opens a handle in a process with that clock, or with one of its own."""
    running: list[Program] = []

    def open_host(role: str, name: str, own_clock: Clock | None = None, **options: object) -> Host:
        def start(*arguments: str | Path) -> Program:
            program = Program(arguments, {"TZ": "UTC", **(own_clock or clock).environment})
            running.append(program)
            return program

        return Host(start, role, {"state_dir": str(tmp_path / name), "name": name, **options})

    yield open_host
    for program in reversed(running):
        if program.process.poll() is None:
            program.kill()


def open_both(
    host: Callable[..., Host], relay: str, device_clock: Clock | None = None, **device_options: object
) -> tuple[Host, Host]:
    options = {"relay_url": relay, "follow_system": False}
    desktop = host("desktop", "desktop", **options)
    desktop.start()
    return desktop, host("device", "device", device_clock, **options, **device_options)


def pair(
    host: Callable[..., Host], relay: str, device_clock: Clock | None = None, **device_options: object
) -> tuple[Host, Host]:
    desktop, device = open_both(host, relay, device_clock, **device_options)
    device.call("bw_pairing_scan", desktop.call("bw_desktop_offer", 10_000)["payload"], 15_000)
    return desktop, device


def send(desktop: Host, title: str, **params: object) -> str:
    return str(desktop.call("bw_desktop_notify", {"title": title, "body": "", **params}, 10_000)["notificationId"])


def test_a_clock_40_days_ahead_for_four_seconds_drops_no_push_and_no_command(
    host: Callable[..., Host], relay: str, clock: Clock
) -> None:
    desktop, device = pair(host, relay)
    desktop_id = device.call("bw_pairing_list")[0]["id"]
    device.call("bw_device_stop")
    pushed = [send(desktop, str(number)) for number in range(20)]
    queued = device.call("bw_notification_mark_all_as_read", desktop_id, None, 10_000)["id"]

    clock.set(AHEAD)
    # While the clock is wrong the device comes: the desktop looks into its outbox, and the device into its queue.
    device.start()
    end = time.monotonic() + 4
    while len(device.of("notification.received")) < 20 and time.monotonic() < end:
        desktop.call("bw_desktop_state")
    clock.set("+0")

    received: list[str] = []
    while len(received) < 20:
        received.append(device.event("notification.received")["id"])
    assert received == pushed
    assert desktop.of("notification.expired") == []
    ended = device.of("queue.ended") or [device.event("queue.ended")]
    assert [(each["id"], each["outcome"]) for each in ended] == [(queued, "done")]


def test_a_push_that_expires_before_its_device_comes_is_reported(host: Callable[..., Host], relay: str) -> None:
    desktop, device = pair(host, relay)
    device.call("bw_device_stop")
    # It goes to the relay, and once it is reported as absent the desktop keeps what follows: a relay delivers what it has
    # stored beyond its time.
    first = send(desktop, "first")
    expires = int(time.time() * 1_000) + 1_500
    short = send(desktop, "short", expiresAt=expires)
    later = send(desktop, "later")
    while time.time() * 1_000 <= expires:
        desktop.call("bw_desktop_state")
    device.start()
    told = desktop.event("notification.expired")
    assert told["ids"] == [short] and told["device"]
    assert [device.event("notification.received")["id"] for _ in range(2)] == [first, later]


# Scheduled pushes.


def titles(desktop: Host) -> list[str]:
    page = desktop.call("bw_desktop_history", {"sort": "oldest"})
    return [row["title"] for row in page["notifications"]]


def scheduled(desktop: Host) -> list[str]:
    answer = desktop.call("bw_desktop_invoke", "desktop.scheduled", None, 10_000)
    return [row["title"] for row in answer["scheduled"]]


def test_a_push_whose_time_the_clock_jumps_over_goes_out_at_once_and_once(
    host: Callable[..., Host], relay: str, clock: Clock
) -> None:
    desktop, device = pair(host, relay)
    now, hour = int(time.time() * 1_000), 3_600_000
    for number in (1, 3):
        send(desktop, str(number), scheduledAt=now + number * hour)
    assert titles(desktop) == [] and scheduled(desktop) == ["1", "3"]
    clock.set("+2h")
    # The kernel's clock was not set, so nothing tells it to look, but for another one that is scheduled.
    send(desktop, "9", scheduledAt=now + 9 * hour)
    assert device.event("notification.received")["title"] == "1"
    # Set back, nothing comes early, and nothing comes again.
    clock.set("+0")
    send(desktop, "8", scheduledAt=now + 8 * hour)
    assert titles(desktop) == ["1"] and scheduled(desktop) == ["3", "8", "9"]
    # Jumped over while the desktop is closed: it goes out at the start.
    desktop.close()
    clock.set("+4h")
    desktop = host("desktop", "desktop", relay_url=relay, follow_system=False)
    assert titles(desktop) == ["1"]
    desktop.start()
    assert device.event("notification.received")["title"] == "3"
    assert titles(desktop) == ["1", "3"] and scheduled(desktop) == ["8", "9"]


# Pairing. The clock of the side that waits is wrong; the other's is right.


def test_an_offer_outlives_a_jump_of_its_desktops_clock(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = open_both(host, relay, device_clock)
    payload = desktop.call("bw_desktop_offer", 10_000)["payload"]
    clock.set(AHEAD)
    assert desktop.state["offer"]["state"] == "displaying"
    # Another offer's way through the loop: whatever the jump has woken has run.
    send(desktop, "while it is wrong")
    assert desktop.state["offer"]["state"] == "displaying"
    clock.set("+0")
    device.call("bw_pairing_scan", payload, 15_000)
    assert len(device.call("bw_pairing_list")) == 1
    assert [each for each in desktop.of("pairing.changed") if each["state"] == "expired"] == []


def test_an_offer_can_be_scanned_while_its_desktops_clock_is_wrong(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = open_both(host, relay, device_clock)
    payload = desktop.call("bw_desktop_offer", 10_000)["payload"]
    clock.set(AHEAD)
    device.call("bw_pairing_scan", payload, 15_000)
    clock.set("+0")
    assert device.notification("get_unread_count")["count"] == 0


def test_a_code_to_type_outlives_a_jump_of_its_desktops_clock(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = open_both(host, relay, device_clock)
    code = desktop.call("bw_desktop_code", 10_000)["code"]
    clock.set(AHEAD)
    send(desktop, "while it is wrong")
    clock.set("+0")
    device.call("bw_pairing_type", code, 15_000)
    assert [each for each in desktop.of("pairing.changed") if each["state"] == "expired"] == []


def test_a_shown_code_and_the_question_about_it_outlive_jumps_of_both_clocks(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = open_both(host, relay, device_clock)
    payload = device.call("bw_pairing_show", 10_000)["payload"]
    device_clock.set(AHEAD)
    assert len(device.call("bw_pairing_list")) == 0
    device_clock.set("+0")
    desktop.call("bw_desktop_scan", payload)
    desktop.event("pairing.changed", flow="scan", state="confirming")
    clock.set(AHEAD)
    send(desktop, "while it is wrong")
    clock.set("+0")
    desktop.call("bw_desktop_confirm", "scan", 1)
    device.event("pairing.changed", flow="show", state="completed")
    told = [*desktop.of("pairing.changed"), *device.of("pairing.changed")]
    assert [each for each in told if each["state"] in ("expired", "failed", "cancelled")] == []


# Answers to commands


def mark_while_the_desktop_stands_still(
    desktop: Host, device: Host, identity: str, meanwhile: Callable[[], None]
) -> None:
    """The command waits at the desktop until that goes on."""
    freeze(desktop.program.pid)
    outcome = device.begin("bw_notification_mark_as_read", None, {"notificationId": identity}, 30_000)
    meanwhile()
    desktop.program.process.send_signal(signal.SIGCONT)
    found = outcome(30)
    assert found["status"] == 0, found


@pytest.mark.parametrize("offset", [AHEAD, "-40d"])
def test_a_command_that_waits_at_its_desktop_is_executed_though_the_desktops_clock_jumps(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock, offset: str
) -> None:
    desktop, device = pair(host, relay, device_clock)
    identity = send(desktop, "Tea")
    device.event("notification.received", id=identity)
    mark_while_the_desktop_stands_still(desktop, device, identity, lambda: clock.set(offset))
    # One more, made while the desktop's clock is wrong; and one afterwards.
    assert device.notification("get_unread_count")["count"] == 0
    clock.set("+0")
    assert device.notification("get_unread_count")["count"] == 0


def test_commands_and_answers_pass_though_the_devices_clock_is_ahead(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = pair(host, relay, device_clock)
    identity = send(desktop, "Tea")
    device.event("notification.received", id=identity)
    # Whether it is sealed before the jump or after it, its answer comes after it.
    mark_while_the_desktop_stands_still(desktop, device, identity, lambda: device_clock.set(AHEAD))
    assert device.notification("get_unread_count")["count"] == 0
    device_clock.set("+0")
    assert device.notification("get_unread_count")["count"] == 0


def test_a_device_whose_clock_is_far_behind_is_told_that_its_commands_have_expired(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = pair(host, relay, device_clock)
    device_clock.set("-40d")
    refused = device.outcome("bw_notification_mark_all_as_read", None, None, 10_000)
    assert refused["status"] == STATUS["BW_E_TIMEOUT"], refused
    assert "check both clocks" in refused["error"]["detail"]["message"], refused
    device_clock.set("+0")
    assert device.notification("mark_all_as_read")["success"] is True


# Reminders and alerts


def own_alerts(host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock) -> tuple[Host, Host]:
    desktop, device = pair(host, relay, device_clock, alerts="host")
    device.answer("present", 0)
    device.call("bw_alerts_authorize", "authorized", 0)
    device.event("authorization.changed", status="authorized")
    return desktop, device


def shown(device: Host, title: str) -> int:
    """How often the program was given that alert to show."""
    asked = device.questions("present")
    return sum(1 for each in asked if each["alert"].get("title") == title and not each.get("withdraw"))


def look_at_the_clock(device: Host, title: str) -> None:
    """A reminder that is due now: when it is shown, the others have been looked at too."""
    device.call("bw_reminder_add", {"id": title, "title": title})
    device.wait(lambda said: said.get("asked") == "present" and said["question"]["alert"].get("title") == title)


def test_reminders_follow_a_clock_that_jumps_and_fire_once(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    _, device = own_alerts(host, relay, clock, device_clock)
    at = int(time.time() * 1_000)
    device.call(
        "bw_reminder_add", {"id": "moment", "title": "Moment", "trigger": {"type": "moment", "at": at + 3_600_000}}
    )
    interval = {"type": "interval", "seconds": 3_600, "repeats": True}
    device.call("bw_reminder_add", {"id": "interval", "title": "Interval", "trigger": interval})
    daily = {"type": "calendar", "hour": (time.gmtime().tm_hour + 12) % 24, "repeats": True}
    device.call("bw_reminder_add", {"id": "daily", "title": "Daily", "trigger": daily})
    far = {"type": "moment", "at": at + 60 * 86_400_000}
    device.call("bw_reminder_add", {"id": "far", "title": "Far", "trigger": far})

    device_clock.set(AHEAD)
    look_at_the_clock(device, "Ahead")
    device_clock.set("+0")
    look_at_the_clock(device, "Back")

    counts = {title: shown(device, title) for title in ("Moment", "Interval", "Daily", "Far")}
    assert counts == {"Moment": 1, "Interval": 1, "Daily": 1, "Far": 0}
    # Those that repeat do so by the clock as it is now, not by what it was for a moment.
    pending = {each["id"]: each["nextAt"] for each in device.call("bw_reminder_list")}
    now = int(time.time() * 1_000)
    assert set(pending) == {"interval", "daily", "far"}
    assert now < pending["interval"] <= now + 3_600_000
    assert now < pending["daily"] <= now + 86_400_000
    assert pending["far"] == far["at"]


def test_reminders_are_not_repeated_when_the_clock_goes_back(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    _, device = own_alerts(host, relay, clock, device_clock)
    device.call("bw_reminder_add", {"id": "once", "title": "Once", "trigger": {"type": "interval", "seconds": 1}})
    device.wait(lambda said: said.get("asked") == "present" and said["question"]["alert"].get("title") == "Once")
    device_clock.set("-40d")
    look_at_the_clock(device, "Behind")
    device_clock.set("+0")
    look_at_the_clock(device, "Back")
    assert shown(device, "Once") == 1
    assert device.call("bw_reminder_list") == []


def test_an_alert_that_waits_is_shown_after_a_jump(
    host: Callable[..., Host], relay: str, clock: Clock, device_clock: Clock
) -> None:
    desktop, device = own_alerts(host, relay, clock, device_clock)
    device.answer("present", None)
    waiting = [send(desktop, title) for title in ("First", "Second")]
    wait_until(lambda: device.call("bw_alerts_state")["waiting"] == 2)
    device_clock.set(AHEAD)
    # One more comes while the clock is wrong, so that the ones that wait are looked at.
    waiting.append(send(desktop, "Third"))
    wait_until(lambda: device.call("bw_alerts_state")["waiting"] == 3)
    device_clock.set("+0")
    device.answer("present", 0)
    for identity in waiting:
        assert device.event("notification.presented", id=identity)["presented"] is True
    assert [shown(device, title) for title in ("First", "Second", "Third")] == [1, 1, 1]
