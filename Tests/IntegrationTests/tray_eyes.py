"""Looks at a tray program over the session's bus, as a panel does: its icon's properties and its menu, which it can
click. Run by the system's Python, which has GLib's binding; a JSON object a line comes in and goes out.

    {"do": "items"}                 the registered items, [] without a panel
    {"do": "item", "of": name}      its properties
    {"do": "menu", "of": name}      its menu's entries
    {"do": "click", "of": name, "entry": id}
    {"do": "owner", "name": name}   who has a name on the bus, or null
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from gi.repository import Gio, GLib  # type: ignore[import-untyped,import-not-found,unused-ignore]

ITEM = "org.kde.StatusNotifierItem"
WATCHER = "org.kde.StatusNotifierWatcher"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"


class Eyes:
    def __init__(self) -> None:
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)

    def call(self, name: str, path: str, interface: str, member: str, arguments: Any = None) -> Any:
        reply = self.bus.call_sync(
            name, path, interface, member, arguments, None, Gio.DBusCallFlags.NO_AUTO_START, 5_000, None
        )
        return reply.unpack()

    def items(self) -> list[str]:
        arguments = GLib.Variant("(ss)", (WATCHER, "RegisteredStatusNotifierItems"))
        try:
            return list(self.call(WATCHER, "/StatusNotifierWatcher", PROPERTIES, "Get", arguments)[0])
        except GLib.Error:
            return []

    def item(self, of: str) -> dict[str, Any]:
        name, path = of.split("/", 1)
        found = self.call(name, "/" + path, PROPERTIES, "GetAll", GLib.Variant("(s)", (ITEM,)))[0]
        return {key: value for key, value in found.items() if isinstance(value, (str, int))}

    def menu(self, of: str) -> list[dict[str, Any]]:
        name = of.split("/", 1)[0]
        arguments = GLib.Variant("(iias)", (0, -1, []))
        _, (_, _, children) = self.call(name, self.item(of)["Menu"], MENU, "GetLayout", arguments)
        return [{"id": number, **properties} for number, properties, _ in children]

    def click(self, of: str, entry: int) -> None:
        name = of.split("/", 1)[0]
        arguments = GLib.Variant("(isvu)", (entry, "clicked", GLib.Variant("i", 0), 0))
        self.call(name, self.item(of)["Menu"], MENU, "Event", arguments)

    def owner(self, name: str) -> str | None:
        driver = "org.freedesktop.DBus"
        try:
            owner: str = self.call(driver, "/", driver, "GetNameOwner", GLib.Variant("(s)", (name,)))[0]
            return owner
        except GLib.Error:
            return None


def main() -> None:
    eyes = Eyes()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": getattr(eyes, request.pop("do"))(**request)}
        except GLib.Error as error:
            answer = {"error": error.message}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
