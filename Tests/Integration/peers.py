"""Deployed peers, written with a third-party WebSocket library (WireDeployedPeers, "Overview")."""

from __future__ import annotations

import json
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

from programs import ROOT
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection
from websockets.sync.server import ServerConnection, serve

Object = dict[str, Any]

LIMIT = 1 << 20


def now() -> int:
    """Epoch milliseconds, as the wire has them."""
    return time.time_ns() // 1_000_000


def peer_program() -> str:
    """The program of the pages WirePeer and WirePeerSessions: a device that uses nothing of Bellwire."""
    halves = []
    for name in ("WirePeer", "WirePeerSessions"):
        page = (ROOT / f"Sources/Library/CABI/Bellwire.docc/{name}.md").read_text()
        found = re.search(r"^```python\n(# peer\.py.*?)^```", page, re.MULTILINE | re.DOTALL)
        assert found, name
        halves.append(found[1])
    return "\n\n".join(halves)


def receive(connection: Connection, matches: Callable[[Object], Any], timeout: float = 10) -> Object:
    """The next frame that matches; others, such as presence, are passed over."""
    deadline = time.monotonic() + timeout
    seen: list[str] = []
    while (left := deadline - time.monotonic()) > 0:
        try:
            text = connection.recv(timeout=left)
        except TimeoutError:
            break
        frame: Object = json.loads(text)
        if matches(frame):
            return frame
        seen.append(str(text)[:200])
    raise AssertionError("no such frame in time; there came:\n" + "\n".join(seen))


def send_raw(connection: Connection, opcode: Opcode, data: bytes, fin: bool = True) -> None:
    """One frame as it stands, past the library's own checks."""
    mask = isinstance(connection, ClientConnection)
    with connection.protocol_mutex:
        connection.socket.sendall(Frame(opcode, data, fin).serialize(mask=mask))


def close_code(connection: Connection, timeout: float = 10) -> int:
    """The code with which the other side closed."""
    deadline = time.monotonic() + timeout
    try:
        while True:
            connection.recv(timeout=max(0.0, deadline - time.monotonic()))
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


class Peer:
    """A client of a relay."""

    def __init__(self, url: str, peer_id: str | None = None, **register: Any) -> None:
        self.connection = connect(url, max_size=2 * LIMIT, proxy=None, compression=None, ping_interval=None)
        self.id = peer_id
        if peer_id is not None:
            self.register(peer_id, **register)

    def register(self, peer_id: str, **fields: Any) -> Object:
        self.id = peer_id
        self.send({"type": "register", "peerId": peer_id, **fields})
        return self.receive("registered", peerId=peer_id)

    def send(self, frame: Object | str) -> None:
        self.connection.send(frame if isinstance(frame, str) else json.dumps(frame))

    def message(self, to: str, payload: Any) -> None:
        self.send({"type": "message", "to": to, "payload": payload})

    def receive(self, kind: str, timeout: float = 10, **fields: Any) -> Object:
        """The next frame of that type with those fields."""
        return receive(
            self.connection,
            lambda frame: frame.get("type") == kind and all(frame.get(k) == v for k, v in fields.items()),
            timeout,
        )

    def payload(self, kind: str, timeout: float = 10) -> Any:
        """The payload of the next `message` whose payload has that type."""
        return receive(
            self.connection,
            lambda frame: frame.get("type") == "message" and frame["payload"].get("type") == kind,
            timeout,
        )["payload"]

    def error(self, timeout: float = 10) -> str:
        """The code of the next refusal."""
        return str(self.receive("error", timeout)["code"])

    def is_answered(self) -> bool:
        """The relay still serves this connection."""
        self.send({"type": "ping"})
        return "timestamp" in self.receive("pong")

    def close(self) -> None:
        self.connection.close()


