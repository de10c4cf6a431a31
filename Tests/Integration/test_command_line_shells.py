"""The command line's completions in the real shells, and its manual pages as their own tools see them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import BELLWIRE, Program

Start = Callable[..., Program]

SHELLS = ("bash", "zsh", "fish")


def output(*command: str | Path, **environment: str) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    ).stdout


COMMANDS = output(BELLWIRE, "man", "--list").split()


def options_of(command: str) -> set[str]:
    """The long options that a command's page lists."""
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", output(BELLWIRE, command, "--help"), re.MULTILINE))


class Shells:
    """Asks each shell what it would complete; the program is on its path, the state below the test's directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        (folder / "bin").mkdir()
        (folder / "bin/bellwire").symlink_to(BELLWIRE)
        for shell in SHELLS:
            (folder / f"completion.{shell}").write_text(output(BELLWIRE, "completion", shell))
        # As it is installed; that it can be sourced as well, a test of its own says.
        (folder / "_bellwire").write_text(output(BELLWIRE, "completion", "zsh"))
        self.environment = {
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(self.home),
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
        }

    def _run(self, *command: str) -> str:
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=self.environment, cwd=self.folder, check=False
        )
        assert found.stderr == "", found.stderr
        return found.stdout

    def bash(self, line: str) -> list[str]:
        words = shlex.split(line) + ([""] if line.endswith(" ") else [])
        # As readline splits them.
        words = [part for word in words for part in (re.split(r"(=)", word) if word[:2] == "--" else [word])]
        if words[-1] == "" and len(words) > 1 and words[-2] == "=":
            words.pop()
        script = f"""
            source completion.bash
            COMP_WORDS=({" ".join(shlex.quote(word) for word in words)})
            COMP_CWORD={len(words) - 1}
            _bellwire
            [[ ${{#COMPREPLY[@]}} -eq 0 ]] || printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return self._run("bash", "--norc", "-c", script).split("\n")[:-1]

    def fish(self, line: str) -> list[str]:
        script = f"source completion.fish; complete -C {shlex.quote(line)}"
        return [row.split("\t")[0] for row in self._run("fish", "--no-config", "-c", script).split("\n")[:-1]]

    def zsh(self, line: str) -> list[str]:
        """zsh completes only in its line editor: in a terminal, with `compadd` telling what it is given."""
        start = f"""
            PS1=; fpath=({shlex.quote(str(self.folder))} $fpath)
            autoload -Uz compinit && compinit -u -d ./dump
            zstyle ':completion:*' list-colors ''
            zmodload zsh/zutil
            compadd() {{
                local -a found
                # With these it is asked for its matches, and adds none.
                if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
                builtin compadd -O found "$@"
                local word; for word in $found; do print -r -- "$word" >> found; done
                builtin compadd "$@"
            }}
            finished() {{ print finished >> found; BUFFER=; zle accept-line }}
            zle -N finished; bindkey '^X' finished; bindkey '^I' list-choices
            print begun
        """
        (self.folder / "start.zsh").write_text(start)
        (self.folder / "found").write_text("")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**self.environment, "TERM": "xterm"})
        seen = b""

        def read_until(is_done: Callable[[], bool]) -> None:
            nonlocal seen
            deadline = time.monotonic() + 30
            while not is_done():
                assert time.monotonic() < deadline, seen.decode("utf-8", "replace")
                if select.select([terminal], [], [], 0.05)[0]:
                    seen += os.read(terminal, 65536)

        try:
            os.write(terminal, b"source start.zsh\n")
            read_until(lambda: b"\nbegun" in seen)
            os.write(terminal, line.encode() + b"\t\x18")
            read_until(lambda: "finished" in (self.folder / "found").read_text())
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
            os.close(terminal)
        return (self.folder / "found").read_text().split("\n")[:-2]

    def ask(self, shell: str, line: str) -> list[str]:
        found: list[str] = getattr(self, shell)(line)
        return found


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    return Shells(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_takes_the_completion_without_a_word(shell: str, shells: Shells) -> None:
    check = {"bash": "-n", "zsh": "-n", "fish": "--no-execute"}[shell]
    assert output(shell, check, shells.folder / f"completion.{shell}") == ""
    if shell == "bash":
        assert output("shellcheck", shells.folder / "completion.bash") == ""
    answer = json.loads(output(BELLWIRE, "completion", shell, "--json"))
    assert answer == {"shell": shell, "script": output(BELLWIRE, "completion", shell)}


@pytest.mark.parametrize("shell", SHELLS)
def test_it_completes_commands_options_and_the_words_that_they_take(shell: str, shells: Shells) -> None:
    ask = shells.ask
    assert set(COMMANDS) | {"help"} <= set(ask(shell, "bellwire "))
    assert ask(shell, "bellwire li") == ["listen"]
    assert set(ask(shell, "bellwire help ")) == set(COMMANDS)
    for command in COMMANDS:
        assert options_of(command) <= set(ask(shell, f"bellwire {command} --")), command
    levels = {"low", "normal", "high", "urgent", "1", "2", "3", "4", "5"}
    assert set(ask(shell, "bellwire send --priority ")) == levels
    assert ask(shell, "bellwire send --priority u") == ["urgent"]
    assert ask(shell, "bellwire send --priority=u")[0].removeprefix("--priority=") == "urgent"
    assert set(ask(shell, "bellwire completion ")) == set(SHELLS)
    # A value that nobody can know has no candidates; files least of all.
    assert ask(shell, "bellwire listen --count ") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_it_completes_files_and_directories_where_they_are_wanted(shell: str, shells: Shells) -> None:
    (shells.folder / "certificate one.pem").touch()
    (shells.folder / "certificates").mkdir()

    def names(line: str) -> set[str]:
        found = {word.split("=")[-1].replace("\\", "").rstrip("/") for word in shells.ask(shell, line)}
        return {word for word in found if word.startswith("certificate")}

    assert names("bellwire listen --ca-file cert") == {"certificate one.pem", "certificates"}
    assert names("bellwire listen --state-dir cert") == {"certificates"}
    assert names("bellwire listen ") == set()
    # Commands to be run stand behind an option, or the dashes.
    assert "zsh" in shells.ask(shell, "bellwire listen --exec zs")
    assert "zsh" in shells.ask(shell, "bellwire listen -- zs")
    assert shells.ask(shell, "bellwire listen zs") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_it_completes_the_names_of_who_is_paired(shell: str, shells: Shells, bellwire: Start) -> None:
    assert shells.ask(shell, "bellwire send --to ") == []
    assert list(shells.home.iterdir()) == [], "asking made a state directory"
    for name in ("Desk at work", "Laptop"):
        desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--name", name, home=name.replace(" ", ""))
        code = desktop.line(r"^\{.*desktop-pairing.*").group()
        pairing = bellwire("pair", code)
        assert pairing.wait() == 0, pairing.err.all
        desktop.end()
    assert {word.replace("\\", "") for word in shells.ask(shell, "bellwire send --to ")} == {"Desk at work", "Laptop"}
    assert [word.replace("\\", "") for word in shells.ask(shell, "bellwire send --to D")] == ["Desk at work"]
    assert shells.ask(shell, "bellwire peers --rename L") == ["Laptop"]
    # Those of a desktop are asked of the desktop's directory, which is not there.
    assert shells.ask(shell, "bellwire peers --desktop --rename L") == []


def test_zsh_takes_the_completion_from_a_file_that_is_sourced(shells: Shells) -> None:
    script = "autoload -Uz compinit && compinit -u -D; source completion.zsh; print $_comps[bellwire]"
    (shells.folder / "_bellwire").unlink()
    found = subprocess.run(
        ["zsh", "-f", "-c", script], capture_output=True, text=True, timeout=30, cwd=shells.folder, check=True
    )
    assert (found.stdout, found.stderr) == ("_bellwire\n", "")


def test_a_person_at_bash_gets_whole_words_also_with_spaces(shells: Shells, bellwire: Start) -> None:
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--name", "Desk at work", home="desktop")
    pairing = bellwire("pair", desktop.line(r"^\{.*desktop-pairing.*").group())
    assert pairing.wait() == 0, pairing.err.all
    (shells.folder / "certificate one.pem").touch()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shells.folder)
        os.execvpe("bash", ["bash", "--norc", "-i"], {**shells.environment, "PS1": "$ ", "TERM": "dumb"})
    seen = ""

    def wait_for(pattern: str) -> None:
        nonlocal seen
        deadline = time.monotonic() + 20
        while not re.search(pattern, seen):
            assert time.monotonic() < deadline, seen
            if select.select([terminal], [], [], 0.05)[0]:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")

    try:
        os.write(terminal, b"source completion.bash; echo begun\n")
        wait_for(r"\nbegun")
        for number, (typed, words) in enumerate(
            [
                ("bellwire sen\tTITLE --priority=u\t", "bellwire|send|TITLE|--priority=urgent"),
                ("bellwire send --priority hi\t--to D\t", "bellwire|send|--priority|high|--to|Desk at work"),
                ("bellwire send --to 'D\t", "bellwire|send|--to|Desk at work"),
                ("bellwire listen --ca-file=cert\t", "bellwire|listen|--ca-file=certificate one.pem"),
                ("bellwire pair @cert\t", "bellwire|pair|@certificate one.pem"),
            ]
        ):
            # Ctrl-A, and a command before it that shows the words.
            os.write(terminal, f"{typed}\x01printf '|%s' {number} \n".encode())
            wait_for(rf"\n\|{number}\|{re.escape(words)}[^|\w]")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


# MARK: Manual pages


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_manual_page_is_clean_for_both_formatters_and_says_what_the_help_says(command: str, tmp_path: Path) -> None:
    page = tmp_path / "page.1"
    page.write_text(output(BELLWIRE, "man", *command.split()))
    lint = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True, timeout=30, check=False
    )
    assert (lint.stdout, lint.stderr) == ("", "")
    shown = subprocess.run(
        ["man", "--warnings=w", "-l", page], capture_output=True, text=True, timeout=30, check=True,
        env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": "", "PAGER": "cat"},
    )  # fmt: skip
    assert shown.stderr == ""
    help_page = output(BELLWIRE, command, "--help") if command else output(BELLWIRE, "--help")
    for text in (shown.stdout, output("mandoc", "-T", "utf8", "-O", "width=100", page)):
        said = " ".join(re.sub(r".\x08", "", text).split())
        for title in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"):
            assert title in said
        # Options, explanations and examples: nothing is lost between the two.
        for line in help_page.splitlines():
            words = " ".join(line.removeprefix("  $ ").split())
            if line.startswith("  $ ") and command:
                assert words in said
        for option in re.findall(r"--[a-z-]+", help_page):
            assert option in said
        for sentence in re.findall(
            r"[A-Z][^.:]+\.", " ".join(help_page.split("\n\n", 1)[-1].split("Options:")[0].split())
        ):
            if command:
                assert sentence in said


def test_the_list_of_pages_is_that_of_the_commands() -> None:
    overview = output(BELLWIRE, "--help")
    assert re.findall(r"^  ([a-z]+) ", overview.split("Commands:")[1].split("\n\n")[0], re.MULTILINE) == COMMANDS
    rows = json.loads(output(BELLWIRE, "man", "--list", "--json"))["commands"]
    assert [row["name"] for row in rows] == COMMANDS
    assert json.loads(output(BELLWIRE, "man", "listen", "--json")) == {"page": output(BELLWIRE, "man", "listen")}


def test_what_a_page_holds_is_no_request_of_roffs() -> None:
    for command in COMMANDS:
        for line in output(BELLWIRE, "man", command).splitlines():
            if line.startswith((".", "'")):
                assert re.match(r"\.(TH|SH|TP|PP|RS|RE|nf|fi|nh|ad)\b", line), line
            assert not re.search(r"(?<!\\)--", line), line


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["completion"], "SHELL is missing", id="no shell"),
        pytest.param(["completion", "tcsh"], "supported shells: bash, zsh, fish", id="another shell"),
        pytest.param(["man", "lisen"], 'did you mean "listen"?', id="no such page"),
        pytest.param(["man", "--list", "pair"], "--list", id="a list of one"),
    ],
)
def test_wrong_usage_is_code_2(arguments: list[str], named: str) -> None:
    found = subprocess.run([BELLWIRE, *arguments], capture_output=True, text=True, timeout=30, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("\n") == 1 and named in found.stderr
