"""One pairing that several programs use at the same time: bellwire listen, a program of its own, and many senders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hosts import Host
from programs import Program, wait_until

Start = Callable[..., Program]

SENDERS = 50


def test_listen_a_program_and_many_senders_share_a_pairing(
    bellwire: Start, start: Start, relay: str, tmp_path: Path
) -> None:
    """Every send succeeds, and both listeners get each push once."""
    desktop = Host(
        start,
        "desktop",
        {"state_dir": ":memory:", "name": "Desk", "relay_url": relay, "follow_system": False},
    )
    desktop.start()
    offer = desktop.call("bw_desktop_offer", 10_000)
    assert bellwire("pair", offer["payload"]).wait() == 0
    listen = bellwire("listen", "--json")
    program = Host(
        start,
        "device",
        {
            "state_dir": str(tmp_path / "home/bellwire/device"),
            "shared": True,
            "application_id": "org.example.Program",
        },
    )
    program.start()

    senders = [bellwire("send", f"Title {number}", "Body") for number in range(SENDERS)]
    for sender in senders:
        assert sender.wait() == 0, sender.err.all
    expected = {f"Title {number}" for number in range(SENDERS)}
    pushed: list[str] = []
    while len(pushed) < SENDERS:
        pushed.append(listen.event("notification.received")["data"]["title"])
    assert set(pushed) == expected

    def received() -> list[str]:
        return [event["data"]["title"] for event in program.events if event["event"] == "notification.received"]

    wait_until(lambda: len(received()) >= SENDERS, 30)
    assert received() == pushed
    program.close()
    desktop.close()
