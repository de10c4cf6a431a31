"""The user's defaults for options: `config.json`, with profiles."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import BELLWIRE

Run = subprocess.CompletedProcess[str]


class Home:
    def __init__(self, path: Path) -> None:
        self.file = path / "bellwire" / "config.json"
        self.file.parent.mkdir()
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(path), "XDG_STATE_HOME": str(path / "state")}
        self.environment.pop("BELLWIRE_PROFILE", None)

    def write(self, content: Any) -> None:
        self.file.write_text(content if isinstance(content, str) else json.dumps(content))

    def run(self, *arguments: str, **environment: str) -> Run:
        return subprocess.run(
            [BELLWIRE, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            env={**self.environment, **environment},
            check=False,
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_defaults_are_used_and_the_command_line_counts_before_them(home: Home, tmp_path: Path) -> None:
    assert home.run("version").returncode == 0, "without a file"
    home.write({"default": {"json": True, "version": {"json": False}, "qr": {"scale": 3}}})
    assert home.run("version").stdout.startswith("bellwire ")
    assert json.loads(home.run("man", "--list").stdout)["commands"]
    assert home.run("qr", "text").returncode == 0, "a default that does not apply is no mistake"
    assert home.run("qr", "text", "--scale", "3").returncode == 2
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    assert home.run("qr", "text", "--png", str(small)).returncode == 0
    assert home.run("qr", "text", "--png", str(large), "--scale", "30").returncode == 0
    assert width(large) == 10 * width(small)


def width(picture: Path) -> int:
    return int.from_bytes(picture.read_bytes()[16:20], "big")


def test_a_profile_is_chosen_by_option_or_variable(home: Home, tmp_path: Path) -> None:
    home.write({
        "default": {"qr": {"scale": 1}},
        "large": {"qr": {"scale": "10"}},
    })  # fmt: skip
    widths = []
    for number, (options, variables) in enumerate((
        ([], {}), (["--profile", "large"], {}), ([], {"BELLWIRE_PROFILE": "large"}),
        (["--profile", "default"], {"BELLWIRE_PROFILE": "large"}),
    )):  # fmt: skip
        picture = tmp_path / f"{number}.png"
        found = home.run("qr", "text", "--png", str(picture), *options, **variables)
        assert found.returncode == 0, found.stderr
        widths.append(width(picture))
    assert widths == [widths[0], 10 * widths[0], 10 * widths[0], widths[0]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("{", "config.json: ", id="no JSON"),
        pytest.param([], "not a JSON object", id="no object"),
        pytest.param({"default": 1}, '"default" is not an object', id="no profile"),
        pytest.param({"default": {"colour": "never"}}, 'no command has an option "colour"', id="no option"),
        pytest.param({"default": {"sned": {}}}, 'no command "sned"', id="no command"),
        pytest.param({"default": {"version": {"scale": 1}}}, 'version has no option "scale"', id="of another command"),
        pytest.param({"default": {"color": "green"}}, "must be one of auto, always, never", id="no such value"),
        pytest.param({"default": {"color": True}}, "must be a string or a number", id="a switch's value"),
        pytest.param({"default": {"verbose": "yes"}}, "must be true or false", id="a value for a switch"),
        pytest.param({"default": {"color": ["auto"]}}, "must be a string or a number", id="a list"),
        pytest.param("\xff", "config.json", id="no UTF-8"),
        pytest.param(" " * 300_000, "larger than", id="too large"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(home: Home, content: Any, words: str) -> None:
    home.write(content)
    found = home.run("version")
    assert found.returncode == 2 and words in found.stderr, found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert home.run("version", "--help").returncode == 0, "help is there all the same"


def test_a_profile_that_is_not_there_is_said(home: Home) -> None:
    missing = home.run("version", "--profile", "work")
    assert missing.returncode == 2 and "does not exist" in missing.stderr
    home.write({"default": {}})
    unknown = home.run("version", "--profile", "work")
    assert unknown.returncode == 2 and 'no profile "work"' in unknown.stderr
