"""NATS servers for a cluster of relays: Debian's nats-server, alone or several that replicate."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

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

    def request(self, subject: str, **parameters: Any) -> Any:
        """Asks JetStream's administration; the answer. Without one in 3 s: a TimeoutError."""
        payload = json.dumps(parameters).encode()
        with socket.create_connection(("127.0.0.1", self.port), timeout=3) as stream, stream.makefile("rb") as reader:
            reader.readline()
            stream.sendall(
                b'CONNECT {"verbose":false}\r\nSUB _INBOX.test 1\r\n'
                + f"PUB {subject} _INBOX.test {len(payload)}\r\n".encode()
                + payload
                + b"\r\n"
            )
            while not (line := reader.readline()).startswith(b"MSG "):
                assert line, "the NATS server closed the connection"
                if line == b"PING\r\n":
                    stream.sendall(b"PONG\r\n")
            return json.loads(reader.read(int(line.split()[-1])))

    def freeze(self) -> None:
        """Until it is killed."""
        assert self.process is not None
        freeze(self.process.pid)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(15)


class Listener:
    """Gets what relays tell of the ids that they hold, and answers nothing."""

    def __init__(self, nats: NATS) -> None:
        self._stream = socket.create_connection(("127.0.0.1", nats.port), timeout=10)
        self._reader = self._stream.makefile("rb")
        self._here: Counter[str] = Counter()
        self._stream.sendall(b'CONNECT {"verbose":false}\r\nSUB bw.s.> 1\r\nPING\r\n')
        while self._reader.readline() != b"PONG\r\n":
            pass

    def wait_for_comparison(self, name: str) -> None:
        """A relay has compared an id that came to it with what others hold: it tells of it then, and when it comes."""
        while self._here[name] < 2:
            line = self._reader.readline()
            if line == b"PING\r\n":
                self._stream.sendall(b"PONG\r\n")
            elif line.startswith(b"MSG "):
                message = self._reader.read(int(line.split()[-1]) + 2)
                if message[1] == 6:
                    self._here[message[5 : 5 + int.from_bytes(message[3:5])].decode()] += 1

    def close(self) -> None:
        self._reader.close()
        self._stream.close()


def replicated(directory: Path, count: int = 3) -> list[NATS]:
    """A cluster of NATS servers."""
    routes = [free_port() for _ in range(count)]
    others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    return [
        NATS(
            directory,
            f"n{number}",
            cluster=f'cluster {{ name: test, listen: "127.0.0.1:{port}", routes: [{others}] }}\n',
        )
        for number, port in enumerate(routes)
    ]
