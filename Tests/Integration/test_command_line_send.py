"""What `bellwire send` and `bellwire run` take, and what they say about what is bad."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import BELLWIRE, Program
from test_command_line import Pair, pair  # noqa: F401

Start = Callable[..., Program]


def shown(pair: Pair) -> list[str]:  # noqa: F811
    """The next notification that the desktop prints: priority, source, title, body."""
    return re.split(r" {2,}", pair.desktop.line(r"^\d{4}-\d\d-\d\d .*  mobile  ").string)[1:]


# MARK: send


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        pytest.param(["-t", "Title", "-m", "Body"], ["normal", "mobile", "Title", "Body"], id="options"),
        pytest.param(["-t", "Title", "Body"], ["normal", "mobile", "Title", "Body"], id="an option and an operand"),
        pytest.param(["Title", "-m", "Body"], ["normal", "mobile", "Title", "Body"], id="an operand and an option"),
        pytest.param(["-p", "5", "Title"], ["urgent", "mobile", "Title"], id="the highest number"),
        pytest.param(["-p", "4", "Title"], ["high", "mobile", "Title"], id="a number"),
        pytest.param(["-p", "1", "Title"], ["low", "mobile", "Title"], id="the lowest number"),
        pytest.param(["-p", "low", "Title"], ["low", "mobile", "Title"], id="a name"),
    ],
)
def test_title_body_and_priority_have_short_options(
    pair: Pair,  # noqa: F811
    arguments: list[str],
    found: list[str],
) -> None:
    sent = pair.bellwire("send", *arguments)
    assert sent.wait() == 0, sent.err.all
    assert sent.out.all == ["Sent to Desk."]
    assert shown(pair) == found


ALERT = (
    *("-p", "urgent", "--collapse", "disk", "--subtitle", "Server", "--image", "https://example.org/i.png"),
    *("--link", "app://disk", "--category", "MESSAGE", "--thread", "disks", "--sound", "default", "--badge", "3"),
    *("--button", "Graph=https://example.org/g?a=1", "--button", "Log=https://example.org/l", "--data", "k=v=w"),
    *("--expires", "2h"),
)


@pytest.mark.parametrize(
    "command", [["send"], ["send", "--broadcast"], ["send", "--to-mobile"], ["push"]], ids=lambda command: command[-1]
)
def test_every_field_of_a_push_has_an_option(pair: Pair, command: list[str]) -> None:  # noqa: F811
    sent = pair.bellwire(*command, "Disk", "91 %", *ALERT, "--ignore-quiet-hours")
    assert sent.wait() == 0, sent.err.all
    listener = pair.bellwire("listen", "--count", "2", "--json")
    data = listener.event("notification.received", title="Disk")["data"]
    wanted = {
        "priority": "urgent", "collapseKey": "disk", "subtitle": "Server", "imageUrl": "https://example.org/i.png",
        "deepLink": "app://disk", "category": "MESSAGE", "threadId": "disks", "sound": "default", "badge": 3,
        "silenced": False,
    }  # fmt: skip
    assert {key: data[key] for key in wanted} == wanted
    assert data["data"]["k"] == "v=w"
    assert json.loads(data["data"]["actions"]) == [
        {"action": "view", "label": "Graph", "url": "https://example.org/g?a=1"},
        {"action": "view", "label": "Log", "url": "https://example.org/l"},
    ]
    assert 7_000_000 < data["expiresAt"] - data["createdAt"] <= 7_200_000
    assert pair.bellwire(*command, "Quietly", "--silent").wait() == 0
    assert listener.event("notification.received", title="Quietly")["data"]["silenced"]
    assert listener.wait() == 0


@pytest.mark.parametrize("command", ["send", "push"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(["--button", "Graph"], "LABEL=URL", id="a button without a URL"),
        pytest.param(["--button", "Graph=x"], "not a URL", id="a button with another text"),
        pytest.param(["--button", "a=b:c"] * 4, "3 times at most", id="too many buttons"),
        pytest.param(["--data", "=x"], "NAME=TEXT", id="data without a name"),
        pytest.param(["--badge", "-1"], "--badge", id="a badge below zero"),
        pytest.param(["--at", "soon"], "--at", id="a time that is none"),
    ],
)
def test_a_bad_field_is_named(pair: Pair, command: str, options: list[str], said: str) -> None:  # noqa: F811
    refused = pair.bellwire(command, "Title", *options)
    assert refused.wait() == 2 and said in refused.err.all[-1], refused.err.all


def test_lines_take_the_options_and_override_them(pair: Pair) -> None:  # noqa: F811
    sender = pair.bellwire("send", "--stdin", "--json", "--collapse", "common", "--thread", "t", "-p", "high")
    sender.write('{"title":"Own","collapseKey":"own","imageUrl":"https://example.org/i.png"}\n{"title":"Common"}\n')
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    assert sender.wait() == 0, sender.err.all
    listener = pair.bellwire("listen", "--count", "2", "--json")
    own = listener.event("notification.received", title="Own")["data"]
    assert (own["collapseKey"], own["threadId"], own["priority"]) == ("own", "t", "high")
    common = listener.event("notification.received", title="Common")["data"]
    assert common["collapseKey"] == "common" and "imageUrl" not in common
    assert listener.wait() == 0


def test_a_quiet_send_says_nothing_but_errors(pair: Pair) -> None:  # noqa: F811
    for options in (["-q"], ["-q", "--json"]):
        sent = pair.bellwire("send", "Title", *options)
        assert sent.wait() == 0 and sent.out.all == [] and sent.err.all == []
    refused = pair.bellwire("send", "-q", "")
    assert refused.wait() == 2 and len(refused.err.all) == 1


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_each_bad_line_is_named_by_its_number(pair: Pair, options: list[str]) -> None:  # noqa: F811
    sender = pair.bellwire("send", "--stdin", *options)
    good, bad = ('{"title":"Good"}', '{"title":"Bad","priority":"shiny"}') if options else ("Good", "Bad\tb\tshiny")
    assert sender.process.stdin is not None
    sender.process.stdin.write(f"{good}\n\n{bad}\n".encode() + b"\xff\xfe\n" + b"y" * 300_000 + f"\n{good}".encode())
    sender.process.stdin.close()
    assert sender.wait(20) == 1
    numbers = [re.search(r"line (\d) of standard input: ", line) for line in sender.err.all[:-1]]
    # The library's own words stay in JSON. Text that is not UTF-8 is converted; no JSON is made of it.
    assert [found and found[1] for found in numbers] == (["3", "5"] if not options else [None, "4", "5"])
    failed = len(numbers)
    assert len(sender.out.all) == 5 - failed
    assert f"{failed} of 5 lines were not sent" in sender.err.all[-1]


def test_what_is_not_utf_8_is_refused(pair: Pair) -> None:  # noqa: F811
    for arguments in ([b"queue", b"remove", b"caf\xe9"], [b"send", b"t", b"--icon", b"\xc3"], [b"\xff"]):
        found = subprocess.run([os.fsencode(BELLWIRE), *arguments], capture_output=True, timeout=30, check=False)
        assert found.returncode == 2
        assert b"is not valid UTF-8" in found.stderr


def test_what_a_build_prints_is_sent_whatever_its_characters_and_length(pair: Pair) -> None:  # noqa: F811
    def publish(command: str, data: bytes) -> str:
        program = pair.bellwire(command, "Build", "-")
        assert program.process.stdin is not None
        program.process.stdin.write(data)
        program.process.stdin.close()
        assert program.wait(20) == 0, program.err.all
        return "\n".join(program.err.all)

    assert "left out" not in publish("send", b"gr\xf6\xdfe.c: error\n")
    assert shown(pair)[-1] == "größe.c: error"
    for data in (b"begin " + b"x" * 70_000 + b" end\n", b"begin " + b"gr\xc3\xb6\xc3\x9fe\n" * 200_000 + b"the end\n"):
        assert re.search(r"\d+ bytes in the middle are left out", publish("send", data))
        assert re.search(r"^begin .* \[… \d+ bytes left out …\] .* end$", shown(pair)[-1])
        assert re.search(r"\d+ bytes in the middle are left out", publish("push", data))


# MARK: run


@pytest.mark.parametrize(
    ("script", "code", "body", "priority"),
    [
        pytest.param("exit 0", 0, r"Succeeded after \d\.\d s", "normal", id="success"),
        pytest.param("exit 3", 3, r"Failed with exit code 3 after \d\.\d s", "high", id="failure"),
        pytest.param("kill -9 $$", 137, r"Ended by signal 9 \(Killed\) after \d\.\d s", "high", id="a signal"),
    ],
)
def test_run_says_how_a_command_ended_and_ends_like_it(
    pair: Pair,  # noqa: F811
    script: str,
    code: int,
    body: str,
    priority: str,
) -> None:
    done = pair.bellwire("run", "--", "sh", "-c", f"read word; echo got $word; {script}")
    done.write("input\n")
    assert done.wait(20) == code, done.err.all
    assert done.out.all == ["got input"]
    found = shown(pair)
    assert found[:3] == [priority, "mobile", f"sh -c read word; echo got $word; {script}"]
    assert re.fullmatch(body, found[3])


def test_run_has_a_title_and_does_not_report_what_was_fast(pair: Pair) -> None:  # noqa: F811
    fast = pair.bellwire("run", "--after", "60", "--title", "Fast", "--", "true")
    assert fast.wait() == 0, fast.err.all
    failed = pair.bellwire("run", "--after", "60", "-t", "Slow", "--", "false")
    assert failed.wait() == 1
    assert shown(pair)[2] == "Slow", "only what failed"


def test_run_passes_a_signal_on_and_reports_the_end(pair: Pair) -> None:  # noqa: F811
    running = pair.bellwire("run", "-t", "Long", "--", "sh", "-c", "echo begun; exec sleep 60")
    running.line("begun")
    assert running.end(signal.SIGTERM) == 143
    assert shown(pair)[3].startswith("Ended by signal 15")


def test_ctrl_c_is_not_reported(pair: Pair) -> None:  # noqa: F811
    running = pair.bellwire("run", "-t", "Long", "--", "sh", "-c", "echo begun; exec sleep 60")
    running.line("begun")
    # The terminal sends it to both.
    children = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True, check=True)
    running.process.send_signal(signal.SIGINT)
    os.kill(int(children.stdout), signal.SIGINT)
    assert running.wait() == 130
    last = pair.bellwire("send", "Last")
    assert last.wait() == 0
    assert shown(pair)[2] == "Last"


def test_what_cannot_start_or_be_reported_is_said(bellwire: Start, relay: str, tmp_path: Path) -> None:
    unpaired = bellwire("run", "--", "sh", "-c", "echo ran")
    assert unpaired.wait() == 4 and unpaired.out.all == [], "the command did not run"
    folder = ["--relay-url", relay]
    desktop = bellwire("desktop", *folder)
    assert bellwire("pair", desktop.line(r"^\{.*desktop-pairing.*").group()).wait() == 0
    desktop.line("^Paired with")
    assert desktop.end() == 0
    for words, code in ((["no-such-program"], 127), (["/"], 126)):
        missing = bellwire("run", "--", *words)
        assert missing.wait() == code and "cannot start" in missing.err.all[-1]
    with (tmp_path / "home/bellwire/device/lock").open("r+b") as lock:
        # A program that doesn't share the device.
        fcntl.lockf(lock, fcntl.LOCK_EX)
        taken = bellwire("run", "--", "sh", "-c", "exit 7")
        assert taken.wait() == 7 and len(taken.err.all) == 1, taken.err.all
