"""The vectors of a pairing's proofs and preshared key, judged by a second implementation."""

from __future__ import annotations

import json
from typing import Any

import pairing_proofs
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from programs import ROOT

Json = dict[str, Any]

OURS: Json = json.loads((ROOT / "Tests/Unit/Features/PairingTests/Vectors/proofs.json").read_text())


def test_the_vectors_are_those_that_this_implementation_makes() -> None:
    assert pairing_proofs.vectors() == OURS


def test_the_preshared_key_is_hkdf_as_another_library_has_it() -> None:
    for pairing in OURS["pairings"]:
        info = f"{OURS['device']}\n{OURS['desktop']}".encode()
        key = HKDF(SHA256(), 32, b"bellwire-psk-v2", info).derive(bytes.fromhex(pairing["secret"])).hex()
        offers = pairing["offers"]
        assert pairing["psk"] == (key if offers and 2 in offers["code"] and 2 in offers["answer"] else None)


def test_no_two_frames_of_a_pairing_have_the_same_proof() -> None:
    """With and without the offers, whichever side makes them."""
    macs = [proof["mac"] for pairing in OURS["pairings"] for proof in pairing["proofs"]]
    assert len(set(macs)) == len(macs)


def test_the_page_says_the_line_of_the_offers() -> None:
    page = (ROOT / "Sources/Library/CABI/Bellwire.docc/WirePairingProofs.md").read_text()
    assert f"`{pairing_proofs.seal_line([1, 2], [1, 2])}`" in page


def test_the_page_of_words_has_the_list_in_its_order() -> None:
    source = (ROOT / "Sources/Foundations/Identity/Pairing/WordList.swift").read_text()
    page = (ROOT / "Sources/Library/CABI/Bellwire.docc/WireWords.md").read_text()
    words = source.split('"""')[1].replace("\\\n", " ").split()
    rows = [row.strip("| ").split(" | ") for row in page.splitlines() if row[2:3].isdigit()]
    assert [int(row[0]) for row in rows] == list(range(0, 1024, 8))
    assert [word for row in rows for word in row[1:]] == words
    assert len(words) == len({word[:4] for word in words}) == 1024
