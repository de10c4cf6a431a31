"""A second implementation of pushes that are sealed to prekeys (WirePrekeys), which makes and checks the vectors of the
first one.

    python prekeys.py > ../SealingTests/Vectors/prekeys.json

The message is that of the package `noiseprotocol`; everything else is written here after the page. Nothing is shared with
the library.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import Any

from cryptography.exceptions import InvalidTag
from noise.connection import Keypair, NoiseConnection
from sessions import (
    ALPHABET,
    DESKTOP,
    DEVICE,
    LOW_ORDER,
    PRIME,
    SECRET,
    Identity,
    Refused,
    bytes_of,
    check_point,
    filled,
    pad,
    preshared_key,
    public_of,
    text_of,
    unpad,
)

Json = dict[str, Any]

NAME = b"Noise_Kpsk0_25519_ChaChaPoly_SHA256"
VERSION = b"\x01"
#: Of the plaintext.
LIMIT = 2815
PREKEYS = tuple(bytes(range(start, start + 32)) for start in (0x20, 0x40, 0x60))
EPHEMERAL = bytes(range(0x80, 0xA0))
PSK = preshared_key(SECRET, DEVICE.did, DESKTOP.did)
PUSH: Json = {
    "timestamp": 1795308854766,
    "body": {
        "type": "chainlesschain:event",
        "payload": {
            "event": "notification.received",
            "notificationId": "n-1",
            "title": "Tea",
            "body": "is ready",
            "priority": "normal",
            "source": "pc",
            "timestamp": 1795308854700,
            "expiresAt": 1795395254700,
            "imageUrl": "https://images.example.org/tea.png",
            "deepLink": "app://tea",
            "pushSeq": 42,
        },
    },
}


def prekey_id(public: bytes) -> bytes:
    return hashlib.sha256(public).digest()[:12]


def prologue(desktop: str, device: str, prekey: bytes) -> bytes:
    return f"bellwire-push-v1\n{desktop}\n{device}\n".encode() + VERSION + prekey


def _desktop_noise(desktop: Identity, device: str, prekey: bytes, psk: bytes) -> NoiseConnection:
    """`prekey` is the public half."""
    noise = NoiseConnection.from_name(NAME)
    noise.set_as_initiator()
    noise.set_psks(psk)
    noise.set_prologue(prologue(desktop.did, device, prekey_id(prekey)))
    noise.set_keypair_from_private_bytes(Keypair.STATIC, desktop.agreement)
    noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, prekey)
    return noise


def _device_noise(did: str, device: str, secret: bytes, psk: bytes) -> NoiseConnection:
    """`did` is the desktop's."""
    noise = NoiseConnection.from_name(NAME)
    noise.set_as_responder()
    noise.set_psks(psk)
    noise.set_prologue(prologue(did, device, prekey_id(public_of(secret))))
    noise.set_keypair_from_private_bytes(Keypair.STATIC, secret)
    noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, agreement_public_of(did))
    return noise


def agreement_public_of(did: str) -> bytes:
    """The X25519 form of the key in a `did:key`, by the birational map."""
    number = 0
    for letter in did.removeprefix("did:key:z"):
        number = number * 58 + ALPHABET.index(letter)
    y = int.from_bytes(number.to_bytes(34, "big")[2:], "little") & (2**255 - 1)
    return ((1 + y) * pow(1 - y, -1, PRIME) % PRIME).to_bytes(32, "little")


def content(push: Json) -> bytes:
    return json.dumps(push, separators=(",", ":"), ensure_ascii=False).encode()


def seal(
    plaintext: bytes,
    prekey: bytes,
    psk: bytes = PSK,
    ephemeral: bytes = EPHEMERAL,
    desktop: Identity = DESKTOP,
    device: str = DEVICE.did,
) -> str:
    """Of plaintext that is not padded, to the public half of a prekey."""
    return seal_padded(pad(filled(plaintext)), prekey, psk, ephemeral, desktop, device)


def seal_padded(padded: bytes, prekey: bytes, psk: bytes, ephemeral: bytes, desktop: Identity, device: str) -> str:
    noise = _desktop_noise(desktop, device, prekey, psk)
    noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the ephemeral key, which is ours to give
        noise.start_handshake()
    return text_of(VERSION + prekey_id(prekey) + bytes(noise.write_message(padded)))


def opened(
    text: str,
    secrets: tuple[bytes, ...] = PREKEYS,
    psk: bytes = PSK,
    device: str = DEVICE.did,
    desktop: str = DESKTOP.did,
) -> bytes:
    """The plaintext, with the prekey that the text names."""
    data = bytes_of(text)
    if data[:1] != VERSION or not 13 + 48 + 256 <= len(data) <= 13 + 48 + LIMIT + 1:
        raise Refused("malformed")
    found = [secret for secret in secrets if prekey_id(public_of(secret)) == data[1:13]]
    if not found:
        raise Refused("unknown_prekey")
    check_point(data[13:45])
    noise = _device_noise(desktop, device, found[0], psk)
    noise.start_handshake()
    try:
        padded = bytes(noise.read_message(data[13:]))
    except InvalidTag as error:
        raise Refused("forged") from error
    plaintext = unpad(padded)
    try:
        value = json.loads(plaintext)
    except ValueError as error:
        raise Refused("malformed") from error
    if not isinstance(value, dict) or not isinstance(value.get("body"), dict):
        raise Refused("malformed")
    return plaintext


