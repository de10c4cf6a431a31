"""A desktop environment of the test's own: a private session bus, notification servers on it, a screen with dunst."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from peers import Object
from programs import LIBRARY, ROOT, Program

SYSTEM_PYTHON = "/usr/bin/python3"
MULTIARCH = sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu"
FREEDESKTOP = "org.freedesktop.Notifications"
GTK = "org.gtk.Notifications"
EXPIRED, DISMISSED = 1, 2


def missing_bus() -> str | None:
    """What a private bus with played services takes and is not installed."""
    if shutil.which("dbus-daemon") is None:
        return "dbus-daemon is not installed"
    found = subprocess.run([SYSTEM_PYTHON, "-c", "import dbus, gi.repository.GLib"], capture_output=True)
    return "python3-dbus or python3-gi is not installed" if found.returncode else None


def missing_screen() -> str | None:
    programs = [name for name in ("dunst", "Xvfb", "xdotool", "import") if shutil.which(name) is None]
    return f"not installed: {', '.join(programs)}" if programs else None


CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={directory}/bus</listen>
  <servicedir>{directory}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class PrivateBus:
    """A session bus that nobody else knows."""

    def __init__(self) -> None:
        # Not below pytest's directories: the path of a socket is short.
        self.directory = Path(tempfile.mkdtemp(prefix="bellwire-bus-"))
        (self.directory / "services").mkdir()
        (self.directory / "configuration").write_text(CONFIGURATION.format(directory=self.directory))
        self.address = f"unix:path={self.directory}/bus"
        self.programs: list[Program] = []
        self.daemon: Program | None = None
        self.start()

    @property
    def environment(self) -> dict[str, str]:
        return {"DBUS_SESSION_BUS_ADDRESS": self.address}

    def start(self) -> None:
        configuration = f"--config-file={self.directory / 'configuration'}"
        self.daemon = self.run("dbus-daemon", configuration, "--nofork", "--nopidfile", "--print-address=1")
        self.daemon.line("unix:")

    def stop(self) -> None:
        """The bus goes away, with all that were on it."""
        assert self.daemon is not None
        self.daemon.kill()

    def run(self, *arguments: str | Path, **environment: str) -> Program:
        program = Program(arguments, {**self.environment, **environment})
        self.programs.append(program)
        return program

    def can_start(self, name: str, *command: str | Path) -> None:
        """The bus starts this command when somebody calls that name."""
        line = " ".join(f"'{part}'" for part in command)
        (self.directory / f"services/{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={line}\n")
        self.call("ReloadConfig")

    def call(self, member: str, *arguments: str) -> str:
        """A method of the bus itself."""
        sent = subprocess.run(
            [
                "dbus-send",
                f"--bus={self.address}",
                "--print-reply=literal",
                "--dest=org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                f"org.freedesktop.DBus.{member}",
                *arguments,
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=20,
        )
        return sent.stdout

    @property
    def names(self) -> list[str]:
        """Who is on it; less the one that asks."""
        return [name for name in self.call("ListNames").split() if name.startswith(":")][:-1]

    def process(self, name: str) -> int:
        """The process that has that name."""
        return int(self.call("GetConnectionUnixProcessID", f"string:{name}").split()[-1])

    def close(self) -> None:
        for program in reversed(self.programs):
            if program.process.poll() is None:
                program.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class PlayedServer:
    """A notification server whose person is the test."""

    def __init__(self, bus: PrivateBus, *capabilities: str, name: str = FREEDESKTOP) -> None:
        part = json.dumps({"name": name, "capabilities": list(capabilities)})
        self.program = bus.run(SYSTEM_PYTHON, Path(__file__).with_name("notification_server.py"), part)
        self._changed = threading.Condition()
        self._new: list[Object] = []
        self.all: list[Object] = []
        self.program.line('"ready"')
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                line: str = self.program.out.next(lambda line: line, timeout=3_600)
            except AssertionError:
                return
            with self._changed:
                self._new.append(json.loads(line))
                self.all.append(self._new[-1])
                self._changed.notify_all()

    def wait(self, matches: Callable[[Object], Any], timeout: float = 15) -> Object:
        """The oldest of what it was told that matches, and was not waited for before."""
        with self._changed:
            found: list[Object] = []

            def is_there() -> bool:
                found.extend(line for line in self._new if matches(line))
                return bool(found)

            if not self._changed.wait_for(is_there, timeout):
                told = "\n".join(str(line)[:300] for line in self.all[-20:])
                errors = "\n".join(self.program.err.all[-20:])
                raise AssertionError(f"the server was not told so in {timeout} s, but:\n{told}\n{errors}")
            self._new.remove(found[0])
            return found[0]

    def shown(self, title: str, timeout: float = 15) -> Object:
        """The next banner of that title."""
        return self.wait(lambda line: "shows" in line and line["title"] == title, timeout)

    def taken_away(self, banner: Object) -> None:
        self.wait(lambda line: line.get("takes_away") == banner["shows"])

    def badge(self, count: int) -> Object:
        """Its dock shows that number."""
        return self.wait(lambda line: line.get("badge", {}).get("count") == count)

    @property
    def titles(self) -> list[str]:
        """Of all banners so far."""
        with self._changed:
            return [line["title"] for line in self.all if "shows" in line]

    # The person

    @staticmethod
    def _is_gtk(banner: Object) -> bool:
        """GNOME's banners have the program's own ids."""
        return isinstance(banner["shows"], str)

    def do(self, what: str, banner: Object, **arguments: Any) -> None:
        command = {"do": what, "number": banner["shows"], **arguments}
        if self._is_gtk(banner):
            command["program"] = banner["program"]
        self.program.write(json.dumps(command) + "\n")

    def tap(self, banner: Object) -> None:
        self.do("press", banner, **({} if self._is_gtk(banner) else {"key": "default"}))

    def press(self, banner: Object, button: str) -> None:
        self.do("press", banner, **({"button": button} if self._is_gtk(banner) else {"key": banner["actions"][button]}))

    def dismiss(self, banner: Object) -> None:
        self.do("end", banner, reason=DISMISSED)

    def expire(self, banner: Object) -> None:
        self.do("end", banner, reason=EXPIRED)

    def reply(self, banner: Object, text: str) -> None:
        self.do("reply", banner, text=text)

    def inhibit(self, on: bool) -> None:
        """Switches "do not disturb"."""
        self.program.write(json.dumps({"do": "inhibit", "on": on}) + "\n")

    def limit(self, capacity: int = 1_000_000, pace: float = 0) -> None:
        """How many banners it shows at a time, and how many seconds each takes it."""
        self.program.write(json.dumps({"do": "limit", "capacity": capacity, "pace": pace}) + "\n")

    def end(self) -> None:
        self.program.kill()


class StartedProgram:
    """A host of the library that the bus starts: its calls and events are files of a directory."""

    def __init__(self, bus: PrivateBus, name: str, options: Object) -> None:
        self._calls, self._events = bus.directory / f"{name}.calls", bus.directory / f"{name}.events"
        os.mkfifo(self._calls)
        hosting = [sys.executable, Path(__file__).with_name("hosting.py"), LIBRARY, ROOT / "include/bellwire.h"]
        quoted = " ".join(f"'{part}'" for part in [*hosting, "device", json.dumps(options)])
        script = bus.directory / f"{name}.sh"
        script.write_text(f"#!/bin/sh\nexec {quoted} < '{self._calls}' > '{self._events}'\n")
        script.chmod(0o755)
        bus.can_start(name, script)

    @contextmanager
    def started(self) -> Iterator[Callable[[Object], None]]:
        """Speaks with it once the bus has started it, until the end of the block."""
        # Opening waits for the other side.
        descriptor = self._open_when_started()
        try:
            yield lambda line: _write(descriptor, line)
        finally:
            os.close(descriptor)

    def _open_when_started(self, timeout: float = 20) -> int:
        deadline = time.monotonic() + timeout
        while True:
            try:
                return os.open(self._calls, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                assert time.monotonic() < deadline, "the bus has started nothing"
                time.sleep(0.01)

    @property
    def events(self) -> list[Object]:
        """What it has said so far."""
        text = self._events.read_text() if self._events.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]


def _write(descriptor: int, line: Object) -> None:
    os.write(descriptor, json.dumps(line).encode() + b"\n")


#: Notification servers that people use, with their programs.
SERVERS = {
    "dunst": "/usr/bin/dunst",
    "xfce4-notifyd": f"/usr/lib/{MULTIARCH}/xfce4/notifyd/xfce4-notifyd",
    "notification-daemon": "/usr/lib/notification-daemon/notification-daemon",
}


class Screen:
    """A screen that nobody sees, with a notification server on it."""

    WIDTH, HEIGHT = 640, 480
    NORMAL, CRITICAL, TEXT = (0x20, 0x40, 0x60), (0x80, 0x20, 0x20), (0xFF, 0xFF, 0xFF)
    #: A point of the first banner.
    POINT = (300, 40)
    SETTINGS = """
