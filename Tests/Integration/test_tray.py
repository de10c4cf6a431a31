"""examples/tray on a real panel, used as a person would: by its icon, its menu, its windows and the keyboard."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desktopbus import PlayedServer
from hosts import Host
from peers import Object
from programs import STAGE, Program, fastest, wait_until
from trays import SOURCES, Session, Tray, Window, build_tray, missing_tray, qr_image

Start = Callable[..., Program]

pytestmark = pytest.mark.skipif(missing_tray() is not None, reason=str(missing_tray()))

ITEM = "org.bellwire.Tray"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built with gcc; a warning is an error."""
    return build_tray(tmp_path_factory.mktemp("tray"), "CC=gcc", "CFLAGS=-O1 -g -Werror")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = Session(tmp_path_factory.mktemp("session"))
    session.start_panel()
    yield session
    session.close()


class House:
    """A relay, a desktop at it, and a tray."""

    def __init__(self, start: Start, relay: str, session: Session, program: Path, home: Path) -> None:
        self._start, self.relay, self.session, self._program, self.home = start, relay, session, program, home
        self.state_dir = home / "tray"
        self.trays: list[Tray] = []
        self.hosts: list[Host] = []

    def host(self, role: str, name: str, **options: Any) -> Host:
        directory = str(self.home / name)
        common = {"state_dir": directory, "name": name, "relay_url": self.relay, "follow_system": False}
        host = Host(self._start, role, {**common, **options})
        self.hosts.append(host)
        host.start()
        return host

    def paired_desktop(self, name: str = "Studio") -> Host:
        """A desktop that the tray will know: paired over the C interface, before the tray starts."""
        desktop = self.host("desktop", name)
        options = {"state_dir": str(self.state_dir), "name": "Tray", "relay_url": self.relay, "follow_system": False}
        device = Host(self._start, "device", options)
        device.call("bw_pairing_scan", desktop.call("bw_desktop_offer", 10_000)["payload"], 15_000)
        device.close()
        return desktop

    def tray(self, *arguments: str, **environment: str) -> Tray:
        common = [f"--state-dir={self.state_dir}", f"--relay-url={self.relay}"]
        tray = Tray(self.session, self._program, *common, *(arguments or ["--background"]), **environment)
        self.trays.append(tray)
        tray.until_shown()
        return tray

    def push(self, desktop: Host, title: str, **params: Any) -> str:
        sent = desktop.call("bw_desktop_notify", {"title": title, "body": "Body", **params}, 10_000)
        return str(sent["notificationId"])

    def close(self) -> None:
        for tray in self.trays:
            if tray.program.process.poll() is None:
                try:
                    assert tray.end() == 0, tray.program.err.all
                finally:
                    # Or it would be the one instance of the next test.
                    tray.program.kill()
            assert complaints(tray.program) == []
        for host in self.hosts:
            host.close()


def complaints(program: Program) -> list[str]:
    """Of GTK and GLib about the program.

    GTK complains of itself, too: keys make its file chooser do so, and hiding a GtkStatusIcon that a panel has embedded, in
    a program of nothing else. The indicator's library shows one while there is no watcher.
    """
    own = ("WIDGET_REALIZED_FOR_EVENT", "gdk_window_thaw_toplevel_updates: assertion 'window->update_and_descendants")
    said = [line for line in program.err.all if re.search(r"-(CRITICAL|WARNING) \*\*", line)]
    return [line for line in said if not any(each in line for each in own)]


@pytest.fixture
def house(start: Start, relay: str, session: Session, program: Path, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, session, program, tmp_path)
    yield house
    house.close()


def history(desktop: Host, **params: Any) -> list[Object]:
    found: list[Object] = desktop.call("bw_desktop_history", params)["notifications"]
    return found


def payload(desktop: Host) -> str:
    return str(desktop.call("bw_desktop_offer", 10_000)["payload"])


# Building


