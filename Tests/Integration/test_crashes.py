"""The short form of Tests/Soak/crashes.sh: relay, desktops and device are killed while they push.

No push may be lost or handed over twice: WireSealing, "Delivery of pushes".
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import ROOT

# Fail points are in debug builds alone.
DEBUG = Path(os.environ.get("BELLWIRE_DEBUG", ROOT / ".build/debug/bellwire"))


@pytest.mark.parametrize(("seed", "relays"), [(1, 1), (2, 1), (3, 3)])
def test_killed_at_random_and_at_fail_points_every_push_comes_once_and_in_order(seed: int, relays: int) -> None:
    """With three relays, three NATS servers connect them, and are killed as well."""
    assert DEBUG.exists(), f"{DEBUG} is not there: swift build makes it"
    run = subprocess.run(
        [
            sys.executable,
            ROOT / "Tests/Soak/crashes.py",
            "--pushes",
            "400",
            "--rate",
            "40",
            "--kills",
            "0.4",
            "--limit",
            "120",
            "--seed",
            str(seed),
            "--relays",
            str(relays),
            "--bellwire",
            DEBUG,
        ],
        capture_output=True,
        text=True,
        timeout=150,
    )
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
