"""Scripts that share a device are programs of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bellwire
from peers import Peers

SCRIPT = """
import sys, bellwire

with bellwire.Device(state_dir=sys.argv[1], follow_system=False) as device:
    for push in device.pushes(timeout=float(sys.argv[2])):
        print(push.title, flush=True)
        if push.title == "last":
            break
"""


def test_two_scripts_get_every_push_also_those_sent_while_neither_ran(peers: Peers, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with peers.open_device(state_dir=state) as device:
        device.scan(peers.desktop.offer(timeout=10).payload, timeout=15)
    # The last two differ only in a byte that is not UTF-8.
    folders = ["lamp", "door", os.fsdecode(b"gr\xf6"), os.fsdecode(b"gr\xe4")]
    scripts = [tmp_path / folder / "main.py" for folder in folders]
    for script in scripts:
        script.parent.mkdir()
        script.write_text(SCRIPT)

    def run(script: Path, timeout: float) -> list[str]:
        command = [sys.executable, str(script), str(state), str(timeout)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    # The first run makes each known.
    for script in scripts:
        assert run(script, 0.01) == []
    peers.desktop.notify("first")
    peers.desktop.notify("last")
    for script in scripts:
        assert run(script, 30) == ["first", "last"], "one after the other, each gets them"
    assert isinstance(device, bellwire.Device)
