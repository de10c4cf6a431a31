#!/usr/bin/python3
"""Plays services on a private bus: Avahi, logind, the Secret Service, notifications, or one that answers anything.

    services.py ADDRESS [NAME]

NAME is owned from the beginning; so the bus itself can start it, and it ends with the bus. Each line of standard input is a command, each line of standard output says what happened, both as JSON objects.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import _dbus_bindings
import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib


class Refusal(Exception):
    """An error reply; its text is the error's name."""


def typed(signature: str, value: Any) -> Any:
    """What JSON cannot say: bytes of arrays of bytes are texts there."""
    if signature == "ay":
        return dbus.ByteArray(value.encode("latin-1"))
    if signature == "aay":
        return dbus.Array([dbus.ByteArray(entry.encode("latin-1")) for entry in value], signature="ay")
    if signature.startswith("("):
        return tuple(typed(part, entry) for part, entry in zip(split(signature[1:-1]), value))
    return value


def split(signature: str) -> list[str]:
    return [str(part) for part in dbus.Signature(signature)]


def plain(value: Any) -> Any:
    """A D-Bus value as JSON."""
    if isinstance(value, (dbus.Array, list, tuple)):
        if isinstance(value, dbus.Array) and value.signature == "y":
            return "".join(chr(int(byte)) for byte in value)
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (dbus.Boolean, bool)):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return str(value)


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


