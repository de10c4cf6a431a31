"""The vectors of pushes sealed to prekeys, judged by a second implementation (WirePrekeys)."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import prekeys
import pytest
from noise.connection import Keypair, NoiseConnection
from programs import ROOT
from sessions import Refused

Json = dict[str, Any]

FOLDER = ROOT / "Tests/Unit/Features/SealingTests/Vectors"
PUBLISHED: Json = json.loads((FOLDER / "noise-kpsk0.json").read_text())
OURS: Json = json.loads((FOLDER / "prekeys.json").read_text())


def test_the_vectors_are_those_that_this_implementation_makes() -> None:
    assert prekeys.vectors() == OURS


def test_the_message_is_the_published_one() -> None:
    """So `noiseprotocol` judges ours by the same vector by which the library is judged."""

    def side(name: str) -> NoiseConnection:
        noise = NoiseConnection.from_name(PUBLISHED["protocol_name"].encode())
        if name == "init":
            noise.set_as_initiator()
            noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, bytes.fromhex(PUBLISHED["init_ephemeral"]))
        else:
            noise.set_as_responder()
        noise.set_psks(bytes.fromhex(PUBLISHED[f"{name}_psks"][0]))
        noise.set_prologue(bytes.fromhex(PUBLISHED[f"{name}_prologue"]))
        noise.set_keypair_from_private_bytes(Keypair.STATIC, bytes.fromhex(PUBLISHED[f"{name}_static"]))
        noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, bytes.fromhex(PUBLISHED[f"{name}_remote_static"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            noise.start_handshake()
        return noise

    (message,) = PUBLISHED["messages"]
    sent = bytes(side("init").write_message(bytes.fromhex(message["payload"])))
    assert sent.hex() == message["ciphertext"]
    assert bytes(side("resp").read_message(sent)).hex() == message["payload"]


def test_each_push_of_the_vectors_opens() -> None:
    for push in OURS["pushes"]:
        assert prekeys.opened(push["text"], psk=bytes.fromhex(push["psk"])).decode().rstrip() == push["content"]


@pytest.mark.parametrize("case", OURS["rejections"], ids=lambda case: case["name"])
def test_a_bad_push_is_refused_for_the_same_reason(case: Json) -> None:
    with pytest.raises(Refused, match=f"^{case['code']}$"):
        prekeys.opened(case["text"])


def test_the_longest_push_fits_into_a_payload_of_apns() -> None:
    """With an alert of 100 bytes beside it."""
    text = OURS["pushes"][1]["text"]
    assert len(OURS["pushes"][1]["content"]) == prekeys.LIMIT
    payload = {"aps": {"alert": {"title": "x" * 100}, "mutable-content": 1}, "bellwire": text}
    assert len(json.dumps(payload, separators=(",", ":"))) <= 4096


def test_the_page_shows_frames_of_the_vectors() -> None:
    page = (ROOT / "Sources/Library/CABI/Bellwire.docc/WirePrekeys.md").read_text()
    text = OURS["pushes"][0]["text"]
    assert [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)] == [
        OURS["statement"],
        OURS["shortage"],
        {"data": {"bellwire": text}},
        {"aps": {"alert": {"title": "New notification"}, "mutable-content": 1}, "bellwire": text},
    ]
    assert OURS["pushes"][0]["content"] in page
