"""The vectors of the seal's version 2, judged by a second implementation (WireSessions)."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import pytest
import sessions
from noise.connection import Keypair, NoiseConnection
from programs import ROOT
from sessions import DESKTOP, DEVICE, SECRET, SID, Refused

Json = dict[str, Any]

FOLDER = ROOT / "Tests/Unit/Features/SealingTests/Vectors"
PUBLISHED: Json = json.loads((FOLDER / "noise-kkpsk2.json").read_text())
OURS: Json = json.loads((FOLDER / "sessions.json").read_text())
PSK = sessions.preshared_key(SECRET, DEVICE.did, DESKTOP.did)


def test_the_vectors_are_those_that_this_implementation_makes() -> None:
    assert sessions.vectors() == OURS


def test_the_handshake_is_the_published_one() -> None:
    """So `noiseprotocol` judges ours by the same vector by which the library is judged."""

    def side(name: str) -> NoiseConnection:
        noise = NoiseConnection.from_name(PUBLISHED["protocol_name"].encode())
        if name == "init":
            noise.set_as_initiator()
        else:
            noise.set_as_responder()
        noise.set_psks(bytes.fromhex(PUBLISHED[f"{name}_psks"][0]))
        noise.set_prologue(bytes.fromhex(PUBLISHED[f"{name}_prologue"]))
        noise.set_keypair_from_private_bytes(Keypair.STATIC, bytes.fromhex(PUBLISHED[f"{name}_static"]))
        noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, bytes.fromhex(PUBLISHED[f"{name}_ephemeral"]))
        noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, bytes.fromhex(PUBLISHED[f"{name}_remote_static"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            noise.start_handshake()
        return noise

    both = side("init"), side("resp")
    for index, message in enumerate(PUBLISHED["messages"]):
        sender, receiver = both[index % 2], both[1 - index % 2]
        payload = bytes.fromhex(message["payload"])
        sent = sender.write_message(payload) if index < 2 else sender.encrypt(payload)
        assert bytes(sent).hex() == message["ciphertext"]
        received = receiver.read_message(sent) if index < 2 else receiver.decrypt(sent)
        assert bytes(received) == payload


@pytest.mark.parametrize("case", OURS["handshake_rejections"], ids=lambda case: f"{case['to']}: {case['name']}")
def test_a_bad_handshake_is_refused_for_the_same_reason(case: Json) -> None:
    device, desktop = sessions.sides(PSK)
    device.begin(SID)
    with pytest.raises(Refused, match=f"^{case['code']}$"):
        (device if case["to"] == "device" else desktop).receive(case["frame"])


def test_bad_frames_are_refused_for_the_same_reasons() -> None:
    _, desktop, _, _ = sessions.session(PSK)
    desktop.open(OURS["frames"][0]["frame"])
    for case in OURS["frame_rejections"]:
        code = ""
        try:
            desktop.open(case["frame"])
        except Refused as refusal:
            code = str(refusal)
        assert code == case["code"], case["name"]


def test_each_frame_opens_on_the_other_side_and_nowhere_else() -> None:
    device, desktop, _, _ = sessions.session(PSK)
    for vector in OURS["frames"]:
        opener, other = (desktop, device) if vector["from"] == "device" else (device, desktop)
        assert opener.open(vector["frame"]) == json.loads(vector["content"])
        other.seen.clear()
        with pytest.raises(Refused, match=r"^forged$"):
            other.open(vector["frame"])


def test_a_session_without_the_preshared_key_is_another_one() -> None:
    _, desktop, _, _ = sessions.session(bytes(32))
    with pytest.raises(Refused, match=r"^forged$"):
        desktop.open(OURS["frames"][0]["frame"])


def test_padding_hides_which_of_the_short_messages_it_is() -> None:
    for count in range(5000):
        padded = sessions.pad(bytes([1]) * count)
        assert sessions.unpad(padded) == bytes([1]) * count
        assert len(padded) <= max(256, (count + 1) * 1.12)
    short: list[Json] = [
        {"type": "bellwire:hello", "payload": {"v": 1, "lastPushSeq": 2**40, "seal": [1, 2]}},
        {"type": "bellwire:ack", "payload": {"pushSeq": 1}},
        {"type": "bellwire:token", "payload": {"service": "apns", "token": "ab" * 32, "deviceId": "laptop-1"}},
    ]
    # As they are without the fill, and as they are sent.
    assert {len(sessions.pad(sessions.content(body))) for body in short} == {256}
    push = {"type": "chainlesschain:event", "payload": {"event": "notification.received", "body": "x" * 300}}
    assert {len(sessions.pad(sessions.filled(sessions.content(body)))) for body in [*short, push]} == {512}


def test_the_page_shows_frames_of_the_vectors() -> None:
    page = (ROOT / "Sources/Library/CABI/Bellwire.docc/WireSessions.md").read_text()
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    handshake = list(OURS["handshake"].values())
    assert [frame for frame in shown if frame.get("type") == "bellwire:hs"] == handshake
    boxed = [frame for frame in shown if frame.get("type") == "bellwire:s2"]
    assert boxed == [OURS["frames"][0]["frame"]]
    assert OURS["frames"][0]["content"] in page
    for name in ("did", "seed"):
        assert OURS["device"][name] in page and OURS["desktop"][name] in page
    assert OURS["psk"]["qr"]["psk"] in page


def test_a_side_takes_each_counter_once() -> None:
    device, desktop, _, _ = sessions.session(PSK)
    frame = device.seal(b'{"body":{}}', 5)
    desktop.open(frame)
    with pytest.raises(Refused, match=r"^replayed$"):
        desktop.open(frame)