def statement(secrets: tuple[bytes, ...]) -> Json:
    """The last one is the last resort."""
    texts = [text_of(public_of(secret)) for secret in secrets]
    return {"type": "bellwire:prekeys", "payload": {"v": 1, "keys": texts[:-1], "last": texts[-1]}}


# MARK: Vectors


def _rejections() -> list[Json]:
    public = public_of(PREKEYS[0])
    good = bytes_of(seal(content(PUSH), public))
    rows: list[tuple[str, str, str]] = [("empty", "", "malformed"), ("not base64url", "#" * 500, "malformed")]
    rows.append(("padded base64", text_of(good) + "=", "malformed"))
    for name, data in (
        ("version 0", b"\0" + good[1:]),
        ("version 2", b"\2" + good[1:]),
        ("cut to the prekey", good[:13]),
        ("cut to the ephemeral key", good[:45]),
        ("shorter than any padding", good[: 13 + 48 + 255]),
        ("longer than any push", good + bytes(2900)),
    ):
        rows.append((name, text_of(data), "malformed"))
    for place in (1, 12):
        changed = good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]
        rows.append((f"prekey id changed at {place}", text_of(changed), "unknown_prekey"))
    stranger = public_of(bytes(range(0xC0, 0xE0)))
    rows.append(("a prekey of another device", seal(content(PUSH), stranger), "unknown_prekey"))
    for place in (45, 100, len(good) - 1):
        changed = good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]
        rows.append((f"changed at {place}", text_of(changed), "forged"))
    rows.append(("a byte more", text_of(good + b"\0"), "forged"))
    rows.append(("without the preshared key", seal(content(PUSH), public, psk=bytes(32)), "forged"))
    rows.append(("another preshared key", seal(content(PUSH), public, psk=bytes([7]) * 32), "forged"))
    other = Identity(bytes(range(100, 132))[::-1])
    rows.append(("sealed by another desktop", seal(content(PUSH), public, desktop=other), "forged"))
    rows.append(("sealed for another device", seal(content(PUSH), public, device=other.did), "forged"))
    elsewhere = text_of(good[:1] + prekey_id(public_of(PREKEYS[1])) + good[13:])
    rows.append(("redirected to another prekey", elsewhere, "forged"))
    for point in LOW_ORDER:
        data = good[:13] + point.to_bytes(32, "little") + good[45:]
        rows.append((f"ephemeral key of low order: {point:x}"[:48], text_of(data), "weak_point"))
    high = good[:44] + bytes([good[44] | 0x80]) + good[45:]
    rows.append(("ephemeral key with the highest bit", text_of(high), "weak_point"))

    def padded(data: bytes) -> str:
        return seal_padded(data, public, PSK, EPHEMERAL, DESKTOP, DEVICE.did)

    plain = content(PUSH)
    rows.append(("zeros alone", padded(bytes(256)), "malformed"))
    rows.append(("no end of the content", padded(plain.ljust(512, b"\0")), "malformed"))
    rows.append(("more padding than needed", padded((plain + b"\x80").ljust(1024, b"\0")), "malformed"))
    rows.append(("not JSON", seal(b"not JSON", public), "malformed"))
    rows.append(("no body", seal(b'{"timestamp":1}', public), "malformed"))
    return [{"name": name, "text": text, "code": code} for name, text, code in rows]


def vectors() -> Json:
    public = public_of(PREKEYS[0])
    longest = dict(PUSH, body={"type": "x", "payload": {"filler": ""}})
    longest["body"]["payload"]["filler"] = "x" * (LIMIT - len(content(longest)))
    return {
        "source": "Tests/Integration/prekeys.py",
        "desktop": DESKTOP.did,
        "desktop_seed": DESKTOP.seed.hex(),
        "device": DEVICE.did,
        "psk": PSK.hex(),
        "prekeys": [
            {"secret": secret.hex(), "public": public_of(secret).hex(), "id": prekey_id(public_of(secret)).hex()}
            for secret in PREKEYS
        ],
        "ephemeral": EPHEMERAL.hex(),
        "prologue": prologue(DESKTOP.did, DEVICE.did, prekey_id(public)).hex(),
        "statement": statement(PREKEYS),
        "shortage": {"type": "bellwire:prekeys.low", "payload": {"v": 1, "left": 3}},
        "pushes": [
            {"content": content(push).decode(), "text": seal(content(push), public), "psk": PSK.hex()}
            for push in (PUSH, longest)
        ]
        + [{"content": content(PUSH).decode(), "text": seal(content(PUSH), public, bytes(32)), "psk": bytes(32).hex()}],
        "rejections": _rejections(),
    }


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=1))
