"""`bellwire listen --filter`: only pushes that match, and none that is lost for others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program
from test_command_line import Pair, pair  # noqa: F401

Start = Callable[..., Program]


def push(pair: Pair, *arguments: str) -> None:  # noqa: F811
    pushed = pair.bellwire("push", *arguments)
    assert pushed.wait() == 0, pushed.err.all


def titles(listener: Program) -> list[str]:
    return [re.split(r" {2,}", line)[3] for line in listener.out.all]


def begun(pair: Pair, *options: str) -> Program:  # noqa: F811
    """A listener that gets what is pushed from now on."""
    listener = pair.bellwire("listen", *options)
    listener.error_line("connected to Desk")
    return listener


PUSHES = (
    ("Build failed", "on größe.c", "-p", "urgent", "--thread", "builds"),
    ("Build done", "all green", "--thread", "builds"),
    ("Door", "rings", "-p", "high", "--category", "DOOR"),
    ("天気", "東京は晴れ", "-p", "low"),
)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param(["priority=urgent"], ["Build failed"], id="a priority"),
        pytest.param(["priority=5", "priority=high"], ["Build failed", "Door"], id="two priorities, one as a number"),
        pytest.param(["text=build"], ["Build failed", "Build done"], id="a word, in any case"),
        pytest.param(["text=gre* build"], ["Build done"], id="words in title and body, and a prefix"),
        pytest.param(["text=grosse.c", "text=GRÖSSE"], [], id="letters that are others"),
        pytest.param(["text=grösse", "text=größe.c"], ["Build failed"], id="other letters, or the right ones"),
        pytest.param(["text=東京"], ["天気"], id="a word in Japanese"),
        pytest.param(["thread=builds", "priority=normal"], ["Build done"], id="two keys"),
        pytest.param(["category=DOOR"], ["Door"], id="a category"),
        pytest.param(["source=pc", "desktop=Desk", "text=door"], ["Door"], id="three keys"),
        pytest.param(["source=mobile"], [], id="a source that no push has"),
    ],
)
def test_only_pushes_that_match_are_printed(pair: Pair, filters: list[str], found: list[str]) -> None:  # noqa: F811
    options = [word for each in filters for word in ("--filter", each)]
    others = ("listen", "--application-id", "org.example.Every")
    assert pair.bellwire(*others, "--timeout", "0.2").wait() == 0
    listener = begun(pair, *options)
    for each in PUSHES:
        push(pair, *each)
    every = pair.bellwire(*others, "--count", str(len(PUSHES)), "--timeout", "15")
    assert every.wait() == 0, "another program gets all of them"
    assert titles(every) == [each[0] for each in PUSHES]
    assert listener.end() == 0
    # All are stored by now: what the first was not given, the next one of this filter is.
    again = pair.bellwire("listen", *options, "--timeout", "0.5")
    assert again.wait() == 0, again.err.all
    assert titles(listener) + titles(again) == found


def test_what_does_not_match_is_there_for_the_next_listen(pair: Pair) -> None:  # noqa: F811
    # Before any program has listened.
    push(pair, "Early")
    push(pair, "Early and urgent", "-p", "urgent")
    nothing = pair.bellwire("listen", "--filter", "text=nothing", "--count", "1", "--timeout", "1")
    assert nothing.wait() == 3
    push(pair, "Later")
    push(pair, "Later and urgent", "-p", "urgent")
    urgent = pair.bellwire("listen", "--filter", "priority=urgent", "--timeout", "1")
    assert urgent.wait() == 0
    every = pair.bellwire("listen", "--count", "4", "--timeout", "15")
    assert every.wait() == 0, every.err.all
    assert titles(every) == ["Early", "Early and urgent", "Later", "Later and urgent"]


def test_a_filter_gets_what_was_sent_while_it_did_not_run(pair: Pair) -> None:  # noqa: F811
    options = ("--filter", "priority=urgent", "--filter", "text=disk")
    first = pair.bellwire("listen", *options, "--timeout", "0.5")
    assert first.wait() == 0
    push(pair, "Disk 1", "-p", "urgent")
    push(pair, "Disk 2")
    push(pair, "Disk 3", "-p", "urgent")
    # In another order it is the same filter.
    for title in ("Disk 1", "Disk 3"):
        again = pair.bellwire("listen", *options[2:], *options[:2], "--once", "--timeout", "15")
        assert again.wait() == 0, again.err.all
        assert titles(again) == [title]


def test_a_command_runs_for_what_matches(pair: Pair, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "out"
    options = ("--filter", "text=disk", "--application-id", "org.example.Disks", "--count", "2", "--json")
    listener = pair.bellwire("listen", *options, "--exec", f'echo "$BELLWIRE_TITLE" >> {file}')
    for title in ("Disk 1", "Door", "Disk 2"):
        push(pair, title)
    assert listener.wait() == 0, listener.err.all
    assert file.read_text().split("\n") == ["Disk 1", "Disk 2", ""]
    events = [json.loads(line) for line in listener.out.all]
    assert [each["event"] for each in events] == ["notification.received", "exec"] * 2


@pytest.mark.parametrize(
    ("filters", "code", "said"),
    [
        pytest.param(["--filter", "urgent"], 2, "priority=…", id="no key"),
        pytest.param(["--filter", "colour=red"], 2, "priority=…", id="an unknown key"),
        pytest.param(["--filter", "priority=shiny"], 2, "low, normal, high, urgent", id="no priority"),
        pytest.param(["--filter", "text= "], 2, "words", id="no words"),
        pytest.param(["--filter", "text=" + "x" * 2_000], 2, "query", id="too many words"),
        pytest.param(["--filter", "desktop=Nobody"], 4, "Nobody", id="a desktop that is not paired"),
        pytest.param(["--filter", "source=pc", "--all"], 2, "cannot be combined", id="all events"),
    ],
)
def test_a_bad_filter_is_named(pair: Pair, filters: list[str], code: int, said: str) -> None:  # noqa: F811
    refused = pair.bellwire("listen", *filters)
    assert refused.wait() == code and said in refused.err.all[-1], refused.err.all
