"""What `bellwire status` says of this machine's device and desktop, and what it advises."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from programs import Program, wait_until
from test_command_line import Pair

Start = Callable[..., Program]


def text(bellwire: Start, *arguments: str, home: str = "home") -> str:
    program = bellwire("status", *arguments, home=home)
    assert program.wait() == 0, program.err.all
    assert program.err.all == []
    return "\n".join(program.out.all)


def state(bellwire: Start, *arguments: str, home: str = "home") -> dict[str, Any]:
    return json.loads(text(bellwire, "--json", *arguments, home=home))


def messages(found: dict[str, Any]) -> list[str]:
    assert all(problem["advice"] and problem["role"] in ("device", "desktop") for problem in found["problems"])
    return [problem["message"] for problem in found["problems"]]


def test_an_empty_home_has_neither_role_and_stays_empty(bellwire: Start, tmp_path: Path) -> None:
    assert text(bellwire).split("\n") == [
        "device: none on this machine", "desktop: none on this machine", "No problems found",
    ]  # fmt: skip
    found = state(bellwire)
    assert (found["device"], found["desktop"], found["problems"]) == (None, None, [])
    assert not (tmp_path / "home").exists()


def test_both_roles_are_shown_with_their_program_relay_and_peers(bellwire: Start) -> None:
    pair = Pair(bellwire)
    listen = bellwire("listen")

    def is_online() -> bool:
        desktops = state(bellwire, "--device")["device"]["desktops"]
        return [desktop["online"] for desktop in desktops] == [True]

    wait_until(is_online)
    found = state(bellwire)
    assert found["desktop"]["running"] is True
    assert found["desktop"]["holder"]["process"] == pair.desktop.pid
    assert found["device"]["running"] is True
    assert found["device"]["holder"]["process"] == listen.pid
    assert [device["name"] for device in found["desktop"]["devices"]] != []
    assert found["problems"] == []
    lines = text(bellwire)
    url = json.loads(pair.code)["signalingUrl"]
    assert f"Desk (linux): online over {url}" in lines
    assert f"(process {listen.pid})" in lines and f"(process {pair.desktop.pid})" in lines
    # Both go on, and end as usual.
    assert listen.end() in (0, 143)
    assert pair.desktop.end() == 0, pair.desktop.err.all


def test_what_does_not_run_is_a_problem_with_advice(bellwire: Start) -> None:
    pair = Pair(bellwire)
    assert pair.desktop.end() == 0
    sent = bellwire("send", "Later", "waits")
    assert sent.wait(40) == 0, sent.err.all
    found = state(bellwire)
    assert (found["device"]["running"], found["desktop"]["running"]) == (False, False)
    assert (found["device"]["holder"], found["desktop"]["holder"]) == (None, None)
    assert [desktop["online"] for desktop in found["device"]["desktops"]] == [None]
    assert found["device"]["queue"]["count"] == 1
    assert "No program is connected, so pushes wait at the desktop." in messages(found)
    assert "The desktop does not run." in messages(found)
    lines = text(bellwire)
    assert "queue      1 waiting" in lines and "Start bellwire desktop." in lines


def test_a_relay_that_is_gone_is_named(bellwire: Start) -> None:
    pair = Pair(bellwire)
    url = json.loads(pair.code)["signalingUrl"]
    assert pair.desktop.end() == 0
    listen = bellwire("listen")

    def is_named() -> bool:
        return any("No relay of Desk can be reached: " in message for message in messages(state(bellwire, "--device")))

    wait_until(is_named, 20)
    assert url.startswith("ws://")
    assert listen.end() in (0, 143)


def test_declined_alerts_are_a_problem(bellwire: Start) -> None:
    pair = Pair(bellwire)
    declined = bellwire("settings", "--device", "alerts=denied")
    assert declined.wait() == 0, declined.err.all
    found = state(bellwire, "--device")
    assert found["device"]["alerts"] == "denied" and "desktop" not in found
    assert "Alerts are not allowed." in messages(found)
    assert pair.desktop.end() == 0


def test_a_directory_needs_its_role(bellwire: Start, tmp_path: Path) -> None:
    program = bellwire("status", "--state-dir", tmp_path)
    assert program.wait() == 2
    assert program.err.all == ["bellwire: --state-dir requires --device or --desktop"]


def test_an_ambiguous_peer_lists_only_its_matches(bellwire: Start) -> None:
    first = Pair(bellwire)
    homes = ["second", "third"]
    for home, name in zip(homes, ["Desk", "Elsewhere"], strict=True):
        desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--name", name, home=home)
        pairing = bellwire("pair", desktop.line(r"^\{.*desktop-pairing.*").group())
        assert pairing.wait() == 0, pairing.err.all
        desktop.end()
    program = bellwire("peers", "--unpair", "Desk")
    assert program.wait() == 2
    assert "matches several desktops" in program.err.all[0] and "Elsewhere" not in program.err.all[0]
    assert first.desktop.end() == 0
