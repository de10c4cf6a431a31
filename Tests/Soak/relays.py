#!/usr/bin/env python3
"""Pushes to a sealed device through played deployed relays, while connections and the relay break all the time.

    relays.py [--pushes N] [--faults N] [--kinds KIND,...] [--seed N] [--relays NAME,...] [--bellwire PROGRAM]
              [--bound SECONDS] [--limit SECONDS]

    --pushes N          through each relay (default: 1000)
    --faults N          at each relay (default: 40)
    --kinds KIND,...    of: cut, change, relay, half-open; each as often as the others (default: all)
    --seed N            of what breaks when (default: 1)
    --relays NAME,...   of: node1, node2, app, public (default: all; WireDeployedRelays, "Compared")
    --bellwire PROGRAM  (default: .build/debug/bellwire)
    --bound SECONDS     after a fault, the peers must be reachable again within this time (default: 70)
    --log               write each registration, lost registration and fault to standard error
    --limit SECONDS     a push that isn't there after this time ends the run (default: 130)

A fault is one of: a connection is cut (cut); a peer changes its network, so that its old connection ends at the relay
seconds later (change); the relay is killed and started again within a second (relay); a connection becomes half-open, so
that nothing passes and nobody is told (half-open). One push is under way at each fault. The peers are reachable again
when the first push that is made after the fault arrives. Each push must arrive once and in order, and no
relay may have to close a connection because its peer sends too much.
"""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

ROOT = Path(__file__).resolve().parents[2]
# Of version 0.2, for one connection: WireDeployedRelays, "Compared".
RATE_FRAMES, RATE_BYTES, RATE_SECONDS = 120, 4 << 20, 10.0
PROGRAMS = ["node1", "node2", "app", "public"]
KINDS = ["cut", "change", "relay", "half-open"]


