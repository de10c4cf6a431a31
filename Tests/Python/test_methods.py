"""The eleven methods, typed, against a real desktop through a real relay; each also awaited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import bellwire
import pytest
from bellwire import Priority
from peers import Peers, until


def drive(awaited: bool, peers: Peers, name: str) -> Callable[..., Any]:
    """A method of the device, as a call that waits or as a coroutine."""
    if not awaited:
        return getattr(peers.device, name)  # type: ignore[no-any-return]

    def call(*arguments: Any, **options: Any) -> Any:
        return asyncio.run(getattr(peers.device, f"a{name}")(*arguments, **options))

    return call


both = pytest.mark.parametrize("awaited", [False, True], ids=["waits", "awaited"])


@both
def test_the_eleven_methods_give_typed_results(peers: Peers, awaited: bool) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=5)

    sent = drive(awaited, peers, "send")("Build done", "All green", priority=Priority.HIGH, icon="ok")
    assert isinstance(sent, bellwire.Sent)
    assert sent.success and not sent.silenced and sent.timestamp and sent.timestamp > before

    mobile = drive(awaited, peers, "send_to_mobile")("To me", data={"k": [1, {"l": None}]})
    assert isinstance(mobile, bellwire.SentToMobile) and mobile.success and mobile.delivered
    assert mobile.device_id == peers.device.state().device_id

    broadcast = drive(awaited, peers, "broadcast")("To all", "of them")
    assert isinstance(broadcast, bellwire.Broadcast) and (broadcast.delivered_count, broadcast.failed_count) == (1, 0)

    page = drive(awaited, peers, "history")(limit=2)
    assert isinstance(page, bellwire.HistoryPage) and page.total == 3 and page.unread_count == 3 and page.next
    assert [each.title for each in page.notifications] == ["To all", "To me"]
    assert all(each.created_at > before and not each.read for each in page.notifications)
    rest = drive(awaited, peers, "history")(before=page.next)
    assert [(each.title, each.priority) for each in rest.notifications] == [("Build done", Priority.HIGH)]
    assert rest.notifications[0].id == sent.notification_id
    found = drive(awaited, peers, "history")(query="gree*", priority="high", since=before, sort="oldest")
    assert [each.title for each in found.notifications] == ["Build done"]
    assert drive(awaited, peers, "history")(until=before, unread_only=True).notifications == ()

    assert drive(awaited, peers, "unread_count")() == 3
    marked = drive(awaited, peers, "mark_as_read")(sent.notification_id)
    assert isinstance(marked, bellwire.Marked) and marked.marked_count == 1
    deleted = drive(awaited, peers, "delete")(sent.notification_id)
    assert isinstance(deleted, bellwire.Deleted) and deleted.deleted_count == 1
    assert drive(awaited, peers, "delete")("not there").error
    marked = drive(awaited, peers, "mark_all_as_read")()
    assert isinstance(marked, bellwire.Marked) and marked.marked_count == 2
    cleared = drive(awaited, peers, "clear_all")()
    assert isinstance(cleared, bellwire.Cleared) and cleared.cleared_count == 2

    settings = drive(awaited, peers, "settings")()
    assert isinstance(settings, bellwire.Settings) and settings.enabled and settings.revision is not None
    update = drive(awaited, peers, "update_settings")(
        quiet_hours_enabled=True, quiet_hours_start="22:00", quiet_hours_end="07:30", revision=settings.revision
    )
    assert isinstance(update, bellwire.SettingsUpdate) and update.success and not update.stale
    assert update.settings and update.settings.quiet_hours_end == "07:30"
    peers.desktop.invoke("notification.updateSettings", {"quietHoursEnd": "06:00"})
    late = drive(awaited, peers, "update_settings")(quiet_hours_end="09:00", revision=update.revision)
    assert late.stale == ("quietHoursEnd",) and not late.success


@both
def test_any_method_can_be_invoked(peers: Peers, awaited: bool) -> None:
    assert drive(awaited, peers, "invoke")("notification.getUnreadCount") == {"success": True, "count": 0}
    with pytest.raises((bellwire.UnsupportedError, bellwire.RemoteError)) as caught:
        drive(awaited, peers, "invoke")("weather.tomorrow", {"city": "Delft"})
    assert caught.value.message


@pytest.mark.parametrize("name", ["send", "send_to_mobile", "broadcast", "notify"])
@both
def test_every_field_of_a_push_can_be_sent(peers: Peers, awaited: bool, name: str) -> None:
    expires = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=1)
    fields: bellwire.PushFields = {
        "priority": Priority.URGENT,
        "respect_quiet_hours": False,
        "expires_at": expires,
        "collapse_key": "disk",
        "subtitle": "Server",
        "image_url": "https://example.org/i.png",
        "deep_link": "app://disk",
        "category": "MESSAGE",
        "buttons": {"Graph": "https://example.org/g", "Log": "https://example.org/l"},
        "thread_id": "disks",
        "sound": "default",
        "badge": 3,
        "data": {"k": [1]},
    }
    call = drive(awaited, peers, name) if name != "notify" else peers.desktop.notify
    if name == "notify" and awaited:

        def call(*arguments: Any, **options: Any) -> Any:
            return asyncio.run(peers.desktop.anotify(*arguments, **options))

    assert call("Disk", "91 %", **fields).success
    received = next(iter(peers.device.pushes())).raw
    assert {key: received[key] for key in ("title", "body", "priority", "expiresAt", "collapseKey", "subtitle")} == {
        "title": "Disk", "body": "91 %", "priority": "urgent", "expiresAt": int(expires.timestamp() * 1000),
        "collapseKey": "disk", "subtitle": "Server",
    }  # fmt: skip
    assert {key: received[key] for key in ("imageUrl", "deepLink", "category", "threadId", "sound", "badge")} == {
        "imageUrl": "https://example.org/i.png", "deepLink": "app://disk", "category": "MESSAGE", "threadId": "disks",
        "sound": "default", "badge": 3,
    }  # fmt: skip
    actions = [
        {"action": "view", "label": "Graph", "url": "https://example.org/g"},
        {"action": "view", "label": "Log", "url": "https://example.org/l"},
    ]
    assert received["data"]["k"] == [1] and json.loads(received["data"]["actions"]) == actions
    assert not received["silenced"]
    assert call("Quietly", silenced=True, collapse_key=None).success
    assert next(iter(peers.device.pushes())).silenced
    later = call("Later", scheduled_at=datetime.now(timezone.utc) + timedelta(hours=1))
    assert later.scheduled_at is not None
    unknown: dict[str, Any] = {"colour": "red"}
    with pytest.raises(TypeError, match="colour"):
        call("t", **unknown)


@both
def test_pushes_to_groups_and_queued_ones(peers: Peers, awaited: bool) -> None:
    device = peers.desktop.devices()[0].id
    peers.desktop.invoke("desktop.setGroup", {"name": "family", "devices": [device]})
    assert drive(awaited, peers, "broadcast")("Dinner", group="family").delivered_count == 1
    assert peers.desktop.notify("Dinner", group="family").delivered_count == 1
    peers.device.stop()
    for name in ("broadcast", "send_to_mobile"):
        assert isinstance(drive(awaited, peers, name)("Later", queue_for=60), bellwire.Queued)
    assert len(peers.device.queue.list()) == 2


@both
def test_a_bad_parameter_is_named_and_not_sent(peers: Peers, awaited: bool) -> None:
    with pytest.raises(bellwire.InvalidError) as caught:
        drive(awaited, peers, "send")("")
    assert caught.value.detail["field"] == "title" and isinstance(caught.value, ValueError)
    with pytest.raises(bellwire.InvalidError):
        drive(awaited, peers, "update_settings")()
    for timeout in (0, -1, 601, float("nan"), float("inf")):
        with pytest.raises(bellwire.InvalidError):
            drive(awaited, peers, "send")("t", timeout=timeout)
    with pytest.raises(bellwire.InvalidError, match="time zone"):
        drive(awaited, peers, "history")(since=datetime(2026, 1, 1))
    with pytest.raises(bellwire.NotFoundError):
        drive(awaited, peers, "send")("t", desktop="nobody")
    assert peers.desktop.history().total == 0


@both
def test_what_the_user_does_not_allow_is_denied(peers: Peers, awaited: bool) -> None:
    peers.desktop.allow(peers.desktop.devices()[0].id, "notification", bellwire.Allowance.SAFE)
    assert drive(awaited, peers, "unread_count")() == 0
    with pytest.raises(bellwire.DeniedError) as caught:
        drive(awaited, peers, "send")("t")
    assert caught.value.detail["code"] == -32001 and isinstance(caught.value, PermissionError)
    peers.desktop.enable_skill("notification", False)
    with pytest.raises(bellwire.BellwireError):
        drive(awaited, peers, "unread_count")()
    permissions = peers.desktop.permissions()
    assert [(each.name, each.enabled) for each in permissions.skills] == [("notification", False)]
    assert permissions.devices[0].allowed["notification"] == "safe"


@both
def test_a_desktop_that_is_away_is_offline_or_the_command_waits(peers: Peers, awaited: bool) -> None:
    note = peers.desktop.notify("Kept").notification_id
    assert note is not None
    peers.device.stop()
    with pytest.raises(bellwire.OfflineError) as caught:
        drive(awaited, peers, "send")("t")
    assert isinstance(caught.value, ConnectionError) and caught.value.status == bellwire.Status.E_OFFLINE
    queued = drive(awaited, peers, "mark_as_read")(note)
    assert isinstance(queued, bellwire.Queued)
    (waiting,) = peers.device.queue.list()
    assert (waiting.id, waiting.method, waiting.state) == (queued.id, "notification.markAsRead", "pending")
    assert waiting.expires_at - waiting.created_at == timedelta(hours=24)

    ended: list[bellwire.Event] = []
    with peers.device.subscribe("queue.ended", ended.append):
        peers.device.wait_online()
        until(lambda: ended, peers.device)
    assert ended[0].data["id"] == queued.id and ended[0].data["outcome"] == "done"
    assert peers.device.unread_count() == 0 and peers.device.queue.list() == ()


@both
def test_a_notification_waits_for_the_desktop_or_for_its_time(peers: Peers, awaited: bool) -> None:
    at = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=2)
    for method in ("send", "broadcast"):
        later = drive(awaited, peers, method)("Later", scheduled_at=at)
        assert later.success and later.scheduled_at == at and later.notification_id
        deleted = peers.device.delete(later.notification_id)
        assert isinstance(deleted, bellwire.Deleted) and deleted.success
    sent = drive(awaited, peers, "broadcast")("Now")
    assert sent.notification_id and sent.notification_id in {each.id for each in peers.desktop.history().notifications}
    assert drive(awaited, peers, "send")("Now", queue_for=60).success

    peers.device.stop()
    queued = drive(awaited, peers, "send")("Waits", queue_for=60)
    assert isinstance(queued, bellwire.Queued)
    (waiting,) = peers.device.queue.list()
    assert (waiting.id, waiting.method) == (queued.id, "notification.send")
    assert waiting.expires_at - waiting.created_at == timedelta(seconds=60)
    with pytest.raises(bellwire.InvalidError):
        drive(awaited, peers, "send")("t", queue_for=100_000)
    peers.device.queue.remove(queued.id)


def test_queued_commands_can_be_taken_out(peers: Peers) -> None:
    peers.device.stop()
    first, second = peers.device.mark_as_read("a"), peers.device.delete("b")
    assert isinstance(first, bellwire.Queued) and isinstance(second, bellwire.Queued)
    peers.device.queue.remove(first.id)
    with pytest.raises(bellwire.NotFoundError):
        peers.device.queue.remove(first.id)
    with pytest.raises(bellwire.BellwireError):
        peers.device.queue.retry(first.id)
    peers.device.queue.retry()
    peers.device.queue.clear(older_than=datetime.now(timezone.utc))
    assert [each.id for each in peers.device.queue.list()] == [second.id]


def test_pushes_can_stand_in_a_set_and_codes_in_no_log(peers: Peers) -> None:
    peers.desktop.notify("t")
    push = next(peers.device.pushes(timeout=10))
    assert {push: 1}[push] == 1 and len({push, push}) == 1
    offer, typed = peers.desktop.offer(), peers.desktop.code()
    assert offer.code not in repr(offer) and "payload" not in repr(offer) and typed.code not in repr(typed)
