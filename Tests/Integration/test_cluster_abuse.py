"""A cluster of relays, and what does it harm: a reader that stalls, foreign messages, a disk that is full."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import json
import resource
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats_servers import NATS
from programs import private_memory
from relay_node import Client, Join, Node, did_of
from test_cluster import next_stored, reach, store
from test_relay_abuse import upgraded

Record = Callable[[str, object], None]
MIB = 2**20


def number_of(text: str) -> int:
    return int(text.split()[0])


def flood(sender: Client, to: str, stored: list[int]) -> None:
    """Sends numbered messages until some were stored, and collects the numbers of those that were, as it is told."""

    def read(timeout: float) -> None:
        stored.append(int(sender.next("peer-offline", timeout=timeout)["messageId"]))

    for number in itertools.count():
        sender.send(type="message", to=to, messageId=f"{number}", payload=f"{number} {'x' * 60_000}")
        with contextlib.suppress(TimeoutError):
            while True:
                read(0)
        if stored and number >= stored[0] + 20:
            break
    # Whoever has gone takes nothing any more.
    while len(stored) <= number - stored[0]:
        read(10)


def test_a_reader_that_stalls_holds_up_nobody_and_leaves_what_follows_in_order(
    join: Join, record_property: Record
) -> None:
    one, two = nodes = join("one"), join("two")
    alice = one.peer("alice", compression=None)
    here, there = one.peer("here"), two.peer("there")
    reach(here, "there", there)
    stored: list[int] = []
    waits: list[float] = []
    before = [private_memory(node.program.pid) for node in nodes]
    most = [0, 0]
    with upgraded(two.url, "stalled"):
        flooding = threading.Thread(target=flood, args=(alice, "stalled", stored))
        flooding.start()
        while flooding.is_alive():
            begin = time.monotonic()
            here.message("there", len(waits))
            while there.next("message")["payload"] != len(waits):
                pass
            waits.append(time.monotonic() - begin)
            for index, node in enumerate(nodes):
                most[index] = max(most[index], private_memory(node.program.pid) - before[index])
    record_property("a stalled reader: longest wait of others, ms", f"{max(waits) * 1000:.0f}")
    record_property("a stalled reader: MiB at the sender's relay and its own", [f"{each / MIB:.0f}" for each in most])
    assert max(waits) < 1
    assert max(most) < 64 * MIB
    ended = 'bellwire_relay_connections_ended_total{reason="slow_reader"}'
    assert [node.metric(ended) for node in nodes] == [0, 1]
    assert [node.metric("bellwire_relay_nats_disconnections_total") for node in nodes] == [0, 0]
    # All from the first one on that its relay did not take; the oldest of them are displaced.
    assert stored == list(range(stored[0], stored[0] + len(stored)))
    again = two.peer("stalled", compression=None)
    got: list[int] = []
    while not got or got[-1] != stored[-1]:
        got.append(number_of(again.next("offline-message")["originalMessage"]["payload"]))
    assert got == stored[-len(got) :] and len(got) >= 20
    reach(alice, "stalled", again)


class Stranger:
    """A program that may publish on the relays' subjects."""

    def __init__(self, nats: NATS) -> None:
        self._stream = socket.create_connection(("127.0.0.1", nats.port), timeout=10)
        self._reader = self._stream.makefile("rb")
        self._stream.sendall(b'CONNECT {"verbose":false}\r\nSUB _INBOX.stranger 1\r\n')
        self.settle()

    def publish(self, name: bytes, payload: bytes, reply: str = "") -> None:
        """To the holder of an id."""
        hashed = hashlib.blake2b(name, digest_size=16).digest()
        subject = f"bw.p.{hashed[:1].hex()}.{base64.urlsafe_b64encode(hashed).rstrip(b'=').decode()}"
        self._stream.sendall(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def ask(self, name: bytes, payload: bytes) -> bytes:
        self.publish(name, payload, "_INBOX.stranger")
        while not (line := self._reader.readline()).startswith(b"MSG "):
            assert line not in (b"", b"-ERR"), "the NATS server closed the connection"
        return self._reader.read(int(line.split()[-1]) + 2)[:-2]

    def settle(self) -> None:
        self._stream.sendall(b"PING\r\n")
        while (line := self._reader.readline()) != b"PONG\r\n":
            assert line.startswith((b"INFO", b"PING")), line

    def close(self) -> None:
        self._reader.close()
        self._stream.close()


FRAMES, KEPT, CLAIM, LEFT = 1, 2, 4, 7
TAKEN, ABSENT, STAYS = b"\1", b"\2", b"\6"


def named(name: bytes) -> bytes:
    return len(name).to_bytes(2) + name


def about(name: bytes, kind: int, rest: bytes = b"") -> bytes:
    """As relays write it."""
    return bytes([1, kind, 0]) + named(name) + rest


def frame(sender: bytes, content: bytes, is_sealed: bool = False) -> bytes:
    return bytes([is_sealed]) + named(sender) + len(content).to_bytes(4) + content


def message(sender: str, payload: str) -> bytes:
    return json.dumps({"type": "message", "from": sender, "payload": payload}).encode()


def test_foreign_messages_on_the_subjects_do_no_harm(join: Join, nats: NATS) -> None:
    one = join("one", "--max-frame-bytes", "100000")
    alice = one.peer("alice")
    stranger = Stranger(nats)
    most = 2_000_000  # NATS's max_payload
    malformed = [
        b"",
        b"\0",
        b"hello",
        bytes(range(256)),
        b"\xff" * 100_000,
        b"\xff" * most,
        about(b"alice", FRAMES),
        about(b"bob", FRAMES, frame(b"bob", b"{}")),
        about(b"alice", FRAMES, frame(b"", b"{}")),
        about(b"alice", FRAMES, frame(b"x" * 257, b"{}")),
        about(b"alice", FRAMES, frame(b"bob", b"{}")[:-1]),
        about(b"alice", FRAMES, b"\0" + named(b"bob") + b"\xff\xff\xff\xff{}"),
        about(b"alice", FRAMES, frame(b"bob", b"x" * (most - 50)) + b"\0"),
        about(b"alice", CLAIM, bytes(8)),
        about(b"alice", LEFT),
        about(b"alice", 99),
    ]
    for payload in malformed:
        stranger.publish(b"alice", payload)
    stranger.settle()
    one.wait("bellwire_relay_cluster_ignored_total", lambda value: value == len(malformed))
    before = private_memory(one.program.pid)
    # What is well-formed and larger than a peer's frames may be is not taken; neither is what only a proved id gets.
    for content in (message("bob", "x" * 100_000), message("bob", "x" * (most - 200))):
        assert stranger.ask(b"alice", about(b"alice", FRAMES, frame(b"bob", content))) == ABSENT
        assert stranger.ask(b"alice", about(b"alice", KEPT, bytes(8) + content)) == ABSENT
    many = most // len(frame(b"b", b"x", True)) - 10
    assert stranger.ask(b"alice", about(b"alice", FRAMES, frame(b"b", b"x", True) * many)) == ABSENT * many
    for _ in range(20):
        stranger.publish(b"alice", about(b"alice", FRAMES, frame(b"bob", message("bob", "x" * (most - 200)))))
    stranger.settle()
    # A sender's name is believed, as the page says, and whoever holds the id keeps it against a claim.
    assert stranger.ask(b"alice", about(b"alice", FRAMES, frame(b"bob", message("bob", "forged")))) == TAKEN
    assert stranger.ask(b"alice", about(b"alice", CLAIM, bytes(8) + named(b"nowhere"))) == STAYS
    assert private_memory(one.program.pid) - before < 64 * MIB
    stranger.close()
    bob = one.peer("bob")
    bob.message("alice", "true")
    got = [alice.next("message", "offline-message", "error") for _ in range(2)]
    assert [(each["from"], each["payload"]) for each in got] == [("bob", "forged"), ("bob", "true")]
    assert alice.until_settled("message", "offline-message", "error") == []
    assert one.metric("bellwire_relay_cluster_ignored_total") == len(malformed)


def limit_files(node: Node, size: int) -> None:
    resource.prlimit(node.program.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_frames_that_a_full_disk_does_not_take_cross_to_other_relays(join: Join) -> None:
    one, two = join("one"), join("two")
    alice = one.peer("alice")
    limit_files(one, 1)
    store(alice, "bob", 20)
    one.log("store_failing")
    bob = two.peer("bob")
    next_stored(bob, 20)
    one.wait("bellwire_relay_stored_frames", lambda value: value == 0)
    # Proofs are on the other relays' list, whatever becomes of this one's.
    key = Ed25519PrivateKey.generate()
    holder = one.peer()
    assert holder.prove(key, one.url)["type"] == "registered"
    holder.close()
    assert two.peer().register(did_of(key))["code"] == "proof_required"
    limit_files(one, resource.RLIM_INFINITY)
    one.log("store_recovered")
    store(alice, "carol", 20)
    one.wait("bellwire_relay_store_pending", lambda value: value == 0)
    bob.close()
    one.program.kill()
    join("one")
    next_stored(two.peer("carol"), 20)
    assert two.peer("bob").until_settled("offline-message", "message") == []


def test_a_relay_whose_databases_are_damaged_still_protects_proved_ids(join: Join, tmp_path: Path) -> None:
    one, two = join("one"), join("two")
    key = Ed25519PrivateKey.generate()
    assert one.peer().prove(key, one.url)["type"] == "registered"
    store(one.peer("alice"), "bob", 1)
    one.program.end()
    for name in ("relay.db", "frames.db"):
        assert (tmp_path / "one" / name).exists()
        for path in (tmp_path / "one").glob(f"{name}*"):
            path.write_bytes(b"not a database" * 1000)
    one = join("one", waits=False)
    for _ in range(2):
        one.log("database_damaged")
    one.log("nats_connected")
    assert one.peer().register(did_of(key))["code"] == "proof_required"
    assert one.peer().register(did_of(Ed25519PrivateKey.generate()))["type"] == "registered"
    alice, bob = one.peer("alice"), two.peer("bob")
    assert bob.until_settled("offline-message") == [], "what only the damaged file had is lost"
    reach(alice, "bob", bob)
    store(alice, "carol", 20)
    next_stored(two.peer("carol"), 20)