def test_cmake_finds_the_library_and_clang_has_no_complaint(tmp_path: Path) -> None:
    """As a packager does: configure, build, install; the program that is there starts."""
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    configure = ["cmake", "-S", str(SOURCES), "-B", str(build), f"-DCMAKE_PREFIX_PATH={STAGE}"]
    configure += [f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_C_FLAGS=-O0 -Werror"]
    for command in (configure, ["cmake", "--build", str(build), "-j2"], ["cmake", "--install", str(build)]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    said = subprocess.run([prefix / "bin/bellwire-tray", "--version"], check=True, capture_output=True, text=True)
    assert re.fullmatch(r"bellwire-tray \d+\.\d+\.\d+\n", said.stdout)
    assert (prefix / "share/applications/org.bellwire.Tray.desktop").exists()
    assert (prefix / "share/icons/hicolor/scalable/apps/org.bellwire.Tray.svg").exists()


# The icon and its menu


def test_the_count_goes_up_and_down(house: House) -> None:
    """The icon has the number of unread notifications; a click on one of the menu marks it as read on the desktop."""
    desktop = house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.icon == "bellwire-tray-on-0")
    assert tray.has("Studio – online")
    house.push(desktop, "Build done")
    house.push(desktop, "Tea is ready")
    tray.until(lambda: tray.icon == "bellwire-tray-on-2")
    assert tray.item["Title"] == "Bellwire: 2 unread"
    assert next(label for label in tray.labels if "•" in label).startswith("• Tea is ready – ")
    picture = next((house.session.runtime / "bellwire-tray-device").rglob(f"22x22/apps/{tray.icon}.png"))
    assert picture.read_bytes().startswith(b"\x89PNG")
    tray.click("Tea is ready")
    tray.until_unread(1)
    wait_until(lambda: [row["read"] for row in history(desktop)] == [True, False])
    # What is read on the desktop is read here.
    desktop.call("bw_desktop_invoke", "notification.markAllAsRead", None, 10_000)
    tray.until_unread(0)
    for number in range(101):
        house.push(desktop, f"Push {number}")
    tray.until(lambda: tray.icon == "bellwire-tray-on-99+")


def test_mark_all_as_read(house: House) -> None:
    desktop, other = house.paired_desktop(), house.paired_desktop("Attic")
    tray = house.tray()
    assert tray.entry("Mark all as read")["enabled"] is False
    house.push(desktop, "One")
    house.push(desktop, "Two")
    house.push(other, "Three")
    tray.until_unread(3)
    tray.click("Mark all as read")
    tray.until_unread(0)
    wait_until(lambda: all(row["read"] for each in (desktop, other) for row in history(each)))
    tray.until(lambda: tray.entry("Mark all as read")["enabled"] is False)


def test_a_desktop_that_goes_is_offline(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    desktop.call("bw_desktop_stop")
    tray.until(lambda: tray.has("Studio – offline") and tray.icon == "bellwire-tray-away-0")
    desktop.start()
    tray.until(lambda: tray.has("Studio – online") and tray.icon == "bellwire-tray-on-0")


def test_a_click_on_the_icon_opens_the_menu(house: House) -> None:
    """With a real pointer, on the panel: the menu is drawn, and the keyboard chooses from it."""
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "By pointer")
    tray.until_unread(1)
    session = house.session
    session.open_menu()
    session.keep_picture("tray-menu")

    def quits() -> bool:
        # The last item. The menu is on the screen before it has the keyboard, so keys can be lost.
        session.tool("xdotool", "key", "End", "Return")
        return tray.program.process.poll() is not None

    wait_until(quits)
    assert tray.program.wait(5) == 0


def test_hostile_text_is_only_text(house: House) -> None:
    """No markup, no access keys, no control characters, no turned writing, nothing endless."""
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "<b>&bold;</b> _under_ a\u202eb\u0007c\u001b[31md\u2066\u200b", body="<span>&</span>" * 10)
    tray.until(lambda: tray.has("• <b>&bold;</b> _under_ ab c [31md – "))
    label = tray.entry("bold")["label"]
    assert "__under__" in label, "an underscore is no access key"
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u200b]", label)
    assert label.count("\u2068") == label.count("\u2069") == 1
    house.push(desktop, "x" * 1000 + "y")
    house.push(desktop, "e" + "\u0301" * 400)
    tray.until_unread(3)
    assert max(len(each) for each in tray.labels) < 80
    tray.click("History")
    window = house.session.until_open("History")
    window.until_says("<b>&bold;</b> _under_")
    assert window.says("<span>&</span>")
    assert tray.program.process.poll() is None


def test_a_nul_in_a_text_hides_nothing_beside_it(house: House) -> None:
    """JSON may hold it, and C ends a text there; all else is shown and stays up to date."""
    desktop = house.paired_desktop()
    tray = house.tray()
    house.push(desktop, "Before")
    tray.until_unread(1)
    house.push(desktop, "First\0second", body="a\0b", data={"key": "\0"})
    house.push(desktop, "After")
    tray.until_unread(3)
    tray.until(lambda: tray.has("Before – ") and tray.has("First – ") and tray.has("After – "))
    tray.click("History")
    window = house.session.until_open("History")
    window.until_says("Before")
    assert window.says("First") and window.says("After")


