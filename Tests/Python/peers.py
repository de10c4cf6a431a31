"""Real peers on loopback: a relay, a desktop at it, and devices that are paired with that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import bellwire
from websockets.sync.client import connect


class Peers:
    """What is opened is closed at the end, the last one first."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Peers:
        self.relay = self.keep(bellwire.Relay(listen="127.0.0.1:0"))
        self.relay.start()
        self.url = f"ws://127.0.0.1:{self.relay.state().port}"
        self.desktop = self.open_desktop()
        self.device = self.open_device()
        self.paired = self.device.scan(self.desktop.offer(timeout=10).payload, timeout=15)
        self.device.wait_online(timeout=15)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def keep(self, handle: Any) -> Any:
        return self._stack.enter_context(handle)

    def open_desktop(self, **options: Any) -> bellwire.Desktop:
        options = {"state_dir": ":memory:", "name": "Desk", "relay_url": self.url, "follow_system": False, **options}
        made: bellwire.Desktop = self.keep(bellwire.Desktop(**options))
        return made

    def open_device(self, **options: Any) -> bellwire.Device:
        options = {"state_dir": ":memory:", "name": "Phone", "relay_url": self.url, "follow_system": False, **options}
        made: bellwire.Device = self.keep(bellwire.Device(**options))
        return made


class PlainDesktop:
    """A deployed desktop that has scanned a device's code: it proves nothing (WirePairing, "The desktop scans")."""

    def __init__(self, url: str, offer: bellwire.Offer) -> None:
        self._offer = json.loads(offer.payload)
        self._connection = connect(url, proxy=None, compression=None)

    def __enter__(self) -> PlainDesktop:
        self._send({"type": "register", "peerId": "desktop-77aa"})
        while json.loads(self._connection.recv(timeout=15))["type"] != "registered":
            pass
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def confirm(self) -> None:
        confirmation = {
            "type": "pairing:confirmation",
            "pairingCode": self._offer["code"],
            "pcPeerId": "desktop-77aa",
            "deviceInfo": {"name": "Office", "platform": "win32", "version": "0.39.2"},
            "timestamp": time.time_ns() // 1_000_000,
        }
        self._send({"type": "message", "to": self._offer["did"], "payload": confirmation})

    def _send(self, frame: dict[str, Any]) -> None:
        self._connection.send(json.dumps(frame))


def until(
    condition: Callable[[], Any], handle: bellwire.Device | bellwire.Desktop | None = None, timeout: float = 15
) -> Any:
    """Waits for a condition, dispatching a handle meanwhile."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, f"{condition} did not become true in {timeout} s"
        if handle is not None:
            handle.run(0.02)
        else:
            time.sleep(0.01)
    return found


def python(program: str, *arguments: str, timeout: float = 40, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
