"""Measures the notification skill over the C interface. Started by skill.sh."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Integration"))

from hosts import QUEUED, Host  # noqa: E402
from programs import BELLWIRE, Program  # noqa: E402

DAY = 86_400_000

# The pages read from a long history.
PAGES: list[tuple[str, dict[str, Any]]] = [
    ("newest", {}),
    ("unread only", {"unreadOnly": True}),
    ("oldest", {"sort": "oldest"}),
    ("by priority", {"sort": "priority"}),
    ("unread first", {"sort": "unread"}),
    ("urgent, from a mobile", {"priority": "urgent", "source": "mobile"}),
    ("30 days", {"since": 30 * DAY + 12_345, "until": 60 * DAY + 54_321}),
    ("30 days, urgent, unread", {"since": 60 * DAY + 12_345, "priority": "urgent", "unreadOnly": True}),
]
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("a rare word", {"query": "rare7"}),
    ("a word of one row in 500", {"query": "word17"}),
    ("two words", {"query": "build word17"}),
    ("a beginning", {"query": "word17*"}),
    ("a word of one row in ten", {"query": "often"}),
    ("a word and a filter", {"query": "word17", "priority": "urgent"}),
    ("a word, by priority", {"query": "word17", "sort": "priority"}),
]


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.work = Path(options.work)
        self.missed: list[str] = []
        self.programs: list[Program] = []

    def start(self, *arguments: str | Path) -> Program:
        self.programs.append(Program(arguments, {"XDG_STATE_HOME": str(self.work / "home"), "TZ": "UTC"}))
        return self.programs[-1]

    def check(self, what: str, value: float, bound: float, unit: str) -> None:
        """The short form has no bounds: it is run on machines that others use meanwhile."""
        if self.options.short:
            print(f"  {what}: {value:.2f} {unit}")
            return
        held = value <= bound
        print(f"  {'ok    ' if held else 'MISSED'} {what}: {value:.2f} {unit} (bound ≤ {bound:g})")
        if not held:
            self.missed.append(what)

    # The history

    def history(self) -> None:
        rows = 10_000 if self.options.short else 1_000_000
        print(f"history of {rows} rows, pages of 50, the best of five")
        home = self.work / "long"
        options = {"state_dir": str(home), "relay": {"listen": "127.0.0.1:0"}, "follow_system": False}
        Host(self.start, "desktop", options).close()
        self.fill(next(home.glob("*.db")), rows)
        desktop = Host(self.start, "desktop", options)
        begin = time.perf_counter()
        desktop.call("bw_desktop_history", {"query": "rare7"})
        print(f"  the first search, before text is indexed: {(time.perf_counter() - begin) * 1000:.1f} ms")
        begin = time.perf_counter()
        while desktop.call("bw_desktop_history", {"query": "often"})["total"] < rows // 10:
            assert time.perf_counter() - begin < 1_200, "the text is not indexed"
            time.sleep(0.2)
        print(f"  all text is indexed after {time.perf_counter() - begin:.1f} s")
        expected = {"newest": rows, "oldest": rows, "a rare word": 1_000, "a word of one row in ten": rows // 10}
        for bound, questions in ((5, PAGES), (50, SEARCHES)):
            for name, question in questions:
                times, total = [], 0
                for _ in range(5):
                    begin = time.perf_counter()
                    total = desktop.call("bw_desktop_history", question)["total"]
                    times.append((time.perf_counter() - begin) * 1000)
                assert total == expected.get(name, total), f"{name}: {total} found, not {expected[name]}"
                self.check(f"{name} ({total} in all)", min(times), bound, "ms")
        desktop.close()

    def fill(self, path: Path, rows: int) -> None:
        word = "'word' || (abs(random()) % 5000)"
        body = " || ' ' || ".join([word] * 8)
        with sqlite3.connect(path) as database:
            database.execute(
                f"""
                WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < ?1)
                INSERT INTO history(id, title, body, priority, source, created_at, received_at, silenced, late, read)
                SELECT lower(hex(randomblob(16))), 'Build ' || {word} || ' finished',
                    {body} || ' rare' || (i / 1000) || iif(i % 10 = 0, ' often', ''),
                    i % 4, iif(i % 3 = 0, 'mobile', 'pc'), i * (90 * 86400000 / ?1), 0, 0, 0, i / 5 % 2
                FROM number
                """,
                (rows,),
            )
            # The library keeps these counts itself; rows that come past it have to be counted here.
            database.execute(
                """
                INSERT INTO history_tally
                    SELECT created_at / 86400000, source, priority, read, count(*) FROM history GROUP BY 1, 2, 3, 4
                """
            )
            database.execute(
                """
                UPDATE push_count SET total = (SELECT count(*) FROM history),
                    unread = (SELECT count(*) FROM history WHERE read = 0),
                    last = (SELECT max(row) FROM history), tallied = (SELECT max(row) FROM history)
                WHERE peer = 0
                """
            )
            # Kept, however old it is and however many there are.
            for name in ("retentionRows", "retentionDays"):
                database.execute(
                    "INSERT INTO setting(name, value, revision, author, base) VALUES (?, '0', 1, '', 0)", (name,)
                )
        database.close()

    # The queue

    def queue(self) -> None:
        print("a queue of 100 commands, drained when the desktop is back")
        relay = self.start(BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health").line(r"ws://\S+").group()
        common = {"relay_url": relay, "follow_system": False}
        desktop = Host(self.start, "desktop", {**common, "state_dir": str(self.work / "queue-desktop")})
        desktop.start()
        device = Host(self.start, "device", {**common, "state_dir": str(self.work / "queue-device")})
        offer = desktop.call("bw_desktop_offer", 10_000)
        device.call("bw_pairing_scan", offer["payload"], 15_000)
        times = []
        for round_number in range(2 if self.options.short else 5):
            for number in range(100):
                desktop.begin("bw_desktop_notify", {"title": f"{round_number}-{number}", "body": ""}, 60_000)
            # The hosts' calls run on threads, so their order is not given.
            pushes = [device.event("notification.received") for _ in range(100)]
            assert {push["title"] for push in pushes} == {f"{round_number}-{number}" for number in range(100)}
            ids = [push["id"] for push in pushes]
            desktop.call("bw_desktop_stop")
            device.event("connection.changed")
            for each in ids:
                outcome = device.outcome("bw_notification_mark_as_read", None, {"notificationId": each}, 10_000)
                assert outcome["status"] == QUEUED, outcome
            desktop.start()
            desktop.event("connection.changed", online=True)
            begin = time.perf_counter()
            device.event("queue.changed", pending=0, timeout=60)
            times.append((time.perf_counter() - begin) * 1000)
        print(
            f"  {statistics.median(times):.0f} ms from the desktop's return (of {len(times)}: {min(times):.0f} to {max(times):.0f})"
        )
        device.close()
        desktop.close()

    # One push

    def handover(self) -> None:
        print("one push of 400 bytes, from the socket's text to the host's event, in processor time")
        ours, theirs = [], []
        for _ in range(3 if self.options.short else 7):
            run = subprocess.run([self.options.handover, "20000"], check=True, capture_output=True, text=True)
            ours.append(json.loads(run.stdout)["new_ns"])
            run = subprocess.run([self.options.parse, "20000"], check=True, capture_output=True, text=True)
            theirs.append(json.loads(run.stdout)["new_ns"])
        print(f"  ours {statistics.median(ours):.0f} ns, jansson's parsing alone {statistics.median(theirs):.0f} ns")
        self.check("a push against its parsing", statistics.median(ours) / statistics.median(theirs), 3, "×")

    def run(self) -> int:
        try:
            for part in (self.handover, self.queue, self.history):
                part()
        finally:
            for program in reversed(self.programs):
                if program.process.poll() is None:
                    program.kill()
        if self.options.short:
            print("every push and every queued command arrived, every row was found")
        else:
            print(f"{len(self.missed)} bounds missed: {', '.join(self.missed)}" if self.missed else "all bounds held")
        return 1 if self.missed else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    for name in ("handover", "parse", "work"):
        parser.add_argument(f"--{name}", required=True)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}" + (": busy, so the numbers say little" if load > 1.5 else ""))
    return Bench(parser.parse_args()).run()


sys.exit(main())
