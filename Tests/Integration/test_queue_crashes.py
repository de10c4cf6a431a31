"""The short form of queue_crashes.py, which has a long one as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Start
from queue_crashes import run


@pytest.mark.parametrize("seed", [1, 2])
def test_queued_commands_are_carried_out_once_whoever_is_killed(start: Start, tmp_path: Path, seed: int) -> None:
    run(start, tmp_path / "house", commands=100, seed=seed)
