"""Alerts that the program shows itself, over the C interface: every rule between a push and the screen, and back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import STATUS, Host
from peers import Object
from programs import Program, wait_until

Start = Callable[..., Program]

BANNER, SOUND, BADGE, LIST = 1, 2, 4, 8


class House:
    """A desktop, and a device that shows its alerts itself."""

    def __init__(self, start: Start, relay: str, home: Path, **options: Any) -> None:
        self._start, self._relay, self._home = start, relay, home
        self.options = {"alerts": "host", **options}
        self.desktop = self.open("desktop", "desktop")
        self.desktop.start()
        self.device = self.begin()
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        self.device.call("bw_pairing_scan", offer["payload"], 15_000)

    def open(self, role: str, name: str, **options: Any) -> Host:
        common = {"state_dir": str(self._home / name), "name": name.title(), "relay_url": self._relay}
        return Host(self._start, role, {**common, "follow_system": False, **options})

    def begin(self) -> Host:
        """The device, whose program shows alerts."""
        device = self.open("device", "device", **self.options)
        device.answer("present", 0)
        device.start()
        return device

    def authorize(self, status: str = "authorized", until: int = 0) -> None:
        self.device.call("bw_alerts_authorize", status, until)
        self.device.event("authorization.changed", status=status)

    def push(self, title: str, **params: Any) -> str:
        """A push of the desktop's own; its id."""
        sent = self.desktop.call("bw_desktop_notify", {"title": title, "body": "Body", **params}, 10_000)
        return str(sent["notificationId"])

    def shown(self, title: str) -> Object:
        """The next alert of that title that the program was given."""
        device = self.device
        found = device.wait(lambda said: said.get("asked") == "present" and _title(said["question"]) == title)
        return dict(found["question"])

    def presented(self, identity: str) -> Object:
        return self.device.event("notification.presented", id=identity)

    def settings(self, **settings: Any) -> Object:
        changed: Object = self.device.call("bw_alerts_set_settings", settings)
        return changed


def _title(question: Object) -> str | None:
    title: str | None = question.get("alert", {}).get("title")
    return title


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, tmp_path)
    yield house
    house.device.close()
    house.desktop.close()


def local_minute(offset: int) -> str:
    """HH:mm so many minutes from now, in local time."""
    return time.strftime("%H:%M", time.localtime(time.time() + 60 * offset))


# Authorization


def test_nothing_is_shown_before_it_is_allowed_and_the_push_arrives_all_the_same(house: House) -> None:
    first = house.push("Early")
    assert house.device.event("notification.received")["title"] == "Early"
    assert house.presented(first) == {"id": first, "presented": False, "reason": "not_determined"}
    assert house.device.state["authorization"] == "notDetermined"
    house.authorize()
    second = house.push("Allowed")
    alert = house.shown("Allowed")
    assert (alert["alert"]["body"], alert["alert"]["thread"], alert["alert"]["level"]) == (
        "Body",
        "remote.pc",
        "active",
    )
    assert [action["id"] for action in alert["actions"]] == ["MARK_READ_ACTION"]
    assert alert["presentation"] == BANNER | SOUND | BADGE | LIST
    assert house.presented(second) == {"id": second, "presented": True}
    house.authorize("denied")
    third = house.push("Denied")
    assert house.presented(third)["reason"] == "denied"
    assert house.device.state["unread"] == 3
    assert [_title(question) for question in house.device.questions("present")] == ["Allowed"]


def test_the_desktop_hears_what_was_shown(house: House) -> None:
    house.authorize()
    pushed = house.push("Seen")
    told = house.desktop.event("notification.presented", id=pushed)
    assert told["presented"] is True


