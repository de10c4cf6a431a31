"""The short form of alert_crashes.py, which has a long one as well; and more alerts than are on their way at once."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from alert_crashes import run
from conftest import Start
from hosts import OK, Host
from programs import wait_until


@pytest.mark.parametrize("seed", [1, 2])
def test_alerts_are_shown_once_however_often_the_device_is_killed(start: Start, tmp_path: Path, seed: int) -> None:
    run(start, tmp_path / "house", pushes=100, reminders=30, seed=seed)


def test_more_reminders_than_are_shown_at_once_are_all_shown(start: Start, tmp_path: Path) -> None:
    options = {"state_dir": str(tmp_path / "device"), "alerts": "host", "follow_system": False}
    device = Host(start, "device", options)
    device.call("bw_alerts_authorize", "authorized", 0)
    due = int(time.time() * 1_000) + 1_500
    names = [f"reminder-{number}" for number in range(500)]
    begun = [
        device.begin("bw_reminder_add", {"id": name, "title": name, "trigger": {"type": "moment", "at": due}})
        for name in names
    ]
    assert all(outcome(20)["status"] == OK for outcome in begun)
    device.close()
    wait_until(lambda: time.time() * 1_000 > due)

    # They came due while nothing ran. At first nobody shows them, then somebody who does not look for a while.
    device = Host(start, "device", options)
    device.start()
    wait_until(lambda: device.call("bw_alerts_state")["waiting"] > 1)
    device.answer("present", 0)
    device.pause(True)
    added = device.call("bw_reminder_add", {"title": "One more"})["id"]
    device.pause(False)
    wait_until(lambda: len(device.of("notification.presented")) >= 501, 30)
    assert device.call("bw_alerts_state")["waiting"] == 0
    asked = device.questions("present")
    shown = Counter(question["alert"]["id"] for question in asked if "withdraw" not in question)
    assert shown == Counter([*names, added])
    assert Counter(each["id"] for each in device.of("notification.presented") if each["presented"]) == shown
    # 500 are kept on the screen.
    assert [question["alert"]["id"] for question in asked if "withdraw" in question] == ["reminder-0"]
    assert len(device.call("bw_alerts_delivered")) == 500
    device.close()
