"""The short form of alert_crashes.py, which has a long one as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from alert_crashes import run
from conftest import Start


@pytest.mark.parametrize("seed", [1, 2])
def test_alerts_are_shown_once_however_often_the_device_is_killed(start: Start, tmp_path: Path, seed: int) -> None:
    run(start, tmp_path / "house", pushes=100, reminders=30, seed=seed)
