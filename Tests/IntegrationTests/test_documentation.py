"""The pages of Sources/CABI/Bellwire.docc say only what is so: every block of code in them is compiled or run.

The rules by which a block is tested, by its language (one that is not here fails):

  c, cpp    with a `main`: a whole program, named by the comment in its first line, compiled and run in the scene of that
            name. With `/* given: PARAMETERS */` (C++: `// given: …`) in its first line: statements in a function that
            has these parameters. Else declarations of a file. All are compiled without a warning, by gcc and clang.
  python    whole programs, named alike, run in their scenes; `# given: PARAMETERS` in the first line: statements of a
            function that has them. All pass `mypy --strict`.
  sh        all blocks of a page, in their order, are one script. A line that ends in "# until Ctrl-C" goes on until the
            page has ended; everything else has to succeed.
  console   in the same script: each line after "$ " is a command, the lines after it are what it prints, on either
            stream; "…" stands for any text.
  cmake     the CMakeLists.txt of a project whose app.c is a program that prints the version; built in every linkage.
  json      is JSON. What is a frame (has a "type") has the members that frames of that type have on the wire.
  ini       a unit of systemd, named by the comment in its first line: `systemd-analyze verify` has nothing to say.

The script of a page runs in a network of its own: loopback, which has the address 192.168.1.5 as well, and the names of
example.org there. So commands are tested as they stand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from programs import ROOT, STAGE, Program

Start = Callable[..., Program]

CATALOGUE = ROOT / "Sources/CABI/Bellwire.docc"
HEADER = (ROOT / "include/bellwire.h").read_text()
FUNCTIONS = set(re.findall(r"^BW_API\b[^;]*?\b(bw_\w+)\(", HEADER, re.MULTILINE))


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.page}:{self.line}:{self.language}"

    @property
    def first(self) -> str:
        return self.text.split("\n", 1)[0]

    @property
    def name(self) -> str | None:
        """What the comment in the first line calls it."""
        found = re.match(r"^(?:/\*|//|#) ([\w.@-]+\.\w+)\b", self.first)
        return found.group(1) if found else None

    @property
    def given(self) -> str | None:
        """The parameters of the function whose statements it is."""
        found = re.match(r"^(?:/\*|//|#) given: (.*?)(?: \*/)?$", self.first)
        return found.group(1) if found else None


def blocks_of(page: Path) -> Iterator[Block]:
    language: str | None = None
    lines: list[str] = []
    begin = 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"^\s*```(.*)$", line)
        if fence and language is None:
            language, lines, begin = fence.group(1).strip(), [], number + 1
        elif fence and language is not None:
            yield Block(page.stem, begin, language, "\n".join(lines) + "\n")
            language = None
        elif language is not None:
            lines.append(line)
    assert language is None, f"{page.name}: a block is not closed"


PAGES = sorted(CATALOGUE.glob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
LANGUAGES = {"c", "cpp", "python", "sh", "console", "cmake", "json", "ini"}


def of(*languages: str) -> list[object]:
    return [pytest.param(block, id=block.id) for block in BLOCKS if block.language in languages]


# MARK: The pages


def test_every_block_is_in_a_language_that_is_tested() -> None:
    unknown = [block.id for block in BLOCKS if block.language not in LANGUAGES]
    assert not unknown, f"these are tested by nothing: {unknown}"


def test_docc_makes_the_catalogue_without_a_word(tmp_path: Path) -> None:
    """No warning, no broken link, no missing image; every page is reached from the first one."""
    docc = shutil.which("docc")
    assert docc, "docc is not on the PATH; it comes with Swift"
    command = [docc, "convert", str(CATALOGUE), "--output-path", str(tmp_path / "made.doccarchive"), "--analyze"]
    command += ["--warnings-as-errors", "--fallback-display-name", "Bellwire", "--fallback-bundle-identifier", "bellwire"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip()
    assert done.returncode == 0 and not re.search(r"\b(warning|error|note):", said), said


def test_links_lead_to_pages_that_exist_and_every_page_is_listed() -> None:
    names = {page.stem for page in PAGES}
    for page in PAGES:
        for target in re.findall(r"<doc:([\w-]+)(?:#[\w-]+)?>", page.read_text()):
            assert target in names, f"{page.name}: <doc:{target}>"
    listed = set(re.findall(r"^- <doc:([\w-]+)>$", (CATALOGUE / "Bellwire.md").read_text(), re.MULTILINE))
    assert listed == names - {"Bellwire"}


def test_pages_have_a_length_that_can_be_read() -> None:
    for page in PAGES:
        assert len(page.read_text().splitlines()) <= 250, page.name


def test_every_function_that_a_page_names_is_in_the_header_and_the_other_way_round() -> None:
    types = set(re.findall(r"\b(bw_\w+)\b", HEADER))
    named: set[str] = set()
    for page in PAGES:
        # A name that stops at an underscore stands for those that begin so: `bw_alerts_on_…`.
        for name in re.findall(r"\bbw_\w+", page.read_text()):
            assert name in types, f"{page.name}: {name} is not in the header"
            named.add(name)
    missing = sorted(FUNCTIONS - named)
    assert not missing, f"no page names {missing}"


def test_every_status_is_explained() -> None:
    statuses = set(re.findall(r"^    (BW_(?:OK|QUEUED|E_\w+)) = ", HEADER, re.MULTILINE))
    explained = re.findall(r"^\| `(BW_\w+)` \|", (CATALOGUE / "Errors.md").read_text(), re.MULTILINE)
    assert sorted(explained) == sorted(statuses)


def test_the_table_of_rooms_is_that_of_the_package() -> None:
    package = (ROOT / "Package.swift").read_text()
    rooms = {
        name: {each for each in re.findall(r'"(\w+)"', uses) if not re.match(r"C[A-Z]", each) or each == "CABI"}
        for name, uses in re.findall(
            r'\.(?:executableT|t)arget\(\s*name: "(\w+)"(?:,\s*dependencies: \[(.*?)\])?', package, re.DOTALL
        )
        if not re.match(r"handover|C[A-Z]\w*[a-z]", name)
    }
    page = (CATALOGUE / "Architecture.md").read_text().split("## Rooms")[1].split("## Two threads")[0]
    table = {
        name: {each for each in uses.split(", ") if each}
        for name, uses in re.findall(r"^\| (\w+) \|[^|]*\| ?([\w, ]*?) ?\|$", page, re.MULTILINE)
        if name != "Room"
    }
    assert table == rooms


def test_every_file_that_a_page_names_exists() -> None:
    for page in PAGES:
        for name in re.findall(r"`((?:Sources|Tests|examples|bindings|include)/[\w./-]*)`", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_texts_of_errors_are_those_of_the_program() -> None:
    """In a table whose first column is "It says" the texts in code are found in the sources; … is any text."""
    sources = "\n".join(path.read_text() for path in sorted((ROOT / "Sources").rglob("*.swift")))
    # A text may be put together of two lines.
    sources = re.sub(r'"\s*\+\s*"', "", sources)
    quoted = 0
    for page in PAGES:
        for table in re.findall(r"^\| It says \|.*\n(?:\|.*\n)+", page.read_text(), re.MULTILINE):
            for row in table.splitlines()[2:]:
                for text in re.findall(r"`([^`]+)`", row.split(" | ")[0]):
                    for part in filter(None, (part.strip() for part in text.split("…"))):
                        assert part in sources.replace('\\"', '"'), f"{page.name}: {part!r}"
                        quoted += 1
    assert quoted


# MARK: C and C++

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
INCLUDES = ["bellwire.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"]


def pkg_config(*arguments: str) -> list[str]:
    environment = {**os.environ, "PKG_CONFIG_PATH": str(STAGE / "lib/pkgconfig")}
    return subprocess.run(
        ["pkg-config", *arguments], env=environment, check=True, capture_output=True, text=True
    ).stdout.split()


def packages_of(text: str) -> list[str]:
    """What a block includes beside the library."""
    wanted = {"glib": "glib-2.0", "QSocketNotifier": "Qt5Core", "jansson.h": "jansson"}
    return ["bellwire", *(package for include, package in wanted.items() if re.search(rf"#include <{include}", text))]


def source_of(block: Block) -> str:
    """The block as a file that can be compiled."""
    if is_whole(block):
        return block.text
    includes = "".join(f"#include <{name}>\n" for name in INCLUDES)
    if block.given is None:
        return f"{includes}{block.text}"
    own = "".join(f"{line}\n" for line in block.text.splitlines() if line.startswith("#include"))
    body = "".join(f"{line}\n" for line in block.text.splitlines() if not line.startswith("#include"))
    line = f'#line {block.line} "{block.page}.md"\n'
    return f"{includes}{own}int fragment({block.given});\nint fragment({block.given}) {{\n{line}{body}return 0;\n}}\n"


def is_whole(block: Block) -> bool:
    return re.search(r"\bmain\(", block.text) is not None


def compile_block(block: Block, folder: Path, compiler: str) -> Path:
    is_cpp = block.language == "cpp"
    source = folder / ("block.cpp" if is_cpp else "block.c")
    source.write_text(source_of(block))
    packages = packages_of(block.text)
    standard = ["-std=c++17", "-fPIC"] if is_cpp else ["-std=c99"]
    flags = pkg_config("--cflags", *packages)
    if not is_whole(block):
        flags += ["-c", "-Wno-unused-function"]
    program = folder / "block"
    libraries = [*pkg_config("--libs", *packages), f"-Wl,-rpath,{STAGE / 'lib'}"] if is_whole(block) else []
    # Headers of others are not ours to judge.
    flags = [re.sub(r"^-I(?!.*stage)", "-isystem", flag) for flag in flags]
    done = subprocess.run(
        [compiler, *standard, *WARNINGS, *flags, str(source), "-o", str(program), *libraries],
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("block", of("c", "cpp"))
def test_c_compiles_without_a_warning(block: Block, tmp_path: Path) -> None:
    compilers = {"c": ("gcc", "clang-14"), "cpp": ("g++", "clang++-14")}
    for compiler in compilers[block.language]:
        compile_block(block, tmp_path, compiler)
