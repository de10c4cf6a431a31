"""What one network of strangers can make a relay spend, attack by attack: memory, answers and room in its stores.

The bounds are of memory and counts, which no busy machine changes; processor time and the honest peers' waits are
recorded.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from programs import private_memory
from relay_node import Client, Node, Start, head
from test_relay_abuse import processor_seconds, upgraded
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

Record = Callable[[str, object], None]
# An attack gets the relay's URL and the moment at which it ends, and says how many bytes it has sent, and what it got.
Attack = Callable[[str, float], dict[str, int]]

SECONDS = float(os.environ.get("BELLWIRE_ABUSE_SECONDS", "2"))
# Loopback is another network for the honest ones, and has the limits of all.
HONEST = {"source_address": ("127.0.0.9", 0)}
MIB = 2**20


def test_large_frames_wait_for_the_next_second_and_none_is_lost(bellwire: Start) -> None:
    node = Node(bellwire, "--limit-loopback", "--max-bytes-per-second", "1000000")
    sender, receiver = node.peer("sender", **HONEST), node.peer("receiver", **HONEST)
    begin = time.monotonic()
    for number in range(12):
        sender.message("receiver", {"number": number, "text": "x" * 500_000})
    got = [receiver.next("message")["payload"]["number"] for _ in range(12)]
    assert got == list(range(12))
    # Two or three in each second: at least three seconds began while they came.
    assert time.monotonic() - begin > 2
    sender.settle()


@dataclass
class Spent:
    memory: float
    got: dict[str, int]


def attacked(node: Node, attack: Attack, name: str, record: Record, tls: ssl.SSLContext | None = None) -> Spent:
    """Attacks for a while, with an honest peer beside it that must be served, and records what it cost."""
    pid = node.program.process.pid
    honest = node.peer("honest", ssl=tls, **HONEST)
    before, used = private_memory(pid), processor_seconds(pid)
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def run(answer: Connection) -> None:
        answer.send(attack(node.url, time.monotonic() + SECONDS))

    attacker = multiprocessing.get_context("fork").Process(target=run, args=(sender,))
    attacker.start()
    waits, most = [], 0
    while not receiver.poll():
        assert attacker.is_alive() or receiver.poll(), "the attack ended with an error"
        begin = time.monotonic()
        honest.settle()
        waits.append((time.monotonic() - begin) * 1000)
        most = max(most, private_memory(pid) - before)
        time.sleep(0.01)  # a hundred a second: they are what is measured, not what takes the time
    got: dict[str, int] = receiver.recv()
    attacker.join(20)
    spent = processor_seconds(pid) - used
    megabytes = got["bytes"] / 1e6
    record(f"{name}, MiB", f"{most / MIB:.1f}")
    record(f"{name}, CPU ms for each MB sent", f"{spent * 1000 / megabytes:.1f}" if megabytes >= 0.1 else "-")
    record(f"{name}, share of a core", f"{spent / SECONDS:.2f}")
    record(f"{name}, honest p99 in ms", f"{sorted(waits)[len(waits) * 99 // 100]:.1f}")
    record(f"{name}, what it got", json.dumps(got))
    # Who is honest is still let in, and served.
    node.peer("late", ssl=tls, **HONEST).settle()
    honest.settle()
    return Spent(most / MIB, got)


@pytest.fixture
def node(bellwire: Start) -> Node:
    return Node(bellwire, "--limit-loopback")


def handled(client: Client, *kinds: str) -> int:
    """What was sent has been handled; how many frames of these types came. Of the rest of a second that has had too much
    nothing is answered, a ping neither: it is sent again."""
    count = 0
    while True:
        client.send(type="ping")
        with contextlib.suppress(TimeoutError):
            while client.next(*kinds, "pong", timeout=0.2)["type"] != "pong":
                count += 1
            return count


def pieces(payload: Any, end: float, url: str) -> dict[str, int]:
    """Sends one buffer over and over, on a new connection when the relay has had enough."""
    data, sent, connections = memoryview(payload), 0, 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError, AssertionError), upgraded(url, f"attacker-{connections}") as connection:
            connections += 1
            connection.settimeout(0.5)
            while time.monotonic() < end:
                sent += connection.send(data)
    return {"bytes": sent, "connections": connections}


def test_messages_in_fragments_of_a_byte(node: Node, record_property: Record) -> None:
    def attack(url: str, end: float) -> dict[str, int]:
        fragments = b"\x01\x81\0\0\0\0x" + b"\x00\x81\0\0\0\0x" * 20_000 + b"\x80\x81\0\0\0\0x"
        return pieces(fragments, end, url)

    assert attacked(node, attack, "fragments", record_property).memory < 32


def dribble(connections: list[socket.socket], data: bytes, end: float) -> dict[str, int]:
    """A byte at a time on each connection, in turn; an end by the relay is counted."""
    sent = ended = 0
    for index in range(len(data) - 1):
        for connection in list(connections):
            if time.monotonic() >= end:
                return {"bytes": sent, "ended": ended, "left": len(connections)}
            try:
                sent += connection.send(data[index : index + 1])
            except OSError:
                connections.remove(connection)
                ended += 1
    return {"bytes": sent, "ended": ended, "left": len(connections)}


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["http", "tls"])
def test_handshakes_a_byte_at_a_time(
    bellwire: Start, tmp_path: Path, record_property: Record, is_encrypted: bool
) -> None:
    options: list[str | Path] = []
    tls = None
    if is_encrypted:
        authority = Authority(tmp_path / "ca")
        certificate, key = authority.issue("relay", "IP:127.0.0.1")
        options = ["--tls-certificate", certificate, "--tls-key", key]
        tls = ssl.create_default_context(cafile=str(authority.file))
    node = Node(bellwire, "--limit-loopback", *options)

    def attack(url: str, end: float) -> dict[str, int]:
        address = ("127.0.0.1", node.port)
        connections = [socket.create_connection(address, timeout=5) for _ in range(500)]
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(510)
        return dribble(connections, hello if is_encrypted else head("/" + "x" * 400), end)

    name = "TLS handshakes by the byte" if is_encrypted else "HTTP heads by the byte"
    assert attacked(node, attack, name, record_property, tls).memory < 64


def test_one_new_key_after_another(node: Node, record_property: Record) -> None:
    def attack(url: str, end: float) -> dict[str, int]:
        proved = refused = sent = 0
        while time.monotonic() < end:
            client = Client(connect(url, proxy=None, close_timeout=1))
            answer = client.prove(Ed25519PrivateKey.generate(), url)
            proved, refused = proved + (answer["type"] == "registered"), refused + (answer["type"] == "error")
            # As much as it may: what it stores counts for its network, with whatever key.
            with contextlib.suppress(ConnectionClosed):
                client.message("nobody", "x" * 900_000)
                handled(client)
            sent += 900_000
            client.close()
        return {"bytes": sent, "proved": proved, "refused": refused}

    spent = attacked(node, attack, "new keys", record_property)
    assert spent.got["proved"] > 0
    assert spent.memory < 64
    assert node.metric("bellwire_relay_stored_bytes") <= 16 * MIB


def test_stores_that_are_filled(node: Node, record_property: Record) -> None:
    def attack(url: str, end: float) -> dict[str, int]:
        client = Client(connect(url, proxy=None, max_size=2 * MIB))
        client.register("attacker")
        sent = count = 0
        while time.monotonic() < end:
            client.message(f"absent-{count}", "x" * 500_000)
            handled(client)
            sent, count = sent + 500_000, count + 1
        return {"bytes": sent, "frames": count}

    spent = attacked(node, attack, "stores", record_property)
    assert spent.memory < 64
    # A quarter is what one network may have, and it leaves the others theirs.
    assert node.metric("bellwire_relay_stored_bytes") <= 16 * MIB
    honest = node.peer("friend", **HONEST)
    honest.message("absent friend", {"n": 1})
    honest.next("peer-offline")
    friend = node.peer("absent friend", **HONEST)
    assert friend.next("offline-message")["originalMessage"]["payload"] == {"n": 1}


def test_questions_for_the_presence_of_others(node: Node, record_property: Record) -> None:
    def attack(url: str, end: float) -> dict[str, int]:
        client = Client(connect(url, proxy=None))
        client.register("attacker")
        sent = answered = refused = count = 0
        while time.monotonic() < end:
            for _ in range(50):
                count += 1
                text = json.dumps({"type": "peer-status", "peerId": f"did:key:z6Mk{count}"})
                sent += len(text)
                client.connection.send(text)
            with contextlib.suppress(TimeoutError):
                for _ in range(50):
                    kind = json.loads(client.connection.recv(timeout=0.05))["type"]
                    answered, refused = answered + (kind != "error"), refused + (kind == "error")
        return {"bytes": sent, "answered": answered, "refused": refused}

    spent = attacked(node, attack, "presence", record_property)
    assert spent.memory < 16
    # 200 a second, and those of the second that had begun.
    assert spent.got["answered"] <= 200 * (SECONDS + 2)


def test_codes_that_are_guessed(node: Node, record_property: Record) -> None:
    def attack(url: str, end: float) -> dict[str, int]:
        answered = sent = 0
        number = 0
        # The relay counts by the minutes of this clock, and looks at it less often.
        begin = time.monotonic() - 1
        while time.monotonic() < end:
            # A new connection is no new guesser.
            client = Client(connect(url, proxy=None))
            client.register(f"guesser-{number}")
            for _ in range(40):
                number += 1
                text = json.dumps({"type": "message", "to": f"pairing-code:{number:06}", "payload": {"n": 1}})
                sent += len(text)
                client.connection.send(text)
            answered += handled(client, "peer-offline")
            client.close()
        minutes = int(time.monotonic() // 60 - begin // 60) + 1
        return {"bytes": sent, "guessed": number, "answered": answered, "minutes": minutes}

    spent = attacked(node, attack, "nameplates", record_property)
    assert spent.memory < 16
    assert spent.got["guessed"] > 120 and spent.got["answered"] <= 60 * spent.got["minutes"]
