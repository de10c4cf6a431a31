"""Hosts of the library in processes of their own, driven over the C interface."""

from __future__ import annotations

import itertools
import json
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peers import Object
from programs import LIBRARY, ROOT, Program

OK = 0
QUEUED = 1


def status_codes() -> dict[str, int]:
    """The numbers of BW_E_…, as the header has them."""
    import re

    text = (ROOT / "include/bellwire.h").read_text()
    return {name: int(number) for name, number in re.findall(r"\b(BW_[A-Z_]+) = (-?\d+)", text)}


STATUS = status_codes()


class Refused(AssertionError):
    """A call that did not succeed."""

    def __init__(self, call: str, outcome: Object) -> None:
        self.status: int = outcome["status"]
        self.error: Object = outcome.get("error") or {}
        super().__init__(f"{call} gave {self.name}: {self.error}")

    @property
    def name(self) -> str:
        return next((name for name, number in STATUS.items() if number == self.status), str(self.status))


class Host:
    """One open handle: a device, a desktop or a relay."""

    def __init__(self, start: Callable[..., Program], role: str, options: Object) -> None:
        self.role, self.options = role, options
        self.program = start(
            sys.executable,
            Path(__file__).with_name("hosting.py"),
            LIBRARY,
            ROOT / "include/bellwire.h",
            role,
            json.dumps(options),
        )
        self._numbers = itertools.count()
        self._outcomes: dict[int, queue.Queue[Object]] = {}
        self._changed = threading.Condition()
        self.events: list[Object] = []
        self._seen = 0
        opened: Object = json.loads(self.program.line("opened").string)
        if opened["opened"] < 0:
            raise Refused(f"bw_{role}_open", {"status": opened["opened"], "error": opened["error"]})
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                line = self.program.out.next(lambda line: line, timeout=3600)
            except AssertionError:
                with self._changed:
                    self._changed.notify_all()
                return
            said: Object = json.loads(line)
            if "id" in said and "status" in said:
                self._outcomes[said["id"]].put(said)
            else:
                with self._changed:
                    self.events.append(said)
                    self._changed.notify_all()

    # Calls

    def begin(self, call: str, *arguments: Any) -> Callable[..., Object]:
        """Begins a call; what it gives waits for the outcome."""
        number = next(self._numbers)
        outcomes: queue.Queue[Object] = queue.Queue()
        self._outcomes[number] = outcomes
        self.program.write(json.dumps({"id": number, "call": call, "arguments": list(arguments)}) + "\n")

        def outcome(timeout: float = 20) -> Object:
            try:
                return outcomes.get(timeout=timeout)
            except queue.Empty:
                raise AssertionError(f"{call} gave nothing in {timeout} s") from None

        return outcome

    def outcome(self, call: str, *arguments: Any, timeout: float = 20) -> Object:
        """A call's {"status", "result"?, "error"?}, whatever it is."""
        return self.begin(call, *arguments)(timeout)

    def call(self, call: str, *arguments: Any) -> Any:
        """The result of a call that succeeds."""
        outcome = self.outcome(call, *arguments)
        if outcome["status"] < 0:
            raise Refused(call, outcome)
        return outcome.get("result")

    def notification(self, method: str, params: Object | None = None, desktop: str | None = None) -> Any:
        """The result of one of the eleven methods."""
        return self.call(f"bw_notification_{method}", desktop, params, 10_000)

    def start(self) -> None:
        self.call(f"bw_{self.role}_start")

    @property
    def state(self) -> Object:
        found: Object = self.call(f"bw_{self.role}_state")
        return found

    # Events

    def wait(self, matches: Callable[[Object], Any], timeout: float = 15) -> Object:
        """The next event after the one found last that matches."""
        with self._changed:
            found: list[Object] = []

            def is_there() -> bool:
                while self._seen < len(self.events):
                    event = self.events[self._seen]
                    self._seen += 1
                    if matches(event):
                        found.append(event)
                        return True
                return False

            if not self._changed.wait_for(is_there, timeout):
                raise AssertionError(f"{self.role}: no such event in {timeout} s; there came:\n{self._told()}")
            return found[0]

    def event(self, name: str, timeout: float = 15, **data: Any) -> Object:
        """The data of the next event of that name with those members."""
        found = self.wait(
            lambda event: event.get("event") == name and all(event["data"].get(k) == v for k, v in data.items()),
            timeout,
        )
        return dict(found["data"])

    def of(self, name: str) -> list[Object]:
        """The data of all events of that name so far."""
        with self._changed:
            return [event["data"] for event in self.events if event.get("event") == name]

    def _told(self) -> str:
        return "\n".join(json.dumps(event)[:300] for event in self.events[-30:])

    def limit_files(self, size: int | None) -> None:
        """From now on no file of the process grows beyond that size, as on a disk that is full; None = it may again."""
        self.program.write(json.dumps({"largest_file": size}) + "\n")
        self.wait(lambda said: "limited" in said and said["limited"] == size)

    # Questions

    def answer(self, hook: str, answer: int | None) -> None:
        """What the callback of bw_alerts_on_<hook> returns from now on; None = there is no callback."""
        self.program.write(json.dumps({"hook": hook, "answer": answer}) + "\n")
        said = self.wait(lambda said: said.get("hooked") == hook)
        assert said["status_of_hook"] == OK, said

    def question(self, hook: str, timeout: float = 15) -> Object:
        """The next question that came to it."""
        return dict(self.wait(lambda said: said.get("asked") == hook, timeout)["question"])

    def questions(self, hook: str) -> list[Object]:
        """All so far."""
        with self._changed:
            return [said["question"] for said in self.events if said.get("asked") == hook]

    def pause(self, pauses: bool) -> None:
        """Whether the process dispatches nothing."""
        self.program.write(json.dumps({"pauses": pauses}) + "\n")
        self.wait(lambda said: said.get("paused") is pauses)

    # Ends

    def die_in_callback(self, *titles: str) -> None:
        """The process ends at once in the callback of these pushes."""
        self.program.write(json.dumps({"deadly": list(titles)}) + "\n")

    def close(self) -> None:
        """Closes the handle and ends the process."""
        assert self.program.process.stdin is not None
        self.program.process.stdin.close()
        assert self.program.wait() == 0, self.program.err.all
