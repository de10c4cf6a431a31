#!/usr/bin/python3
"""Plays the part of a desktop environment that shows notifications, on the bus that the environment names.

    notification_server.py {"name": "org.freedesktop.Notifications", "capabilities": […]}
    notification_server.py {"name": "org.gtk.Notifications"}

Runs under the system's Python, which has D-Bus. It says on standard output what it was asked to show, and does what
standard input says, both a JSON object a line; it ends with its input, and with the bus.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

FREEDESKTOP = "org.freedesktop.Notifications"
GTK = "org.gtk.Notifications"
PROPERTIES = "org.freedesktop.DBus.Properties"
BADGE = "com.canonical.Unity.LauncherEntry"
EXPIRED, DISMISSED, CLOSED = 1, 2, 3


def plain(value: Any) -> Any:
    """A D-Bus value as JSON."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (bool, dbus.Boolean)):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else str(value)


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


class Freedesktop(dbus.service.Object):  # type: ignore[misc]
    """The server of the specification: shows nothing, and knows what it would show."""

    def __init__(self, connection: Any, capabilities: list[str]) -> None:
        super().__init__(connection, "/org/freedesktop/Notifications")
        self.capabilities = capabilities
        self.last = 0
        self.open: set[int] = set()
        #: How many it shows at a time, and how long each takes it, in seconds.
        self.capacity = 1_000_000
        self.pace = 0.0
        #: Whether notifications are held back; None = it does not say.
        self.inhibited: bool | None = None

    @dbus.service.method(FREEDESKTOP, in_signature="", out_signature="ssss")  # type: ignore[misc]
    def GetServerInformation(self) -> tuple[str, str, str, str]:
        return "played", "tests", "1", "1.2"

    @dbus.service.method(FREEDESKTOP, in_signature="", out_signature="as")  # type: ignore[misc]
    def GetCapabilities(self) -> Any:
        return dbus.Array(self.capabilities, signature="s")

    @dbus.service.method(FREEDESKTOP, in_signature="susssasa{sv}i", out_signature="u")  # type: ignore[misc]
    def Notify(
        self, program: Any, replaces: Any, icon: Any, title: Any, body: Any, actions: Any, hints: Any, expires: Any
    ) -> Any:
        time.sleep(self.pace)
        number = int(replaces)
        if number not in self.open:
            if len(self.open) >= self.capacity:
                raise dbus.DBusException(
                    "too many notifications", name="org.freedesktop.Notifications.MaxNotificationsExceeded"
                )
            self.last += 1
            number = self.last
        self.open.add(number)
        say(
            shows=number,
            replaces=int(replaces),
            program=str(program),
            icon=str(icon),
            title=str(title),
            body=str(body),
            actions=dict(zip(plain(actions[1::2]), plain(actions[::2]))),
            hints=plain(hints),
            expires=int(expires),
        )
        return dbus.UInt32(number)

    @dbus.service.method(FREEDESKTOP, in_signature="u", out_signature="")  # type: ignore[misc]
    def CloseNotification(self, number: Any) -> None:
        if int(number) not in self.open:
            raise dbus.DBusException("no such notification", name="org.freedesktop.DBus.Error.InvalidArgs")
        say(takes_away=int(number))
        self.do_end(int(number), CLOSED)

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")  # type: ignore[misc]
    def Get(self, interface: Any, name: Any) -> Any:
        if (str(interface), str(name)) != (FREEDESKTOP, "Inhibited") or self.inhibited is None:
            raise dbus.DBusException("no such property", name="org.freedesktop.DBus.Error.UnknownProperty")
        return dbus.Boolean(self.inhibited)

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")  # type: ignore[misc]
    def PropertiesChanged(self, interface: str, changed: Any, invalidated: Any) -> None:
        pass

    @dbus.service.signal(FREEDESKTOP, signature="uu")  # type: ignore[misc]
    def NotificationClosed(self, number: int, reason: int) -> None:
        pass

    @dbus.service.signal(FREEDESKTOP, signature="us")  # type: ignore[misc]
    def ActionInvoked(self, number: int, key: str) -> None:
        pass

    @dbus.service.signal(FREEDESKTOP, signature="us")  # type: ignore[misc]
    def NotificationReplied(self, number: int, text: str) -> None:
        pass

    def do_limit(self, capacity: int, pace: float) -> None:
        self.capacity, self.pace = capacity, pace

    # What the person does

    def do_end(self, number: int, reason: int) -> None:
        self.open.discard(number)
        self.NotificationClosed(dbus.UInt32(number), dbus.UInt32(reason))

    def do_inhibit(self, on: bool) -> None:
        self.inhibited = on
        self.PropertiesChanged(FREEDESKTOP, dbus.Dictionary({"Inhibited": on}, signature="sv"), [])

    def do_press(self, number: int, key: str) -> None:
        self.ActionInvoked(dbus.UInt32(number), key)
        self.do_end(number, DISMISSED)

    def do_claim(self, number: int, key: str) -> None:
        """Says that an action was invoked, and no more."""
        self.ActionInvoked(dbus.UInt32(number), key)

    def do_reply(self, number: int, text: str) -> None:
        self.NotificationReplied(dbus.UInt32(number), text)
        self.do_end(number, DISMISSED)


