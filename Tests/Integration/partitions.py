"""A cluster of NATS servers with a network between its two parts that can be cut."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import urllib.request
from pathlib import Path

from nats_servers import NATS
from programs import wait_until


class Links:
    """TCP connections that can be cut as a network can: nothing gets through, nothing is closed, and nobody is told.

    What was sent while they were cut arrives when they are healed, as TCP's retransmissions would.
    """

    def __init__(self) -> None:
        self._flows = threading.Event()
        self._flows.set()
        self._listeners: list[socket.socket] = []
        self._ends: list[socket.socket] = []

    def to(self, port: int) -> int:
        """A port of loopback whose connections lead to another one."""
        listener = socket.create_server(("127.0.0.1", 0))
        self._listeners.append(listener)
        self._start(self._accept, listener, port)
        found: int = listener.getsockname()[1]
        return found

    def cut(self) -> None:
        self._flows.clear()

    def close_connections(self) -> None:
        """What is open ends at both ends, and new connections are not answered until the links are healed."""
        for each in self._ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def heal(self) -> None:
        self._flows.set()

    def close(self) -> None:
        for each in (*self._listeners, *self._ends):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.heal()

    def _start(self, run: object, *arguments: object) -> None:
        threading.Thread(target=run, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self, listener: socket.socket, port: int) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = listener.accept()
                self._ends.append(here)
                self._flows.wait()
                try:
                    there = socket.create_connection(("127.0.0.1", port))
                except OSError:
                    here.close()
                    continue
                self._ends.append(there)
                self._start(self._pump, here, there)
                self._start(self._pump, there, here)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(1 << 16)
                self._flows.wait()
                if not data:
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def reserve() -> socket.socket:
    """Binds a port of loopback in a way that a server can still listen on it."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", 0))
    return bound


class TwoParts:
    """Three NATS servers that replicate: the first one can be cut off from the two others.

    Servers tell each other where the rest of the cluster is, so each advertises the link to itself. The two others reach
    each other directly.
    """

    def __init__(self, directory: Path) -> None:
        self.links = Links()
        # Bound until the end, without listening: else one of the connections here could get the port of a server that is
        # yet to begin.
        self._reserved = [reserve() for _ in range(9)]
        numbers: list[int] = [each.getsockname()[1] for each in self._reserved]
        clients, ports, self._monitors = numbers[:3], numbers[3:6], numbers[6:]
        links = [self.links.to(port) for port in ports]
        routes = [links[1:], [ports[2]], [ports[1]]]
        self.servers: list[NATS] = []
        for number in range(3):
            others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes[number])
            cluster = (
                f'http: "127.0.0.1:{self._monitors[number]}"\n'
                f'cluster {{ name: test, listen: "127.0.0.1:{ports[number]}", '
                f'advertise: "127.0.0.1:{links[number]}", routes: [{others}] }}\n'
            )
            self.servers.append(NATS(directory, f"n{number}", clients[number], cluster))
        try:
            self.wait_for_routes(2, 2, 2)
        except BaseException:
            self.close()
            raise

    def routes(self) -> list[int]:
        """The servers that each one is connected to."""
        counts = []
        for port in self._monitors:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/routez", timeout=5) as answer:
                # Those that have not yet said who they are have no id.
                counts.append(len({route["remote_id"] for route in json.load(answer)["routes"]} - {""}))
        return counts

    def wait_for_routes(self, *counts: int) -> None:
        def are_there() -> bool:
            # A server that has just begun serves no page yet.
            with contextlib.suppress(OSError):
                return self.routes() == list(counts)
            return False

        wait_until(are_there, 20)

    def cut(self, is_noticed: bool) -> None:
        """Until servers notice it, they pass messages on that don't arrive; afterwards they have no subscribers there."""
        self.links.cut()
        if is_noticed:
            self.links.close_connections()
            self.wait_for_routes(0, 1, 1)

    def heal(self) -> None:
        self.links.heal()
        self.wait_for_routes(2, 2, 2)

    def close(self) -> None:
        for server in self.servers:
            server.kill()
        self.links.close()
        for each in self._reserved:
            each.close()