def test_the_host_asks_the_person_once_and_a_refusal_stays(house: House) -> None:
    device = house.device
    device.event("authorization.changed", status="notDetermined", advice="explain")
    # Nobody asks.
    assert device.outcome("bw_alerts_request", None, 5_000)["status"] == STATUS["BW_E_UNSUPPORTED"]
    device.answer("authorize", 0)
    waiting = device.begin("bw_alerts_request", None, 20_000)
    assert device.question("authorize") == {"name": "Device"}
    also = device.begin("bw_alerts_request", None, 20_000)
    device.call("bw_alerts_authorize", "denied", 0)
    for outcome in (waiting(20), also(20)):
        assert outcome["status"] == STATUS["BW_E_DENIED"], outcome
        assert "settings" in outcome["error"]["message"]
    device.event("authorization.changed", status="denied", advice="settings")
    assert device.outcome("bw_alerts_request", None, 5_000)["status"] == STATUS["BW_E_DENIED"]
    assert len(device.questions("authorize")) == 1
    # Only the person can change it.
    device.call("bw_alerts_authorize", "authorized", 0)
    assert device.call("bw_alerts_request", None, 5_000) == {"status": "authorized", "advice": "register"}


def test_without_an_answer_the_request_ends_and_the_answer_still_counts(house: House) -> None:
    device = house.device
    device.answer("authorize", 0)
    assert device.outcome("bw_alerts_request", None, 300)["status"] == STATUS["BW_E_TIMEOUT"]
    device.call("bw_alerts_authorize", "authorized", 0)
    device.event("authorization.changed", status="authorized")
    assert device.call("bw_alerts_request", None, 5_000)["status"] == "authorized"


def test_a_provisional_one_shows_quietly_and_can_be_raised(house: House) -> None:
    device = house.device
    assert device.call("bw_alerts_request", {"provisional": True}, 5_000)["status"] == "provisional"
    device.event("authorization.changed", status="provisional", advice="upgrade")
    house.push("Quiet", sound="default")
    alert = house.shown("Quiet")
    assert (alert["quietly"], alert["alert"]["level"], alert["alert"].get("sound")) == (True, "passive", None)
    device.answer("authorize", 0)
    raised = device.begin("bw_alerts_request", None, 20_000)
    device.question("authorize")
    device.call("bw_alerts_authorize", "authorized", 0)
    assert raised(20)["result"]["status"] == "authorized"
    house.push("Loud", priority="urgent")
    alert = house.shown("Loud")
    assert (alert["quietly"], alert["alert"]["level"], alert["alert"].get("sound")) == (
        False,
        "timeSensitive",
        "default",
    )


def test_an_ephemeral_one_ends(house: House) -> None:
    house.authorize("ephemeral", int(time.time() * 1_000) + 1_500)
    house.push("Within")
    house.shown("Within")
    house.device.event("authorization.changed", status="notDetermined")
    late = house.push("After")
    assert house.presented(late)["reason"] == "not_determined"
    assert house.device.outcome("bw_alerts_authorize", "ephemeral", 0)["status"] == STATUS["BW_E_INVALID"]
    assert house.device.outcome("bw_alerts_authorize", "maybe", 0)["status"] == STATUS["BW_E_INVALID"]


def test_the_authorization_and_the_settings_survive_a_restart(house: House) -> None:
    house.authorize()
    changed = house.settings(showPreview=False, sources={"mobile": False})
    house.device.close()
    house.device = house.begin()
    house.device.event("authorization.changed", status="authorized", advice="register")
    assert house.device.call("bw_alerts_settings") == changed
    house.push("After the restart")
    assert house.shown("After the restart")["alert"].get("body", "") == ""


# Settings


def test_settings_decide_in_their_order(house: House) -> None:
    house.authorize()
    house.settings(enabled=False)
    assert house.presented(house.push("Off"))["reason"] == "disabled"
    house.settings(enabled=True, sources={"pc": False})
    assert house.presented(house.push("Source"))["reason"] == "source_disabled"
    house.settings(sources={"pc": None}, categories={"CHAT": False})
    assert house.presented(house.push("Category", category="CHAT"))["reason"] == "category_disabled"
    house.desktop.call("bw_desktop_invoke", "notification.updateSettings", {"enabled": False}, 5_000)
    assert house.presented(house.push("Silenced"))["reason"] == "silenced"
    assert house.device.state["unread"] == 4
    assert house.device.questions("present") == []
    wrong = house.device.outcome("bw_alerts_set_settings", {"enabled": 1})
    assert (wrong["status"], wrong["error"]["detail"]["field"]) == (STATUS["BW_E_INVALID"], "enabled")


