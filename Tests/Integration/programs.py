"""The programs under test as child processes whose output lines can be awaited."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STAGE = Path(os.environ.get("BELLWIRE_STAGE", ROOT / "build/stage"))
BELLWIRE = Path(os.environ.get("BELLWIRE", STAGE / "bin/bellwire"))
LIBRARY = Path(os.environ.get("BELLWIRE_LIB", STAGE / "lib/libbellwire.so.1"))
#: A library that gives a program another wall clock.
FAKETIME = Path(f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/faketime/libfaketimeMT.so.1")
#: The environment of a program that imports the Python package of this checkout.
PACKAGE = {"PYTHONPATH": str(ROOT / "bindings/python/src"), "BELLWIRE_LIBRARY": str(LIBRARY)}
#: The beginning of a command that runs Python with it.
PYTHON = ("env", *(f"{name}={value}" for name, value in PACKAGE.items()), sys.executable)


class Lines:
    """What a stream said so far, line by line; reading happens on a thread of its own."""

    def __init__(self, stream: Any) -> None:
        self._lines: list[str] = []
        self._next = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        with stream:
            for line in stream:
                with self._changed:
                    self._lines.append(line.decode("utf-8").rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def all(self) -> list[str]:
        with self._changed:
            return list(self._lines)

    def next(self, matches: Callable[[str], Any], timeout: float) -> Any:
        """What `matches` says of the first line after the last one found of which it says something true."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                while self._next < len(self._lines):
                    line = self._lines[self._next]
                    self._next += 1
                    if found := matches(line):
                        return found
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    reason = "the program has ended" if self._ended else f"none in {timeout} s"
                    raise AssertionError(f"no such line ({reason}); it said:\n" + "\n".join(self._lines[-40:]))
                self._changed.wait(left)

    def wait_for_end(self, timeout: float) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended, timeout), "the stream is still open"


class Program:
    """A running program."""

    def __init__(self, arguments: Sequence[str | Path], environment: dict[str, str] | None = None) -> None:
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            self.arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )
        self.out = Lines(self.process.stdout)
        self.err = Lines(self.process.stderr)

    @property
    def pid(self) -> int:
        return self.process.pid

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def line(self, pattern: str, timeout: float = 15) -> re.Match[str]:
        """The next line of standard output that matches."""
        try:
            match: re.Match[str] = self.out.next(lambda line: re.search(pattern, line), timeout)
            return match
        except AssertionError as error:
            raise AssertionError(f"{pattern!r}: {error}\nstandard error:\n" + "\n".join(self.err.all[-20:])) from None

    def error_line(self, pattern: str, timeout: float = 15) -> re.Match[str]:
        """The next line of standard error that matches."""
        match: re.Match[str] = self.err.next(lambda line: re.search(pattern, line), timeout)
        return match

    def event(self, name: str, timeout: float = 15, **data: Any) -> dict[str, Any]:
        """The next JSON line on standard output that is this event, with these members in its data."""

        def matches(line: str) -> dict[str, Any] | None:
            event: dict[str, Any] = json.loads(line)
            if event.get("event") != name:
                return None
            found = event.get("data") or {}
            return event if all(found.get(key) == value for key, value in data.items()) else None

        try:
            event: dict[str, Any] = self.out.next(matches, timeout)
            return event
        except AssertionError as error:
            raise AssertionError(f"{name} {data}: {error}\nstandard error:\n" + "\n".join(self.err.all[-20:])) from None

    def wait(self, timeout: float = 15) -> int:
        code = self.process.wait(timeout)
        self.out.wait_for_end(timeout)
        self.err.wait_for_end(timeout)
        return code

    def end(self, number: int = signal.SIGTERM, timeout: float = 15) -> int:
        """Sends the signal and waits: the exit code, negative when the signal ended it."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait(timeout)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(15)


def proc_status(pid: int, field: str) -> int:
    """A number out of /proc/PID/status, such as Threads or VmRSS (KiB)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise AssertionError(f"/proc/{pid}/status has no {field}")


def private_memory(pid: int) -> int:
    """Bytes that the process alone holds, in memory or swapped out.

    Tests bound this instead of the resident set: that also counts mapped pages of files, and how many of those are
    resident depends on what else the machine has read.
    """
    return (proc_status(pid, "RssAnon") + proc_status(pid, "VmSwap")) << 10


def freeze(pid: int) -> None:
    """Returns when every thread of the process has stopped; on a busy machine one may run on after the signal."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    wait_until(lambda: all(_state_of(thread) == "T" for thread in threads.iterdir()))


def _state_of(thread: Path) -> str:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


def wait_until(condition: Callable[[], bool], timeout: float = 10) -> None:
    """Looks again and again until it is so."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not so within {timeout} s"
        time.sleep(0.002)


def fastest(measure: Callable[[], float], limit: float, tries: int = 5) -> None:
    """At least one of the tries takes at most `limit` seconds: what else the machine does only adds to them."""
    taken: list[float] = []
    while not taken or (taken[-1] > limit and len(taken) < tries):
        taken.append(measure())
    assert taken[-1] <= limit, f"{taken} s, where {limit} s are allowed"