class Gtk(dbus.service.Object):  # type: ignore[misc]
    """GNOME's own: a tap is a call to the program, which the bus starts for it."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, "/org/gtk/Notifications")
        self.open: dict[tuple[str, str], dict[str, Any]] = {}

    @dbus.service.method(GTK, in_signature="ssa{sv}", out_signature="")  # type: ignore[misc]
    def AddNotification(self, program: Any, identity: Any, notification: Any) -> None:
        self.open[(str(program), str(identity))] = notification
        say(shows=str(identity), program=str(program), **plain(notification))

    @dbus.service.method(GTK, in_signature="ss", out_signature="")  # type: ignore[misc]
    def RemoveNotification(self, program: Any, identity: Any) -> None:
        if self.open.pop((str(program), str(identity)), None) is not None:
            say(takes_away=str(identity))

    def do_press(self, program: str, number: str, button: str | None = None) -> None:
        shown = self.open.pop((program, number))
        action, target = shown.get("default-action"), shown.get("default-action-target")
        if button is not None:
            found = next(each for each in shown["buttons"] if each["label"] == button)
            action, target = found["action"], found.get("target")
        scope, name = str(action).split(".", 1)
        assert scope == "app", action
        self.connection.call_async(
            program,
            "/" + program.replace(".", "/").replace("-", "_"),
            "org.freedesktop.Application",
            "ActivateAction",
            "sava{sv}",
            (name, [target], {}),
            lambda *_: say(activated=name),
            lambda error: say(failed=str(error)),
        )


class Part:
    """This process: one server, and a dock that sees the badges."""

    def __init__(self, name: str, capabilities: list[str] | None = None) -> None:
        self.connection = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        self.server = Gtk(self.connection) if name == GTK else Freedesktop(self.connection, capabilities or [])
        self.connection.add_signal_receiver(self.badge, "Update", BADGE)
        # A newer one takes the name, as with "dunst" after "mako".
        self.connection.request_name(name, dbus.bus.NAME_FLAG_ALLOW_REPLACEMENT | dbus.bus.NAME_FLAG_REPLACE_EXISTING)
        self.loop = GLib.MainLoop()
        self.connection.call_on_disconnection(lambda _: self.loop.quit())
        self.rest = b""

    def badge(self, program: Any, properties: Any) -> None:
        say(badge=plain(properties), of=str(program))

    def obey(self, *_: Any) -> bool:
        got = os.read(0, 65_536)
        if not got:
            self.loop.quit()
            return False
        *lines, self.rest = (self.rest + got).split(b"\n")
        for line in lines:
            command = json.loads(line)
            getattr(self.server, "do_" + command.pop("do"))(**command)
        return True

    def run(self) -> None:
        say(ready=str(self.connection.get_unique_name()))
        # A server that the bus has started has no input.
        if "DBUS_STARTER_ADDRESS" not in os.environ:
            GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, self.obey)
        self.loop.run()


if __name__ == "__main__":
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    Part(**json.loads(sys.argv[1])).run()
