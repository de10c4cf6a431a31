"""A desktop environment for tray programs: a screen that nobody sees, with a real panel that hosts status notifiers, and
the tray program on it."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from desktopbus import SYSTEM_PYTHON, PrivateBus, missing_bus
from peers import Object
from programs import LIBRARY, ROOT, STAGE, Program, wait_until

SOURCES = ROOT / "examples/tray"
WIDTH, HEIGHT = 1100, 760

#: A panel at the top, with nothing on it but a clock's room and the status notifiers.
PANEL = """<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="{dark}"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="icon-size" type="uint" value="0"/>
      <property name="size" type="uint" value="30"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
        <value type="int" value="2"/>
        <value type="int" value="3"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-2" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
    </property>
    <property name="plugin-3" type="string" value="clock">
      <property name="digital-time-format" type="string" value="%H:%M"/>
      <property name="digital-layout" type="uint" value="3"/>
    </property>
  </property>
</channel>
"""


def missing_tray() -> str | None:
    """What the tests of the tray take and is not installed."""
    if bus := missing_bus():
        return bus
    programs = ["Xvfb", "xdotool", "xclip", "xprop", "import", "xfce4-panel", "xfwm4", "dunst", "make", "cmake"]
    missing = [name for name in programs if shutil.which(name) is None]
    packages = ["gtk+-3.0", "ayatana-appindicator3-0.1", "jansson"]
    missing += [name for name in packages if subprocess.run(["pkg-config", "--exists", name], check=False).returncode]
    return f"not installed: {', '.join(missing)}" if missing else None


def qr_image(text: str, path: Path) -> Path:
    """An image of a code, drawn by the library."""
    library = ctypes.CDLL(str(LIBRARY))
    png, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.bw_qr_png(text.encode(), 4, ctypes.byref(png), ctypes.byref(size)) == 0
    path.write_bytes(ctypes.string_at(png, size.value))
    library.bw_free(png)
    return path


def read_image(path: Path) -> list[str]:
    """The QR codes in an image, read by the library."""
    library = ctypes.CDLL(str(LIBRARY))
    texts = ctypes.c_void_p()
    if library.bw_qr_read(str(path).encode(), ctypes.byref(texts)) < 0:
        return []
    found: list[str] = json.loads(ctypes.string_at(texts.value or 0))
    library.bw_free(texts)
    return found


def build_tray(directory: Path, *variables: str) -> Path:
    """The program, built by its Makefile."""
    subprocess.run(
        ["make", "-s", "-j2", f"BUILD={directory}", f"PKG_CONFIG_PATH={STAGE}/lib/pkgconfig", *variables],
        cwd=SOURCES,
        check=True,
    )
    return directory / "bellwire-tray"


class Session:
    """A private session: bus, screen, panel, and whoever looks at them."""

    #: Not looked at by screen readers.
    UNREAD: ClassVar[dict[str, str]] = {"NO_AT_BRIDGE": "1"}

    def __init__(self, home: Path, dark: bool = True, pretty: bool = False) -> None:
        self.bus = PrivateBus()
        self.home = home
        self.runtime = home / "run"
        for directory in (self.runtime, home / "config/xfce4/xfconf/xfce-perchannel-xml", home / "data"):
            directory.mkdir(parents=True)
        self.runtime.chmod(0o700)
        channel = home / "config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml"
        channel.write_text(PANEL.format(dark=str(dark).lower()))
        self.display = self._start_screen()
        self.environment = {
            "DISPLAY": self.display,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XAUTHORITY": str(home / "none"),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "GTK_THEME": "Adwaita:dark" if dark else "Adwaita",
            # Nothing else of a desktop is looked for.
            "GDK_BACKEND": "x11",
            "GIO_USE_VFS": "local",
            "GSETTINGS_BACKEND": "memory",
            "XDG_CURRENT_DESKTOP": "XFCE",
        }
        self._can_start("org.xfce.Xfconf", str(next(Path("/usr/lib").glob("*/xfce4/xfconf/xfconfd"))))
        self._can_start("org.a11y.Bus", "/usr/libexec/at-spi-bus-launcher")
        self._eyes = self.run(SYSTEM_PYTHON, Path(__file__).with_name("tray_eyes.py"))
        self._looking = threading.Lock()
        self.panel: Program | None = None
        self.manager = self.run("xfwm4", f"--compositor={'on' if pretty else 'off'}", **self.UNREAD)
        wait_until(lambda: "window id" in self.tool("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), 20)

    def _can_start(self, name: str, program: str) -> None:
        script = self.bus.directory / f"{name}.sh"
        exports = "".join(f"export {name}='{value}'\n" for name, value in self.environment.items())
        script.write_text(f"#!/bin/sh\n{exports}exec {program}\n")
        script.chmod(0o755)
        self.bus.can_start(name, script)

    def _start_screen(self) -> str:
        number, theirs = os.pipe()
        self._xvfb = subprocess.Popen(
            # It would begin anew, and refuse others meanwhile, whenever its last client leaves.
            [
                "Xvfb",
                *("-displayfd", str(theirs)),
                *("-screen", "0", f"{WIDTH}x{HEIGHT}x24"),
                *("-nolisten", "tcp", "-noreset"),
            ],
            pass_fds=[theirs],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        with os.fdopen(number) as said:
            display = said.readline().strip()
        assert display, "Xvfb has not started"
        return f":{display}"

    def run(self, *arguments: str | Path, **environment: str) -> Program:
        return self.bus.run(*arguments, **{**self.environment, **environment})

    def start_panel(self) -> None:
        self.panel = self.run("xfce4-panel", **self.UNREAD)
        wait_until(lambda: self.look("owner", name="org.kde.StatusNotifierWatcher") is not None, 20)

    def look(self, what: str, **arguments: Any) -> Any:
        """What tray_eyes.py sees."""
        with self._looking:
            self._eyes.write(json.dumps({"do": what, **arguments}) + "\n")
            answer: Object = json.loads(self._eyes.line("^{").string)
        if "error" in answer:
            raise LookupError(answer["error"])
        return answer["result"]

    def tool(self, *arguments: str | Path) -> str:
        return self.run_tool(*arguments).decode()

    def run_tool(self, *arguments: str | Path) -> bytes:
        environment = {**os.environ, **self.bus.environment, **self.environment}
        return subprocess.run(arguments, env=environment, check=True, capture_output=True, timeout=30).stdout

    def picture(self, path: Path) -> None:
        """Of the whole screen."""
        self.tool("import", "-window", "root", path)

    def keep_picture(self, name: str) -> None:
        """Where BELLWIRE_SCREENSHOTS says, if it does."""
        if directory := os.environ.get("BELLWIRE_SCREENSHOTS"):
            self.picture(Path(directory) / f"{name}.png")

    def restart_panel(self, meanwhile: Callable[[], Any]) -> None:
        """It dies, as panels do, and somebody starts it again."""
        assert self.panel is not None
        for pid in [self.panel.pid, *self._children(self.panel.pid)]:
            os.kill(pid, signal.SIGKILL)
        self.panel.process.wait(15)
        wait_until(lambda: self.look("owner", name="org.kde.StatusNotifierWatcher") is None)
        meanwhile()
        self.start_panel()

    @staticmethod
    def _children(pid: int) -> list[int]:
        """Those that run its plugins."""
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def until_owned(self, name: str) -> None:
        wait_until(lambda: self.look("owner", name=name) is not None, 15)

    def displayed(self) -> int:
        """The banners that dunst shows."""
        return int(self.tool("dunstctl", "count", "displayed"))

    def click_item(self) -> None:
        """On the icon of the panel: it stands beside the clock."""
        self.tool("xdotool", "mousemove", str(WIDTH - 52), "15", "click", "1")

    def colours(self) -> str:
        """A picture of the screen, as a number."""
        return self.tool("import", "-window", "root", "-depth", "8", "-format", "%#", "info:-")

    def open_menu(self) -> None:
        """Clicks on the icon until its menu is there; a panel may not have drawn the icon at the first click."""
        before = self._pixels()

        def is_open() -> bool:
            # Far more than a tip, the clock or the lit icon.
            changed = sum(old != new for old, new in zip(before, self._pixels(), strict=True))
            return changed > 100 * 200

        def opens() -> bool:
            self.click_item()
            try:
                wait_until(is_open, 5)
            except AssertionError:
                return False
            return True

        wait_until(opens, 30)

    def _pixels(self) -> bytes:
        """One byte for each."""
        return self.run_tool("import", "-window", "root", "-depth", "8", "gray:-")

    def read_code(self) -> str:
        """The QR code on the screen, as a camera sees it."""
        picture = self.home / "screen.png"
        found: list[str] = []

        def is_there() -> bool:
            self.picture(picture)
            found[:] = read_image(picture)
            return bool(found)

        wait_until(is_there, 15)
        return found[0]

    @staticmethod
    def command_of(entry: Path) -> list[str]:
        """What a .desktop file starts, as a session reads it."""
        line = re.search(r"^Exec=(.*)$", entry.read_text(), re.MULTILINE)
        assert line is not None
        return [each.replace("%%", "%") for each in shlex.split(line[1].replace("\\\\", "\\"))]

    def until_open(self, title: str, timeout: float = 15) -> Window:
        wait_until(lambda: title in self.look("windows"), timeout)
        return Window(self, title)

    def copy(self, kind: str, content: Path) -> None:
        """Puts a file's content on the clipboard."""
        selection = ["xclip", "-selection", "clipboard", "-t", kind, "-i", str(content)]
        environment = {**os.environ, **self.environment}
        # It stays, to hand it out, until something else is on the clipboard.
        subprocess.run(selection, env=environment, check=True, timeout=15, stdout=subprocess.DEVNULL)

    def close(self) -> None:
        self.bus.close()
        self._xvfb.terminate()
        self._xvfb.wait(15)


