"""NATS servers for a cluster of relays: Debian's nats-server, alone or several that replicate."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
from pathlib import Path

from peers import free_port
from programs import freeze, wait_until


class NATS:
    """One nats-server with JetStream, in a directory of its own."""

    def __init__(self, directory: Path, name: str = "n1", port: int = 0, cluster: str = "") -> None:
        self.directory = directory / name
        self.directory.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.port = port or free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.configuration = self.directory / "server.conf"
        self.configuration.write_text(
            f'listen: "127.0.0.1:{self.port}"\nserver_name: {name}\nmax_payload: 2MB\n'
            f'jetstream {{ store_dir: "{self.directory}/store" }}\n{cluster}'
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["nats-server", "--config", self.configuration, "--log", self.directory / "log"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._is_listening, 15)

    def _is_listening(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.directory / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def freeze(self) -> None:
        """Until it is killed."""
        assert self.process is not None
        freeze(self.process.pid)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(15)
