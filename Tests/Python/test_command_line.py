"""python -m bellwire: pairs, listens, sends, shows the history, says what is wrong, and can be interrupted."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import bellwire
import pytest
from peers import Peers, PlainDesktop, python, until

COMMAND = [sys.executable, "-X", "faulthandler", "-W", "error", "-m", "bellwire"]


class Shell:
    def __init__(self, state: Path) -> None:
        self.state = str(state)

    def __call__(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *arguments, "--state-dir", self.state]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=40)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        command = [*COMMAND, *arguments, "--state-dir", self.state]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TZ", "UTC")
    return Shell(tmp_path / "state")


@pytest.fixture
def paired(peers: Peers, shell: Shell) -> Iterator[Shell]:
    done = shell("pair", "-", "--name", "Shell", "--json", text=peers.desktop.offer().payload + "\n")
    assert done.returncode == 0, done.stderr
    desktop = json.loads(done.stdout)
    assert desktop["name"] == "Desk" and desktop["secure"] is True and len(desktop["sas"]["digits"]) == 6
    yield shell


def test_it_sends_and_shows_the_history(peers: Peers, paired: Shell) -> None:
    assert paired("send", "Build done", "All green", "--priority", "high").returncode == 0
    sent = paired("send", "--json", "From a pipe", "-", text="line 1\nline 2\n")
    assert json.loads(sent.stdout)["success"] is True
    broadcast = paired("send", "--broadcast", "--json", "To all", "--to", "Desk")
    assert json.loads(broadcast.stdout)["deliveredCount"] >= 1
    assert [each.body for each in peers.desktop.history().notifications] == ["", "line 1\nline 2", "All green"]
    shown = paired("history")
    lines = shown.stdout.splitlines()
    assert len(lines) == 3 and lines[2].startswith("* ") and "high" in lines[2] and "Build done: All green" in lines[2]
    found = paired("history", "--json", "--search", "gree*", "--unread", "--limit", "1")
    assert [each["title"] for each in json.loads(found.stdout)["notifications"]] == ["Build done"]


@pytest.mark.parametrize("options", [[], ["--broadcast"]], ids=["send", "broadcast"])
def test_send_takes_every_field_of_a_push(peers: Peers, paired: Shell, options: list[str]) -> None:
    done = paired(
        *("send", "Disk", "91 %", *options, "--priority", "urgent", "--collapse", "disk", "--subtitle", "Server"),
        *("--image", "https://example.org/i.png", "--link", "app://disk", "--category", "MESSAGE", "--thread", "disks"),
        *("--button", "Graph=https://example.org/g?a=1", "--sound", "default", "--badge", "3", "--data", "k=v=w"),
        *("--expires", "2h", "--ignore-quiet-hours"),
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(paired("listen", "--count", "1", "--json").stdout)["data"]
    wanted = {
        "title": "Disk", "priority": "urgent", "collapseKey": "disk", "subtitle": "Server", "threadId": "disks",
        "imageUrl": "https://example.org/i.png", "deepLink": "app://disk", "category": "MESSAGE", "sound": "default",
        "badge": 3,
    }  # fmt: skip
    assert {key: data[key] for key in wanted} == wanted
    assert data["data"]["k"] == "v=w"
    assert json.loads(data["data"]["actions"])[0]["url"] == "https://example.org/g?a=1"
    assert 7_000_000 < data["expiresAt"] - data["createdAt"] <= 7_200_000
    later = paired("send", "Later", *options, "--at", "2h", "--json")
    assert later.returncode == 0 and json.loads(later.stdout)["scheduledAt"], later.stderr
    for wrong in (["--at", "tomorrow"], ["--expires", "30"], ["--button", "Graph"], ["--data", "k"], ["--badge", "-1"]):
        assert paired("send", "t", *wrong).returncode == 2
    assert paired("send", "t", "--group", "family").returncode == 2


def test_it_listens(peers: Peers, paired: Shell) -> None:
    peers.desktop.notify("Kept", "for it", data={"n": 1})
    done = paired("listen", "--count", "1", "--json")
    event = json.loads(done.stdout)
    assert event["event"] == "notification.received" and event["desktop"] == peers.paired.id
    assert event["data"]["title"] == "Kept" and event["data"]["data"] == {"n": 1}
    peers.desktop.notify("Wicked \x1b[31m\u202e title", "two\nlines")
    shown = paired("listen", "-n", "1").stdout
    assert shown.count("\n") == 1 and "\x1b" not in shown and "\u202e" not in shown and "two lines" in shown
    assert paired("listen", "-n", "1", "--timeout", "0.2").returncode == 3
    assert paired("listen", "--timeout", "0.2").returncode == 0


def test_what_waits_behind_the_last_one_stays(peers: Peers, paired: Shell) -> None:
    for number in range(5):
        peers.desktop.notify(f"n{number}")
    first = paired("listen", "-n", "2", "--json").stdout
    second = paired("listen", "-n", "3", "--json").stdout
    titles = [json.loads(line)["data"]["title"] for line in (first + second).splitlines()]
    assert titles == [f"n{number}" for number in range(5)]


@pytest.mark.parametrize("command", ["listen", "pair --show"])
def test_ctrl_c_ends_it_without_a_trace(peers: Peers, paired: Shell, command: str) -> None:
    with paired.begin(
        *command.split(), "--json", *(["--relay-url", peers.url] if "pair" in command else [])
    ) as process:
        assert process.stdout is not None
        peers.desktop.notify("ready")
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_device_shows_a_code(peers: Peers, shell: Shell) -> None:
    with shell.begin("pair", "--show", "--relay-url", peers.url, "--json") as process:
        assert process.stdout is not None
        offer = json.loads(process.stdout.readline())["data"]
        peers.desktop.scan(offer["payload"])
        peers.desktop.confirm(True)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert json.loads(out)["name"] == "Desk"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_user_at_the_terminal_decides_about_a_desktop_that_proves_nothing(
    peers: Peers, shell: Shell, answer: str
) -> None:
    terminal, inside = pty.openpty()
    command = [*COMMAND, "pair", "--show", "--relay-url", peers.url, "--state-dir", shell.state]
    process = subprocess.Popen([*command, "--json"], stdin=inside, stdout=subprocess.PIPE, stderr=inside, text=True)
    os.close(inside)
    with process, os.fdopen(terminal, "r+b", buffering=0) as keyboard:
        assert process.stdout is not None
        offer = json.loads(process.stdout.readline())["data"]
        with PlainDesktop(peers.url, bellwire.Offer(offer["payload"], offer["code"], datetime.now())) as plain:
            plain.confirm()
            assert b"Office wants to pair. It can't prove that it saw the code." in keyboard.readline()
            keyboard.write(f"what?\n{answer}\n".encode())
            if answer == "y":
                paired = json.loads(process.stdout.readline())
                assert (paired["name"], paired["secure"]) == ("Office", False)
                assert process.wait(20) == 0
                return
            while b"refused Office" not in keyboard.readline():
                pass
        # The code is still valid for one that has seen it.
        peers.desktop.scan(offer["payload"])
        peers.desktop.confirm(True)
        assert json.loads(process.stdout.readline())["name"] == "Desk"
        assert process.wait(20) == 0


@pytest.mark.parametrize("accepts", [True, False])
def test_without_a_terminal_only_accept_pairs_a_desktop_that_proves_nothing(
    peers: Peers, shell: Shell, accepts: bool
) -> None:
    options = ["--accept"] if accepts else []
    with shell.begin("pair", "--show", "--relay-url", peers.url, "--json", *options) as process:
        assert process.stdout is not None and process.stderr is not None
        offer = json.loads(process.stdout.readline())["data"]
        with PlainDesktop(peers.url, bellwire.Offer(offer["payload"], offer["code"], datetime.now())) as plain:
            plain.confirm()
            if accepts:
                assert json.loads(process.stdout.readline())["secure"] is False
            else:
                assert "use --accept" in process.stderr.readline()
                process.send_signal(signal.SIGINT)
            assert process.wait(20) == (0 if accepts else 130)


def test_who_has_scanned_a_shown_code_is_named_also_when_paired_before(peers: Peers, paired: Shell) -> None:
    other = peers.open_desktop(name="Other")
    assert paired("pair", other.offer().payload).returncode == 0
    with paired.begin("pair", "--show", "--relay-url", peers.url, "--json") as process:
        assert process.stdout is not None
        offer = json.loads(process.stdout.readline())["data"]
        peers.desktop.scan(offer["payload"])
        peers.desktop.confirm(True)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert json.loads(out)["name"] == "Desk"


def test_characters_that_the_terminal_has_not_end_nothing(
    peers: Peers, paired: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    peers.desktop.notify("caf\u00e9")
    shown = paired("listen", "-n", "1", "--timeout", "20")
    assert shown.returncode == 0 and "caf\\xe9" in shown.stdout, shown.stderr


def test_digits_are_typed(peers: Peers, shell: Shell) -> None:
    done = shell("pair", "--code", peers.desktop.code().code, "--relay-url", peers.url)
    assert done.returncode == 0, done.stderr
    assert "Paired with Desk (end-to-end encrypted)" in done.stdout and "Compare" in done.stdout


def test_every_failure_has_its_code_and_a_line(peers: Peers, shell: Shell, tmp_path: Path) -> None:
    for arguments in (["send", "t"], ["listen"]):
        unpaired = shell(*arguments)
        assert unpaired.returncode == 4 and "not paired" in unpaired.stderr
    bad = shell("pair", "no code", "--json")
    assert bad.returncode == 2 and json.loads(bad.stderr)["error"]["status"] == "BW_E_PAIRING"
    assert json.loads(bad.stderr)["exit"] == 2
    nobody = shell("pair", "--code", "123456-789012", "--relay-url", "ws://127.0.0.1:1", "--timeout", "1")
    assert nobody.returncode == 3, nobody.stderr
    missing = shell("pair", f"@{tmp_path / 'absent'}")
    assert missing.returncode == 2 and "absent" in missing.stderr
    for arguments in (["dance"], ["listen", "-n", "0"], ["send"], ["history", "--limit", "501"], []):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=40)
        assert done.returncode == 2 and "usage" in done.stderr.lower()
    assert shell("pair", peers.desktop.offer().payload).returncode == 0
    assert shell("send", "t", "--to", "nobody").returncode == 4
    assert shell("send", "", "--json").returncode == 2
    peers.desktop.stop()
    peers.relay.stop()
    assert shell("history", "--timeout", "0.3").returncode == 3
    with bellwire.Device(state_dir=shell.state, follow_system=False, options={"shared": False}):
        assert shell("listen").returncode == 5
    said = python("import bellwire.__main__ as m, sys; sys.exit(m.main(['--version']))")
    assert said.stdout == f"bellwire {bellwire.version()}\n"


def test_who_reads_the_output_may_go(peers: Peers, paired: Shell) -> None:
    with paired.begin("listen") as process:
        assert process.stdout is not None and process.stderr is not None
        peers.desktop.notify("first")
        assert "first" in process.stdout.readline()
        process.stdout.close()
        peers.desktop.notify("second")
        peers.desktop.notify("third")
        until(lambda: process.poll() is not None)
        assert process.returncode == 1 and process.stderr.read() == ""