class Window:
    """A window, as it is read out."""

    def __init__(self, session: Session, title: str) -> None:
        self.session, self.title = session, title

    @property
    def widgets(self) -> list[Object]:
        found: list[Object] = self.session.look("window", title=self.title)
        return found

    @property
    def texts(self) -> list[str]:
        """Of all labels."""
        return [each["text"] for each in self.widgets if each["role"] == "label" and each["text"]]

    def rows(self) -> list[str]:
        """The names of the rows of its list."""
        return [each["name"] for each in self.widgets if each["role"] == "list item"]

    def says(self, text: str) -> bool:
        return any(text in each for each in self.texts)

    def until(self, is_so: Callable[[], bool], timeout: float = 15) -> None:
        def is_it_so() -> bool:
            try:
                return is_so()
            except LookupError:
                return False  # not there yet, or gone in the moment of looking

        try:
            wait_until(is_it_so, timeout)
        except AssertionError:
            said = [(each["name"], each["text"]) for each in self.widgets if each["name"] or each["text"]]
            raise AssertionError(f"{self.title} has {said}") from None

    def until_says(self, text: str, timeout: float = 15) -> None:
        self.until(lambda: self.says(text), timeout)

    def widget(self, name: str) -> Object:
        """The first widget of that name that is no label."""
        for each in self.widgets:
            if each["name"] == name and each["role"] != "label":
                return each
        raise LookupError(name)

    def press(self, name: str, index: int = 0) -> None:
        """The button of that name, once it can be pressed; index: of several."""
        self.until(lambda: bool(self.session.look("press", title=self.title, name=name, index=index)))

    def write(self, name: str, text: str) -> None:
        """Into the field of that name, once it is there."""
        self.until(lambda: bool(self.session.look("write", title=self.title, name=name, text=text)))

    def activate(self) -> None:
        """Gives it the keyboard."""
        self.session.tool(
            "xdotool", "search", "--sync", "--onlyvisible", "--name", f"^{self.title}$", "windowactivate", "--sync"
        )

    def close(self) -> None:
        self.press("Close")
        wait_until(lambda: self.title not in self.session.look("windows"))


