"""Measures alerts with real notification servers. Started by servers.sh."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Integration"))

from desktopbus import SERVERS, PrivateBus, Screen  # noqa: E402
from hosts import Host  # noqa: E402
from programs import BELLWIRE, Program, wait_until  # noqa: E402

SHOWN_WITHIN = 0.3
#: notification-daemon shows no more than about 20 banners.
MORE_THAN_A_PLACE_FOR_EACH = 60


@dataclass
class Call:
    """A call of Notify."""

    title: str
    sent: float
    answered: float | None = None
    is_refused: bool = False

    @property
    def is_shown(self) -> bool:
        return self.answered is not None and not self.is_refused


class Monitor:
    """Reads what the bus carries between the agent and the notification server."""

    HEAD = re.compile(
        r"(method call|method return|error) time=([\d.]+) sender=(\S+) -> destination=(\S+)"
        r"(?: error_name=\S+)?(?: serial=(\d+))?(?: reply_serial=(\d+))?(?:.*member=(\w+))?"
    )

    def __init__(self, bus: PrivateBus) -> None:
        self.calls: dict[tuple[str, str], Call] = {}
        self.lock = threading.Lock()
        self.all = bus.run("dbus-monitor", "--address", bus.address)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        key: tuple[str, str] | None = None
        texts = 0
        while True:
            try:
                line: str = self.all.out.next(lambda line: line, timeout=3_600)
            except AssertionError:
                return
            if head := self.HEAD.match(line):
                kind, moment, sender, destination, serial, reply, member = head.groups()
                key, texts = None, 0
                with self.lock:
                    if kind == "method call" and member == "Notify" and serial:
                        key = (sender, serial)
                        self.calls[key] = Call("", float(moment))
                    elif kind != "method call" and reply and (call := self.calls.get((destination, reply))):
                        call.answered, call.is_refused = float(moment), kind == "error"
            elif key and line.startswith("   string "):
                texts += 1
                # The program, the icon, the title.
                if texts == 3:
                    with self.lock:
                        self.calls[key].title = line.split('"', 1)[1].rsplit('"', 1)[0]

    def of(self, title: str) -> list[Call]:
        with self.lock:
            return [call for call in self.calls.values() if call.title == title]

    def shown(self, title: str, timeout: float = 60) -> float:
        """When the server answered that it shows the banner."""
        wait_until(lambda: any(call.is_shown for call in self.of(title)), timeout)
        return next(call.answered for call in self.of(title) if call.is_shown and call.answered is not None)

    def shown_before(self, title: str) -> int:
        """How many banners the server said it shows before that one."""
        moment = self.shown(title)
        with self.lock:
            return sum(call.is_shown and (call.answered or moment) < moment for call in self.calls.values())

    @property
    def counts(self) -> tuple[int, int, int]:
        """Banners that are shown, calls that were refused, calls without an answer."""
        with self.lock:
            calls = list(self.calls.values())
        refused = sum(call.is_refused for call in calls)
        return sum(call.is_shown for call in calls), refused, sum(call.answered is None for call in calls)


class Bench:
    """A desktop, and an agent on the bus of a real notification server."""

    def __init__(self, server: str, home: Path) -> None:
        self.bus = PrivateBus()
        self.screen = Screen(self.bus, server)
        wait_until(lambda: "org.freedesktop.Notifications" in self.bus.call("ListNames"), 30)
        self.relay = Program([BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health"], {"TZ": "UTC"})
        url = self.relay.line(r"ws://[^\s,]+").group()

        def start(*command: str | Path, home: str = "home") -> Program:
            return Program(command, {"TZ": "UTC"})

        desktop = {"state_dir": str(home / "desktop"), "name": "Desk", "relay_url": url, "follow_system": False}
        self.desktop = Host(start, "desktop", desktop)
        self.desktop.start()
        self.environment = {"XDG_STATE_HOME": str(home), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        assert self.run("pair", offer["payload"]).wait() == 0
        self.monitor = Monitor(self.bus)
        self.agent = self.run("agent", "--allow", "--burst", "0", "--late", "each")
        # A program beside the agent, which adds the reminders; the agent shows them.
        device = {"state_dir": str(home / "bellwire" / "device"), "application_id": "org.example.Calendar"}
        self.calendar = Host(start, "device", device)
        self.push("First")
        self.monitor.shown("First")

    def run(self, *arguments: str) -> Program:
        return self.bus.run(BELLWIRE, *arguments, **self.environment)

    def push(self, title: str, **params: object) -> float:
        """When the push was handed to the desktop."""
        begun = time.time()
        self.desktop.call("bw_desktop_notify", {"title": title, "body": "Body", **params}, 10_000)
        return begun

    def remind(self, title: str, seconds: float) -> float:
        """When the reminder is due."""
        begun = time.time()
        trigger = {"type": "interval", "seconds": seconds}
        self.calendar.call("bw_reminder_add", {"title": title, **({"trigger": trigger} if seconds else {})})
        return begun + seconds

    def close(self) -> None:
        self.calendar.close()
        self.agent.end()
        self.desktop.close()
        self.relay.kill()
        self.screen.close()
        self.bus.close()


class Report:
    def __init__(self) -> None:
        self.missed = False

    def line(self, server: str, what: str, taken: float) -> None:
        held = taken <= SHOWN_WITHIN
        self.missed = self.missed or not held
        bound = f"bound {SHOWN_WITHIN * 1_000:.0f} ms{'' if held else ' MISSED'}"
        print(f"{server}: {what}: {taken * 1_000:.0f} ms, {bound}", flush=True)


def behind(bench: Bench, report: Report, server: str, count: int) -> None:
    """An urgent push right behind ordinary ones."""
    for number in range(count):
        bench.push(f"Ordinary {number}")
    before = bench.monitor.counts[0]
    begun = bench.push("Urgent", priority="urgent")
    shown = bench.monitor.shown("Urgent")
    # So many came between it and its turn.
    between = bench.monitor.shown_before("Urgent") - before
    print(
        f"{server}: {before} of {count} ordinary ones were shown when the urgent one was pushed, {between} more before it"
    )
    report.line(server, "the urgent one, pushed to shown", shown - begun)
    report.line(server, "of that, called to shown", shown - bench.monitor.of("Urgent")[-1].sent)


def reminded(bench: Bench, report: Report, server: str, count: int) -> None:
    """A reminder that is due while ordinary pushes come."""
    due = bench.remind("Reminder", 1)
    for number in range(count):
        bench.push(f"Beside {number}")
    report.line(server, "a reminder beside them, due to shown", bench.monitor.shown("Reminder") - due)


def full(bench: Bench, report: Report, server: str) -> None:
    """At a server that refuses further banners."""
    for number in range(MORE_THAN_A_PLACE_FOR_EACH):
        bench.push(f"More {number}")
    wait_until(lambda: bench.monitor.counts[1] > 0, 60)
    begun = bench.push("Urgent at a full server", priority="urgent")
    report.line(server, "an urgent push at a full server", bench.monitor.shown("Urgent at a full server") - begun)
    due = bench.remind("Reminder at a full server", 0)
    report.line(server, "a reminder at a full server", bench.monitor.shown("Reminder at a full server") - due)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--server", action="append", choices=list(SERVERS))
    arguments = parser.parse_args()
    report = Report()
    for server in arguments.server or SERVERS:
        with tempfile.TemporaryDirectory(prefix="bellwire-servers-") as home:
            bench = Bench(server, Path(home))
            try:
                behind(bench, report, server, arguments.count)
                reminded(bench, report, server, arguments.count)
                if server == "notification-daemon":
                    full(bench, report, server)
                shown, refused, open_calls = bench.monitor.counts
                print(
                    f"{server}: {shown} banners shown, {refused} calls refused, {open_calls} not answered", flush=True
                )
            finally:
                bench.close()
    return 1 if report.missed and not arguments.short else 0


if __name__ == "__main__":
    sys.exit(main())