def fault_of(call: str, directory: Path) -> tuple[Path, Path]:
    """A file, and a library to preload: while the file is there, the call fails as with a full disk."""
    source, failing, fault = directory / "fault.c", directory / "fault", directory / "fault.so"
    source.write_text(
        """
        #define _GNU_SOURCE
        #include <bellwire.h>
        #include <dlfcn.h>
        #include <unistd.h>
        bw_status CALL(bw_device *device, const char *json, char **result_json) {
            bw_status (*call)(bw_device *, const char *, char **);
            *(void **)&call = dlsym(RTLD_NEXT, NAME);
            return access(FAULT, F_OK) == 0 ? BW_E_STORE : call(device, json, result_json);
        }
        """
    )
    options = ["-shared", "-fPIC", f"-I{STAGE}/include", f"-DCALL={call}", f'-DNAME="{call}"', f'-DFAULT="{failing}"']
    subprocess.run(["gcc", *options, str(source), "-o", str(fault)], check=True)
    return failing, fault


def test_a_store_that_fails_is_said_and_not_asked_without_end(house: House, tmp_path: Path) -> None:
    """While the inbox cannot be read the program says so, and rests; once it can be, it goes on."""
    desktop = house.paired_desktop()
    failing, fault = fault_of("bw_inbox_load", tmp_path)
    tray = house.tray(LD_PRELOAD=str(fault))
    failing.touch()
    house.push(desktop, "Unseen")
    tray.until(lambda: tray.has("⚠"))
    stat = Path(f"/proc/{tray.program.pid}/stat")

    def used() -> int:
        """Hundredths of a second."""
        fields = stat.read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    seen, since = used(), time.monotonic()

    def rests() -> bool:
        nonlocal seen, since
        if used() > seen + 5:
            seen, since = used(), time.monotonic()
        return time.monotonic() - since > 1

    tray.until(rests, 10)
    failing.unlink()
    house.push(desktop, "Seen")
    tray.until(lambda: tray.has("Seen – ") and tray.has("Unseen – "))


# Pairing


def pair_window(house: House) -> tuple[Tray, Any]:
    tray = house.tray()
    tray.click("Pair…")
    return tray, house.session.until_open("Pair")


def compared(window: Any, desktop: Host, name: str) -> None:
    """Both sides show the same digits and words."""
    window.until_says(f"Paired with {name}")
    wait_until(lambda: len(desktop.call("bw_desktop_devices")) == 1)
    sas = desktop.call("bw_desktop_devices")[0]["sas"]
    window.until_says(f"{sas['digits'][:3]} {sas['digits'][3:]}  ·  {' '.join(sas['words'])}")


def test_pairing_by_pasted_text(house: House, tmp_path: Path) -> None:
    desktop = house.host("desktop", "Studio")
    tray, window = pair_window(house)
    code = tmp_path / "code.txt"
    code.write_text(payload(desktop))
    house.session.copy("UTF8_STRING", code)
    window.activate()
    house.session.tool("xdotool", "key", "alt+3")
    window.until(lambda: any(each["name"] == "Text of the pairing code" for each in window.widgets))
    house.session.tool("xdotool", "key", "ctrl+v")
    window.until(lambda: any("desktop-pairing" in str(each["text"]) for each in window.widgets))
    house.session.tool("xdotool", "key", "Return")
    compared(window, desktop, "Studio")
    house.session.keep_picture("tray-paired")
    window.press("They match")
    tray.until(lambda: tray.has("Studio – online"))
    # Two clicks, and it is over.
    window.press("Unpair Studio")
    window.press("Unpair Studio")
    tray.until(lambda: tray.has("No desktop is paired"))
    wait_until(lambda: desktop.call("bw_desktop_devices") == [])


def test_pairing_by_an_image_file(house: House, tmp_path: Path) -> None:
    desktop = house.host("desktop", "Studio")
    picture = qr_image(payload(desktop), tmp_path / "code.png")
    _, window = pair_window(house)
    window.press("Read")
    window.press("Image…")
    chooser = house.session.until_open("Choose an image of a pairing code")
    chooser.activate()
    house.session.tool("xdotool", "key", "ctrl+l")
    chooser.write("", str(picture))
    chooser.press("Read")
    compared(window, desktop, "Studio")