def test_quiet_hours_hold_back_and_tell_once_when_they_end(house: House) -> None:
    house.authorize()
    house.settings(quietHoursEnabled=True, quietHoursStart=local_minute(-60), quietHoursEnd=local_minute(60))
    held = [house.push(f"Held {number}") for number in range(3)]
    assert [house.presented(each)["reason"] for each in held] == ["quiet_hours"] * 3
    urgent = house.push("Fire", priority="urgent")
    house.shown("Fire")
    assert house.presented(urgent)["presented"] is True
    # As if they had ended: a change of the settings is looked at, at once.
    house.settings(quietHoursEnabled=False)
    digest = house.shown("3 notifications during quiet hours")
    assert digest["alert"]["body"].split("\n") == ["Held 2", "Held 1", "Held 0"]
    house.settings(quietHoursEnabled=True, quietHoursStart=local_minute(-60), quietHoursEnd=local_minute(60))
    house.settings(quietHoursEnabled=False)
    house.push("Afterwards")
    house.shown("Afterwards")
    titles = [_title(question) for question in house.device.questions("present")]
    assert titles == ["Fire", "3 notifications during quiet hours", "Afterwards"]


def test_what_quiet_hours_held_back_is_told_after_a_restart(house: House) -> None:
    house.authorize()
    house.settings(quietHoursEnabled=True, quietHoursStart=local_minute(-60), quietHoursEnd=local_minute(60))
    house.presented(house.push("Held"))
    house.device.close()
    house.device = house.begin()
    house.settings(quietHoursEnabled=False)
    # One alone comes as it is.
    house.shown("Held")


@pytest.mark.parametrize(("late_alerts", "shown"), [("none", []), ("each", ["Late 0", "Late 1"]), ("summary", None)])
def test_what_comes_late_is_shown_as_the_program_wants(
    start: Start, relay: str, tmp_path: Path, late_alerts: str, shown: list[str] | None
) -> None:
    house = House(start, relay, tmp_path, late_alerts=late_alerts)
    house.authorize()
    house.device.close()
    late = [house.push(f"Late {number}") for number in range(2)]
    # A push is late when it was sealed more than two seconds after it was made.
    due = time.monotonic() + 2.2
    wait_until(lambda: time.monotonic() > due)
    house.device = house.begin()
    reasons = [house.presented(each).get("reason") for each in late]
    assert reasons == [None if late_alerts == "each" else "late"] * 2
    if shown is None:
        house.shown("2 notifications while you were away")
        shown = ["2 notifications while you were away"]
    assert [_title(question) for question in house.device.questions("present")] == shown
    house.device.close()
    house.desktop.close()


# Contents


def test_the_same_place_is_taken_by_id_and_by_collapse_key(house: House) -> None:
    house.authorize()
    first = house.push("50 %", collapseKey="build")
    house.shown("50 %")
    second = house.push("100 %", collapseKey="build")
    house.shown("100 %")
    house.presented(second)
    wait_until(lambda: [each["alert"]["id"] for each in house.device.call("bw_alerts_delivered")] == [second])
    assert first != second


def test_a_push_without_preview_shows_its_title_alone(house: House) -> None:
    house.authorize()
    house.settings(showPreview=False, soundEnabled=False)
    house.push("Secret", subtitle="Sub", priority="urgent")
    alert = house.shown("Secret")["alert"]
    assert (alert.get("body", ""), alert.get("subtitle"), alert.get("sound")) == ("", None, None)
    delivered = house.device.call("bw_alerts_delivered")
    assert delivered[0]["alert"]["body"] == "Body", "its author's words are kept"


def test_the_badge_is_the_unread_count(house: House) -> None:
    house.authorize()
    house.push("One")
    house.device.event("badge.changed", badge=1)
    house.push("Two")
    house.device.event("badge.changed", badge=2)
    house.device.call("bw_inbox_mark_all_read", None, 5_000)
    house.device.event("badge.changed", badge=0)
    house.device.call("bw_alerts_badge", 7)
    house.device.event("badge.changed", badge=7)
    assert house.device.call("bw_alerts_state")["badge"] == 7


# Responses


