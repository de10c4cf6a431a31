"""What alerts cost a process: nothing with "none", and no library before it is needed."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from conftest import Start
from hosts import Host
from pictures import Web, image_of, options
from programs import proc_status, wait_until
from test_alerts import House


def mapped(host: Host, library: str) -> bool:
    return f"/{library}" in Path(f"/proc/{host.program.pid}/maps").read_text()


def descriptors(host: Host) -> Counter[str]:
    """How many of each kind are open, such as `socket`, `inotify` and `timerfd`; of files the names."""
    found: Counter[str] = Counter()
    directory = Path(f"/proc/{host.program.pid}/fd")
    for entry in directory.iterdir():
        try:
            name = os.readlink(entry).removeprefix("anon_inode:").strip("[]")
            found[name.split(":[")[0].split("/")[-1]] += 1
        except FileNotFoundError:
            continue
    return found


def threads(host: Host) -> int:
    return proc_status(host.program.pid, "Threads")


def settled(host: Host) -> tuple[int, Counter[str]]:
    """Threads and descriptors when the calls' own threads have ended and nothing changes any more."""
    last: list[Any] = []

    def is_settled() -> bool:
        now = (threads(host), descriptors(host))
        last.append(now)
        return len(last) >= 50 and all(each == now for each in last[-50:])

    wait_until(is_settled, 20)
    found: tuple[int, Counter[str]] = last[-1]
    return found


def test_with_none_there_is_nothing_more_than_without_alerts(
    start: Start, relay: str, tmp_path: Path, web: Web
) -> None:
    house = House.__new__(House)
    house._start, house._relay, house._home = start, relay, tmp_path
    house.desktop = house.open("desktop", "desktop")
    house.desktop.start()
    house.device = device = house.open("device", "device", **options(web))
    device.start()
    offer = house.desktop.call("bw_desktop_offer", 10_000)
    device.call("bw_pairing_scan", offer["payload"], 15_000)
    house.push("Before")
    device.event("notification.received", title="Before")
    before = settled(device)

    # Everything that can be done with "none", and pushes that would show something.
    device.call("bw_alerts_authorize", "authorized", 0)
    device.call("bw_alerts_set_settings", {"quietHoursEnabled": True})
    device.call("bw_alerts_categories", [{"id": "A", "actions": []}])
    device.call("bw_alerts_in_front", 1)
    house.push("Picture", imageUrl=web.url("png"), badge=3)
    device.event("notification.received", title="Picture")
    device.call("bw_device_receive", "apns", {"aps": {"alert": "A", "mutable-content": 1}, "imageUrl": web.url("png")})
    device.event("notification.received", body="A")
    for call in ("state", "delivered", "settings"):
        device.call(f"bw_alerts_{call}")

    assert settled(device) == before
    assert before[1]["timerfd"] == before[1]["inotify"] == 0, before
    for library in ("libcurl", "libsystemd", "libdbus"):
        assert not mapped(device, library)
    assert not (tmp_path / "device/images").exists()
    for event in ("notification.presented", "authorization.changed", "badge.changed"):
        assert device.of(event) == []
    house.device.close()
    house.desktop.close()


def test_with_host_libcurl_comes_with_the_first_image_and_libsystemd_never(
    start: Start, relay: str, tmp_path: Path, web: Web
) -> None:
    house = House(start, relay, tmp_path, **options(web))
    house.authorize()
    device = house.device
    image_of(house, house.push("Text"))
    # One that cannot be fetched at all needs none either.
    assert image_of(house, house.push("Bad", imageUrl="http://127.0.0.2/x.png")) == {"error": "not_https"}
    assert image_of(house, house.push("Refused", imageUrl="https://127.0.0.1/x.png")) == {"error": "refused_address"}
    assert not mapped(device, "libcurl") and not mapped(device, "libsystemd")
    before = settled(device)
    for number in range(8):
        image = image_of(house, house.push(f"Picture {number}", imageUrl=web.url(f"png/{number}")))
        assert image is not None and "path" in image
    assert mapped(device, "libcurl") and not mapped(device, "libsystemd")
    # Nothing of the fetches stays open, and no thread of theirs.
    assert settled(device) == before
    image_of(house, house.push("Cut", imageUrl=web.url("cut")))
    assert settled(device) == before
    house.device.close()
    house.desktop.close()


def test_all_reminders_share_a_clock_and_a_watch_of_the_time_zone(start: Start, relay: str, tmp_path: Path) -> None:
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "alerts": "host", "follow_system": False})
    device.answer("present", 0)
    device.call("bw_alerts_authorize", "authorized", 0)
    device.start()
    before, kinds = settled(device)
    for number in range(20):
        trigger = {"type": "interval", "seconds": 1_000 + number}
        device.call("bw_reminder_add", {"title": "T", "trigger": trigger})
    after, more = settled(device)
    assert after == before
    assert set(more - kinds) <= {"timerfd", "inotify"} and max(more["timerfd"], more["inotify"]) == 1, (kinds, more)
    device.close()