class Log:
    """What happens, with the seconds since the start; nothing unless it is asked for."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.start = time.monotonic()

    def __call__(self, text: str) -> None:
        if self.wanted:
            print(f"{time.monotonic() - self.start:8.2f} {text}", file=sys.stderr, flush=True)


class Relay:
    """A deployed relay as its program behaves."""

    def __init__(self, program: str, log: Log) -> None:
        self.program = program
        self.log = log
        self.lock = threading.RLock()
        self.clients: dict[str, ServerConnection] = {}
        self.open: set[ServerConnection] = set()
        self.stored: dict[str, list[tuple[float, dict[str, Any]]]] = {}
        self.overloads = 0
        self.server: Server
        self.port = 0
        self.start()

    def start(self) -> None:
        # The WebSocket pings of the real relays: a half-open connection ends after up to 60 s.
        self.server = serve(self.handle, "127.0.0.1", self.port, ping_interval=30, ping_timeout=30)
        self.port = self.server.socket.getsockname()[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kill(self) -> None:
        """Ends all connections without a word, and forgets everything."""
        self.server.shutdown()
        with self.lock:
            for connection in self.open:
                end(connection.socket)
            self.clients, self.stored, self.open = {}, {}, set()

    def handle(self, connection: ServerConnection) -> None:
        me: str | None = None
        recent: deque[tuple[float, int]] = deque()
        with self.lock:
            self.open.add(connection)
        try:
            for text in connection:
                frame = json.loads(text)
                if self.program == "node2" and self.overloaded(recent, len(text)):
                    self.log(f"relay: {str(me)[-6:]} sends too much")
                    self.overloads += 1
                    refusal = {"type": "error", "error": "Signaling server is overloaded", "code": "OVERLOADED"}
                    self.say(connection, refusal | {"reason": "PEER_MESSAGE_LIMIT", "retryAfterMs": 1000})
                    connection.close(1013)
                    break
                if frame["type"] == "register":
                    me = frame["peerId"]
                    self.register(connection, frame)
                elif frame["type"] == "ping":
                    self.say(connection, {"type": "pong", "timestamp": 1})
                elif frame["type"] == "message":
                    self.route(connection, me, frame)
        except (ConnectionClosed, OSError):
            pass
        with self.lock:
            self.open.discard(connection)
            loses = self.program in ("node1", "app")
            if me is not None and (loses or self.clients.get(me) is connection):
                newest = self.clients.pop(me, None)
                lost = newest is not None and newest is not connection
                self.log(f"relay: connection of {me[-6:]} ended{', and its newer one is not listed any more' * lost}")

    def overloaded(self, recent: deque[tuple[float, int]], size: int) -> bool:
        now = time.monotonic()
        recent.append((now, size))
        while recent[0][0] <= now - RATE_SECONDS:
            recent.popleft()
        return len(recent) > RATE_FRAMES or sum(size for _, size in recent) > RATE_BYTES

    def register(self, connection: ServerConnection, frame: dict[str, Any]) -> None:
        peer = frame["peerId"]
        with self.lock:
            old = self.clients.get(peer)
            if old is not None and (old is not connection or self.program in ("node1", "app")):
                threading.Thread(target=old.close, daemon=True).start()
            self.clients[peer] = connection
            self.log(f"relay: {frame.get('deviceType')} {peer[-6:]} registered{' again' * (old is connection)}")
            self.say(connection, {"type": "registered", "peerId": peer})
            for at, message in self.stored.pop(peer, []):
                if self.program != "public":
                    stored = {"type": "offline-message", "originalMessage": message, "storedAt": int(at * 1000)}
                    self.say(connection, stored)
                elif time.time() - at < 300:
                    self.say(connection, message)

    def route(self, connection: ServerConnection, me: str | None, frame: dict[str, Any]) -> None:
        sender = frame.get("from") if self.program == "app" and me is None else me
        if self.program == "node2" and me is None:
            return self.say(connection, {"type": "error", "error": "Register first", "code": "REGISTRATION_REQUIRED"})
        message = {"type": "message", "payload": frame["payload"], "timestamp": int(time.time() * 1000)}
        message |= {"from": sender} if sender is not None else {}
        if self.program == "public":
            message = frame
        with self.lock:
            target = self.clients.get(frame["to"])
            if frame["to"] == me:
                self.log(f"relay: probe of {me[-6:]} {'came back' if target else 'found it absent'}")
            if target is not None:
                return self.say(target, message)
            limit = 50 if self.program == "public" else 100
            self.stored[frame["to"]] = [*self.stored.get(frame["to"], []), (time.time(), message)][-limit:]
        if self.program != "public":
            self.say(connection, {"type": "peer-offline", "peerId": frame["to"], "messageType": "message"})
        return None

    def say(self, connection: ServerConnection, frame: dict[str, Any]) -> None:
        try:
            connection.send(json.dumps(frame))
        except (ConnectionClosed, OSError):
            pass


class Network:
    """What is between a peer and its relay."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs: list[tuple[socket.socket, socket.socket, threading.Event]] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.relay.port), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            dead = threading.Event()
            self.pairs.append((near, far, dead))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(source, target, dead), daemon=True).start()

    def pump(self, source: socket.socket, target: socket.socket, dead: threading.Event) -> None:
        try:
            while data := source.recv(1 << 16):
                if not dead.is_set():
                    target.sendall(data)
        except OSError:
            pass
        if not dead.is_set():
            end(source, target)

    def cut(self) -> None:
        for near, far, _ in self.take():
            end(near, far)

    def half_open(self) -> None:
        for _, _, dead in self.take():
            dead.set()

    def change(self, delay: float) -> None:
        for near, far, dead in self.take():
            dead.set()
            end(near)
            threading.Timer(delay, end, [far]).start()

    def take(self) -> list[tuple[socket.socket, socket.socket, threading.Event]]:
        pairs, self.pairs = self.pairs, []
        return pairs

    def close(self) -> None:
        self.listener.close()
        self.cut()


def end(*sockets: socket.socket) -> None:
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        one.close()