def test_a_tap_brings_back_what_travelled_with_the_push(house: House) -> None:
    house.authorize()
    data = {"taskID": "t-1", "nested": {"a": [1, 2.5, None]}}
    pushed = house.push("Task", data=data, deepLink="app://task/1")
    alert = house.shown("Task")
    desktop = alert["desktop"]
    assert (alert["alert"]["userInfo"], alert["alert"]["deepLink"]) == (data, "app://task/1")
    house.presented(pushed)
    house.device.call("bw_alerts_respond", desktop, pushed, "default", None)
    response = house.device.event("notification.response", id=pushed)
    assert (response["action"], response["userInfo"], response["deepLink"]) == ("default", data, "app://task/1")
    assert response["push"]["title"] == "Task"
    again = house.device.outcome("bw_alerts_respond", desktop, pushed, "default", None)
    assert again["status"] == STATUS["BW_E_NOT_FOUND"]
    assert house.device.call("bw_alerts_delivered") == []


def test_a_deep_link_may_stand_in_the_data(house: House) -> None:
    house.authorize()
    house.push("Link", data={"deep_link": "app://x"})
    assert house.shown("Link")["alert"]["deepLink"] == "app://x"


def test_marking_as_read_from_the_alert_marks_it_on_the_desktop(house: House) -> None:
    house.authorize()
    pushed = house.push("Read me")
    desktop = house.shown("Read me")["desktop"]
    house.presented(pushed)
    house.device.call("bw_alerts_respond", desktop, pushed, "MARK_READ_ACTION", None)
    assert house.device.event("notification.response", id=pushed)["action"] == "MARK_READ_ACTION"
    house.device.event("badge.changed", badge=0)
    wait_until(lambda: house.desktop.call("bw_desktop_history", {})["unreadCount"] == 0)


def test_a_reply_comes_with_its_text_and_other_actions_are_refused(house: House) -> None:
    house.authorize()
    reply = {"id": "REPLY_ACTION", "title": "Reply", "kind": "reply", "placeholder": "…"}
    house.device.call("bw_alerts_categories", [{"id": "CHAT", "actions": [reply, {"id": "MUTE", "title": "Mute"}]}])
    pushed = house.push("Hello", category="CHAT")
    alert = house.shown("Hello")
    assert [action["id"] for action in alert["actions"]] == ["REPLY_ACTION", "MUTE"]
    house.presented(pushed)
    wrong = house.device.outcome("bw_alerts_respond", alert["desktop"], pushed, "BOGUS", None)
    assert (wrong["status"], wrong["error"]["detail"]["field"]) == (STATUS["BW_E_INVALID"], "action")
    house.device.call("bw_alerts_respond", alert["desktop"], pushed, "REPLY_ACTION", "Grüß Gott 👋")
    assert house.device.event("notification.response", id=pushed)["text"] == "Grüß Gott 👋"


def test_a_response_is_kept_until_the_program_takes_it(house: House) -> None:
    house.authorize()
    pushed = house.push("Kept")
    desktop = house.shown("Kept")["desktop"]
    house.presented(pushed)
    house.device.pause(True)
    house.device.call("bw_alerts_respond", desktop, pushed, "dismiss", None)
    house.device.program.kill()
    # It comes with the first subscription, before the device is started.
    house.device = house.begin()
    wait_until(lambda: [each["action"] for each in house.device.of("notification.response")] == ["dismiss"])


def test_what_is_read_elsewhere_is_taken_from_the_screen(house: House) -> None:
    house.authorize()
    pushed = house.push("Elsewhere")
    desktop = house.shown("Elsewhere")["desktop"]
    house.presented(pushed)
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": pushed}, 5_000)
    withdrawn = house.device.wait(lambda said: said.get("question", {}).get("withdraw") is True)["question"]
    assert withdrawn == {"desktop": desktop, "alert": {"id": pushed}, "withdraw": True}
    assert house.device.call("bw_alerts_delivered") == []


# In front, in the background, ended


