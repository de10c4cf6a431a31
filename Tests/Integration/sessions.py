"""A second implementation of the seal's version 2 (WireSessions), which makes and checks the vectors of the first one.

    python sessions.py > ../SealingTests/Vectors/sessions.json

The handshake is that of the package `noiseprotocol`; everything else is written here after the page, on the primitives of
`cryptography`. Nothing is shared with the library.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import warnings
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from noise.connection import Keypair, NoiseConnection

Json = dict[str, Any]

NAME = b"Noise_KKpsk2_25519_ChaChaPoly_SHA256"
PRIME = 2**255 - 19
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SUITES = (1,)
LAST_COUNTER = 2**20 - 1
#: The canonical points whose order is 1, 2, 4 or 8.
LOW_ORDER = (
    0,
    1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
    PRIME - 1,
)


class Refused(Exception):
    """A frame that a peer refuses, by the name of the reason."""


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text: object, count: int | None = None) -> bytes:
    """Strict: no padding, no other characters, no bits left over."""
    if not isinstance(text, str) or "=" in text:
        raise Refused("malformed")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise Refused("malformed") from error
    if text_of(data) != text or (count is not None and len(data) != count):
        raise Refused("malformed")
    return data


# MARK: Keys


def did_of(public: bytes) -> str:
    number = int.from_bytes(b"\xed\x01" + public, "big")
    digits = ""
    while number:
        number, rest = divmod(number, 58)
        digits = ALPHABET[rest] + digits
    return "did:key:z" + digits


@dataclass(frozen=True)
class Identity:
    seed: bytes

    @property
    def public(self) -> bytes:
        key = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return key.public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def did(self) -> str:
        return did_of(self.public)

    @property
    def agreement(self) -> bytes:
        """The secret half of its X25519 form."""
        scalar = bytearray(hashlib.sha512(self.seed).digest()[:32])
        scalar[0] &= 248
        scalar[31] = scalar[31] & 127 | 64
        return bytes(scalar)

    @property
    def agreement_public(self) -> bytes:
        """By the birational map from the Edwards point."""
        y = int.from_bytes(self.public, "little") & (2**255 - 1)
        return ((1 + y) * pow(1 - y, -1, PRIME) % PRIME).to_bytes(32, "little")


def public_of(secret: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def check_point(point: bytes) -> None:
    number = int.from_bytes(point, "little")
    if number >= PRIME or number in LOW_ORDER:
        raise Refused("weak_point")


def preshared_key(secret: bytes, device: str, desktop: str) -> bytes:
    """HKDF-SHA256 of RFC 5869, one block."""
    extracted = hmac.digest(b"bellwire-psk-v2", secret, "sha256")
    return hmac.digest(extracted, f"{device}\n{desktop}".encode() + b"\x01", "sha256")


# MARK: Bindings


def prologue(device: str, desktop: str, sid: bytes, suites: list[int]) -> bytes:
    head = f"bellwire-seal-v2\n{device}\n{desktop}\n".encode()
    return head + sid + b"".join(suite.to_bytes(2, "big") for suite in suites)


def associated_data(sid: bytes, from_device: bool, counter: int) -> bytes:
    return b"s2" + sid + (b"\x01" if from_device else b"\x02") + counter.to_bytes(8, "big")


def padded_size(count: int) -> int:
    """Padmé, and at least 256."""
    if count <= 256:
        return 256
    exponent = count.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (count + mask) & ~mask


def filled(content: bytes) -> bytes:
    """JSON with spaces at its end, so that all short ones have one length."""
    return content.ljust(511)


def pad(content: bytes) -> bytes:
    return (content + b"\x80").ljust(padded_size(len(content) + 1), b"\0")


def unpad(padded: bytes) -> bytes:
    content = padded.rstrip(b"\0")
    if not content.endswith(b"\x80") or len(padded) != padded_size(len(content)):
        raise Refused("malformed")
    return content[:-1]


# MARK: Sessions


@dataclass
class Side:
    """One side of one handshake, and of the session after it."""

    own: Identity
    peer: Identity
    is_device: bool
    psk: bytes
    ephemeral: bytes
    sid: bytes = b""
    suites: list[int] = field(default_factory=lambda: list(SUITES))
    noise: NoiseConnection | None = None
    is_open: bool = False
    seen: set[int] = field(default_factory=set)

    def _begin(self) -> NoiseConnection:
        noise = NoiseConnection.from_name(NAME)
        if self.is_device:
            noise.set_as_initiator()
        else:
            noise.set_as_responder()
        device, desktop = (self.own, self.peer) if self.is_device else (self.peer, self.own)
        noise.set_psks(self.psk)
        noise.set_prologue(prologue(device.did, desktop.did, self.sid, self.suites))
        noise.set_keypair_from_private_bytes(Keypair.STATIC, self.own.agreement)
        noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, self.peer.agreement_public)
        noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, self.ephemeral)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the ephemeral key, which is ours to give
            noise.start_handshake()
        return noise

    def begin(self, sid: bytes) -> Json:
        """Step 1."""
        self.sid = sid
        self.noise = self._begin()
        message = bytes(self.noise.write_message())
        return hs({"step": 1, "sid": text_of(sid), "suites": self.suites, "noise": text_of(message)})

    def receive(self, frame: Json) -> Json | None:
        """A handshake's frame; the answer, if one follows."""
        if frame.get("type") != "bellwire:hs" or not isinstance(frame.get("payload"), dict):
            raise Refused("malformed")
        fields = frame["payload"]
        step = fields.get("step")
        if type(fields.get("v")) is not int or fields["v"] != 2 or type(step) is not int or step not in (0, 1, 2):
            raise Refused("malformed")
        if step == 0:
            return None if self.is_device else self._unexpected()
        sid, message = bytes_of(fields.get("sid"), 16), bytes_of(fields.get("noise"), 48)
        if step == 1:
            suites = fields.get("suites")
            if not isinstance(suites, list) or not 1 <= len(suites) <= 16 or len(set(map(str, suites))) != len(suites):
                raise Refused("malformed")
            if any(type(suite) is not int or not 0 < suite < 65536 for suite in suites):
                raise Refused("malformed")
            if self.is_device:
                self._unexpected()
            return self._answer(sid, suites, message)
        suite = fields.get("suite")
        if type(suite) is not int or not 0 < suite < 65536:
            raise Refused("malformed")
        if not self.is_device or self.noise is None or self.is_open or sid != self.sid:
            self._unexpected()
        if suite not in self.suites:
            raise Refused("unknown_suite")
        check_point(message[:32])
        self._read(message)
        self.is_open = True
        return None

    def _answer(self, sid: bytes, suites: list[int], message: bytes) -> Json:
        if 1 not in suites:
            raise Refused("unknown_suite")
        check_point(message[:32])
        self.sid, self.suites = sid, suites
        self.noise = self._begin()
        self._read(message)
        answer = bytes(self.noise.write_message())
        self.is_open = True
        return hs({"step": 2, "sid": text_of(sid), "suite": 1, "noise": text_of(answer)})

    def _read(self, message: bytes) -> None:
        assert self.noise is not None
        try:
            payload = self.noise.read_message(message)
        except InvalidTag as error:
            raise Refused("forged") from error
        assert not payload

    def _unexpected(self) -> None:
        raise Refused("unexpected_step")

    def key(self, sending: bool) -> ChaCha20Poly1305:
        """Of one direction; `noiseprotocol` counts its nonces itself, frames name theirs."""
        assert self.noise is not None
        protocol = self.noise.noise_protocol
        state = protocol.cipher_state_encrypt if sending else protocol.cipher_state_decrypt
        return ChaCha20Poly1305(bytes(state.k))

    def seal(self, content: bytes, counter: int) -> Json:
        return self.seal_padded(pad(content), counter)

    def seal_padded(self, padded: bytes, counter: int) -> Json:
        nonce = bytes(4) + counter.to_bytes(8, "little")
        box = self.key(True).encrypt(nonce, padded, associated_data(self.sid, self.is_device, counter))
        return s2({"sid": text_of(self.sid), "n": counter, "box": text_of(box)})

    def open(self, frame: Json) -> Json:
        if frame.get("type") != "bellwire:s2" or not isinstance(frame.get("payload"), dict):
            raise Refused("malformed")
        fields = frame["payload"]
        if type(fields.get("v")) is not int or fields["v"] != 2:
            raise Refused("malformed")
        sid, counter = bytes_of(fields.get("sid"), 16), fields.get("n")
        if type(counter) not in (int, float):
            raise Refused("malformed")
        if type(counter) is float or not 0 <= counter < 2**63:
            raise Refused("counter_out_of_range")
        box = bytes_of(fields.get("box"))
        if len(box) < 272:
            raise Refused("malformed")
        if sid != self.sid:
            raise Refused("unknown_session")
        if counter > LAST_COUNTER:
            raise Refused("counter_out_of_range")
        if counter in self.seen:
            raise Refused("replayed")
        nonce = bytes(4) + counter.to_bytes(8, "little")
        try:
            padded = self.key(False).decrypt(nonce, box, associated_data(sid, not self.is_device, counter))
        except InvalidTag as error:
            raise Refused("forged") from error
        self.seen.add(counter)
        try:
            content = json.loads(unpad(padded))
        except ValueError as error:
            raise Refused("malformed") from error
        if not isinstance(content, dict) or not isinstance(content.get("body"), dict):
            raise Refused("malformed")
        return content


