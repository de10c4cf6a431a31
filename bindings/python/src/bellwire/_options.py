"""The options of ``python -m bellwire send``: the fields of a notification."""

from __future__ import annotations

import argparse
from datetime import datetime, time, timedelta
from typing import Any, Callable

from . import PushFields


def positive(kind: Callable[[str], Any], least: float, most: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least:g} to {most:g}")
        return value

    return read


def pair_of(form: str) -> Callable[[str], tuple[str, str]]:
    """A reader of two texts with = between them."""

    def read(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return name, value

    return read


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def later(text: str) -> datetime:
    """A moment to come: in how long, such as 30m, or a local time; without a date, the next one."""
    now = datetime.now().astimezone()
    try:
        if text[-1:] in _UNITS and text[:-1].isdecimal():
            return now + timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])
        if "-" in text:
            return datetime.fromisoformat(text).astimezone()
        clock = time.fromisoformat(text)
        today = datetime.combine(now.date(), clock).astimezone()
        return today if today > now else datetime.combine(now.date() + timedelta(days=1), clock).astimezone()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f'{text!r} is not a time such as 30m, 18:00 or "2030-01-31 18:00"') from None


def add_push_fields(each: argparse.ArgumentParser) -> None:
    add = each.add_argument
    add("--at", type=later, metavar="WHEN", help='sends it then: in 30m, 2h or 1d, or at 18:00 or "2030-01-31 18:00"')
    add("--expires", type=later, metavar="WHEN", help="devices that have not received it by then don't get it")
    add("--collapse", metavar="KEY", help="replaces the last notification with this key")
    add("--subtitle", metavar="TEXT", help="a second, shorter title of the alert")
    add("--image", metavar="URL", help="an https image for the alert")
    add("--link", metavar="URL", help="a link that is passed to the program on the device")
    add("--category", metavar="NAME", help="the device's alert category, which defines the alert's buttons")
    said = "a link that bellwire-tray shows as a button; up to three"
    add("--button", type=pair_of("LABEL=URL"), action="append", default=[], metavar="LABEL=URL", help=said)
    add("--thread", metavar="NAME", help="alerts with the same name are grouped")
    add("--sound", metavar="NAME", help="default, or a name from the device's sound theme")
    add("--badge", type=positive(int, 0, 2**31 - 1), metavar="N", help="the number on the program's icon")
    add("--silent", action="store_true", help="stores it in the histories and inboxes without showing an alert")
    said = "a member of its data, for the program on the device; may be given several times"
    add("--data", type=pair_of("NAME=TEXT"), action="append", default=[], metavar="NAME=TEXT", help=said)


def push_fields(arguments: argparse.Namespace) -> PushFields:
    """The options of ``send`` that both of its calls take."""
    return {
        "priority": arguments.priority,
        "respect_quiet_hours": not arguments.ignore_quiet_hours,
        "silenced": arguments.silent,
        "scheduled_at": arguments.at,
        "expires_at": arguments.expires,
        "collapse_key": arguments.collapse,
        "subtitle": arguments.subtitle,
        "image_url": arguments.image,
        "deep_link": arguments.link,
        "category": arguments.category,
        "buttons": dict(arguments.button),
        "thread_id": arguments.thread,
        "sound": arguments.sound,
        "badge": arguments.badge,
        "data": dict(arguments.data) or None,
    }