def test_in_front_the_program_says_what_is_shown(house: House) -> None:
    house.authorize()
    house.device.answer("will_present", LIST | BADGE)
    house.push("Background")
    house.shown("Background")
    house.device.call("bw_alerts_in_front", 1)
    listed = house.push("Listed")
    assert house.device.question("will_present")["alert"]["title"] == "Listed"
    assert house.presented(listed)["presented"] is True
    house.device.answer("will_present", 0)
    hidden = house.push("Hidden")
    assert house.presented(hidden)["reason"] == "will_present"
    wait_until(lambda: "Listed" in _delivered(house))
    assert "Hidden" not in _delivered(house)
    assert [_title(question) for question in house.device.questions("present")] == ["Background"]


def test_a_program_that_does_not_answer_in_half_a_second_shows_all(house: House) -> None:
    house.authorize()
    house.device.answer("will_present", 0)
    house.device.call("bw_alerts_in_front", 1)
    house.device.pause(True)
    pushed = house.push("Slow")
    wait_until(lambda: house.desktop.of("notification.presented") != [] or _waits(house))
    due = time.monotonic() + 0.7
    wait_until(lambda: time.monotonic() > due)
    house.device.answer("will_present", 0)
    house.device.pause(False)
    house.shown("Slow")
    assert house.presented(pushed)["presented"] is True


def _delivered(house: House) -> list[str]:
    return [each["alert"]["title"] for each in house.device.call("bw_alerts_delivered")]


def _waits(house: House) -> bool:
    return bool(house.device.call("bw_alerts_state")["waiting"] > 0)


def test_a_callback_that_fails_is_tried_again_and_stops_no_push(house: House) -> None:
    house.authorize()
    house.device.answer("present", 5)
    pushed = house.push("Difficult")
    house.device.event("notification.received", title="Difficult")
    house.shown("Difficult")
    house.device.answer("present", 0)
    house.shown("Difficult")
    assert house.presented(pushed)["presented"] is True
    assert house.device.call("bw_alerts_state")["counters"]["failed"] == 1


def test_an_alert_that_was_on_its_way_when_the_process_died_is_shown_at_the_next_start(house: House) -> None:
    house.authorize()
    house.device.answer("present", None)
    pushed = house.push("Interrupted")
    house.device.event("notification.received", title="Interrupted")
    wait_until(lambda: _waits(house))
    house.device.program.kill()
    house.device = house.begin()
    house.shown("Interrupted")
    assert house.presented(pushed)["presented"] is True


# Reminders


def test_a_reminder_comes_at_its_moment_and_brings_back_its_task(house: House) -> None:
    house.authorize()
    at = int(time.time() * 1_000) + 700
    reminder = {"title": "Deadline", "userInfo": {"taskID": 7}, "trigger": {"type": "moment", "at": at}}
    added = house.device.call("bw_reminder_add", reminder)
    assert added["nextAt"] == at
    assert [each["id"] for each in house.device.call("bw_reminder_list")] == [added["id"]]
    alert = house.shown("Deadline")
    assert time.time() * 1_000 >= at
    assert (alert["reminder"], alert["alert"]["userInfo"]) == (True, {"taskID": 7})
    assert house.presented(added["id"]) == {"id": added["id"], "presented": True, "reminder": True}
    assert house.device.call("bw_reminder_list") == []
    house.device.call("bw_alerts_respond", None, added["id"], "default", None)
    response = house.device.event("notification.response", id=added["id"])
    assert (response["userInfo"], response["title"]) == ({"taskID": 7}, "Deadline")


def test_a_reminder_that_came_due_while_nothing_ran_is_shown_once_and_late(house: House) -> None:
    house.authorize()
    now = int(time.time() * 1_000)
    soon = {"id": "soon", "title": "Soon", "trigger": {"type": "moment", "at": now + 600}}
    house.device.call("bw_reminder_add", soon)
    house.device.call(
        "bw_reminder_add", {"id": "far", "title": "Far", "trigger": {"type": "interval", "seconds": 9_999}}
    )
    house.device.close()
    wait_until(lambda: time.time() * 1_000 > now + 700)
    house.device = house.begin()
    house.shown("Soon")
    assert house.presented("soon")["presented"] is True
    assert [each["id"] for each in house.device.call("bw_reminder_list")] == ["far"]
    house.device.close()
    house.device = house.begin()
    house.device.event("authorization.changed", status="authorized")
    house.device.call("bw_reminder_add", {"title": "Now"})
    house.shown("Now")
    assert [_title(question) for question in house.device.questions("present")] == ["Now"]


