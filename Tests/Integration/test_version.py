"""BW_VERSION in the header is the version. Everything that repeats it says the same."""

from __future__ import annotations

import re
import subprocess

from programs import BELLWIRE, ROOT, STAGE

HEADER = (ROOT / "include/bellwire.h").read_text()
(VERSION,) = re.findall(r'^#define BW_VERSION "(\d+\.\d+\.\d+)"$', HEADER, re.MULTILINE)

#: What repeats the version because it cannot read the header; the tests below compare each.
COPIES = {
    "Sources/System/Hosting/LibraryVersion.swift": r'^package let libraryVersion: StaticString = "(.*)"$',
    "bindings/python/src/bellwire/__init__.py": r'^__version__ = "(.*)"$',
}
#: Where the same number stands for something else: examples, and the version that the symbols began with.
OTHERS = {
    "include/bellwire.h",
    "Sources/Library/CABI/Bellwire.docc/Changelog.md",
    "Sources/Library/CABI/Bellwire.docc/WirePairing.md",
    "bindings/debian/symbols.sh",
}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def texts() -> dict[str, str]:
    """All files of the repository that are text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = {}
    for name in listed.split("\0"):
        path = ROOT / name
        # What fuzzers have kept is bytes.
        if name and path.is_file() and path.suffix != ".png" and "/Fuzz/Corpus/" not in name:
            found[name] = path.read_text()
    return found


def test_swift_and_python_have_the_version_of_the_header() -> None:
    for name, pattern in COPIES.items():
        assert re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE) == [VERSION], name


def test_nothing_else_repeats_the_version() -> None:
    bindings = [name for name in texts() if not name.startswith(("Tests/", "Sources/Library/CABI/Bellwire.docc/Wire"))]
    literal = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])")
    repeated = {name for name in bindings if literal.search((ROOT / name).read_text())}
    assert repeated - OTHERS == set(COPIES)


def test_what_was_built_has_the_version_of_the_header() -> None:
    said = subprocess.run([BELLWIRE, "--version"], check=True, capture_output=True, text=True).stdout
    assert VERSION in said.split()
    page = subprocess.run([BELLWIRE, "man"], check=True, capture_output=True, text=True).stdout
    assert VERSION in page.splitlines()[0]
    assert f"Version: {VERSION}" in (STAGE / "lib/pkgconfig/bellwire.pc").read_text()
    assert f'"{VERSION}"' in (STAGE / "lib/cmake/bellwire/bellwireConfigVersion.cmake").read_text()
    assert f'"{VERSION}"' in (STAGE / "include/bellwire.h").read_text()


def test_the_changelog_begins_with_the_version_and_goes_back_in_time() -> None:
    page = (ROOT / "Sources/Library/CABI/Bellwire.docc/Changelog.md").read_text()
    versions = re.findall(r"^## (\d+\.\d+\.\d+) \((?:not yet released|\d{4}-\d{2}-\d{2})\)$", page, re.MULTILINE)
    assert versions[0] == VERSION
    assert [numbers(each) for each in versions] == sorted({numbers(each) for each in versions}, reverse=True)


def test_nothing_asks_for_a_version_that_is_not_there() -> None:
    asked = [
        (name, each) for name, text in texts().items() for each in re.findall(r"find_package\(bellwire ([\d.]+)", text)
    ]
    asked += [("include/bellwire.h", each) for each in re.findall(r"\bSince (\d+\.\d+)\b", HEADER)]
    assert asked
    for name, each in asked:
        assert numbers(each) <= numbers(VERSION)[:2] and numbers(each)[0] == numbers(VERSION)[0], f"{name}: {each}"
