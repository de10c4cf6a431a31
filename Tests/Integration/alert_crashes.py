"""Alerts while the device that shows them is killed at random: none is lost, and only what was on its way comes again.

    alert_crashes.py [--pushes 1000] [--reminders 300] [--seed 1]

Tests/soak.sh runs it, with all that it needs. A seed kills at the same progress, as far as the
machine lets it.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hosts import Host
from peers import Object
from programs import BELLWIRE, Program

#: Pushes a second.
RATE = 40
#: So many alerts stay on the screen.
KEPT = 500


@dataclass
class Life:
    """What the host saw between a start of the device and its end."""

    #: The alerts that it was given to show, in their order.
    shown: list[str] = field(default_factory=list)
    #: Those that it was to take away.
    withdrawn: list[str] = field(default_factory=list)
    #: Those of which it was told that they are shown.
    told: set[str] = field(default_factory=set)
    #: The pushes that it had, and whether they came again because the process died inside dispatch.
    received: list[tuple[str, bool]] = field(default_factory=list)


class House:
    """A relay, a desktop, and a device that can be killed and started again over what it has on the disk."""

    def __init__(self, start: Callable[..., Program], home: Path) -> None:
        self._start, self._home = start, home
        relay = start(BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health")
        self._common = {"relay_url": relay.line(r"ws://[^\s,]+").group(), "follow_system": False}
        self.desktop = Host(start, "desktop", {"state_dir": str(home / "desktop"), **self._common})
        self.desktop.start()
        self.lives: list[Life] = []
        self.device = self._open()
        self.device.call("bw_alerts_authorize", "authorized", 0)
        offer = self.desktop.call("bw_desktop_offer", 20_000)
        self.device.call("bw_pairing_scan", offer["payload"], 20_000)

    def _open(self) -> Host:
        # What waited for the device's next start is late, and is to be shown all the same.
        options = {"state_dir": str(self._home / "device"), "alerts": "host", "late_alerts": "each", **self._common}
        device = Host(self._start, "device", options)
        device.answer("present", 0)
        device.start()
        return device

    def _ended(self) -> None:
        """The device's process has: all that it said is there."""
        out = self.device.program.out
        out.wait_for_end(15)
        life = Life()
        for line in out.all:
            try:
                said: Object = json.loads(line)
            except ValueError:
                continue  # the process died while it wrote
            if said.get("asked") == "present":
                which = life.withdrawn if "withdraw" in said["question"] else life.shown
                which.append(said["question"]["alert"]["id"])
            elif said.get("event") == "notification.presented":
                assert said["data"]["presented"] is True, said
                life.told.add(said["data"]["id"])
            elif said.get("event") == "notification.received":
                life.received.append((said["data"]["id"], said["data"].get("redelivered", False)))
        self.lives.append(life)

    def kill(self) -> None:
        self.device.program.kill()
        self._ended()
        self.device = self._open()

    def close(self) -> None:
        self.device.close()
        self._ended()
        self.desktop.close()

    def settled(self) -> set[str]:
        """What was shown, but for what this life was not told of yet."""
        now = {each["id"] for each in self.device.of("notification.presented")}
        return now.union(*(life.shown for life in self.lives))


def judge(lives: list[Life], wanted: set[str]) -> int:
    """How many were shown again because they were on their way when the process died; fails for all others."""
    again = 0
    settled: set[str] = set()
    for number, life in enumerate(lives):
        twice = [each for each, count in Counter(life.shown).items() if count > 1]
        assert not twice, f"shown twice within life {number}: {twice}"
        after = settled & set(life.shown)
        assert not after, f"shown again in life {number}, though the host was told that they are: {after}"
        assert life.told <= set(life.shown), "told, and never shown"
        settled |= life.told
        if number + 1 < len(lives):
            on_the_way = set(life.shown) - life.told
            again += sum(1 for each in on_the_way if any(each in later.shown for later in lives[number + 1 :]))
    shown = Counter(each for life in lives for each in life.shown)
    assert set(shown) == wanted, f"lost: {wanted - set(shown)}; of nobody: {set(shown) - wanted}"
    # The event itself is not kept: what was recorded when the process died is not told again.
    untold = set().union(*(set(life.shown) - life.told for life in lives[:-1]))
    assert settled | untold == wanted, f"shown and never told: {wanted - settled - untold}"
    assert sum(shown.values()) == len(wanted) + again
    return again


def run(start: Callable[..., Program], home: Path, pushes: int, reminders: int, seed: int) -> str:
    """Pushes and reminders come due while the device is killed; says what was found, fails where it is not as promised."""
    chance = random.Random(seed)
    house = House(start, home)
    lasting = pushes / RATE
    now = time.time() * 1_000
    names = {f"reminder-{number}" for number in range(reminders)}
    for name in names:
        trigger = {"type": "moment", "at": int(now + 1_000 + chance.random() * lasting * 1_000)}
        house.device.call("bw_reminder_add", {"id": name, "title": name, "trigger": trigger})
    begun, sent, next_kill = time.monotonic(), 0, chance.random()
    outcomes = []
    while sent < pushes or time.monotonic() - begun < lasting + 1:
        if sent < pushes and time.monotonic() - begun >= sent / RATE:
            outcomes.append(house.desktop.begin("bw_desktop_notify", {"title": f"{sent}", "body": ""}, 60_000))
            sent += 1
            continue
        if time.monotonic() - begun >= next_kill:
            if chance.random() < 0.5:
                # As soon as another one is to be shown: then it is on its way for certain.
                count = len(house.device.questions("present"))
                end = time.monotonic() + 0.3
                while len(house.device.questions("present")) == count and time.monotonic() < end:
                    time.sleep(0.0005)
            house.kill()
            next_kill = time.monotonic() - begun + 0.2 + chance.random() * 0.8
        time.sleep(0.001)
    wanted = names | {outcome(60)["result"]["notificationId"] for outcome in outcomes}
    end = time.monotonic() + 60
    while house.settled() != wanted and time.monotonic() < end:
        time.sleep(0.02)
    while house.device.call("bw_alerts_state")["waiting"] and time.monotonic() < end:
        time.sleep(0.02)
    assert house.device.call("bw_reminder_list") == []
    listed = {each["alert"]["id"] for each in house.device.call("bw_alerts_delivered")}
    assert listed == wanted or len(listed) == KEPT
    house.close()
    again = judge(house.lives, wanted)
    withdrawn = {each for life in house.lives for each in life.withdrawn}
    assert withdrawn <= wanted - listed, "only what is beyond those that are kept is taken away"
    had = [each for life in house.lives for each in life.received]
    assert {each for each, _ in had} == wanted - names, "each push is in the program's hands"
    first = Counter(each for each, is_again in had if not is_again)
    assert set(first.values()) == {1}, f"came as new more than once: {first}"
    return (
        f"{pushes} pushes, {reminders} reminders, {len(house.lives) - 1} kills, seed {seed}: "
        f"each was shown, {again} again that were on their way"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pushes", type=int, default=1_000)
    parser.add_argument("--reminders", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    running: list[Program] = []

    def start(*command: str | Path, home: str = "home") -> Program:
        running.append(Program(command, {"TZ": "UTC"}))
        return running[-1]

    with tempfile.TemporaryDirectory(prefix="bellwire-alerts-") as home:
        try:
            print(run(start, Path(home), arguments.pushes, arguments.reminders, arguments.seed))
        finally:
            for program in running:
                if program.process.poll() is None:
                    program.kill()


if __name__ == "__main__":
    main()