class Run:
    def __init__(self, program: str, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.program = program
        self.chance = random.Random(f"{options.seed} {program}")
        self.log = Log(options.log)
        self.relay = Relay(program, self.log)
        self.near = {"desktop": Network(self.relay), "device": Network(self.relay)}
        self.arrived: list[str] = []
        self.arrivals: queue.Queue[str] = queue.Queue()
        self.folder = folder
        self.outages: dict[str, list[float]] = {}
        self.processes: list[subprocess.Popen[bytes]] = []

    def url(self, role: str) -> str:
        return f"ws://127.0.0.1:{self.near[role].port}"

    def command(self, *arguments: str) -> list[str]:
        return [str(self.options.bellwire), *arguments]

    def start(self) -> None:
        desktop = self.command(
            *("desktop", "--relay-url", self.url("desktop"), "--state-dir", str(self.folder / "desktop"), "--json")
        )
        state = ["--state-dir", str(self.folder / "device")]
        pairing = subprocess.Popen([*desktop, "--pair"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.processes.append(pairing)
        assert pairing.stdout
        for line in pairing.stdout:
            event = json.loads(line)
            if event["event"] == "offer":
                offer = json.loads(event["data"]["payload"])
                offer |= {"signalingUrl": None, "relayUrl": self.url("device")}
                paired = self.command("pair", json.dumps(offer), *state)
                subprocess.run(paired, check=True, stdout=subprocess.DEVNULL, timeout=60)
                break
        pairing.terminate()
        pairing.wait(15)
        pipe = subprocess.PIPE
        self.desktop = subprocess.Popen(
            [*desktop, "--stdin", "--no-pair"], stdin=pipe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.device = subprocess.Popen(self.command("listen", "--json", *state), stdout=pipe, stderr=subprocess.DEVNULL)
        self.processes += [self.desktop, self.device]
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        assert self.device.stdout
        for line in self.device.stdout:
            event = json.loads(line)
            if event["event"] == "notification.received":
                self.arrived.append(event["data"]["title"])
                self.arrivals.put(event["data"]["title"])

    def push(self, number: int) -> None:
        assert self.desktop.stdin
        self.desktop.stdin.write((json.dumps({"title": str(number)}) + "\n").encode())
        self.desktop.stdin.flush()

    def wait(self, number: int) -> None:
        """Until this push is there."""
        deadline = time.monotonic() + self.options.limit
        try:
            while self.arrivals.get(timeout=max(0.0, deadline - time.monotonic())) != str(number):
                pass
        except queue.Empty:
            raise SystemExit(f"{self.program}: push {number} didn't arrive in {self.options.limit} s") from None

    def fault(self, kind: str) -> None:
        side = self.chance.choice(["desktop", "device"])
        network = self.near[side]
        self.log(f"fault: {kind}" + f" at the {side}" * (kind != "relay"))
        if kind == "cut":
            network.cut()
        elif kind == "change":
            network.change(self.chance.uniform(0.2, 3))
        elif kind == "half-open":
            network.half_open()
        else:
            self.relay.kill()
            time.sleep(self.chance.uniform(0, 1))
            self.relay.start()

    def run(self) -> list[str]:
        self.start()
        self.push(0)
        self.wait(0)
        # Every second number at most: the next push shows when the peers are reachable again.
        places = range(1, self.options.pushes - 1, 2)
        kinds = itertools.cycle(self.options.kinds.split(","))
        breaks = dict(zip(sorted(self.chance.sample(places, self.options.faults)), kinds, strict=False))
        broken_at: float | None = None
        kind = ""
        for number in range(1, self.options.pushes):
            self.push(number)
            if broken_at is not None:
                self.wait(number)
                self.outages.setdefault(kind, []).append(time.monotonic() - broken_at)
                self.log(f"reachable again after {self.outages[kind][-1]:.1f} s")
                broken_at = None
            if number in breaks:
                kind = breaks[number]
                broken_at = time.monotonic()
                self.fault(kind)
                time.sleep(self.chance.uniform(0, 0.5))
        if self.arrived[-1:] != [str(self.options.pushes - 1)]:
            self.wait(self.options.pushes - 1)
        titles = Counter(self.arrived)
        wanted = [str(number) for number in range(self.options.pushes)]
        lost = sum(1 for title in wanted if title not in titles)
        doubled = sum(count - 1 for count in titles.values())
        inorder = list(dict.fromkeys(self.arrived)) == [title for title in wanted if title in titles]
        faults = ", ".join(
            f"{len(times)} {kind} {statistics.median(times):.1f}/{max(times):.1f} s"
            for kind, times in sorted(self.outages.items())
        )
        longest = max((time for times in self.outages.values() for time in times), default=0.0)
        print(
            f"{self.program:7} {len(wanted):6} pushes  {lost:3} lost  {doubled:3} doubled  "
            f"{'in order' if inorder else 'OUT OF ORDER'}  reachable again within {longest:5.1f} s  "
            f"(median/longest: {faults})",
            flush=True,
        )
        broken = []
        if self.relay.overloads:
            broken.append(f"{self.program}: the relay closed {self.relay.overloads} connections for sending too much")
        if lost or doubled or not inorder:
            broken.append(f"{self.program}: lost, doubled or out of order")
        if longest > self.options.bound:
            broken.append(f"{self.program}: reachable again only after {longest:.1f} s")
        return broken

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        for network in self.near.values():
            network.close()
        self.relay.kill()


def main() -> int:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--pushes", type=int, default=1_000)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--relays", default=",".join(PROGRAMS))
    parser.add_argument("--bellwire", type=Path, default=ROOT / ".build/debug/bellwire")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--bound", type=float, default=70)
    parser.add_argument("--limit", type=float, default=130)
    parser.add_argument("--log", action="store_true")
    options = parser.parse_args()
    if options.help:
        print(__doc__)
        return 0
    broken = []
    for program in options.relays.split(","):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(program, options, Path(folder))
            try:
                broken += run.run()
            finally:
                run.close()
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