def hs(fields: Json) -> Json:
    return {"type": "bellwire:hs", "payload": {"v": 2, **fields}}


def s2(fields: Json) -> Json:
    return {"type": "bellwire:s2", "payload": {"v": 2, **fields}}


# MARK: The vectors

DEVICE = Identity(bytes(range(1, 33)))
DESKTOP = Identity(bytes(range(101, 133)))
STRANGER = Identity(bytes(range(201, 233)))
SECRET = bytes(range(16))
CPACE_KEY = bytes(range(64))
SID = bytes(range(0xA0, 0xB0))
DEVICE_EPHEMERAL = hashlib.sha256(b"bellwire vectors: the device's ephemeral key").digest()
DESKTOP_EPHEMERAL = hashlib.sha256(b"bellwire vectors: the desktop's ephemeral key").digest()


def sides(psk: bytes) -> tuple[Side, Side]:
    return (
        Side(DEVICE, DESKTOP, True, psk, DEVICE_EPHEMERAL),
        Side(DESKTOP, DEVICE, False, psk, DESKTOP_EPHEMERAL),
    )


def session(psk: bytes) -> tuple[Side, Side, Json, Json]:
    device, desktop = sides(psk)
    first = device.begin(SID)
    second = desktop.receive(first)
    assert second is not None
    device.receive(second)
    return device, desktop, first, second


