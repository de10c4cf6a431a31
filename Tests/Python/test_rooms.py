"""Inbox, alerts, reminders, push services, QR codes and the log."""

from __future__ import annotations

import asyncio
import logging
import struct
import threading
import zlib
from datetime import datetime, timedelta, timezone
from pathlib import Path

import bellwire
import pytest
from bellwire import Alert, qr
from peers import Peers, until


def test_the_inbox_follows_the_desktop_and_changes_it(peers: Peers) -> None:
    ids = [peers.desktop.notify(f"Number {each}", priority="urgent").notification_id for each in range(3)]
    inbox = peers.device.inbox
    page = inbox.load(limit=2, sort=bellwire.Sort.OLDEST)
    assert [each.title for each in page.notifications] == ["Number 0", "Number 1"]
    assert (page.total, page.unread) == (3, 3) and page.notifications[0].desktop == peers.paired.id
    assert [each.title for each in inbox.load(before=page.next, sort="oldest").notifications] == ["Number 2"]
    first, second, third = (str(each) for each in ids)

    marked = inbox.mark_read(first)
    assert isinstance(marked, bellwire.Marked) and marked.unread == 2
    deleted = asyncio.run(inbox.adelete(second))
    assert isinstance(deleted, bellwire.Deleted) and deleted.unread == 1
    assert isinstance(asyncio.run(inbox.amark_read(third)), bellwire.Marked)
    assert isinstance(inbox.mark_all_read(), bellwire.Marked)
    assert isinstance(asyncio.run(inbox.amark_all_read()), bellwire.Marked)
    assert peers.desktop.history(unread_only=True).notifications == ()
    with pytest.raises(bellwire.NotFoundError):
        inbox.delete(second)
    assert [each.id for each in peers.desktop.history().notifications] == [third, first]

    peers.device.stop()
    assert isinstance(inbox.delete(first), bellwire.Queued)
    assert inbox.load().total == 1
    peers.device.wait_online()
    until(lambda: peers.desktop.history().total == 1)
    assert inbox.refresh().unread == 0 and asyncio.run(inbox.arefresh()).failed == ()
    assert isinstance(inbox.clear(), bellwire.Cleared) and isinstance(asyncio.run(inbox.aclear()), bellwire.Cleared)
    assert inbox.settings().settings.enabled and inbox.state().desktops[0].refreshed_at is not None


def test_alerts_are_shown_and_answered_by_the_program(peers: Peers) -> None:
    device = peers.open_device(name="Alerting", alerts="host")
    alerts = device.alerts
    shown: list[bellwire.AlertRequest] = []
    asked: list[str] = []
    fronts: list[bellwire.AlertRequest] = []

    def authorize(name: str) -> None:
        asked.append(name)
        alerts.authorize(bellwire.AuthorizationStatus.AUTHORIZED)

    def will_present(request: bellwire.AlertRequest) -> bellwire.Presentation:
        fronts.append(request)
        return bellwire.Presentation.BANNER | bellwire.Presentation.LIST

    alerts.on_authorize(authorize)
    alerts.on_present(shown.append)
    alerts.on_will_present(will_present)
    alerts.in_front(True)
    alerts.categories(
        [
            bellwire.AlertCategory(
                "chat", (bellwire.AlertAction("reply", "Reply", kind="reply", placeholder="Say something"),)
            )
        ]
    )
    device.start()
    assert asyncio.run(alerts.arequest()).status is bellwire.AuthorizationStatus.AUTHORIZED
    assert asked == ["Alerting"] and alerts.request().status == "authorized"

    reminder = device.reminders.add(
        Alert(id="tea", title="Tea", body="is ready", category="chat", user_info={"cup": 1}, thread="kitchen")
    )
    assert reminder.alert.id == "tea"
    until(lambda: shown, device)
    assert shown[0].alert.title == "Tea" and shown[0].actions[0].id == "reply" and shown[0].reminder
    assert shown[0].presentation == bellwire.Presentation.BANNER | bellwire.Presentation.LIST and fronts
    until(lambda: alerts.delivered(), device)
    alerts.respond("tea", "reply", text="thanks")
    response = next(device.responses(timeout=10))
    assert (response.action, response.text, response.user_info) == ("reply", "thanks", {"cup": 1})
    with pytest.raises(bellwire.NotFoundError):
        alerts.respond("tea", "reply", text="thanks")

    alerts.badge(7)
    until(lambda: alerts.state().badge == 7, device)
    assert alerts.state().authorization.status == "authorized" and alerts.state().counters["shown"] == 1
    settings = alerts.set_settings(quiet_hours_enabled=True, quiet_hours_start="23:00", sources={"pc": False})
    assert settings == alerts.settings() and settings.sources == {"pc": False}
    alerts.remove(thread="kitchen")
    alerts.remove()
    with pytest.raises(bellwire.NotFoundError):
        alerts.remove("tea")
    alerts.on_will_present(None)
    alerts.on_authorize(None)
    alerts.on_present(None)


