"""The pages of Sources/Library/CABI/Bellwire.docc say only what is so: every block of code in them is compiled or run.

The rules by which a block is tested, by its language (one that is not here fails):

  c, cpp    with a `main`: a whole program, named by the comment in its first line, compiled and run in the scene of
            that name. With `/* given: PARAMETERS */` (C++: `// given: …`) in its first line: statements in a function
            that has these parameters, run with open handles where they take no more than these. Else declarations of a
            file. All are compiled without a warning, by gcc and clang.
  python    whole programs, named alike, run in their scenes; `# given: PARAMETERS` in the first line: statements of a
            function that has them. All pass `mypy --strict`.
  sh        all blocks of a page, in their order, are one script. A line that ends in "# until Ctrl-C" goes on until the
            page has ended; everything else has to succeed.
  console   in the same script: each line after "$ " is a command, the lines after it are what it prints, on either
            stream; "…" stands for any text.
  cmake     the CMakeLists.txt of a project whose app.c is a program that prints the version; built in every linkage.
  json      is JSON. What is a frame (has a "type") has the members that frames of that type have on the wire.
  ini       a drop-in for a unit of bindings/systemd, named by its first line; `systemd-analyze verify` is silent.
  nginx, caddyfile, toml
            configurations of proxies in front of a relay: test_relay_proxies.py runs the first two, and reads the third.

The script of a page runs in a network of its own: loopback, which has the address 192.168.1.5 as well, and the names of
example.org there. So commands are tested as they stand.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from conftest import compile_c
from hosts import Host, Refused
from peers import FakeDesktop, FakePhone, Peer, peer_program
from programs import PACKAGE, PYTHON, ROOT, STAGE, Program

Start = Callable[..., Program]

CATALOGUE = ROOT / "Sources/Library/CABI/Bellwire.docc"
HEADER = (STAGE / "include/bellwire.h").read_text()
FUNCTIONS = set(re.findall(r"^BW_API\b[^;]*?\b(bw_\w+)\(", HEADER, re.MULTILINE))


@dataclass(frozen=True)
class Block:
    page: str
    #: The heading above it.
    section: str
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
    section = ""
    lines: list[str] = []
    begin = 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"^\s*```(.*)$", line)
        if fence and language is None:
            language, lines, begin = fence.group(1).strip(), [], number + 1
        elif fence and language is not None:
            yield Block(page.stem, section, begin, language, "\n".join(lines) + "\n")
            language = None
        elif language is not None:
            lines.append(line)
        elif line.startswith("## "):
            section = line.removeprefix("## ")
    assert language is None, f"{page.name}: a block is not closed"


PAGES = sorted(CATALOGUE.glob("*.md"))
#: Pages for contributors: which tests break what, and which test each promise.
QUALITY = sorted((ROOT / "Tests/Support/Quality").glob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
LANGUAGES = {"c", "cpp", "python", "sh", "console", "cmake", "json", "ini", "nginx", "caddyfile", "toml"}


def is_whole(block: Block) -> bool:
    """Whether it is a program of C or C++, and not a part of one."""
    return re.search(r"\bmain\(", block.text) is not None


def of(*languages: str) -> list[ParameterSet]:
    return [pytest.param(block, id=block.id) for block in BLOCKS if block.language in languages]


# MARK: The pages


def test_every_block_is_in_a_language_that_is_tested() -> None:
    unknown = [block.id for block in BLOCKS if block.language not in LANGUAGES]
    assert not unknown, f"these are tested by nothing: {unknown}"


def test_docc_makes_the_catalogue_without_a_word(tmp_path: Path) -> None:
    """No warning, no broken link, no missing image; every page is reached from the first one."""
    docc = shutil.which("docc")
    assert docc, "docc is not on the PATH; it comes with Swift"
    command = [docc, "convert", str(CATALOGUE), "--output-path", str(tmp_path / "made.doccarchive")]
    command += [
        "--warnings-as-errors",
        "--fallback-display-name",
        "Bellwire",
        "--fallback-bundle-identifier",
        "bellwire",
    ]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
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


def test_the_table_of_modules_is_that_of_the_package() -> None:
    package = (ROOT / "Package.swift").read_text()
    modules = {
        name: {each for each in re.findall(r'"(\w+)"', uses) if not re.match(r"C[A-Z]", each) or each == "CABI"}
        for name, uses in re.findall(
            r'\.(?:executableT|t)arget\(\s*name: "(\w+)"(?:,\s*dependencies: \[(.*?)\])?', package, re.DOTALL
        )
        if name not in ("fuzz", "handover", "sessions", "TestSupport") and not (ROOT / "Sources/C" / name).is_dir()
    }
    page = (CATALOGUE / "Architecture.md").read_text().split("## Modules")[1].split("## Two threads")[0]
    rows = re.findall(r"^\| (\w+) \| (\w+) \|[^|]*\| ?([\w, ]*?) ?\|$", page, re.MULTILINE)[1:]
    assert {name: {each for each in uses.split(", ") if each} for _, name, uses in rows} == modules
    for floor, name, _ in rows:
        assert (ROOT / "Sources" / floor / name).is_dir(), f"{name} is not in {floor}"


def test_every_file_that_a_page_names_exists() -> None:
    assert QUALITY
    for page in [*PAGES, *QUALITY]:
        for name in re.findall(r"`((?:Sources|Tests|examples|bindings|include)/[\w./-]*)`", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_links_of_the_pages_about_quality_lead_to_files_and_sections_that_exist() -> None:
    for page in QUALITY:
        text = page.read_text()
        assert "<doc:" not in text, f"{page.name}: only DocC follows such a link"
        for target, section in re.findall(r"\]\(([^)#]+)(?:#([\w-]+))?\)", text):
            linked = page.parent / target
            assert linked.is_file(), f"{page.name}: {target}"
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            assert not section or section in [each.lower().replace(" ", "-") for each in headings], section


#: Where comments cite the pages of the wire: the page's name, a comma, and one or more sections in quotes.
CITING = ("Sources", "include", "Tests", "bindings", "examples")
CITATION = re.compile(r'\b(Wire\w*), ("[^"\n]+"(?: and "[^"\n]+")*)')


def test_citations_name_pages_and_sections_that_exist() -> None:
    """Everything that a comment cites about the wire is in these pages."""
    sections = {page.stem: set(re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)) for page in PAGES}
    outside = re.compile(r"\b(?:protocol|design|style)\.md\b")
    wrong: list[str] = []
    cited: set[tuple[str, str]] = set()
    for path in (path for folder in CITING for path in sorted((ROOT / folder).rglob("*"))):
        if path.suffix not in (".swift", ".h", ".c", ".cpp", ".py", ".pyi", ".sh", ".md", ".toml"):
            continue
        text = path.read_text()
        name = path.relative_to(ROOT)
        if found := outside.search(text):
            wrong.append(f"{name}: cites {found.group()}, which is not in the repository")
        # A citation may be wrapped in a comment.
        for page, quoted in CITATION.findall(re.sub(r"\s*\n\s*(?:///|//|#|\*)?\s*", " ", text)):
            for section in quoted.strip('"').split('" and "'):
                cited.add((page, section))
                if section not in sections.get(page, set()):
                    wrong.append(f'{name}: {page}, "{section}"')
    assert not wrong, "\n".join(wrong)
    assert len(cited) > 25


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
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("block", of("c", "cpp"))
def test_c_compiles_without_a_warning(block: Block, tmp_path: Path) -> None:
    compilers = {"c": ("gcc", "clang-14"), "cpp": ("g++", "clang++-14")}
    for compiler in compilers[block.language]:
        compile_block(block, tmp_path, compiler)


@pytest.mark.parametrize("standard", ["c++98", "c++11", "c++14", "c++17", "c++20"])
def test_the_header_is_as_clean_in_cpp_as_a_page_says(standard: str, tmp_path: Path) -> None:
    (tmp_path / "header.cpp").write_text("#include <bellwire.h>\nint main() { return bw_abi_version() == 0; }\n")
    for compiler in ("g++", "clang++-14"):
        command = [compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", *pkg_config("--cflags", "bellwire")]
        subprocess.run([*command, str(tmp_path / "header.cpp")], check=True)


# MARK: Whole programs


@dataclass(frozen=True)
class Scene:
    """What a whole program meets."""

    start: Start
    bellwire: Start
    relay: str
    folder: Path


def gets_a_push(scene: Scene, program: Path) -> None:
    """The program pairs with a desktop by the text of its code, is pushed to, prints that, and ends."""
    desktop = scene.bellwire("desktop", "--relay-url", scene.relay, "--stdin")
    code = desktop.line(r"^\{.*desktop-pairing.*").string
    running = scene.start(program, code)
    desktop.line("^Paired with")
    desktop.write("Tea\tis ready\n")
    running.line("Tea")
    assert running.wait() == 0, running.err.all


def goes_on_after_its_child(scene: Scene, program: Path) -> None:
    running = scene.start(program)
    running.line("^the child is refused, the parent continues: BW_OK$")
    assert running.wait() == 0


def pushes_beside_a_desktop(scene: Scene, *program: str | Path) -> list[str]:
    """The program pushes through the desktop that runs in the same home, and a paired device gets that."""
    desktop = scene.bellwire("desktop", "--relay-url", scene.relay)
    pair = scene.bellwire("pair", desktop.line(r"^\{.*desktop-pairing.*").string)
    assert pair.wait() == 0, pair.err.all
    running = scene.start(*program)
    assert running.wait() == 0, running.err.all
    listen = scene.bellwire("listen", "--once", "--timeout", "20")
    listen.line(r"  Hello  from (C|Python)$")
    return running.out.all


def pushes_in_c(scene: Scene, program: Path) -> None:
    assert pushes_beside_a_desktop(scene, program) == ["BW_OK"]


SCENES: dict[str, Callable[[Scene, Path], None]] = {
    "hello.c": pushes_in_c,
    "listener.c": gets_a_push,
    "glib.c": gets_a_push,
    "qt.cpp": gets_a_push,
    "listener.cpp": gets_a_push,
    "fork.c": goes_on_after_its_child,
}


@pytest.mark.parametrize(
    "block",
    [pytest.param(block, id=block.id) for block in BLOCKS if block.language in ("c", "cpp") and is_whole(block)],
)
def test_a_whole_program_does_what_it_is_for(
    block: Block, start: Start, bellwire: Start, relay: str, tmp_path: Path
) -> None:
    assert block.name in SCENES, f"{block.id}: no scene is named {block.name}"
    program = compile_block(block, tmp_path, "g++" if block.language == "cpp" else "gcc")
    SCENES[block.name](Scene(start, bellwire, relay, tmp_path), program)


#: What a fragment is called with, by what it is given. One that wants something else is compiled alone.
GIVEN = {
    "bw_device *device": "device",
    "bw_desktop *desktop": "desktop",
    "const char *event_json": '"{\\"data\\":{\\"body\\":\\"Tea\\",\\"createdAt\\":7}}"',
    "int other": "ends[0]",
    "void (*report)(const char *)": "report",
}
CALLER = """
#include <unistd.h>
static void report(const char *problem) { fprintf(stderr, "%s\\n", problem); }
int main(void) {
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "!", 1) != 1) return 2;
    if (bw_device_open("{\\"state_dir\\":\\":memory:\\",\\"alerts\\":\\"host\\"}", &device) < 0) return 3;
    const char *options = "{\\"state_dir\\":\\":memory:\\",\\"relay\\":{\\"listen\\":\\"127.0.0.1:0\\"}}";
    if (bw_desktop_open(options, &desktop) < 0) return 4;
    if (bw_device_start(device) < 0 || bw_desktop_start(desktop) < 0 || bw_device_quit(device) < 0) return 5;
    if (fragment(GIVEN) != 0) return 6;
    char *error = bw_last_error();
    if (error) report(error);
    bw_free(error);
    return bw_device_close(device) < 0 || bw_desktop_close(desktop) < 0;
}
"""


def arguments_of(block: Block) -> str | None:
    """What it is called with; None where it cannot be run by itself."""
    wanted = (block.given or "").split(", ")
    return ", ".join(GIVEN[each] for each in wanted) if all(each in GIVEN for each in wanted) else None


@pytest.mark.parametrize(
    "block", [pytest.param(b, id=b.id) for b in BLOCKS if b.language == "c" and b.given and arguments_of(b)]
)
def test_statements_in_c_run_without_an_error(block: Block, tmp_path: Path) -> None:
    """With handles that are open and started, none of the calls refuses what the page gives it."""
    (tmp_path / "block.c").write_text(source_of(block) + CALLER.replace("GIVEN", arguments_of(block) or ""))
    flags = pkg_config("--cflags", "--libs", "bellwire")
    command = ["gcc", "-std=gnu99", str(tmp_path / "block.c"), "-o", str(tmp_path / "block"), *flags]
    subprocess.run([*command, f"-Wl,-rpath,{STAGE / 'lib'}"], check=True)
    done = subprocess.run([tmp_path / "block"], cwd=tmp_path, capture_output=True, check=False, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    # Only a block that is about a failure has one.
    assert ("bw_last_error" in block.text) == bool(done.stderr), done.stderr


@pytest.mark.parametrize("block", of("cmake"))
def test_cmake_builds_both_linkages(block: Block, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(block.text)
    (tmp_path / "app.c").write_text(
        "#include <bellwire.h>\n#include <stdio.h>\nint main(void) { return puts(bw_version()) < 0; }\n"
    )
    steps = (["cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={STAGE}"], ["cmake", "--build", "made"])
    for step in steps:
        done = subprocess.run(step, cwd=tmp_path, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    for program in ("app", "app-static"):
        said = subprocess.run([tmp_path / "made" / program], check=True, capture_output=True, text=True).stdout
        assert said.strip() == re.findall(r'BW_VERSION "(.*)"', HEADER)[0]


@pytest.mark.parametrize("block", of("ini"))
def test_drop_ins_are_what_systemd_takes(block: Block, tmp_path: Path) -> None:
    name = re.match(r"^# (bellwire-\w+\.service)\.d/override\.conf$", block.first)
    assert name, f"{block.id}: the comment in its first line has to say of which unit it is"
    unit = (
        (ROOT / f"bindings/systemd/{name.group(1)}.in").read_text().replace("@BELLWIRE@", str(STAGE / "bin/bellwire"))
    )
    (tmp_path / name.group(1)).write_text(unit)
    (tmp_path / f"{name.group(1)}.d").mkdir()
    (tmp_path / f"{name.group(1)}.d/override.conf").write_text(block.text)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / name.group(1))]
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr


def test_the_limits_of_the_relay_are_those_of_its_help(bellwire: Start) -> None:
    help_page = bellwire("relay", "--help")
    assert help_page.wait() == 0
    text = " ".join(" ".join(help_page.out.all).split())
    defaults = {}
    for option in re.split(r" (?=(?:-\w, )?--[a-z])", text):
        if found := re.match(r"(--[\w-]+) N .*Default: (\d+)\.", option):
            defaults[found.group(1)] = found.group(2)
    table = re.findall(r"^\| `(--[\w-]+)` \| (\d+) \|", (CATALOGUE / "RunningARelay.md").read_text(), re.MULTILINE)
    assert dict(table) == defaults


# MARK: Python


def python_of(block: Block) -> str:
    """The block as a module: statements become those of a function."""
    if block.given is None:
        return block.text
    body = "".join(f"    {line}\n" if line else "\n" for line in block.text.splitlines())
    return f"import bellwire\n\n\ndef fragment({block.given}) -> None:\n{body}"


def test_python_is_typed(tmp_path: Path) -> None:
    """All blocks pass mypy --strict; a fault is told by its page and line."""
    names = ["peer.py"]
    (tmp_path / "peer.py").write_text(peer_program())
    for block in BLOCKS:
        if block.language == "python" and block.name != "peer.py":
            names.append(f"{block.page}_{block.line}.py")
            (tmp_path / names[-1]).write_text(python_of(block))
    environment = {**os.environ, "MYPYPATH": PACKAGE["PYTHONPATH"]}
    command = [sys.executable, "-m", "mypy", "--strict", *names]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def is_told_by_a_desk(scene: Scene, program: Path) -> None:
    """The program shows a code; a device that pairs by it is pushed to."""
    desk = scene.start(*PYTHON, program, home="desk")
    code = desk.line(r"^\{.*desktop-pairing.*").string
    desk.line("^True$")
    text = scene.folder / "code.txt"
    text.write_text(code)
    # One that stays: what ends with its push may end before the desktop hears of it.
    device = scene.start(
        compile_c(ROOT / "examples/print_pushes.c", scene.folder / "print_pushes"), text, home="device"
    )
    device.line("Welcome")
    desk.line("^1$")
    assert desk.wait() == 0, desk.err.all
    device.kill()


def gets_a_push_in_python(scene: Scene, program: Path) -> None:
    desktop = scene.bellwire("desktop", "--relay-url", scene.relay, "--stdin")
    code = desktop.line(r"^\{.*desktop-pairing.*").string
    running = scene.start(*PYTHON, program, code, home="python")
    desktop.line("^Paired with")
    if "await_online" in program.read_text():
        running.line("^0 unread$")
    desktop.write("Tea\tis ready\n")
    running.line("^Tea is ready$")
    assert running.wait() == 0, running.err.all


def pushes_in_python(scene: Scene, program: Path) -> None:
    assert pushes_beside_a_desktop(scene, *PYTHON, program) == ["devices that have it: 0"]


#: peer.py has a scene among the frames.
PYTHON_SCENES: dict[str, Callable[[Scene, Path], None]] = {
    "hello.py": pushes_in_python,
    "listener.py": gets_a_push_in_python,
    "alistener.py": gets_a_push_in_python,
    "desk.py": is_told_by_a_desk,
}


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, id=b.id) for b in BLOCKS if b.language == "python" and not b.given and b.name != "peer.py"],
)
def test_a_python_program_does_what_it_is_for(
    block: Block, start: Start, bellwire: Start, relay: str, tmp_path: Path
) -> None:
    assert block.name in PYTHON_SCENES, f"{block.id}: no scene is named {block.name}"
    program = tmp_path / block.name
    program.write_text(block.text)
    PYTHON_SCENES[block.name](Scene(start, bellwire, relay, tmp_path), program)


def test_exceptions_of_python_are_all_explained() -> None:
    script = """if True:
        import builtins
        from bellwire import errors
        for kind in errors.BellwireError.__subclasses__():
            also = [base.__name__ for base in kind.__bases__ if base.__name__ in vars(builtins)]
            print(kind.__name__, "BW_" + kind.default_status.name, *also)
    """
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **PACKAGE}, capture_output=True, check=True, text=True
    )
    table = re.findall(
        r"^\| `(\w+Error)` \| `(BW_E_\w+)` \| (?:`(\w+)` )?\|$", (CATALOGUE / "Python.md").read_text(), re.MULTILINE
    )
    assert sorted(" ".join(filter(None, row)) for row in table) == sorted(done.stdout.splitlines())


# MARK: Shell

#: A network of its own, and names in it. Takes the script to run.
ISOLATED = """
set -euo pipefail
ip link set lo up
ip address add 192.168.1.5/24 dev lo
mount --bind "$1" /etc/hosts
exec bash "$2"
"""

#: Before a page's own lines. What goes on until the page has ended has said something before the next line runs.
PROLOGUE = """
set -euo pipefail
stays=() others=()
ready() {
    for _ in $(seq 500); do
        grep -qs "$4" "$2" && return 0
        kill -0 "$1" 2> /dev/null || break
        sleep 0.02
    done
    echo "it says nothing like $4: $3" >&2
    cat "$2" >&2
    return 1
}
end() {
    local status=$?
    for each in "${stays[@]}" "${others[@]}"; do kill "$each" 2> /dev/null || true; done
    for each in "${others[@]}"; do wait "$each" || true; done # servers that are not ours: any status
    for each in "${stays[@]}"; do
        wait "$each" || { code=$?; [ $code -eq 143 ] || echo "ended with $code instead of being stopped" >&2; }
    done
    exit $status
}
trap end EXIT
"""


def script_of(blocks: list[Block], folder: Path) -> tuple[str, list[tuple[Block, str, str]]]:
    """The script of a page, and for each command of a console: what it should print."""
    script = PROLOGUE
    expected: list[tuple[Block, str, str]] = []
    for block in blocks:
        script += f"echo '### {block.id}'\n"
        if block.language == "sh":
            for number, line in enumerate(block.text.replace("\\\n", "").splitlines()):
                if found := re.match(r"^(.*?\S)\s*# until Ctrl-C$", line):
                    out = folder / f"{block.page}.{block.line + number}.out"
                    command = found.group(1)
                    # The lines that follow read the code that a desktop writes.
                    written = re.search(r"^bellwire desktop\b.* > (\S+)$", command)
                    ours = "others" if command.startswith("nats-server ") else "stays"
                    script += f"(exec {command}) > {out} 2>&1 & {ours}+=($!)\n"
                    file, said = (written.group(1), "^{") if written else (out, ".")
                    script += f"ready $! {file} {shlex.quote(command)} {shlex.quote(said)}\n"
                else:
                    script += line + "\n"
            continue
        script += "set +e\n"
        for said in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, output = said.partition("\n")
            script += f"{{ {command}\n}} > {folder / f'console.{len(expected)}'} 2>&1\n"
            expected.append((block, command, output.rstrip("\n")))
        script += "set -e\n"
    return script, expected


def agrees(said: str, expected: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in expected.split("…")), said) is not None


@pytest.mark.parametrize(
    "page",
    [page.stem for page in PAGES if any(b.page == page.stem and b.language in ("sh", "console") for b in BLOCKS)],
)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    assert os.geteuid() == 0, "a network of its own takes root"
    home, results = tmp_path / "home", tmp_path / "results"
    home.mkdir()
    results.mkdir()
    script, expected = script_of([b for b in BLOCKS if b.page == page and b.language in ("sh", "console")], results)
    (tmp_path / "page.sh").write_text(script)
    (tmp_path / "isolated.sh").write_text(ISOLATED)
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n192.168.1.5 relay.example.org\n")
    environment = {name: value for name, value in os.environ.items() if not re.match(r"XDG_|DBUS_|BELLWIRE", name)}
    if "python3 -m bellwire" in script:
        environment |= PACKAGE
    environment |= {
        "HOME": str(home),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{STAGE / 'bin'}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(STAGE / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(STAGE / "lib"),
    }
    # Whatever happens, nothing of it goes on when its first process has ended.
    isolation = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    done = subprocess.run(
        [*isolation, "bash", str(tmp_path / "isolated.sh"), str(tmp_path / "hosts"), str(tmp_path / "page.sh")],
        cwd=home,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=180,
        stdin=subprocess.DEVNULL,
    )
    said = "\n".join(f"{path.name}: {path.read_text()}" for path in sorted(results.iterdir()))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{said}"
    assert "instead of being stopped" not in done.stderr, done.stderr
    for number, (block, command, output) in enumerate(expected):
        found = (results / f"console.{number}").read_text().rstrip("\n")
        assert agrees(found, output), f"{block.id}: $ {command}\n{found}\ninstead of\n{output}"


# MARK: Frames


def json_blocks(page: str | None = None) -> list[Block]:
    return [block for block in BLOCKS if block.language == "json" and page in (None, block.page)]


def keys_of(value: object) -> object:
    """The members of an object and of its payload; who describes itself may say more or less."""
    if not isinstance(value, dict):
        return None
    return {key: None if key == "deviceInfo" else keys_of(member) for key, member in value.items()}


def kind_of(frame: dict[str, Any]) -> tuple[object, ...]:
    """Frames of one kind have the same members: a name, a refusal, an `auth` and random bytes make another kind."""
    inner = frame["payload"] if isinstance(frame.get("payload"), dict) else {}
    proof = inner.get("bw") or frame.get("bw") or {}
    return frame.get("type"), inner.get("event"), "error" in inner, "auth" in inner, "random" in proof


def names_in(value: object) -> Iterator[str]:
    """All member names of an object, however deep."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from names_in(member)
    elif isinstance(value, list):
        for element in value:
            yield from names_in(element)


