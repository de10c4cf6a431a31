"""README.md says only what is so: its C program compiles and runs, its files exist, its commands are known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from conftest import compile_c
from programs import ROOT, Program

Start = Callable[..., Program]

README = (ROOT / "README.md").read_text()


def test_the_c_program_of_the_readme_prints_a_push(
    start: Start, bellwire: Start, relay: str, tmp_path: Path
) -> None:
    (block,) = re.findall(r"```c\n(.*?)```", README, re.DOTALL)
    assert len(block.splitlines()) <= 30
    (tmp_path / "app.c").write_text(block)
    program = compile_c(tmp_path / "app.c", tmp_path / "app")
    desktop = bellwire("desktop", "--relay-url", relay, "--stdin")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    app = start(program, code)
    desktop.line("^Paired with")
    desktop.write("Tea\tis ready\n")
    push = json.loads(app.line("Tea").string)
    assert push["event"] == "notification.received" and push["data"]["body"] == "is ready"


def test_the_program_of_the_readme_says_why_it_fails(start: Start, tmp_path: Path) -> None:
    (block,) = re.findall(r"```c\n(.*?)```", README, re.DOTALL)
    (tmp_path / "app.c").write_text(block)
    app = start(compile_c(tmp_path / "app.c", tmp_path / "app"), "no code")
    assert app.wait() == 1
    assert json.loads(app.err.all[0])["detail"]["reason"] == "not_json"


def test_every_file_and_folder_that_it_names_exists() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", README)
    rooms = re.findall(r"`((?:Sources|Tests|examples|bindings)(?:/[\w.]+)*)`", README)
    scripts = re.findall(r"^(\w+/[\w/]+\.sh)", README, re.MULTILINE)
    assert linked and rooms and scripts
    for name in [*linked, *rooms, *scripts]:
        assert (ROOT / name).exists(), name
    for group in re.findall(r"^\| `Sources/(\w+)`(.*?) \|", README, re.MULTILINE):
        for room in re.findall(r"`(\w+)`", group[1]):
            assert (ROOT / "Sources" / room).is_dir(), room


def test_every_command_and_option_that_it_shows_is_known(bellwire: Start) -> None:
    for words in re.findall(r"\bbellwire ([a-z]+(?: --[a-z-]+)*)", README):
        command, *options = words.split()
        if command in ("desktop", "pair", "peers", "listen", "send", "history", "relay"):
            page = bellwire(command, "--help")
            assert page.wait() == 0
            for option in options:
                assert option in "\n".join(page.out.all), f"{command} {option}"