def content(body: Json, timestamp: int = 1795308854766) -> bytes:
    return json.dumps({"timestamp": timestamp, "body": body}, separators=(",", ":"), ensure_ascii=False).encode()


def changed(frame: Json, **fields: Any) -> Json:
    payload = {**frame["payload"], **fields}
    return {"type": frame["type"], "payload": {name: value for name, value in payload.items() if value is not None}}


def flipped(frame: Json, name: str, index: int) -> Json:
    data = bytearray(bytes_of(frame["payload"][name]))
    data[index] ^= 1
    return changed(frame, **{name: text_of(bytes(data))})


def with_point(frame: Json, number: int) -> Json:
    data = bytes_of(frame["payload"]["noise"])
    return changed(frame, noise=text_of(number.to_bytes(32, "little") + data[32:]))


def handshake_rejections(psk: bytes) -> list[Json]:
    """To a desktop that has no session, and to a device that has begun one."""
    _, _, first, second = session(psk)
    cases: list[Json] = []

    def case(name: str, to: str, frame: Json, code: str) -> None:
        cases.append({"name": name, "to": to, "frame": frame, "code": code})

    for to, frame in (("desktop", first), ("device", second)):
        for index, number in enumerate(LOW_ORDER):
            case(f"low order {index}", to, with_point(frame, number), "weak_point")
        for offset in (0, 1, 9, 18):
            case(f"not canonical {offset}", to, with_point(frame, PRIME + offset), "weak_point")
        point = int.from_bytes(bytes_of(frame["payload"]["noise"])[:32], "little")
        case("highest bit", to, with_point(frame, point | 1 << 255), "weak_point")
        case("another ephemeral key", to, flipped(frame, "noise", 0), "forged")
        case("another tag", to, flipped(frame, "noise", 47), "forged")
        for name in ("v", "step", "sid", "noise"):
            case(f"no {name}", to, changed(frame, **{name: None}), "malformed")
        case("version 1", to, changed(frame, v=1), "malformed")
        case("version as text", to, changed(frame, v="2"), "malformed")
        case("step 3", to, changed(frame, step=3), "malformed")
        case("short sid", to, changed(frame, sid=text_of(SID[:15])), "malformed")
        case("padded sid", to, changed(frame, sid=text_of(SID) + "=="), "malformed")
        case("bits left over in the sid", to, changed(frame, sid=text_of(SID)[:-1] + "x"), "malformed")
        case("cut message", to, changed(frame, noise=frame["payload"]["noise"][:-4]), "malformed")
        case("longer message", to, changed(frame, noise=frame["payload"]["noise"] + "AAAA"), "malformed")
    case("another sid", "desktop", flipped(first, "sid", 0), "forged")
    case("more suites than were bound", "desktop", changed(first, suites=[1, 2]), "forged")
    case("only the reserved suite", "desktop", changed(first, suites=[2]), "unknown_suite")
    case("only unknown suites", "desktop", changed(first, suites=[65535, 7]), "unknown_suite")
    for suites in ([], [0], [65536], [1, 1], ["1"], [1.5], "1", list(range(1, 18))):
        case(f"suites {json.dumps(suites)[:12]}", "desktop", changed(first, suites=suites), "malformed")
    case("answer to the desktop", "desktop", second, "unexpected_step")
    case("request to the desktop", "desktop", hs({"step": 0}), "unexpected_step")
    case("step 1 to the device", "device", first, "unexpected_step")
    case("answer for another sid", "device", flipped(second, "sid", 3), "unexpected_step")
    case("the reserved suite", "device", changed(second, suite=2), "unknown_suite")
    case("suite 0", "device", changed(second, suite=0), "malformed")
    stranger = Side(STRANGER, DESKTOP, True, psk, DEVICE_EPHEMERAL)
    case("another device's", "desktop", stranger.begin(SID), "forged")
    elsewhere = Side(DEVICE, STRANGER, True, psk, DEVICE_EPHEMERAL)
    case("for another desktop", "desktop", elsewhere.begin(SID), "forged")
    other = Side(DESKTOP, DEVICE, False, preshared_key(b"x" * 16, DEVICE.did, DESKTOP.did), DESKTOP_EPHEMERAL)
    answer = other.receive(first)
    assert answer is not None
    case("another preshared key", "device", answer, "forged")
    without = Side(DESKTOP, DEVICE, False, bytes(32), DESKTOP_EPHEMERAL)
    answer = without.receive(first)
    assert answer is not None
    case("no preshared key", "device", answer, "forged")
    return cases


