"""Types and style: of the package, of these tests, and of a program that uses the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, SITE

BINDING = ROOT / "bindings/python"
TESTS = Path(__file__).parent

PROGRAM = """
import asyncio
from typing import Optional, Union

import bellwire
from bellwire import qr


def sync() -> None:
    with bellwire.Device(name="typed", alerts="none") as device:
        desktop: bellwire.PairedDesktop = device.scan("code", timeout=5)
        sent: bellwire.Sent = device.send("title", "body", priority=bellwire.Priority.HIGH)
        reveal: Optional[str] = sent.notification_id
        marked: Union[bellwire.Marked, bellwire.Queued] = device.mark_as_read("id", desktop=desktop.id)
        if isinstance(marked, bellwire.Queued):
            print(marked.id)
        for push in device.pushes():
            text: str = push.title
            print(text, push.created_at.year, reveal)
        drawing: str = qr.terminal("text")
        print(drawing)


async def main(device: bellwire.Device) -> int:
    async for push in device.apushes():
        print(push.data.get("k"))
    return (await device.asend("t")).success + await device.aunread_count()


asyncio.run(main(bellwire.Device()))
"""

WRONG = """
import bellwire
bellwire.Device(nme="x")
bellwire.Device(alerts="loud")
bellwire.Device().send(5)
bellwire.Device().history().total.upper()
for push in bellwire.Device().pushes():
    push.titel
"""


def tool(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=BINDING, capture_output=True, text=True, timeout=300
    )


def test_the_package_and_the_tests_are_typed(tmp_path: Path) -> None:
    cache = ("--cache-dir", tmp_path)
    done = tool("mypy", "--strict", *cache, "src/bellwire")
    assert done.returncode == 0, done.stdout
    done = tool("mypy", "--strict", *cache, *sorted(TESTS.glob("*.py")))
    assert done.returncode == 0, done.stdout


def test_a_program_is_checked_against_the_installed_package(tmp_path: Path) -> None:
    """py.typed: a user's mypy takes the package's own types, and finds mistakes by them."""
    good, wrong = tmp_path / "good.py", tmp_path / "wrong.py"
    good.write_text(PROGRAM)
    wrong.write_text(WRONG)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nmypy_path = {SITE}\n")
    options = ("--strict", "--cache-dir", tmp_path / "cache", "--config-file", tmp_path / "mypy.ini")
    done = tool("mypy", *options, good)
    assert done.returncode == 0, done.stdout
    done = tool("mypy", *options, wrong)
    assert done.returncode == 1 and done.stdout.count(": error: ") == 5, done.stdout


def test_the_programs_of_the_readme_are_typed(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (BINDING / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        path = tmp_path / f"block{number}.py"
        path.write_text(block)
        done = tool("mypy", "--cache-dir", tmp_path / "cache", path)
        assert done.returncode == 0, done.stdout


def test_style() -> None:
    for command in (["check"], ["format", "--check"]):
        done = tool("ruff", *command, "--no-cache", BINDING, TESTS)
        assert done.returncode == 0, done.stdout + done.stderr
