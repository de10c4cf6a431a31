"""What stands before several relays: connections to one address go to any of them, at random."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading


class Front:
    """A TCP load balancer on a loopback port, on a thread of its own."""

    def __init__(self, ports: list[int], chance: random.Random) -> None:
        self.ports = ports
        self.chance = chance
        self.port = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        assert ready.wait(10)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports = self.ports[:]
        self.chance.shuffle(ports)
        for port in ports:
            with contextlib.suppress(OSError):
                there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))
                return
        writer.close()

    @staticmethod
    async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
