"""A relay on a disk as a loss of power leaves it: what the relay had said holds."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
import shutil
import signal
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from lost_power import Disk, Record, losses, note, read_records, write_contents
from relay_node import Client, Node, Start
from relay_steps import (
    ALL_STEPS,
    SteppedRelays,
    is_damaged,
    send_numbers,
    stored_numbers,
    until_committed,
)

#: How many disks a relay is started on in a normal run.
SAMPLE = 120
SEEDS = 5 if ALL_STEPS else 1


@dataclass(frozen=True)
class Promise:
    """What the relay had said."""

    #: Ids whose registration with a proof was answered.
    proved: frozenset[str] = frozenset()
    #: How many of the frames that were ever sent are committed.
    committed: int = 0
    #: Of each peer: how many frames are deleted, and how many it may have got.
    deleted: dict[str, int] = field(default_factory=dict)
    delivered: dict[str, int] = field(default_factory=dict)


@dataclass
class Recording:
    """What a relay did to its state directory in several lives, and what was sent to it."""

    records: list[Record]
    #: Frames in the order in which they were sent: the peer, and the number among its frames.
    sent: list[tuple[str, int]]

    def promises(self) -> Iterator[Promise]:
        """After each record."""
        promise = Promise()
        before = 0
        for record in self.records:
            if record.kind == "b":
                before = promise.committed
            elif record.kind == "o":
                if found := re.search(rb'"type":"registered","peerId":"(did:key:\w+)"', record.data):
                    promise = replace(promise, proved=promise.proved | {found[1].decode()})
                elif found := re.search(rb"\nbellwire_relay_store_committed_total (\d+)", record.data):
                    promise = replace(promise, committed=before + int(found[1]))
            elif record.kind == "p":
                what, peer, count = json.loads(record.data)
                if what == "delivered":
                    promise = replace(promise, delivered={**promise.delivered, peer: count})
                else:
                    promise = replace(promise, deleted={**promise.deleted, peer: count})
            yield promise

    def name_at(self, index: int) -> str:
        """The file of a record."""
        inode = self.records[index].inode
        return [record.name for record in self.records[:index] if (record.kind, record.inode) == ("c", inode)][-1]

    def expected(self, promise: Promise, peer: str) -> tuple[int, int]:
        """How many frames of the peer are committed, and how many were sent to it."""
        return (
            sum(1 for name, _ in self.sent[: promise.committed] if name == peer),
            sum(1 for name, _ in self.sent if name == peer),
        )


class Lives:
    """The relay that is recorded, and its peers."""

    def __init__(self, relays: SteppedRelays, directory: Path) -> None:
        self.directory = directory
        self.record = directory.with_name("record")
        self._bellwire = relays.bellwire(directory, self.record)
        self._sent: list[tuple[str, int]] = []
        self._committed = 0

    def begin(self) -> None:
        self.node = Node(self._bellwire, "--state-dir", self.directory / "state", "--log-format", "json")
        self.alice = self.node.peer("alice")
        self._committed = 0

    def prove(self, count: int) -> None:
        clients: list[tuple[Client, Ed25519PrivateKey]] = []
        for _ in range(count):
            clients.append((self.node.peer(), Ed25519PrivateKey.generate()))
            clients[-1][0].send_proof(clients[-1][1], self.node.url)
        for client, _ in clients:
            assert client.next("registered", "error")["type"] == "registered"

    def count(self, peer: str) -> int:
        return sum(1 for name, _ in self._sent if name == peer)

    def store(self, peer: str, count: int, size: int = 500) -> None:
        first = self.count(peer)
        self._sent += [(peer, first + number) for number in range(count)]
        send_numbers(self.alice, peer, range(first, first + count), size)
        self._committed += count
        until_committed(self.node, self._committed)

    def drain(self, peer: str) -> None:
        count = self.count(peer)
        note(self.record, json.dumps(["delivered", peer, count]).encode())
        client = self.node.peer(peer)
        assert stored_numbers(client)[-1] == count - 1
        client.close()
        # A frame for someone else hurries the deletion.
        self.store("carol", 1)
        self.node.wait("bellwire_relay_store_pending", lambda value: value == 0)
        note(self.record, json.dumps(["deleted", peer, count]).encode())

    def recording(self) -> Recording:
        return Recording(list(read_records(self.record)), self._sent)


def live(lives: Lives) -> Recording:
    """A kill, a log that is folded into the database and begun anew, and an end that deletes the log."""
    lives.begin()
    lives.prove(1)
    lives.store("bob", 3)
    lives.prove(2)
    lives.store("bob", 1)
    lives.store("carol", 4)
    lives.drain("bob")
    lives.node.program.kill()
    lives.begin()
    lives.prove(1)
    for _ in range(5):
        lives.store("bob", 18, size=50_000)
        lives.drain("bob")
    lives.store("bob", 2)
    lives.prove(1)
    assert lives.node.program.end(signal.SIGINT) == 130
    lives.begin()
    lives.store("bob", 2)
    lives.prove(1)
    lives.drain("bob")
    lives.store("bob", 2)
    lives.node.program.kill()
    return lives.recording()


class Disks:
    """Starts relays on disks."""

    def __init__(
        self,
        bellwire: Start,
        recording: Recording,
        directory: Path,
        without: Collection[int] = (),
        has_state: bool = True,
    ) -> None:
        """Without some records, as if their syncs had not been. `has_state`: the state directory was there before."""
        self.without = without
        self.bellwire = bellwire
        self.recording = recording
        self.directory = directory
        self._disk = Disk()
        if has_state:
            self._disk.apply(Record("m", 0, 0, b"state"))
            self._disk.apply(Record("d", 0, 0, b""))
        self._position = 0
        self._promises = list(recording.promises())
        self._digests: set[bytes] = set()

    @property
    def tried(self) -> int:
        return len(self._digests)

    def at(self, cut: int) -> tuple[Disk, Promise]:
        """The disk before a record, and what had been promised by then. The cuts rise."""
        for index in range(self._position, cut):
            if index not in self.without:
                self._disk.apply(self.recording.records[index])
        self._position = cut
        return self._disk, self._promises[cut - 1]

    def check(self, contents: dict[str, bytes | None], promise: Promise) -> None:
        """A relay starts there, names no damage, and what was promised holds."""
        digest = hashlib.sha256(repr((sorted(promise.proved), promise)).encode())
        for name, data in contents.items():
            digest.update(f"{name}\n{data and len(data)}\n".encode() + (data or b""))
        if digest.digest() in self._digests:
            return
        self._digests.add(digest.digest())
        write_contents(contents, self.directory)
        node = Node(self.bellwire, "--state-dir", self.directory / "state", "--log-format", "json")
        try:
            stranger = node.peer()
            for name in promise.proved:
                assert stranger.register(name).get("code") == "proof_required", f"{name} was forgotten"
            for peer in ("bob", "carol"):
                got = stored_numbers(node.peer(peer))
                committed, sent = self.recording.expected(promise, peer)
                deleted, delivered = promise.deleted.get(peer, 0), promise.delivered.get(peer, 0)
                first, end = (got[0], got[-1] + 1) if got else (delivered, delivered)
                assert got == list(range(first, end)), got
                assert deleted <= first <= delivered, (peer, deleted, got, delivered)
                assert committed <= end <= sent, f"of {peer}'s frames {committed} were committed, {got} are there"
            assert not is_damaged(node.program), node.program.err.all
        finally:
            node.program.kill()
            shutil.rmtree(self.directory)


@pytest.fixture
def recording(start: Start, steps_library: Path, tmp_path: Path) -> Recording:
    (tmp_path / "recorded/state").mkdir(mode=0o700, parents=True)
    return live(Lives(SteppedRelays(start, steps_library, tmp_path), tmp_path / "recorded"))


def cases_of(recording: Recording) -> list[tuple[int, int]]:
    """Where the power is lost: before each sync, and at the end. And what is lost.

    Before a sync most is open: whatever a loss at an earlier moment leaves, one at this moment can leave as well.
    """
    cuts = [index for index, record in enumerate(recording.records) if record.is_sync] + [len(recording.records)]
    return [(cut, number) for cut in cuts for number in range(len(losses(0)))]


def test_what_a_relay_said_holds_after_a_loss_of_power(bellwire: Start, recording: Recording, tmp_path: Path) -> None:
    cases = cases_of(recording)
    if not ALL_STEPS:
        # While the databases are made nothing was promised yet, and most can go wrong.
        begin = next(index for index, record in enumerate(recording.records) if record.kind == "o")
        later = [case for case in cases if case[0] > begin]
        cases = [case for case in cases if case[0] <= begin] + sorted(random.Random(1).sample(later, SAMPLE))
    tried = 0
    for seed in range(SEEDS):
        disks = Disks(bellwire, recording, tmp_path / "disk")
        for cut, cases_of_cut in itertools.groupby(cases, key=lambda case: case[0]):
            disk, promise = disks.at(cut)
            for _, number in cases_of_cut:
                loss = losses(1_000 * cut + seed)[number]
                try:
                    disks.check(disk.contents(loss), promise)
                except AssertionError as error:
                    where = f"before record {cut} of {len(recording.records)}"
                    raise AssertionError(f"{where}, lost: {loss.name}, seed {seed}: {error}") from error
        tried += disks.tried
    print(f"{len(recording.records)} records, {len(cases)} cases, {SEEDS} seeds, {tried} different disks")


def test_a_state_directory_that_the_relay_made_is_there_after_a_loss_of_power(
    start: Start, bellwire: Start, steps_library: Path, tmp_path: Path
) -> None:
    (tmp_path / "recorded").mkdir()
    lives = Lives(SteppedRelays(start, steps_library, tmp_path), tmp_path / "recorded")
    lives.begin()
    lives.prove(1)
    lives.store("bob", 3)
    lives.node.program.kill()
    disks = Disks(bellwire, lives.recording(), tmp_path / "disk", has_state=False)
    disk, promise = disks.at(len(disks.recording.records))
    disks.check(disk.contents(losses(0)[0]), promise)


def test_each_sync_before_a_promise_is_needed(bellwire: Start, recording: Recording, tmp_path: Path) -> None:
    """The test above would find a relay that promised something without it."""
    promises = list(recording.promises())
    needed = 0
    changes = [0, 0]
    for index, (before, after) in enumerate(itertools.pairwise(promises), 1):
        if (before.proved, before.committed) == (after.proved, after.committed):
            continue
        syncs = [number for number in range(index) if recording.records[number].kind == "s"]
        # A promise is heard of later than its sync, perhaps behind that of the next commit or of the other database.
        since = [number for number in syncs if number >= changes[-2]] or syncs[-1:]
        changes.append(index)
        if not all(recording.name_at(number).endswith("-wal") for number in since):
            # The commit has also folded its log into the database.
            continue
        disks = Disks(bellwire, recording, tmp_path / "disk", without=since)
        disk, promise = disks.at(index + 1)
        # Something is forgotten, or comes although it had gone.
        with pytest.raises(AssertionError):
            disks.check(disk.contents(losses(0)[0]), promise)
        needed += 1
    print(f"{needed} syncs")
    assert needed >= 10
