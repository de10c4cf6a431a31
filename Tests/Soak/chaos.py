#!/usr/bin/env python3
"""Pushes from a desktop to a device through connections that break in every way, and what the processes hold meanwhile.

    chaos.py [--seconds N] [--rate N] [--seed N] [--kinds KIND,...] [--gap SECONDS] [--curve FILE] [--samples FILE]
             [--bellwire PROGRAM] [--limit SECONDS]

    --seconds N         pushes for so long (default: 600); hours are fine
    --rate N            pushes per second (default: 20)
    --seed N            of what breaks when (default: 1)
    --kinds KIND,...    of: cut, delay, dribble, swallow, half-open (default: all)
    --gap SECONDS       between two faults, at most (default: 2)
    --curve FILE        draw memory, descriptors and threads as SVG
    --samples FILE      write them as text: seconds, process, KiB, descriptors, threads
    --bellwire PROGRAM  (default: build/stage/bin/bellwire)
    --limit SECONDS     what hasn't arrived this long after the last push is lost (default: 180)

Desktop and device each reach the relay through a proxy of their own. Faults: the connection ends inside a frame (cut);
everything is held back for up to two seconds (delay); it arrives a few bytes at a time (dribble); one direction passes
nothing more (swallow); nothing passes, and nobody is told (half-open). In the end every push has arrived once and in
order, and nothing has been redelivered. From half of the time on, memory, descriptors and threads of each process stay
below what they were in the second quarter, plus a tenth and 2 MiB, 4 descriptors, 1 thread; shorter runs than two
minutes don't compare them. The exit code is 0 if all of that is so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curve import Sample, draw

ROOT = Path(__file__).resolve().parents[2]
# How often each comes, beside the others: the last two take half a minute to be noticed.
KINDS = {"cut": 6, "delay": 4, "dribble": 4, "swallow": 1, "half-open": 1}
# Shorter ones only warm up.
COMPARED_FROM = 120.0


class Link:
    """A connection through a proxy. Each direction is a thread of its own."""

    def __init__(self, near: socket.socket, far: socket.socket, chance: random.Random) -> None:
        self.ends = {"up": (near, far), "down": (far, near)}
        self.chance = chance
        #: Directions that pass nothing more.
        self.swallowed: set[str] = set()
        #: It ends after so many more bytes of the next part.
        self.cuts = False
        self.held_until = 0.0
        self.dribbles = 0
        self.is_open = True
        for direction in self.ends:
            threading.Thread(target=self.pump, args=(direction,), daemon=True).start()

    def pump(self, direction: str) -> None:
        source, target = self.ends[direction]
        try:
            while part := source.recv(1 << 16):
                if direction in self.swallowed:
                    continue
                time.sleep(max(0.0, self.held_until - time.monotonic()))
                if self.cuts and len(part) > 1:
                    target.sendall(part[: self.chance.randrange(1, len(part))])
                    break
                while self.dribbles > 0 and part:
                    count = self.chance.randint(1, 7)
                    target.sendall(part[:count])
                    part = part[count:]
                    self.dribbles -= 1
                    time.sleep(0.002)
                target.sendall(part)
        except OSError:
            pass
        # A half-open one stays: neither side hears that the other has gone.
        if not self.swallowed:
            self.end()

    def end(self) -> None:
        self.is_open = False
        for one in self.ends["up"]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


class Proxy:
    """What is between a peer and its relay."""

    def __init__(self, seed: str) -> None:
        #: The relay's port, once it is known.
        self.target = 0
        self.chance = random.Random(seed)
        self.links: list[Link] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            near = self.listener.accept()[0]
            try:
                far = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            links = [Link(near, far, self.chance)]
            for link in self.links:
                # Dead ones have been given up by the peer: what they swallowed is gone.
                if link.swallowed:
                    link.end()
                elif link.is_open:
                    links.append(link)
            self.links = links

    def fault(self, kind: str) -> bool:
        """Breaks the connections like that, unless they are as good as dead."""
        links = [link for link in self.links if link.is_open and not link.swallowed]
        held_until = time.monotonic() + self.chance.uniform(0.1, 2)
        directions = {self.chance.choice(["up", "down"])}
        for link in links:
            match kind:
                case "cut":
                    link.cuts = True
                case "delay":
                    link.held_until = held_until
                case "dribble":
                    link.dribbles = 400
                case "swallow":
                    link.swallowed = directions
                case "half-open":
                    link.swallowed = {"up", "down"}
        return bool(links)


@dataclass
class Arrivals:
    """What has come, without keeping it: the run may take days."""

    next: int = 0
    repeated: int = 0
    out_of_order: int = 0
    redelivered: int = 0

    def take(self, data: dict[str, Any]) -> None:
        number = int(data["title"])
        self.redelivered += bool(data.get("redelivered"))
        if number < self.next:
            self.repeated += 1
        else:
            self.out_of_order += number > self.next
            self.next = number + 1


class Soak:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.arrivals = Arrivals()
        self.faults: Counter[str] = Counter()
        self.samples: list[Sample] = []
        self.sent = 0
        self.begin = time.monotonic()

    def launch(self, name: str, *arguments: str | Path, **pipes: Any) -> subprocess.Popen[bytes]:
        standard = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [str(self.options.bellwire), *map(str, arguments)]
        self.processes[name] = subprocess.Popen(command, **{**standard, **pipes})
        return self.processes[name]

    def start(self) -> None:
        self.proxies = [Proxy(f"{self.options.seed} {name}") for name in ("desktop", "device")]
        # Proofs of ids are valid for the URL that a peer connects to.
        origins = [argument for proxy in self.proxies for argument in ("--origin", proxy.url)]
        listen = ["--listen", "127.0.0.1:0", "--no-health"]
        relay = self.launch("relay", "relay", *listen, *origins, stdout=subprocess.PIPE)
        assert relay.stdout
        line = relay.stdout.readline().decode()
        for proxy in self.proxies:
            proxy.target = int(line.strip().rpartition(":")[2])
        desktop = ["desktop", "--relay-url", self.proxies[0].url, "--state-dir", self.folder / "desktop", "--json"]
        state = ["--state-dir", self.folder / "device"]
        pairing = self.launch("desktop", *desktop, "--pair", stdout=subprocess.PIPE)
        assert pairing.stdout
        for text in pairing.stdout:
            event = json.loads(text)
            if event["event"] == "offer":
                offer = json.loads(event["data"]["payload"])
                offer |= {"signalingUrl": None, "relayUrl": self.proxies[1].url}
                command = [str(self.options.bellwire), "pair", json.dumps(offer), *map(str, state)]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
                break
        pairing.terminate()
        pairing.wait(15)
        self.launch("desktop", *desktop, "--stdin", "--no-pair", stdin=subprocess.PIPE)
        device = self.launch("device", "listen", "--json", *state, stdout=subprocess.PIPE)
        threading.Thread(target=self.read, args=(device,), daemon=True).start()
        self.begin = time.monotonic()

    def read(self, device: subprocess.Popen[bytes]) -> None:
        assert device.stdout
        for line in device.stdout:
            event = json.loads(line)
            if event["event"] == "notification.received":
                self.arrivals.take(event["data"])

    def sample(self) -> None:
        at = time.monotonic() - self.begin
        for name, process in self.processes.items():
            fields = dict(
                line.split(":", 1)
                for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
                if ":" in line
            )
            descriptors = len(os.listdir(f"/proc/{process.pid}/fd"))
            # Not the resident set: that counts mapped files, as far as the machine happens to have read them.
            kib = sum(int(fields[name].split()[0]) for name in ("RssAnon", "VmSwap"))
            threads = int(fields["Threads"])
            self.samples.append(Sample(at, name, kib, descriptors, threads))

    def run(self) -> None:
        chance = random.Random(self.options.seed)
        kinds = {kind: KINDS[kind] for kind in self.options.kinds.split(",")}
        desktop = self.processes["desktop"]
        assert desktop.stdin
        seconds = self.options.seconds
        every = max(1.0, seconds / 1_000)
        next_fault, next_sample = 1.0, 0.0
        while (now := time.monotonic() - self.begin) < seconds:
            self.check_processes()
            while self.sent < now * self.options.rate:
                desktop.stdin.write(json.dumps({"title": str(self.sent), "body": "b" * 200}).encode() + b"\n")
                self.sent += 1
            desktop.stdin.flush()
            if now >= next_fault:
                kind = chance.choices([*kinds], [*kinds.values()])[0]
                self.faults[kind] += chance.choice(self.proxies).fault(kind)
                next_fault = now + chance.uniform(0.05, self.options.gap)
            if now >= next_sample:
                self.sample()
                next_sample = now + every
            time.sleep(0.02)
        # Nothing breaks any more; what is half-open is noticed.
        deadline = time.monotonic() + self.options.limit
        while self.arrivals.next < self.sent and time.monotonic() < deadline:
            self.check_processes()
            time.sleep(0.05)
        self.sample()

    def check_processes(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise SystemExit(f"FAIL: the {name} ended by itself with {process.returncode}")

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def problems(self) -> list[str]:
        found = []
        come = self.arrivals
        if come.next < self.sent:
            found.append(f"{self.sent - come.next} pushes have not arrived")
        for what in ("repeated", "out_of_order", "redelivered"):
            if count := getattr(come, what):
                found.append(f"{count} pushes {what.replace('_', ' ')}")
        return found + (self.growth() if self.options.seconds >= COMPARED_FROM else [])

    def growth(self) -> list[str]:
        found = []
        end = self.options.seconds
        for name in self.processes:
            own = [sample for sample in self.samples if sample.process == name and sample.at <= end]
            early = [sample for sample in own if end / 4 <= sample.at < end / 2]
            late = [sample for sample in own if sample.at >= end / 2]
            bounds = {
                "kib": max(sample.kib for sample in early) * 1.1 + 2_048,
                "descriptors": max(sample.descriptors for sample in early) + 4,
                "threads": max(sample.threads for sample in early) + 1,
            }
            for what, bound in bounds.items():
                most = max(getattr(sample, what) for sample in late)
                if most > bound:
                    found.append(f"{name}: {most} {what}, where {bound:.0f} are allowed")
        return found

    def report(self) -> None:
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        print(
            f"{self.sent} pushes in {self.options.seconds:.0f} s; faults: {faults or 'none'}; seed {self.options.seed}"
        )
        print("process   MiB first   middle     last   descriptors   threads")
        for name in self.processes:
            own = [sample for sample in self.samples if sample.process == name]
            first, middle, last = (own[0], own[len(own) // 2], own[-1])
            mib = "".join(f"{sample.kib / 1024:9.1f}" for sample in (first, middle, last))
            spread = [
                f"{min(values)} to {max(values)}" for values in ([s.descriptors for s in own], [s.threads for s in own])
            ]
            print(f"{name:8}{mib}   {spread[0]:>11}   {spread[1]:>7}")


def main() -> int:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--gap", type=float, default=2)
    parser.add_argument("--curve", type=Path)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--bellwire", type=Path, default=ROOT / "build/stage/bin/bellwire")
    parser.add_argument("--limit", type=float, default=180)
    options = parser.parse_args()
    if options.help:
        print(__doc__)
        return 0
    if unknown := set(options.kinds.split(",")) - set(KINDS):
        print(f"unknown kinds: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}", file=sys.stderr)
        return 2
    if not options.bellwire.exists():
        print(f"{options.bellwire} is not there: bindings/c/build.sh makes it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="bellwire-chaos-") as folder:
        soak = Soak(options, Path(folder))
        try:
            soak.start()
            soak.run()
        finally:
            soak.end()
    soak.report()
    if options.samples:
        rows = (f"{s.at:.1f} {s.process} {s.kib} {s.descriptors} {s.threads}\n" for s in soak.samples)
        options.samples.write_text("".join(rows))
    if options.curve:
        options.curve.write_text(draw(soak.samples))
    problems = soak.problems()
    for problem in problems:
        print("FAIL", problem)
    print("every push once, in order" if not problems else f"{len(problems)} faults")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
