"""Pairs the programs of two commits, lets them talk, and updates them in place.

    compatibility.py OLD NEW

OLD and NEW are `bellwire` programs. Each flow is run with each program on each side: the two pair, 20 pushes arrive in
order and a command is answered; then the desktop is updated, then the device, and the same happens after each update and
after another start. Once both run NEW, both have to list version 2 of the seal: it is pinned. Prints a line for each
combination, and exits with 1 if one fails.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Integration"))

from programs import Program

FLOWS = ("scan", "show", "code")
PUSHES = 20
TIMEOUT = 60


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Pair:
    """A desktop with its relay, and a device, each with a state directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self.programs: list[Program] = []

    def start(self, *arguments: str) -> Program:
        program = Program(arguments)
        self.programs.append(program)
        return program

    def desktop(self, release: str, *arguments: str) -> Program:
        return self.start(
            *(release, "desktop", "--json", "--stdin", "--accept", "--name", "Desk"),
            *("--relay", f"127.0.0.1:{self.port}", "--state-dir", str(self.folder / "desktop")),
            *arguments,
        )

    def on_device(self, release: str, command: str, *arguments: str) -> Program:
        return self.start(release, command, "--json", "--state-dir", str(self.folder / "device"), *arguments)

    def pair(self, flow: str, desktop_release: str, device_release: str) -> Program:
        """The desktop, paired and running."""
        if flow == "show":
            desktop = self.desktop(desktop_release, "--no-pair")
            desktop.event("started", TIMEOUT)
            device = self.on_device(device_release, "pair", "--show", "--accept", "--relay-url", self.url)
            code = device.event("offer", TIMEOUT)["data"]["payload"]
            end(desktop)
            desktop = self.desktop(desktop_release, "--scan", code)
        else:
            desktop = self.desktop(desktop_release, "--pair", "--qr-text")
            if flow == "scan":
                code = desktop.event("offer", TIMEOUT)["data"]["payload"]
                device = self.on_device(device_release, "pair", code)
            else:
                code = desktop.event("code", TIMEOUT)["data"]["code"]
                device = self.on_device(device_release, "pair", "--code", code, "--relay-url", self.url)
        expect(device.wait(TIMEOUT) == 0, f"the pairing failed: {device.err.all}")
        return desktop

    def talk(self, desktop: Program, device_release: str, name: str) -> None:
        """Pushes arrive once and in order, and a command is answered."""
        titles = [f"{name} {number}" for number in range(PUSHES)]
        listener = self.on_device(device_release, "listen", "--count", str(PUSHES), "--timeout", str(TIMEOUT))
        for title in titles:
            desktop.write(json.dumps({"title": title, "body": "b"}) + "\n")
        expect(listener.wait(TIMEOUT) == 0, f"{name}: the device got {listener.out.all}, {listener.err.all}")
        events = [json.loads(line) for line in listener.out.all]
        got = [event["data"]["title"] for event in events if event.get("event") == "notification.received"]
        expect(got == titles, f"{name}: the device got {got}")
        history = self.on_device(device_release, "history", "--limit", "1", "--timeout", "30")
        expect(history.wait(TIMEOUT) == 0, f"{name}: no history: {history.err.all}")
        expect(titles[-1] in "".join(history.out.all), f"{name}: the history begins with {history.out.all}")

    def listed(self, release: str) -> list[dict[str, Any]]:
        """The pairing as each side lists it."""
        sides = []
        for arguments in (("--device", "device"), ("--desktop", "desktop")):
            program = self.start(
                release, "peers", "--json", arguments[0], "--state-dir", str(self.folder / arguments[1])
            )
            expect(program.wait(TIMEOUT) == 0, f"no list: {program.err.all}")
            expect(len(program.out.all) == 1, f"one peer is listed: {program.out.all}")
            found = json.loads(program.out.all[0])
            # Earlier builds print the peer itself.
            for peers in (found.get("desktops"), found.get("devices")):
                found = peers[0] if peers else found
            sides.append(found)
        return sides

    def close(self) -> None:
        for program in self.programs:
            if program.process.poll() is None:
                program.kill()


def end(program: Program) -> None:
    code = program.end()
    # The exit code of a program that a signal has ended, or the signal itself.
    expect(code in (0, 143, -15), f"{program.arguments[1]} ended with {code}: {program.err.all}")


def expect(holds: bool, complaint: str) -> None:
    if not holds:
        raise AssertionError(complaint)


def run(flow: str, desktop_release: str, device_release: str, new: str) -> None:
    with tempfile.TemporaryDirectory(prefix="bellwire-compatibility-") as folder:
        pair = Pair(Path(folder))
        try:
            desktop = pair.pair(flow, desktop_release, device_release)
            pair.talk(desktop, device_release, "as paired")
            end(desktop)
            for name, release in (("new desktop", device_release), ("both new", new), ("again", new)):
                desktop = pair.desktop(new, "--no-pair")
                desktop.event("started", TIMEOUT)
                pair.talk(desktop, release, name)
                end(desktop)
            for side in pair.listed(new):
                expect(side["secure"] is True, f"not encrypted: {side}")
                expect(side["seal"]["version"] == 2, f"not pinned to sessions: {side}")
                has_key = desktop_release == device_release == new
                expect(side["seal"]["psk"] is has_key, f"a preshared key only between two new programs: {side}")
        finally:
            pair.close()


def main(old: str, new: str) -> int:
    for program in (old, new):
        subprocess.run([program, "--version"], check=True)
    failed = 0
    names = {old: "old", new: "new"}
    combinations = [(flow, desktop, device) for flow in FLOWS for desktop in (old, new) for device in (old, new)]
    for flow, desktop, device in combinations:
        title = f"{flow}: {names[desktop]} desktop, {names[device]} device"
        try:
            run(flow, desktop, device, new)
            print(f"ok    {title}", flush=True)
        except (AssertionError, KeyError, ValueError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"FAIL  {title}: {error}", flush=True)
    print(f"{len(combinations) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
