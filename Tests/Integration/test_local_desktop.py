"""Commands that use this machine's desktop, whether it runs or not: push, group, and the actions of bellwire desktop."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from doors import Door
from programs import BELLWIRE, Program, wait_until

Start = Callable[..., Program]


@pytest.fixture
def door(bellwire: Start, tmp_path: Path) -> Iterator[Door]:
    door = Door(bellwire, tmp_path, pairs=True)
    yield door
    if door.desktop.process.poll() is None:
        assert door.desktop.end() == 0, door.desktop.err.all


def pair(door: Door, bellwire: Start) -> None:
    assert bellwire("pair", door.code, "--name", "Phone").wait() == 0


def listen(bellwire: Start) -> Program:
    listener = bellwire("listen", "--json", "--all")
    listener.event("connection.changed", online=True)
    return listener


def test_a_push_reaches_devices_through_the_running_desktop(door: Door, bellwire: Start) -> None:
    pair(door, bellwire)
    listener = listen(bellwire)
    options = ("-p", "5", "--collapse", "k", "--image", "https://example.org/i.png", "--link", "app://x")
    identifier = door.command("push", "Title", "Body", *options, "--category", "c", "--thread", "t")[0]
    push = listener.event("notification.received", id=identifier)["data"]
    assert (push["title"], push["body"], push["priority"]) == ("Title", "Body", "urgent")
    assert (push["collapseKey"], push["imageUrl"], push["deepLink"]) == ("k", "https://example.org/i.png", "app://x")
    assert (push["category"], push["threadId"]) == ("c", "t")
    door.command("push", "Newer", "--collapse", "k")
    assert [title for title, _ in door.stored()] == ["Newer"]
    listener.end()


def test_a_withdrawn_push_is_deleted_on_the_devices(door: Door, bellwire: Start) -> None:
    pair(door, bellwire)
    listener = listen(bellwire)
    identifier = door.command("push", "Title")[0]
    listener.event("notification.received", id=identifier)
    assert door.command("push", "--withdraw", identifier) == ["Withdrawn."]
    listener.event("inbox.changed")
    listener.end()
    inbox = bellwire("inbox", "--json")
    assert inbox.wait() == 0 and identifier not in "".join(inbox.out.all)
    door.command("push", "--withdraw", identifier, code=4)


def test_a_push_is_kept_for_the_next_start_while_no_desktop_runs(door: Door, bellwire: Start, tmp_path: Path) -> None:
    pair(door, bellwire)
    assert door.command("desktop", "stop") == ["The desktop has stopped."]
    assert door.desktop.wait() == 0
    identifiers = [door.command("push", str(number))[0] for number in range(3)]
    door.command("desktop", "stop", code=3)
    assert door.command("desktop", "devices")[0].startswith("Phone (linux)")
    again = Door(bellwire, tmp_path, relay=door.relay)
    listener = bellwire("listen", "--json", "--all")
    received = [listener.event("notification.received")["data"]["id"] for _ in range(3)]
    assert received == identifiers
    listener.end()
    assert again.desktop.end() == 0


def test_20_pushes_at_once_while_the_desktop_comes_and_goes(bellwire: Start, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "desk")}
    assert bellwire("push", "first", home="desk").wait() == 0
    pushes = [
        subprocess.Popen([BELLWIRE, "push", str(number)], env=environment, stdout=subprocess.DEVNULL)
        for number in range(10)
    ]
    door = Door(bellwire, tmp_path)
    pushes += [
        subprocess.Popen([BELLWIRE, "push", str(number)], env=environment, stdout=subprocess.DEVNULL)
        for number in range(10, 20)
    ]
    assert [push.wait(30) for push in pushes] == [0] * 20
    assert sorted(int(title) for title, _ in door.stored() if title != "first") == list(range(20))
    assert door.desktop.end() == 0


def test_another_device_pairs_by_the_code_of_the_running_desktop(door: Door, bellwire: Start) -> None:
    pair(door, bellwire)
    offer, code = (json.loads(line)["data"] for line in door.command("desktop", "pair", "--json"))
    assert bellwire("pair", offer["payload"], "--name", "Tablet", home="tablet").wait() == 0
    assert re.fullmatch(r"\d{6}-\d{6}", code["code"])
    # Piped, it prints the code's text and the digits, which another device can type.
    shown = bellwire("desktop", "pair", home="desk")
    assert shown.wait() == 0 and any("works only on this machine" in line for line in shown.err.all), shown.err.all
    printed = shown.out.all
    typed = shlex.split(printed[-1].removeprefix("Or type digits: bellwire "))
    assert typed[:2] == ["pair", "--code"] and typed[3] == "--relay-url"
    assert bellwire(*typed, "--name", "Watch", home="watch").wait() == 0
    assert door.command("desktop", "devices")[-1].split()[0] == "Watch"
    assert sorted(line.split()[0] for line in door.command("desktop", "devices")) == ["Phone", "Tablet", "Watch"]
    assert door.command("desktop", "allow", "Tablet", "nothing") == ["Tablet may do: nothing."]
    refused = bellwire("send", "x", home="tablet")
    assert refused.wait() == 1 and "allow" in refused.err.all[-1]
    assert bellwire("send", "x").wait() == 0
    for words in (("allow", "Nobody", "safe"), ("allow", "Tablet", "everything"), ("allow", "Tablet"), ("dance",)):
        assert bellwire("desktop", *words, home="desk").wait() in (2, 4), words


def test_one_desktop_command_runs_in_a_directory(door: Door, bellwire: Start) -> None:
    second = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", home="desk")
    assert second.wait() == 5
    assert second.err.all == [f"bellwire: another bellwire desktop uses {door.directory}"]
    # It has ended by the time that the command has: the next one can start at once.
    assert door.command("desktop", "stop") == ["The desktop has stopped."]
    third = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", home="desk")
    third.line("^Relay at")
    assert door.desktop.wait() == 0
    assert third.end() == 0


PROGRAM = """
import json, sys
import bellwire
with bellwire.Desktop(state_dir=sys.argv[1], application_id="org.example.Watcher") as desktop:
    desktop.subscribe("*", lambda event: print(json.dumps({"event": event.event, "data": event.data}), flush=True))
    desktop.start()
    print(json.dumps({"event": "open"}), flush=True)
    desktop.run()
