"""Looks at a tray program over the session's bus: as a panel does, at its icon's properties and its menu, which it can
click; and as a screen reader does, at its windows, whose widgets it can use by the names that are read out. Run by the
system's Python, which has GLib's binding; a JSON object a line comes in and goes out.

    {"do": "items"}                 the registered items, [] without a panel
    {"do": "item", "of": name}      its properties
    {"do": "menu", "of": name}      its menu's entries
    {"do": "click", "of": name, "entry": id}
    {"do": "owner", "name": name}   who has a name on the bus, or null
    {"do": "windows"}               the titles of the windows that can be seen
    {"do": "window", "title": title}            what can be seen in it
    {"do": "press", "title": title, "name": name, "index"?: of those with that name}
    {"do": "write", "title": title, "name": name, "text": text}
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import gi  # type: ignore[import-untyped,import-not-found,unused-ignore]

gi.require_version("Atspi", "2.0")

from gi.repository import Atspi, Gio, GLib  # type: ignore[import-untyped,import-not-found,unused-ignore]

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

    # As a screen reader

    def frames(self) -> list[Any]:
        desktop = Atspi.get_desktop(0)
        found = []
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            for number in range(application.get_child_count() if application else 0):
                frame = application.get_child_at_index(number)
                if frame and is_showing(frame):
                    found.append(frame)
        return found

    def widgets(self, title: str) -> list[Any]:
        """What can be seen in a window, in its order."""
        waiting = [frame for frame in self.frames() if frame.get_name() == title]
        found = []
        while waiting:
            widget = waiting.pop(0)
            try:
                children = [widget.get_child_at_index(index) for index in range(widget.get_child_count())]
                waiting[:0] = [child for child in children if child and is_showing(child)]
            except GLib.Error:
                continue  # it has gone meanwhile
            found.append(widget)
        return found

    def windows(self) -> list[str]:
        return [frame.get_name() for frame in self.frames()]

    def window(self, title: str) -> list[dict[str, Any]]:
        return [described(widget) for widget in self.widgets(title)]

    def named(self, title: str, name: str, interface: str, index: int = 0) -> Any:
        found = [
            widget
            for widget in self.widgets(title)
            if widget.get_name() == name
            and widget.get_state_set().contains(Atspi.StateType.SENSITIVE)
            and interface in widget.get_interfaces()
        ]
        if index >= len(found):
            raise LookupError(f"no {name!r} in {title!r}")
        return found[index]

    def press(self, title: str, name: str, index: int = 0) -> bool:
        return bool(Atspi.Action.do_action(self.named(title, name, "Action", index), 0))

    def write(self, title: str, name: str, text: str) -> bool:
        return bool(Atspi.EditableText.set_text_contents(self.named(title, name, "EditableText"), text))


def is_showing(widget: Any) -> bool:
    return bool(widget.get_state_set().contains(Atspi.StateType.SHOWING))


def described(widget: Any) -> dict[str, Any]:
    has_text = "Text" in widget.get_interfaces()
    return {
        "role": widget.get_role_name(),
        "name": widget.get_name(),
        "text": Atspi.Text.get_text(widget, 0, -1) if has_text else None,
        "sensitive": bool(widget.get_state_set().contains(Atspi.StateType.SENSITIVE)),
        "checked": bool(widget.get_state_set().contains(Atspi.StateType.CHECKED)),
        "focusable": bool(widget.get_state_set().contains(Atspi.StateType.FOCUSABLE)),
        "focused": bool(widget.get_state_set().contains(Atspi.StateType.FOCUSED)),
    }


def main() -> None:
    eyes = Eyes()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": getattr(eyes, request.pop("do"))(**request)}
        except (GLib.Error, LookupError) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
