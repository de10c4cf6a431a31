"""The short form of Tests/Soak/relays.py: a connection and then the relay break while a desktop pushes.

No push may be lost, come twice or out of order: WireDeployedRelays, "Compared".
"""

from __future__ import annotations

import subprocess
import sys

from programs import BELLWIRE, ROOT


def test_pushes_survive_a_cut_connection_and_a_killed_relay() -> None:
    script = [sys.executable, ROOT / "Tests/Soak/relays.py", "--bellwire", BELLWIRE]
    amount = ["--relays", "node1", "--pushes", "20", "--faults", "2", "--kinds", "cut,relay"]
    # The deadline of one push; nothing else is timed.
    deadline = ["--limit", "60", "--bound", "60"]
    run = subprocess.run([*script, *amount, *deadline], capture_output=True, text=True, timeout=180)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
