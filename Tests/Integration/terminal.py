"""A program in a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import time

from programs import BELLWIRE


class Terminal:
    """The command line with a person in front of it."""

    def __init__(self, *arguments: str, columns: int) -> None:
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            os.execve(
                "/bin/sh",
                ["sh", "-c", f'stty cols {columns} rows 60; exec "$0" "$@"', str(BELLWIRE), *arguments],
                {**os.environ, "TERM": "xterm-256color"},
            )
        self._seen = ""
        self._next = 0

    def _read(self, timeout: float) -> bool:
        """Reads what there is; `False` at the end."""
        ready, _, _ = select.select([self._descriptor], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False  # the terminal closes with the program
        self._seen += data.decode("utf-8", "replace")
        return bool(data)

    def wait_for(self, pattern: str, timeout: float = 20) -> str:
        """The next text that matches, after the last one found."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if found := re.compile(pattern).search(self._seen, self._next):
                self._next = found.end()
                return found.group()
            if not self._read(left):
                break
        raise AssertionError(f"no {pattern!r}; it said:\n{self._seen[self._next :][-2000:]}")

    def write(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def end(self) -> int:
        """Ctrl-C; the exit code, negative when a signal ended it."""
        os.kill(self._pid, signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """Waits for its end; the exit code, negative when a signal ended it."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and self._read(0.2):
            pass
        _, status = os.waitpid(self._pid, 0)
        os.close(self._descriptor)
        return os.waitstatus_to_exitcode(status)
