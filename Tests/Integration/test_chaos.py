"""The short form of Tests/Soak/chaos.py: connections are cut inside frames, delayed and cut into small parts."""

from __future__ import annotations

import random
import subprocess
import sys

from programs import BELLWIRE, ROOT


def test_every_push_arrives_once_through_connections_that_break() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    script = [sys.executable, ROOT / "Tests/Soak/chaos.py", "--bellwire", BELLWIRE, "--seed", str(seed)]
    amount = ["--seconds", "10", "--kinds", "cut,delay,dribble", "--gap", "1"]
    run = subprocess.run([*script, *amount, "--limit", "120"], capture_output=True, text=True, timeout=240)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
