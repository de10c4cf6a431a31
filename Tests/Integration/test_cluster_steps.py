"""Two relays that work together, one of which is killed at each step: what both had said holds afterwards."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats_servers import NATS
from programs import wait_until
from relay_node import Client, Node, Start, did_of
from relay_steps import (
    SteppedRelays,
    kill_at_each,
    number_of,
    send_numbers,
    until_committed,
)

#: How many steps of each kind are tried in a normal run.
SAMPLE = 16

#: Stored frames of each peer.
COUNT = 8


class Pair:
    """Two relays; one can be killed at a step, as often as needed, and comes back with its state."""

    def __init__(self, relays: SteppedRelays, bellwire: Start, nats: NATS, directory: Path) -> None:
        self._relays = relays
        self._bellwire = bellwire
        self._nats = nats
        self._directory = directory
        self.steps = relays.steps
        self.stable = self._open(bellwire, "stable")
        self.mortal = self._open(relays.bellwire(), "mortal")

    def _open(self, bellwire: Start, name: str) -> Node:
        options = ("--nats", self._nats.url, "--node", name, "--state-dir", self._directory / name)
        node = Node(bellwire, *options, "--log-format", "json")
        node.log("nats_connected")
        return node

    def kill_within(self, prepare: Callable[[], None], act: Callable[[], None], check: Callable[[], None]) -> None:
        """The relay dies at steps of `act`, each time prepared anew. It is back when that is checked."""
        prepare()
        self.steps.arm()
        act()
        count = self.steps.disarm()

        def kill(number: int, halves: bool) -> bool:
            prepare()
            with self._relays.killed(lambda: self.mortal.program, number, halves):
                act()
            died = self.steps.disarm() > number
            self.mortal = self._open(self._relays.bellwire(), "mortal")
            check()
            return died

        kill_at_each("a relay of two", count, SAMPLE, kill)

    def has_died(self) -> bool:
        return self.mortal.program.process.poll() is not None


@pytest.fixture
def pair(start: Start, bellwire: Start, nats: NATS, steps_library: Path, tmp_path: Path) -> Pair:
    return Pair(SteppedRelays(start, steps_library, tmp_path), bellwire, nats, tmp_path)


class Receiver:
    """A peer and the numbers that it has got, over several connections."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.got: list[int] = []
        self._client: Client | None = None

    def connect(self, node: Node) -> None:
        self._client = client = node.peer()
        client.send(type="register", peerId=self.name)
        # What follows may already be on its way.
        assert client.next("registered", "error")["type"] == "registered"

    def has(self, count: int) -> bool:
        return len(self.got) >= count

    def receive(self, is_done: Callable[[], bool], timeout: float = 20) -> None:
        """Until it is so; or until the connection breaks, with all that was on its way."""
        assert self._client
        deadline = time.monotonic() + timeout
        is_last = False
        while not is_last:
            assert time.monotonic() < deadline, self.got
            # Once more after it is so.
            is_last = is_done()
            try:
                while True:
                    frame = json.loads(self._client.connection.recv(timeout=0.01))
                    if frame["type"] in ("offline-message", "message"):
                        self.got.append(number_of(frame))
            except TimeoutError:
                pass

    def check(self, count: int) -> None:
        """All in order; after a kill again from some frame on, and none is left out."""
        begin = next((index for index, number in enumerate(self.got) if number != index), len(self.got))
        again = self.got[begin:]
        assert again == list(range(count - len(again), count)), self.got
        assert begin >= count - len(again), self.got


def store(sender: Client, to: str) -> None:
    for number in range(COUNT):
        send_numbers(sender, to, range(number, number + 1), size=2_000)


def test_stored_frames_cross_although_the_relay_that_has_them_is_killed(pair: Pair) -> None:
    receivers: list[Receiver] = []

    def prepare() -> None:
        sender = pair.mortal.peer("alice")
        receivers.append(Receiver(f"bob-{len(receivers)}"))
        before = int(pair.mortal.metric("bellwire_relay_store_committed_total"))
        store(sender, receivers[-1].name)
        until_committed(pair.mortal, before + COUNT)
        sender.close()

    def act() -> None:
        receiver = receivers[-1]
        receiver.connect(pair.stable)
        receiver.receive(lambda: receiver.has(COUNT) or pair.has_died())
        pair.mortal.wait("bellwire_relay_store_pending", lambda value: value == 0)

    def check() -> None:
        receivers[-1].receive(lambda: pair.mortal.metric("bellwire_relay_stored_frames") == 0)
        receivers[-1].check(COUNT)

    pair.kill_within(prepare, act, check)