def test_reminders_are_changed_and_taken_out(house: House) -> None:
    add = "bw_reminder_add"
    for number in range(4):
        thread = "a" if number < 2 else "b"
        trigger = {"type": "interval", "seconds": 1_000 + number}
        house.device.call(add, {"id": str(number), "title": "T", "thread": thread, "trigger": trigger})
    house.device.call(add, {"id": "3", "title": "Changed", "trigger": {"type": "interval", "seconds": 5}})
    listed = house.device.call("bw_reminder_list")
    assert [(each["id"], each["title"]) for each in listed] == [("3", "Changed"), ("0", "T"), ("1", "T"), ("2", "T")]
    house.device.call("bw_reminder_remove", "2", None)
    assert house.device.outcome("bw_reminder_remove", "2", None)["status"] == STATUS["BW_E_NOT_FOUND"]
    house.device.call("bw_reminder_remove", None, "a")
    assert [each["id"] for each in house.device.call("bw_reminder_list")] == ["3"]
    house.device.call("bw_reminder_remove", None, None)
    assert house.device.call("bw_reminder_list") == []


@pytest.mark.parametrize(
    ("reminder", "field"),
    [
        ({"title": "T", "trigger": {"type": "never"}}, "trigger.type"),
        ({"title": "T", "trigger": {"type": "interval", "seconds": 0}}, "trigger.seconds"),
        ({"title": "T", "trigger": {"type": "interval", "seconds": 59, "repeats": True}}, "trigger.seconds"),
        ({"title": "T", "trigger": {"type": "calendar", "month": 2, "day": 30}}, "trigger"),
        ({"trigger": {"type": "now"}}, "title"),
        ({"title": "T", "bogus": 1}, "bogus"),
    ],
)
def test_bad_reminders_name_what_is_wrong(house: House, reminder: Object, field: str) -> None:
    wrong = house.device.outcome("bw_reminder_add", reminder)
    assert wrong["status"] == STATUS["BW_E_INVALID"]
    assert wrong["error"]["detail"]["field"].startswith(field), wrong


def test_a_region_is_entered_and_left(house: House) -> None:
    house.authorize()
    region = {"type": "region", "latitude": 48.2, "longitude": 16.37, "radius_m": 500, "on": "both", "repeats": True}
    house.device.call("bw_reminder_add", {"id": "office", "title": "Office", "trigger": region})
    house.device.call("bw_reminder_position", 48.3, 16.37, 10.0)
    house.device.call("bw_reminder_position", 48.2001, 16.3701, 10.0)
    house.shown("Office")
    house.device.call("bw_reminder_position", 48.25, 16.37, 10.0)
    house.shown("Office")
    assert house.device.outcome("bw_reminder_position", 91.0, 0.0, 0.0)["status"] == STATUS["BW_E_INVALID"]


# Push services


def test_a_payload_of_a_push_service_becomes_a_push_and_the_wire_brings_no_second(house: House) -> None:
    house.authorize()
    aps = {"aps": {"alert": {"title": "From APNs", "subtitle": "S", "body": "B"}, "thread-id": "t"}, "x": 1}
    received = house.device.call("bw_device_receive", "apns", {**aps, "notificationId": "n-1"})
    assert received == {"kind": "push", "id": "n-1", "duplicate": False}
    alert = house.shown("From APNs")
    assert (alert["desktop"], alert["alert"]["thread"], alert["alert"]["subtitle"]) == ("push:apns", "t", "S")
    assert house.device.call("bw_device_receive", "apns", {**aps, "notificationId": "n-1"})["duplicate"] is True
    assert house.device.state["unread"] == 1


