"""Several relays that work together over NATS, as their operator and their peers see them."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats_servers import NATS, replicated
from peers import close_code, free_port
from programs import BELLWIRE, FAKETIME, Program, freeze, wait_until
from relay_node import Client, Join, Node, Object, Start, did_of

QUESTION = "are you there?"


def reach(sender: Client, to: str, receiver: Client) -> None:
    """Sends until the receiver gets something: other relays hear of a registration a moment after its peer does."""

    def arrives() -> bool:
        sender.message(to, QUESTION)
        sender.settle()
        return bool(receiver.until_settled("message"))

    wait_until(arrives, 10)


def next_payload(client: Client) -> Any:
    """Of the next message that is no question: more than one may have been on its way."""
    while (payload := client.next("message")["payload"]) == QUESTION:
        pass
    return payload


def store(sender: Client, to: str, count: int) -> None:
    """Sends numbers to an absent peer."""
    for number in range(count):
        sender.message(to, number)
        sender.next("peer-offline")


def next_stored(receiver: Client, count: int) -> list[Object]:
    """The next frames, which are the stored ones: all of them once, in order."""
    got = [receiver.next("offline-message", "message") for _ in range(count)]
    assert [frame["originalMessage"]["payload"] for frame in got] == list(range(count))
    return got


def test_messages_cross_relays_in_order_and_both_ways(join: Join) -> None:
    one, two = join("one"), join("two")
    alice, bob = one.peer("alice"), two.peer("bob")
    reach(alice, "bob", bob)
    for number in range(500):
        alice.message("bob", number)
        bob.message("alice", -number)
    assert [next_payload(bob) for _ in range(500)] == list(range(500))
    got = [alice.next("message", "peer-offline") for _ in range(500)]
    assert [frame["payload"] for frame in got] == [-number for number in range(500)]
    assert {frame["from"] for frame in got} == {"bob"}
    alice.message("nobody", 1)
    assert alice.next("peer-offline")["peerId"] == "nobody"
    one.wait('bellwire_relay_cluster_frames_sent_total{result="taken"}', lambda value: value >= 500)
    one.wait("bellwire_relay_cluster_frames_received_total", lambda value: value == 500)


def test_ids_with_any_characters_and_signalling_frames(join: Join) -> None:
    one, two = join("one"), join("two")
    for name in ("a.b c*>", "\u00e4\u4e16\u754c", "x" * 256, "pairing-code:123456"):
        alice, bob = one.peer(), two.peer(name)
        assert alice.register("alice " + name[:8])["type"] == "registered"
        alice.send(type="offer", to=name, sdp="v=0")
        offer = bob.next("offer")
        assert (offer["sdp"], offer["from"]) == ("v=0", "alice " + name[:8])
        alice.close()
        bob.close()


def test_a_live_owner_keeps_an_unproved_id_and_one_whose_relay_hangs_does_not(join: Join) -> None:
    one, two = join("one"), join("two")
    owner, newcomer = one.peer("alice"), two.peer()
    assert newcomer.register("alice")["code"] == "id_taken"
    freeze(one.program.pid)
    try:
        assert newcomer.register("alice")["type"] == "registered", "no answer is as no relay"
    finally:
        one.program.process.send_signal(signal.SIGCONT)
    # The relay that was stopped finds that the id has gone, and closes its connection.
    assert close_code(owner.connection) == 4001
    newcomer.settle()


def test_newcomers_at_two_relays_do_not_help_each_other_to_a_live_owners_id(join: Join) -> None:
    one, two, three = join("one"), join("two"), join("three")
    owner = one.peer("alice")
    for _ in range(20):
        newcomers = [two.peer(), three.peer()]
        for newcomer in newcomers:
            newcomer.send(type="register", peerId="alice")
        assert [newcomer.next("registered", "error").get("code") for newcomer in newcomers] == ["id_taken"] * 2
        for newcomer in newcomers:
            newcomer.close()
    owner.settle()
    owner.close()
    # Nobody has it: of two that want it at once, one gets it.
    newcomers = [two.peer(), three.peer()]
    for newcomer in newcomers:
        newcomer.send(type="register", peerId="alice")
    codes = [newcomer.next("registered", "error").get("code") for newcomer in newcomers]
    assert sorted(codes, key=str) == [None, "id_taken"], codes


def test_a_proof_takes_an_id_over_in_both_directions_and_protects_it_everywhere(join: Join, tmp_path: Path) -> None:
    one, two = join("one"), join("two")
    key = Ed25519PrivateKey.generate()
    name = did_of(key)
    squatter = two.peer(name)
    owner = one.peer()
    assert owner.prove(key, one.url)["type"] == "registered"
    assert close_code(squatter.connection) == 4001
    moved = two.peer()
    assert moved.prove(key, two.url)["type"] == "registered"
    assert close_code(owner.connection) == 4001
    back = one.peer()
    assert back.prove(key, one.url)["type"] == "registered"
    assert close_code(moved.connection) == 4001
    # A relay that has never seen the proof refuses the id without one, also while nobody holds it.
    back.close()
    three = join("three")
    assert three.peer().register(name)["code"] == "proof_required"
    sender = two.peer("alice")
    sender.send(type="message", to=name, payload={"x": 1}, sealed=True)
    assert sender.next("peer-offline")["peerId"] == name
    assert three.peer().prove(key, three.url)["type"] == "registered"


def test_kept_messages_follow_their_peer_to_any_relay_once_and_in_order(join: Join) -> None:
    one, two = join("one"), join("two")
    alice = one.peer("alice")
    store(alice, "bob", 50)
    bob = two.peer("bob")
    got = next_stored(bob, 50)
    assert all(frame["originalMessage"]["from"] == "alice" and frame["storedAt"] > 0 for frame in got)
    reach(alice, "bob", bob)
    one.wait("bellwire_relay_stored_frames", lambda value: value == 0)
    one.wait("bellwire_relay_cluster_waiting_peers", lambda value: value == 0)
    bob.close()
    assert two.peer("bob").until_settled("offline-message") == []


def test_messages_that_wait_for_no_answer_are_kept_in_their_order(join: Join) -> None:
    """While the first is kept already, the next may still be on its way to other relays."""
    one, two = join("one"), join("two")
    alice = one.peer("alice")
    for turn in range(20):
        for number in range(20):
            alice.message(f"bob {turn}", number)
        for _ in range(20):
            alice.next("peer-offline")
        next_stored((one, two)[turn % 2].peer(f"bob {turn}"), 20)


def test_kept_messages_survive_a_killed_relay(join: Join, tmp_path: Path) -> None:
    one, two = join("one"), join("two")
    alice = one.peer("alice")
    store(alice, "bob", 10)
    one.wait("bellwire_relay_store_committed_total", lambda value: value >= 10)
    one.program.kill()
    bob = two.peer("bob")
    assert bob.until_settled("offline-message") == []
    join("one")
    got = [bob.next("offline-message")["originalMessage"]["payload"] for _ in range(10)]
    assert got == list(range(10))


def test_absence_is_known_within_50_ms_after_a_relay_was_killed(join: Join) -> None:
    one, two = join("one"), join("two")
    alice, bob = one.peer("alice"), two.peer("bob")
    reach(alice, "bob", bob)
    two.program.kill()
    begin = time.monotonic()
    alice.message("bob", 1)
    assert alice.next("peer-offline")["peerId"] == "bob"
    assert time.monotonic() - begin < 0.5, "no responders, and not the half second without an answer"
    # Traffic of those that are left goes on as before.
    carol = one.peer("carol")
    alice.message("carol", 2)
    assert carol.next("message")["payload"] == 2


def test_a_relay_works_alone_without_nats_and_joins_when_it_is_there(
    bellwire: Start, tmp_path: Path, nats: NATS
) -> None:
    nats.kill()
    options = ("--nats", nats.url, "--log-format", "json", "--state-dir")
    one = Node(bellwire, *options, tmp_path / "one", "--node", "one")
    two = Node(bellwire, *options, tmp_path / "two", "--node", "two")
    one.log("nats_disconnected")
    code, body = one.get("/ready")
    assert code == 503 and json.loads(body)["problems"] == ["nats_disconnected"]
    alice, bob, carol = one.peer("alice"), one.peer("bob"), two.peer("carol")
    alice.message("bob", 1)
    assert bob.next("message")["payload"] == 1
    alice.message("carol", 2)
    assert alice.next("peer-offline")["peerId"] == "carol"
    key = Ed25519PrivateKey.generate()
    assert one.peer().register(did_of(key))["code"] == "proof_required", "nobody can say whether it was proved"
    proved = one.peer()
    assert proved.prove(key, one.url)["type"] == "registered"
    # An id that both have: the newer registration keeps it.
    older, newer = one.peer("twice"), two.peer("twice")
    # The relay that keeps a frame asks for its peer before that peer's relay has come back.
    freeze(two.program.pid)
    nats.start()
    one.log("nats_connected")
    late = one.peer("late")
    late.message("later", 3)
    assert late.next("peer-offline")["peerId"] == "later"
    two.program.process.send_signal(signal.SIGCONT)
    two.log("nats_connected")
    for node in (one, two):
        wait_until(lambda node=node: node.get("/ready")[0] == 200)
    assert close_code(older.connection) == 4001
    assert newer.until_settled("error") == []
    assert carol.next("offline-message")["originalMessage"]["payload"] == 2
    reach(alice, "carol", carol)


def test_a_frozen_nats_server_is_noticed_and_left(bellwire: Start, tmp_path: Path, nats: NATS) -> None:
    other = NATS(tmp_path / "other", "n2")
    try:
        options = ("--nats", nats.url, "--nats", other.url, "--log-format", "json", "--no-health")
        program = bellwire("relay", "--listen", "127.0.0.1:0", *options)
        program.error_line(f"connected to the NATS server 127.0.0.1:{nats.port}")
        nats.freeze()
        program.error_line("has not answered for 4000 ms", timeout=20)
        program.error_line(f"connected to the NATS server 127.0.0.1:{other.port}")
    finally:
        other.kill()


PROOFS = "KV_bw-proofs"


def stored_proofs(nats: NATS) -> int:
    """-1 = there is no list yet."""
    with contextlib.suppress(TimeoutError):
        answer = nats.request(f"$JS.API.STREAM.INFO.{PROOFS}")
        return answer["state"]["messages"] if "state" in answer else -1
    return -1


def test_without_a_quorum_traffic_goes_on_and_proofs_are_stored_later(bellwire: Start, tmp_path: Path) -> None:
    servers = replicated(tmp_path)
    try:
        options: list[str] = ["--log-format", "json", "--nats-replicas", "3"]
        for server in servers:
            options += ["--nats", server.url]
        one = Node(bellwire, *options, "--node", "one", "--state-dir", str(tmp_path / "one"))
        two = Node(bellwire, *options, "--node", "two", "--state-dir", str(tmp_path / "two"))
        wait_until(lambda: stored_proofs(servers[0]) == 0, 60)
        earlier, later = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        assert one.peer().prove(earlier, one.url)["type"] == "registered"
        wait_until(lambda: stored_proofs(servers[0]) == 1)
        alice, bob = one.peer("alice"), two.peer("bob")
        for server in servers[1:]:
            server.kill()
        for node in (one, two):
            node.wait("bellwire_relay_nats_connected", lambda value: value == 1, 30)
        reach(alice, "bob", bob)
        assert two.peer().prove(later, two.url)["type"] == "registered", "a proof is a proof"
        # If one leader has both the list and the account, it says that all is well until it notices that it is alone.
        two.log("nats_proofs", 40)
        assert two.metric("bellwire_relay_cluster_proof_failures_total") >= 1
        for key in (earlier, later):
            assert two.peer().register(did_of(key))["code"] == "proof_required"

        def refuses_strangers() -> bool:
            return two.peer().register(did_of(Ed25519PrivateKey.generate())).get("code") == "proof_required"

        wait_until(refuses_strangers, 40)
        assert two.peer().register("carol")["type"] == "registered"
        for server in servers[1:]:
            server.start()
        two.log("nats_proofs_usable", 60)
        wait_until(lambda: stored_proofs(servers[0]) == 2, 30)
    finally:
        for server in servers:
            server.kill()


def test_a_list_of_proofs_that_is_deleted_is_made_again(join: Join, nats: NATS) -> None:
    one = join("one")
    here, gone = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    holder, other = one.peer(), one.peer()
    assert holder.prove(here, one.url)["type"] == other.prove(gone, one.url)["type"] == "registered"
    wait_until(lambda: stored_proofs(nats) == 2)
    other.close()
    assert nats.request(f"$JS.API.STREAM.DELETE.{PROOFS}")["success"]
    unknown = did_of(Ed25519PrivateKey.generate())
    assert one.peer().register(unknown)["code"] == "proof_required", "nobody can say that it was not proved"
    one.log("nats_proofs_lost")
    wait_until(lambda: one.peer().register(unknown)["type"] == "registered")
    wait_until(lambda: stored_proofs(nats) == 1)
    assert join("two").peer().register(did_of(here))["code"] == "proof_required"
    holder.settle()


def test_a_list_of_proofs_that_forgets_is_named(join: Join, nats: NATS) -> None:
    wrong = {"name": PROOFS, "subjects": ["$KV.bw-proofs.>"], "max_age": 3_600_000_000_000}
    assert "error" not in nats.request(f"$JS.API.STREAM.CREATE.{PROOFS}", **wrong)
    one = join("one")
    assert "set max_age to 0" in one.log("nats_proofs")["message"]
    assert "error" not in nats.request(f"$JS.API.STREAM.UPDATE.{PROOFS}", **{**wrong, "max_age": 0})
    one.log("nats_proofs_usable")
    assert one.peer().prove(Ed25519PrivateKey.generate(), one.url)["type"] == "registered"
    wait_until(lambda: stored_proofs(nats) == 1)


def test_clocks_that_are_an_hour_apart(start: Start, join: Join, tmp_path: Path, nats: NATS) -> None:
    def ahead(*arguments: str | Path) -> Program:
        clock = ("FAKETIME=+1h", "FAKETIME_DONT_FAKE_MONOTONIC=1", f"LD_PRELOAD={FAKETIME}")
        return start("/usr/bin/env", *clock, BELLWIRE, *arguments)

    one = join("one")
    two = Node(ahead, "--nats", nats.url, "--node", "two", "--state-dir", tmp_path / "two", "--log-format", "json")
    two.log("nats_connected")
    key = Ed25519PrivateKey.generate()
    holder = one.peer()
    assert holder.prove(key, one.url)["type"] == "registered"
    for node in (two, one, two):
        newer = node.peer()
        assert newer.prove(key, node.url)["type"] == "registered"
        assert close_code(holder.connection) == 4001
        holder = newer
    holder.settle()
    for here, there in ((one, two), (two, one)):
        alice = here.peer("alice")
        assert there.peer().register("alice")["code"] == "id_taken"
        store(alice, "bob", 20)
        bob = there.peer("bob")
        next_stored(bob, 20)
        reach(alice, "bob", bob)
        reach(bob, "alice", alice)
        wait_until(lambda alice=alice: is_online(alice, "bob"))
        alice.close()
        bob.close()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--nats", "http://h"), "nats://"),
        (("--node", "x"), "--node needs --nats"),
        (("--nats", "nats://h", "--node", "x" * 65), "1 to 64 bytes"),
        (("--nats", "nats://h", "--nats-credentials", "/nowhere"), "/nowhere"),
        (("--nats", "nats://h", "--nats-replicas", "6"), "1 to 5"),
    ],
)
def test_wrong_options_are_named(bellwire: Start, options: tuple[str, ...], says: str) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", *options)
    assert program.wait() in (1, 2)
    assert says in program.err.all[-1], program.err.all


def test_wrong_credentials_are_logged_and_the_relay_works_alone(bellwire: Start, tmp_path: Path) -> None:
    port = free_port()
    server = NATS(tmp_path, "n1", port, 'authorization { user: "relay", password: "right" }\n')
    try:
        common = ("relay", "--listen", "127.0.0.1:0", "--no-health", "--log-format", "json", "--nats")
        wrong = bellwire(*common, f"nats://relay:wrong@127.0.0.1:{port}")
        wrong.error_line("Authorization Violation")
        assert not any("wrong" in line for line in wrong.err.all), "a password in the log"
        right = bellwire(*common, f"nats://relay:right@127.0.0.1:{port}")
        right.error_line("connected to the NATS server")
    finally:
        server.kill()


def test_contacts_hear_of_each_other_across_relays_and_strangers_do_not(join: Join) -> None:
    one, two = join("one"), join("two")
    alice, bob = one.peer("alice"), two.peer("bob")
    stranger = one.peer("stranger")
    reach(alice, "bob", bob)
    stranger.message("bob", "hello")
    bob.next("message")
    alice.send(type="peer-status", peerId="bob")
    assert alice.next("peer-status-response")["status"] == "offline", "bob has sent nothing"
    reach(bob, "alice", alice)
    # From now on both are contacts.
    wait_until(lambda: is_online(alice, "bob") and is_online(bob, "alice"))
    alice.send(type="get-peers")
    assert [peer["peerId"] for peer in alice.next("peers-list")["peers"]] == ["bob"]
    bob.close()
    assert alice.next("peer-status")["status"] == "offline"
    again = two.peer()
    again.send(type="register", peerId="bob", deviceType="desktop", deviceInfo={"name": "B"})
    assert again.next("registered")["peerId"] == "bob"
    told = alice.next("peer-status")
    assert (told["status"], told["deviceType"], told["deviceInfo"]) == ("online", "desktop", {"name": "B"})
    # It comes to the same relay: nobody hears that it has gone.
    again.close()
    assert alice.next("peer-status")["status"] == "offline"
    here = one.peer("bob")
    assert alice.next("peer-status")["status"] == "online"
    assert is_online(alice, "bob")
    here.close()
    assert alice.next("peer-status")["status"] == "offline"
    assert not is_online(alice, "bob") and not is_online(stranger, "bob")
    assert stranger.until_settled("peer-status") == []


def is_online(asker: Client, name: str) -> bool:
    asker.send(type="peer-status", peerId=name)
    return bool(asker.next("peer-status-response")["status"] == "online")
