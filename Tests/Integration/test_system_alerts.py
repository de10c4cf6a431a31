"""Alerts that the desktop environment shows, over the C interface: from a push to the screen, and from a tap back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import compile_c
from desktopbus import (
    FREEDESKTOP,
    GTK,
    SYSTEM_PYTHON,
    PlayedServer,
    PrivateBus,
    Screen,
    StartedProgram,
    missing_bus,
    missing_screen,
)
from hosts import STATUS, Host
from peers import Object
from programs import ROOT, Program, wait_until

Start = Callable[..., Program]

pytestmark = pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))

APPLICATION = "org.example.Bellwire-Test"
BUTTONS = ("actions", "body")
MARKUP = ("actions", "body", "body-markup", "persistence")
REPLIES = ("actions", "body", "inline-reply")


class House:
    """A desktop, and a device whose alerts the desktop environment of a private bus shows."""

    def __init__(
        self,
        start: Start,
        relay: str,
        bus: PrivateBus,
        home: Path,
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> None:
        self._start, self._relay, self.bus, self._home = start, relay, bus, home
        self._environment = {"XDG_STATE_HOME": str(home), "TZ": "UTC", "LC_ALL": "C.UTF-8", **(environment or {})}
        self.options = {"alerts": "system", **options}
        self.desktop = Host(start, "desktop", self.common("desktop"))
        self.desktop.start()
        self.device = self.begin()
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        self.device.call("bw_pairing_scan", offer["payload"], 15_000)

    def common(self, name: str) -> Object:
        directory = str(self._home / name)
        return {"state_dir": directory, "name": name.title(), "relay_url": self._relay, "follow_system": False}

    def begin(self) -> Host:
        """The device, in a process that alone knows the bus."""

        def on_bus(*arguments: str | Path) -> Program:
            return self.bus.run(*arguments, **self._environment)

        device = Host(on_bus, "device", {**self.common("device"), **self.options})
        device.start()
        return device

    def restart(self, by_force: bool = False) -> None:
        if by_force:
            self.device.program.kill()
        else:
            self.device.close()
        self.device = self.begin()

    def authorize(self, status: str = "authorized") -> None:
        self.device.call("bw_alerts_authorize", status, 0)

    def push(self, title: str, **params: Any) -> str:
        """A push of the desktop's own; its id."""
        sent = self.desktop.call("bw_desktop_notify", {"title": title, "body": "Body", **params}, 10_000)
        return str(sent["notificationId"])

    def presented(self, identity: str, timeout: float = 15) -> Object:
        return self.device.event("notification.presented", timeout, id=identity)

    def response(self, identity: str) -> Object:
        return self.device.event("notification.response", id=identity)

    @property
    def state(self) -> Object:
        found: Object = self.device.call("bw_alerts_state")
        return found

    @property
    def presenter(self) -> Object:
        found: Object = self.state["presenter"]
        return found

    @property
    def delivered(self) -> list[str]:
        return [each["alert"]["title"] for each in self.device.call("bw_alerts_delivered")]

    def until_ready(self, is_ready: bool = True) -> None:
        wait_until(lambda: self.presenter["ready"] is is_ready, 20)

    def close(self) -> None:
        self.device.close()
        self.desktop.close()


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    bus = PrivateBus()
    yield bus
    bus.close()


