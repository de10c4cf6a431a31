"""bellwire listen with a command for each push: in order, fed, told about, ended, and no push lost with it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from peers import FakeDesktop
from programs import Program, wait_until
from test_command_line import Pair, pair_with

Start = Callable[..., Program]


@pytest.fixture
def pair(bellwire: Start) -> Iterator[Pair]:
    pair = Pair(bellwire)
    yield pair
    assert pair.desktop.end() == 0, pair.desktop.err.all


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_the_command_gets_the_push_on_its_input_and_in_its_environment_in_order(pair: Pair, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"""cat >> {log}.json; printf '%s|' "$BELLWIRE_TITLE" "$BELLWIRE_BODY" "$BELLWIRE_PRIORITY" \
        "$BELLWIRE_SOURCE" "$BELLWIRE_DESKTOP_NAME" "$BELLWIRE_LATE" "$BELLWIRE_REDELIVERED" >> {log}; echo >> {log}"""
    listener = pair.bellwire("listen", "--exec", command, "--count", "40", "--timeout", "60")
    listener.error_line("connected to Desk")
    pair.desktop.write("".join(f"Title {number}\tBody $(touch x) {number}\thigh\n" for number in range(40)))
    assert listener.wait(60) == 0, listener.err.all
    assert listener.out.all == []
    assert lines(log) == [f"Title {number}|Body $(touch x) {number}|high|pc|Desk|||" for number in range(40)]
    events = [json.loads(line) for line in lines(Path(f"{log}.json"))]
    assert [event["data"]["title"] for event in events] == [f"Title {number}" for number in range(40)]
    assert {event["event"] for event in events} == {"notification.received"}
    assert {event["desktop"] for event in events} == {json.loads(pair.code)["pcPeerId"]}


def test_words_after_the_dashes_run_without_a_shell(pair: Pair, tmp_path: Path) -> None:
    script = 'import json, sys; print(sys.argv[1:], json.load(sys.stdin)["data"]["title"])'
    listener = pair.bellwire("listen", "--once", "--", "python3", "-c", script, "$HOME", "--json")
    listener.error_line("connected to Desk")
    pair.desktop.write("Tea\n")
    assert listener.wait() == 0, listener.err.all
    assert listener.out.all == ["['$HOME', '--json'] Tea"]


def test_what_others_wrote_is_data_without_control_characters(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair_with(bellwire, fake_desktop)
    command = 'printf "%s|%s|" "$BELLWIRE_TITLE" "${#BELLWIRE_BODY}"; cat'
    listener = bellwire("listen", "--count", "2", "--exec", command)
    fake_desktop.accept()
    title = "a\x1b[31mb\n`id`\x00;$(id)\u202e"
    fake_desktop.push(1, title=title, body="line\nline\x07")
    fake_desktop.push(2, title="() { :; }; id", body="\u00e9" * 60_000)
    assert listener.wait(30) == 0, listener.err.all
    # The output of the first one ends with the event's line.
    first, second = listener.out.all
    assert first.startswith("a?[31mb `id`?;$(id)?|10|{")
    assert json.loads(first.split("|", 2)[2])["data"]["title"] == title
    shown, size, event = second.split("|", 2)
    assert shown == "() { :; }; id" and int(size) in (32_768, 65_536), "bytes, or characters"
    assert len(json.loads(event)["data"]["body"]) == 60_000


def test_a_command_that_reads_nothing_hinders_nobody(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair_with(bellwire, fake_desktop)
    listener = bellwire("listen", "--count", "3", "--exec", "exec true")
    fake_desktop.accept()
    for number in range(3):
        fake_desktop.push(number, body="x" * 500_000)
    assert listener.wait(30) == 0, listener.err.all


def test_its_failure_is_said_and_the_next_push_comes(pair: Pair) -> None:
    command = "case $BELLWIRE_TITLE in One) exit 7 ;; Two) kill -9 $$ ;; esac"
    listener = pair.bellwire("listen", "--exec", command, "--count", "3")
    listener.error_line("connected to Desk")
    pair.desktop.write("One\nTwo\nThree\n")
    listener.error_line("the command for .+ exited with 7$")
    listener.error_line("the command for .+ exited with 137$")
    assert listener.wait() == 1
    assert "failed for 2 of 3 pushes" in listener.err.all[-1]
    assert not any("One" in line or "Two" in line for line in listener.err.all)


def test_with_json_its_output_is_not_among_the_lines_and_its_end_is_told(pair: Pair) -> None:
    listener = pair.bellwire("listen", "--once", "--json", "--exec", "echo chatter; exit 3")
    pair.desktop.write("One\n")
    push = listener.event("notification.received", title="One")
    listener.event("exec", id=push["data"]["id"], code=3, overTime=False)
    assert listener.wait() == 1
    assert "chatter" in listener.err.all


def test_a_command_that_hangs_is_ended_with_all_that_it_started(pair: Pair, tmp_path: Path) -> None:
    # A child of its own, and deaf to the first signal.
    command = f"trap '' TERM; sh -c 'echo $$ > {tmp_path}/pid; exec sleep 600'; sleep 600"
    listener = pair.bellwire("listen", "--exec", command, "--exec-timeout", "0.5", "--once")
    listener.error_line("connected to Desk")
    begin = time.monotonic()
    pair.desktop.write("One\n")
    listener.error_line("timed out and was killed")
    assert listener.wait() == 1
    assert time.monotonic() - begin > 5, "asked first, then killed"
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2])


def test_ctrl_c_ends_the_command_and_its_push_comes_again(pair: Pair, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = f'echo "$BELLWIRE_TITLE" >> {started}; test "$BELLWIRE_TITLE" = One || exec sleep 600'
    listener = pair.bellwire("listen", "--exec", command)
    listener.error_line("connected to Desk")
    pair.desktop.write("One\nTwo\nThree\n")
    wait_until(lambda: lines(started) == ["One", "Two"])
    # The command sleeps for ten minutes.
    assert listener.end(signal.SIGINT) == 130
    assert "comes again" in listener.err.all[-1]
    again = pair.bellwire("listen", "--exec", 'echo "$BELLWIRE_TITLE"', "--count", "2")
    assert again.wait() == 0, again.err.all
    assert again.out.all == ["Two", "Three"]


def test_a_command_that_is_done_before_ctrl_c_ends_us_has_its_push(pair: Pair, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = f"trap 'exit 0' TERM; touch {started}; sleep 600 & wait"
    listener = pair.bellwire("listen", "--exec", command)
    listener.error_line("connected to Desk")
    pair.desktop.write("One\nTwo\n")
    wait_until(started.exists)
    assert listener.end(signal.SIGTERM) == 0, listener.err.all
    again = pair.bellwire("listen", "--exec", 'echo "$BELLWIRE_TITLE"', "--once")
    assert again.wait() == 0, again.err.all
    assert again.out.all == ["Two"]


def test_when_we_are_killed_only_the_push_whose_command_ran_comes_again(pair: Pair, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = f'echo "$$ $BELLWIRE_TITLE" >> {started}; test "$BELLWIRE_TITLE" != "Title 5" || exec sleep 600'
    listener = pair.bellwire("listen", "--exec", command)
    listener.error_line("connected to Desk")
    pair.desktop.write("".join(f"Title {number}\n" for number in range(10)))
    wait_until(lambda: len(lines(started)) == 6)
    listener.kill()
    os.kill(int(lines(started)[-1].split()[0]), signal.SIGKILL)
    again = pair.bellwire("listen", "--exec", 'echo "$BELLWIRE_TITLE:$BELLWIRE_REDELIVERED"', "--count", "5")
    assert again.wait() == 0, again.err.all
    assert [line.split(":")[0] for line in again.out.all] == [f"Title {number}" for number in range(5, 10)]
    # Those behind it were under way with it, and say so as well.
    assert again.out.all[0] == "Title 5:1"


def test_a_command_that_is_not_there_takes_no_push(pair: Pair) -> None:
    listener = pair.bellwire("listen", "--", "no-such-program-here")
    pair.desktop.write("One\n")
    assert listener.wait() == 1
    assert "cannot start no-such-program-here" in listener.err.all[-1]
    again = pair.bellwire("listen", "--once")
    assert again.wait() == 0, again.err.all
    assert again.out.all[0].endswith("One")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["--exec", "true", "--", "true"], "cannot be combined", id="two commands"),
        pytest.param(["--exec", " "], "empty", id="an empty command"),
        pytest.param(["--", ""], "empty", id="an empty word"),
        pytest.param(["--exec-timeout", "3"], "--exec-timeout", id="a time without a command"),
        pytest.param(["--exec", "true", "--exec-timeout", "0"], "--exec-timeout", id="no time at all"),
        pytest.param(["--exec", "true", "--all"], "--all", id="a command for every event"),
        pytest.param(["--once", "--count", "2"], "cannot be combined", id="one and two"),
    ],
)
def test_wrong_usage_is_code_2(arguments: list[str], named: str, bellwire: Start) -> None:
    program = bellwire("listen", *arguments)
    assert program.wait() == 2
    assert len(program.err.all) == 1 and named in program.err.all[0]