def test_pairing_by_an_image_on_the_clipboard(house: House, tmp_path: Path) -> None:
    desktop = house.host("desktop", "Studio")
    house.session.copy("image/png", qr_image(payload(desktop), tmp_path / "code.png"))
    tray, window = pair_window(house)
    window.press("Read")
    window.press("Paste")
    compared(window, desktop, "Studio")
    # Somebody who sees other digits unpairs at once.
    window.press("They differ")
    tray.until(lambda: tray.has("No desktop is paired"))


def test_pairing_by_typed_digits(house: House) -> None:
    desktop = house.host("desktop", "Studio")
    digits = desktop.call("bw_desktop_code", 10_000)["code"]
    _, window = pair_window(house)
    window.write("Digits of the pairing code", "12345")
    window.press("Pair")
    window.until_says("The code has twelve digits")
    window.write("Digits of the pairing code", digits.replace("-", " "))
    window.press("Pair")
    compared(window, desktop, "Studio")


def test_pairing_by_the_code_that_it_shows(house: House) -> None:
    """The code on the screen is scanned, as a camera would: out of a picture of the screen."""
    desktop = house.host("desktop", "Studio")
    _, window = pair_window(house)
    window.press("Show")
    window.until_says("Scan this code with your desktop")
    desktop.call("bw_desktop_scan", house.session.read_code())
    desktop.event("pairing.changed", flow="scan", state="confirming")
    desktop.call("bw_desktop_confirm", None, 1)
    compared(window, desktop, "Studio")


def test_what_is_no_code_is_said_in_words(house: House, tmp_path: Path) -> None:
    _, window = pair_window(house)
    window.press("Read")
    window.press("Pair")
    window.until_says("Paste the text of the code first")
    window.write("Text of the pairing code", "hello")
    window.press("Pair")
    window.until_says("not a pairing code")
    empty = tmp_path / "empty.png"
    subprocess.run(["convert", "-size", "64x64", "xc:white", str(empty)], check=True)
    house.session.copy("image/png", empty)
    window.press("Paste")
    window.until_says("QR code")
    old = json.loads(payload(house.host("desktop", "Studio")))
    old["timestamp"] -= 3_600_000
    window.write("Text of the pairing code", json.dumps(old))
    window.press("Pair")
    window.until_says("older than five minutes")


# History


def test_the_history_is_searched_filtered_marked_and_deleted(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    for title in ("Build done", "Tea is ready", "Building starts"):
        house.push(desktop, title, body=f"About {title.lower()}")
    tray.until_unread(3)
    tray.click("History…")
    window = house.session.until_open("History")
    window.until(lambda: window.rows() == ["Unread: Building starts", "Unread: Tea is ready", "Unread: Build done"])
    house.session.keep_picture("tray-history")
    # As it is typed.
    window.activate()
    house.session.tool("xdotool", "type", "buil")
    window.until(lambda: window.rows() == ["Unread: Building starts", "Unread: Build done"])
    house.session.tool("xdotool", "type", "d don")
    window.until(lambda: window.rows() == ["Unread: Build done"])
    window.press("Mark as read")
    window.until(lambda: window.rows() == ["Build done"])
    wait_until(
        lambda: [row["title"] for row in history(desktop, unreadOnly=True)] == ["Building starts", "Tea is ready"]
    )
    window.write("Search", "")
    window.until(lambda: len(window.rows()) == 3)
    window.press("Unread only")
    window.until(lambda: window.rows() == ["Unread: Building starts", "Unread: Tea is ready"])
    window.press("Delete")
    window.until(lambda: window.rows() == ["Unread: Tea is ready"])
    wait_until(lambda: [row["title"] for row in history(desktop)] == ["Tea is ready", "Build done"])
    # What comes while it is looked at is there at once.
    house.push(desktop, "News")
    window.until(lambda: window.rows() == ["Unread: News", "Unread: Tea is ready"])
    window.press("Mark all as read")
    window.until_says("0 notifications")
    tray.until_unread(0)


def test_the_history_has_pages(house: House) -> None:
    desktop = house.paired_desktop()
    for number in range(70):
        house.push(desktop, f"Push {number}")
    tray = house.tray()
    tray.until_unread(70)
    tray.click("History…")
    window = house.session.until_open("History")
    window.until_says("50 of 70 notifications")
    window.activate()
    house.session.tool("xdotool", "key", "Tab", "End")
    window.until_says("70 notifications")


# Quiet


def alert_settings(house: House) -> Object:
    """The device's own settings, read from its store once the tray has ended."""
    options = {"state_dir": str(house.state_dir), "alerts": "system", "follow_system": False}
    device = Host(house._start, "device", options)
    settings: Object = device.call("bw_alerts_settings")
    device.close()
    return settings


def test_quiet_for_an_hour_and_over_before(house: House) -> None:
    """The device's quiet hours hold for an hour, also after a restart, and the user's own come back after it."""
    house.paired_desktop()
    before = alert_settings(house)
    tray = house.tray()
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.icon == "bellwire-tray-quiet-0")
    assert tray.has("Quiet until ") and not tray.has("Quiet for an hour")
    assert tray.end() == 0
    during = alert_settings(house)
    begin, end = (time.strptime(during[key], "%H:%M") for key in ("quietHoursStart", "quietHoursEnd"))
    minutes = (end.tm_hour * 60 + end.tm_min - begin.tm_hour * 60 - begin.tm_min) % 1440
    assert during["quietHoursEnabled"] is True and minutes in (60, 61)
    tray = house.tray()
    assert tray.icon.startswith("bellwire-tray-quiet")
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour"))
    assert tray.end() == 0
    assert alert_settings(house) == before