class Server:
    """A WebSocket server whose connections the test takes and drives itself."""

    def __init__(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self._connections: queue.Queue[ServerConnection] = queue.Queue()
        self._stopped = threading.Event()
        self._server = serve(
            self._keep, "127.0.0.1", port, ssl=tls, max_size=2 * LIMIT, compression=None, ping_interval=None
        )
        self.port: int = self._server.socket.getsockname()[1]
        self.url = f"{'wss' if tls else 'ws'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _keep(self, connection: ServerConnection) -> None:
        # As long as this runs the library keeps the connection; a close in either direction ends it earlier.
        self._connections.put(connection)
        self._stopped.wait()

    def accept(self, timeout: float = 15) -> ServerConnection:
        """The next connection."""
        try:
            return self._connections.get(timeout=timeout)
        except queue.Empty:
            raise AssertionError(f"nobody connected in {timeout} s") from None

    def close(self) -> None:
        self._stopped.set()
        self._server.shutdown()


class FakeDesktop:
    """A deployed desktop with its own LAN relay, in one server: its QR code has no `bw`, and it confirms nothing."""

    def __init__(
        self, tls: ssl.SSLContext | None = None, peer_id: str = "desktop-4f1c", host: str = "127.0.0.1"
    ) -> None:
        self.server = Server(tls)
        self.peer_id = peer_id
        self.url = self.server.url.replace("127.0.0.1", host)
        self.device: ServerConnection | None = None
        self.device_id = ""

    @staticmethod
    def offer(url: str, peer_id: str = "desktop-4f1c", **changes: Any) -> str:
        """The text of a QR code as deployed desktops make it; a change to `...` leaves the field out."""
        offer: Object = {
            "type": "desktop-pairing",
            "code": "004217",
            "pcPeerId": peer_id,
            "deviceInfo": {"name": "Office PC", "platform": "win32", "version": "0.39.2"},
            "timestamp": now(),
            "signalingUrl": url,
        }
        offer.update(changes)
        return json.dumps({key: value for key, value in offer.items() if value is not ...})

    def code(self, **changes: Any) -> str:
        return self.offer(self.url, self.peer_id, **changes)

    def accept(self, timeout: float = 15) -> ServerConnection:
        """Takes the device's next connection and lets it register."""
        connection = self.server.accept(timeout)
        frame = receive(connection, lambda frame: frame["type"] == "register")
        self.device_id = frame["peerId"]
        self.device = connection
        self.send({"type": "registered", "peerId": self.device_id, "serverTime": now()})
        return connection

    def pair(self, is_silent: bool = False) -> Object:
        """The desktop's part of pairing by its code: the ack that came.

        It answers with its ICE servers, which confirms the pairing. A silent one sends nothing, as a desktop that
        refuses the code does: the device waits for ten seconds.
        """
        self.accept()
        ack = self.payload("pair-ack")
        if not is_silent:
            config = {"pcPeerId": self.peer_id, "iceServers": [], "iceExpiry": 0, "timestamp": now()}
            self.message({"type": "chainlesschain:ice:config", "payload": config})
        return ack

    def send(self, frame: Object) -> None:
        assert self.device is not None
        self.device.send(json.dumps(frame))

    def message(self, payload: Any, **fields: Any) -> None:
        self.send({"type": "message", "from": self.peer_id, "payload": payload, "timestamp": now(), **fields})

    def push(self, number: int | str, **fields: Any) -> None:
        self.message({"type": "chainlesschain:event", "payload": push_payload(number, **fields)})

    def payload(self, kind: str, timeout: float = 10) -> Object:
        """The payload of that type in the next `message` to this desktop."""
        assert self.device is not None
        frame = receive(
            self.device,
            lambda frame: (
                frame["type"] == "message"
                and frame["to"] == self.peer_id
                and frame["payload"]["type"] == kind
                and not is_of_the_device(frame["payload"])
            ),
            timeout,
        )
        found: Object = frame["payload"]
        return found

    def answer(self, result: Any = ..., error: Any = ..., as_text: bool = False) -> Object:
        """Answers the next request; gives the request's payload."""
        request = self.payload("chainlesschain:command:request")["payload"]
        response = {"jsonrpc": "2.0", "id": request["id"], "result": result, "error": error}
        response = {key: value for key, value in response.items() if value is not ...}
        self.message(
            {"type": "chainlesschain:command:response", "payload": json.dumps(response) if as_text else response}
        )
        found: Object = request
        return found

    def close(self) -> None:
        self.server.close()


def is_of_the_device(payload: Object) -> bool:
    """Whether it is what a device asks by itself when it comes: who does not answer it is asked nothing more."""
    if payload["type"] != "chainlesschain:command:request":
        return False
    request = payload["payload"]
    return request["method"] == "notification.getHistory" and request["params"].get("limit") == 100


def push_payload(number: int | str, **fields: Any) -> Object:
    """A notification as deployed desktops write it."""
    return {
        "event": "notification.received",
        "notificationId": f"notif-{number}",
        "title": f"Push {number}",
        "body": "From a deployed desktop",
        "priority": "normal",
        "source": "pc",
        "timestamp": now(),
        **fields,
    }


class FakePhone(Peer):
    """A deployed phone: registers its DID without a proof, pairs by the code, sends commands in its platform's form."""

    def __init__(self, url: str, platform: str, did: str, **register: Any) -> None:
        super().__init__(url, did, deviceType="mobile", deviceInfo={"name": platform, "platform": platform}, **register)
        self.platform = platform
        self.did = did
        self.desktop = ""

    def pair(self, code: str) -> None:
        offer = json.loads(code)
        self.desktop = offer["pcPeerId"]
        self.message(
            self.desktop,
            {
                "type": "pair-ack",
                "pairingCode": offer["code"],
                "mobileDid": self.did,
                "deviceInfo": {
                    "deviceId": f"{self.platform}-1",
                    "name": f"My {self.platform}",
                    "platform": self.platform,
                },
                "timestamp": now(),
            },
        )

    def invoke(self, request: Object, as_text: bool, timeout: float = 10) -> Object:
        """Sends the request as an object or as text, and gives the response's whole `payload` as it came."""
        payload: Any = json.dumps(request) if as_text else request
        self.message(self.desktop, {"type": "chainlesschain:command:request", "payload": payload})
        return self.payload("chainlesschain:command:response", timeout)


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
