"""Colours and waiting: for people at a terminal alone, never in a pipe and never in JSON."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from peers import FakeDesktop
from programs import BELLWIRE, Program
from terminal import Terminal
from test_command_line import Pair, pair_with

Start = Callable[..., Program]

COLOUR = "\x1b["
#: What moves a cursor, turns text around or shows nothing.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164]")


@pytest.fixture
def pair(bellwire: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    # Terminals take the test's own environment.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Pair(bellwire)


def test_priorities_have_colours_on_a_terminal_and_nowhere_else(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    for priority in ("low", "normal", "high", "urgent"):
        assert pair.bellwire("send", f"A {priority} one", "--priority", priority).wait() == 0

    def shown(*options: str) -> str:
        terminal = Terminal("history", *options, columns=120)
        text = terminal.wait_for(r"(?s).*unread")
        assert terminal.wait() == 0
        return text

    coloured = shown()
    assert f"{COLOUR}1;31murgent" in coloured and f"{COLOUR}33mhigh" in coloured
    assert COLOUR not in shown("--color=never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert COLOUR not in shown()
    assert COLOUR in shown("--color", "always")
    monkeypatch.delenv("NO_COLOR")
    piped = pair.bellwire("history")
    assert piped.wait() == 0
    assert COLOUR not in "".join(piped.out.all + piped.err.all)
    always = pair.bellwire("history", "--color", "always")
    assert always.wait() == 0
    # The colours stand around the words that are there without them.
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in always.out.all] == piped.out.all
    asked = pair.bellwire("history", "--json", "--color", "always")
    assert asked.wait() == 0
    assert COLOUR not in asked.out.all[0] and json.loads(asked.out.all[0])["total"] == 4


def test_what_a_peer_wrote_brings_no_colours_of_its_own(pair: Pair) -> None:
    assert pair.bellwire("send", "A\x1b[31mB", "b\x1b]0;x\x07\x9b31m").wait() == 0
    listing = pair.bellwire("history", "--color", "always")
    assert listing.wait() == 0
    assert "A?[31mB" in listing.out.all[0] and "\x1b]" not in listing.out.all[0] and "\x9b" not in listing.out.all[0]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("PC\x1b[2J\x9b31m\nPaired with Mine.", "PC [2J 31m Paired with Mine."),
        ("gnp.\u202eCP\u2066\u200b", "gnp.CP"),
        ("PC\u3164\u200d\u2800", "PC"),
        ("\u3164\u200d", "desktop-4f1c"),
        ('<b>PC</b> "x"', '<b>PC</b> "x"'),
        ("x" * 10_000, "x" * 80),
    ],
    ids=["escapes", "directions", "invisible end", "invisible", "markup", "long"],
)
def test_the_name_of_a_desktop_is_one_line_of_what_can_be_seen(
    bellwire: Start, fake_desktop: FakeDesktop, name: str, shown: str
) -> None:
    pairing = bellwire("pair", fake_desktop.code(deviceInfo={"name": name, "platform": "win32"}))
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    said = [line for line in pairing.out.all if line.startswith("Paired")]
    assert said == [f"Paired with {shown} (win32)."]
    listing = bellwire("peers")
    assert listing.wait() == 0
    assert any(shown in line for line in listing.out.all)
    for line in pairing.out.all + pairing.err.all + listing.out.all + listing.err.all:
        assert not UNSEEN.search(line)


def test_listen_says_in_colour_who_is_there(pair: Pair) -> None:
    terminal = Terminal("listen", columns=100)
    terminal.wait_for(r"\x1b\[32mbellwire: connected to Desk over ws://[0-9.:]+\x1b\[0m")
    pair.desktop.write("Fire\tin the kitchen\turgent\n")
    terminal.wait_for(r"\x1b\[1;31murgent\x1b\[0m  pc      \x1b\[1mFire\x1b\[0m  in the kitchen")
    assert terminal.end() == 130


def test_after_a_second_a_person_is_told_what_is_waited_for(
    bellwire: Start, fake_desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    pair_with(bellwire, fake_desktop)
    asking = Terminal("settings", "--timeout", "30", columns=100)
    fake_desktop.accept()
    asking.wait_for("waiting for the answer from Office PC …")
    assert asking.end() == 130
    fake_desktop.close()
    connecting = Terminal("settings", "--timeout", "30", columns=100)
    connecting.wait_for("waiting for Office PC: .+ …")
    assert connecting.end() == 130


def test_nobody_is_told_of_waiting_in_a_pipe_or_in_json(
    bellwire: Start, fake_desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    pair_with(bellwire, fake_desktop)
    fake_desktop.close()
    piped = bellwire("settings", "--timeout", "2")
    assert piped.wait() == 3
    assert len(piped.err.all) == 1
    terminal = Terminal("settings", "--timeout", "2", "--json", columns=100)
    said = terminal.wait_for(r"(?s).*\n")
    terminal.end()
    assert "waiting" not in said and json.loads(said)["exit"] == 3


@pytest.mark.parametrize("command", ["man listen", "completion bash", "history --help", "relay --help"])
def test_a_reader_that_goes_ends_it_quietly(command: str) -> None:
    found = subprocess.run(
        ["bash", "-c", f'set -o pipefail; for i in 1 2 3; do "$0" {command}; done | head -n 1; true', str(BELLWIRE)],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert found.stderr == "" and found.stdout.count("\n") == 1
