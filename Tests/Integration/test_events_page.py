"""The page Events lists every event that a program can subscribe to, and shows them as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hosts import QUEUED, Host
from peers import Object
from programs import ROOT, Program
from test_documentation import CATALOGUE, json_blocks

Start = Callable[..., Program]

PAGE = (CATALOGUE / "Events.md").read_text()
HEADER = (ROOT / "include/bellwire.h").read_text()


def listed(section: str) -> list[str]:
    """The names in the first column of a section's table of events."""
    part = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([a-z.]+)` \|", part, re.MULTILINE)


def test_the_table_of_a_device_has_the_events_of_the_header() -> None:
    section = HEADER.split("* Events\n")[1].split("host.…")[0]
    assert sorted(listed("A device")) == sorted(re.findall(r"^ \*   ([a-z]+(?:\.[a-z]+)?) ", section, re.MULTILINE))


def test_the_table_of_a_desktop_has_the_events_of_the_header() -> None:
    section = HEADER.split("/* A desktop's events go to all")[1].split("Since 0.1.")[0]
    named = re.findall(r"\b((?:notification|unread|connection|peers|settings|pairing|rekey)\.[a-z]+)\b", section)
    assert sorted(listed("A desktop")) == sorted({*named, "command", "problem"})


def test_every_event_of_the_library_is_in_a_table() -> None:
    source = (ROOT / "Sources/System/Hosting/HostEvent.swift").read_text()
    names = re.findall(r'case \.\w+: "([a-z.]+)"$', source, re.MULTILINE)
    assert sorted(names) == sorted({*listed("A device"), *listed("A desktop")})


def test_events_that_a_newer_one_replaces_are_marked() -> None:
    source = (ROOT / "Sources/System/Hosting/HostEvent.swift").read_text()
    states = source.split("var isState: Bool")[1].split("true")[0]
    cases = dict(re.findall(r'case \.(\w+): "([a-z.]+)"$', source, re.MULTILINE))
    newest = re.findall(r"^\| `([a-z.]+)` \|.*\| newest \|$", PAGE, re.MULTILINE)
    assert sorted(newest) == sorted(cases[name] for name in re.findall(r"\.(\w+)", states))


def form(value: Any) -> Any:
    """The members of an object, however deep, and what kind of value each is."""
    if isinstance(value, dict):
        return {key: form(member) for key, member in value.items()}
    if isinstance(value, list):
        return [form(element) for element in value[:1]]
    return type(value).__name__


@pytest.fixture
def hosts(start: Start, relay: str, tmp_path: Path) -> dict[str, Host]:
    """A desktop and a device after all that the page tells of has happened to them."""

    def opened(role: str, **options: Any) -> Host:
        return Host(start, role, {"state_dir": str(tmp_path / role), "follow_system": False, **options})

    desktop = opened("desktop", name="Desk", relay_url=relay)
    device = opened("device", name="Laptop", alerts="host")
    device.answer("present", 0)
    device.call("bw_alerts_authorize", "authorized", 0)
    desk = device.call("bw_pairing_scan", desktop.call("bw_desktop_offer", 20_000)["payload"], 20_000)["id"]
    device.event("connection.changed", online=True)

    def notify(**params: Any) -> str:
        told: Object = desktop.call("bw_desktop_notify", {"title": "Tea", **params}, 10_000)
        return str(told["notificationId"])

    tea = notify(body="is ready", collapseKey="tea", deepLink="https://example.org/tea", data={"cup": "2"})
    device.event("notification.presented", id=tea)
    device.call("bw_alerts_respond", desk, tea, "default", None)
    device.event("notification.response")
    desktop.event("notification.presented")
    cold = notify(body="is cold", collapseKey="tea")
    device.event("notification.updated")

    device.notification("mark_as_read", {"notificationId": cold})
    desktop.event("notification.read")
    desktop.call("bw_desktop_invoke", "notification.updateSettings", {"soundEnabled": False}, 10_000)
    device.event("settings.changed")
    device.notification("send", {"title": "Build done", "body": "All green"})
    desktop.event("notification.received")
    device.notification("delete", {"notificationId": cold})
    desktop.event("notification.deleted")
    device.notification("clear_all")
    desktop.event("notification.cleared")
    device.call("bw_device_receive", "fcm", {"data": {"notificationId": "n-5", "sync": "all"}})
    device.event("notification.silent")

    door = notify(body="is open")
    device.event("notification.received", id=door)
    desktop.call("bw_desktop_stop")
    device.event("connection.changed", online=False)
    assert device.outcome("bw_inbox_mark_read", desk, door, 10_000)["status"] == QUEUED
    desktop.call("bw_desktop_start")
    device.event("queue.ended")
    desktop.call("bw_desktop_rekey")
    device.event("rekey.changed")
    device.close()
    desktop.close()
    return {"A device": device, "A desktop": desktop}


def test_events_are_as_the_page_shows_them(hosts: dict[str, Host]) -> None:
    shown: set[tuple[str, str]] = set()
    for block in json_blocks("Events"):
        event = json.loads(block.text)
        seen = [form(each) for each in hosts[block.section].events if each.get("event") == event["event"]]
        assert form(event) in seen, f"{block.id}: not as in\n{seen}"
        shown.add((block.section, event["event"]))
    missing = {name for name in listed("A device") if ("A device", name) not in shown}
    assert missing == {"command", "problem"}
