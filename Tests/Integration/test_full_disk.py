"""A disk that takes no more: the host is told, nothing is half-written, and all goes on when there is room again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import STATUS
from peers import free_port
from programs import BELLWIRE, Program
from test_daily_life import House

Start = Callable[..., Program]


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("nsenter") is None, reason="needs a mount namespace")
@pytest.mark.parametrize("role", ["desktop", "device"])
@pytest.mark.parametrize("size", ["1500k", "6m"])
def test_a_small_partition_does_not_stay_full(start: Start, tmp_path: Path, role: str, size: str) -> None:
    # The log alone could fill it: nothing could be deleted any more, and after a kill nothing started. What is deleted is
    # overwritten, so that the log of a "clear" is about as large as the file.
    place = tmp_path / "home/bellwire" / role
    place.mkdir(parents=True)
    script = f"mount -t tmpfs -o mode=700,size={size} none {place} && echo mounted && exec sleep 600"
    holder = start("unshare", "-m", "sh", "-c", script)
    holder.line("mounted")

    def bellwire(*words: str | Path) -> Program:
        return start("nsenter", "-t", str(holder.pid), "-m", f"--wd={tmp_path}", "--", BELLWIRE, *words)

    def run(*words: str, code: int = 0) -> list[str]:
        program = bellwire(*words)
        assert program.wait(60) == code, (words, program.err.all)
        return program.out.all + program.err.all

    def start_desktop() -> Program:
        desktop = bellwire(
            "desktop", "--relay", f"127.0.0.1:{port}", "--stdin", "--name", "Desk", "--no-alerts", "--pair"
        )
        desktop.error_line("online")
        return desktop

    port = free_port()
    desktop = start_desktop()
    run("pair", desktop.line(r"^\{.*desktop-pairing.*").group())
    listen = bellwire("listen")
    listen.error_line("connected")
    told = ""
    for number in range(150):
        push = bellwire("push", f"big {number}", "y" * 60_000)
        if push.wait(60) != 0:
            told = push.err.all[-1]
            break
    if role == "desktop":
        assert "full" in told, told
        listen.line(f"big {number - 1}")
    listen.kill()
    assert any("Deleted" in line for line in run("inbox", "clear"))
    if role == "desktop":
        run("push", "small")
        desktop.kill()
        desktop = start_desktop()
        run("push", "smaller")
    run("peers")
    run("send", "from the device")
    assert desktop.end() == 0, desktop.err.all


def test_a_desktop_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    start: Start, relay: str, tmp_path: Path
) -> None:
    house = House(start, relay, tmp_path)
    house.send("Before")
    house.device.event("notification.received", title="Before")
    house.desktop.limit_files(1)
    outcome = house.desktop.outcome("bw_desktop_notify", {"title": "Full", "body": ""}, 10_000)
    assert outcome["status"] == STATUS["BW_E_STORE"], outcome
    assert outcome["error"]["message"]
    # A device's command is refused as well, and changes nothing.
    refused = house.device.outcome("bw_notification_clear_all", None, None, 10_000)
    assert refused["status"] in (STATUS["BW_E_REMOTE"], STATUS["BW_E_TIMEOUT"]), refused
    house.desktop.limit_files(None)
    house.send("After")
    house.device.event("notification.received", title="After")
    history = house.history()
    assert [row["title"] for row in history["notifications"]] == ["After", "Before"]
    assert (history["total"], history["unreadCount"]) == (2, 2)
    house.device.close()
    house.desktop.close()


def test_a_device_whose_disk_is_full_gets_its_pushes_when_it_is_not(start: Start, relay: str, tmp_path: Path) -> None:
    house = House(start, relay, tmp_path)
    house.send("Before")
    house.device.event("notification.received", title="Before")
    house.device.limit_files(1)
    answer = house.send("While full")
    assert (answer["deliveredCount"], answer["failedCount"]) == (0, 1)
    house.device.event("problem", code="store_failed")
    assert len(house.device.of("notification.received")) == 1
    house.device.limit_files(None)
    house.send("After")
    house.device.event("notification.received", timeout=30, title="After")
    titles = [push["title"] for push in house.device.of("notification.received")]
    assert titles == ["Before", "While full", "After"]
    assert house.unread() == 3
    house.device.close()
    house.desktop.close()