"""


def test_another_program_shares_the_desktop_and_takes_over(door: Door, bellwire: Start, python: Start) -> None:
    pair(door, bellwire)
    watcher = python(PROGRAM, str(door.directory))
    watcher.event("open")
    assert bellwire("send", "to both").wait() == 0
    watcher.event("notification.received", title="to both")
    door.desktop.line("to both")
    door.desktop.kill()
    # It carries the relay now; the command is its guest, with the same options.
    assert bellwire("send", "to one").wait() == 0
    watcher.event("notification.received", title="to one")
    door.command("desktop", "stop", code=3)
    again = bellwire("desktop", "--relay", f"127.0.0.1:{door.relay}", "--name", "Desk", "--no-pair", home="desk")
    again.line("^Relay at")
    assert bellwire("send", "to both again").wait() == 0
    watcher.event("notification.received", title="to both again")
    again.line("to both again")
    assert door.command("desktop", "stop") == ["The desktop has stopped."]
    assert again.wait() == 0
    watcher.end()


def test_commands_for_peers_work_while_the_desktop_runs(door: Door, bellwire: Start) -> None:
    pair(door, bellwire)
    listener = listen(bellwire)
    assert door.command("peers", "--desktop", "--rename", "Phone", "Mine") == ["Renamed Phone to Mine."]
    # The running desktop notifies it: no relay is named.
    unpaired = bellwire("peers", "--desktop", "--unpair", "Mine", home="desk")
    assert unpaired.wait() == 0 and unpaired.err.all == [], unpaired.err.all
    listener.event("peers.changed")
    listener.end()
    assert door.command("desktop", "devices") == []


def test_a_device_that_another_program_runs_notifies_the_desktop_that_it_unpairs(door: Door, bellwire: Start) -> None:
    pair(door, bellwire)
    listener = listen(bellwire)
    unpaired = bellwire("peers", "--unpair", "Desk")
    assert unpaired.wait() == 0 and unpaired.err.all == [], unpaired.err.all
    listener.end()
    wait_until(lambda: door.command("desktop", "devices") == [])


def test_a_desktop_that_was_killed_and_a_long_path_do_no_harm(bellwire: Start, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    state = str(deep / "state")
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", "--state-dir", state)
    desktop.line("^Relay at")
    desktop.kill()
    pushed = bellwire("push", "kept", "--state-dir", state)
    assert pushed.wait() == 0, pushed.err.all
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", "--state-dir", state)
    desktop.line("^Relay at")
    assert bellwire("desktop", "stop", "--state-dir", state).wait() == 0
    assert desktop.wait() == 0


def test_what_push_and_group_refuse(bellwire: Start) -> None:
    for arguments, code in (
        (("push",), 2),
        (("push", "x", "--at", "soon"), 2),
        (("push", "x", "--at", "400d"), 4),
        (("push", "x", "--group", "none"), 4),
        (("push", "x", "--group", "g", "--device", "d"), 2),
        (("push", "x", "--at", "2h", "--expires", "1h"), 4),
        (("push", "x", "--state-dir", ":memory:"), 2),
        (("group", "g"), 2),
        (("group", "g", "nobody"), 4),
        (("group", "--remove", "g"), 4),
        (("token", "--revoke", "x"), 4),
        (("token", "x", "--per-minute", "-1"), 2),
        (("desktop", "--http-open"), 2),
        (("desktop", "--http", "nowhere", "--relay", "127.0.0.1:0"), 2),
    ):
        program = bellwire(*arguments, home="desk")
        assert (program.wait(), len(program.err.all)) == (code, 1), (arguments, program.err.all)