def test_quiet_ends_by_itself(house: House) -> None:
    """At its moment, and at the next start when that was missed."""
    house.paired_desktop()
    tray = house.tray()
    before = alert_settings_of(tray, house)
    tray = house.tray()
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.has("end now"))
    assert tray.end() == 0
    kept = json.loads((house.state_dir / "tray-quiet.json").read_text())
    (house.state_dir / "tray-quiet.json").write_text(json.dumps({**kept, "until": int(time.time()) + 3}))
    tray = house.tray()
    assert tray.has("end now")
    tray.until(lambda: tray.has("Quiet for an hour"))
    assert alert_settings_of(tray, house) == before
    # Missed.
    (house.state_dir / "tray-quiet.json").write_text(json.dumps({**kept, "until": int(time.time()) - 60}))
    tray = house.tray()
    assert tray.has("Quiet for an hour")
    assert not (house.state_dir / "tray-quiet.json").exists()
    # A file that is none is nothing.
    assert tray.end() == 0
    (house.state_dir / "tray-quiet.json").write_text('{"until": "soon"')
    assert house.tray().has("Quiet for an hour")


def test_quiet_hours_come_back_also_when_the_store_failed_meanwhile(house: House, tmp_path: Path) -> None:
    house.paired_desktop()
    before = alert_settings(house)
    failing, fault = fault_of("bw_alerts_set_settings", tmp_path)
    tray = house.tray(LD_PRELOAD=str(fault))
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.has("end now"))
    # Neither an end nor another quiet can be written.
    failing.touch()
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour") and tray.has("⚠"))
    kept = house.state_dir / "tray-quiet.json"
    first = kept.read_bytes()
    tray.click("Quiet until ")
    tray.until(lambda: kept.read_bytes() != first)
    assert tray.has("Quiet for an hour")
    failing.unlink()
    assert tray.end() == 0
    tray = house.tray()
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour"))
    assert alert_settings_of(tray, house) == before


def test_what_is_set_after_an_end_that_failed_holds(house: House, tmp_path: Path) -> None:
    house.paired_desktop()
    failing, fault = fault_of("bw_alerts_set_settings", tmp_path)
    tray = house.tray(LD_PRELOAD=str(fault))
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.has("end now"))
    failing.touch()
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour"))
    failing.unlink()
    window = quiet_window(house, tray)
    assert quiet_fields(window) == (False, "22:00", "08:00")
    window.press("Quiet every day")
    set_quiet_hours(window, "20:00", "06:00")
    assert not (house.state_dir / "tray-quiet.json").exists()
    window.close()
    assert quiet_hours(alert_settings_of(tray, house)) == (True, "20:00", "06:00")


def quiet_window(house: House, tray: Tray) -> Window:
    tray.click("Quiet hours")
    window = house.session.until_open("Quiet hours")
    window.until(lambda: bool(window.widget("From")["text"]))
    return window


def quiet_fields(window: Window) -> tuple[bool, str, str]:
    """As they are seen."""
    is_on = window.widget("Quiet every day")
    times = [window.widget(name) for name in ("From", "To")]
    assert [each["sensitive"] for each in times] == [is_on["checked"]] * 2
    return is_on["checked"], times[0]["text"], times[1]["text"]


def quiet_hours(settings: Object) -> tuple[bool, str, str]:
    """As the library has them."""
    return settings["quietHoursEnabled"], settings["quietHoursStart"], settings["quietHoursEnd"]


def set_quiet_hours(window: Window, begin: str, end: str) -> None:
    window.write("From", begin)
    window.write("To", end)
    window.press("Save")
    window.until_says("Saved.")


