"""What a stranger may learn about an id: a model of it, compared with each answer of the relay, by type of frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from relay_node import Client, Node, Object, Start, did_of

ROUTED = (
    "offer",
    "answer",
    "ice-candidate",
    "ice-candidates",
    "pairing:request",
    "pairing:confirmation",
    "pairing:reject",
)

# What an id may be at the relay. The first three have no connection.
ABSENT = ("never seen", "gone", "has stored messages")
PRESENT = ("present", "present, with a friend")


class Targets:
    """An id in each state; those with keys were proved once."""

    def __init__(self, node: Node, is_proved: bool) -> None:
        self.node = node
        self.is_proved = is_proved
        self.open: list[Client] = []
        self.ids = {state: self.make(state) for state in (*ABSENT, *PRESENT)}

    def make(self, state: str) -> str:
        key = Ed25519PrivateKey.generate()
        name = did_of(key) if self.is_proved else did_of(key).replace("did:key:", "nobody:")
        if state == "never seen":
            return name
        target = self.node.peer()
        answer = target.prove(key, self.node.url) if self.is_proved else target.register(name)
        assert answer["type"] == "registered"
        if state == "present, with a friend":
            friend = self.node.peer(f"friend of {name}")
            self.open.append(friend)
            friend.message(name, {"n": 1})
            target.next("message")
            target.message(f"friend of {name}", {"n": 2})
            friend.next("message")
        if state in PRESENT:
            self.open.append(target)
            return name
        target.close()
        self.node.wait("bellwire_relay_registered_ids", lambda count: count == len(self.open))
        if state == "has stored messages":
            sender = self.node.peer(f"sender to {name}")
            sender.message(name, {"n": 1})
            sender.next("peer-offline")
            sender.close()
            self.node.wait("bellwire_relay_registered_ids", lambda count: count == len(self.open))
        return name


def comparable(frame: Object, name: str) -> Object:
    """A frame as it would be about any other id, at any other time."""
    new = ("timestamp", "serverTime", "storedAt", "deliveredAt", "nonce")
    kept = {key: value for key, value in frame.items() if key not in new}
    found: Object = json.loads(json.dumps(kept).replace(name, "ID"))
    return found


def answers(stranger: Client, name: str, **frame: Any) -> list[Object]:
    """What the relay sends because of one frame."""
    stranger.send(**frame)
    stranger.send(type="ping")
    found: list[Object] = []
    while (answer := json.loads(stranger.connection.recv(timeout=10)))["type"] != "pong":
        found.append(comparable(answer, name))
    return found


# Frames that name an id, and whose answers say nothing of it.
ALIKE: dict[str, Callable[[str], Object]] = {
    "asked for its status": lambda name: {"type": "peer-status", "peerId": name},
    "asked for everybody": lambda _: {"type": "get-peers"},
    "a message without a payload": lambda name: {"type": "message", "to": name},
    "an unknown type": lambda name: {"type": "whois", "to": name, "peerId": name},
    "a register that can't be proved": lambda name: {"type": "register", "peerId": f"{name}!", "bellwire": 1},
    "a forged answer": lambda name: {"type": "peer-offline", "peerId": name, "to": name},
}


@pytest.mark.parametrize("is_proved", [False, True], ids=["unproved", "proved"])
def test_a_stranger_learns_what_the_model_allows_and_no_more(bellwire: Start, is_proved: bool) -> None:
    node = Node(bellwire)
    targets = Targets(node, is_proved)
    stranger = node.peer("stranger")

    for what, frame in ALIKE.items():
        found = {state: answers(stranger, name, **frame(name)) for state, name in targets.ids.items()}
        assert all(answer == found["never seen"] for answer in found.values()), (what, found)

    # Who writes to an absent id is told so: all peers need it. It is the same for each absent one, and nothing comes
    # back from a present one. What is sealed reaches proved ids alone.
    for frame in ("message", *ROUTED):
        for state, name in targets.ids.items():
            found = answers(stranger, name, type=frame, to=name, payload={"n": 1})
            told = [{"type": "peer-offline", "peerId": "ID", "messageType": frame}]
            assert found == ([] if state in PRESENT else told), (frame, state)
    for state, name in targets.ids.items():
        found = answers(stranger, name, type="message", to=name, sealed=True, payload={"n": 1})
        assert [answer["type"] for answer in found] == ([] if is_proved and state in PRESENT else ["peer-offline"]), (
            state
        )

    # Having written to it changes nothing of what a stranger can ask.
    for state, name in targets.ids.items():
        assert answers(stranger, name, type="peer-status", peerId=name) == [
            {"type": "peer-status-response", "peerId": "ID", "status": "offline"}
        ], state
    # And it hears nothing when a target goes.
    for each in targets.open:
        each.close()
    node.wait("bellwire_relay_registered_ids", lambda count: count == 1)
    assert answers(stranger, "-", type="get-peers")[0]["peers"] == []


def test_who_claims_an_id_learns_whether_it_is_proved_and_of_one_that_is_not_whether_it_is_there(
    bellwire: Start,
) -> None:
    node = Node(bellwire)
    expected = {"never seen": "registered", "gone": "registered", "has stored messages": "registered"}
    for is_proved in (False, True):
        targets = Targets(node, is_proved)
        for state, name in targets.ids.items():
            thief = node.peer()
            answer = thief.register(name)
            if is_proved and state != "never seen":
                assert answer["code"] == "proof_required", state
            else:
                assert (answer.get("code") or answer["type"]) == expected.get(state, "id_taken"), state
            thief.close()
            # Who can't prove it gets one and the same answer, wherever its owner is.
            liar = node.peer()
            liar.send(type="register", peerId=name, bellwire=1)
            if not is_proved:
                assert liar.next("error", "challenge").get("code") == "unprovable", state
            else:
                nonce = liar.next("challenge")["nonce"]
                proof = {"nonce": nonce, "origin": node.url, "signature": "A" * 86}
                liar.send(type="register", peerId=name, bellwire=1, proof=proof)
                assert liar.next("error", "registered").get("code") == "bad_proof", state
            liar.close()
        for each in targets.open:
            each.close()
        node.wait("bellwire_relay_registered_ids", lambda count: count == 0)


def test_the_pages_of_a_relay_name_nobody(bellwire: Start) -> None:
    node = Node(bellwire)
    targets = Targets(node, is_proved=True)
    for path in ("/metrics", "/health", "/ready", "/stats"):
        status, text = node.get(path)
        assert status in (200, 404)
        for name in (*targets.ids.values(), "friend of"):
            assert name not in text, path
