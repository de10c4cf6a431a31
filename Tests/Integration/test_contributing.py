"""The pages in .github name only what is there, and the hook for commits finds what it is for."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import ROOT, Program

Start = Callable[..., Program]

PAGES = sorted((ROOT / ".github").glob("*.md"))
HEADER = (ROOT / "include/bellwire.h").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_function_and_link_that_it_names_exists(page: Path) -> None:
    text = page.read_text()
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / link).exists(), link
    tops = r"Sources|Tests|bindings|examples|include|\.github"
    named = re.findall(rf"(?<![\w./])((?:{tops})/[\w./+-]*[\w-])", re.sub(r"\]\([^)]+\)", "", text))
    for name in named:
        assert (ROOT / name).exists(), name
    for function in re.findall(r"\b(bw_\w+)\(\)", text):
        assert re.search(rf"\b{function}\(", HEADER), function


def test_the_scripts_take_the_options_that_contributing_shows() -> None:
    text = (ROOT / ".github/CONTRIBUTING.md").read_text()
    shown = re.findall(r"`?\b(Tests/(?:\w+/)?\w+\.sh)((?: [\w-]+)*)", text)
    assert {name for name, _ in shown} >= {"Tests/run.sh", "Tests/benchmark.sh", "Tests/soak.sh", "Tests/prepare.sh"}
    for name, arguments in shown:
        # What each says of itself at its head.
        head = (ROOT / name).read_text().split("\nset -")[0]
        for option in re.findall(r"--[\w-]+", arguments):
            assert option in head, f"{name} {option}"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with the hook of this checkout."""
    there = tmp_path_factory.mktemp("hook") / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, there], check=True)
    for setting, value in {"user.name": "A", "user.email": "a@b.invalid", "core.hooksPath": ".github/hooks"}.items():
        subprocess.run(["git", "config", setting, value], cwd=there, check=True)
    hook = there / ".github/hooks/pre-commit"
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_bytes((ROOT / ".github/hooks/pre-commit").read_bytes())
    hook.chmod(0o755)
    tools = ROOT / ".build/venv"
    (there / ".build").mkdir()
    (there / ".build/venv").symlink_to(tools)
    return there


def commit(clone: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    path = clone / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    subprocess.run(["git", "add", "--force", name], cwd=clone, check=True)
    return subprocess.run(["git", "commit", "-m", "A change"], cwd=clone, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("Sources/Foundations/Wire/Added.swift", "let  a = 1\n", "let a = 1\n"),
        ("Tests/added.sh", "#!/bin/sh\nrm $1\n", '#!/bin/sh\nrm "$1"\n'),
        ("Tests/added.py", "import os\n", "a = 1\n"),
        ("Tests/formatted.py", "a  =  1\n", "a = 1\n"),
        ("added.txt", "a \n", "a\n"),
        ("include/bellwire.h", "int f(a);\n", "int f(int a);\n"),
    ],
)
def test_the_hook_refuses_a_bad_commit_and_takes_a_good_one(clone: Path, name: str, bad: str, good: str) -> None:
    if name.endswith(".h"):
        bad, good = (
            (ROOT / name).read_text().replace("\n#include <stddef.h>", f"\n{each}\n#include <stddef.h>", 1)
            for each in (bad, good)
        )
    refused = commit(clone, name, bad)
    assert refused.returncode != 0 and "pre-commit: " in refused.stdout + refused.stderr
    taken = commit(clone, name, good)
    assert taken.returncode == 0, taken.stdout + taken.stderr


def test_the_hook_looks_at_what_is_staged(clone: Path) -> None:
    taken = commit(clone, "Tests/staged.py", "a = 1\n")
    assert taken.returncode == 0, taken.stdout + taken.stderr
    (clone / "Tests/staged.py").write_text("import  os\n")
    taken = commit(clone, "other.txt", "a\n")
    assert taken.returncode == 0, taken.stdout + taken.stderr


def test_the_run_says_which_suites_are_under_way_and_since_when(start: Start, tmp_path: Path) -> None:
    running = tmp_path / "running"
    running.mkdir()
    for suite, age in {"library": 95, "swift-build": 30}.items():
        (running / suite).write_text(f"{int(time.time()) - age}\n")
    run = start("sleep", "60")
    progress = start(ROOT / "Tests/progress.sh", running, str(run.pid), "0.1")
    first = progress.line(r"running: library (\d+) s, swift-build (\d+) s$")
    assert int(first[1]) >= 95 and int(first[2]) >= 30
    (running / "library").unlink()
    progress.line(r"running: swift-build \d+ s$")
    # While nothing changes, three looks print nothing.
    progress.line(r"running: swift-build \d+ s$")
    run.kill()
    assert progress.wait() == 0