@pytest.mark.parametrize("block", of("json"))
def test_json_is_json(block: Block) -> None:
    json.loads(block.text)


def a_point() -> str:
    """A share of nobody's, as CPace takes one."""
    point = ctypes.create_string_buffer(32)
    ctypes.CDLL("libsodium.so.23").crypto_core_ristretto255_random(point)
    return base64.urlsafe_b64encode(point.raw).rstrip(b"=").decode()


def test_frames_of_the_pages_are_those_that_travel(start: Start, bellwire: Start, tmp_path: Path) -> None:
    """The page of Python pairs, is pushed to and asks; peers of others meet what a relay says."""
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin")
    relay = desktop.line(r"ws://\S+").group()
    code = desktop.line(r"^\{.*desktop-pairing.*").string
    seen = [json.loads(code)]
    device = bellwire("pair", "--show", "--relay-url", relay, home="device")
    seen.append(json.loads(device.line(r"^\{.*device-pairing.*").string))

    (tmp_path / "peer.py").write_text(peer_program())
    page = start(sys.executable, tmp_path / "peer.py", code)
    compare = json.loads(page.line('"compare"').string)["compare"]
    desktop.line("^Paired with A page of Python")
    desktop.line(f"End-to-end encrypted. Compare with the device: {compare}")
    page.line(r'"opened".*"count"')
    for number in range(3):
        desktop.write(f"Push {number}\n")
        page.line(rf'"opened".*"Push {number}".*"pushSeq": {number + 1}')
        page.line(rf'"sealed".*"bellwire:ack".*{number + 1}')
    # All of them were acknowledged: nothing waits for this device any more.
    desktop.line("Pushed to 1 of 1"), desktop.line("Pushed to 1 of 1"), desktop.line("Pushed to 1 of 1")
    said = [json.loads(line) for line in page.out.all]
    seen += [each["frame"] for each in said if "frame" in each]
    seen += [
        {"from": "", "to": "", "epoch": 1, "seq": 1, "timestamp": 1, "body": each["frame"]}
        for each in said
        if each.get("way") in ("sealed", "opened")
    ]

    first, second = Peer(relay, "phone-1"), Peer(relay, "phone-2")
    first.message("phone-2", {"type": "bellwire:hello"})
    second.receive("message")
    second.message("phone-1", {"type": "bellwire:hello"})
    first.receive("message")
    second.close()
    status = first.receive("peer-status", status="offline")
    first.message("phone-2", {"type": "bellwire:hello"})
    seen += [status, first.receive("peer-offline")]
    second = Peer(relay, "phone-2")
    seen += [second.receive("offline-message"), {"type": "ping"}]
    first.send({"type": "ping"})
    seen.append(first.receive("pong"))
    stranger = Peer(relay)
    stranger.message("phone-1", {})
    seen.append(stranger.receive("error"))
    # Where digits are typed, each side says twice what the other one says: who does not know the code sees half of it.
    alias = Peer(relay, "pairing-code:123456")
    bellwire("pair", "--code", "123456-789012", "--relay-url", relay, home="typing")
    share = alias.receive("message")
    step = {**share["payload"]["payload"], "step": 2, "did": json.loads(code)["pcPeerId"], "share": a_point()}
    alias.message(share["from"], {"type": "bellwire:pake", "payload": step})
    seen += [share["payload"], alias.payload("bellwire:pake")]
    for each in (first, second, stranger, alias):
        each.close()

    seen += [
        frame["payload"] for frame in seen if isinstance(frame.get("payload"), dict) and "type" in frame["payload"]
    ]
    travelled = [keys_of(frame) for frame in seen]
    kinds = {kind_of(frame) for frame in seen}
    names = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
    for block in (
        block
        for page in ("Wire", "WirePairing", "WireSealing", "WireSessions", "WireMessages")
        for block in json_blocks(page)
    ):
        frame = json.loads(block.text)
        if kind_of(frame) in kinds or "body" in frame:
            assert keys_of(frame) in travelled, f"{block.id}: no frame with these members was seen"
            continue
        # What this scene does not bring about has at least the names that the library knows.
        for name in [*names_in(frame), frame["type"]]:
            assert f'"{name}"' in names, f"{block.id}: the library knows no {name}"