def test_quiet_hours_are_seen_and_set(house: House) -> None:
    house.paired_desktop()
    tray = house.tray()
    assert "Quiet hours…" in tray.labels
    window = quiet_window(house, tray)
    assert quiet_fields(window) == (False, "22:00", "08:00") and not window.widget("Save")["sensitive"]
    window.press("Quiet every day")
    window.until(lambda: window.widget("Save")["sensitive"])
    # What cannot be is said at once, and cannot be saved.
    for wrong in ("", "7", "7:5", "24:00", "12:60", "-1:00", "1:+1", "noon", "12:00:00"):
        window.write("From", "21:30")
        window.until(lambda: window.widget("Save")["sensitive"])
        window.write("From", wrong)
        window.until_says("Times are hours and minutes")
        assert not window.widget("Save")["sensitive"], wrong
    window.write("From", "8:00")
    window.until_says("never quiet")
    assert not window.widget("Save")["sensitive"]
    set_quiet_hours(window, "21:30", " 7:05")
    house.session.keep_picture("tray-quiet-hours")
    assert quiet_fields(window) == (True, "21:30", "07:05") and not window.widget("Save")["sensitive"]
    tray.until(lambda: tray.has("Quiet hours: 21:30–07:05…"))
    window.close()
    assert quiet_hours(alert_settings_of(tray, house)) == (True, "21:30", "07:05")
    # Seen again, and switched off: the times are kept.
    tray = house.tray()
    tray.until(lambda: tray.has("Quiet hours: 21:30–07:05…"))
    window = quiet_window(house, tray)
    assert quiet_fields(window) == (True, "21:30", "07:05")
    window.press("Quiet every day")
    window.press("Save")
    window.until_says("Saved.")
    tray.until(lambda: "Quiet hours…" in tray.labels)
    window.close()
    assert quiet_hours(alert_settings_of(tray, house)) == (False, "21:30", "07:05")


def test_quiet_hours_that_are_set_while_it_is_quiet_hold_after_it(house: House) -> None:
    house.paired_desktop()
    tray = house.tray()
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.has("end now"))
    window = quiet_window(house, tray)
    window.until_says("These hours hold after that.")
    # Those of the user, not those of this hour.
    assert quiet_fields(window) == (False, "22:00", "08:00")
    window.press("Quiet every day")
    set_quiet_hours(window, "20:00", "06:00")
    tray.until(lambda: tray.has("Quiet hours: 20:00–06:00…"))
    during = alert_settings_of(tray, house)
    assert during["quietHoursEnabled"] is True and during["quietHoursStart"] != "20:00", "it is quiet for this hour"
    tray = house.tray()
    assert tray.has("end now") and tray.has("Quiet hours: 20:00–06:00…")
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour"))
    assert tray.has("Quiet hours: 20:00–06:00…")
    assert quiet_hours(alert_settings_of(tray, house)) == (True, "20:00", "06:00")


def test_quiet_hours_of_a_desktop_are_those_that_its_devices_see_and_set(house: House) -> None:
    house.state_dir = house.home / "desktop-tray"
    tray = house.tray("--desktop", "--background")
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.until_says("Or type ")
    phone = house.host("device", "Phone")
    phone.call("bw_pairing_scan", house.session.read_code(), 15_000)
    window.until_says("Paired with Phone")
    window.close()
    window = quiet_window(house, tray)
    window.press("Quiet every day")
    set_quiet_hours(window, "21:00", "06:30")
    assert quiet_hours(phone.notification("get_settings")) == (True, "21:00", "06:30")
    # What a device sets is seen here, in an open window as well.
    theirs = {"quietHoursEnabled": True, "quietHoursStart": "23:00", "quietHoursEnd": "05:00"}
    phone.notification("update_settings", theirs)
    tray.until(lambda: tray.has("Quiet hours: 23:00–05:00…"))
    window.until(lambda: quiet_fields(window) == (True, "23:00", "05:00"))
    window.close()
    # What a device sets while it is quiet here stays when that ends.
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.has("end now"))
    wait_until(lambda: quiet_hours(phone.notification("get_settings")) != (True, "23:00", "05:00"))
    theirs = {"quietHoursEnabled": True, "quietHoursStart": "01:00", "quietHoursEnd": "02:00"}
    phone.notification("update_settings", theirs)
    tray.click("end now")
    tray.until(lambda: tray.has("Quiet for an hour") and tray.has("Quiet hours: 01:00–02:00…"))
    assert quiet_hours(phone.notification("get_settings")) == (True, "01:00", "02:00")


