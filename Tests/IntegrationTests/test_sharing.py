"""One pairing that several programs use at the same time: bellwire listen, a program of its own, and many senders."""

from __future__ import annotations

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
        """A program gets what comes from its first dispatch on."""
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