def test_a_program_that_cannot_show_an_alert_is_asked_again(peers: Peers) -> None:
    device = peers.open_device(alerts="host")
    device.alerts.authorize("authorized")
    tries: list[str] = []

    def present(request: bellwire.AlertRequest) -> bool:
        tries.append(request.alert.title)
        return len(tries) > 1

    device.alerts.on_present(present)
    device.start()
    device.reminders.add(Alert(title="Again"))
    until(lambda: len(tries) == 2, device)
    until(lambda: device.alerts.delivered(), device)


def test_without_alerts_requests_are_unsupported(peers: Peers) -> None:
    with pytest.raises(bellwire.UnsupportedError):
        peers.device.alerts.request()
    with pytest.raises(bellwire.UnsupportedError):
        peers.device.reminders.add(Alert(title="x"))


def test_reminders_come_at_times_and_places(peers: Peers) -> None:
    device = peers.open_device(alerts="host")
    soon = datetime.now(timezone.utc) + timedelta(hours=1)
    soon = soon.replace(microsecond=0)
    reminders = device.reminders
    at = reminders.add(Alert(id="at", title="At"), bellwire.At(soon))
    assert at.next_at == soon
    reminders.add(Alert(id="every", title="Every"), bellwire.Interval(7200, repeats=True))
    monday = reminders.add(Alert(id="monday", title="Monday"), bellwire.Calendar(weekday=1, hour=9, repeats=True))
    assert monday.next_at is not None and monday.trigger is not None and monday.trigger["weekday"] == 1
    home = reminders.add(Alert(id="home", title="Home", thread="t"), bellwire.Region(52.0, 4.3, 100, on="both"))
    assert home.trigger is not None and home.trigger["radius_m"] == 100
    assert {each.alert.id for each in reminders.list()} == {"at", "every", "monday", "home"}
    with pytest.raises(bellwire.InvalidError):
        reminders.add(Alert(title="Never"), bellwire.Calendar(month=2, day=30))
    with pytest.raises(bellwire.InvalidError):
        reminders.position(91, 0)
    reminders.position(10, 10, 5)
    reminders.remove(thread="t")
    reminders.remove("at")
    with pytest.raises(bellwire.NotFoundError):
        reminders.remove("at")
    reminders.remove()
    assert reminders.list() == ()


def test_push_services(peers: Peers) -> None:
    peers.device.set_token("fcm", b"\x00token\xff")
    (token,) = until(lambda: peers.desktop.tokens(), peers.device)
    assert (token.service, bytes.fromhex(token.token)) == ("fcm", b"\x00token\xff")
    assert token.token not in repr(token)
    peers.device.clear_token()
    until(lambda: not peers.desktop.tokens(), peers.device)

    got = peers.device.receive("fcm", {"notification": {"title": "By FCM", "body": "b"}, "data": {"k": "v"}})
    assert got.kind == "push" and not got.duplicate
    push = next(peers.device.pushes(timeout=5))
    assert (push.title, push.id, push.desktop) == ("By FCM", got.id, "push:fcm")
    silent = peers.device.receive("apns", {"aps": {"content-available": 1}, "notificationId": "s"})
    assert silent.kind == "silent"
    event = next(peers.device.events("notification.silent", timeout=5))
    peers.device.complete(event.data["id"], "new_data")
    with pytest.raises(bellwire.NotFoundError):
        peers.device.complete(event.data["id"], "new_data")
    with pytest.raises(bellwire.ProtocolError):
        peers.device.receive("fcm", {"neither": 1})