def alert_settings_of(tray: Tray, house: House) -> Object:
    assert tray.end() == 0
    return alert_settings(house)


# The session


def test_a_second_start_shows_the_first(house: House, program: Path) -> None:
    """There is one instance: what is started again raises its window, and ends at once."""
    tray = house.tray()
    again = house.session.run(program, f"--state-dir={house.state_dir}")
    assert again.wait(10) == 0
    window = house.session.until_open("Pair")
    window.close()
    desktop = house.host("desktop", "Studio")
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.press("Read")
    window.write("Text of the pairing code", payload(desktop))
    window.press("Pair")
    compared(window, desktop, "Studio")
    window.close()
    assert house.session.run(program).wait(10) == 0
    house.session.until_open("History")
    assert tray.program.process.poll() is None


def test_the_icon_is_back_after_the_panel(house: House) -> None:
    desktop = house.paired_desktop()
    tray = house.tray()
    house.session.restart_panel(lambda: house.push(desktop, "Meanwhile"))
    tray.until_shown()
    tray.until_unread(1)
    tray.click("Mark all as read")
    tray.until_unread(0)


def test_alerts_go_on_after_the_notification_daemon(house: House) -> None:
    """They are shown, and a daemon that was killed and started again shows the next."""
    desktop = house.paired_desktop()
    tray = house.tray()
    assert tray.entry("Show alerts")["toggle-state"] == 0
    daemon = house.session.run("dunst", "-config", "/dev/null", **Session.UNREAD)
    house.session.until_owned("org.freedesktop.Notifications")
    tray.click("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    for title in ("First", "Second"):
        identity = house.push(desktop, title)
        assert desktop.event("notification.presented", id=identity)["presented"] is True
        wait_until(lambda: house.session.displayed() == 1)
        daemon.end(signal.SIGKILL)
        daemon = house.session.run("dunst", "-config", "/dev/null", **Session.UNREAD)
        house.session.until_owned("org.freedesktop.Notifications")
    daemon.kill()


def test_who_pairs_is_asked_for_alerts_and_a_tap_opens_the_history(house: House) -> None:
    server = PlayedServer(house.session.bus, "actions", "body")
    desktop = house.host("desktop", "Studio")
    tray, window = pair_window(house)
    assert server.titles == [], "nobody is asked before"
    window.press("Read")
    window.write("Text of the pairing code", payload(desktop))
    window.press("Pair")
    window.press("They match")
    window.until_says("Show alerts?")
    assert tray.entry("Show alerts")["toggle-state"] == 0, "the question has not been answered"
    window.press("Show alerts")
    tray.until(lambda: tray.entry("Show alerts")["toggle-state"] == 1)
    assert server.titles == [], "once, and not by an alert as well"
    window.close()
    house.push(desktop, "Tap me")
    tray.until_unread(1)
    server.tap(server.shown("Tap me"))
    history_window = house.session.until_open("History")
    history_window.until(lambda: history_window.rows() == ["Tap me"])
    tray.until_unread(0)
    assert tray.end() == 0
    server.end()


def test_it_starts_with_the_session_or_not(house: House) -> None:
    """The autostart entry is written and taken away, and what it says starts this program."""
    tray = house.tray()
    entry = house.session.home / "config/autostart/org.bellwire.Tray.desktop"
    assert not entry.exists() and tray.entry("Start at login")["toggle-state"] == 0
    tray.click("Start at login")
    wait_until(entry.exists)
    tray.until(lambda: tray.entry("Start at login")["toggle-state"] == 1)
    assert tray.end() == 0
    started = house.session.run(*house.session.command_of(entry))
    tray.program = started
    tray.until_shown()
    assert "Pair" not in house.session.look("windows")
    assert tray.entry("Start at login")["toggle-state"] == 1
    tray.click("Start at login")
    wait_until(lambda: not entry.exists())


def test_quit_ends_within_a_second(house: House) -> None:
    """Also while a pairing is under way and the relay has gone."""
    house.paired_desktop()

    def stop() -> float:
        tray, window = pair_window(house)
        window.press("Show")
        icons = house.session.runtime / "bellwire-tray-device"
        assert icons.exists()
        begin = time.monotonic()
        tray.click("Quit")
        assert tray.program.wait(5) == 0
        taken = time.monotonic() - begin
        assert not icons.exists(), "its icons are gone with it"
        return taken

    fastest(stop, 1)


# Embedding


def test_it_has_no_thread_and_no_timer_of_its_own(house: House, record_property: Callable[[str, object], None]) -> None:
    """Beside GLib's and the library's threads there is none; while nothing happens the main thread is not woken."""
    house.paired_desktop()
    tray = house.tray()
    tray.until(lambda: tray.has("Studio – online"))
    tasks = Path(f"/proc/{tray.program.pid}/task")
    names = sorted(
        (task / "comm").read_text().strip() for task in tasks.iterdir() if task.name != str(tray.program.pid)
    )
    record_property("threads", names)
    glibs = {"gmain", "gdbus", "dconf worker"}
    assert len([name for name in names if name not in glibs and not name.startswith("pool-")]) <= 2, names
    # Two seconds in a row without a switch: a timer of two seconds or less would be seen.
    status = tasks / str(tray.program.pid) / "status"
    seen, since = status.read_text(), time.monotonic()

    def is_still() -> bool:
        nonlocal seen, since
        now = re.sub(r"^(?!.*ctxt).*\n", "", status.read_text(), flags=re.MULTILINE)
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > 2

    wait_until(is_still, 20)


def test_what_cannot_be_is_said(house: House, program: Path) -> None:
    tray = house.tray()
    refused = house.session.run(program, "--no-such-option")
    assert refused.wait() == 1 and "no-such-option" in "\n".join(refused.err.all)
    helped = subprocess.run([program, "--help"], check=True, capture_output=True, text=True, env=os.environ)
    assert helped.stdout.startswith("Usage:\n  bellwire-tray [OPTION…]")
    # The other role may run beside it, but not on its files: who started it from a menu sees a window that says so.
    arguments = [f"--state-dir={house.state_dir}", f"--relay-url={house.relay}"]
    other = house.session.run(program, "--desktop", *arguments)
    other.error_line("bellwire-tray: .*in use")
    dialog = house.session.until_open("Error")
    dialog.until_says("Bellwire cannot start")
    dialog.press("Close")
    assert other.wait() == 1
    assert tray.program.process.poll() is None


# The desktop


def test_the_desktop_side_pairs_asks_sends_and_unpairs(house: House) -> None:
    house.state_dir = house.home / "desktop-tray"
    tray = house.tray("--desktop", "--background")
    tray.until(lambda: tray.has("No device is paired"))
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.until_says("Or type ")
    phone = house.host("device", "Phone")
    phone.call("bw_pairing_scan", house.session.read_code(), 15_000)
    window.until_says("Paired with Phone")
    tray.until(lambda: tray.has("Phone – seen "))
    # The other way round: the person at the desktop is asked.
    tablet = house.host("device", "Tablet")
    window.press("Read")
    window.write("Text of the pairing code", tablet.call("bw_pairing_show", 10_000)["payload"])
    window.press("Pair")
    window.until_says("Pair with Tablet?")
    house.session.keep_picture("tray-desktop-asks")
    window.press("Pair", index=1)
    window.until_says("Paired with Tablet")
    window.close()
    tray.click("Send a notification…")
    window = house.session.until_open("Send a notification")
    window.write("Title", "From the tray")
    window.write("Text", "Body")
    window.press("Send")
    for device in (phone, tablet):
        assert device.event("notification.received", title="From the tray")["body"] == "Body"
    window.until_says("Sent. 2 received it.")
    window.close()
    # What a device asks it to show is shown, as text, and counts.
    server = PlayedServer(house.session.bus, "actions", "body", "body-markup")
    phone.notification("send", {"title": "From the <phone>", "body": "<b>Hello</b>"})
    banner = server.shown("From the <phone>")
    assert banner["body"] == "&lt;b&gt;Hello&lt;/b&gt;"
    tray.until(lambda: tray.has("• From the <phone>"))
    server.tap(banner)
    window = house.session.until_open("History")
    # Its own count as well, until they are read.
    tray.until_unread(1)
    window.press("Mark all as read")
    tray.until_unread(0)
    window.close()
    server.end()
    tray.click("Quiet for an hour")
    tray.until(lambda: tray.icon == "bellwire-tray-quiet-0")
    assert phone.notification("get_settings")["quietHoursEnabled"] is True
    tray.click("end now")
    tray.until(lambda: tray.icon == "bellwire-tray-on-0")
    wait_until(lambda: phone.notification("get_settings")["quietHoursEnabled"] is False)
    tray.click("Pair…")
    window = house.session.until_open("Pair")
    window.press("Unpair Phone")
    window.press("Unpair Phone")
    tray.until(lambda: not tray.has("Phone – "))
    wait_until(lambda: phone.call("bw_pairing_list") == [])