def frame_rejections(psk: bytes) -> list[Json]:
    """To a desktop whose session is confirmed by the frame 0, in this order."""
    device, desktop, _, _ = session(psk)
    good = content({"type": "bellwire:hello", "payload": {"v": 1, "lastPushSeq": 0}})
    frame = device.seal(good, 1)
    cases: list[Json] = []

    def case(name: str, frame: Json, code: str) -> None:
        cases.append({"name": name, "frame": frame, "code": code})

    case("another tag", flipped(frame, "box", -1), "forged")
    case("another first byte", flipped(frame, "box", 0), "forged")
    case("another counter", changed(frame, n=2), "forged")
    case("reflected", desktop.seal(good, 1), "forged")
    case("another session", flipped(frame, "sid", 0), "unknown_session")
    case("repeated", device.seal(good, 0), "replayed")
    for number in (-1, -(2**63), LAST_COUNTER + 1, 2**32, 2**63 - 1):
        case(f"counter {number}", changed(frame, n=number), "counter_out_of_range")
    case("counter as a fraction", changed(frame, n=1.5), "counter_out_of_range")
    case("counter as text", changed(frame, n="1"), "malformed")
    for name in ("v", "sid", "n", "box"):
        case(f"no {name}", changed(frame, **{name: None}), "malformed")
    case("version 1", changed(frame, v=1), "malformed")
    case("short box", changed(frame, box=text_of(bytes(271))), "malformed")
    case("padded base64", changed(frame, box=frame["payload"]["box"] + "="), "malformed")
    # Authentic, each with a counter of its own.
    case("no padding", device.seal_padded(b"x" * 256, 10), "malformed")
    case("only zeros", device.seal_padded(bytes(256), 11), "malformed")
    case("another marker", device.seal_padded((good + b"\x81").ljust(256, b"\0"), 12), "malformed")
    case("a size that is not Padmé's", device.seal_padded((b" " * 257 + b"\x80").ljust(259, b"\0"), 13), "malformed")
    case("more padding than needed", device.seal_padded((good + b"\x80").ljust(512, b"\0"), 14), "malformed")
    case("not JSON", device.seal(b"hello", 15), "malformed")
    case("no body", device.seal(b'{"timestamp":1}', 16), "malformed")
    case("a list", device.seal(b"[]", 17), "malformed")
    case("the frame after all of these", device.seal(good, 1), "")
    case("the last counter", device.seal(good, LAST_COUNTER), "")
    return cases