class Tray:
    """A running tray program, as the person at the panel sees it."""

    def __init__(self, session: Session, program: Path, *arguments: str | Path, **environment: str) -> None:
        self.session = session
        self.program = session.run(program, *arguments, **environment)
        self._item: str | None = None

    def until_shown(self, timeout: float = 20) -> None:
        """Its icon is registered with the panel."""

        def is_there() -> bool:
            for item in self.session.look("items"):
                if self.session.bus.process(item.split("/")[0]) == self.program.pid:
                    self._item = item
                    return True
            assert self.program.process.poll() is None, self.program.err.all
            return False

        wait_until(is_there, timeout)

    @property
    def item(self) -> Object:
        found: Object = self.session.look("item", of=self._item)
        return found

    @property
    def icon(self) -> str:
        """Its name: bellwire-tray-<state>-<count>."""
        return str(self.item["IconName"])

    @property
    def menu(self) -> list[Object]:
        """The entries that can be seen."""
        entries: list[Object] = self.session.look("menu", of=self._item)
        return [each for each in entries if each.get("visible", True)]

    @property
    def labels(self) -> list[str]:
        """Without the marks that keep a direction of writing, and with underscores as they are shown."""
        labels = (str(each["label"]) for each in self.menu if "label" in each)
        return [re.sub("[\u2066-\u2069]", "", label).replace("__", "_") for label in labels]

    def entry(self, label: str) -> Object:
        """The entry whose label has that in it."""
        for each in self.menu:
            if label in re.sub("[\u2066-\u2069]", "", str(each.get("label", ""))).replace("__", "_"):
                return each
        raise AssertionError(f"no entry {label!r} in {self.labels}")

    def has(self, label: str) -> bool:
        return any(label in each for each in self.labels)

    def click(self, label: str) -> None:
        self.session.look("click", of=self._item, entry=self.entry(label)["id"])

    def until(self, is_so: Callable[[], bool], timeout: float = 15) -> None:
        try:
            wait_until(is_so, timeout)
        except AssertionError:
            raise AssertionError(f"{self.icon} {self.labels}\n" + "\n".join(self.program.err.all[-10:])) from None

    def until_unread(self, count: int) -> None:
        self.until(lambda: self.icon.endswith(f"-{count}"))

    def end(self) -> int:
        return self.program.end(signal.SIGTERM)