def test_a_badge_alone_sets_the_badge_and_a_silent_push_is_completed(house: House) -> None:
    device = house.device
    # The refresh after pairing sets the badge, too.
    device.event("inbox.changed", loading=True)
    wait_until(lambda: not device.call("bw_inbox_state")["loading"])
    assert device.call("bw_device_receive", "apns", {"aps": {"badge": 5}}) == {"kind": "badge", "duplicate": False}
    device.event("badge.changed", badge=5)
    silent = device.call("bw_device_receive", "apns", {"aps": {"content-available": 1}, "task": "sync"})
    event = device.event("notification.silent", id=silent["id"])
    assert (event["userInfo"], event["timeoutMs"]) == ({"task": "sync"}, 30_000)
    assert device.outcome("bw_device_complete", silent["id"], "done")["status"] == STATUS["BW_E_INVALID"]
    device.call("bw_device_complete", silent["id"], "new_data")
    assert device.outcome("bw_device_complete", silent["id"], "new_data")["status"] == STATUS["BW_E_NOT_FOUND"]
    assert device.state["counters"]["silentPushes"] == 1
    assert device.state["unread"] == 0
    assert device.outcome("bw_device_receive", "apns", {"nothing": 1})["status"] == STATUS["BW_E_PROTOCOL"]


# What was shown is taken away


def withdrawals(house: House) -> list[str]:
    return [question["alert"]["id"] for question in house.device.questions("present") if question.get("withdraw")]


def test_what_takes_the_place_of_another_takes_it_from_the_screen(house: House) -> None:
    house.authorize()
    first = house.push("50 %", collapseKey="build")
    house.shown("50 %")
    house.presented(first)
    house.push("100 %", collapseKey="build")
    house.shown("100 %")
    wait_until(lambda: first in withdrawals(house))
    # One that is not shown leaves nothing of what it takes the place of, either.
    second = house.push("Again", collapseKey="other")
    house.presented(second)
    house.settings(enabled=False)
    house.push("Hidden", collapseKey="other")
    wait_until(lambda: second in withdrawals(house))


def test_an_alert_of_the_list_alone_takes_its_banner_away(house: House) -> None:
    house.authorize()
    house.device.call("bw_reminder_add", {"id": "r", "title": "Banner"})
    house.presented("r")
    house.device.answer("will_present", LIST)
    house.device.call("bw_alerts_in_front", 1)
    house.device.call("bw_reminder_add", {"id": "r", "title": "List"})
    house.presented("r")
    assert withdrawals(house) == ["r"]
    assert _delivered(house) == ["List"]


def test_what_is_read_while_the_program_does_not_look_is_not_on_its_screen_then(house: House) -> None:
    house.authorize()
    house.device.pause(True)
    pushed = house.push("Read meanwhile")
    wait_until(lambda: _waits(house))
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": pushed}, 5_000)
    wait_until(lambda: not _waits(house))
    house.device.pause(False)
    # It may be shown for a moment; then it is taken away.
    house.device.event("unread.changed", unread=0)
    house.push("Afterwards")
    house.shown("Afterwards")
    shown = [question for question in house.device.questions("present") if _title(question) == "Read meanwhile"]
    assert len(withdrawals(house)) == len(shown)
    assert _delivered(house) == [] or _delivered(house) == ["Afterwards"]


def test_what_was_read_in_quiet_hours_is_not_told_when_they_end(house: House) -> None:
    house.authorize()
    house.settings(quietHoursEnabled=True, quietHoursStart=local_minute(-60), quietHoursEnd=local_minute(60))
    read, unread = house.push("Read"), house.push("Unread")
    house.presented(read)
    house.presented(unread)
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": read}, 5_000)
    house.device.event("unread.changed", unread=1)
    # The alerts follow the inbox a tenth of a second later: the order of the store makes it certain that they have.
    due = time.monotonic() + 0.3
    wait_until(lambda: time.monotonic() > due)
    house.settings(quietHoursEnabled=False)
    house.shown("Unread")
    assert "Read" not in [_title(question) for question in house.device.questions("present")]


def test_a_burst_waits_for_a_program_that_does_not_look(house: House) -> None:
    house.authorize()
    house.device.pause(True)
    pushed = [house.push(f"Burst {number}") for number in range(300)]
    wait_until(lambda: house.device.state["unread"] == 300)
    house.device.pause(False)
    wait_until(lambda: len(house.device.of("notification.presented")) == 300, timeout=60)
    told = house.device.of("notification.presented")
    assert [each["id"] for each in told] == pushed
    assert all(each["presented"] for each in told)
    assert [_title(question) for question in house.device.questions("present")] == [f"Burst {n}" for n in range(300)]


