"""The eleven methods against a deployed desktop, over the C interface: what goes out, literally, and what each of its
answers becomes (WireDeployedPeers, "What a device accepts")."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import STATUS, Host
from peers import FakeDesktop, Object
from programs import Program

Start = Callable[..., Program]

ROW = {"id": "a", "title": "A", "body": "b", "priority": "high", "read": True, "source": "pc", "createdAt": 5}
TABLE_ROW = {
    "id": "a",
    "title": "A",
    "message": "b",
    "urgency": "high",
    "read": 1,
    "created_at": 5,
    "data": '{"k":"v"}',
}


@pytest.fixture
def device(start: Start, fake_desktop: FakeDesktop, tmp_path: Path) -> Iterator[Host]:
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "follow_system": False})
    scan = device.begin("bw_pairing_scan", fake_desktop.code(), 15_000)
    fake_desktop.pair()
    assert scan()["status"] == 0
    yield device
    device.close()


class Asked:
    """A call under way, whose request the desktop has read."""

    def __init__(self, device: Host, desktop: FakeDesktop, method: str, params: Object | None) -> None:
        self._desktop = desktop
        self._outcome = device.begin(f"bw_notification_{method}", None, params, 10_000)
        self.request: Object = {}

    def answered(self, result: Any = ..., error: Any = ..., as_text: bool = False) -> Object:
        self.request = self._desktop.answer(result, error, as_text)
        return self._outcome()


# What the caller says, and what of it goes out: every name that some deployed desktop reads.
SENT = [
    pytest.param(
        "send",
        {"title": "T", "body": "B", "priority": "urgent", "icon": "i", "respectQuietHours": False},
        "notification.send",
        {
            "title": "T",
            "body": "B",
            "priority": "urgent",
            "urgency": "critical",
            "icon": "i",
            "respectQuietHours": False,
        },
        id="send",
    ),
    pytest.param(
        "send_to_mobile",
        {"title": "T", "body": "B", "deviceId": "phone-1", "data": {"k": "v"}},
        "notification.sendToMobile",
        {
            "title": "T",
            "body": "B",
            "priority": "normal",
            "urgency": "normal",
            "deviceId": "phone-1",
            "targetDevices": ["phone-1"],
            "data": {"k": "v"},
        },
        id="sendToMobile",
    ),
    pytest.param(
        "broadcast",
        {"title": "T", "body": "B"},
        "notification.broadcast",
        {"title": "T", "body": "B", "priority": "normal", "urgency": "normal"},
        id="broadcast",
    ),
    pytest.param(
        "get_history",
        {"limit": 7, "offset": 2, "unreadOnly": True, "since": 1000},
        "notification.getHistory",
        {"limit": 7, "offset": 2, "unreadOnly": True, "since": 1000, "startDate": 1000},
        id="getHistory",
    ),
    pytest.param(
        "mark_as_read",
        {"notificationId": "n-1"},
        "notification.markAsRead",
        {"notificationId": "n-1", "id": "n-1"},
        id="markAsRead",
    ),
    pytest.param("mark_all_as_read", None, "notification.markAllAsRead", {}, id="markAllAsRead"),
    pytest.param(
        "delete", {"notificationId": "n-1"}, "notification.delete", {"notificationId": "n-1", "id": "n-1"}, id="delete"
    ),
    pytest.param("clear_all", None, "notification.clearAll", {}, id="clearAll"),
    pytest.param("get_unread_count", None, "notification.getUnreadCount", {}, id="getUnreadCount"),
    pytest.param("get_settings", None, "notification.getSettings", {}, id="getSettings"),
    pytest.param(
        "update_settings",
        {"quietHoursEnabled": True, "quietHoursStart": "22:00", "quietHoursEnd": "08:00", "soundEnabled": False},
        "notification.updateSettings",
        {
            "quietHoursEnabled": True,
            "quietHoursStart": "22:00",
            "quietHoursEnd": "08:00",
            "quietHours": {"enabled": True, "start": "22:00", "end": "08:00"},
            "soundEnabled": False,
        },
        id="updateSettings",
    ),
]

# A result that decodes, of each.
RESULTS: dict[str, Object] = {
    "get_history": {"notifications": [], "total": 0, "unreadCount": 0},
    "get_unread_count": {"success": True, "count": 3},
    "get_settings": {"enabled": True},
}


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
@pytest.mark.parametrize(("method", "params", "name", "sent"), SENT)
def test_each_method_goes_out_as_every_desktop_reads_it(
    device: Host, fake_desktop: FakeDesktop, method: str, params: Object | None, name: str, sent: Object, as_text: bool
) -> None:
    asked = Asked(device, fake_desktop, method, params)
    outcome = asked.answered(RESULTS.get(method, {"success": True}), as_text=as_text)
    assert outcome["status"] == 0, outcome
    assert asked.request["method"] == name
    assert asked.request["params"] == sent
    auth = asked.request["auth"]
    assert auth["mobileDid"] == auth["did"] == fake_desktop.device_id


@pytest.mark.parametrize(("method", "params", "name", "sent"), SENT)
def test_each_method_says_a_refusal(
    device: Host, fake_desktop: FakeDesktop, method: str, params: Object | None, name: str, sent: Object
) -> None:
    for error, status in [
        ("Permission denied", "BW_E_DENIED"),
        ({"code": -32602, "message": "Bad title"}, "BW_E_REMOTE"),
        ({"code": -32603, "message": "Unknown command namespace: notification"}, "BW_E_UNSUPPORTED"),
    ]:
        outcome = Asked(device, fake_desktop, method, params).answered(error=error)
        assert outcome["status"] == STATUS[status], outcome
        assert outcome["error"]["message"]
        if status == "BW_E_UNSUPPORTED":
            break


@pytest.mark.parametrize("answer", ["not an object", [1], 5], ids=["a text", "an array", "a number"])
@pytest.mark.parametrize(("method", "params", "name", "sent"), SENT)
def test_an_answer_that_cannot_be_decoded_is_said_and_changes_nothing(
    device: Host, fake_desktop: FakeDesktop, method: str, params: Object | None, name: str, sent: Object, answer: Any
) -> None:
    fake_desktop.push(1)
    device.event("notification.received", id="notif-1")
    before = device.call("bw_inbox_load", None)
    outcome = Asked(device, fake_desktop, method, params).answered(answer)
    assert outcome["status"] == STATUS["BW_E_PROTOCOL"], outcome
    assert outcome["error"]["message"]
    assert device.call("bw_inbox_load", None) == before
    # The next answer is read again.
    assert Asked(device, fake_desktop, method, params).answered(RESULTS.get(method, {"success": True}))["status"] == 0


# What of a deployed desktop's answer the caller gets.
ANSWERS = [
    pytest.param(
        "send", {"title": "T"}, {"success": True, "id": "n", "timestamp": 1}, {"notificationId": "n"}, id="id"
    ),
    pytest.param(
        "send",
        {"title": "T"},
        {"success": False, "reason": "quiet_hours"},
        {"success": True, "silenced": True},
        id="quiet hours are no failure",
    ),
    pytest.param(
        "mark_as_read", {"notificationId": "n"}, {"success": True, "markedCount": 1}, {"markedCount": 1}, id="1"
    ),
    pytest.param("mark_all_as_read", None, {"success": True, "markedCount": "all"}, {"markedCount": "all"}, id="all"),
    pytest.param("get_history", None, {"notifications": [ROW], "total": 1, "unreadCount": 0}, {"total": 1}, id="rows"),
    pytest.param(
        "get_history", None, {"items": [TABLE_ROW], "total": 1, "unreadCount": 0}, {"total": 1}, id="table rows"
    ),
    pytest.param(
        "get_settings",
        None,
        {"enabled": True, "quietHoursEnabled": True, "quietHoursStart": "22:00", "quietHoursEnd": "08:00"},
        {"quietHoursEnabled": True, "quietHoursStart": "22:00", "quietHoursEnd": "08:00"},
        id="flat settings",
    ),
    pytest.param(
        "get_settings",
        None,
        {"enabled": True, "quietHours": {"enabled": True, "start": "22:00", "end": "08:00"}},
        {"quietHoursEnabled": True, "quietHoursStart": "22:00", "quietHoursEnd": "08:00"},
        id="nested settings",
    ),
]


@pytest.mark.parametrize(("method", "params", "answer", "expected"), ANSWERS)
def test_each_form_of_an_answer_is_read(
    device: Host, fake_desktop: FakeDesktop, method: str, params: Object | None, answer: Object, expected: Object
) -> None:
    outcome = Asked(device, fake_desktop, method, params).answered(answer, error=None)
    assert outcome["status"] == 0, outcome
    result = outcome["result"]
    assert {key: result.get(key) for key in expected} == expected
    if method == "get_history":
        row = result["notifications"][0]
        assert {key: row.get(key) for key in ROW} == ROW


def test_settings_that_begin_and_end_at_once_are_sent_as_never(device: Host, fake_desktop: FakeDesktop) -> None:
    """There, start = end would mean always (WireDeployedPeers, "The desktop app")."""
    asked = Asked(
        device,
        fake_desktop,
        "update_settings",
        {"quietHoursEnabled": True, "quietHoursStart": "08:00", "quietHoursEnd": "08:00"},
    )
    assert asked.answered({"success": True})["status"] == 0
    params = asked.request["params"]
    assert (params["quietHoursEnabled"], params["quietHours"]["enabled"]) == (False, False)


# Refused before anything is sent; the error names the field.
REFUSED = [
    pytest.param("send", {"title": ""}, "title", id="an empty title"),
    pytest.param("send", {"title": "x" * 1025}, "title", id="a title of 1,025 bytes"),
    pytest.param("send", {"title": "T", "body": "x" * 65537}, "body", id="a body of 65,537 bytes"),
    pytest.param("send", {"title": "T", "priority": "shiny"}, "priority", id="an unknown priority"),
    pytest.param("send_to_mobile", {"title": "T", "deviceId": ""}, "deviceId", id="an empty device"),
    pytest.param("broadcast", {"body": "B"}, "title", id="no title"),
    pytest.param("get_history", {"limit": 0}, "limit", id="limit 0"),
    pytest.param("get_history", {"limit": 501}, "limit", id="limit 501"),
    pytest.param("get_history", {"offset": -1}, "offset", id="offset -1"),
    pytest.param("mark_as_read", {"notificationId": ""}, "notificationId", id="an empty id"),
    pytest.param("mark_as_read", {}, "notificationId", id="no id"),
    pytest.param("delete", {"notificationId": ""}, "notificationId", id="an empty id to delete"),
    pytest.param("update_settings", {}, None, id="no field"),
    pytest.param("update_settings", {"quietHoursStart": "8:00"}, "quietHoursStart", id="8:00"),
    pytest.param("update_settings", {"quietHoursEnd": "24:00"}, "quietHoursEnd", id="24:00"),
    pytest.param("update_settings", {"loud": True}, "loud", id="an unknown field"),
]


@pytest.mark.parametrize(("method", "params", "field"), REFUSED)
def test_bad_parameters_are_refused_before_anything_is_sent(
    device: Host, fake_desktop: FakeDesktop, method: str, params: Object, field: str | None
) -> None:
    outcome = device.outcome(f"bw_notification_{method}", None, params, 10_000)
    assert outcome["status"] == STATUS["BW_E_INVALID"], outcome
    if field:
        assert outcome["error"]["detail"]["field"] == field
    # What comes next at the desktop is the next call.
    asked = Asked(device, fake_desktop, "get_unread_count", None)
    assert asked.answered({"count": 1})["status"] == 0
    assert asked.request["method"] == "notification.getUnreadCount"
    assert json.dumps(asked.request["params"]) == "{}"
