"""A desktop with an HTTP door, and requests to it."""

from __future__ import annotations

import http.client
import json
import socket
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programs import Program, wait_until

Start = Callable[..., Program]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Reply:
    """What a door answers."""

    status: int
    json: Any


class Door:
    """A desktop of the home `desk`."""

    def __init__(
        self, bellwire: Start, state: Path, *options: str, is_open: bool = True, pairs: bool = False, relay: int = 0
    ) -> None:
        self.bellwire = bellwire
        self.relay = relay or free_port()
        self.directory = state / "desk/bellwire/desktop"
        self.desktop = bellwire(
            *("desktop", "--relay", f"127.0.0.1:{self.relay}", "--name", "Desk", "--http", "127.0.0.1:0"),
            *(["--pair", "--qr-text"] if pairs else ["--no-pair"]),
            *(["--http-open"] if is_open else []),
            *options,
            home="desk",
        )
        self.port = int(self.desktop.line(r"^HTTP at https?://127\.0\.0\.1:(\d+)$")[1])

    @property
    def code(self) -> str:
        """The text of the code that it shows, which may be printed before and after its address."""

        def shown() -> list[str]:
            return [line for line in self.desktop.out.all if line.startswith('{"type":"desktop-pairing"')]

        wait_until(lambda: bool(shown()), 15)
        return shown()[0]

    def command(self, *arguments: str, code: int = 0) -> list[str]:
        """What another command of the same user prints."""
        program = self.bellwire(*arguments, home="desk")
        assert program.wait() == code, (arguments, program.out.all, program.err.all)
        return program.out.all if code == 0 else program.err.all

    def token(self, name: str, *options: str) -> str:
        return self.command("token", name, *options)[0]

    def post(
        self, path: str, body: bytes | str = b"", headers: dict[str, str] | None = None, method: str = "POST"
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        try:
            text = body.encode() if isinstance(body, str) else body
            connection.request(method, path, text, headers or {})
            response = connection.getresponse()
            return Reply(response.status, json.loads(response.read()))
        finally:
            connection.close()

    def stored(self, columns: str = "title, body") -> list[tuple[Any, ...]]:
        """The history, the oldest first."""
        with sqlite3.connect(f"file:{self.directory}/desktop.db?mode=ro", uri=True) as database:
            return database.execute(f"SELECT {columns} FROM history ORDER BY row").fetchall()