def test_a_push_that_is_not_shown_may_set_the_badge_and_a_silenced_one_may_not(house: House) -> None:
    house.authorize("denied")
    house.push("Badge", badge=9)
    house.device.event("badge.changed", badge=9)
    house.desktop.call("bw_desktop_invoke", "notification.updateSettings", {"enabled": False}, 5_000)
    house.push("Silenced", badge=77)
    house.device.event("badge.changed", badge=2)
    assert 77 not in [each["badge"] for each in house.device.of("badge.changed")]


def test_a_reminder_that_takes_its_own_place_stays_on_the_screen(house: House) -> None:
    house.authorize()
    house.device.pause(True)
    for title in ("First", "Second"):
        house.device.call("bw_reminder_add", {"id": "r", "title": title})
    house.device.pause(False)
    house.device.event("notification.presented", id="r", presented=True)
    wait_until(lambda: _delivered(house) == ["Second"])
    house.device.call("bw_reminder_add", {"title": "Last"})
    house.shown("Last")
    # Whatever was taken away was so before the second came.
    questions = house.device.questions("present")
    own = [question for question in questions if question["alert"]["id"] == "r"]
    assert _title(own[-1]) == "Second"


def test_the_librarys_own_ids_are_no_reminders(house: House) -> None:
    wrong = house.device.outcome("bw_reminder_add", {"id": "bellwire.digest.late", "title": "T"})
    assert (wrong["status"], wrong["error"]["detail"]["field"]) == (STATUS["BW_E_INVALID"], "id")


def test_a_push_without_a_title_is_shown_under_the_programs_name(house: House) -> None:
    house.authorize()
    house.device.call("bw_device_receive", "apns", {"aps": {"alert": "Only a text"}})
    assert house.shown("Device")["alert"]["body"] == "Only a text"


def test_the_list_of_delivered_alerts_keeps_threads_together(house: House) -> None:
    house.authorize()
    order = [("a1", "a"), ("pc1", None), ("b1", "b"), ("a2", "a"), ("alone", ""), ("pc2", None), ("b2", "b")]
    for title, thread in order:
        if thread == "":
            # A reminder without a thread is a group of its own, and so is the next.
            for each in (title, f"{title} too"):
                house.device.call("bw_reminder_add", {"title": each})
                house.shown(each)
        else:
            house.push(title, **({} if thread is None else {"threadId": thread}))
            house.shown(title)
    # The thread with the newest alert first, and its newest alert first.
    sorted_by_thread = ["b2", "b1", "pc2", "pc1", "alone too", "alone", "a2", "a1"]
    wait_until(lambda: _delivered(house) == sorted_by_thread)
    # One more brings its thread to the front; without it, the thread goes back.
    house.device.call("bw_reminder_add", {"id": "a3", "title": "a3", "thread": "a"})
    wait_until(lambda: _delivered(house) == ["a3", "a2", "a1", *sorted_by_thread[:-2]])
    house.device.call("bw_alerts_remove", None, "a3", None)
    assert _delivered(house) == sorted_by_thread
    house.device.call("bw_alerts_remove", None, None, "a")
    assert _delivered(house) == sorted_by_thread[:-2]


# Without alerts


def test_with_alerts_none_nothing_happens_by_itself(start: Start, relay: str, tmp_path: Path) -> None:
    house = House.__new__(House)
    house._start, house._relay, house._home = start, relay, tmp_path
    device = house.open("device", "device")
    device.start()
    assert device.call("bw_alerts_state")["presenter"] == {"kind": "none", "ready": False}
    for call in (
        ("bw_alerts_request", None, 1_000),
        ("bw_reminder_add", {"title": "T"}),
        ("bw_alerts_badge", 1),
        ("bw_alerts_respond", None, "x", "default", None),
    ):
        assert device.outcome(*call)["status"] == STATUS["BW_E_UNSUPPORTED"], call
    assert device.call("bw_alerts_delivered") == device.call("bw_reminder_list") == []
    assert device.of("authorization.changed") == []
    device.close()
