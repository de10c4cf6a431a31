"""Finding the shared library, and the words when it cannot be used."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SITE, STAGE
from peers import python

LIBRARY = STAGE / "lib/libbellwire.so.1"

SAY = """
import bellwire
try:
    print(bellwire.version(), bellwire._library.path)
except ImportError as error:
    assert isinstance(error, bellwire.LibraryError)
    print("no:", error)
"""


def bare(tmp_path: Path) -> str:
    """The package as Debian has it: without a library inside."""
    shutil.copytree(SITE / "bellwire", tmp_path / "bellwire", ignore=shutil.ignore_patterns("_lib", "__pycache__"))
    return str(tmp_path)


def test_the_one_inside_the_package_is_used() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+ .*/bellwire/_lib/libbellwire\.so\.1\n", python(SAY).stdout)


def test_the_environment_names_another_one() -> None:
    assert python(SAY, BELLWIRE_LIBRARY=str(LIBRARY)).stdout.endswith(f" {LIBRARY}\n")
    said = python(SAY, BELLWIRE_LIBRARY="/nowhere/lib.so").stdout
    assert said.startswith("no: BELLWIRE_LIBRARY names '/nowhere/lib.so'") and "unset it" in said


def test_the_systems_one_is_the_last(tmp_path: Path) -> None:
    path = bare(tmp_path)
    assert python(SAY, PYTHONPATH=path, LD_LIBRARY_PATH=str(LIBRARY.parent)).stdout.endswith(" libbellwire.so.1\n")


def test_without_any_the_error_says_what_to_do(tmp_path: Path) -> None:
    said = python(SAY, PYTHONPATH=bare(tmp_path)).stdout
    assert said.startswith("no: libbellwire.so.1 was not found") and "BELLWIRE_LIBRARY" in said and "_lib" in said


OTHERS = {
    "an old one": (
        'const char *bw_version(void) { return "0.0.9"; } int bw_abi_version(void) { return 0; }',
        r"no: .* is version 0\.0\.9 \(ABI 0\); this package needs ABI 1 or newer: update the library",
    ),
    "a newer one": (
        'const char *bw_version(void) { return "7.0.0"; } int bw_abi_version(void) { return 9; }',
        r"7\.0\.0 .*",
    ),
    "another one": ("int main_of_something_else(void) { return 0; }", r"no: .* is not a libbellwire\.so\.1: .*"),
}


@pytest.mark.parametrize("which", OTHERS)
def test_the_abi_version_is_checked_in_words(which: str, tmp_path: Path) -> None:
    source, expected = OTHERS[which]
    other = tmp_path / "other.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", other], input=source, text=True, check=True)
    said = python(SAY, BELLWIRE_LIBRARY=str(other)).stdout
    assert re.match(expected, said), said


def test_a_function_that_a_library_does_not_have_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.so"
    source = OTHERS["a newer one"][0]
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", other], input=source, text=True, check=True)
    program = """
import bellwire
try:
    bellwire.qr.terminal("t")
except bellwire.UnsupportedError as error:
    print(error)
"""
    assert "has no bw_qr_terminal: update the library" in python(program, BELLWIRE_LIBRARY=str(other)).stdout


def test_what_is_no_library_is_named(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    assert "cannot be loaded" in python(SAY, BELLWIRE_LIBRARY=str(text)).stdout
