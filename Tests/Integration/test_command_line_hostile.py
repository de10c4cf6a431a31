"""Whatever words the command line gets: one line on standard error and exit code 2, never a crash, nothing that steers a
terminal."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import BELLWIRE
from test_command_line import COMMANDS, run


@functools.cache
def options(command: str) -> list[str]:
    """The options that a command's help lists, but for those that end it before it has read all words."""
    found = re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", run(command, "--help").stdout)
    return sorted(set(found) - {"--help", "-h", "--"})


#: What arguments may be made of: any bytes but NUL.
RAW = st.binary(max_size=40).map(lambda raw: raw.replace(b"\0", b"") or b"x")
TEXT = st.sampled_from(
    [
        "", "-", "---", "--=", "-=x", "=", "0", "-1", "1e999", "nan", "inf", "99999999999999999999", "0x10", "1_000",
        "\x1b]0;x\x07", "\u202e", "\u2066a\u2069", "%s%n", "a" * 5_000, "ws://", "[::1]:0", "/dev/null", "é",
    ]
).map(str.encode)  # fmt: skip


@st.composite
def command_lines(draw: st.DrawFn) -> list[bytes]:
    command = draw(st.sampled_from(COMMANDS))
    words = [command.encode()]
    for _ in range(draw(st.integers(0, 6))):
        value = draw(RAW | TEXT)
        match draw(st.integers(0, 3)):
            case 0:
                words.append(value)
            case 1:
                words += [draw(st.sampled_from(options(command))).encode(), value]
            case 2:
                words.append(draw(st.sampled_from(options(command))).encode() + b"=" + value)
            case _:
                words.append(draw(st.sampled_from(options(command))).encode())
    # Neither ends the options, nor asks for help; the last word is an error, whether the one before it is a value or not.
    return [word for word in words if word not in (b"--", b"--help", b"-h")] + [b"x", b"--no-such-option"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck), print_blob=True, derandomize=True)
@given(words=command_lines())
def test_any_words_with_a_mistake_are_one_line_and_code_2(home: Path, words: list[bytes]) -> None:
    done = subprocess.run(
        [os.fsencode(BELLWIRE), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        env={"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b""), done
    said = done.stderr.decode()
    assert said.endswith("\n") and len(said) > 20
    if b"--json" in words and said.startswith("{"):
        told = json.loads(said)
        assert told["exit"] == 2 and told["error"]["message"], said
    else:
        assert said.startswith("bellwire: "), said
        assert not [each for each in said[:-1] if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp")], ascii(said)
    assert not (home / "state").exists(), "a command that is refused has changed nothing"