[global]
    width = 560
    height = 400
    origin = top-left
    offset = 20x20
    font = DejaVu Sans 12
    format = "<b>%s</b>\\n%b"
    markup = full
    enable_recursive_icon_lookup = false
    mouse_left_click = do_action
    mouse_middle_click = close_current
    mouse_right_click = none
[urgency_low]
    background = "#204060"
    foreground = "#ffffff"
    timeout = 0
[urgency_normal]
    background = "#204060"
    foreground = "#ffffff"
    timeout = 0
[urgency_critical]
    background = "#802020"
    foreground = "#ffffff"
    timeout = 0
"""

    def __init__(self, bus: PrivateBus, server: str = "dunst") -> None:
        self._bus = bus
        home = Path(tempfile.mkdtemp(prefix="screen-", dir=bus.directory))
        (home / "dunstrc").write_text(self.SETTINGS)
        number, theirs = os.pipe()
        # Not run by Program: the number of the display comes through a descriptor.
        self._xvfb = subprocess.Popen(
            ["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{self.WIDTH}x{self.HEIGHT}x24", "-nolisten", "tcp"],
            pass_fds=[theirs],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        with os.fdopen(number) as said:
            display = said.readline().strip()
        assert display, "Xvfb has not started"
        # Fonts and icons are looked for where nobody's own settings are.
        here = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self._environment = {"DISPLAY": f":{display}", "LC_ALL": "C.UTF-8", "XAUTHORITY": str(home / "none"), **here}
        more = ["-config", home / "dunstrc"] if server == "dunst" else []
        if server == "xfce4-notifyd":
            bus.can_start("org.xfce.Xfconf", f"/usr/lib/{MULTIARCH}/xfce4/xfconf/xfconfd")
        self.dunst = bus.run(SERVERS[server], *more, **self._environment)

    def _tool(self, *arguments: str) -> bytes:
        environment = {**os.environ, **self._environment}
        return subprocess.run(arguments, env=environment, check=True, capture_output=True, timeout=30).stdout

    def pixels(self) -> bytes:
        """Red, green and blue of each, row by row."""
        pixels = self._tool("import", "-window", "root", "-depth", "8", "rgb:-")
        assert len(pixels) == 3 * self.WIDTH * self.HEIGHT
        return pixels

    def colours(self, keep: str | None = None) -> Counter[tuple[int, int, int]]:
        """The pixels of each colour. With a name the picture is kept in $BELLWIRE_SCREENSHOTS, if that is set."""
        pixels = self.pixels()
        if keep and (directory := os.environ.get("BELLWIRE_SCREENSHOTS")):
            self._tool("import", "-window", "root", f"{directory}/{keep}.png")
        return Counter(zip(pixels[::3], pixels[1::3], pixels[2::3]))

    def until(
        self, is_so: Callable[[Counter[tuple[int, int, int]]], bool], keep: str | None = None, timeout: float = 15
    ) -> Counter[tuple[int, int, int]]:
        """Looks until the screen is so."""
        deadline = time.monotonic() + timeout
        while True:
            colours = self.colours()
            if is_so(colours):
                return self.colours(keep) if keep else colours
            assert time.monotonic() < deadline, f"the screen has {colours.most_common(5)}\n{self.dunst.err.all[-10:]}"

    def changed(self, since: bytes) -> tuple[int, int, int, int] | None:
        """The box of the pixels that differ: left, top, right, bottom."""
        pixels = self.pixels()
        row = 3 * self.WIDTH
        rows = [y for y in range(self.HEIGHT) if pixels[y * row : (y + 1) * row] != since[y * row : (y + 1) * row]]
        if not rows:
            return None
        columns = [
            x
            for x in range(self.WIDTH)
            if any(
                pixels[y * row + 3 * x : y * row + 3 * x + 3] != since[y * row + 3 * x : y * row + 3 * x + 3]
                for y in rows
            )
        ]
        return columns[0], rows[0], columns[-1], rows[-1]

    def click(self, button: int, point: tuple[int, int] | None = None) -> None:
        horizontal, vertical = (str(number) for number in point or self.POINT)
        self._tool("xdotool", "mousemove", horizontal, vertical, "click", str(button))

    def close(self) -> None:
        self.dunst.end(signal.SIGTERM)
        self._xvfb.terminate()
        self._xvfb.wait(15)
