"""What strangers can make a relay spend, measured in its own process: memory for unfinished messages, CPU for pings."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path

from peers import Peer
from programs import Program, private_memory

Start = Callable[..., Program]
Record = Callable[[str, object], None]

HEAD = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def upgraded(url: str, peer_id: str) -> socket.socket:
    host, port = url.removeprefix("ws://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=10)
    register = json.dumps({"type": "register", "peerId": peer_id}).encode()
    connection.sendall(HEAD + bytes([0x81, 0x80 | len(register)]) + bytes(4) + register)
    seen = b""
    while b'"registered"' not in seen:
        part = connection.recv(4096)
        assert part, "the relay ended the connection"
        seen += part
    return connection


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def round_trips(peer: Peer, seconds: float) -> list[float]:
    """How long the relay's answers take, in milliseconds."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        assert peer.is_answered()
        times.append((time.monotonic() - begin) * 1000)
        time.sleep(0.01)  # a hundred a second: they are what is measured, not what takes the time
    return sorted(times)


def test_unfinished_messages_hold_a_budget_and_not_for_long(bellwire: Start, record_property: Record) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", "--message-within-ms", "20000")
    url = program.line(r"ws://\S+").group()
    pid = program.process.pid
    honest = Peer(url, "honest")
    before = private_memory(pid)
    fragment = b"\x01\xff" + (990_000).to_bytes(8, "big") + bytes(4) + b"x" * 990_000
    attackers = [upgraded(url, f"attacker-{number}") for number in range(500)]
    for attacker in attackers:
        # Some are closed while they send: that is what this is about.
        with contextlib.suppress(OSError):
            attacker.sendall(fragment)
            attacker.sendall(b"\x89\x80" + bytes(4))
    assert honest.is_answered()
    # What the closed ones held goes back to the system within seconds; what is incomplete stays.
    end = time.monotonic() + 8
    while (held := private_memory(pid) - before) > 100 * 2**20 and time.monotonic() < end:
        assert honest.is_answered()
        time.sleep(0.1)
    record_property("unfinished messages, MiB", f"{held / 2**20:.0f}")
    assert held < 100 * 2**20
    # All end, and an honest message of that length gets through meanwhile.
    other = Peer(url, "other")
    honest.message("other", {"text": "x" * 990_000})
    assert len(other.receive("message")["payload"]["text"]) == 990_000
    for attacker in attackers:
        attacker.settimeout(30)
        with contextlib.suppress(ConnectionError):
            while attacker.recv(65536):
                pass
        attacker.close()
    assert honest.is_answered()


def flood(url: str, seconds: float) -> None:
    """Sends pings as fast as they are taken, and connects again when the relay has had enough."""
    pings = b"\x89\x80\0\0\0\0" * 20_000
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        with contextlib.suppress(OSError), upgraded(url, f"flood-{number}") as connection:
            connection.setblocking(False)
            sent = 0
            while time.monotonic() < end:
                readable, writable, _ = select.select([connection], [connection], [], 1)
                if readable and not connection.recv(1 << 20):
                    break
                if writable:
                    sent = (sent + connection.send(pings[sent:])) % len(pings)


def test_a_flood_of_pings_costs_the_others_little(bellwire: Start, record_property: Record) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health")
    url = program.line(r"ws://\S+").group()
    pid = program.process.pid
    honest = Peer(url, "honest")
    flooder = multiprocessing.get_context("fork").Process(target=flood, args=(url, 6.0))
    flooder.start()
    time_before, used_before = time.monotonic(), processor_seconds(pid)
    times = round_trips(honest, 5)
    share = (processor_seconds(pid) - used_before) / (time.monotonic() - time_before)
    flooder.join(20)
    p99 = times[len(times) * 99 // 100]
    record_property("ping flood, share of a core", f"{share:.2f}")
    record_property("ping flood, honest p99 in ms", f"{p99:.1f}")
    assert share < 0.6
    assert p99 < 100
