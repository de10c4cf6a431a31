"""examples/tray for the people who use it: the first run, settings, urgent notifications, answers, languages, the keyboard
and screen readers, and other programs beside it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktopbus import PlayedServer
from hosts import Host
from peers import Object, free_port
from programs import BELLWIRE, PACKAGE, Program, wait_until
from test_tray import House, Start, compared, complaints, history, payload
from trays import SOURCES, Session, Tray, Window, build_tray, missing_tray

pytestmark = pytest.mark.skipif(missing_tray() is not None, reason=str(missing_tray()))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tray(tmp_path_factory.mktemp("tray"), "CC=gcc", "CFLAGS=-O1 -g -Werror")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = Session(tmp_path_factory.mktemp("session"))
    session.start_panel()
    yield session
    session.close()


@pytest.fixture
def house(start: Start, relay: str, session: Session, program: Path, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, session, program, tmp_path)
    yield house
    house.close()


def first_start(house: House, **environment: str) -> Tray:
    """As from a menu: nothing is known, and no option is given."""
    tray = Tray(house.session, house._program, f"--state-dir={house.state_dir}", **environment)
    house.trays.append(tray)
    tray.until_shown()
    return tray


def unfolded(house: House, tray: Tray, title: str) -> Window:
    """The history, with that row unfolded by the keyboard."""
    tray.click("History…")
    window = house.session.until_open("History")
    window.until(lambda: any(title in row for row in window.rows()))
    window.activate()
    house.session.tool("xdotool", "key", "Tab", "Home", "Return")
    window.until(lambda: bool(window.widget("Copy")))
    return window


# The first run


def test_the_first_window_says_how_to_pair_and_no_error(house: House) -> None:
    """It has a place for the relay, the picture and the digits, and pairs with them; what was set is kept."""
    tray = first_start(house)
    window = house.session.until_open("Pair")
    window.until_says("Get notifications from another machine")
    house.session.keep_picture("tray-first-run")
    assert window.says("bellwire desktop --lan")
    for name in ("Image…", "Paste", "Digits of the pairing code", "Relay"):
        assert window.widget(name)["sensitive"], name
    assert not [text for text in window.texts if re.search("fail|error|cannot|relay_url", text, re.IGNORECASE)]
    assert not tray.has("⚠")
    # A code of its own takes a relay, and that is no error either.
    window.press("Show")
    window.until_says("To show a code, Bellwire needs a relay")
    assert not window.says("Pairing failed")
    window.press("Start")
    window.write("Relay", "nowhere://x")
    window.write("Digits of the pairing code", "123456-789012")
    window.press("Pair")
    window.until_says("A relay's address is like")
    window.write("Relay", house.relay.removeprefix("ws://").rstrip("/"))
    desktop = house.host("desktop", "Studio")
    window.write("Digits of the pairing code", desktop.call("bw_desktop_code", 10_000)["code"])
    window.press("Pair")
    compared(window, desktop, "Studio")
    window.press("They match")
    window.press("Not now")
    tray.until(lambda: tray.has("Studio – online"))
    assert tray.entry("Show alerts")["toggle-state"] == 0
    assert tray.end() == 0
    kept = json.loads((house.state_dir / "tray.json").read_text())
    assert kept["relay_url"].startswith("ws://") and kept["relay_url"].rstrip("/") == house.relay.rstrip("/")
    # Who was asked is not asked again.
    server = PlayedServer(house.session.bus, "actions", "body")
    tray = first_start(house)
    tray.until(lambda: tray.has("Studio – online"))
    house.push(desktop, "Hello")
    tray.until_unread(1)
    assert server.titles == []
    server.end()


def test_digits_without_a_relay_are_answered_with_what_is_missing(house: House) -> None:
    first_start(house)
    window = house.session.until_open("Pair")
    window.write("Digits of the pairing code", "123456-789012")
    window.press("Pair")
    window.until_says("Enter the relay's address as well")


def test_a_code_that_was_used_leaves_the_field(house: House) -> None:
    desktop = house.host("desktop", "Studio")
    house.tray().click("Pair…")
    window = house.session.until_open("Pair")
    window.write("Digits of the pairing code", desktop.call("bw_desktop_code", 10_000)["code"])
    window.press("Pair")
    compared(window, desktop, "Studio")
    window.press("They differ")
    window.press("Read")
    window.write("Text of the pairing code", payload(desktop))
    window.press("Pair")
    window.until_says("Paired with Studio")
    window.press("Read")
    window.until(lambda: window.widget("Text of the pairing code")["text"] == "")
    window.press("Start")
    window.until(lambda: window.widget("Digits of the pairing code")["text"] == "")


def lan_address() -> str | None:
    """Where the default route leaves this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if address.startswith("127.") else address