def test_stored_frames_cross_although_the_relay_of_their_peer_is_killed(pair: Pair) -> None:
    sender = pair.stable.peer("alice")
    receivers: list[Receiver] = []

    def prepare() -> None:
        receivers.append(Receiver(f"bob-{len(receivers)}"))
        before = int(pair.stable.metric("bellwire_relay_store_committed_total"))
        store(sender, receivers[-1].name)
        until_committed(pair.stable, before + COUNT)

    def act() -> None:
        receiver = receivers[-1]
        receiver.connect(pair.mortal)
        receiver.receive(lambda: receiver.has(COUNT))

    pair.kill_within(prepare, act, lambda: None)
    # The relay that has the frames waits for the answers of the one that was killed, for all of them at once.
    for receiver in receivers:
        receiver.connect(pair.mortal)
    pair.stable.wait("bellwire_relay_stored_frames", lambda value: value == 0, 30)
    for receiver in receivers:
        receiver.receive(lambda: True)
        receiver.check(COUNT)


def test_messages_that_no_relay_took_are_stored_in_order_when_one_is_killed(pair: Pair) -> None:
    """What the killed relay had taken and not yet written is lost, as the page says; the sender hears of all others."""
    sender = pair.stable.peer("alice")
    receivers: list[Receiver] = []
    sent, first, lost = [0], [0], [0]
    told: list[list[int]] = []

    def send(number: int) -> None:
        sender.send(type="message", id=number, to=receivers[-1].name, payload={"n": number})
        sent[0] += 1

    def hear() -> None:
        told[-1] += [frame["messageId"] for frame in sender.until_settled("peer-offline")]

    def prepare() -> None:
        receivers.append(Receiver(f"bob-{len(receivers)}"))
        told.append([])
        receivers[-1].connect(pair.mortal)

        def arrives() -> bool:
            send(-1)
            hear()
            receivers[-1].receive(lambda: True)
            return bool(receivers[-1].got)

        wait_until(arrives)
        # The first ones may have been stored.
        pair.stable.wait("bellwire_relay_stored_frames", lambda value: value == 0)
        receivers[-1].receive(lambda: True)
        receivers[-1].got.clear()
        first[0] = sent[0]

    def act() -> None:
        receiver = receivers[-1]
        for number in range(COUNT):
            send(number)
            # Two at a time.
            if number % 2 == 1:
                receiver.receive(functools.partial(receiver.has, number + 1))

    def all_are_answered() -> bool:
        hear()
        taken = pair.stable.metric('bellwire_relay_cluster_frames_sent_total{result="taken"}')
        return int(taken) + sum(len(numbers) for numbers in told) == sent[0]

    def check() -> None:
        receiver = receivers[-1]
        wait_until(all_are_answered)
        live = list(receiver.got)
        receiver.connect(pair.mortal)
        receiver.receive(lambda: pair.stable.metric("bellwire_relay_stored_frames") == 0)
        stored = receiver.got[len(live) :]
        assert live == sorted(set(live)), live
        assert stored == sorted(number for number in told[-1] if number >= 0), (live, stored, told[-1])
        lost[0] += len(set(range(sent[0] - first[0])) - set(receiver.got))

    pair.kill_within(prepare, act, check)
    print(f"{lost[0]} messages lost in the memory of the killed relay")


def test_a_proof_that_was_answered_is_known_everywhere_after_a_kill(pair: Pair) -> None:
    known: list[Ed25519PrivateKey] = []
    answered: list[Ed25519PrivateKey] = []

    def prepare() -> None:
        known.append(Ed25519PrivateKey.generate())
        assert pair.stable.peer().prove(known[-1], pair.stable.url)["type"] == "registered"
        answered.append(known[-1])

    def act() -> None:
        # A new id, and one that moves from the other relay.
        for key in (Ed25519PrivateKey.generate(), known[-1]):
            assert pair.mortal.peer().prove(key, pair.mortal.url)["type"] == "registered"
            answered.append(key)

    def check() -> None:
        for node in (pair.stable, pair.mortal):
            stranger = node.peer()
            for key in answered[-3:]:
                assert stranger.register(did_of(key))["code"] == "proof_required", "a proof was forgotten"
        # Whoever has the key gets the id at either relay.
        for node in (pair.stable, pair.mortal):
            assert node.peer().prove(known[-1], node.url)["type"] == "registered"

    pair.kill_within(prepare, act, check)
