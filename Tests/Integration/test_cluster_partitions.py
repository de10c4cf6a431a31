"""Relays of a cluster whose NATS servers are cut in two parts, and see each other again."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats_servers import Listener
from partitions import TwoParts
from peers import close_code
from programs import wait_until
from relay_node import Client, Node, Object, Start, did_of
from test_cluster import QUESTION, reach, store, stored_proofs
from websockets.exceptions import ConnectionClosed

IS_NOTICED = pytest.mark.parametrize("is_noticed", [True, False], ids=["noticed", "unnoticed"])


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[TwoParts]:
    parts = TwoParts(tmp_path / "nats")
    yield parts
    parts.close()


@pytest.fixture
def relays(bellwire: Start, tmp_path: Path, parts: TwoParts) -> list[Node]:
    """Two at the NATS server that can be cut off, and one at each of the others."""
    nodes = []
    for number, server in enumerate((0, 0, 1, 2)):
        options = ("--nats", parts.servers[server].url, "--nats-replicas", "3", "--node", f"relay{number}")
        nodes.append(Node(bellwire, *options, "--state-dir", tmp_path / f"relay{number}", "--log-format", "json"))
    for node in nodes:
        node.log("nats_connected")
    return nodes


class TwoHolders:
    """Connections in both parts that have one id."""

    def __init__(self, name: str, register: Callable[[Client, Node], Object], *places: Node) -> None:
        self.name = name
        self.older, self.newer = places[0].peer(), places[1].peer()
        assert register(self.older, places[0])["type"] == "registered"
        registered = time.time_ns() // 1_000_000
        # The younger one is known by its milliseconds.
        wait_until(lambda: time.time_ns() // 1_000_000 > registered + 1)
        assert register(self.newer, places[1])["type"] == "registered", "nobody in this part holds it"
        self.older.settle()

    def have_one(self, relays: list[Node], sender: Client) -> None:
        """The newer one stays, and gets each message once. The sender is at a relay of neither."""

        def is_closed() -> bool:
            # Both relays take a message, and its sender's relay gets two answers.
            sender.message(self.name, QUESTION)
            sender.settle()
            return is_at_end(self.older)

        wait_until(is_closed, 10)
        assert close_code(self.older.connection) == 4001
        senders = [node.peer(f"sender {number}") for number, node in enumerate(relays)]
        for number, each in enumerate(senders):
            each.message(self.name, number)
        left = set(range(len(relays)))
        while left:
            if (payload := self.newer.next("message")["payload"]) != QUESTION:
                left.remove(payload)
        assert {frame["payload"] for frame in self.newer.until_settled("message", "error")} <= {QUESTION}
        for each in senders:
            each.close()


def is_at_end(client: Client) -> bool:
    """Reads what has come; whether the relay has closed the connection."""
    try:
        while True:
            client.connection.recv(timeout=0)
    except TimeoutError:
        return False
    except ConnectionClosed:
        return True


def wait_for_comparisons(listeners: list[Listener], holders: list[TwoHolders]) -> None:
    """The comparison that follows each registration finds nobody: only a later one can."""
    for listener in listeners:
        for each in holders:
            listener.wait_for_comparison(each.name)
        listener.close()


def payloads_after_healing(sender: Client, to: str, receiver: Client, first: int) -> list[int]:
    """What was stored, and what is sent until that arrives: the next message looks for its peer at once."""
    numbers, got = itertools.count(first), list[int]()

    def take(*frames: Object) -> None:
        payloads = [frame.get("originalMessage", frame)["payload"] for frame in frames]
        got.extend(payload for payload in payloads if payload != QUESTION)

    def arrives() -> bool:
        sender.message(to, last := next(numbers))
        take(*receiver.until_settled("offline-message", "message"))
        while got and got[-1] != last:
            take(receiver.next("offline-message", "message"))
        return bool(got)

    wait_until(arrives, 10)
    return got


@IS_NOTICED
def test_two_parts_go_on_by_themselves_and_agree_when_they_see_each_other(
    parts: TwoParts, relays: list[Node], is_noticed: bool
) -> None:
    here, also_here, there, also_there = relays
    alice, bob = here.peer("alice"), there.peer("bob")
    near, far = also_here.peer("near"), also_there.peer("far")
    reach(alice, "bob", bob)
    reach(bob, "alice", alice)
    listeners = [Listener(server) for server in parts.servers[:2]]
    parts.cut(is_noticed)
    left = TwoHolders("left", lambda client, _: client.register("left"), here, there)
    right = TwoHolders("right", lambda client, _: client.register("right"), there, here)
    for name, in_this, in_that in (("left", left.older, left.newer), ("right", right.newer, right.older)):
        for number in range(100):
            near.message(name, f"this part {number}")
            far.message(name, f"that part {number}")
        for number in range(100):
            assert in_this.next("message", "peer-offline")["payload"] == f"this part {number}"
            assert in_that.next("message", "peer-offline")["payload"] == f"that part {number}"
    store(alice, "bob", 20)
    store(bob, "alice", 20)
    assert bob.until_settled("message") == alice.until_settled("message") == []
    wait_for_comparisons(listeners, [left, right])
    parts.heal()
    for sender, to, receiver in ((alice, "bob", bob), (bob, "alice", alice)):
        got = payloads_after_healing(sender, to, receiver, 20)
        # The first one was on its way when the cut came, and stored when no answer had come.
        assert got[int(not is_noticed and got[:2] == [0, 0]) :] == list(range(got[-1] + 1))
    for holders in (left, right):
        holders.have_one(relays, near)
    for node in relays:
        node.wait("bellwire_relay_stored_frames", lambda value: value == 0, 20)
        assert node.metric("bellwire_relay_nats_disconnections_total") == 0, "relays stay with their NATS servers"


@IS_NOTICED
def test_an_id_that_two_parts_have_proved_has_one_holder_and_is_protected(
    parts: TwoParts, relays: list[Node], is_noticed: bool
) -> None:
    here, also_here, there, _ = relays
    wait_until(lambda: stored_proofs(parts.servers[0]) == 0, 60)
    near = also_here.peer("near")
    key, lone = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    listeners = [Listener(server) for server in parts.servers[:2]]
    parts.cut(is_noticed)
    both = TwoHolders(did_of(key), lambda client, node: client.prove(key, node.url), here, there)
    assert here.peer().prove(lone, here.url)["type"] == "registered", "a proof is a proof"
    wait_for_comparisons(listeners, [both])
    parts.heal()
    both.have_one(relays, near)
    # The part without a quorum stores its proofs now.
    wait_until(lambda: stored_proofs(parts.servers[1]) == 2, 30)
    both.newer.close()
    for node in relays:
        assert node.peer().register(did_of(key))["code"] == "proof_required"
