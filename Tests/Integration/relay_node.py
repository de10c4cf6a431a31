"""A relay that is run for others, as its operator and its peers see it."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from programs import Program
from sessions import did_of as did_of_public
from websockets.sync.client import ClientConnection, connect

Start = Callable[..., Program]
Object = dict[str, Any]

PROXY_SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def proxy_header(client: str, command: int = 0x21) -> bytes:
    """A PROXY header, version 2, for a client with an IPv4 address."""
    addresses = socket.inet_aton(client) + socket.inet_aton("127.0.0.1") + b"\x1f\x90\x00\x50"
    return PROXY_SIGNATURE + bytes([command, 0x11, 0, len(addresses)]) + addresses


def did_of(key: Ed25519PrivateKey) -> str:
    return did_of_public(key.public_key().public_bytes_raw())


class Node:
    """`bellwire relay` with a health page."""

    def __init__(self, bellwire: Start, *options: str | Path, listen: str = "127.0.0.1:0") -> None:
        self.program = bellwire("relay", "--listen", listen, "--health", "127.0.0.1:0", *options)
        found = self.program.line(r"(wss?://127\.0\.0\.1:(\d+)), health page (http://127\.0\.0\.1:\d+)/health")
        self.url, self.port, self.page = found[1], int(found[2]), found[3]

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.page + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name: str) -> float:
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise AssertionError(f"no metric {name}")

    def wait(self, name: str, matches: Callable[[float], bool], timeout: float = 10) -> None:
        """Waits until a metric is like that."""
        deadline = time.monotonic() + timeout
        while not matches(value := self.metric(name)):
            assert time.monotonic() < deadline, f"{name} is {value}"
            time.sleep(0.002)

    def log(self, event: str, timeout: float = 15) -> Object:
        """The next line of the JSON log for an event."""

        def matches(line: str) -> Object | None:
            entry: Object = json.loads(line)
            return entry if entry["event"] == event else None

        found: Object = self.program.err.next(matches, timeout)
        return found

    def peer(self, name: str | None = None, **options: Any) -> Client:
        client = Client(connect(self.url, open_timeout=10, close_timeout=2, max_size=1 << 20, proxy=None, **options))
        if name is not None:
            assert client.register(name)["type"] == "registered"
        return client


#: Starts a relay of a cluster: its name, and options.
Join = Callable[..., Node]


class Client:
    """One connection to the relay."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, **frame: Any) -> None:
        self.connection.send(json.dumps(frame))

    def next(self, *types: str, timeout: float = 10) -> Object:
        deadline = time.monotonic() + timeout
        while True:
            frame: Object = json.loads(self.connection.recv(timeout=max(0.0, deadline - time.monotonic())))
            if frame["type"] in types:
                return frame

    def register(self, name: str) -> Object:
        self.send(type="register", peerId=name)
        return self.next("registered", "error")

    def prove(self, key: Ed25519PrivateKey, origin: str) -> Object:
        self.send_proof(key, origin)
        return self.next("registered", "error")

    def send_proof(self, key: Ed25519PrivateKey, origin: str) -> None:
        name = did_of(key)
        self.send(type="register", peerId=name, bellwire=1)
        nonce = self.next("challenge")["nonce"]
        signature = key.sign(f"bellwire-register-v1\n{origin}\n{name}\n{nonce}".encode())
        text = base64.urlsafe_b64encode(signature).rstrip(b"=").decode()
        self.send(type="register", peerId=name, bellwire=1, proof={"nonce": nonce, "origin": origin, "signature": text})

    def message(self, to: str, payload: Any) -> None:
        self.send(type="message", to=to, payload=payload)

    def settle(self) -> None:
        """Everything sent before has been handled."""
        self.send(type="ping")
        self.next("pong")

    def until_settled(self, *types: str) -> list[Object]:
        """All frames of those types that are on their way."""
        self.send(type="ping")
        frames: list[Object] = []
        while (frame := self.next(*types, "pong"))["type"] != "pong":
            frames.append(frame)
        return frames

    def close(self) -> None:
        self.connection.close()


def head(url: str, headers: str = "", method: str = "GET") -> bytes:
    """A request for a WebSocket as bytes."""
    return (
        f"{method} {url} HTTP/1.1\r\nHost: relay\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
    ).encode()


def status(port: int, *pieces: bytes, timeout: float = 10) -> int | None:
    """Sends bytes and returns the status of the answer; None = the relay closed the connection without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as stream:
        for piece in pieces:
            stream.sendall(piece)
        try:
            line = stream.makefile("rb").readline()
        except ConnectionError:
            return None
    return int(line.split()[1]) if line else None


def certificate_of(port: int) -> bytes:
    """The certificate that a new connection is shown."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stream, context.wrap_socket(stream) as tls:
        return tls.getpeercert(binary_form=True) or b""
