"""What every test starts from: the wheel, built once and imported from where it was installed, and pairs of peers on
loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGE = Path(os.environ.get("BELLWIRE_STAGE", ROOT / "build/stage")).resolve()
BUILT = tempfile.TemporaryDirectory(prefix="bellwire-python-tests-")
WHEELS = Path(BUILT.name, "wheels")
#: Where the wheel is installed for the tests: they see the package as its users do.
SITE = Path(BUILT.name, "site")


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *map(str, arguments)]
    environment = {**os.environ, "BELLWIRE_STAGE": str(STAGE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise pytest.UsageError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def pytest_configure() -> None:
    if not (STAGE / "lib/libbellwire.so.1").exists():
        raise pytest.UsageError(f"{STAGE}/lib/libbellwire.so.1 is not there: bindings/c/build.sh makes it")
    os.environ.pop("BELLWIRE_LIBRARY", None)
    pip("wheel", "--no-deps", "-w", WHEELS, ROOT / "bindings/python")
    pip("install", "--no-deps", "--target", SITE, *WHEELS.glob("*.whl"))
    sys.path.insert(0, str(SITE))
    os.environ["PYTHONPATH"] = str(SITE)


def pytest_unconfigure() -> None:
    BUILT.cleanup()


@pytest.fixture(scope="session")
def wheel() -> Path:
    (found,) = WHEELS.glob("*.whl")
    return found


@pytest.fixture
def peers() -> Iterator[object]:
    """Opens paired peers, and closes them."""
    from peers import Peers

    with Peers() as made:
        yield made
