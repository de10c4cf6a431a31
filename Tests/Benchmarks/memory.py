#!/usr/bin/env python3
"""The memory of a listening C program: examples/print_pushes.c, which pairs with a desktop and prints 50 pushes.

Prints what of each library and mapping is resident, by kind, and the sum. The library is one that bindings/c/build.sh
made; a command after "--" is what the program is run by (bindings/c/order.sh runs it by valgrind).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("Rss", "Private_Dirty", "Private_Clean", "Shared_Clean", "Shared_Dirty")


def mappings(smaps: str) -> dict[str, Counter[str]]:
    """The KiB of each file, executable and not, of each kind."""
    found: dict[str, Counter[str]] = {}
    current: Counter[str] = Counter()
    for line in smaps.splitlines():
        if head := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \d+ *(.*)", line):
            name = Path(head[2]).name or "anonymous"
            current = found.setdefault(name + (" (code)" if "x" in head[1] else ""), Counter())
        elif field := re.match(r"(\w+): +(\d+) kB", line):
            current[field[1]] += int(field[2])
    return found


def report(smaps: str) -> None:
    found = mappings(smaps)
    total: Counter[str] = Counter()
    print(f"{'KiB':34}" + "".join(f"{kind:>15}" for kind in KINDS))
    for name, counts in sorted(found.items(), key=lambda each: -each[1]["Rss"]):
        total.update(counts)
        if counts["Rss"]:
            print(f"{name:34}" + "".join(f"{counts[kind]:15}" for kind in KINDS))
    print(f"{'all':34}" + "".join(f"{total[kind]:15}" for kind in KINDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=Path, default=Path(os.environ.get("BELLWIRE_STAGE", ROOT / "build/stage")))
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    stage = options.stage.resolve()
    os.environ["BELLWIRE_STAGE"] = str(stage)
    sys.path.insert(0, str(ROOT / "Tests/Integration"))
    from programs import BELLWIRE, Program

    with tempfile.TemporaryDirectory(prefix="bellwire-memory-") as directory:
        listener = Path(directory, "print_pushes")
        flags = [f"-I{stage}/include", f"-L{stage}/lib", "-lbellwire", f"-Wl,-rpath,{stage}/lib"]
        subprocess.run(["cc", "-std=c99", ROOT / "examples/print_pushes.c", "-o", listener, *flags], check=True)

        def start(home: str, *arguments: str | Path) -> Program:
            return Program(arguments, {"XDG_STATE_HOME": f"{directory}/{home}", "TZ": "UTC"})

        running: list[Program] = []
        try:
            running.append(start("relay", BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health"))
            url = running[0].line(r"ws://\S+").group()
            running.append(start("desktop", BELLWIRE, "desktop", "--relay-url", url, "--stdin", "--qr-text"))
            desktop = running[1]
            code = desktop.line(r"^\{.*desktop-pairing.*").group()
            running.append(start("listener", *options.command, listener, code))
            running[2].error_line("paired", 60)
            for number in range(50):
                desktop.write(f"Push {number}\t{'x' * 1000}\tnormal\n")
            running[2].line("Push 49", 60)
            report(Path(f"/proc/{running[2].pid}/smaps").read_text())
        finally:
            # The listener ends in order: a profile is written at its end.
            for program in reversed(running):
                program.end()


if __name__ == "__main__":
    main()