def test_an_error_looks_as_the_page_about_errors_shows_it(start: Start, bellwire: Start, tmp_path: Path) -> None:
    """Of a state directory that is in use, which is the example there."""
    (block,) = json_blocks("Errors")
    shown = json.loads(block.text)
    place = tmp_path / "home/bellwire/desktop"
    bellwire("desktop", "--relay", "127.0.0.1:0").line("ws://")
    # The command line has names of its own for options.
    with pytest.raises(Refused) as refused:
        Host(start, "desktop", {"state_dir": str(place), "shared": False})
    assert refused.value.error == json.loads(block.text.replace(shown["detail"]["path"], str(place)))


def deployed(section: str, page: str = "WireDeployedPeers") -> list[dict[str, Any]]:
    """The frames of a section of a page about deployed peers."""
    frames = [json.loads(block.text) for block in json_blocks(page) if block.section == section]
    assert frames, section
    return frames


def test_what_deployed_desktops_push_is_taken(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """Each form of the page is a push like others."""
    pair = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pair.wait() == 0
    frames = [frame for frame in deployed("What a device accepts") if ":command:" not in frame["type"]]
    assert len(frames) == 2
    listen = bellwire("listen", "--count", str(len(frames)), "--json")
    fake_desktop.accept()
    for frame in frames:
        fake_desktop.message(frame)
        push = listen.event("notification.received")
        assert (push["data"]["title"], push["data"]["body"], push["data"]["priority"]) == ("Tea", "is ready", "urgent")


def test_requests_to_a_device_are_answered_as_the_page_shows(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """Each request of the page with its answer, and the one that is a push."""
    pair = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pair.wait() == 0
    listen = bellwire("listen", "--count", "1", "--json")
    fake_desktop.accept()
    push, stored, other, refused = deployed("Requests to a device", "WireDeployedRequests")
    fake_desktop.message(other)
    assert fake_desktop.payload(refused["type"]) == refused
    fake_desktop.message(push)
    assert fake_desktop.payload(stored["type"]) == stored
    data = listen.event("notification.received")["data"]
    assert (data["id"], data["title"], data["priority"]) == (push["payload"]["id"], "Tea", "urgent")
    assert listen.wait() == 0


def test_a_heartbeat_is_answered_as_the_page_shows(bellwire: Start, relay: str) -> None:
    heartbeat, answer = deployed("Heartbeats", "WireDeployedRequests")
    did = "did:key:zAndroid.Phone-1"
    desktop = bellwire("desktop", "--relay-url", relay, "--json", "--pair", "--accept")
    phone = FakePhone(relay, "android", did)
    phone.pair(desktop.event("offer")["data"]["payload"])
    desktop.event("pairing.changed", state="paired")
    phone.message(phone.desktop, heartbeat | {"payload": json.dumps(heartbeat["payload"])})
    found = phone.payload(answer["type"])
    assert found.keys() == answer.keys()
    assert json.loads(found["payload"]).keys() == json.loads(answer["payload"]).keys()
    phone.message(phone.desktop, heartbeat)
    assert phone.payload(answer["type"])["payload"].keys() == heartbeat["payload"].keys()
    phone.close()
    assert desktop.end() == 0


def test_a_history_of_deployed_desktops_is_read(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """The rows of a database on the page: one is read, one is skipped."""
    (frame,) = [frame for frame in deployed("What a device accepts") if ":command:" in frame["type"]]
    pair = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pair.wait() == 0
    program = bellwire("history", "--json")
    fake_desktop.accept()
    request = fake_desktop.payload("chainlesschain:command:request")["payload"]
    frame["payload"]["id"] = request["id"]
    fake_desktop.message(frame)
    assert fake_desktop.answer({"success": True, "count": 0})["method"] == "notification.getUnreadCount"
    assert program.wait() == 0, program.err.all
    answer = json.loads(program.out.all[-1])
    (row,) = answer["notifications"]
    assert (row["id"], row["priority"], row["read"], row["createdAt"], row["data"]) == (
        "n-7", "high", True, 5, {"cup": "2"},
    )  # fmt: skip
    assert answer["skipped"] == 1


@pytest.mark.parametrize(("section", "platform"), [("iOS", "ios"), ("Android", "android")])
def test_deployed_phones_get_what_the_page_shows(bellwire: Start, relay: str, section: str, platform: str) -> None:
    """Their requests on the page, each with its answer, and a push."""
    frames = deployed(section)
    did = re.search(r"did:key:[\w.-]+", json.dumps(frames))
    assert did
    desktop = bellwire("desktop", "--relay-url", relay, "--json", "--stdin", "--pair", "--accept")
    phone = FakePhone(relay, platform, did.group())
    phone.pair(desktop.event("offer")["data"]["payload"])
    desktop.event("pairing.changed", state="paired")

    def opened(frame: dict[str, Any]) -> dict[str, Any]:
        """With what a text holds, and without ids, times and messages, which are different each time."""
        inner = frame["payload"]
        content = json.loads(inner) if isinstance(inner, str) else inner
        error = content.get("error")
        for fields in (content.get("params", content), error if isinstance(error, dict) else content):
            for name in ("notificationId", "timestamp", "message", "error"):
                if isinstance(fields.get(name), (int, str)):
                    fields[name] = type(fields[name])
        return {"type": frame["type"], "form": type(inner), "payload": content}

    for frame in frames:
        if frame["type"] == "chainlesschain:command:request":
            phone.message(phone.desktop, frame)
            continue
        if frame["type"] != "chainlesschain:command:response":
            desktop.write(json.dumps({"title": "Tea", "body": "is ready", "data": {"cup": 2}}) + "\n")
        assert opened(phone.payload(frame["type"])) == opened(frame)
    phone.close()
    assert desktop.end() == 0


def test_what_deployed_relays_say_disturbs_nobody(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """The frames of the page, between two pushes."""
    pair = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pair.wait() == 0
    listen = bellwire("listen", "--count", "2", "--json")
    fake_desktop.accept()
    fake_desktop.push(1)
    listen.event("notification.received", id="notif-1")
    blocks = json_blocks("WireDeployedRelays")
    assert blocks
    for block in blocks:
        fake_desktop.send(json.loads(block.text))
    fake_desktop.push(2)
    listen.event("notification.received", id="notif-2")
    assert listen.wait() == 0


def test_payloads_of_push_services_become_what_the_page_says(start: Start, tmp_path: Path) -> None:
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "follow_system": False})
    blocks = json_blocks("WirePushServices")
    assert blocks
    for block in blocks:
        shown = json.loads(block.text)
        result = device.call("bw_device_receive", shown["service"], shown["payload"])
        assert result == shown["result"], block.id
    device.close()


def test_refusals_of_the_relay_are_all_explained() -> None:
    source = (ROOT / "Sources/Roles/Relay/Frames/RelayFrame.swift").read_text()
    codes = set(re.findall(r'case \.\w+: "([a-z_]+)"$', source, re.MULTILINE))
    # A connection can also end by what it sends, before a frame is complete.
    transport = (ROOT / "Sources/Network/Transport/TransportError.swift").read_text()
    codes |= set(re.findall(r'Self\("(unfinished_message|receive_budget)"\)', transport))
    assert codes
    rows = re.findall(r"^\| (.*?) \|", (CATALOGUE / "Wire.md").read_text().split("## Refusals")[1], re.MULTILINE)
    assert set(re.findall(r"`([a-z_]+)`", "".join(rows))) == codes | set(re.findall(r'case \.\w+: "(\w+)"', source))


def test_reasons_and_problems_are_all_explained() -> None:
    page = (CATALOGUE / "Errors.md").read_text()
    source = (ROOT / "Sources/Foundations/Wire/PairingReason.swift").read_text()
    reasons = set(re.findall(r'case \w+ = "(\w+)"', source)) | set(
        re.findall(r"^    case (\w+)$", source, re.MULTILINE)
    )
    assert (
        set(re.findall(r"^\| `(\w+)` \|", page.split("When pairing fails")[1].split("## ")[0], re.MULTILINE)) == reasons
    )
    named = set(re.findall(r"^\| `(\w+)` \|", page.split("## Problems")[1], re.MULTILINE))
    said: set[str] = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        said |= set(re.findall(r'\bproblem\(\s*"(\w+)"', path.read_text()))
    assert said | {"events_dropped"} <= named, said - named