@pytest.mark.skipif(lan_address() is None, reason="this machine is in no network")
def test_a_desktop_offers_the_local_network_and_shows_its_relay(house: House, bellwire: Start) -> None:
    """Its own relay serves this machine only, until its user says otherwise; the next start keeps that."""
    port = free_port()

    def start() -> Tray:
        arguments = ("--desktop", f"--state-dir={house.home / 'lan'}", f"--listen=127.0.0.1:{port}")
        tray = Tray(house.session, house._program, *arguments)
        house.trays.append(tray)
        tray.until_shown()
        return tray

    tray = start()
    window = house.session.until_open("Pair")
    window.until_says("This code works only on this machine.")
    window.until_says(f"Relay at ws://127.0.0.1:{port}")
    assert json.loads(house.session.read_code())["signalingUrl"] == f"ws://127.0.0.1:{port}"
    url = f"ws://{lan_address()}:{port}"
    window.press(f"Allow other machines, on {lan_address()}:{port}")
    window.until_says(f"Relay at {url}")
    house.session.keep_picture("tray-desktop-lan")
    assert not window.says("only on this machine")
    digits = next(re.search(r"\d{6}-\d{6}", text) for text in window.texts if "Or type" in text)
    assert digits
    # As another machine does: by the digits and the address that it shows.
    typed = bellwire("pair", "--code", digits.group(), "--relay-url", url)
    assert typed.wait() == 0, typed.err.all
    window.until_says("Paired with")
    assert tray.end() == 0
    tray = start()
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.press("Show")
    window.until_says(f"Relay at {url}")


@pytest.mark.parametrize("accepts", [True, False], ids=["accepted", "declined"])
def test_it_asks_about_a_desktop_that_moves_to_a_new_key(house: House, accepts: bool) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    # Moves are asked for in a session.
    house.push(desktop, "Hello")
    tray.until_unread(1)
    new = desktop.call("bw_desktop_rekey")["newId"]
    window = house.session.until_open("Pair")
    window.until_says("Studio asks to move to a new key")
    window.until_says(new)
    house.session.keep_picture("tray-key-move")
    # The question survives its window, and a restart.
    window.close()
    tray.click("Pair…")
    house.session.until_open("Pair").until_says(new)
    assert tray.end() == 0
    house.tray()
    window = house.session.until_open("Pair")
    window.until_says(new)
    window.press("Accept" if accepts else "Decline")
    state = "ready" if accepts else "asking"
    peer = "approved" if accepts else "declined"
    wait_until(lambda: [each["state"] for each in desktop.call("bw_desktop_rekey_status")["peers"]] == [peer])
    assert desktop.call("bw_desktop_rekey_status")["state"] == state
    window.until(lambda: not window.says("asks to move"))


