"""The examples: each compiles everywhere without a warning, and does what its first lines say, against our desktop.

They run as two builds: by pkg-config with the shared library, where the sanitizers look for leaks and for what is
undefined; and by CMake with the static library.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from peers import FakeDesktop, Object
from programs import ROOT, STAGE, Program, wait_until

Start = Callable[..., Program]

EXAMPLES = ROOT / "examples"
C_EXAMPLES = ["print_pushes", "reminder", "send", "history", "pair_code", "glib_loop", "jansson_host"]
ALL_EXAMPLES = [*C_EXAMPLES, "cpp_listener"]
# Those that stay and print what comes.
LISTENERS = ["glib_loop", "jansson_host", "cpp_listener"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
# What the library's own two threads hold at the very moment in which the process ends is no leak of an example's.
NO_LEAKS = """
#ifdef __cplusplus
extern "C" {
#endif
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void) { return "leak:s9Transport\\nleak:s5Store\\n"; }
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
#ifdef __cplusplus
}
#endif
"""


def succeeds(*command: str | Path) -> str:
    environment = {**os.environ, "PKG_CONFIG_PATH": str(STAGE / "lib/pkgconfig")}
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(str(part) for part in command)}\n{done.stdout}"
    return done.stdout


def all_at_once(run: Callable[[str], object]) -> None:
    """For each example, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, ALL_EXAMPLES))


def by_pkg_config(directory: Path, *flags: str, static: bool) -> Path:
    """Compiles as the first lines of each example say; gives the directory of the programs."""

    def build(name: str) -> None:
        also = {"glib_loop": ["glib-2.0"], "jansson_host": ["jansson"]}.get(name, [])
        found = succeeds(
            "pkg-config", *(["--static"] if static else []), "--cflags", "--libs", "bellwire", *also
        ).split()
        if not static:
            found.append(f"-Wl,-rpath,{STAGE / 'lib'}")
        source = EXAMPLES / f"{name}.cpp"
        compiler = ["g++", "-std=c++17"]
        if name in C_EXAMPLES:
            source = EXAMPLES / f"{name}.c"
            compiler = ["gcc", "-std=c99"]
        succeeds(*compiler, *WARNINGS, *flags, source, *found, "-o", directory / name)

    all_at_once(build)
    return directory


def by_cmake(directory: Path, *, static: bool) -> Path:
    flags = " ".join(WARNINGS)
    succeeds(
        "cmake", "-S", EXAMPLES, "-B", directory, f"-DCMAKE_PREFIX_PATH={STAGE}", f"-DBELLWIRE_STATIC={static}",
        "-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_CXX_COMPILER=clang++-14", "-DCMAKE_CXX_EXTENSIONS=OFF",
        f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}",
    )  # fmt: skip
    succeeds("cmake", "--build", directory, "--parallel", "2")
    return directory


