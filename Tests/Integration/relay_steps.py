"""A relay that is killed at a chosen step, or whose steps are recorded, by the preloaded library of steps.c."""

from __future__ import annotations

import http.client
import json
import mmap
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from programs import BELLWIRE, Program
from relay_node import Client, Node, Object, Start
from websockets.exceptions import WebSocketException

#: What a client meets when its relay dies.
BROKEN = (WebSocketException, OSError, EOFError, http.client.HTTPException)

#: Every step is tried, with and without half of its bytes.
ALL_STEPS = "BELLWIRE_ALL_STEPS" in os.environ


def compile_steps(directory: Path) -> Path:
    library = directory / "libsteps.so"
    source = Path(__file__).parent / "steps.c"
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    subprocess.run(
        ["cc", "-std=c99", "-O1", "-shared", "-fPIC", "-pthread", *warnings, source, "-o", library], check=True
    )
    return library


class Steps:
    """Counts the steps of one relay; `struct control` in steps.c."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(32))
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 32)).cast("q")

    def arm(self, fatal: int = -1, halves: bool = False) -> None:
        """Counts from now on. The relay dies before step `fatal`; after half of it with `halves`."""
        self._numbers[1], self._numbers[2], self._numbers[3] = 0, fatal, halves
        self._numbers[0] = 1

    def disarm(self) -> int:
        """Returns how many steps there were."""
        self._numbers[0] = 0
        return self._numbers[1]


class SteppedRelays:
    """Starts relays with the library."""

    def __init__(self, start: Start, library: Path, directory: Path) -> None:
        self._start = start
        self._library = library
        self.steps = Steps(directory / "steps")

    def bellwire(self, recorded: Path | None = None, record: Path | None = None) -> Start:
        """A command of the command line that runs with the library; records what it does to a directory, if one is given."""
        environment = [f"LD_PRELOAD={self._library}", f"BELLWIRE_STEPS={self.steps.path}"]
        if recorded and record:
            environment += [f"BELLWIRE_RECORDED={recorded.resolve()}", f"BELLWIRE_RECORD={record}"]

        def run(*arguments: str | Path) -> Program:
            return self._start("/usr/bin/env", *environment, BELLWIRE, *arguments)

        return run

    @contextmanager
    def killed(self, program: Callable[[], Program], fatal: int, halves: bool = False) -> Iterator[None]:
        """What is done inside meets the death of the relay, or ends before it; then the relay is killed anyway."""
        self.steps.arm(fatal, halves)
        try:
            yield
        except BROKEN:
            code = program().wait()
            assert code == -signal.SIGKILL, (code, program().err.all)
        else:
            self.steps.disarm()
            program().kill()


def kill_at_each(what: str, count: int, most: int, kill: Callable[[int, bool], bool]) -> None:
    """`kill` returns whether the relay died of the step: it takes fewer steps at times."""
    tried = _some_steps(count, most)
    killed = sum(kill(number, halves) for number, halves in tried)
    print(f"{what}: {count} steps, {killed} kills")
    assert killed > len(tried) / 3


def _some_steps(count: int, most: int) -> list[tuple[int, bool]]:
    """Numbers of steps, and whether the first half of the step is done: each with and without, or a sample."""
    if ALL_STEPS:
        return [(number, halves) for number in range(count) for halves in (False, True)]
    numbers = sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})
    return [(number, index % 2 == 1) for index, number in enumerate(numbers)]


def is_damaged(program: Program) -> bool:
    return any(json.loads(line)["event"] == "database_damaged" for line in program.err.all)


def number_of(frame: Object) -> int:
    """The number in a message, or in a stored one."""
    number: int = frame.get("originalMessage", frame)["payload"]["n"]
    return number


def stored_numbers(client: Client) -> list[int]:
    """Of the stored frames that were sent with the registration."""
    return [number_of(frame) for frame in client.until_settled("offline-message")]


def send_numbers(sender: Client, to: str, numbers: range, size: int = 0, **more: object) -> None:
    """Returns when the sender was told that its peer is absent."""
    for number in numbers:
        sender.send(type="message", to=to, payload={"n": number, "filling": "x" * size}, **more)
    for _ in numbers:
        sender.next("peer-offline")


def until_committed(node: Node, count: int) -> None:
    node.wait("bellwire_relay_store_committed_total", lambda value: value >= count)