def test_a_banner_opens_its_row_behind_many_newer_ones(house: House) -> None:
    server = PlayedServer(house.session.bus, "actions", "body")
    desktop = house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    tray.click("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    house.push(desktop, "The old one", body="To be found")
    banner = server.shown("The old one")
    for number in range(60):
        house.push(desktop, f"Newer {number}")
    tray.until_unread(61)
    server.tap(banner)
    window = house.session.until_open("History")
    window.until_says("60 unread")
    house.session.keep_picture("tray-found")
    # Its row is selected and has the keyboard; screen readers see none of a list that is scrolled as far as this.
    window.activate()
    house.session.tool("xdotool", "key", "Delete")
    wait_until(lambda: "The old one" not in [row["title"] for row in history(desktop, limit=100)], 15)
    assert len(history(desktop, limit=100)) == 60
    server.end()


# Settings


def settings_window(house: House, tray: Tray) -> Window:
    tray.click("Settings…")
    return house.session.until_open("Settings")


def test_the_name_and_the_relay_are_set(house: House) -> None:
    """Desktops that are paired from then on show the name; the connection is made anew with the relay."""
    tray = first_start(house)
    house.session.until_open("Pair").close()
    window = settings_window(house, tray)
    window.write("Relay", "not an address")
    window.until_says("A relay's address is like")
    assert not window.widget("Save")["sensitive"]
    window.write("Name", "Kitchen")
    window.write("Relay", f" {house.relay} ")
    window.press("Save")
    window.until_says("Saved.")
    window.close()
    desktop = house.host("desktop", "Studio")
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.press("Show")
    window.until_says("Scan this code with your desktop")
    desktop.call("bw_desktop_scan", house.session.read_code())
    desktop.event("pairing.changed", flow="scan", state="confirming")
    desktop.call("bw_desktop_confirm", None, 1)
    window.until_says("Paired with Studio")
    assert desktop.call("bw_desktop_devices")[0]["name"] == "Kitchen"
    window.close()
    # The next start has them, too.
    assert tray.end() == 0
    tray = first_start(house)
    window = settings_window(house, tray)
    assert window.widget("Name")["text"] == "Kitchen" and window.widget("Relay")["text"] == house.relay
    house.session.keep_picture("tray-settings")


def test_switches_of_the_settings_count_at_once(house: House) -> None:
    desktop = house.paired_desktop()
    server = PlayedServer(house.session.bus, "actions", "body")
    tray = house.tray()
    window = settings_window(house, tray)
    window.press("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    window.press("Show texts in alerts")
    window.until(lambda: not window.widget("Show texts in alerts")["checked"])
    house.push(desktop, "Hidden text", body="secret")
    assert server.shown("Hidden text")["body"] == ""
    # An urgent one is an alert as well, and no window with its text.
    house.push(desktop, "Hidden fire", body="secret", priority="urgent")
    assert server.shown("Hidden fire")["body"] == ""
    tray.until_unread(2)
    assert "History" not in house.session.look("windows")
    # At first, bursts are summed up.
    for number in range(40):
        house.push(desktop, f"Burst {number}")
    server.wait(lambda line: str(line.get("title", "")).endswith(" notifications in a short time"), 30)
    assert window.widget("Sum up bursts of notifications")["checked"]
    window.press("Sum up bursts of notifications")
    window.until(lambda: not window.widget("Sum up bursts of notifications")["checked"])
    for number in range(12):
        house.push(desktop, f"Each {number}")
    for number in range(12):
        server.shown(f"Each {number}")
    entry = house.session.home / "config/autostart/org.bellwire.Tray.desktop"
    window.press("Start at login")
    wait_until(entry.exists)
    window.press("Start at login")
    wait_until(lambda: not entry.exists())
    window.press("Quiet hours…")
    house.session.until_open("Quiet hours").close()
    server.end()


def test_an_entry_for_all_users_can_be_switched_off(house: House, tmp_path: Path) -> None:
    """A package installs one: the user's own replaces it."""
    shared = tmp_path / "xdg/autostart"
    shared.mkdir(parents=True)
    shutil.copy(SOURCES / "org.bellwire.Tray.desktop", shared)
    entry = house.session.home / "config/autostart/org.bellwire.Tray.desktop"
    tray = house.tray(XDG_CONFIG_DIRS=str(tmp_path / "xdg"))
    assert tray.entry("Start at login")["toggle-state"] == 1 and not entry.exists()
    tray.click("Start at login")
    tray.until(lambda: tray.entry("Start at login")["toggle-state"] == 0)
    assert "Hidden=true" in entry.read_text()
    tray.click("Start at login")
    tray.until(lambda: tray.entry("Start at login")["toggle-state"] == 1)
    assert "Hidden" not in entry.read_text()
    entry.unlink()


# What comes


def test_what_is_urgent_is_raised_at_once(house: House) -> None:
    """The window shows it unfolded, and it stays unread; nothing else opens one."""
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "Normal")
    house.push(desktop, "High", priority="high")
    tray.until_unread(2)
    assert house.session.look("windows") == []
    house.push(desktop, "Fire", body="In the cellar", priority="urgent")
    window = house.session.until_open("History")
    window.until(lambda: bool(window.widget("Copy")) and window.rows()[0] == "Unread: Fire")
    tray.until_unread(3)
    window.until_says("3 notifications  ·  3 unread")
    house.session.keep_picture("tray-urgent")
    window.close()
    for number in range(40):
        house.push(desktop, f"Fire {number}", priority="urgent")
    window = house.session.until_open("History")
    window.until(lambda: window.rows()[0] == "Unread: Fire 39")
    tray.click("Mark all as read")
    tray.until_unread(0)
    window.close()
    # Who wants no alerts is not interrupted.
    tray.click("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    tray.click("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 0)
    house.push(desktop, "Another fire", priority="urgent")
    tray.until_unread(1)
    assert house.session.look("windows") == []


def test_a_row_unfolds_and_is_copied_opened_and_answered(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    actions = [
        {"action": "view", "label": "Open the log", "url": "https://example.org/log"},
        {"action": "view", "label": "Run", "url": "file:///usr/bin/true"},
    ]
    house.push(
        desktop,
        "Build failed",
        body="First line\nSecond line <b>",
        deepLink="https://example.org/build",
        data={"actions": json.dumps(actions)},
    )
    tray.until_unread(1)
    window = unfolded(house, tray, "Build failed")
    window.until_says("First line\nSecond line <b>")
    assert window.widget("Open link")["sensitive"] and window.widget("Open the log")["sensitive"]
    assert not [each for each in window.widgets if each["name"] == "Run"], "that would start a program"
    tray.until_unread(0)
    window.press("Copy")
    window.until_says("Copied.")
    copied = house.session.tool("xclip", "-selection", "clipboard", "-o")
    assert copied == "Build failed\nFirst line\nSecond line <b>\nhttps://example.org/build"
    window.press("Reply")
    window.write("Your answer", "I look at it")
    # What comes meanwhile makes the list anew, and leaves the answer as it was.
    house.push(desktop, "Meanwhile")
    window.until(lambda: len(window.rows()) == 2)
    house.session.keep_picture("tray-answer")
    assert window.widget("Your answer")["text"] == "I look at it"
    window.press("Send")
    answer = desktop.event("notification.received", title="Re: Build failed")
    assert answer["body"] == "I look at it"
    window.until_says("Sent.")
    assert window.widget("Your answer")["text"] == ""
    desktop.call("bw_desktop_stop")
    tray.until(lambda: tray.has("Studio – offline"))
    window.write("Your answer", "Later")
    window.press("Send")
    window.until_says("Queued until the desktop is back online.", 30)
    desktop.start()
    desktop.event("notification.received", title="Re: Build failed", body="Later")


# Languages


def test_it_speaks_german_and_else_english(house: House) -> None:
    house.paired_desktop()
    tray = house.tray(LANGUAGE="de")
    tray.until(lambda: tray.has("Verlauf…") and tray.has("Koppeln…") and tray.has("Eine Stunde ruhig"))
    tray.click("Koppeln…")
    window = house.session.until_open("Koppeln")
    window.press("Beginn")
    window.until_says("Nachrichten von einem anderen Rechner")
    house.session.keep_picture("tray-german")
    assert tray.end() == 0
    tray = house.tray(LANGUAGE="xx")
    tray.until(lambda: tray.has("History…"))


def test_the_translation_is_complete_and_its_template_up_to_date(tmp_path: Path) -> None:
    copy = tmp_path / "tray"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("build", "screenshots"))
    subprocess.run(["make", "-s", "pot"], cwd=copy, check=True)
    for name in ("bellwire-tray.pot", "de.po"):
        assert (copy / "po" / name).read_text() == (SOURCES / "po" / name).read_text(), f"run make pot for {name}"
    for language in (SOURCES / "po/LINGUAS").read_text().split():
        check = ["msgfmt", "--check", "--statistics", "-o", tmp_path / "out", SOURCES / f"po/{language}.po"]
        said = subprocess.run(
            check, check=True, capture_output=True, text=True, env={"PATH": "/usr/bin", "LC_ALL": "C"}
        )
        assert re.fullmatch(r"\d+ translated messages\.\n", said.stderr), said.stderr


# Keyboard and screen reader

#: What a person operates.
OPERATED = {"push button", "toggle button", "check box", "radio button", "entry", "text", "combo box", "list item"}


def unnamed(window: Window) -> list[Object]:
    """A screen reader would say "button", and no more."""
    return [each for each in window.widgets if each["role"] in OPERATED | {"list"} and not each["name"]]


def reached(window: Window) -> tuple[set[str], set[str]]:
    """The names of what can have the keyboard, and of what gets it by Tab."""
    session = window.session
    wanted = {
        each["name"] for each in window.widgets if each["role"] in OPERATED and each["focusable"] and each["sensitive"]
    }
    found: set[str] = set()
    window.activate()
    for _ in range(30):
        session.tool("xdotool", "key", "Tab")
        found |= {each["name"] for each in window.widgets if each["focused"]}
        if wanted <= found:
            break
    return wanted, found


def test_keyboard_and_screen_reader_reach_everything(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "With a link", deepLink="https://example.org")
    tray.until_unread(1)
    window = unfolded(house, tray, "With a link")
    window.press("Reply")
    assert unnamed(window) == []
    wanted, found = reached(window)
    assert {"Copy", "Reply", "Open link", "Your answer", "Search"} <= wanted and wanted - found == set()
    window.close()
    for entry, title in (("Settings…", "Settings"), ("Quiet hours…", "Quiet hours")):
        tray.click(entry)
        window = house.session.until_open(title)
        assert unnamed(window) == []
        wanted, found = reached(window)
        assert wanted and wanted - found == set(), title
        window.close()
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    for number, page in enumerate(("Start", "Show", "Read", "Desktops"), 1):
        window.activate()
        house.session.tool("xdotool", "key", f"alt+{number}")
        window.until(lambda: window.widget(page)["checked"] or window.widget(page)["sensitive"])  # noqa: B023
        assert unnamed(window) == [], page
        wanted, found = reached(window)
        assert wanted - found == set(), page
    house.session.tool("xdotool", "key", "alt+1")
    window.until(lambda: bool(window.widget("Relay")))
    wanted, found = reached(window)
    assert {"Image…", "Paste", "Digits of the pairing code", "Pair", "Relay"} <= wanted and wanted - found == set()


# Other programs beside it


def command(house: House, *arguments: str) -> Program:
    return house.session.run(BELLWIRE, *arguments, "--state-dir", house.state_dir)


def until_shown_by(is_shown: Callable[[], bool], house: House, desktop: Host, title: str) -> None:
    """Pushes until a program that has just begun to listen has had one."""

    def pushed() -> bool:
        house.push(desktop, title)
        return is_shown()

    wait_until(pushed, 30)


def test_the_command_line_works_beside_it(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    sent = command(house, "send", "From a script")
    assert sent.wait(20) == 0, sent.err.all
    desktop.event("notification.received", title="From a script")
    listener = command(house, "listen")
    until_shown_by(lambda: any("  For both  " in line for line in listener.out.all), house, desktop, "For both")
    tray.until(lambda: tray.has("For both – "))
    assert listener.end() == 0


LISTENER = """
import sys

import bellwire

with bellwire.Device(state_dir=sys.argv[1], application_id="org.example.Listener") as device:
    for push in device.pushes():
        print(push.title, flush=True)
"""


def test_a_listener_a_python_program_and_fifty_senders_work_beside_it(house: House) -> None:
    """Every send succeeds, and both that print get each push once, in the same order."""
    desktop = house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    listener = command(house, "listen", "--json")
    program = house.session.run(sys.executable, "-c", LISTENER, house.state_dir, **PACKAGE)
    until_shown_by(lambda: bool(listener.out.all and program.out.all), house, desktop, "Ready")

    senders = [command(house, "send", f"Title {number}", "Body") for number in range(50)]
    for sender in senders:
        assert sender.wait(60) == 0, sender.err.all
    house.push(desktop, "The last")

    program.line("^The last$")
    printed = [title for title in program.out.all if title != "Ready"]
    assert sorted(printed) == sorted([*(f"Title {number}" for number in range(50)), "The last"])
    listener.event("notification.received", title="The last")
    heard = [json.loads(line)["data"]["title"] for line in listener.out.all if "notification.received" in line]
    assert [title for title in heard if title != "Ready"] == printed
    tray.until(lambda: tray.has("The last – "))
    assert listener.end() == 0
    program.end()


def with_alerts(house: House) -> None:
    """The tray shows alerts from now on."""
    tray = house.tray()
    tray.click("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    assert tray.end() == 0


def test_it_takes_over_from_a_command_that_shows_no_alerts(house: House) -> None:
    """`bellwire listen` works on as the tray's guest."""
    desktop = house.paired_desktop()
    server = PlayedServer(house.session.bus, "actions", "body")
    with_alerts(house)
    listener = command(house, "listen")
    listener.error_line("connected to Studio")
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    until_shown_by(lambda: "An alert" in server.titles, house, desktop, "An alert")
    listener.line("  An alert")
    assert not settings_window(house, tray).says("is using this device")
    assert listener.end() == 0
    server.end()


def test_it_joins_another_program_and_takes_over_with_its_own_options(house: House) -> None:
    """While a program with alerts has the device, its options hold, which the settings say; after it the tray's do."""
    desktop = house.paired_desktop()
    server = PlayedServer(house.session.bus, "actions", "body")
    with_alerts(house)
    options = {"state_dir": str(house.state_dir), "relay_url": house.relay, "follow_system": False, "alerts": "host"}
    holder = Host(house._start, "device", {**options, "application_id": "org.example.Kitchen"})
    holder.start()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    window = settings_window(house, tray)
    window.until_says("org.example.Kitchen is using this device")
    house.push(desktop, "Counted")
    tray.until(lambda: tray.has("Counted – "))
    holder.close()
    window.until(lambda: not window.says("is using this device"))
    until_shown_by(lambda: "An alert again" in server.titles, house, desktop, "An alert again")
    server.end()


def test_nothing_complains_when_windows_open_and_close(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "One")
    tray.until_unread(1)
    for _ in range(3):
        for entry, title in (("Settings…", "Settings"), ("Pair…", "Pair"), ("History…", "History")):
            tray.click(entry)
            house.session.until_open(title).close()
    assert complaints(tray.program) == [] and payload(desktop) and history(desktop)
