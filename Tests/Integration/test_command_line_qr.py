"""bellwire qr, and codes taken from pictures: what is drawn can be read again, by us and by another program."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from programs import BELLWIRE, Program
from terminal import Terminal
from test_command_line import run

Start = Callable[..., Program]

TEXTS = ["https://example.org/?a=b&c=d", "Grüße, 日本", "x" * 1_500, '{"type":"desktop-pairing"}']


def qr(*arguments: str | Path, text: str = "", code: int = 0) -> subprocess.CompletedProcess[bytes]:
    found = subprocess.run(
        [BELLWIRE, "qr", *arguments], input=text.encode(), capture_output=True, timeout=30, check=False
    )
    assert found.returncode == code, found.stderr
    return found


@pytest.mark.parametrize("text", TEXTS, ids=["link", "other letters", "long", "pairing"])
def test_what_is_drawn_as_png_says_the_same_text_when_it_is_read(text: str, tmp_path: Path) -> None:
    for number, arguments in enumerate((["--png"], ["--scale", "3", "--png"])):
        picture = tmp_path / f"{number}.png"
        qr(*arguments, picture, text=text + "\n")
        assert qr("--read", picture).stdout.decode() == text + "\n"
        assert json.loads(qr("--read", picture, "--json").stdout) == {"texts": [text]}
    picture = tmp_path / "operand.png"
    picture.write_bytes(qr(text, "--png", "-").stdout)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert qr("--read", picture).stdout.decode() == text + "\n"


def test_what_is_drawn_as_svg_is_a_picture_of_the_same_code(tmp_path: Path) -> None:
    qr("Tea is ready", "--svg", tmp_path / "code.svg")
    root = ElementTree.parse(tmp_path / "code.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    subprocess.run(["rsvg-convert", "-o", tmp_path / "code.png", tmp_path / "code.svg"], check=True, timeout=60)
    assert qr("--read", tmp_path / "code.png").stdout == b"Tea is ready\n"


def test_on_a_pipe_it_is_drawn_without_colours_and_in_a_terminal_with_them(tmp_path: Path) -> None:
    plain = qr("Tea").stdout.decode()
    assert any(block in plain for block in "▀▄█") and "\x1b" not in plain
    assert json.loads(qr("Tea", "--json").stdout) == {"text": "Tea", "drawing": plain}
    assert "\x1b[" in qr("Tea", "--color", "always").stdout.decode()
    for options, is_coloured in (([], True), (["--color=never"], False)):
        terminal = Terminal("qr", "Tea", *options, columns=80)
        drawn = terminal.wait_for(r"(?s)[▀▄█].*\n")
        assert ("\x1b[" in drawn) == is_coloured
        assert terminal.wait() == 0


def test_what_a_picture_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    qr("--png", tmp_path / "code.png", text="a\x1b[31mb")
    assert qr("--read", tmp_path / "code.png").stdout == b"a?[31mb\n"


def test_a_device_pairs_by_a_picture_of_the_desktops_code(bellwire: Start, tmp_path: Path) -> None:
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--name", "Desk")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    picture = tmp_path / "screenshot.png"
    qr("--png", tmp_path / "code.png", text=code)
    qr("--png", tmp_path / "other.png", "https://example.org")
    # As on a screen: another code beside it.
    subprocess.run(
        ["convert", "-background", "white", tmp_path / "code.png", tmp_path / "other.png", "+append", picture],
        check=True, timeout=60,
    )  # fmt: skip
    assert len(qr("--read", picture).stdout.splitlines()) == 2
    pairing = bellwire("pair", "--image", picture)
    assert pairing.wait() == 0, pairing.err.all
    assert pairing.out.all[0] == "Paired with Desk (linux)."


def test_a_desktop_scans_a_picture_of_a_devices_code(bellwire: Start, relay: str, tmp_path: Path) -> None:
    device = bellwire("pair", "--show", "--relay-url", relay)
    code = device.line(r"^\{.*-pairing.*").group()
    qr("--png", tmp_path / "code.png", text=code)
    desktop = bellwire("desktop", "--relay-url", relay, "--scan-image", tmp_path / "code.png", "--accept", home="other")
    desktop.line("^Paired with ")
    assert device.wait(20) == 0, device.err.all


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        pytest.param(["qr", "--read", "nothing.png"], 1, "nothing.png", id="no such file"),
        pytest.param(["qr", "--read", "text.png"], 2, "", id="no picture"),
        pytest.param(["qr", "--read", "white.png"], 4, "", id="no code in it"),
        pytest.param(["pair", "--image", "white.png"], 4, "", id="nothing to pair with"),
        pytest.param(["qr", "x" * 2049], 2, "", id="too long a text"),
        pytest.param(["qr", ""], 2, "", id="no text"),
        pytest.param(["qr"], 2, "", id="nothing on standard input"),
        pytest.param(["qr", "x", "--png", "no/where.png"], 1, "cannot write no/where.png", id="no such folder"),
        pytest.param(["qr", "x", "--png", "/dev/full"], 1, "No space", id="a full disk"),
        pytest.param(["qr", "x", "--png", "a", "--svg", "b"], 2, "cannot be combined", id="two pictures"),
        pytest.param(["qr", "x", "--scale", "2"], 2, "--png", id="a scale of nothing"),
        pytest.param(["qr", "x", "--png", "a", "--scale", "33"], 2, "1 to 32", id="too large a scale"),
        pytest.param(["qr", "x", "--read", "white.png"], 2, "--read", id="draw and read"),
        pytest.param(["pair", "text", "--image", "white.png"], 2, "no TEXT", id="a text and a picture"),
        pytest.param(["pair", "--show", "--image", "white.png"], 2, "cannot be combined", id="show and read"),
        pytest.param(["desktop", "--scan", "x", "--scan-image", "white.png"], 2, "cannot be combined", id="two codes"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    arguments: list[str], code: int, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.png").write_text("no picture")
    subprocess.run(["convert", "-size", "200x200", "xc:white", "white.png"], check=True, timeout=60)
    found = run(*arguments, XDG_STATE_HOME=str(tmp_path))
    assert (found.returncode, found.stdout) == (code, ""), found.stderr
    assert re.fullmatch(r"bellwire: .+\n", found.stderr) and named in found.stderr
