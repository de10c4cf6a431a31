"""A second implementation of the proofs of a pairing (WirePairingProofs) and of the preshared key that comes from it
(WireSessions), which makes and checks the vectors of the first one.

    python pairing_proofs.py > ../PairingTests/Vectors/proofs.json

Nothing is shared with the library.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from sessions import CPACE_KEY, DESKTOP, DEVICE, SECRET, preshared_key, text_of

Json = dict[str, Any]

CODE = "056140"
TIMESTAMP = 1795308854766
DEVICE_RANDOM = bytes(range(16, 32))
DESKTOP_RANDOM = bytes(range(32, 48))
COMMITMENT = text_of(hashlib.sha256(DEVICE_RANDOM).digest())

#: What the two sides have said before each kind of frame, in the order of the page's table.
COMMITTED = ["1", COMMITMENT]
CHALLENGED = [*COMMITTED, text_of(DESKTOP_RANDOM)]
REVEALED = [*CHALLENGED, text_of(DEVICE_RANDOM)]
FRAMES = [
    ("ack that commits", "ack", COMMITTED),
    ("challenge", "challenge", CHALLENGED),
    ("ack that reveals", "ack", REVEALED),
    ("its confirmation", "confirmation", REVEALED),
    ("confirmation of a device's code", "confirmation", CHALLENGED),
    ("hello that answers it", "hello", REVEALED),
    ("ack of a typed code", "ack", []),
    ("confirmation of a typed code", "confirmation", []),
]
#: The versions of the code, and of its answer; none = one of the two has made no offer.
OFFERS: list[tuple[list[int], list[int]] | None] = [None, ([1, 2], [1, 2]), ([1], [1, 2]), ([1, 2], [1, 2, 3])]


def seal_line(code: list[int], answer: list[int]) -> str:
    return f"seal {','.join(map(str, code))} {','.join(map(str, answer))}"


def proof(secret: bytes, kind: str, said: list[str], offers: tuple[list[int], list[int]] | None) -> Json:
    lines = ["bellwire-pair-v1", kind, DEVICE.did, DESKTOP.did, CODE, str(TIMESTAMP), *said]
    if offers is not None:
        lines.append(seal_line(*offers))
    return {"lines": lines, "mac": text_of(hmac.digest(secret, "\n".join(lines).encode(), "sha256"))}


def psk(secret: bytes, offers: tuple[list[int], list[int]] | None) -> str | None:
    """None: the two sides use 32 zero bytes."""
    if offers is None or any(2 not in side for side in offers):
        return None
    return preshared_key(secret, DEVICE.did, DESKTOP.did).hex()


def vectors() -> Json:
    return {
        "source": "Tests/Integration/pairing_proofs.py",
        "device": DEVICE.did,
        "desktop": DESKTOP.did,
        "code": CODE,
        "timestamp": TIMESTAMP,
        "device_random": text_of(DEVICE_RANDOM),
        "desktop_random": text_of(DESKTOP_RANDOM),
        "pairings": [
            {
                "secret": secret.hex(),
                "offers": None if offers is None else {"code": offers[0], "answer": offers[1]},
                "psk": psk(secret, offers),
                "proofs": [
                    {"frame": frame, "kind": kind, **proof(secret, kind, said, offers)} for frame, kind, said in FRAMES
                ],
            }
            for secret in (SECRET, CPACE_KEY)
            for offers in OFFERS
        ],
    }


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=1, ensure_ascii=False))
