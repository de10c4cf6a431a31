"""The exit codes that every help page lists: for what is not found, for wrong usage, and after a signal."""

from __future__ import annotations

import fcntl
import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from peers import FakeDesktop
from programs import Program, wait_until
from test_command_line import Pair, pair_with, run

Start = Callable[..., Program]
SIGNALS = [
    pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
    pytest.param(signal.SIGTERM, 143, id="SIGTERM"),
    pytest.param(signal.SIGHUP, 129, id="SIGHUP"),
]


@pytest.fixture
def silent_relay() -> Iterator[socket.socket]:
    """Accepts connections, and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


def url(server: socket.socket) -> str:
    return f"ws://127.0.0.1:{server.getsockname()[1]}"


def catches(program: Program, number: int) -> bool:
    """Whether its handler is installed: from then on it ends by itself."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    found = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return bool(found and int(found[1], 16) >> (number - 1) & 1)


def test_every_page_lists_them() -> None:
    overview = run("--help").stdout
    codes = ["0", "1", "2", "3", "4", "5", "129, 130, 143"]
    assert re.findall(r"^  (\d[\d, ]*?) {2,}\S", overview, re.MULTILINE) == codes
    for command in run("man", "--list").stdout.split():
        page = run(command, "--help").stdout
        assert re.findall(r"^  (\d[\d, ]*?) {2,}\S", page, re.MULTILINE) == codes, command
        assert ".B 5\n" in run("man", command).stdout or "\\fB5\\fR" in run("man", command).stdout, command


# MARK: Signals


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP"],
)
def test_an_agent_that_waits_for_the_device_is_stopped_like_one_that_has_it(
    bellwire: Start, fake_desktop: FakeDesktop, tmp_path: Path, number: int, code: int
) -> None:
    pair_with(bellwire, fake_desktop)
    with (tmp_path / "home/bellwire/device/lock").open("r+b") as lock:
        # As a program that doesn't share the device.
        fcntl.lockf(lock, fcntl.LOCK_EX)
        agent = bellwire("agent")
        file = tmp_path / "home/bellwire/device/agent"
        wait_until(lambda: file.exists() and catches(agent, signal.SIGTERM))
        if number == signal.SIGHUP:
            # That is news for it, as for a daemon. It still waits.
            agent.process.send_signal(signal.SIGHUP)
            number = signal.SIGTERM
        assert agent.end(number) == code
    assert agent.err.all == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("command", [["pair"], ["send", "T", "-"], ["push", "T", "-"], ["qr"]], ids=lambda it: it[0])
def test_what_reads_standard_input_can_be_interrupted(
    bellwire: Start, command: list[str], number: int, code: int
) -> None:
    program = bellwire(*command)
    wait_until(lambda: catches(program, number))
    assert program.end(number) == code
    assert program.err.all == ["bellwire: interrupted"]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("command", [["--show"], ["--code", "123456-789012"]], ids=["show", "code"])
def test_a_pairing_can_be_interrupted(
    bellwire: Start, silent_relay: socket.socket, command: list[str], number: int, code: int
) -> None:
    program = bellwire("pair", *command, "--relay-url", url(silent_relay))
    with silent_relay.accept()[0]:
        assert program.end(number) == code


@pytest.mark.parametrize(("number", "code"), SIGNALS[:2])
@pytest.mark.parametrize(
    "command",
    [
        ["history"], ["inbox", "refresh"], ["settings"], ["settings", "soundEnabled=off"], ["quiet"], ["send", "T"],
        ["listen", "--count", "1"], ["listen", "--once", "--timeout", "60"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_asks_a_desktop_can_be_interrupted(
    bellwire: Start, fake_desktop: FakeDesktop, command: list[str], number: int, code: int
) -> None:
    pair_with(bellwire, fake_desktop)
    program = bellwire(*command, *(["--timeout", "60"] if "listen" not in command else []))
    fake_desktop.accept()
    assert program.end(number) == code


@pytest.mark.parametrize(("number", "code"), SIGNALS[:2])
def test_waiting_for_the_queue_and_for_a_new_key_can_be_interrupted(bellwire: Start, number: int, code: int) -> None:
    pair = Pair(bellwire)
    pair.desktop.end()
    assert bellwire("quiet", "off", "--queue").wait() == 0
    queue = bellwire("queue", "run", "--timeout", "60")
    wait_until(lambda: catches(queue, number))
    assert queue.end(number) == code
    move = bellwire("rekey", "--timeout", "60")
    wait_until(lambda: catches(move, number))
    assert move.end(number) == code


# MARK: Not found, and wrong usage


def test_what_is_not_found_is_code_4(bellwire: Start) -> None:
    pair = Pair(bellwire)
    for command in (
        ["send", "T", "--to", "Nowhere"],
        ["peers", "--rename", "Nobody", "x"],
        ["peers", "--desktop", "--unpair", "Nobody"],
        ["inbox", "read", "nothing"],
        ["queue", "remove", "nothing"],
        ["settings", "--stored", "--to", "Nowhere"],
        ["push", "T", "--device", "Nobody"],
        ["push", "--withdraw", "nothing"],
        ["group", "--remove", "nobody"],
        ["group", "family", "Nobody"],
        ["token", "--revoke", "nothing"],
        ["revoke", "Nobody"],
        ["revoke", "--remove", "did:key:z6Mkw"],
        ["rekey", "--accept", "Nobody"],
        ["desktop", "allow", "Nobody", "safe"],
        ["desktop", "accept"],
    ):
        program = pair.bellwire(*command)
        assert program.wait() == 4, (command, program.err.all)
        assert len(program.err.all) == 1, (command, program.err.all)


def test_a_desktop_that_does_not_run_is_code_3(bellwire: Start) -> None:
    for action in ("pair", "stop", "accept"):
        program = bellwire("desktop", action)
        assert program.wait() == 3, (action, program.err.all)


@pytest.mark.parametrize(
    "command",
    [
        ["token", "x", "--revoke", "y"],
        ["token", "x" * 65],
        ["token", "x", "--per-minute", "many"],
        ["group", "--remove", "x", "y"],
        ["group", "x"],
        ["desktop", "dance"],
        ["desktop", "stop", "now"],
        ["queue", "dance"],
        ["inbox", "dance"],
        ["completion", "dance"],
        ["man", "dance"],
        ["quiet", "tonight"],
        ["settings", "soundEnabled"],
        ["settings", "soundEnabled=perhaps"],
        ["revoke"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_code_2(command: list[str], tmp_path: Path) -> None:
    found = run(*command, XDG_STATE_HOME=str(tmp_path))
    assert found.returncode == 2, found.stderr
    assert found.stderr.count("\n") == 1


def test_a_command_that_cannot_be_started_is_126_or_127(bellwire: Start, tmp_path: Path) -> None:
    pair = Pair(bellwire)
    (tmp_path / "text").write_text("not a program")
    assert pair.bellwire("run", "--", "/no/such/program").wait() == 127
    assert pair.bellwire("run", "--", tmp_path / "text").wait() == 126
    assert pair.bellwire("run", "--after", "60", "--", "sh", "-c", "exit 7").wait() == 7
    assert pair.bellwire("run", "--", "sh", "-c", "kill -TERM $$").wait() == 143
