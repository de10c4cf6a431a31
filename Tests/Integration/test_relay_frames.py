"""Every frame between a peer and our relay, from a third-party client (Wire, "Routing")."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable

import pytest
from peers import LIMIT, Peer
from programs import Program

Join = Callable[..., Peer]


def test_register_is_answered_with_the_id_and_the_time(peer: Join) -> None:
    answer = peer().register("did:key:zPhone", deviceType="mobile", deviceInfo={"name": "Phone"})
    assert answer["peerId"] == "did:key:zPhone"
    assert isinstance(answer["serverTime"], int)


def test_a_message_is_routed_with_the_senders_registered_id_whatever_it_claims(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.send({"type": "message", "to": "bob", "from": "mallory", "payload": {"n": 1}})
    frame = bob.receive("message")
    assert frame["from"] == "alice"
    assert frame["payload"] == {"n": 1}
    assert isinstance(frame["timestamp"], int)


def test_payload_bytes_travel_as_they_came(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    payload = '{"z":1.50,"a":"\\u00e9 \\/",  "n":[ 1,2 ],"big":12345678901234567890}'
    alice.send('{"type":"message","to":"bob","payload":' + payload + "}")
    assert payload in bob.connection.recv(timeout=10)


def test_a_payload_that_is_a_text_is_routed_as_that_text(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.message("bob", '{"type":"x"}')
    assert bob.receive("message")["payload"] == '{"type":"x"}'
    alice.message("bob", "no JSON {")
    assert bob.receive("message")["payload"] == "no JSON {"


def test_an_absent_target_is_said_and_its_frames_are_kept_in_order(peer: Join) -> None:
    alice = peer("alice")
    for number in range(3):
        alice.message("bob", {"n": number})
        assert alice.receive("peer-offline")["peerId"] == "bob"
    bob = peer("bob")
    for number in range(3):
        frame = bob.receive("offline-message")
        assert frame["originalMessage"]["payload"] == {"n": number}
        assert frame["originalMessage"]["from"] == "alice"
        assert frame["storedAt"] <= frame["deliveredAt"]
    alice.message("bob", {"n": 3})
    assert bob.receive("message")["payload"] == {"n": 3}


def test_of_the_frames_for_an_absent_peer_the_newest_hundred_are_kept(peer: Join) -> None:
    alice = peer("alice")
    for number in range(105):
        alice.message("bob", {"n": number})
    assert alice.is_answered()
    bob = peer("bob")
    numbers = [bob.receive("offline-message")["originalMessage"]["payload"]["n"] for _ in range(100)]
    assert numbers == list(range(5, 105))


def test_nothing_is_kept_for_a_pairing_code(peer: Join) -> None:
    alice = peer("alice")
    alice.message("pairing-code:123456", {"type": "pair-ack"})
    assert alice.receive("peer-offline")["peerId"] == "pairing-code:123456"
    desktop = peer("pairing-code:123456")
    alice.message("pairing-code:123456", {"n": 2})
    assert desktop.connection.recv(timeout=10).find('"n":2') or False
    # The frame after registered is the live one: nothing stored came before it.


@pytest.mark.parametrize(
    "kind",
    [
        "offer", "answer", "ice-candidate", "ice-candidates",
        "pairing:request", "pairing:confirmation", "pairing:reject",
    ],
)  # fmt: skip
def test_frames_that_are_routed_whole_keep_their_fields(peer: Join, kind: str) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.send({"type": kind, "to": "bob", "from": "mallory", "sdp": "v=0", "candidate": {"a": [1, None]}})
    frame = bob.receive(kind)
    assert (frame["from"], frame["sdp"], frame["candidate"]) == ("alice", "v=0", {"a": [1, None]})


def test_ping_is_answered_before_and_after_registering(peer: Join) -> None:
    stranger = peer()
    assert stranger.is_answered()
    stranger.register("alice")
    assert stranger.is_answered()


def test_presence_goes_only_to_peers_that_have_talked(peer: Join) -> None:
    alice, bob, stranger = peer("alice"), peer("bob"), peer("stranger")
    bob.message("alice", {"n": 1})
    alice.receive("message")
    alice.message("bob", {"n": 2})
    bob.receive("message")
    bob.close()
    assert alice.receive("peer-status", peerId="bob")["status"] == "offline"
    # A stranger hears nothing: its next frame is the answer to its own ping.
    stranger.send({"type": "ping"})
    assert json.loads(stranger.connection.recv(timeout=10))["type"] == "pong"


def test_get_peers_tells_a_stranger_nothing(peer: Join) -> None:
    peer("alice"), peer("bob")
    stranger = peer("stranger")
    stranger.send({"type": "get-peers"})
    assert [each["peerId"] for each in stranger.receive("peers-list")["peers"] if each["peerId"] != "stranger"] == []


def test_registering_another_id_releases_the_first(peer: Join) -> None:
    alice, other = peer("alice"), peer("other")
    alice.register("alice-2")
    other.message("alice", {"n": 1})
    assert other.receive("peer-offline")["peerId"] == "alice"
    other.message("alice-2", {"n": 2})
    assert alice.receive("message")["payload"] == {"n": 2}


def test_an_owner_that_answers_keeps_its_id(peer: Join) -> None:
    owner, thief = peer("alice"), peer()
    thief.send({"type": "register", "peerId": "alice"})
    assert thief.error() == "id_taken"
    sender = peer("bob")
    sender.message("alice", {"n": 1})
    assert owner.receive("message")["payload"] == {"n": 1}


def test_an_owner_that_does_not_answer_is_replaced_and_its_end_takes_nothing_away(relay: str, peer: Join) -> None:
    owner = peer("alice")
    # A connection whose reader has stopped answers no ping.
    owner.connection.socket.setblocking(True)
    owner.connection.recv_bufsize = 0
    newcomer = peer()
    with owner.connection.protocol_mutex:
        newcomer.send({"type": "register", "peerId": "alice"})
        newcomer.receive("registered", timeout=10)
    owner.connection.socket.close()
    sender = peer("bob")
    sender.message("alice", {"n": 1})
    assert newcomer.receive("message")["payload"] == {"n": 1}


REFUSED = [
    pytest.param("{", "bad_frame", id="cut"),
    pytest.param('{"type":"message","to":"bob","payload":{"a":', "bad_frame", id="cut in the payload"),
    pytest.param("hello", "bad_frame", id="no JSON"),
    pytest.param("[]", "bad_frame", id="an array"),
    pytest.param('"text"', "bad_frame", id="a text"),
    pytest.param("", "bad_frame", id="empty"),
    pytest.param('{"type":"ping"}x', "bad_frame", id="text after the object"),
    pytest.param('{"type":"message","type":"ping"}', "duplicate_key", id="duplicate keys"),
    pytest.param(
        '{"type":"message","to":"bob","payload":' + "[" * 10_000 + "]" * 10_000 + "}", "too_deep", id="10,000 deep"
    ),
    pytest.param('{"type":"teleport"}', "unknown_type", id="unknown type"),
    pytest.param('{"to":"bob"}', "unknown_type", id="no type"),
    pytest.param('{"type":7}', "unknown_type", id="a type that is a number"),
    pytest.param('{"type":"message","payload":{}}', "missing_to", id="no target"),
    pytest.param('{"type":"message","to":7,"payload":{}}', "bad_to", id="a target that is a number"),
    pytest.param('{"type":"message","to":"' + "x" * 300 + '","payload":{}}', "bad_to", id="a target of 300 bytes"),
    pytest.param('{"type":"message","to":"bob"}', "missing_payload", id="no payload"),
    pytest.param('{"type":"register"}', "missing_peer_id", id="register without an id"),
    pytest.param('{"type":"register","peerId":""}', "bad_peer_id", id="register with an empty id"),
    pytest.param('{"type":"register","peerId":["a"]}', "bad_peer_id", id="register with an array for an id"),
]


@pytest.mark.parametrize(("frame", "code"), REFUSED)
def test_a_bad_frame_is_refused_by_name_and_the_connection_lives(peer: Join, frame: str, code: str) -> None:
    alice = peer("alice")
    alice.send(frame)
    assert alice.error() == code
    assert alice.is_answered()


def test_who_has_not_registered_cannot_send(peer: Join) -> None:
    stranger = peer()
    stranger.message("bob", {})
    assert stranger.error() == "not_registered"


def test_unknown_fields_are_ignored(peer: Join) -> None:
    alice, bob = peer("alice", shoeSize=43), peer("bob")
    alice.send({"type": "message", "to": "bob", "payload": {"n": 1}, "colour": {"deep": [1]}})
    assert bob.receive("message")["payload"] == {"n": 1}


def test_a_frame_of_one_mebibyte_is_routed(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    # The relay's own words around the payload (from, timestamp) must fit into the limit too.
    head, tail = '{"type":"message","to":"bob","payload":{"fill":"', '"}}'
    fill = "x" * (LIMIT - len(head) - len(tail) - 100)
    alice.send(head + fill + tail)
    assert bob.receive("message")["payload"]["fill"] == fill


def test_health_and_stats_answer_as_deployed_clients_expect(bellwire: Callable[..., Program]) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--health", "127.0.0.1:0")
    found = program.line(r"(ws://\S+), health page (http://\S+)/health")
    alice = Peer(found[1], "alice")
    with urllib.request.urlopen(f"{found[2]}/health", timeout=10) as page:
        assert page.headers["Content-Type"].startswith("application/json")
        assert json.load(page)["status"] in ("ok", "healthy")
    with urllib.request.urlopen(f"{found[2]}/stats", timeout=10) as page:
        assert "1" in json.dumps(json.load(page))
    alice.close()
