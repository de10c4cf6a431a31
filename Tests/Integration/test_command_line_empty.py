"""A list without rows says so in a sentence, and stays a list in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from programs import Program
from test_command_line import Pair

Start = Callable[..., Program]

EMPTY = [
    (["pair", "--list"], "desktops", "no desktop is paired"),
    (["peers"], "desktops", "no desktop is paired"),
    (["peers", "--names"], None, "no desktop is paired"),
    (["peers", "--clear"], "desktops", "no desktop is paired"),
    (["peers", "--desktop"], "devices", "no device is paired"),
    (["peers", "--desktop", "--names"], None, "no device is paired"),
    (["desktop", "devices"], "devices", "no device is paired"),
    (["inbox"], "notifications", "the inbox is empty"),
    (["inbox", "--unread"], "notifications", "no notification matches"),
    (["inbox", "--search", "tea"], "notifications", "no notification matches"),
    (["queue"], "changes", "the queue is empty"),
    (["queue", "run"], None, "no change waits in the queue"),
    (["queue", "retry"], "changes", "no failed changes"),
    (["queue", "clear"], "changes", "no failed changes"),
    (["revoke", "--list"], "revoked", "no key is refused"),
    (["revoke", "--list", "--desktop"], "revoked", "no key is refused"),
    (["token"], "tokens", "there are no tokens; bellwire token NAME creates one"),
    (["group"], "groups", "there are no groups; bellwire group NAME DEVICE creates one"),
    (["push", "--scheduled"], "scheduled", "no notifications are scheduled"),
]  # fmt: skip


def check(bellwire: Start, command: list[str], member: str | None, sentence: str) -> None:
    found = bellwire(*command)
    assert found.wait() == 0, (command, found.err.all)
    assert (found.out.all, found.err.all) == ([], [f"bellwire: {sentence}"]), command
    if member:
        as_json = bellwire(*command, "--json")
        assert as_json.wait() == 0 and as_json.err.all == [], command
        (line,) = as_json.out.all
        assert json.loads(line)[member] == [], command


@pytest.mark.parametrize(("command", "member", "sentence"), EMPTY, ids=[" ".join(row[0]) for row in EMPTY])
def test_an_empty_list_says_so(bellwire: Start, command: list[str], member: str | None, sentence: str) -> None:
    check(bellwire, command, member, sentence)


def test_an_empty_history_says_so(bellwire: Start) -> None:
    pair = Pair(bellwire)
    check(bellwire, ["history"], "notifications", "the history of Desk is empty")
    assert pair.bellwire("send", "Tea").wait() == 0
    check(bellwire, ["history", "--search", "coffee"], "notifications", "no notification matches")
    assert pair.bellwire("inbox", "refresh").wait() == 0
    check(bellwire, ["inbox", "--search", "coffee"], "notifications", "no notification matches")
