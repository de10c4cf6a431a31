"""`bellwire rekey` and `bellwire revoke`: a process for each side, over a relay (WireRekey, "Overview")."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import Program
from terminal import Terminal
from test_pairing_flows import House, ended, paired, scan


@pytest.fixture
def house(bellwire: Callable[..., Program]) -> Iterator[House]:
    house = House(bellwire)
    yield house
    house.close()


def object_of(program: Program) -> dict[str, Any]:
    assert program.wait(30) == 0, program.err.all
    found: dict[str, Any] = json.loads(program.out.all[-1])
    return found


def test_a_device_gets_a_new_key_and_keeps_its_desktop(house: House) -> None:
    desktop, device = scan(house)
    mine, phone = ended(device), paired(desktop)
    mover = house.bellwire("rekey", "--timeout", "60")
    new = mover.line(r"The new id is (did:key:\S+)\. Accept").group(1)
    asked = desktop.event("rekey.changed", state="confirming")["data"]
    assert (asked["id"], asked["newId"]) == (phone["id"], new)
    # The desktop's user answers with a command of its own.
    assert desktop.end() == 0
    status = object_of(house.bellwire("rekey", "--desktop", "--status", "--json"))
    assert [question["newId"] for question in status["questions"]] == [new]
    accepted = house.bellwire("rekey", "--desktop", "--accept", "Phone", "--relay-url", house.url)
    assert accepted.wait(30) == 0, accepted.err.all
    assert accepted.out.all == ["Accepted the new key of Phone."]
    again = house.desktop("--no-pair")
    # The accepting command may have told the mover everything before this one is up.
    again.event("connection.changed", online=True)
    mover.line("^The new key is in use", 60)
    mover.line("^Every paired machine knows it", 60)
    assert mover.wait(30) == 0, mover.err.all
    sent = house.bellwire("send", "after")
    assert sent.wait(30) == 0, sent.err.all
    listing = house.bellwire("peers", "--json")
    assert [desktop["id"] for desktop in object_of(listing)["desktops"]] == [mine["id"]]
    assert again.end() == 0
    (refused,) = object_of(house.bellwire("revoke", "--desktop", "--list", "--json"))["revoked"]
    assert (refused["id"], refused["movedTo"]) == (phone["id"], new)


class Family:
    """A desktop that has ended, with two devices that listen: Phone and Laptop."""

    def __init__(self, house: House) -> None:
        self.house = house
        desktop, device = scan(house)
        self.desk = ended(device)["id"]
        paired(desktop)
        offer = house.bellwire("desktop", "pair", "--json").event("offer")["data"]["payload"]
        object_of(house.bellwire("pair", offer, "--name", "Laptop", "--json", home="laptop"))
        paired(desktop)
        self.homes = {"Phone": "home", "Laptop": "laptop"}
        self.listeners = {
            name: house.bellwire("listen", "--json", "--all", home=home) for name, home in self.homes.items()
        }
        for listener in self.listeners.values():
            listener.event("connection.changed", online=True)
        assert desktop.end() == 0

    def move(self, *options: str) -> Program:
        return self.house.bellwire("rekey", "--desktop", "--relay-url", self.house.url, "--timeout", "60", *options)

    def answer(self, name: str, answer: str) -> None:
        self.listeners[name].event("rekey.changed", state="confirming")
        answered = self.house.bellwire("rekey", f"--{answer}", self.desk, home=self.homes[name])
        assert answered.wait(30) == 0, answered.err.all


def test_a_move_says_who_has_answered_and_who_is_awaited(house: House) -> None:
    family = Family(house)
    mover = family.move()
    mover.line("^The new id is")
    mover.line("^waiting for (Phone, Laptop|Laptop, Phone)\\.$")
    family.answer("Laptop", "accept")
    mover.line("^Laptop has accepted the new key \\(1 of 2\\); waiting for Phone\\.$", 30)
    family.answer("Phone", "decline")
    mover.line("^Phone has declined the new key: run bellwire rekey again to ask it again.* \\(1 of 2\\)\\.$", 30)
    assert mover.end(2) == 130
    assert not any("\x1b" in line for line in mover.out.all)
    # What is known already is said once more, and then what is new.
    again = family.move()
    again.line("^Laptop has accepted the new key \\(1 of 2\\); waiting for Phone\\.$", 30)
    family.answer("Phone", "accept")
    again.line("^Phone has accepted the new key \\(2 of 2\\)\\.$", 30)
    again.line("^The new key is in use")
    told = [again.line("^(Phone|Laptop) knows the new key \\(1 of 2\\); waiting for (Phone|Laptop)\\.$|^Every", 60)]
    if told[0][1]:
        again.line("^(Phone|Laptop) knows the new key \\(2 of 2\\)\\.$", 60)
        again.line("^Every paired machine knows it", 60)
    assert again.wait(30) == 0, again.err.all


def test_a_move_as_json_is_a_line_for_each_change_and_the_status(house: House) -> None:
    family = Family(house)
    mover = family.move("--json")
    first = mover.event("rekey.changed")["data"]
    assert first["state"] == "asking" and {peer["state"] for peer in first["peers"]} == {"waiting"}
    family.answer("Laptop", "accept")
    states = {peer["name"]: peer["state"] for peer in mover.event("rekey.changed")["data"]["peers"]}
    assert states == {"Laptop": "approved", "Phone": "waiting"}
    family.answer("Phone", "accept")
    status = object_of(mover)
    assert status["state"] == "none" and "event" not in status


def test_a_move_on_a_terminal_has_a_last_line_that_changes(house: House, terminal_home: None) -> None:
    family = Family(house)
    arguments = ("rekey", "--desktop", "--relay-url", house.url, "--timeout", "60")
    mover = Terminal(*arguments, columns=60)
    mover.wait_for("The new id is")
    mover.wait_for(r"\r\x1b\[K\S*0 of 2; waiting for (Phone, Laptop|Laptop, Phone)")
    family.answer("Laptop", "accept")
    mover.wait_for(r"\r\x1b\[KLaptop has accepted the new key\.\r\n\r\x1b\[K\S*1 of 2; waiting for Phone", 30)
    family.answer("Phone", "accept")
    mover.wait_for(r"\r\x1b\[KPhone has accepted the new key\.\r\n", 30)
    mover.wait_for("The new key is in use")
    mover.wait_for("Every paired machine knows it", 60)
    assert mover.wait() == 0


@pytest.fixture
def terminal_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs in a terminal use the directory that the others use."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))


def test_a_running_desktop_tells_of_a_move_and_takes_the_answer(house: House) -> None:
    desktop, device = scan(house)
    ended(device), paired(desktop)
    assert desktop.end() == 0
    asked = house.bellwire("desktop", "accept")
    assert asked.wait() == 3 and "no bellwire desktop is running" in asked.err.all[-1]

    def start() -> Program:
        return house.bellwire("desktop", "--relay-url", house.url, "--name", "Desk", "--no-pair")

    running = start()
    running.error_line("online")
    nothing = house.bellwire("desktop", "accept")
    assert nothing.wait() == 4 and "no device asks to move" in nothing.err.all[-1]
    mover = house.bellwire("rekey", "--timeout", "60")
    new = mover.line(r"The new id is (did:key:\S+)\. Accept").group(1)
    question = rf"Phone asks to move to the new key {new}\. .*bellwire desktop accept\. .*bellwire desktop decline$"
    running.error_line(question)
    # Questions survive a restart, and can be asked for beside a running desktop.
    assert running.end() == 0
    again = start()
    again.error_line(question)
    status = object_of(house.bellwire("rekey", "--desktop", "--status", "--json"))
    assert [question["newId"] for question in status["questions"]] == [new]
    assert house.bellwire("desktop", "accept", "Nobody").wait() == 4
    accepted = house.bellwire("desktop", "accept", "Phone")
    assert accepted.wait(30) == 0, accepted.err.all
    assert accepted.out.all == ["Accepted the new key of Phone."]
    mover.line("^The new key is in use", 60)
    assert mover.wait(60) == 0, mover.err.all
    again.error_line("Phone has moved to its new key")
    assert again.end() == 0


def test_a_running_desktop_declines_a_move(house: House) -> None:
    desktop, device = scan(house)
    ended(device), paired(desktop)
    mover = house.bellwire("rekey", "--timeout", "10")
    mover.line("The new id is")
    desktop.event("rekey.changed", state="confirming")
    declined = house.bellwire("desktop", "decline")
    assert declined.wait(30) == 0 and declined.out.all == ["Declined the new key of Phone."]
    desktop.event("rekey.changed", state="declined")
    assert mover.wait(30) == 3 and "Desk (declined)" in mover.err.all[-1]
    assert desktop.end() == 0


@pytest.mark.parametrize("command", ["listen", "agent"])
def test_a_running_device_tells_of_its_desktops_move(house: House, command: str) -> None:
    desktop, device = scan(house)
    mine = ended(device)
    paired(desktop)
    assert desktop.end() == 0
    listener = house.bellwire(command)
    mover = house.bellwire("rekey", "--desktop", "--relay-url", house.url, "--timeout", "60")
    new = mover.line(r"The new id is (did:key:\S+)\. Accept").group(1)
    listener.error_line(rf"Desk asks to move to the new key {new}\. .*bellwire rekey --accept {mine['id']}\. ")
    status = object_of(house.bellwire("rekey", "--status", "--json"))
    assert [question["newId"] for question in status["questions"]] == [new]
    accepted = house.bellwire("rekey", "--accept", mine["id"])
    assert accepted.wait(30) == 0, accepted.err.all
    mover.line("^The new key is in use", 60)
    assert mover.wait(60) == 0, mover.err.all
    assert listener.end() == 0


def test_a_move_that_nobody_accepts_waits_and_is_cancelled(house: House) -> None:
    desktop, device = scan(house)
    ended(device), paired(desktop)
    # The first session comes while the command waits; the desktop's user doesn't answer.
    waiting = house.bellwire("rekey", "--timeout", "6")
    assert waiting.wait(30) == 3, waiting.err.all
    assert "still waiting for Desk (waiting)" in waiting.err.all[-1]
    assert desktop.end() == 0
    assert object_of(house.bellwire("rekey", "--status", "--json"))["state"] == "asking"
    cancelled = house.bellwire("rekey", "--cancel")
    assert cancelled.wait() == 0 and cancelled.out.all == ["Cancelled. The key stays as it was."]
    assert house.bellwire("rekey", "--cancel").wait() == 4
    nobody = house.bellwire("rekey", "--accept", "Desk")
    assert nobody.wait() == 4


def test_a_revoked_device_is_refused_until_it_is_removed_from_the_list(house: House) -> None:
    desktop, device = scan(house)
    ended(device)
    phone = paired(desktop)
    assert desktop.end() == 0
    revoked = house.bellwire("revoke", "--desktop", "Phone")
    assert revoked.wait() == 0, revoked.err.all
    assert revoked.out.all == ["Revoked Phone. Nothing in its name is accepted any more."]
    again = house.desktop("--no-pair")
    again.event("connection.changed", online=True)
    assert house.bellwire("send", "Evil", "--timeout", "3").wait() != 0
    assert not any("Evil" in line for line in again.out.all)
    assert again.end() == 0
    listing = house.bellwire("revoke", "--desktop", "--list")
    assert listing.wait() == 0 and phone["id"] in listing.out.all[0] and listing.out.all[0].endswith("revoked")
    assert house.bellwire("revoke", "--desktop", "--remove", "did:key:zNobody").wait() == 4
    removed = house.bellwire("revoke", "--desktop", "--remove", phone["id"])
    assert removed.wait() == 0 and removed.out.all == ["Removed Phone. It can be paired again."]
    empty = house.bellwire("revoke", "--desktop", "--list")
    assert empty.wait() == 0 and empty.out.all == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["revoke"], "PEER", id="nobody to revoke"),
        pytest.param(["revoke", "x", "--list"], "PEER", id="a peer and the list"),
        pytest.param(["revoke", "--list", "--remove", "x"], "cannot be combined", id="two actions"),
        pytest.param(["rekey", "--status", "--cancel"], "cannot be combined", id="two ways of moving"),
        pytest.param(["rekey", "--relay-url", "ws://x"], "--desktop", id="a relay for a device's move"),
    ],
)
def test_usage(house: House, arguments: list[str], words: str) -> None:
    started = time.monotonic()
    program = house.bellwire(*arguments)
    assert program.wait() == 2 and words in program.err.all[-1]
    assert time.monotonic() - started < 10
