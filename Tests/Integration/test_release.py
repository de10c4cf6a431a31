"""The gate of a release finds what would break programs that were compiled with an earlier one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import ROOT

HEADER = (ROOT / "include/bellwire.h").read_text()
FUNCTIONS = re.findall(r"^BW_API [^;]*?\b(bw_\w+)\(", HEADER, re.MULTILINE)


class Checkout:
    """A repository with the gate, and a stage whose library has the names of the functions alone."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.stage = directory / "stage"
        for name in ("Tests/release.sh", "Tests/ABI/interface.py", "Tests/ABI/interface.txt"):
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, directory / name)
        self.header(HEADER)
        self.library(self.stage, FUNCTIONS)
        self.git("init", "--quiet")
        self.git("add", "-A")
        self.git("-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "A release")

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.directory, check=True, capture_output=True, text=True
        ).stdout.strip()

    def header(self, text: str) -> None:
        for path in (self.directory / "include", self.stage / "include"):
            path.mkdir(parents=True, exist_ok=True)
            (path / "bellwire.h").write_text(text)

    def library(self, stage: Path, functions: list[str], type_: str = "int") -> None:
        path = stage / "lib/libbellwire.so.1"
        path.parent.mkdir(parents=True, exist_ok=True)
        code = "".join(f"int {name}({type_} value) {{ return value != 0; }}\n" for name in functions)
        command = ["gcc", "-g", "-shared", "-fPIC", "-x", "c", "-", "-Wl,-soname,libbellwire.so.1", "-o", str(path)]
        subprocess.run(command, input=code, check=True, text=True)

    def release(self) -> Path:
        """Tags the last commit; gives where the gate keeps the build of it."""
        self.git("tag", "v0.1.0")
        return self.directory / ".build/compatibility" / self.git("rev-parse", "HEAD") / "build/stage"

    def gate(self, *arguments: str) -> tuple[int, str]:
        command = [str(self.directory / "Tests/release.sh"), "--stage", str(self.stage), *arguments]
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_list_that_is_kept_is_that_of_the_header() -> None:
    command = ["python3", str(ROOT / "Tests/ABI/interface.py"), str(ROOT / "include/bellwire.h")]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert listed == (ROOT / "Tests/ABI/interface.txt").read_text()
    named = set(re.findall(r"\b(bw_\w+)\(", listed))
    assert named == set(FUNCTIONS) and len(FUNCTIONS) > 150
    numbers = re.findall(r"^    (BW_\w+) = -?\d+", HEADER, re.MULTILINE)
    assert len(numbers) > 20 and all(re.search(rf": {number} = ", listed) for number in numbers)


def test_what_has_everything_passes(checkout: Checkout) -> None:
    status, said = checkout.gate("interface")
    assert status == 0 and said.endswith("1 passed, 0 failed\n"), said


CHANGES = {
    "a function that is gone": (r"BW_API char \*bw_last_error\(void\);", "", "Lost since"),
    "a function of another type": (
        r"BW_API int32_t bw_abi_version\(void\);",
        "BW_API int bw_abi_version(void);",
        "Lost",
    ),
    "a callback of another type": (
        r"typedef void \(\*bw_destroy\)\(void",
        "typedef int (*bw_destroy)(void",
        "Lost since",
    ),
    "a renumbered status": (r"BW_E_BUSY = -3", "BW_E_BUSY = -33", "Lost since"),
    "a status that is not in the list": (r"BW_E_LIMIT = -18", "BW_E_LIMIT = -18, BW_E_NEW = -19", "--record"),
    "a function that is not in the list": (
        r"BW_API void bw_free\(void \*pointer\);",
        "BW_API void bw_free(void *pointer);\nBW_API void bw_new(void);",
        "--record",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_the_header_is_found(change: str, checkout: Checkout) -> None:
    old, new, expected = CHANGES[change]
    changed, count = re.subn(old, new, HEADER)
    assert count == 1
    checkout.header(changed)
    checkout.library(checkout.stage, [*FUNCTIONS, "bw_new"])
    status, said = checkout.gate("interface")
    assert status == 1 and expected in said and said.endswith("0 passed, 1 failed\n"), said


def test_a_function_that_is_not_exported_is_found(checkout: Checkout) -> None:
    checkout.library(checkout.stage, [name for name in FUNCTIONS if name != "bw_free"])
    status, said = checkout.gate("interface")
    assert status == 1 and re.search(r"not exported:\n +bw_free\n", said), said


def test_recording_takes_what_was_added(checkout: Checkout) -> None:
    added = HEADER.replace("#ifdef __cplusplus\n}", "BW_API void bw_new(void);\n\n#ifdef __cplusplus\n}")
    checkout.header(added)
    checkout.library(checkout.stage, [*FUNCTIONS, "bw_new"])
    assert checkout.gate("interface")[0] == 1
    assert checkout.gate("--record")[0] == 0
    assert checkout.gate("interface")[0] == 0


def test_it_compares_with_the_last_tag(checkout: Checkout) -> None:
    old = checkout.release()
    checkout.library(old, FUNCTIONS)
    assert checkout.gate("interface")[0] == 0
    # Recorded, so that only the comparison with the tag is left to find it.
    checkout.header(HEADER.replace("BW_E_BUSY = -3,", "BW_E_BUSY = -33,"))
    checkout.gate("--record")
    status, said = checkout.gate("interface")
    assert status == 1 and "BW_E_BUSY = -3\n" in said, said


def test_additions_since_the_last_tag_take_a_new_abi_version(checkout: Checkout) -> None:
    checkout.library(checkout.release(), FUNCTIONS)
    added = HEADER.replace("#ifdef __cplusplus\n}", "BW_API void bw_new(void);\n\n#ifdef __cplusplus\n}")
    checkout.library(checkout.stage, [*FUNCTIONS, "bw_new"])
    checkout.header(added)
    checkout.gate("--record")
    status, said = checkout.gate("interface")
    assert status == 1 and "BW_ABI_VERSION" in said, said
    checkout.header(re.sub(r"(#define BW_ABI_VERSION) \d+", r"\1 99", added))
    assert checkout.gate("interface")[0] == 0


def test_abidiff_finds_what_headers_do_not_show(checkout: Checkout) -> None:
    """The library of the tag had a function that this one has no more, or with other parameters."""
    old = checkout.release()
    checkout.library(old, [*FUNCTIONS, "bw_undeclared"])
    status, said = checkout.gate("interface")
    assert status == 1 and "bw_undeclared" in said, said


def test_wrong_usage_is_code_2(checkout: Checkout) -> None:
    assert checkout.gate("symbols")[0] == 2
    assert checkout.gate("--against")[0] == 2
    status, said = checkout.gate("--against", "nothing", "interface")
    assert status == 1 and "no commit" in said, said
