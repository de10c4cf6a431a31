"""README.md says only what is so: its C program compiles and runs, its files exist, its commands are known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from conftest import compile_c
from programs import PYTHON, ROOT, Program

Start = Callable[..., Program]

README = (ROOT / "README.md").read_text()
#: A program that gets pushes, and what it adds for alerts.
PROGRAM, ALERTS = re.findall(r"```c\n(.*?)```", README, re.DOTALL)
(IN_PYTHON,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_c_program_of_the_readme_prints_a_push(start: Start, bellwire: Start, relay: str, tmp_path: Path) -> None:
    assert len(PROGRAM.splitlines()) <= 30
    (tmp_path / "app.c").write_text(PROGRAM)
    program = compile_c(tmp_path / "app.c", tmp_path / "app")
    desktop = bellwire("desktop", "--relay-url", relay, "--stdin")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    app = start(program, code)
    desktop.line("^Paired with")
    digits = app.line(r"^Compare with the desktop: (\d{6})$").group(1)
    desktop.line(f"^End-to-end encrypted. Compare with the device: {digits}")
    desktop.write("Tea\tis ready\n")
    push = json.loads(app.line("Tea").string)
    assert push["event"] == "notification.received" and push["data"]["body"] == "is ready"


def test_the_python_program_of_the_readme_prints_a_push(
    start: Start, bellwire: Start, relay: str, tmp_path: Path
) -> None:
    assert len(IN_PYTHON.splitlines()) <= 30
    (tmp_path / "app.py").write_text(IN_PYTHON)
    desktop = bellwire("desktop", "--relay-url", relay, "--stdin", "--name", "Desk")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    app = start(*PYTHON, tmp_path / "app.py", code)
    app.line("paired with Desk")
    desktop.line("^Paired with")
    desktop.write("Tea\tis ready\turgent\n")
    app.line("Tea is ready")


def test_the_program_of_the_readme_says_why_it_fails(start: Start, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(PROGRAM)
    app = start(compile_c(tmp_path / "app.c", tmp_path / "app"), "no code")
    assert app.wait() == 1
    assert json.loads(app.err.all[0])["detail"]["reason"] == "not_json"


def test_the_program_of_the_readme_says_what_to_do_when_nothing_is_paired(start: Start, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(PROGRAM)
    app = start(compile_c(tmp_path / "app.c", tmp_path / "app"))
    assert app.wait() == 1
    assert app.out.all == ["Not paired yet. Run: ./app 'TEXT OF THE QR CODE'"]


def test_the_alerts_of_the_readme_are_taken(start: Start, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    block = ALERTS.replace('{\\"alerts\\":', f'{{\\"state_dir\\":\\"{state}\\",\\"alerts\\":', 1)
    assert block != ALERTS
    calls = "\n".join(
        re.sub(r"^(bw_\w+\(.*?\));", r"if (\1 < 0) return 1;", call, flags=re.DOTALL)
        for call in re.split(r"\n(?=bw_)", block)
    )
    (tmp_path / "alerts.c").write_text(
        f"""#include <bellwire.h>
#include <stdio.h>
static void on_response(void *user_data, const char *event, const char *json) {{
    (void)user_data, (void)event, (void)json;
}}
static void on_answer(void *user_data, bw_status status, const char *json) {{
    (void)user_data, (void)status, (void)json;
}}
int main(void) {{
    bw_device *device = NULL;
    {calls}
    puts("all taken");
    return bw_device_close(device) < 0;
}}
"""
    )
    app = start(compile_c(tmp_path / "alerts.c", tmp_path / "alerts"))
    app.line("all taken")
    assert app.wait() == 0


def test_every_file_and_folder_that_it_names_exists() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", README)
    rooms = re.findall(r"`((?:Sources|Tests|examples|bindings)(?:/[\w.]+)*)`", README)
    scripts = re.findall(r"^(\w+/[\w/]+\.sh)", README, re.MULTILINE)
    assert linked and rooms and scripts
    for name in [*linked, *rooms, *scripts]:
        assert (ROOT / name).exists(), name
    floors = re.findall(r"^\| `Sources/(\w+)` \| (.*) \|$", README, re.MULTILINE)
    assert sorted(name for name, _ in floors) == sorted(path.name for path in (ROOT / "Sources").iterdir())
    for name, text in floors:
        modules = {path.name for path in (ROOT / "Sources" / name).iterdir()}
        # Modules that wrap C libraries are named as one.
        assert set(re.findall(r"`(\w+)`", text)) == (set() if name == "C" else modules), name


def test_every_command_and_option_that_it_shows_is_known(bellwire: Start) -> None:
    listed = bellwire("man", "--list")
    assert listed.wait() == 0
    for words in re.findall(r"\bbellwire ([a-z]+(?: --[a-z-]+)*)", README):
        command, *options = words.split()
        if command in listed.out.all:
            page = bellwire(command, "--help")
            assert page.wait() == 0
            for option in options:
                assert option in "\n".join(page.out.all), f"{command} {option}"
