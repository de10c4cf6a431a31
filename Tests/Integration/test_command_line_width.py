"""Help pages are as wide as the terminal, from 40 to 100 columns; in a pipe they have 80."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest
from programs import BELLWIRE


def shown(*arguments: str, columns: int, **environment: str) -> list[str]:
    """The lines of a page in a terminal of that width."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            "/bin/sh",
            ["sh", "-c", f'stty cols {columns} rows 50; exec "$0" "$@"', str(BELLWIRE), *arguments],
            {**{name: value for name, value in os.environ.items() if name != "COLUMNS"}, **environment},
        )
    text = b""
    try:
        while data := os.read(terminal, 65536):
            text += data
    except OSError:
        pass  # the terminal closes with the program
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text.decode().replace("\r\n", "\n").splitlines()


def is_prose(line: str) -> bool:
    """Neither a command to copy, nor the name of an option, nor one long word, which are not broken."""
    return not line.strip().startswith(("$", "-")) and " " in line.strip()


PAGES = [["--help"], ["relay", "--help"], ["listen", "--help"], ["queue", "--help"]]


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
@pytest.mark.parametrize(
    ("columns", "width"), [(20, 40), (40, 40), (50, 50), (64, 64), (80, 80), (100, 100), (240, 100)]
)
def test_a_page_is_as_wide_as_the_terminal(page: list[str], columns: int, width: int) -> None:
    lines = [line for line in shown(*page, columns=columns) if is_prose(line)]
    longest = max(len(line) for line in lines)
    assert longest <= width, next(line for line in lines if len(line) == longest)
    # It uses what there is.
    assert longest > width - 12


def test_the_words_are_the_same_at_every_width() -> None:
    pages = {
        columns: " ".join(" ".join(shown("listen", "--help", columns=columns)).split()) for columns in (40, 80, 100)
    }
    assert len(set(pages.values())) == 1


def test_columns_in_the_environment_count_before_the_terminals() -> None:
    narrow = [line for line in shown("listen", "--help", columns=100, COLUMNS="50") if is_prose(line)]
    assert 40 < max(map(len, narrow)) <= 50
    for nonsense in ("0", "-5", "wide", ""):
        lines = shown("listen", "--help", columns=60, COLUMNS=nonsense)
        assert lines == shown("listen", "--help", columns=60), nonsense


def test_a_pipe_gets_80_columns_whatever_the_environment_says() -> None:
    pages = {
        subprocess.run(
            [BELLWIRE, "listen", "--help"],
            capture_output=True, text=True, timeout=30, check=True, env={**os.environ, **environment},
        ).stdout
        for environment in ({}, {"COLUMNS": "50"}, {"COLUMNS": "200"})
    }  # fmt: skip
    assert len(pages) == 1
    assert 75 < max(len(line) for line in pages.pop().splitlines()) <= 80