@pytest.fixture
def make(start: Start, relay: str, bus: PrivateBus, tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Makes a house; it is closed after the test."""
    houses: list[House] = []

    def begin(**options: Any) -> House:
        houses.append(House(start, relay, bus, tmp_path, **options))
        return houses[-1]

    yield begin
    for each in houses:
        each.close()


@pytest.fixture
def server(bus: PrivateBus) -> PlayedServer:
    """A server with buttons."""
    return PlayedServer(bus, *BUTTONS)


@pytest.fixture
def house(server: PlayedServer, make: Callable[..., House]) -> House:
    """An authorized device on a bus with that server."""
    house = make()
    house.authorize()
    return house


# Without an end: begun with the first test, looked at by the last


@pytest.fixture(scope="module")
def hopeless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A device on a bus where never anybody shows anything, with a reminder that was due at that moment."""
    bus = PrivateBus()

    def on_bus(*arguments: str | Path) -> Program:
        return bus.run(*arguments)

    directory = str(tmp_path_factory.mktemp("hopeless"))
    device = Host(on_bus, "device", {"state_dir": directory, "alerts": "system", "follow_system": False})
    device.start()
    device.call("bw_alerts_authorize", "authorized", 0)
    device.call("bw_reminder_add", {"id": "hopeless", "title": "Hopeless"})
    wait_until(lambda: device.call("bw_alerts_state")["counters"]["failed"] > 0)
    # What comes meanwhile is not held up.
    pushed = device.call("bw_device_receive", "apns", {"aps": {"alert": "A push", "badge": 3}})
    device.event("notification.received", id=pushed["id"])
    silent = device.call("bw_device_receive", "apns", {"aps": {"content-available": 1}})
    device.event("notification.silent", id=silent["id"])
    assert device.of("notification.presented") == []
    yield device
    device.close()
    bus.close()


@pytest.fixture(autouse=True, scope="module")
def _begun(hopeless: Host) -> None:
    """Its minute runs beside the other tests."""


# Authorization


def asks(server: PlayedServer) -> Object:
    question = server.shown("Device would like to send you notifications")
    assert list(question["actions"]) == ["Allow", "Don't allow"]
    return question


def test_the_person_is_asked_by_an_alert_and_allows(make: Callable[..., House], server: PlayedServer) -> None:
    house = make()
    device = house.device
    early = house.push("Early")
    assert house.presented(early)["reason"] == "not_determined"
    waiting = device.begin("bw_alerts_request", None, 15_000)
    also = device.begin("bw_alerts_request", None, 15_000)
    server.press(asks(server), "Allow")
    for outcome in (waiting(15), also(15)):
        assert outcome["result"] == {"status": "authorized", "advice": "register"}, outcome
    device.event("authorization.changed", status="authorized")
    now = house.push("Now")
    server.shown("Now")
    house.presented(now)
    assert server.titles == ["Device would like to send you notifications", "Now"]
    assert device.of("notification.response") == [], "the library's own question is none of the host's"
    assert house.delivered == ["Now"]


def test_the_person_refuses_and_is_not_asked_again(make: Callable[..., House], server: PlayedServer) -> None:
    house = make()
    device = house.device
    waiting = device.begin("bw_alerts_request", None, 15_000)
    server.press(asks(server), "Don't allow")
    assert waiting(15)["status"] == STATUS["BW_E_DENIED"]
    again = device.outcome("bw_alerts_request", None, 15_000)
    assert (again["status"], again["error"]["detail"]["status"]) == (STATUS["BW_E_DENIED"], "denied")
    assert house.presented(house.push("Unwanted"))["reason"] == "denied"
    house.restart()
    assert house.device.outcome("bw_alerts_request", None, 15_000)["status"] == STATUS["BW_E_DENIED"]
    assert len(server.titles) == 1


@pytest.mark.parametrize("end", ["dismiss", "expire", "tap"])
def test_a_question_that_is_closed_may_be_asked_again(
    make: Callable[..., House], server: PlayedServer, end: str
) -> None:
    device = make().device
    waiting = device.begin("bw_alerts_request", None, 15_000)
    getattr(server, end)(asks(server))
    assert waiting(15)["status"] == STATUS["BW_E_TIMEOUT"]
    assert device.call("bw_alerts_state")["authorization"]["status"] == "notDetermined"
    again = device.begin("bw_alerts_request", None, 15_000)
    server.press(asks(server), "Allow")
    assert again(15)["result"]["status"] == "authorized"


def test_an_answer_that_comes_after_the_wait_counts(make: Callable[..., House], server: PlayedServer) -> None:
    device = make().device
    assert device.outcome("bw_alerts_request", None, 300)["status"] == STATUS["BW_E_TIMEOUT"]
    question = asks(server)
    assert question["expires"] == 0, "it waits for the person"
    assert device.outcome("bw_alerts_request", None, 300)["status"] == STATUS["BW_E_TIMEOUT"]
    again = asks(server)
    assert again["shows"] == again["replaces"] == question["shows"], "there is one question on the screen"
    server.press(again, "Allow")
    device.event("authorization.changed", status="authorized")


def test_without_a_server_or_its_buttons_nobody_is_asked(make: Callable[..., House], bus: PrivateBus) -> None:
    house = make()
    outcome = house.device.outcome("bw_alerts_request", None, 15_000)
    assert outcome["status"] == STATUS["BW_E_OFFLINE"], outcome
    server = PlayedServer(bus, "body")
    house.until_ready()
    assert house.device.outcome("bw_alerts_request", None, 15_000)["status"] == STATUS["BW_E_UNSUPPORTED"]
    server.end()
    house.until_ready(False)
    server = PlayedServer(bus, *BUTTONS)
    # The first server that can ask does.
    server.press(asks(server), "Allow")
    house.device.event("authorization.changed", status="authorized")


def test_a_question_right_after_the_start_waits_for_the_server(
    make: Callable[..., House], server: PlayedServer
) -> None:
    house = make()
    for _ in range(3):
        # As a program does that starts and asks.
        house.restart()
        assert house.device.outcome("bw_alerts_request", None, 1_000)["status"] == STATUS["BW_E_TIMEOUT"]
        asks(server)


def test_a_server_that_the_bus_can_start_is_started_for_the_question(
    make: Callable[..., House], bus: PrivateBus, tmp_path: Path
) -> None:
    script = bus.directory / "server.sh"
    played = Path(__file__).with_name("notification_server.py")
    part = '{"name": "org.freedesktop.Notifications", "capabilities": ["actions"]}'
    log = bus.directory / "server.log"
    script.write_text(f"#!/bin/sh\nexec {SYSTEM_PYTHON} '{played}' '{part}' > '{log}' 2>&1 < /dev/null\n")
    script.chmod(0o755)
    bus.can_start(FREEDESKTOP, script)
    house = make()
    assert house.device.outcome("bw_alerts_request", None, 3_000)["status"] == STATUS["BW_E_TIMEOUT"]
    assert "would like to send you notifications" in log.read_text()


def test_a_question_whose_server_ends_is_over_and_asked_anew(
    make: Callable[..., House], server: PlayedServer, bus: PrivateBus
) -> None:
    device = make().device
    waiting = device.begin("bw_alerts_request", None, 15_000)
    asks(server)
    server.end()
    assert waiting(15)["status"] == STATUS["BW_E_OFFLINE"]
    server = PlayedServer(bus, *BUTTONS)
    server.press(asks(server), "Allow")
    device.event("authorization.changed", status="authorized")


def test_the_question_leaves_the_screen_with_what_it_was_for(make: Callable[..., House], server: PlayedServer) -> None:
    house = make()
    waiting = house.device.begin("bw_alerts_request", None, 15_000)
    question = asks(server)
    house.authorize()
    assert waiting(15)["result"]["status"] == "authorized"
    server.taken_away(question)
    house.device.call("bw_alerts_authorize", "notDetermined", 0)
    house.device.outcome("bw_alerts_request", None, 300)
    question = asks(server)
    house.restart()
    server.taken_away(question)


# On the screen


@pytest.mark.parametrize("capabilities", [(), ("body",), BUTTONS, MARKUP, REPLIES], ids=lambda each: "+".join(each))
def test_a_push_is_shown_as_the_server_can(
    make: Callable[..., House], bus: PrivateBus, capabilities: tuple[str, ...]
) -> None:
    server = PlayedServer(bus, *capabilities)
    house = make(icon="mail-unread")
    house.authorize()
    pushed = house.push("A & <b>", body="<img src=x> &lt;b&gt;\nüñ", priority="urgent")
    shown = server.shown("A & <b>")
    assert (shown["program"], shown["icon"], shown["replaces"]) == ("Device", "mail-unread", 0)
    escaped = "&lt;img src=x&gt; &amp;lt;b&amp;gt;\nüñ"
    assert shown["body"] == (escaped if "body-markup" in capabilities else "<img src=x> &lt;b&gt;\nüñ")
    assert list(shown["actions"]) == (["Open", "Mark as read"] if "actions" in capabilities else [])
    assert (shown["hints"]["urgency"], shown["expires"]) == (2, 0)
    assert house.presented(pushed) == {"id": pushed, "presented": True}
    assert house.desktop.event("notification.presented", id=pushed)["presented"] is True
    presenter = house.presenter
    assert (presenter["kind"], presenter["ready"], presenter["server"]) == ("system", True, "played")
    assert presenter["capabilities"] == list(capabilities)


def test_sound_urgency_and_image_are_told_as_they_are_meant(house: House, server: PlayedServer) -> None:
    house.push("Low", priority="low", sound="default")
    assert server.shown("Low")["hints"] == {"urgency": 0, "suppress-sound": True}
    house.push("Loud", sound="bell")
    assert server.shown("Loud")["hints"] == {"urgency": 1, "sound-name": "bell"}
    house.device.call("bw_reminder_add", {"title": "File name", "sound": "chime.wav"})
    assert server.shown("File name")["hints"]["sound-name"] == "message-new-instant"
    house.device.call("bw_reminder_add", {"title": "Dotted", "sound": "com.example.bell"})
    assert server.shown("Dotted")["hints"]["sound-name"] == "com.example.bell"
    house.device.call("bw_reminder_add", {"title": "Picture", "attachments": ["/pictures/a b%.png"]})
    assert server.shown("Picture")["hints"]["image-path"] == "file:///pictures/a%20b%25.png"
    house.authorize("provisional")
    house.push("Provisional", sound="bell", priority="urgent")
    hints = server.shown("Provisional")["hints"]
    assert (hints["urgency"], hints["suppress-sound"]) == (0, True)
    house.authorize()
    house.device.call("bw_alerts_set_settings", {"showPreview": False})
    house.push("Title alone", subtitle="no")
    assert server.shown("Title alone")["body"] == ""


def test_do_not_disturb_of_the_desktop_environment_is_reported(house: House, server: PlayedServer) -> None:
    house.until_ready()
    assert "doNotDisturb" not in house.presenter, "this server does not say"
    for on in (True, False):
        server.inhibit(on)
        wait_until(lambda expected=on: house.presenter.get("doNotDisturb") is expected)
    server.inhibit(True)
    wait_until(lambda: house.presenter.get("doNotDisturb") is True)
    # What becomes of an alert then is the server's to decide.
    assert house.presented(house.push("Held back by the server"))["presented"] is True
    server.end()
    wait_until(lambda: "doNotDisturb" not in house.presenter)


@pytest.mark.parametrize("offers", ["x-kde-urls", "body-images"])
def test_an_image_is_large_where_the_server_can(make: Callable[..., House], bus: PrivateBus, offers: str) -> None:
    server = PlayedServer(bus, *MARKUP, offers)
    house = make()
    house.authorize()
    picture = {"title": "Picture", "body": "a & b", "attachments": ['/pictures/a b"<.png']}
    house.device.call("bw_reminder_add", picture)
    shown = server.shown("Picture")
    address = "file:///pictures/a%20b%22%3C.png"
    assert shown["hints"]["image-path"] == address
    assert shown["hints"].get("x-kde-urls") == ([address] if offers == "x-kde-urls" else None)
    image = f'\n<img src="{address}" alt=""/>' if offers == "body-images" else ""
    assert shown["body"] == f"a &amp; b{image}"
    house.device.call("bw_alerts_set_settings", {"showPreview": False})
    house.device.call("bw_reminder_add", {**picture, "title": "Title alone"})
    shown = server.shown("Title alone")
    assert shown["body"] == "" and "x-kde-urls" not in shown["hints"]


@pytest.mark.parametrize("offers", ["x-kde-origin-name", "persistence"])
def test_a_thread_is_told_to_servers_that_group_by_it_and_replaces_nothing(
    make: Callable[..., House], bus: PrivateBus, offers: str
) -> None:
    server = PlayedServer(bus, *BUTTONS, offers)
    house = make()
    house.authorize()
    groups = offers == "x-kde-origin-name"

    def origin(title: str) -> str | None:
        shown = server.shown(title)
        assert shown["replaces"] == 0, "each alert of a thread has a banner of its own"
        found: str | None = shown["hints"].get("x-kde-origin-name")
        return found

    for title in ("First", "Second"):
        house.push(title, threadId="Kitchen\n\u202e& Co")
        assert origin(title) == ("Kitchen & Co" if groups else None)
    house.device.call("bw_reminder_add", {"title": "Reminder", "thread": "Garden"})
    assert origin("Reminder") == ("Garden" if groups else None)
    # The thread of all pushes is nothing that people would read.
    house.push("Without a thread")
    assert origin("Without a thread") is None
    # Nor is more than the title shown where that is the user's wish.
    house.device.call("bw_alerts_set_settings", {"showPreview": False})
    house.push("Title alone", threadId="Kitchen")
    assert origin("Title alone") is None


def test_the_settings_of_the_desktop_environment_open(
    make: Callable[..., House], server: PlayedServer, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    opened = tmp_path / "opened"
    program = programs / "systemsettings"
    # Complete once it is renamed; it outlives the call.
    program.write_text(f"#!/bin/sh\necho \"$@\" $PPID > '{opened}.new' && mv '{opened}.new' '{opened}'\nexec sleep 1\n")
    program.chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "XDG_CURRENT_DESKTOP": "Plasma:KDE"}
    house = make(environment=environment)
    house.device.call("bw_alerts_settings_open")
    wait_until(opened.exists)
    argument, parent = opened.read_text().split()
    assert argument == "kcm_notifications" and int(parent) != house.device.program.pid
    program.unlink()
    outcome = house.device.outcome("bw_alerts_settings_open")
    assert outcome["status"] == STATUS["BW_E_UNSUPPORTED"] and "systemsettings" in outcome["error"]["message"]


def test_settings_that_nobody_has_are_a_named_error(make: Callable[..., House], server: PlayedServer) -> None:
    house = make(environment={"XDG_CURRENT_DESKTOP": "Nobody:Knows"})
    outcome = house.device.outcome("bw_alerts_settings_open")
    assert outcome["status"] == STATUS["BW_E_UNSUPPORTED"] and "XDG_CURRENT_DESKTOP" in outcome["error"]["message"]


def test_hostile_text_reaches_the_server_as_harmless_text(house: House, server: PlayedServer) -> None:
    house.push("a\u202eb\u0000c\u001b[31m\u2066d\n\ne", body="1\u202e\t2\r\n3\u0007\u200f")
    shown = server.shown("abc[31md  e")
    assert shown["body"] == "1 2\n3"
    # Desktops of ours send no such titles; a push service may bring one.
    long = {"aps": {"alert": {"title": "x" * 1_000_000, "body": "y" * 5_000}}}
    received = house.device.call("bw_device_receive", "apns", long)
    cut = server.wait(lambda line: line.get("title", "").startswith("xxx"))
    assert cut["title"] == "x" * 255 + "…"
    assert len(cut["body"]) == 4_096 and cut["body"].endswith("…")
    assert house.presented(received["id"])["presented"] is True


# Back from the screen


def test_a_tap_comes_back_with_what_travelled_along(house: House, server: PlayedServer) -> None:
    data = {"taskID": "t-1", "nested": {"a": [1, 2.5, None]}}
    pushed = house.push("Task", data=data, deepLink="app://task/1")
    server.tap(server.shown("Task"))
    response = house.response(pushed)
    assert (response["action"], response["userInfo"], response["deepLink"]) == ("default", data, "app://task/1")
    assert response["push"]["title"] == "Task"
    assert house.delivered == []
    assert house.device.state["unread"] == 1, "what a tap means is the host's"


def test_a_deep_link_is_passed_on_and_never_opened(
    make: Callable[..., House], server: PlayedServer, tmp_path: Path
) -> None:
    """Every program that opens links is replaced by one that says that it ran."""
    programs, ran = tmp_path / "programs", tmp_path / "ran"
    programs.mkdir()
    for name in ("xdg-open", "gio", "gtk-launch", "kde-open", "kde-open5", "gvfs-open", "exo-open", "x-www-browser"):
        (programs / name).write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{ran}'\n")
        (programs / name).chmod(0o755)
    house = make(environment={"PATH": f"{programs}:/usr/bin:/bin", "XDG_CURRENT_DESKTOP": "Plasma:KDE"})
    house.authorize()
    links = [f"file://{programs}/xdg-open", "https://example.org/", f"{programs}/gio open x"]
    for number, link in enumerate(links):
        pushed = house.push(f"Link {number}", deepLink=link)
        server.tap(server.shown(f"Link {number}"))
        assert house.response(pushed)["deepLink"] == link
    # The settings are opened after them, in the same way as a link would be.
    settings = programs / "systemsettings"
    settings.write_text(f"#!/bin/sh\necho settings >> '{ran}'\n")
    settings.chmod(0o755)
    house.device.call("bw_alerts_settings_open")
    wait_until(ran.exists)
    assert ran.read_text() == "settings\n"


def test_a_dismissal_comes_back_and_an_end_of_its_time_does_not(house: House, server: PlayedServer) -> None:
    expired = house.push("Expired")
    server.expire(server.shown("Expired"))
    dismissed = house.push("Dismissed")
    server.dismiss(server.shown("Dismissed"))
    assert house.response(dismissed)["action"] == "dismiss"
    assert [each["id"] for each in house.device.of("notification.response")] == [dismissed] != [expired]
    assert house.delivered == ["Expired"], "it is in the list still"


def test_mark_as_read_reaches_the_desktop(house: House, server: PlayedServer) -> None:
    pushed = house.push("Read me")
    server.press(server.shown("Read me"), "Mark as read")
    assert house.response(pushed)["action"] == "MARK_READ_ACTION"
    house.desktop.event("notification.read", ids=[pushed])
    assert house.desktop.call("bw_desktop_history", {})["unreadCount"] == 0
    house.device.event("badge.changed", badge=0)


def test_mark_as_read_waits_in_the_queue_for_a_desktop_that_is_away(house: House, server: PlayedServer) -> None:
    house.push("Read me later")
    shown = server.shown("Read me later")
    house.desktop.call("bw_desktop_stop")
    house.device.event("connection.changed", online=False)
    server.press(shown, "Mark as read")
    house.device.event("queue.changed", count=1)
    house.desktop.start()
    house.desktop.event("notification.read", timeout=30)


CHAT = [
    {
        "id": "CHAT",
        "actions": [
            {"id": "REPLY_ACTION", "title": "Reply", "kind": "reply", "placeholder": "Your words"},
            {"id": "MUTE it", "title": "Mute"},
        ],
    }
]


def test_buttons_of_the_host_and_a_reply_with_its_text(make: Callable[..., House], bus: PrivateBus) -> None:
    server = PlayedServer(bus, *REPLIES)
    house = make()
    house.authorize()
    house.device.call("bw_alerts_categories", CHAT)
    first = house.push("Chat", category="CHAT")
    shown = server.shown("Chat")
    assert list(shown["actions"]) == ["Open", "Mute", "Reply"]
    assert shown["actions"]["Reply"] == "inline-reply"
    assert shown["hints"]["x-kde-reply-placeholder-text"] == "Your words"
    server.reply(shown, "Grüße & <b>\nline")
    response = house.response(first)
    assert (response["action"], response["text"]) == ("REPLY_ACTION", "Grüße & <b>\nline")
    assert "textNeeded" not in response
    second = house.push("Chat", category="CHAT")
    server.press(server.shown("Chat"), "Mute")
    assert house.response(second)["action"] == "MUTE it"


def test_a_reply_where_no_text_can_be_typed_is_a_button(house: House, server: PlayedServer) -> None:
    house.device.call("bw_alerts_categories", CHAT)
    pushed = house.push("Chat", category="CHAT")
    shown = server.shown("Chat")
    assert list(shown["actions"]) == ["Open", "Mute", "Reply"]
    server.press(shown, "Reply")
    response = house.response(pushed)
    assert (response["action"], response.get("text")) == ("REPLY_ACTION", None)
    assert response["textNeeded"] is True


def test_banners_of_others_and_actions_of_nobody_are_no_response(house: House, server: PlayedServer) -> None:
    pushed = house.push("Ours")
    shown = server.shown("Ours")
    server.do("claim", {"shows": 4_711}, key="default")
    server.do("claim", shown, key="nothing that was offered")
    server.do("claim", shown, key="action.")
    server.tap(shown)
    assert house.response(pushed)["action"] == "default"
    assert len(house.device.of("notification.response")) == 1


# One place


def test_the_same_collapse_key_and_id_take_the_place_on_the_screen(house: House, server: PlayedServer) -> None:
    house.push("50 %", collapseKey="build")
    half = server.shown("50 %")
    whole_id = house.push("100 %", collapseKey="build")
    whole = server.shown("100 %")
    assert (whole["replaces"], whole["shows"]) == (half["shows"], half["shows"])
    house.presented(whole_id)
    house.device.call("bw_reminder_add", {"id": "r", "title": "First"})
    first = server.shown("First")
    house.presented("r")
    house.device.call("bw_reminder_add", {"id": "r", "title": "Second"})
    second = server.shown("Second")
    assert (second["replaces"], first["replaces"]) == (first["shows"], 0)
    house.presented("r")
    assert sorted(house.delivered) == ["100 %", "Second"]
    server.tap(whole)
    assert house.response(whole_id)["title"] == "100 %"


def test_what_is_read_or_deleted_elsewhere_leaves_the_screen(house: House, server: PlayedServer) -> None:
    read, deleted, stays = (house.push(title) for title in ("Read", "Deleted", "Stays"))
    banners = [server.shown(title) for title in ("Read", "Deleted", "Stays")]
    house.presented(stays)
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": read}, 5_000)
    server.taken_away(banners[0])
    house.desktop.call("bw_desktop_invoke", "notification.delete", {"notificationId": deleted}, 5_000)
    server.taken_away(banners[1])
    wait_until(lambda: house.delivered == ["Stays"])
    house.device.call("bw_alerts_remove", None, None, None)
    server.taken_away(banners[2])
    assert house.device.of("notification.response") == []


# Servers and buses that come and go


@pytest.mark.parametrize("ends", [True, False], ids=["ended", "replaced"])
def test_another_server_knows_nothing_of_the_banners_before(
    house: House, server: PlayedServer, bus: PrivateBus, ends: bool
) -> None:
    first = house.push("Before", collapseKey="k")
    before = server.shown("Before")
    # A server that ends before its answer has arrived has not shown it: the next one would.
    house.presented(first)
    if ends:
        server.end()
        house.until_ready(False)
    server = PlayedServer(bus, *MARKUP)
    wait_until(lambda: house.presenter.get("capabilities") == list(MARKUP))
    # The new one gives the same numbers, to others.
    server.tap(before)
    other = house.push("Other", body="a & b")
    shown = server.shown("Other")
    assert (shown["shows"], shown["body"]) == (before["shows"], "a &amp; b")
    replacing = house.push("After", collapseKey="k")
    after = server.shown("After")
    assert after["replaces"] == 0
    house.presented(replacing)
    server.tap(after)
    assert house.response(replacing)["title"] == "After"
    server.tap(shown)
    assert house.response(other)["title"] == "Other"
    assert len(house.device.of("notification.response")) == 2


def test_alerts_of_a_server_that_ends_are_not_listed_as_delivered(
    house: House, server: PlayedServer, bus: PrivateBus
) -> None:
    expired = house.push("Expired")
    server.expire(server.shown("Expired"))
    house.presented(expired)
    house.presented(house.push("On the screen"))
    wait_until(lambda: sorted(house.delivered) == ["Expired", "On the screen"])
    server.end()
    wait_until(lambda: house.delivered == [])
    server = PlayedServer(bus, *BUTTONS)
    house.presented(house.push("Of the next"), 40)
    wait_until(lambda: house.delivered == ["Of the next"])
    # Another one takes its name, and it lives on.
    PlayedServer(bus, *MARKUP)
    wait_until(lambda: house.delivered == [])
    assert house.device.of("notification.response") == []
    assert house.device.state["unread"] == 3


def test_of_two_desktops_the_sender_is_named(make: Callable[..., House], start: Start, server: PlayedServer) -> None:
    house = make()
    house.authorize()
    house.push("Alone")
    assert server.shown("Alone")["body"] == "Body"
    second = Host(start, "desktop", house.common("second"))
    second.start()
    offer = second.call("bw_desktop_offer", 10_000)
    house.device.call("bw_pairing_scan", offer["payload"], 15_000)
    house.push("First")
    assert server.shown("First")["body"] == "Desktop\nBody"
    second.call("bw_desktop_notify", {"title": "Other", "subtitle": "Sub", "body": "Body"}, 10_000)
    assert server.shown("Other")["body"] == "Second · Sub\nBody"
    house.device.call("bw_alerts_set_settings", {"showPreview": False})
    house.push("Short")
    assert server.shown("Short")["body"] == "Desktop"
    second.close()


def test_its_words_are_in_the_language_of_the_environment(make: Callable[..., House], server: PlayedServer) -> None:
    house = make(environment={"LC_ALL": "de_DE.UTF-8"}, application_name="Uhr")
    waiting = house.device.begin("bw_alerts_request", None, 15_000)
    question = server.shown("Uhr möchte Ihnen Nachrichten anzeigen")
    assert (question["program"], list(question["actions"])) == ("Uhr", ["Erlauben", "Nicht erlauben"])
    server.press(question, "Erlauben")
    assert waiting(15)["result"]["status"] == "authorized"
    pushed = house.push("Lies mich")
    shown = server.shown("Lies mich")
    assert list(shown["actions"]) == ["Öffnen", "Als gelesen markieren"]
    server.press(shown, "Als gelesen markieren")
    assert house.response(pushed)["action"] == "MARK_READ_ACTION"


def test_an_alert_waits_for_a_server_that_comes_later(make: Callable[..., House], bus: PrivateBus) -> None:
    house = make()
    house.authorize()
    pushed = house.push("Patient")
    assert house.device.event("notification.received")["title"] == "Patient"
    wait_until(lambda: house.state["waiting"] == 1 and house.state["counters"]["failed"] > 0)
    assert house.presenter["ready"] is False and "problem" in house.presenter
    server = PlayedServer(bus, *BUTTONS)
    server.tap(server.shown("Patient"))
    assert house.presented(pushed) == {"id": pushed, "presented": True}
    assert house.response(pushed)["action"] == "default"


def test_a_bus_that_comes_back_is_used_again(house: House, server: PlayedServer, bus: PrivateBus) -> None:
    house.push("Before")
    server.shown("Before")
    bus.stop()
    house.until_ready(False)
    house.push("Meanwhile")
    house.device.event("notification.received", title="Meanwhile")
    bus.start()
    server = PlayedServer(bus, *BUTTONS)
    pushed = server.shown("Meanwhile", timeout=40)
    server.tap(pushed)
    house.device.event("notification.response", title="Meanwhile")


def test_a_banner_of_a_process_that_was_killed_is_answered_to_the_next(house: House, server: PlayedServer) -> None:
    tapped, marked = house.push("Tapped", data={"taskID": "t-7"}), house.push("Marked")
    banners = [server.shown("Tapped"), server.shown("Marked")]
    house.presented(marked)
    wait_until(lambda: len(house.delivered) == 2)
    house.restart(by_force=True)
    house.until_ready()
    assert sorted(house.delivered) == ["Marked", "Tapped"]
    server.tap(banners[0])
    response = house.response(tapped)
    assert (response["action"], response["userInfo"], response.get("redelivered")) == (
        "default",
        {"taskID": "t-7"},
        None,
    )
    server.press(banners[1], "Mark as read")
    assert house.response(marked)["action"] == "MARK_READ_ACTION"
    house.desktop.event("notification.read", ids=[marked])
    assert server.titles == ["Tapped", "Marked"], "nothing is shown twice"


def test_what_its_server_took_along_while_nothing_ran_is_not_listed_as_delivered(
    house: House, server: PlayedServer, bus: PrivateBus
) -> None:
    house.push("Gone")
    house.presented(house.push("Also gone"))
    wait_until(lambda: len(house.delivered) == 2)
    house.device.close()
    server.end()
    server = PlayedServer(bus, *BUTTONS)
    house.device = house.begin()
    wait_until(lambda: house.delivered == [])
    assert house.device.of("notification.response") == [] and server.titles == []
    # They are in the inbox still.
    assert house.device.state["unread"] == 2
    wait_until(lambda: house.device.call("bw_pairing_list")[0]["online"])
    stays = house.push("Stays")
    banner = server.shown("Stays")
    house.presented(stays)
    wait_until(lambda: house.delivered == ["Stays"])
    house.restart()
    house.until_ready()
    assert house.delivered == ["Stays"], "its server still shows it"
    server.tap(banner)
    assert house.response(stays)["action"] == "default"


def test_a_reply_to_a_banner_of_a_killed_process_has_its_text(make: Callable[..., House], bus: PrivateBus) -> None:
    server = PlayedServer(bus, *REPLIES)
    house = make()
    house.authorize()
    house.device.call("bw_alerts_categories", CHAT)
    pushed = house.push("Chat", category="CHAT")
    shown = server.shown("Chat")
    house.presented(pushed)
    wait_until(lambda: house.delivered == ["Chat"])
    house.restart(by_force=True)
    house.until_ready()
    server.reply(shown, "still here")
    assert house.response(pushed)["text"] == "still here"


def test_a_response_waits_for_a_program_that_does_not_dispatch(house: House, server: PlayedServer) -> None:
    pushed = house.push("Busy")
    shown = server.shown("Busy")
    house.presented(pushed)
    house.device.pause(True)
    server.tap(shown)
    # It is taken off the screen when it is in the store.
    wait_until(lambda: house.delivered == [])
    assert house.device.of("notification.response") == []
    # Also if the program ends without ever coming to it.
    house.restart(by_force=True)
    assert house.response(pushed)["action"] == "default"
    # What comes after an absence is late, and not shown.
    wait_until(lambda: house.device.call("bw_pairing_list")[0]["online"])
    house.device.pause(True)
    second = house.push("Still busy")
    server.tap(server.shown("Still busy"))
    wait_until(lambda: house.delivered == [])
    house.device.pause(False)
    assert house.response(second)["action"] == "default"


# With a name: the badge, and GNOME


def test_the_unread_count_stands_at_the_icon(make: Callable[..., House], bus: PrivateBus) -> None:
    server = PlayedServer(bus, *BUTTONS)
    house = make(application_id=APPLICATION)
    house.authorize()
    pushed = house.push("One")
    shown = server.shown("One")
    assert (shown["hints"]["desktop-entry"], shown["icon"]) == (APPLICATION, APPLICATION)
    badge = server.badge(1)
    assert (badge["of"], badge["badge"]["count-visible"]) == (f"application://{APPLICATION}.desktop", True)
    house.push("Two")
    server.badge(2)
    house.restart()
    server.badge(2)
    # The first refresh ends in unread.changed, which overwrites the badge.
    house.device.event("inbox.changed", loading=True)
    wait_until(lambda: not house.device.call("bw_inbox_state")["loading"])
    house.device.call("bw_alerts_badge", 7)
    server.badge(7)
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": pushed}, 5_000)
    server.badge(1)
    house.device.call("bw_inbox_mark_all_read", None, 5_000)
    assert server.badge(0)["badge"]["count-visible"] is False


def test_a_name_that_another_program_has_is_told_and_hinders_nothing(
    make: Callable[..., House], bus: PrivateBus
) -> None:
    other = PlayedServer(bus, name=APPLICATION)
    server = PlayedServer(bus, *BUTTONS)
    house = make(application_id=APPLICATION)
    house.authorize()
    wait_until(lambda: APPLICATION in house.presenter.get("problem", ""))
    house.push("Nevertheless")
    server.shown("Nevertheless")
    other.end()
    wait_until(lambda: "problem" not in house.presenter)


def test_gnome_shows_it_and_calls_back(make: Callable[..., House], bus: PrivateBus) -> None:
    server = PlayedServer(bus, name=GTK)
    house = make(application_id=APPLICATION)
    device = house.device
    waiting = device.begin("bw_alerts_request", None, 15_000)
    server.press(server.shown("Device would like to send you notifications"), "Allow")
    assert waiting(15)["result"]["status"] == "authorized"
    assert house.presenter["server"] == GTK
    pushed = house.push("<b>Hello</b>", data={"taskID": "t-2"}, priority="urgent")
    shown = server.shown("<b>Hello</b>")
    assert (shown["program"], shown["priority"]) == (APPLICATION, "urgent")
    assert [button["label"] for button in shown["buttons"]] == ["Mark as read"]
    server.tap(shown)
    response = house.response(pushed)
    assert (response["action"], response["userInfo"]) == ("default", {"taskID": "t-2"})
    marked = house.push("Read me")
    server.press(server.shown("Read me"), "Mark as read")
    house.desktop.event("notification.read", ids=[marked])
    gone = house.push("Elsewhere")
    banner = server.shown("Elsewhere")
    house.presented(gone)
    house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": gone}, 5_000)
    server.taken_away(banner)


def test_a_tap_starts_the_program_that_has_ended(make: Callable[..., House], bus: PrivateBus) -> None:
    server = PlayedServer(bus, name=GTK)
    house = make(application_id=APPLICATION)
    house.authorize()
    tapped = house.push("Start me", data={"taskID": "t-3"}, deepLink="app://3")
    shown = server.shown("Start me")
    assert house.presented(tapped)["presented"] is True
    wait_until(lambda: house.delivered == ["Start me"])
    house.device.close()
    program = StartedProgram(bus, APPLICATION, {**house.common("device"), **house.options})
    server.tap(shown)
    with program.started() as say:
        say({"id": 1, "call": "bw_device_start", "arguments": []})
        wait_until(lambda: any(line.get("event") == "notification.response" for line in program.events), 20)
        response = next(line for line in program.events if line.get("event") == "notification.response")["data"]
    assert (response["id"], response["action"], response["deepLink"]) == (tapped, "default", "app://3")
    assert (response["userInfo"], response["push"]["title"]) == ({"taskID": "t-3"}, "Start me")
    server.wait(lambda line: "activated" in line)
    wait_until(lambda: APPLICATION not in bus.call("ListNames").split())
    house.device = house.begin()
    assert house.delivered == []


# A real screen


@pytest.mark.skipif(missing_screen() is not None, reason=str(missing_screen()))
def test_on_a_real_screen_it_is_seen_and_clicked(make: Callable[..., House], bus: PrivateBus) -> None:
    screen = Screen(bus)
    try:
        house = make()
        house.until_ready()
        waiting = house.device.begin("bw_alerts_request", None, 1_000)
        screen.until(lambda seen: seen[screen.NORMAL] > 10_000 and seen[screen.TEXT] > 400, keep="question")
        assert waiting(15)["status"] == STATUS["BW_E_TIMEOUT"]
        house.authorize()
        screen.until(lambda seen: seen[screen.NORMAL] == 0)
        hostile = house.push(
            "<img src=x> \u202eevil\u0007 &lt;b&gt;",
            body="<b>bold?</b> &lt;b&gt; &amp; <a href='x'>link</a>\u2066\nsecond line \u001b[31m 'üñ' 日本",
        )
        plain = screen.until(lambda seen: seen[screen.NORMAL] > 10_000 and seen[screen.TEXT] > 400, keep="hostile")
        screen.click(1)
        assert house.response(hostile)["action"] == "default"
        screen.until(lambda seen: seen[screen.NORMAL] == 0)
        brought = {"aps": {"alert": {"title": "W" * 1_000_000, "body": "long"}}}
        long = house.device.call("bw_device_receive", "apns", brought)["id"]
        seen = screen.until(lambda seen: seen[screen.NORMAL] > 10_000, keep="long")
        assert seen[screen.TEXT] > plain[screen.TEXT]
        screen.click(2)
        assert house.response(long)["action"] == "dismiss"
        screen.until(lambda seen: seen[screen.NORMAL] == 0)
        house.push("50 %", collapseKey="build", priority="urgent")
        screen.until(lambda seen: seen[screen.CRITICAL] > 5_000)
        done = house.push("100 %", collapseKey="build")
        screen.until(lambda seen: seen[screen.NORMAL] > 5_000 and seen[screen.CRITICAL] == 0, keep="replaced")
        house.presented(done)
        house.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": done}, 5_000)
        screen.until(lambda seen: seen[screen.NORMAL] == 0, keep="empty")
    finally:
        screen.close()


# The example


@pytest.fixture(scope="session")
def reminder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/reminder.c, compiled."""
    return compile_c(ROOT / "examples/reminder.c", tmp_path_factory.mktemp("examples") / "reminder")


def test_the_example_asks_reminds_and_knows_which_task_it_was(
    bus: PrivateBus, server: PlayedServer, reminder: Path, tmp_path: Path
) -> None:
    def run(*arguments: str) -> Program:
        return bus.run(reminder, *arguments, XDG_STATE_HOME=str(tmp_path), TZ="UTC")

    # Ten minutes before a deadline that is past: at once, when that is allowed.
    program = run("4-2", "2020-01-31 09:00", "Send the report")
    question = server.wait(lambda line: "would like to send you notifications" in line.get("title", ""))
    server.press(question, "Allow")
    shown = server.shown("Send the report")
    assert (shown["body"], list(shown["actions"])) == ("Due at 09:00", ["Open", "In ten minutes"])
    server.tap(shown)
    assert program.line("task").string == "open task 4-2"
    assert program.end() == 0
    # Allowed once, it is not asked again.
    program = run("4-3", "2020-01-31 09:00", "Buy bread")
    shown = server.shown("Buy bread")
    server.press(shown, "In ten minutes")
    assert program.line("task").string == "later: task 4-3"
    program.error_line("waiting")
    assert program.end() == 0
    assert len(server.titles) == 3


# Without


def test_with_none_no_bus_is_connected_to(make: Callable[..., House], bus: PrivateBus, server: PlayedServer) -> None:
    before = set(bus.names)
    house = make(alerts="none", application_id=APPLICATION)
    house.push("Unseen")
    house.device.event("notification.received", title="Unseen")
    assert set(bus.names) == before
    maps = Path(f"/proc/{house.device.program.pid}/maps").read_text()
    assert "libsystemd" not in maps
    assert house.device.outcome("bw_alerts_request", None, 1_000)["status"] == STATUS["BW_E_UNSUPPORTED"]
    assert server.titles == []


@pytest.mark.parametrize("lacks", ["libsystemd", "address", "bus"])
def test_without_a_bus_all_else_works_and_the_state_says_why(
    make: Callable[..., House], tmp_path: Path, lacks: str
) -> None:
    (tmp_path / "libraries").mkdir()
    # The loader takes this file, and can do nothing with it.
    (tmp_path / "libraries/libsystemd.so.0").write_bytes(b"")
    environment, reason = {
        "libsystemd": ({"LD_LIBRARY_PATH": str(tmp_path / "libraries")}, "libsystemd"),
        "address": ({"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": str(tmp_path)}, "no session bus"),
        "bus": ({"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/nobody"}, ""),
    }[lacks]
    house = make(environment=environment)
    house.authorize()
    pushed = house.push("All the same")
    assert house.device.event("notification.received")["title"] == "All the same"
    wait_until(lambda: "problem" in house.presenter)
    presenter = house.presenter
    assert presenter["ready"] is False and reason in presenter["problem"], presenter
    assert house.device.outcome("bw_alerts_request", None, 1_000)["result"]["status"] == "authorized"
    desktop = house.device.call("bw_pairing_list")[0]["id"]
    house.device.call("bw_inbox_mark_read", desktop, pushed, 5_000)
    assert house.presented(pushed)["reason"] == "removed", "read before anybody could show it"


def test_a_push_that_nobody_shows_is_given_up_after_a_minute_and_a_reminder_never(hopeless: Host) -> None:
    ended = hopeless.event("notification.presented", 80)
    assert (ended["presented"], ended["reason"]) == (False, "presenter_failed")
    state = hopeless.call("bw_alerts_state")
    counters = state["counters"]
    assert (state["waiting"], counters["hidden"], counters["shown"]) == (1, 1, 0) and counters["failed"] >= 6
    assert [alert["id"] for alert in hopeless.of("notification.presented")] == [ended["id"]] != ["hopeless"]
    assert hopeless.state["unread"] == 1
    assert hopeless.call("bw_alerts_delivered") == []
