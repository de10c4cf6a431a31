"""What every integration test starts from: the release program, the C example, and a relay, each on free ports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nats_servers import NATS
from peers import FakeDesktop, Peer
from pictures import Web
from programs import BELLWIRE, LIBRARY, PYTHON, ROOT, STAGE, Program
from relay_node import Join, Node
from relay_steps import compile_steps

Start = Callable[..., Program]


def pytest_sessionstart() -> None:
    for path in (BELLWIRE, LIBRARY):
        if not path.exists():
            raise pytest.UsageError(f"{path} is not there: bindings/c/build.sh makes it")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts programs whose state is kept below the test's own directory, and ends them after the test."""
    running: list[Program] = []

    def run(*arguments: str | Path, home: str = "home") -> Program:
        program = Program(arguments, {"XDG_STATE_HOME": str(tmp_path / home), "TZ": "UTC"})
        running.append(program)
        return program

    yield run
    for program in reversed(running):
        if program.process.poll() is None:
            program.kill()


@pytest.fixture
def bellwire(start: Start) -> Start:
    """Starts a command of the command line."""

    def run(*arguments: str | Path, home: str = "home") -> Program:
        return start(BELLWIRE, *arguments, home=home)

    return run


@pytest.fixture
def python(start: Start) -> Start:
    """Starts a Python program: its text, and its arguments."""

    def run(text: str, *arguments: str | Path, home: str = "home") -> Program:
        return start(*PYTHON, "-c", text, *arguments, home=home)

    return run


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NATS]:
    """A NATS server."""
    server = NATS(tmp_path / "nats")
    yield server
    server.kill()


@pytest.fixture
def join(bellwire: Start, tmp_path: Path, nats: NATS) -> Join:
    """Starts a relay of the cluster, and waits until it can reach the others."""

    def start(name: str, *options: str | Path, waits: bool = True, **more: str) -> Node:
        common = ("--nats", nats.url, "--node", name, "--state-dir", tmp_path / name, "--log-format", "json")
        node = Node(bellwire, *common, *options, **more)
        if waits:
            node.log("nats_connected")
        return node

    return start


@pytest.fixture
def relay(bellwire: Start) -> str:
    """The URL of a relay of ours."""
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health")
    return program.line(r"ws://\S+").group()


@pytest.fixture
def peer(relay: str) -> Iterator[Callable[..., Peer]]:
    """Connects third-party peers to the relay."""
    peers: list[Peer] = []

    def join(peer_id: str | None = None, **register: object) -> Peer:
        peers.append(Peer(relay, peer_id, **register))
        return peers[-1]

    yield join
    for each in peers:
        each.close()


@pytest.fixture
def fake_desktop() -> Iterator[FakeDesktop]:
    desktop = FakeDesktop()
    yield desktop
    desktop.close()


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    """A web server that does everything wrong."""
    web = Web()
    yield web
    web.close()


def compile_c(source: Path, program: Path, *flags: str) -> Path:
    """Compiles a C program as a user would, against the shared library."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(STAGE / "lib/pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "bellwire"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        [
            "cc",
            *warnings,
            str(source),
            "-o",
            str(program),
            *found.stdout.split(),
            f"-Wl,-rpath,{STAGE / 'lib'}",
            *flags,
        ],
        check=True,
    )
    return program


@pytest.fixture(scope="session")
def print_pushes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/print_pushes.c, compiled."""
    return compile_c(ROOT / "examples/print_pushes.c", tmp_path_factory.mktemp("examples") / "print_pushes")


@pytest.fixture(scope="session")
def steps_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """steps.c, compiled."""
    return compile_steps(tmp_path_factory.mktemp("steps"))