class Services:
    def __init__(self, address: str) -> None:
        self.connection = dbus.bus.BusConnection(address)
        self.connection.add_message_filter(self.take)
        #: What a method answers instead: {"signature","args"}, {"error"}, {"silent"}, {"repeat"}
        self.overrides: dict[str, dict[str, Any]] = {}
        # Avahi
        self.found: dict[tuple[int, int, str], dict[str, Any]] = {}
        self.browser = ""
        self.taken: set[str] = set()
        self.count = 0
        # logind
        self.locks: list[int] = []
        # secrets
        self.secrets: dict[str, tuple[dict[str, str], bytes]] = {}
        self.locked = False
        self.prompts = False
        # notifications
        self.capabilities: list[str] = ["actions", "body"]
        self.spec = "1.2"
        self.banners: set[int] = set()
        self.banner = 0
        self.capacity = 1_000_000

    # Commands of the test

    def obey(self, command: dict[str, Any]) -> None:
        getattr(self, "do_" + command.pop("do"))(**command)

    def do_own(self, name: str) -> None:
        self.connection.request_name(name)
        say(owns=name)

    def do_release(self, name: str) -> None:
        self.connection.release_name(name)
        self.browser = ""
        say(released=name)

    def do_override(self, method: str, **answer: Any) -> None:
        self.overrides[method] = answer
        say(overridden=method)

    def do_plainly(self, method: str) -> None:
        """Ends an override."""
        del self.overrides[method]
        say(plain=method)

    def do_set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, set(value) if name in ("taken", "banners") else value)
        say(set=sorted(values))

    def do_signal(
        self,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        args: list[Any] | None = None,
        destination: str | None = None,
        repeat: int = 1,
    ) -> None:
        args = [typed(part, value) for part, value in zip(split(signature), args or [])]
        for _ in range(repeat):
            message = dbus.lowlevel.SignalMessage(path, interface, member)
            message.append(*args, signature=signature)
            if destination:
                message.set_destination(destination)
            self.connection.send_message(message)
        self.connection.flush()
        say(signalled=member)

    def do_service(self, interface: int, protocol: int, name: str, **answer: Any) -> None:
        self.found[(interface, protocol, name)] = answer
        if self.browser:
            self.item("ItemNew", interface, protocol, name)
        say(service=name)

    def do_remove(self, interface: int, protocol: int, name: str) -> None:
        del self.found[(interface, protocol, name)]
        self.item("ItemRemove", interface, protocol, name)
        say(removed=name)

    def do_sleep(self, before: bool) -> None:
        self.do_signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", [before])

    def do_lock_closed(self) -> None:
        """Waits for the other end of the newest lock to be closed."""
        descriptor = self.locks.pop()

        def closed(*_: Any) -> bool:
            os.close(descriptor)
            say(lock="closed")
            return False

        GLib.io_add_watch(descriptor, GLib.IO_HUP | GLib.IO_IN, closed)

    # Calls of the library

    def take(self, _connection: Any, message: Any) -> int:
        if not isinstance(message, dbus.lowlevel.MethodCallMessage):
            return int(_dbus_bindings.HANDLER_RESULT_NOT_YET_HANDLED)
        method = f"{message.get_interface()}.{message.get_member()}"
        args = message.get_args_list()
        say(call=method, path=message.get_path(), args=plain(args), sender=message.get_sender())
        try:
            override = self.overrides.get(method)
            if override is not None:
                if override.get("silent"):
                    return int(_dbus_bindings.HANDLER_RESULT_HANDLED)
                if "error" in override:
                    raise Refusal(override["error"])
                signature = override["signature"]
                parts = split(signature)
                values = [typed(part, value) for part, value in zip(parts, override["args"])]
                if "repeat" in override:
                    values = [value * override["repeat"] for value in values]
            else:
                handler = getattr(self, message.get_member(), None)
                if handler is None:
                    raise Refusal("org.freedesktop.DBus.Error.UnknownMethod")
                signature, values = handler(message, *args)
            reply = dbus.lowlevel.MethodReturnMessage(message)
            reply.append(*values, signature=signature)
        except Refusal as refusal:
            reply = dbus.lowlevel.ErrorMessage(message, str(refusal), "a text of the service's own")
        if override is not None and "delay" in override:
            GLib.timeout_add(override["delay"], lambda: self.connection.send_message(reply) is None)
        else:
            self.connection.send_message(reply)
        return int(_dbus_bindings.HANDLER_RESULT_HANDLED)

    # Avahi

    def GetState(self, _message: Any) -> tuple[str, list[Any]]:
        return "i", [2]

    def ServiceBrowserNew(self, message: Any, *_: Any) -> tuple[str, list[Any]]:
        self.count += 1
        self.browser = f"/Client0/ServiceBrowser{self.count}"
        self.client = message.get_sender()
        GLib.idle_add(self.tell_all)
        return "o", [self.browser]

    def tell_all(self) -> bool:
        for key in list(self.found):
            self.item("ItemNew", *key)
        self.do_signal(self.browser, "org.freedesktop.Avahi.ServiceBrowser", "AllForNow", destination=self.client)
        return False

    def item(self, member: str, interface: int, protocol: int, name: str) -> None:
        self.do_signal(
            self.browser,
            "org.freedesktop.Avahi.ServiceBrowser",
            member,
            "iisssu",
            [interface, protocol, name, "_chainlesschain-signaling._tcp", "local", 0],
            self.client,
        )

    def ResolveService(
        self, _message: Any, interface: int, protocol: int, name: str, kind: str, domain: str, *_: Any
    ) -> tuple[str, list[Any]]:
        answer = self.found.get((int(interface), int(protocol), str(name)))
        if answer is None or "error" in answer:
            raise Refusal("org.freedesktop.Avahi.TimeoutError")
        return "iissssisqaayu", [
            interface,
            protocol,
            name,
            kind,
            domain,
            "desk.local",
            protocol,
            answer["address"],
            answer["port"],
            typed("aay", answer.get("txt", [])),
            answer.get("flags", 0),
        ]

    def EntryGroupNew(self, message: Any) -> tuple[str, list[Any]]:
        self.count += 1
        self.client = message.get_sender()
        return "o", [f"/Client0/EntryGroup{self.count}"]

    def AddService(
        self, message: Any, _interface: int, _protocol: int, _flags: int, name: str, *_: Any
    ) -> tuple[str, list[Any]]:
        if name in self.taken:
            raise Refusal("org.freedesktop.Avahi.CollisionError")
        return "", []

    def Commit(self, message: Any) -> tuple[str, list[Any]]:
        path = message.get_path()
        GLib.idle_add(
            lambda: self.do_signal(path, "org.freedesktop.Avahi.EntryGroup", "StateChanged", "is", [2, ""], self.client)
        )
        return "", []

    def Reset(self, _message: Any) -> tuple[str, list[Any]]:
        return "", []

    def Free(self, _message: Any) -> tuple[str, list[Any]]:
        return "", []

    def GetAlternativeServiceName(self, _message: Any, name: str) -> tuple[str, list[Any]]:
        return "s", [f"{name} #2"]

    # logind

    def Inhibit(self, _message: Any, what: str, who: str, why: str, mode: str) -> tuple[str, list[Any]]:
        ours, theirs = os.pipe()
        self.locks.append(ours)
        descriptor = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return "h", [descriptor]

    # Notifications, the specification's and GNOME's

    def GetServerInformation(self, _message: Any) -> tuple[str, list[Any]]:
        return "ssss", ["mock", "test", "1", self.spec]

    def GetCapabilities(self, _message: Any) -> tuple[str, list[Any]]:
        return "as", [self.capabilities]

    def Notify(self, _message: Any, _program: str, replaced: int, *_: Any) -> tuple[str, list[Any]]:
        if replaced in self.banners:
            return "u", [replaced]
        if len(self.banners) >= self.capacity:
            raise Refusal("org.freedesktop.Notifications.MaxNotificationsExceeded")
        self.banner += 1
        self.banners.add(self.banner)
        return "u", [self.banner]

    def CloseNotification(self, _message: Any, number: int) -> tuple[str, list[Any]]:
        if number not in self.banners:
            raise Refusal("org.freedesktop.DBus.Error.InvalidArgs")
        GLib.idle_add(lambda: self.end(number, 3))
        return "", []

    def end(self, number: int, reason: int) -> bool:
        self.banners.discard(number)
        self.do_signal(
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications",
            "NotificationClosed",
            "uu",
            [number, reason],
        )
        return False

    def AddNotification(self, _message: Any, *_: Any) -> tuple[str, list[Any]]:
        return "", []

    def RemoveNotification(self, _message: Any, *_: Any) -> tuple[str, list[Any]]:
        return "", []

    # Secrets

    def OpenSession(self, _message: Any, algorithm: str, _input: Any) -> tuple[str, list[Any]]:
        if algorithm != "plain":
            raise Refusal("org.freedesktop.DBus.Error.NotSupported")
        return "vo", [dbus.String("", variant_level=1), "/org/freedesktop/secrets/session/s1"]

    def ReadAlias(self, _message: Any, _name: str) -> tuple[str, list[Any]]:
        return "o", ["/org/freedesktop/secrets/collection/login"]

    def Get(self, _message: Any, _interface: str, name: str) -> tuple[str, list[Any]]:
        return "v", [dbus.Boolean(self.locked, variant_level=1)]

    def Unlock(self, _message: Any, objects: list[str]) -> tuple[str, list[Any]]:
        if self.prompts:
            return "aoo", [[], "/org/freedesktop/secrets/prompt/p1"]
        self.locked = False
        return "aoo", [objects, "/"]

    def SearchItems(self, _message: Any, attributes: dict[str, str]) -> tuple[str, list[Any]]:
        wanted = {str(key): str(value) for key, value in attributes.items()}
        paths = [path for path, (own, _) in self.secrets.items() if wanted.items() <= own.items()]
        return "aoao", [[], paths] if self.locked else [paths, []]

    def CreateItem(self, message: Any, properties: dict[str, Any], secret: Any, replace: bool) -> tuple[str, list[Any]]:
        if self.locked:
            raise Refusal("org.freedesktop.Secret.Error.IsLocked")
        own = {str(key): str(value) for key, value in properties["org.freedesktop.Secret.Item.Attributes"].items()}
        for path, (other, _) in list(self.secrets.items()):
            if replace and own == other:
                del self.secrets[path]
        self.count += 1
        path = f"/org/freedesktop/secrets/collection/login/{self.count}"
        self.secrets[path] = (own, bytes(secret[2]))
        return "oo", [path, "/"]

    def GetSecret(self, message: Any, session: str) -> tuple[str, list[Any]]:
        _, value = self.secrets[message.get_path()]
        return "(oayays)", [
            (dbus.ObjectPath(session), dbus.ByteArray(b""), dbus.ByteArray(value), "application/octet-stream")
        ]

    def Delete(self, message: Any) -> tuple[str, list[Any]]:
        del self.secrets[message.get_path()]
        return "o", ["/"]


def main() -> None:
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    services = Services(sys.argv[1])
    loop = GLib.MainLoop()

    rest = b""

    def command(*_: Any) -> bool:
        nonlocal rest
        # Not through a buffered file: a line that waits in it would be one that no poll tells of.
        got = os.read(0, 65536)
        if not got:
            if len(sys.argv) < 3:
                loop.quit()
            return False
        *lines, rest = (rest + got).split(b"\n")
        for line in lines:
            services.obey(json.loads(line))
        return True

    GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, command)
    services.connection.call_on_disconnection(lambda _: loop.quit())
    if len(sys.argv) > 2:
        services.do_own(sys.argv[2])
    say(ready=services.connection.get_unique_name())
    loop.run()


if __name__ == "__main__":
    main()
