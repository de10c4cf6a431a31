"""A relay that is killed before and within each step of what it does for its peers: what it said holds afterwards."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from relay_node import Node, Start, did_of
from relay_steps import (
    SteppedRelays,
    is_damaged,
    kill_at_each,
    number_of,
    send_numbers,
    stored_numbers,
    until_committed,
)

#: How many steps of each scenario are tried in a normal run.
SAMPLE = 40


@pytest.fixture
def relays(start: Start, steps_library: Path, tmp_path: Path) -> SteppedRelays:
    return SteppedRelays(start, steps_library, tmp_path)


class Registering:
    """New proofs, one alone and two that share a commit, and an id that moves to a new connection."""

    def __init__(self) -> None:
        self.known = Ed25519PrivateKey.generate()
        self.new = [Ed25519PrivateKey.generate() for _ in range(3)]
        self.protected = [self.known]

    def prepare(self, node: Node) -> None:
        assert node.peer().prove(self.known, node.url)["type"] == "registered"

    def act(self, node: Node) -> None:
        for keys in (self.new[:1], self.new[1:], [self.known]):
            clients = [node.peer() for _ in keys]
            for client, key in zip(clients, keys):
                client.send_proof(key, node.url)
            for client, key in zip(clients, keys):
                assert client.next("registered", "error")["type"] == "registered"
                self.protected.append(key)

    def check(self, node: Node) -> None:
        stranger = node.peer()
        for key in self.protected:
            assert stranger.register(did_of(key))["code"] == "proof_required", "a proof was forgotten"
        for key in self.new:
            assert node.peer().prove(key, node.url)["type"] == "registered"


class Storing:
    """Frames for an absent peer, in groups of different sizes."""

    def __init__(self) -> None:
        self.sent = 0
        self.committed = 0

    def prepare(self, node: Node) -> None:
        self.sender = node.peer("alice")
        self.store(node, 3)

    def act(self, node: Node) -> None:
        for count in (1, 2, 6):
            self.store(node, count)

    def store(self, node: Node, count: int) -> None:
        before, self.sent = self.sent, self.sent + count
        send_numbers(self.sender, "bob", range(before, self.sent), size=1_500)
        until_committed(node, self.sent)
        self.committed = self.sent

    def check(self, node: Node) -> None:
        got = stored_numbers(node.peer("bob"))
        assert got == list(range(len(got))) and self.committed <= len(got) <= self.sent, (self.committed, got)


class Draining:
    """A peer comes and gets the sealed frames that are stored for it; then they are deleted, in one commit with a new one."""

    COUNT = 40

    def __init__(self) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.got: list[int] = []
        self.is_deleted = False

    def prepare(self, node: Node) -> None:
        receiver = node.peer()
        assert receiver.prove(self.key, node.url)["type"] == "registered"
        receiver.close()
        node.wait("bellwire_relay_registered_ids", lambda value: value == 0)
        self.sender = node.peer("alice")
        send_numbers(self.sender, did_of(self.key), range(self.COUNT), size=4_000, sealed=True)
        until_committed(node, self.COUNT)

    def act(self, node: Node) -> None:
        receiver = node.peer()
        receiver.send_proof(self.key, node.url)
        # Also what is on its way when the relay dies.
        while len(self.got) < self.COUNT:
            self.got.append(number_of(receiver.next("offline-message")))
        receiver.settle()
        send_numbers(self.sender, "bob", range(1))
        node.wait("bellwire_relay_store_pending", lambda value: value == 0)
        self.is_deleted = True

    def check(self, node: Node) -> None:
        receiver = node.peer()
        assert receiver.prove(self.key, node.url)["type"] == "registered"
        again = stored_numbers(receiver)
        assert self.got == list(range(len(self.got)))
        # Delivered frames may come again; those that were not delivered do.
        assert again == list(range(self.COUNT - len(again), self.COUNT)), (self.got, again)
        assert len(again) >= self.COUNT - len(self.got), (self.got, again)
        assert not (self.is_deleted and again), again


Scenario = Registering | Storing | Draining


def play(relays: SteppedRelays, make: type[Scenario], state: Path, fatal: int = -1, halves: bool = False) -> int:
    """Returns the number of steps that there were before the relay died."""
    scenario = make()
    options = ("--state-dir", state, "--log-format", "json")
    node = Node(relays.bellwire(), *options)
    scenario.prepare(node)
    with relays.killed(lambda: node.program, fatal, halves):
        scenario.act(node)
    count = relays.steps.disarm()
    again = Node(relays.bellwire(), *options)
    scenario.check(again)
    again.program.kill()
    assert not is_damaged(again.program)
    shutil.rmtree(state)
    return count


@pytest.mark.parametrize("make", [Registering, Storing, Draining])
def test_a_kill_at_any_step_breaks_no_promise(relays: SteppedRelays, make: type[Scenario], tmp_path: Path) -> None:
    steps = play(relays, make, tmp_path / "state")

    def kill(number: int, halves: bool) -> bool:
        return play(relays, make, tmp_path / "state", number, halves) > number

    kill_at_each(make.__name__, steps, SAMPLE, kill)


@pytest.mark.parametrize("is_new", [True, False], ids=["an empty directory", "what a crash left"])
def test_a_kill_at_any_step_of_the_start_breaks_no_promise(relays: SteppedRelays, tmp_path: Path, is_new: bool) -> None:
    registering, storing = Registering(), Storing()
    state, copy = tmp_path / "state", tmp_path / "copy"
    options = ("--state-dir", copy, "--log-format", "json")
    state.mkdir(mode=0o700)
    if not is_new:
        node = Node(relays.bellwire(), "--state-dir", state)
        for scenario in (registering, storing):
            scenario.prepare(node)
            scenario.act(node)
        node.program.kill()

    def start(fatal: int = -1, halves: bool = False) -> int:
        """Returns the number of steps until the relay listens, or dies."""
        shutil.copytree(state, copy)
        relays.steps.arm(fatal, halves)
        program = relays.bellwire()("relay", "--listen", "127.0.0.1:0", "--no-health", *options)
        try:
            program.line("Relay at")
        except AssertionError:
            assert program.wait() == -signal.SIGKILL, program.err.all
        program.kill()
        return relays.steps.disarm()

    steps = start()
    shutil.rmtree(copy)

    def kill(number: int, halves: bool) -> bool:
        nonlocal registering, storing
        died = start(number, halves) > number
        node = Node(relays.bellwire(), *options)
        if is_new:
            registering, storing = Registering(), Storing()
            registering.prepare(node)
            storing.prepare(node)
        registering.check(node)
        storing.check(node)
        node.program.kill()
        assert not is_damaged(node.program)
        shutil.rmtree(copy)
        return died

    kill_at_each("the start", steps, SAMPLE, kill)
