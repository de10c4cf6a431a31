"""Commands that use this machine's desktop, whether it runs or not: push, group, and the actions of bellwire desktop."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
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
    assert door.command("desktop", "stop") == ["The desktop stops."]
    assert door.desktop.wait() == 0
    assert not (door.directory / "desktop.sock").exists()
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
    offer = json.loads(door.command("desktop", "pair", "--json")[0])["data"]
    assert bellwire("pair", offer["payload"], "--name", "Tablet", home="tablet").wait() == 0
    assert sorted(line.split()[0] for line in door.command("desktop", "devices")) == ["Phone", "Tablet"]
    assert door.command("desktop", "allow", "Tablet", "nothing") == ["Tablet may do: nothing."]
    refused = bellwire("send", "x", home="tablet")
    assert refused.wait() == 1 and "allow" in refused.err.all[-1]
    assert bellwire("send", "x").wait() == 0
    for words in (("allow", "Nobody", "safe"), ("allow", "Tablet", "everything"), ("allow", "Tablet"), ("dance",)):
        assert bellwire("desktop", *words, home="desk").wait() in (2, 4), words


def test_the_socket_is_its_users_alone_and_takes_no_nonsense(door: Door) -> None:
    path = door.directory / "desktop.sock"
    # A socket's own path is short.
    folder = os.open(door.directory, os.O_PATH)
    address = f"/proc/self/fd/{folder}/desktop.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def ask(data: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(15)
            client.connect(address)
            found = b""
            try:
                client.sendall(data)
                while part := client.recv(65_536):
                    found += part
            except OSError:
                pass
            return found

    for line in (b"\n", b"{}\n", b"[]\n", b"\xff\n", b'{"call":"dance"}\n', b'{"call":"notify","params":7}\n'):
        answer = json.loads(ask(line))
        assert answer["message"] and answer["exit"] != 0, line
    # A line without end, and more clients than there are places, of which none asks anything.
    assert ask(b"x" * (2 << 20)) == b""
    idle = []
    for _ in range(200):
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
        idle.append(client)
    assert re.fullmatch(r"[0-9a-f-]{36}", door.command("push", "still there")[0])
    for client in idle:
        client.close()
    os.close(folder)


def test_a_socket_left_behind_and_a_long_path_do_no_harm(bellwire: Start, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    state = str(deep / "state")
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", "--state-dir", state)
    desktop.line("^Relay at")
    wait_until((deep / "state/desktop.sock").exists)
    desktop.kill()
    pushed = bellwire("push", "kept", "--state-dir", state)
    assert pushed.wait() == 0, pushed.err.all
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", "--state-dir", state)
    desktop.line("^Relay at")
    stop = bellwire("desktop", "stop", "--state-dir", state)
    assert stop.wait() in (0, 3)
    assert desktop.end() == 0


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
