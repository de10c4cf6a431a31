"""Queued commands while relay, desktop and device are killed at random: each is carried out once.

    queue_crashes.py [--commands 1000] [--seed 1]

Tests/soak.sh runs it, with all that it needs. A seed kills the same processes at the same
progress, as far as the machine lets it.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from hosts import QUEUED, Host
from peers import Object, free_port
from programs import BELLWIRE, Program, wait_until

#: Less than the queue holds.
BATCH = 80


class House:
    """A relay, a desktop and a device, each of which can be killed and started again over what it has on the disk."""

    def __init__(self, start: Callable[..., Program], home: Path) -> None:
        self._start, self._home = start, home
        self.url = ""
        self._health = f"127.0.0.1:{free_port()}"
        self.relay = self._open_relay()
        self.desktop = self._open_desktop()
        self.device = self._open_device()
        offer = self.desktop.call("bw_desktop_offer", 20_000)
        self.device.call("bw_pairing_scan", offer["payload"], 20_000)
        #: What the device's host was told of the ends of its commands, over all its lives.
        self.ended: list[Object] = []

    def _open_relay(self) -> Program:
        listen = self.url.removeprefix("ws://") or "127.0.0.1:0"
        program = self._start(
            BELLWIRE, "relay", "--listen", listen, "--health", self._health, "--state-dir", self._home / "relay"
        )
        self.url = program.line(r"ws://[^\s,]+").group()
        return program

    def _open_desktop(self) -> Host:
        options = {"state_dir": str(self._home / "desktop"), "relay_url": self.url, "follow_system": False}
        desktop = Host(self._start, "desktop", options)
        desktop.start()
        return desktop

    def _open_device(self) -> Host:
        device = Host(self._start, "device", {"state_dir": str(self._home / "device"), "follow_system": False})
        device.start()
        return device

    def forwarded(self) -> int:
        """How many messages the relay has passed on."""
        with urllib.request.urlopen(f"http://{self._health}/health", timeout=10) as answer:
            count: int = json.load(answer)["messages"]["forwarded"]
        return count

    def kill(self, who: str) -> None:
        if who == "relay":
            self.relay.kill()
        else:
            if who == "device":
                self.ended += self.device.of("queue.ended")
            (self.desktop if who == "desktop" else self.device).program.kill()

    def revive(self, who: str) -> None:
        if who == "relay":
            self.relay = self._open_relay()
        elif who == "desktop":
            self.desktop = self._open_desktop()
        else:
            self.device = self._open_device()

    def close(self) -> None:
        self.ended += self.device.of("queue.ended")
        self.device.close()
        self.desktop.close()
        self.relay.kill()


def notifications(house: House, count: int) -> list[str]:
    """Keeps notifications on the desktop, and gives their ids."""
    # The desktop's own: the device may still be on its way back.
    begun = [
        house.desktop.begin("bw_desktop_invoke", "notification.send", {"title": f"{number}", "body": ""}, 60_000)
        for number in range(count)
    ]
    return [begin(60)["result"]["notificationId"] for begin in begun]


def progress(house: House, left: int) -> None:
    """Waits until so few commands are left, but not for ever: somebody may have been killed."""
    end = time.monotonic() + 1
    while house.device.state["queue"]["count"] > left and time.monotonic() < end:
        time.sleep(0.001)


def drained(house: House, limit: float = 60) -> None:
    end = time.monotonic() + limit
    while (queue := house.device.state["queue"])["count"]:
        assert queue["failed"] == 0, house.device.call("bw_queue_list")
        assert time.monotonic() < end, f"the queue is not empty: {queue}"
        time.sleep(0.05)


def run(start: Callable[..., Program], home: Path, commands: int, seed: int) -> str:
    """Kills and restarts until all commands are done, and says what was found; fails where it is not as promised."""
    chance = random.Random(seed)
    house = House(start, home)
    given: dict[str, str] = {}
    kills = 0
    while len(given) < commands:
        targets = notifications(house, min(BATCH, commands - len(given)))
        house.kill("desktop")
        # Not an event: one of an earlier round may be left.
        wait_until(lambda: not house.device.state["connection"][0]["online"])
        for target in targets:
            outcome = house.device.outcome("bw_notification_delete", None, {"notificationId": target}, 10_000)
            assert outcome["status"] == QUEUED, outcome
            given[outcome["result"]["id"]] = target
        if chance.random() < 0.5:
            house.kill("device")
            house.revive("device")
        house.revive("desktop")
        for _ in range(chance.randint(1, 4)):
            progress(house, chance.randint(0, len(targets)))
            who = chance.choice(["relay", "desktop", "device"])
            house.kill(who)
            time.sleep(chance.random() * 0.1)
            house.revive(who)
            kills += 1
        drained(house)
    assert house.desktop.call("bw_desktop_history", None)["total"] == 0
    house.close()
    told = [end["id"] for end in house.ended]
    assert len(told) == len(set(told)), "an end was told twice"
    for end in house.ended:
        assert (end["outcome"], end["result"]["deletedCount"]) == ("done", 1), end
    with sqlite3.connect(home / "desktop/desktop.db") as database:
        rows = database.execute("SELECT id, result FROM command_answer WHERE method = 'notification.delete'").fetchall()
    answers = {row[0]: json.loads(row[1]) for row in rows}
    assert len(answers) == len(rows)
    assert set(answers) == set(given), "each command that was queued was answered, under its id"
    assert all(answer["deletedCount"] == 1 for answer in answers.values()), "each was carried out once"
    return f"{len(given)} queued commands, {kills} kills, seed {seed}: each was carried out once"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    running: list[Program] = []

    def start(*command: str | Path, home: str = "home") -> Program:
        running.append(Program(command, {"TZ": "UTC"}))
        return running[-1]

    with tempfile.TemporaryDirectory(prefix="bellwire-queue-") as home:
        try:
            print(run(start, Path(home), arguments.commands, arguments.seed))
        finally:
            for program in running:
                if program.process.poll() is None:
                    program.kill()


if __name__ == "__main__":
    main()
