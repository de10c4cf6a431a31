"""The manual pages of the C interface and the pages in Markdown, as they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_pages import broken_links
from programs import ROOT, STAGE

MANUAL = ROOT / "bindings/c/manual.py"
PAGES = ROOT / "bindings/c/pages.py"
HEADERS = [ROOT / "include/bellwire.h", ROOT / "include/bellwire_jansson.h"]


def run(*command: str | Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not check or done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done


# MARK: Manual pages


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of manuals with the pages of the headers."""
    folder = tmp_path_factory.mktemp("man")
    run(sys.executable, MANUAL, "--include", ROOT / "include", "--date", "2026-11-25", "--output", folder / "man3")
    return folder


def group_pages(manual: Path) -> list[Path]:
    return [page for page in sorted((manual / "man3").iterdir()) if not page.read_text().startswith(".so ")]


def declared() -> set[str]:
    """Functions, types, statuses and constants of the headers, without those that are internal."""
    found: set[str] = set()
    for header in HEADERS:
        code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        found |= set(re.findall(r"^BW_API [^;]*?\b(bw_\w+)\(", code, re.MULTILINE))
        found |= set(re.findall(r"^static inline [^{]*?\b(bwj_\w+)\(", code, re.MULTILINE))
        found |= set(re.findall(r"^typedef [^(;]*?\b(bw_\w+);", code, re.MULTILINE))
        found |= set(re.findall(r"^typedef [^;]*?\(\*(bwj?_\w+)\)", code, re.MULTILINE))
        found |= set(re.findall(r"^enum (bw_\w+)", code, re.MULTILINE)) | set(re.findall(r"\b(BW_[A-Z_]+) = ", code))
    methods = {name for name in found if name.startswith("bw_notification_")}
    found |= {name.replace("bw_", "bwj_", 1) for name in methods}
    return {name for name in found if name and not name.endswith("_")}


def test_every_name_of_the_headers_has_a_page(manual: Path) -> None:
    names = declared()
    assert len(names) > 240
    for name in ("bw_device_open", "bw_destroy", "BW_E_TIMEOUT", "bwj_take", "bwj_notification_send_async"):
        assert name in names
    missing = [name for name in sorted(names) if not (manual / f"man3/{name}.3").exists()]
    assert missing == []
    for page in (manual / "man3").iterdir():
        if target := re.match(r"^\.so (\S+)\n$", page.read_text()):
            assert (manual / target.group(1)).is_file(), page.name
    found = run("man", "-w", "-M", manual, "bw_device_open", "BW_E_TIMEOUT", "bwj_take").stdout.splitlines()
    assert found == [str(manual / f"man3/{page}.3") for page in ("bw_device", "bw_library", "bwj_json")]
    shown = run("man", "-M", manual, "bw_pairing_scan", MANWIDTH="100").stdout
    assert "Pairs with the desktop whose QR code contains qr_text" in shown


def test_the_pages_are_clean_for_two_formatters(manual: Path) -> None:
    for page in group_pages(manual):
        assert run("mandoc", "-T", "lint", "-W", "warning", page).stdout == "", page.name
        assert run("man", "--warnings=w", "-l", page, MANWIDTH="90").stderr == "", page.name


def letters(text: str) -> str:
    """A text without spaces, hyphens at line ends and backspaces."""
    return re.sub(r"\s+", "", re.sub(r".\x08", "", text))


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_no_word_of_the_header_is_lost(manual: Path, header: Path) -> None:
    """Each comment before a declaration stands in a page, in its order."""
    shown = [letters(run("mandoc", "-T", "utf8", "-O", "width=200", page).stdout) for page in group_pages(manual)]
    comments = re.findall(
        r"^/\*(?!\s?=)(.*?)\*/[ \t]*\n(?=BW_API|typedef|enum|#define BW_|static inline)",
        header.read_text(),
        re.S | re.M,
    )
    assert len(comments) > 20
    for comment in comments:
        comment = comment.split("/*")[-1]
        text = letters(re.sub(r"^ \*", "", comment, flags=re.MULTILINE))
        is_internal = text.startswith("NULLifoutofmemory;destroyhasrun")
        assert is_internal or any(text in page for page in shown), comment


def test_a_group_without_a_title_is_an_error(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "include", tmp_path / "include")
    header = tmp_path / "include/bellwire.h"
    rule = "=" * 112
    group = f"/* {rule}\n * Teapots\n * {rule[3:]} */\n\n/* Boils. Since 0.1. */\nBW_API bw_status bw_boil(void);\n\n"
    header.write_text(header.read_text().replace("#ifdef __cplusplus\n}", f"{group}#ifdef __cplusplus\n}}"))
    words = ["--include", tmp_path / "include", "--date", "2026-11-25", "--output", tmp_path / "man3"]
    done = run(sys.executable, MANUAL, *words, check=False)
    assert done.returncode != 0 and "bw_teapots" in done.stderr


# MARK: Pages


def test_links_of_the_pages_lead_somewhere(tmp_path: Path) -> None:
    run(sys.executable, PAGES, "--root", ROOT, "--output", tmp_path)
    assert broken_links(tmp_path) == []
    catalogue = ROOT / "Sources/Library/CABI/Bellwire.docc"
    assert {path.name for path in (tmp_path / "documentation").iterdir()} == {path.name for path in catalogue.iterdir()}
    # What the pages link is text of theirs: a link is no address.
    page = (tmp_path / "documentation/RunningADesktop.md").read_text()
    assert "(RelayForOthers.md#behind-a-proxy)" in page and "[Behind a proxy]" in page
    assert "(documentation/Changelog.md)" in (tmp_path / "README.md").read_text()


def test_code_in_pages_stays_as_it_is(tmp_path: Path) -> None:
    run(sys.executable, PAGES, "--root", ROOT, "--output", tmp_path)
    block = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
    for page in (ROOT / "Sources/Library/CABI/Bellwire.docc").glob("*.md"):
        made = (tmp_path / "documentation" / page.name).read_text()
        assert block.findall(made) == block.findall(page.read_text()), page.name


@pytest.mark.parametrize("link", ["<doc:Nowhere>", "<doc:Errors#Nothing-of-that>"])
def test_a_link_that_leads_nowhere_is_an_error(link: str, tmp_path: Path) -> None:
    catalogue = tmp_path / "Sources/Library/CABI/Bellwire.docc"
    shutil.copytree(ROOT / "Sources/Library/CABI/Bellwire.docc", catalogue)
    shutil.copy(ROOT / "README.md", tmp_path)
    (catalogue / "Errors.md").write_text((catalogue / "Errors.md").read_text() + f"\nSee {link}.\n")
    done = run(sys.executable, PAGES, "--root", tmp_path, "--output", tmp_path / "made", check=False)
    assert done.returncode != 0 and re.split("[:#>]", link)[1] in done.stderr


def test_the_build_has_made_them() -> None:
    """The tree that is installed: its pages are those of these sources."""
    assert (STAGE / "share/man/man3/bw_device_open.3").read_text() == ".so man3/bw_device.3\n"
    assert broken_links(STAGE / "share/doc/bellwire") == []
