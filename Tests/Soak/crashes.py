#!/usr/bin/env python3
"""Pushes from desktops to a device, while the relay, the desktops and the device are killed all the time.

    crashes.py [--pushes N] [--rate N] [--seed N] [--bellwire PROGRAM] [--limit SECONDS] [--kills SECONDS] [--relays N]

    --pushes N          so many in all (default: 10000), from two desktops
    --rate N            so many a second at most (default: 100)
    --seed N            of what is killed when (default: 1)
    --bellwire PROGRAM  a debug build's, which has fail points (default: .build/debug/bellwire)
    --limit SECONDS     it has failed when it takes longer (default: 3600)
    --kills SECONDS     the pause between two kills, at most (default: 0.5)
    --relays N          so many relays that work together, over as many NATS servers, which are killed as well; every
                        connection goes to a random one (default: 1 relay without NATS)

Kills come at random moments (SIGKILL), and at the named fail points of Sources/Foundations/Store/FailPoint.swift, of which none is
left out with 1,000 pushes and more. In the end: every push is in the history and in the inbox once; the device's program
has had each exactly once, and again only with "redelivered"; those of a desktop in its order; nothing is left in an
outbox.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

from front import Front

ROOT = Path(__file__).resolve().parents[2]

SPARED_SECONDS = 3.0
DEVICE_POINTS = [
    "store.before_commit",
    "store.after_commit",
    "device.before_ack",
    "device.after_ack",
    "host.before_hand_over",
    "host.before_mark",
    "host.after_mark",
]
DESKTOP_POINTS = ["store.before_commit", "store.after_commit", "desktop.before_send", "desktop.after_send"]
# Pushes of one desktop that are on their way into its history.
WINDOW = 64


class Child:
    """A program that is started again whenever it ends."""

    def __init__(self, name: str, arguments: list[str], points: list[str], folder: Path) -> None:
        self.name = name
        self.arguments = arguments
        self.points = points
        self.starts = 0
        self.died_at: Counter[str] = Counter()
        self.errors = folder / f"{name}.err"
        self.process: subprocess.Popen[bytes] | None = None
        self.armed = ""
        self.left = list(points)
        self.started = 0.0

    def start(self, chance: random.Random | None, out: Any = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Starts it, with a fail point by chance; without a chance nothing will happen to it."""
        environment = {key: value for key, value in os.environ.items() if key != "BELLWIRE_FAIL_POINT"}
        self.armed = ""
        if chance and self.points and chance.random() < 0.6:
            # First each in turn, until it has died there.
            self.armed = self.left[0] if self.left else chance.choice(self.points)
            # Soon, the first time: while the relay is killed as well, a life has few dispatches.
            count = chance.randint(1, 2 if self.armed in self.left else 12)
            environment["BELLWIRE_FAIL_POINT"] = f"{self.armed}:{count}"
        self.starts += 1
        self.started = time.monotonic()
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(
                self.arguments, stdin=subprocess.PIPE, stdout=out, stderr=errors, env=environment
            )
        return self.process

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            self.died_at["random"] += 1
            self.armed = ""

    @property
    def is_spared(self) -> bool:
        """It is to die at a fail point for the first time, which takes a slow machine longer than the pause of two kills."""
        return self.armed in self.left and time.monotonic() - self.started < SPARED_SECONDS

    @property
    def has_died(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def note_death(self) -> None:
        assert self.process
        if self.process.returncode == -signal.SIGKILL:
            if self.armed:
                self.died_at[self.armed] += 1
                self.left = [point for point in self.left if point != self.armed]
            return
        raise SystemExit(
            f"{self.name} ended by itself with {self.process.returncode}: {self.errors.read_text()[-2000:]}"
        )


class Desktop(Child):
    """A desktop whose history is the truth: what is not in it after a death is pushed again."""

    def __init__(self, name: str, bellwire: str, url: str, folder: Path, pushes: int) -> None:
        self.state = folder / name
        super().__init__(
            name,
            [
                bellwire,
                "desktop",
                "--relay-url",
                url,
                "--state-dir",
                str(self.state),
                "--name",
                name,
                "--stdin",
                "--json",
                "--no-pair",
            ],
            DESKTOP_POINTS,
            folder,
        )
        self.titles = [f"{name}-{number}" for number in range(pushes)]
        self.todo = list(self.titles)
        self.open = 0
        self.lock = threading.Lock()

    def history(self) -> list[tuple[str, str]]:
        """(id, title), the oldest first."""
        if not (self.state / "desktop.db").exists():
            return []
        database = sqlite3.connect(self.state / "desktop.db", timeout=10)
        try:
            return list(database.execute("SELECT id, title FROM history ORDER BY row"))
        finally:
            database.close()

    def waiting(self) -> int:
        database = sqlite3.connect(self.state / "desktop.db", timeout=10)
        try:
            return int(database.execute("SELECT count(*) FROM outbox").fetchone()[0])
        finally:
            database.close()

    def begin(self, chance: random.Random | None) -> None:
        known = {title for _, title in self.history()}
        with self.lock:
            self.todo = [title for title in self.titles if title not in known]
            self.open = 0
        process = self.start(chance, subprocess.PIPE)
        assert process.stdout
        threading.Thread(target=self.read, args=(process, process.stdout), daemon=True).start()

    def read(self, process: subprocess.Popen[bytes], lines: BinaryIO) -> None:
        for line in lines:
            if b'"pushed"' in line:
                with self.lock:
                    if process is self.process:
                        self.open -= 1

    def feed(self, most: int = WINDOW) -> None:
        assert self.process and self.process.stdin
        with self.lock:
            count = max(0, min(WINDOW - self.open, len(self.todo), most))
            batch, self.todo = self.todo[:count], self.todo[count:]
            self.open += len(batch)
        if not batch:
            return
        text = "".join(json.dumps({"title": title, "body": "b" * 40}) + "\n" for title in batch)
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except OSError:
            pass  # It has died: its history says what is missing.


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now, all different."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def nats_server(number: int, clients: list[int], routes: list[int], folder: Path) -> Child:
    """One of several NATS servers that replicate what they store."""
    name = f"nats{number}"
    others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    (folder / f"{name}.conf").write_text(
        f'listen: "127.0.0.1:{clients[number]}"\nserver_name: {name}\nmax_payload: 2MB\n'
        f'jetstream {{ store_dir: "{folder}/{name}" }}\n'
        f'cluster {{ name: soak, listen: "127.0.0.1:{routes[number]}", routes: [{others}] }}\n'
    )
    log = str(folder / f"{name}.log")
    return Child(name, ["nats-server", "--config", str(folder / f"{name}.conf"), "--log", log], [], folder)


class Soak:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.chance = random.Random(options.seed)
        self.log = folder / "received.jsonl"
        program = str(options.bellwire)
        ports = free_ports(options.relays)
        self.front = Front(ports, random.Random(options.seed)) if options.relays > 1 else None
        url = f"ws://127.0.0.1:{self.front.port if self.front else ports[0]}"
        self.servers: list[Child] = []
        cluster: list[str] = []
        if options.relays > 1:
            clients, routes = free_ports(options.relays), free_ports(options.relays)
            self.servers = [nats_server(number, clients, routes, folder) for number in range(options.relays)]
            cluster = ["--origin", url, "--nats-replicas", str(min(3, options.relays))]
            for client in clients:
                cluster += ["--nats", f"nats://127.0.0.1:{client}"]
        self.relays = [
            Child(
                f"relay{number}",
                [program, "relay", "--listen", f"127.0.0.1:{port}", "--no-health"]
                + [
                    "--state-dir",
                    str(folder / f"relay{number}"),
                    *cluster,
                    *(["--node", f"{number}"] if cluster else []),
                ],
                [],
                folder,
            )
            for number, port in enumerate(ports)
        ]
        self.desktops = [Desktop(f"desk{number}", program, url, folder, options.pushes // 2) for number in range(2)]
        self.state = folder / "device"
        self.device = Child(
            "device", [program, "listen", "--json", "--state-dir", str(self.state)], DEVICE_POINTS, folder
        )
        self.deadline = time.monotonic() + options.limit

    @property
    def children(self) -> list[Child]:
        return [*self.servers, *self.relays, self.device, *self.desktops]

    def pair(self) -> None:
        for child in (*self.servers, *self.relays):
            child.start(None)
        for desktop in self.desktops:
            arguments = [argument for argument in desktop.arguments if argument not in ("--no-pair", "--stdin")]
            process = subprocess.Popen(
                [*arguments, "--pair"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert process.stdout
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "offer":
                    subprocess.run(
                        [str(self.options.bellwire), "pair", event["data"]["payload"], "--state-dir", str(self.state)],
                        check=True,
                        stdout=subprocess.DEVNULL,
                        timeout=60,
                    )
                    break
            process.terminate()
            process.wait(15)

    def begin(self, child: Child, chance: random.Random | None) -> None:
        if isinstance(child, Desktop):
            child.begin(chance)
        elif child is self.device:
            with open(self.log, "ab") as out:
                child.start(chance, out)
        else:
            child.start(chance)

    def revive(self, chance: random.Random | None) -> None:
        for child in self.children:
            if child.has_died:
                if child.process:
                    child.note_death()
                self.begin(child, chance)

    def run(self) -> None:
        self.pair()
        for child in (self.device, *self.desktops):
            self.begin(child, self.chance)
        next_kill = time.monotonic()
        owed = 0.0
        before = time.monotonic()
        while any(desktop.todo or desktop.open for desktop in self.desktops):
            self.check_time()
            if time.monotonic() >= next_kill:
                self.chance.choice([child for child in self.children if not child.is_spared]).kill()
                next_kill = time.monotonic() + self.chance.uniform(0.05, self.options.kills)
            self.revive(self.chance)
            now = time.monotonic()
            owed = min(owed + (now - before) * self.options.rate / len(self.desktops), WINDOW)
            before = now
            for desktop in self.desktops:
                desktop.feed(int(owed))
            owed -= int(owed)
            time.sleep(0.02)
        # Nothing is killed any more: everything comes to its end.
        for child in self.children:
            child.kill()
        self.revive(None)
        total = sum(len(desktop.titles) for desktop in self.desktops)
        while len({entry["data"]["id"] for entry in self.received()}) < total or any(
            desktop.waiting() for desktop in self.desktops
        ):
            self.check_time()
            self.revive(None)
            for desktop in self.desktops:
                desktop.feed()
            time.sleep(0.2)

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            states = [f"{desktop.name}: {desktop.waiting()} in the outbox" for desktop in self.desktops]
            raise SystemExit(f"not done in {self.options.limit} s; {len(self.received())} handed over; {states}")

    def received(self) -> list[dict[str, Any]]:
        entries = []
        for line in self.log.read_bytes().splitlines():
            event = json.loads(line)
            if event["event"] == "notification.received":
                entries.append(event)
        return entries

    def end(self) -> None:
        for child in self.children:
            if child.process and child.process.poll() is None:
                child.process.kill()
                child.process.wait()
        if self.front:
            self.front.close()

    def verify(self) -> list[str]:
        faults: list[str] = []
        received = self.received()
        times = Counter(entry["data"]["id"] for entry in received)
        fresh = Counter(entry["data"]["id"] for entry in received if not entry["data"].get("redelivered"))
        faults += [f"{id} was handed over {count} times as if new" for id, count in fresh.items() if count > 1]
        first: dict[str, int] = {}
        for place, entry in enumerate(received):
            id = entry["data"]["id"]
            if id in first and not entry["data"].get("redelivered"):
                faults.append(f"{id} came again and does not say so")
            first.setdefault(id, place)
        database = sqlite3.connect(self.state / "device.db")
        inbox = Counter(id for (id,) in database.execute("SELECT id FROM inbox"))
        unhanded = database.execute(
            "SELECT count(*) FROM inbox WHERE arrival > (SELECT handed FROM push_count WHERE peer = 0)"
        ).fetchone()[0]
        database.close()
        known: set[str] = set()
        for desktop in self.desktops:
            history = desktop.history()
            titles = Counter(title for _, title in history)
            faults += [
                f"{title} is {titles[title]} times in the history" for title in desktop.titles if titles[title] != 1
            ]
            ids = [id for id, _ in history]
            known |= set(ids)
            faults += [f"{id} was never handed over" for id in ids if id not in first]
            faults += [f"{id} is {inbox[id]} times in the inbox" for id in ids if inbox[id] != 1]
            places = [first[id] for id in ids if id in first]
            if places != sorted(places):
                faults.append(f"the pushes of {desktop.name} came out of order")
            if desktop.waiting():
                faults.append(f"{desktop.waiting()} are still in the outbox of {desktop.name}")
        faults += [f"{id} was never pushed" for id in times if id not in known]
        for child in self.children:
            if self.options.pushes >= 1_000 and child.left:
                faults.append(f"{child.name} never died at {', '.join(child.left)}")
        if unhanded:
            faults.append(f"{unhanded} rows of the inbox still wait")
        # A process that ends in a callback may have told its program; one that ends elsewhere has told nothing new.
        deaths = sum(self.device.died_at.values())
        if self.marked_first() > deaths:
            faults.append(f"{self.marked_first()} first deliveries say redelivered, with {deaths} deaths of the device")
        return faults

    def marked_first(self) -> int:
        """First deliveries that say that they may have been delivered before."""
        first: dict[str, bool] = {}
        for entry in self.received():
            first.setdefault(entry["data"]["id"], bool(entry["data"].get("redelivered")))
        return sum(first.values())


def main() -> int:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--pushes", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bellwire", type=Path, default=ROOT / ".build/debug/bellwire")
    parser.add_argument("--limit", type=float, default=3_600)
    parser.add_argument("--kills", type=float, default=0.5)
    parser.add_argument("--relays", type=int, default=1)
    options = parser.parse_args()
    if options.help:
        print(__doc__)
        return 0
    if not options.bellwire.exists():
        print(f"{options.bellwire} is not there: swift build makes it", file=sys.stderr)
        return 2
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bellwire-crashes-") as folder:
        soak = Soak(options, Path(folder))
        try:
            soak.run()
        finally:
            soak.end()
        faults = soak.verify()
        again = sum(1 for entry in soak.received() if entry["data"].get("redelivered"))
        early = soak.marked_first()
    deaths: Counter[str] = Counter()
    for child in soak.children:
        for point, count in child.died_at.items():
            deaths[f"{child.name.rstrip('0123456789')} {point}"] += count
    for fault in faults[:40]:
        print("FAIL", fault)
    print(
        f"{options.pushes} pushes, {sum(deaths.values())} deaths, {again} redelivered ({early} of them first deliveries), "
        f"{time.monotonic() - begin:.0f} s, seed {options.seed}"
    )
    for point, count in sorted(deaths.items()):
        print(f"  {count:4} {point}")
    print("every push once, in order" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
