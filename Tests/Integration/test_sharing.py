"""One device, or one desktop, that several programs use at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import Host
from programs import Program, wait_until

Start = Callable[..., Program]

SENDERS = 50


def test_listen_a_program_and_many_senders_share_a_pairing(
    bellwire: Start, start: Start, relay: str, tmp_path: Path
) -> None:
    """Every send succeeds, and the listeners, two terminals among them, get each push once."""
    desktop = Host(
        start,
        "desktop",
        {"state_dir": ":memory:", "name": "Desk", "relay_url": relay, "follow_system": False},
    )
    desktop.start()
    offer = desktop.call("bw_desktop_offer", 10_000)
    assert bellwire("pair", offer["payload"]).wait() == 0
    listens = [bellwire("listen", "--json"), bellwire("listen", "--json")]
    program = Host(
        start,
        "device",
        {
            "state_dir": str(tmp_path / "home/bellwire/device"),
            "application_id": "org.example.Program",
        },
    )
    program.start()

    def is_known() -> bool:
        """A program gets events from its first dispatch on."""
        desktop.call("bw_desktop_notify", {"title": "Ready", "body": ""}, 10_000)
        return all(listen.out.all for listen in listens)

    wait_until(is_known, 30)

    senders = [bellwire("send", f"Title {number}", "Body") for number in range(SENDERS)]
    for sender in senders:
        assert sender.wait() == 0, sender.err.all
    expected = {f"Title {number}" for number in range(SENDERS)}

    def pushes(listen: Program) -> list[str]:
        titles: list[str] = []
        while len(titles) < SENDERS:
            title = listen.event("notification.received")["data"]["title"]
            titles += [title] if title != "Ready" else []
        return titles

    pushed = pushes(listens[0])
    assert set(pushed) == expected
    assert pushes(listens[1]) == pushed

    def received() -> list[str]:
        titles = [push["title"] for push in program.of("notification.received")]
        return [title for title in titles if title != "Ready"]

    wait_until(lambda: len(received()) >= SENDERS, 30)
    assert received() == pushed
    program.close()
    desktop.close()


@pytest.mark.parametrize("part", ["holder", "guest"])
def test_only_pushes_whose_callbacks_had_begun_say_redelivered_after_a_death(
    bellwire: Start, start: Start, relay: str, tmp_path: Path, part: str
) -> None:
    desktop = Host(
        start, "desktop", {"state_dir": ":memory:", "name": "Desk", "relay_url": relay, "follow_system": False}
    )
    desktop.start()

    def open_device(application: str) -> Host:
        device = Host(
            start,
            "device",
            {"state_dir": str(tmp_path / "home/bellwire/device"), "application_id": application},
        )
        device.start()
        return device

    assert bellwire("pair", desktop.call("bw_desktop_offer", 10_000)["payload"]).wait() == 0
    keeper = open_device("org.example.Keeper") if part == "guest" else None
    mortal = open_device("org.example.Mortal")
    assert mortal.state["sharing"]["part"] == part

    def push(numbers: range) -> None:
        for number in numbers:
            desktop.call("bw_desktop_notify", {"title": f"{number}", "body": ""}, 10_000)

    # It is known from its first push on.
    push(range(1))
    mortal.event("notification.received")
    mortal.pause(True)
    push(range(1, 10))
    mortal.die_in_callback("3")
    mortal.program.write('{"pauses": false}\n')
    assert mortal.program.wait() == 9

    again = open_device("org.example.Mortal")
    wait_until(lambda: len(again.of("notification.received")) >= 9, 15)
    received = [(push["title"], push.get("redelivered", False)) for push in again.of("notification.received")]
    assert received == [(f"{number}", number <= 3) for number in range(1, 10)]
    again.close()
    if keeper:
        keeper.close()
    desktop.close()


def test_programs_share_a_desktop_whose_holders_are_killed(
    bellwire: Start, start: Start, relay: str, tmp_path: Path
) -> None:
    """Each program pushes while the holder of the desktop is killed; the device gets every push once."""

    def open_desktop(application: str, **options: object) -> Host:
        desktop = Host(
            start,
            "desktop",
            {"state_dir": str(tmp_path / "desk"), "application_id": f"org.example.{application}", **options},
        )
        desktop.start()
        return desktop

    desktops = [open_desktop("First", name="Desk", relay_url=relay, follow_system=False)]
    desktops += [open_desktop(name) for name in ("Second", "Third", "Fourth")]
    assert [desktop.state["sharing"]["part"] for desktop in desktops] == ["holder", "guest", "guest", "guest"]
    assert bellwire("pair", desktops[3].call("bw_desktop_offer", 10_000)["payload"]).wait() == 0
    listen = bellwire("listen", "--json")
    expected: list[str] = []
    while len(desktops) > 1:
        guests = desktops[1:]
        titles = [f"{number} of {len(guests)}" for number in range(len(guests))]
        ends = [
            desktop.begin("bw_desktop_notify", {"title": title, "body": "", "answerWhen": "stored"}, 20_000)
            for desktop, title in zip(guests, titles)
        ]
        desktops[0].program.kill()
        for end in ends:
            assert end()["status"] == 0
        expected += titles
        parts = {desktop: desktop.state["sharing"]["part"] for desktop in guests}
        assert sorted(parts.values()) == ["guest"] * (len(parts) - 1) + ["holder"]
        desktops = sorted(parts, key=lambda desktop: parts[desktop] == "guest")

    def received() -> list[str]:
        lines = [json.loads(line) for line in listen.out.all if line.startswith("{")]
        return [line["data"]["title"] for line in lines if line.get("event") == "notification.received"]

    wait_until(lambda: len(received()) >= len(expected), 30)
    # Another one, so that a push that came twice would be there, too.
    desktops[0].call("bw_desktop_notify", {"title": "Last", "body": ""}, 10_000)
    wait_until(lambda: "Last" in received(), 30)
    assert sorted(received()) == sorted([*expected, "Last"])
    desktops[0].close()


def test_an_inbox_larger_than_a_frame_is_read_beside_a_listener(
    bellwire: Start, start: Start, relay: str, tmp_path: Path
) -> None:
    """Control characters take six bytes each in JSON: 48 such pushes have more than programs exchange at once."""
    desktop = Host(
        start, "desktop", {"state_dir": ":memory:", "name": "Desk", "relay_url": relay, "follow_system": False}
    )
    desktop.start()
    assert bellwire("pair", desktop.call("bw_desktop_offer", 10_000)["payload"]).wait() == 0
    listen = bellwire("listen", "--json")
    pushes = 48
    for number in range(pushes):
        push = {"title": f"{number}", "body": "\x01" * 65_000, "answerWhen": "stored"}
        desktop.call("bw_desktop_notify", push, 10_000)
    for number in range(pushes):
        assert listen.event("notification.received")["data"]["title"] == f"{number}"

    titles: list[str] = []
    more: list[str] = []
    while len(titles) < pushes:
        inbox = bellwire("inbox", "--json", "--limit", "500", *more)
        assert inbox.wait(30) == 0, inbox.err.all
        page = json.loads("".join(inbox.out.all))
        assert page["total"] == pushes
        titles += [row["title"] for row in page["notifications"]]
        assert page["notifications"] and ("next" in page) == (len(titles) < pushes)
        more = ["--offset", f"{len(titles)}"]
    assert titles == [f"{number}" for number in reversed(range(pushes))]
    desktop.close()