@pytest.fixture(scope="session", params=["shared", "static"])
def examples(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the compiled examples."""
    directory = tmp_path_factory.mktemp(f"examples-{request.param}")
    if request.param == "shared":
        suppressions = directory / "suppressions.c"
        suppressions.write_text(NO_LEAKS)
        return by_pkg_config(directory, *SANITIZERS, str(suppressions), static=False)
    return by_cmake(directory, static=True)


# MARK: Compiling


@pytest.mark.parametrize(
    "compiler",
    [
        "gcc -std=c99", "gcc -std=c11", "gcc -std=c17", "gcc -std=gnu2x",
        "clang-14 -std=c99", "clang-14 -std=c11", "clang-14 -std=gnu2x",
        "g++ -x c++ -std=c++11", "g++ -x c++ -std=c++14", "g++ -x c++ -std=c++17", "g++ -x c++ -std=c++20",
        "clang++-14 -x c++ -std=c++11", "clang++-14 -x c++ -std=c++17", "clang++-14 -x c++ -std=c++20",
    ],
)  # fmt: skip
def test_every_example_compiles_without_a_warning(compiler: str) -> None:
    """C99 up to C23, and C++ as the first lines of the C examples promise; cpp_listener from C++17 on."""
    flags = succeeds("pkg-config", "--cflags", "bellwire", "glib-2.0", "jansson").split()
    is_cpp17 = compiler.endswith(("c++17", "c++20"))
    sources = [EXAMPLES / f"{name}.c" for name in C_EXAMPLES] + [EXAMPLES / "cpp_listener.cpp"] * is_cpp17
    succeeds(*compiler.split(), *WARNINGS, *flags, "-fsyntax-only", *sources)


def test_each_example_links_by_pkg_config_with_the_static_library(tmp_path: Path, start: Start) -> None:
    runs_without_a_pairing(by_pkg_config(tmp_path, static=True), start, is_static=True)


def test_each_example_links_by_cmake_with_the_shared_library(tmp_path: Path, start: Start) -> None:
    runs_without_a_pairing(by_cmake(tmp_path, static=False), start, is_static=False)


def runs_without_a_pairing(directory: Path, start: Start, *, is_static: bool) -> None:
    for name in ALL_EXAMPLES:
        needed = succeeds("readelf", "-d", directory / name)
        assert ("libbellwire" in needed) is not is_static
    for name in ("print_pushes", "send", *LISTENERS):
        program = start(directory / name)
        assert program.wait() == 1
        assert "not paired yet" in program.err.all[-1]


# MARK: A desktop


class Desk:
    """A desktop that carries its relay, and where the device's programs keep their state."""

    def __init__(self, start: Start, bellwire: Start, examples: Path) -> None:
        self.start, self.bellwire, self.examples = start, bellwire, examples
        self.desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--name", "Desk\x1b[31m")
        self.relay = self.desktop.line(r"ws://\S+").group()
        self.code = self.desktop.line(r"^\{.*desktop-pairing.*").group()
        self.digits = self.desktop.line(r"--code (\d{6}-\d{6})")[1]

    def run(self, name: str, *arguments: str) -> Program:
        return self.start(self.examples / name, *arguments)

    def push(self, title: str, body: str = "Text") -> None:
        self.desktop.write(f"{title}\t{body}\n")
        self.desktop.line("^Pushed to ")

    def go(self) -> str:
        """The desktop ends, and with it its relay; gives the relay's address."""
        assert self.desktop.end() == 0
        return self.relay.removeprefix("ws://")

    def come_back(self, address: str) -> None:
        self.desktop = self.bellwire("desktop", "--relay", address, "--stdin")


@pytest.fixture
def desk(start: Start, bellwire: Start, examples: Path) -> Desk:
    return Desk(start, bellwire, examples)


@pytest.fixture
def paired(desk: Desk) -> Desk:
    pairing = desk.bellwire("pair", desk.code)
    assert pairing.wait() == 0, pairing.err.all
    return desk


def rows(program: Program) -> list[list[str]]:
    """The lines of a page of history: mark, priority, title, body."""
    assert program.wait() == 0, program.err.all
    found = [re.match(r"^([* ]) \d{4}-\d\d-\d\d \d\d:\d\d  (\w+) +(.*?)  (.*)$", line) for line in program.out.all]
    return [list(match.groups()) for match in found if match]


# MARK: send


def test_send_shows_a_title_and_a_body_on_the_desktop(paired: Desk) -> None:
    """Quotes, backslashes and other scripts arrive as they are."""
    program = paired.run("send", 'Say "hello" \\o/', "Grüße 日本語")
    assert program.wait() == 0, program.err.all
    assert program.out.all == ["sent"]
    paired.desktop.line(re.escape('Say "hello" \\o/  Grüße 日本語'))


def test_send_takes_lines_from_standard_input(paired: Desk) -> None:
    program = paired.run("send")
    program.write("One\n\nTwo\twith a body\nThree\x01\tno end of line")
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert program.wait() == 0, program.err.all
    assert program.out.all == ["sent"] * 3
    for line in ("One", "Two  with a body", "Three.  no end of line"):
        paired.desktop.line(line)


@pytest.mark.parametrize(
    ("result", "code", "says"),
    [
        pytest.param(
            {"success": True, "silenced": True}, 0, "stored, not shown: the desktop is in quiet hours", id="quiet"
        ),
        pytest.param({"success": False, "error": "no"}, 1, "send: the desktop refused it", id="refused"),
    ],
)
def test_send_says_what_the_desktop_answers(
    start: Start, bellwire: Start, examples: Path, fake_desktop: FakeDesktop, result: Object, code: int, says: str
) -> None:
    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    program = start(examples / "send", "Title", "Body")
    fake_desktop.accept()
    assert fake_desktop.answer(result)["params"]["title"] == "Title"
    assert program.wait() == code
    assert program.out.all + program.err.all == [says]


def test_send_names_what_is_wrong_with_a_notification(paired: Desk) -> None:
    program = paired.run("send", "x" * 1025)
    assert program.wait() == 1
    assert len(program.err.all) == 1 and "title" in program.err.all[0]


def test_send_says_that_the_desktop_is_offline(paired: Desk) -> None:
    paired.go()
    program = paired.run("send", "Title")
    assert program.wait() == 3
    assert program.out.all == []
    assert program.err.all == ["send: the desktop is offline; nothing was sent"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_send_ends_at_once_while_it_waits(paired: Desk, number: int) -> None:
    paired.go()
    program = paired.run("send", "Title")
    wait_until(lambda: has_handler(program.pid, number))
    assert program.end(number) == 130


def has_handler(pid: int, number: int) -> bool:
    """Whether the program catches this signal already."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


# MARK: history


def test_history_shows_pages_unread_rows_and_what_a_search_finds(paired: Desk) -> None:
    for title in ("Tea is ready", "Door bell\x1b[31m", "Coffee is ready"):
        paired.push(title)
    assert [row[2] for row in rows(paired.run("history"))] == ["Coffee is ready", "Door bell [31m", "Tea is ready"]
    found = paired.run("history", "--search", "ready")
    assert [row[2] for row in rows(found)] == ["Coffee is ready", "Tea is ready"]
    assert found.out.all[-1] == "2 of 2"

    page = paired.run("history", "--limit", "2")
    assert len(rows(page)) == 2
    next_page = re.match(r"^(\S+) begins the next page: --before$", page.out.all[-1])
    assert next_page, page.out.all
    rest = paired.run("history", "--limit", "2", "--before", next_page[1])
    assert [row[2] for row in rows(rest)] == ["Tea is ready"]

    assert {row[0] for row in rows(paired.run("history", "--read"))} == {"*"}
    assert {row[0] for row in rows(paired.run("history"))} == {" "}
    assert rows(paired.run("history", "--unread")) == []


def test_history_shows_the_inbox_and_queues_while_the_desktop_is_away(paired: Desk) -> None:
    listener = paired.run("jansson_host")
    listener.error_line("waiting for pushes")
    paired.push("Tea is ready")
    listener.line("Tea")
    assert listener.end() == 0
    address = paired.go()

    away = paired.run("history", "--read")
    assert [row[2] for row in rows(away)] == ["Tea is ready"]
    assert away.err.all == ["history: offline; showing stored notifications"]
    assert away.out.all[-1].startswith("queued")
    paired.come_back(address)
    paired.desktop.line(r"ws://\S+")
    wait_until(lambda: rows(paired.run("history", "--unread")) == [], timeout=20)


@pytest.mark.parametrize(
    "arguments", [["--limit", "0"], ["--limit", "ten"], ["--search"], ["--nonsense"]], ids=" ".join
)
def test_history_says_how_it_is_used(start: Start, examples: Path, arguments: list[str]) -> None:
    program = start(examples / "history", *arguments)
    assert program.wait() == 2
    assert program.err.all[0].startswith("usage: history")


# MARK: pair_code


def test_pair_code_pairs_by_digits_and_shows_what_the_desktop_shows(desk: Desk) -> None:
    program = desk.run("pair_code", desk.relay)
    program.write(desk.digits.replace("-", " ") + "\n")
    paired = program.line(r"^Paired with Desk \[31m; both sides show (\d{6}, [a-z]+ [a-z]+)\.$")
    assert desk.desktop.line(r"^End-to-end encrypted\. Compare with the \w+: (\d{6}, [a-z]+ [a-z]+)\.")[1] == paired[1]
    program.write("y\n")
    assert program.wait() == 0, program.err.all
    sent = desk.run("send", "Title")
    assert sent.wait() == 0, sent.err.all


def test_pair_code_unpairs_when_the_words_differ(desk: Desk) -> None:
    program = desk.run("pair_code", desk.relay)
    program.write(desk.digits + "\n")
    program.line("both sides show")
    program.write("n\n")
    assert program.wait() == 0, program.err.all
    assert program.out.all[-1] == "Unpaired."
    sent = desk.run("send", "Title")
    assert sent.wait() == 1 and "not paired" in sent.err.all[0]


def test_pair_code_says_that_the_digits_are_wrong_and_does_not_repeat_them(desk: Desk) -> None:
    program = desk.run("pair_code", desk.relay)
    wrong = desk.digits[:7] + ("000000" if desk.digits[7:] != "000000" else "111111")
    program.write(wrong + "\n")
    assert program.wait() == 1
    said = "\n".join(program.err.all)
    assert program.err.all[-1].find("pair_code: ") >= 0
    assert wrong not in said and wrong.replace("-", "") not in said


@pytest.mark.parametrize("typed", ["", "654321-123456\n"], ids=["asking", "pairing"])
def test_pair_code_ends_at_once_while_it_waits(examples: Path, start: Start, typed: str) -> None:
    """While it asks for the digits, and while it tries to reach a relay that is not there."""
    program = start(examples / "pair_code", "ws://127.0.0.1:9")
    program.write(typed)
    wait_until(lambda: has_handler(program.pid, signal.SIGTERM))
    assert program.end() == 130


# MARK: Those that listen


@pytest.fixture(params=LISTENERS)
def listener(request: pytest.FixtureRequest, desk: Desk) -> Program:
    """One of the programs that print pushes, paired by the text of the desktop's code."""
    program = desk.run(request.param, desk.code)
    program.error_line("paired, waiting for pushes")
    return program


def test_a_listener_prints_what_is_pushed_also_what_came_while_it_was_away(desk: Desk, listener: Program) -> None:
    """Ctrl-C ends it cleanly; the next time it needs no code."""
    desk.push("Tea is ready", "Before it gets cold")
    listener.line("Tea is ready.*Before it gets cold")
    assert listener.end(signal.SIGINT) == 0, listener.err.all
    desk.push("While away")
    again = desk.start(*listener.arguments[:1])
    again.line("While away")
    desk.push("Here again")
    again.line("Here again")
    assert again.end(signal.SIGTERM) == 0, again.err.all
    assert not any("Tea" in line for line in again.out.all)


def test_control_characters_of_a_push_do_not_reach_the_terminal(desk: Desk, listener: Program) -> None:
    desk.push("Red \x1b[31m alert\x07\u009b2J", "Body \x1b[2J")
    line = listener.line("alert").string
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", line), repr(line)


@pytest.mark.parametrize("name", LISTENERS)
def test_a_listener_says_why_it_cannot_pair(examples: Path, start: Start, name: str) -> None:
    program = start(examples / name, '{"type":"desktop-pairing","code":"12345"}')
    assert program.wait() == 1
    assert len(program.err.all) == 1 and program.err.all[0].startswith(f"{name}: ")
    assert "12345" not in program.err.all[0]


def test_glib_loop_prints_the_unread_count(desk: Desk) -> None:
    program = desk.run("glib_loop", desk.code)
    program.error_line("paired")
    desk.push("One")
    program.line("^1 unread$")
    assert program.end() == 0, program.err.all


def test_jansson_host_prints_json_and_marks_as_read_on_the_desktop(desk: Desk) -> None:
    program = desk.run("jansson_host", desk.code)
    program.error_line("paired")
    desk.push("Grüße", "日本語")
    push = json.loads(program.line(r"^\{").string)
    assert (push["title"], push["body"], push["source"]) == ("Grüße", "日本語", "pc")
    assert program.end() == 0, program.err.all
    # Ended before the answer came, the mark waits in the queue and goes out with the next program.
    wait_until(lambda: rows(desk.run("history", "--unread")) == [], timeout=20)


# MARK: The C++ class

THROWING = r"""
#define main example_main
#include "cpp_listener.cpp"
#undef main
#include <cassert>

int main() {
    const auto owned = std::make_shared<int>(0);
    {
        bellwire::Device first("{\"state_dir\":\":memory:\"}");
        const auto once = first.subscribe("host.throws", [owned](const std::string &event, const std::string &) {
            ++*owned;
            throw std::out_of_range(event);
        });
        first.subscribe("host.throws", [owned](const std::string &, const std::string &) { *owned += 10; });
        bellwire::Device device(std::move(first));
        assert(bw_device_post(device.handle(), "host.throws", nullptr) == BW_OK);
        bool caught = false;
        try {
            device.dispatch();
        } catch (const std::out_of_range &error) {
            caught = std::string(error.what()) == "host.throws";
        }
        assert(caught && *owned == 11);
        device.dispatch(); // it was told once
        device.unsubscribe(once);
        assert(owned.use_count() == 2);
        try {
            device.unsubscribe(once);
            assert(false);
        } catch (const bellwire::Error &error) {
            assert(error.status() == BW_E_NOT_FOUND && std::string(error.what()).size() > 10);
        }
        try {
            device.subscribe("no such event", [owned](const std::string &, const std::string &) {});
            assert(false);
        } catch (const bellwire::Error &error) {
            assert(error.status() == BW_E_INVALID);
        }
        assert(owned.use_count() == 2);
        try {
            first.start(); // what was moved from is empty, not dangling
            assert(false);
        } catch (const bellwire::Error &error) {
            assert(error.status() == BW_E_HANDLE);
        }
    }
    assert(owned.use_count() == 1);
    std::cout << "good" << std::endl;
}
"""


# Debian's clang has no sanitizers without another package.
@pytest.mark.parametrize("compiler", [["g++", *SANITIZERS], ["clang++-14"]], ids=["g++", "clang++"])
def test_an_exception_of_a_callback_comes_out_of_dispatch(compiler: list[str], tmp_path: Path, start: Start) -> None:
    """No exception crosses the library's frames, and what a callback holds is freed with its subscription, once."""
    source = tmp_path / "throwing.cpp"
    source.write_text(THROWING + NO_LEAKS)
    flags = succeeds("pkg-config", "--cflags", "--libs", "bellwire").split()
    succeeds(
        *compiler, "-std=c++17", *WARNINGS, "-Wno-unused-function", f"-I{EXAMPLES}", source, *flags,
        f"-Wl,-rpath,{STAGE / 'lib'}", "-o", tmp_path / "throwing",
    )  # fmt: skip
    program = start(tmp_path / "throwing")
    assert program.wait() == 0, program.err.all
    assert program.out.all == ["good"]