def vectors() -> Json:
    psk = preshared_key(SECRET, DEVICE.did, DESKTOP.did)
    device, desktop, first, second = session(psk)
    _, _, first_without, second_without = session(bytes(32))
    messages = [
        (device, 0, {"type": "bellwire:hello", "payload": {"v": 1, "lastPushSeq": 41}}),
        (desktop, 0, {"type": "chainlesschain:event", "payload": {"event": "x", "title": "Käse ☎" * 40}}),
        (device, 1, {"type": "bellwire:ack", "payload": {"pushSeq": 42}}),
        (desktop, 70000, {"type": "bellwire:skip", "payload": {"through": 7}}),
    ]
    frames = []
    for side, counter, body in messages:
        plaintext = content(body)
        frames.append(
            {
                "from": "device" if side.is_device else "desktop",
                "n": counter,
                "content": plaintext.decode(),
                "padded": len(pad(plaintext)),
                "ad": associated_data(SID, side.is_device, counter).hex(),
                "frame": side.seal(plaintext, counter),
            }
        )
    counts = [0, 1, 255, 256, 257, 258, 264, 265, 400, 512, 513, 1000, 4097, 65536, 65537, 700000, 737280]
    return {
        "source": "Tests/Integration/sessions.py",
        "device": {
            "seed": DEVICE.seed.hex(), "did": DEVICE.did,
            "x25519": DEVICE.agreement_public.hex(), "ephemeral": DEVICE_EPHEMERAL.hex(),
        },
        "desktop": {
            "seed": DESKTOP.seed.hex(), "did": DESKTOP.did,
            "x25519": DESKTOP.agreement_public.hex(), "ephemeral": DESKTOP_EPHEMERAL.hex(),
        },
        "sid": SID.hex(),
        "psk": {
            "qr": {"secret": SECRET.hex(), "psk": psk.hex()},
            "cpace": {"secret": CPACE_KEY.hex(), "psk": preshared_key(CPACE_KEY, DEVICE.did, DESKTOP.did).hex()},
        },
        "prologue": prologue(DEVICE.did, DESKTOP.did, SID, list(SUITES)).hex(),
        "handshake": {"request": hs({"step": 0}), "initiation": first, "answer": second},
        "without_psk": {"initiation": first_without, "answer": second_without},
        "padding": [[count, padded_size(count)] for count in counts],
        "frames": frames,
        "handshake_rejections": handshake_rejections(psk),
        "frame_rejections": frame_rejections(psk),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=1, ensure_ascii=False))
