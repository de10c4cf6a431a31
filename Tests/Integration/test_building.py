"""The scripts that build and test a checkout: what they link does not depend on where, or on the list of functions that
only saves memory; and .ci/run tests a clone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import PACKAGE, ROOT, STAGE

RELEASE = STAGE.parent / "swift/release"
ORDER = ROOT / "bindings/c/order.txt"
FILES = ("lib/libbellwire.so.1", "lib/libbellwire.a", "bin/bellwire")

compiled = pytest.mark.skipif(
    not (RELEASE / "libbellwire-modules.a").exists() or shutil.which("swiftc") is None,
    reason=f"bindings/c/build.sh has not compiled into {RELEASE}",
)


def link(stage: Path, *options: str | Path) -> None:
    subprocess.run(
        [ROOT / "bindings/c/link.sh", "--release", RELEASE, "--stage", stage, *options],
        check=True,
        capture_output=True,
        timeout=300,
    )


def exported(library: Path) -> str:
    dynamic = ["nm", "-D", "--defined-only", "--with-symbol-versions", "--format=just-symbols", str(library)]
    return subprocess.run(dynamic, check=True, capture_output=True, text=True).stdout


@compiled
@pytest.mark.skipif(not ORDER.exists(), reason="takes bindings/c/order.txt, which the library was linked with")
def test_linked_elsewhere_every_file_has_the_same_bytes(tmp_path: Path) -> None:
    """Tests/reproducible.sh also compiles elsewhere, which takes minutes."""
    stage = tmp_path / "in a directory, with another name" / "stage"
    link(stage, "--order", ORDER)
    for file in FILES:
        assert (stage / file).read_bytes() == (STAGE / file).read_bytes(), file
    assert [path.name for path in stage.parent.iterdir()] == ["stage"]


@compiled
@pytest.mark.parametrize("order", [None, "a_function_that_has_gone\n"], ids=["none", "outdated"])
def test_without_the_recorded_order_the_library_is_as_complete(tmp_path: Path, order: str | None) -> None:
    """A checkout without order.txt, or with an old one, builds the same functions into another order."""
    options: list[str | Path] = []
    if order is not None:
        (tmp_path / "order.txt").write_text(order)
        options = ["--order", tmp_path / "order.txt"]
    link(tmp_path / "stage", *options)
    library = tmp_path / "stage/lib/libbellwire.so.1"
    assert exported(library) == exported(STAGE / "lib/libbellwire.so.1")
    if ORDER.exists():
        assert library.read_bytes() != (STAGE / "lib/libbellwire.so.1").read_bytes()
    opened = "import bellwire\nwith bellwire.Device(state_dir=':memory:'): print(bellwire.version())\n"
    environment = {**os.environ, **PACKAGE, "BELLWIRE_LIBRARY": str(library)}
    said = subprocess.run(["python3", "-c", opened], env=environment, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0 and said.stdout.strip(), said.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with .ci/run of this checkout and a Tests/run.sh that says where it runs, how it was called, and with
    which files."""
    there = tmp_path / "checkout"
    (there / "Tests").mkdir(parents=True)
    shutil.copytree(ROOT / ".ci", there / ".ci")
    run = there / "Tests/run.sh"
    run.write_text(
        """#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
pwd
echo "arguments: $*"
echo "files: $(find . -type f -not -path './.git/*' | LC_ALL=C sort | tr '\\n' ' ')"
mkdir -p .build/tests
echo output > .build/tests/suite.log
exit "${END_WITH:-0}"
"""
    )
    run.chmod(0o755)
    for command in (
        ["init", "--quiet"],
        ["config", "user.name", "A"],
        ["config", "user.email", "a@b.invalid"],
        ["add", "--all"],
        ["commit", "--quiet", "-m", "A commit"],
    ):
        subprocess.run(["git", *command], cwd=there, check=True)
    (there / ".git/info/exclude").write_text(".build\n")
    return there


def ci(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    temporary = checkout.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [checkout / ".ci/run", *arguments],
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert list(temporary.iterdir()) == []
    return done


def test_ci_runs_the_tests_in_a_clone_of_the_last_commit(checkout: Path) -> None:
    """With its arguments, without what git does not have, and with nothing left behind but the outputs."""
    done = ci(checkout, "--filter", "two words")
    assert done.returncode == 0 and done.stderr == ""
    testing, where, arguments, files = done.stdout.splitlines()
    assert testing.startswith("Testing ") and testing.endswith(f"A commit in {where}")
    assert Path(where).name == "bellwire" and not Path(where).exists()
    assert arguments == "arguments: --filter two words"
    assert files.split() == ["files:", "./.ci/run", "./Tests/run.sh"]
    assert (checkout / ".build/tests/suite.log").read_text() == "output\n"


def test_ci_says_what_it_does_not_test_and_passes_the_failure_on(checkout: Path) -> None:
    (checkout / "forgotten.swift").write_text("let a = 1\n")
    done = ci(checkout, END_WITH="3")
    assert done.returncode == 3
    assert "changes that are not committed" in done.stderr and "forgotten.swift" not in done.stdout