def png(rows: list[bytes]) -> bytes:
    """A grey picture as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_qr_codes_come_back_from_pictures(tmp_path: Path) -> None:
    text = '{"type":"desktop-pairing","name":"Büro \N{BELL}"}'
    path = tmp_path / "code.png"
    path.write_bytes(qr.png(text, scale=6))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert qr.read(path) == (text,)
    assert qr.svg(text).lstrip().startswith("<")
    drawing = qr.terminal(text, plain=True)
    assert "\x1b" in qr.terminal(text) and "\x1b" not in drawing
    # The drawing itself, as pixels: two rows of modules in each line.
    lines = drawing.splitlines()
    dark = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
    rows = [[dark[each][half] for each in line] for line in lines for half in (0, 1)]
    width = max(map(len, rows))
    scale = 5
    grey = [
        bytes(0 if each else 255 for each in row + [0] * (width - len(row)) for _ in range(scale))
        for row in rows
        for _ in range(scale)
    ]
    assert qr.read_pixels(b"".join(grey), width * scale, len(grey)) == (text,)
    path.write_bytes(png(grey))
    assert qr.read(path) == (text,)


def test_pictures_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(bellwire.FileError):
        qr.read(tmp_path / "absent.png")
    wrong = tmp_path / "wrong.png"
    wrong.write_bytes(b"no picture")
    with pytest.raises(bellwire.InvalidError):
        qr.read(wrong)
    with pytest.raises(bellwire.NotFoundError):
        qr.read_pixels(b"\xff" * 10_000, 100, 100)
    with pytest.raises(bellwire.InvalidError):
        qr.read_pixels(b"\xff", 100, 100)
    for text in ("", "x" * 3000, "a\0b"):
        with pytest.raises(bellwire.InvalidError):
            qr.svg(text)
    for scale in (0, 100, 1 << 40):
        with pytest.raises(bellwire.InvalidError):
            qr.png("text", scale=scale)


def test_the_log_goes_to_a_logger(peers: Peers, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "bells"):
        bellwire.log_to(logging.getLogger("bells"), bellwire.LogLevel.DEBUG)
        peers.device.stop()
        peers.device.start()
        until(lambda: caplog.records, peers.device)
        bellwire.set_log(None)
    with pytest.raises(bellwire.InvalidError):
        bellwire.set_log(print, 9)  # type: ignore[arg-type]


def test_a_desktop_does_its_own_methods(peers: Peers) -> None:
    result = peers.desktop.notify(
        "Once", "b", data={"n": 1}, collapse_key="k", expires_at=datetime.max.replace(tzinfo=timezone.utc)
    )
    assert result.success and result.delivered_count == 1 and result.timestamp is not None
    assert asyncio.run(peers.desktop.anotify("Twice", collapse_key="k")).success
    assert [each.title for each in peers.desktop.history().notifications] == ["Twice"]
    assert peers.desktop.invoke("notification.markAllAsRead")["markedCount"] == 1
    assert asyncio.run(peers.desktop.ainvoke("notification.getUnreadCount"))["count"] == 0
    with pytest.raises(bellwire.UnsupportedError):
        peers.desktop.invoke("weather.tomorrow")
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.notify("t", device_id="nobody")
    assert asyncio.run(peers.desktop.aoffer()).payload
    heard: list[bellwire.Event] = []
    with peers.desktop.subscribe("notification.received", heard.append):
        threading.Thread(target=peers.device.send, args=("Hello",)).start()
        until(lambda: heard, peers.desktop)
    assert heard[0].data["title"] == "Hello"
