"""Measures alerts that wait, over the C interface. Started by alerts.sh."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Integration"))

from pictures import Web, options  # noqa: E402
from programs import BELLWIRE, Program, wait_until  # noqa: E402
from test_alerts import House  # noqa: E402

HANGING = 200
WAITING = 1_000
SHOWN_WITHIN = 0.3
DENIED_WITHIN = 0.05


class Bench:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._running: list[Program] = []
        self._count = 0
        relay = self._start(BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health")
        self._relay = relay.line(r"ws://[^\s,]+").group()
        self.web = Web()
        self.missed = False

    def _start(self, *command: str | Path, home: str = "home") -> Program:
        self._running.append(Program(command, {"TZ": "UTC"}))
        return self._running[-1]

    def house(self, timeout: int = 5_000) -> House:
        self._count += 1
        place = self._home / str(self._count)
        place.mkdir()
        house = House(self._start, self._relay, place, **options(self.web, timeout_ms=timeout))
        house.authorize()
        return house

    def report(self, what: str, taken: float, bound: float) -> None:
        """One line; a bound is missed if it took longer."""
        held = taken <= bound
        self.missed = self.missed or not held
        print(f"{what}: {taken * 1_000:.1f} ms, bound {bound * 1_000:.0f} ms{'' if held else ' MISSED'}")

    def close(self) -> None:
        self.web.close()
        for program in self._running:
            if program.process.poll() is None:
                program.kill()


def hanging(bench: Bench) -> None:
    """An urgent push and a reminder beside pushes whose images hang."""
    house = bench.house(30_000)
    for number in range(HANGING):
        house.push(f"{number}", imageUrl=bench.web.url("silent"))
    wait_until(lambda: house.device.call("bw_alerts_state")["waiting"] == HANGING, 60)
    begun = time.monotonic()
    house.push("Critical", priority="urgent")
    house.shown("Critical")
    bench.report(
        f"an urgent push beside {HANGING} hanging images, sent to shown", time.monotonic() - begun, SHOWN_WITHIN
    )
    begun = time.monotonic()
    house.device.call("bw_reminder_add", {"title": "Reminder"})
    house.shown("Reminder")
    bench.report("a reminder beside them, added to shown", time.monotonic() - begun, SHOWN_WITHIN)
    begun = time.monotonic()
    house.device.call("bw_alerts_authorize", "denied", 0)
    wait_until(lambda: house.device.call("bw_alerts_state")["waiting"] == 0)
    bench.report("a denial, called to nothing waiting", time.monotonic() - begun, DENIED_WITHIN)


def order(bench: Bench) -> bool:
    """Whether alerts that waited come in their order."""
    house = bench.house()
    house.device.answer("present", None)
    for number in range(WAITING):
        house.push(f"{number}")
    wait_until(lambda: house.device.state["unread"] == WAITING, 60)
    begun = time.monotonic()
    house.device.answer("present", 0)
    wait_until(lambda: len(shown(house)) == WAITING, 120)
    print(f"{WAITING} alerts that waited: {time.monotonic() - begun:.2f} s")
    return shown(house) == [f"{number}" for number in range(WAITING)]


def shown(house: House) -> list[str]:
    """The titles that the program was given to show."""
    asked = house.device.questions("present")
    return [question["alert"]["title"] for question in asked if not question.get("withdraw")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bellwire-alerts-") as home:
        bench = Bench(Path(home))
        try:
            hanging(bench)
            if not order(bench):
                print("the alerts came out of order")
                return 2
        finally:
            bench.close()
    return 1 if bench.missed and not arguments.short else 0


if __name__ == "__main__":
    sys.exit(main())
