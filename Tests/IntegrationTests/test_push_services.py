"""Push tokens between processes, and topics of a host's own (WireSealing, "Push tokens")."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hosts import Host, Refused
from peers import Object
from programs import Program, wait_until

Start = Callable[..., Program]


class House:
    """A desktop with devices at one relay, each in a process of its own."""

    def __init__(self, start: Start, relay: str, home: Path) -> None:
        self._start, self._relay, self._home = start, relay, home
        self._open: list[Host] = []
        self.desktop = self.run_desktop()

    def run_desktop(self) -> Host:
        self.desktop = self._run("desktop", "desktop")
        return self.desktop

    def run_device(self, name: str) -> Host:
        return self._run("device", name)

    def _run(self, role: str, name: str) -> Host:
        options = {"state_dir": str(self._home / name), "name": name, "relay_url": self._relay, "follow_system": False}
        host = Host(self._start, role, options)
        self._open.append(host)
        host.start()
        return host

    def pair(self, device: Host) -> str:
        """Gives the device's id."""
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        assert device.call("bw_pairing_scan", offer["payload"], 15_000)["secure"] is True
        found: str = device.state["id"]
        return found

    def kill(self, host: Host) -> None:
        host.program.kill()
        self._open.remove(host)

    def close(self, host: Host) -> None:
        host.close()
        self._open.remove(host)

    def end(self) -> None:
        for host in self._open:
            host.close()

    def tokens(self) -> list[Object]:
        found: list[Object] = self.desktop.call("bw_desktop_tokens")
        return found

    def unsaid(self, name: str) -> int:
        """The tokens that a device has taken back and still remembers to tell its desktops."""
        database = sqlite3.connect(f"file:{self._home / name / 'device.db'}?mode=ro", uri=True)
        with closing(database):
            count: int = database.execute("SELECT count(*) FROM push_token_removal").fetchone()[0]
        return count

    def has(self, *wanted: tuple[str, str, str]) -> None:
        """Waits until the desktop has these tokens, as (device, service, hex), and no others."""
        wait_until(
            lambda: sorted((row["device"], row["service"], row["token"]) for row in self.tokens()) == sorted(wanted)
        )


def give(device: Host, service: str, token: str) -> None:
    device.call("bw_device_token", service, token, len(token) // 2)


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, tmp_path)
    yield house
    house.end()


def test_a_token_is_kept_over_restarts_and_one_of_an_earlier_run_is_never_sent(house: House) -> None:
    device = house.run_device("phone")
    me = house.pair(device)
    give(device, "fcm", "00ff10")
    house.has((me, "fcm", "00ff10"))
    since = house.tokens()[0]["receivedAt"]

    # First: a device that lives says its token again to a desktop that was away.
    house.kill(device)
    house.kill(house.desktop)
    house.run_desktop()
    house.has((me, "fcm", "00ff10"))
    device = house.run_device("phone")
    device.event("connection.changed", online=True)
    # A push there and an answer back: whatever the device had to say of itself has been said before.
    house.desktop.call("bw_desktop_notify", {"title": "One", "body": ""}, 10_000)
    device.event("notification.received", title="One")
    device.notification("mark_all_as_read")
    assert house.tokens()[0]["receivedAt"] == since
    give(device, "fcm", "00ff10")
    wait_until(lambda: house.tokens()[0]["receivedAt"] > since)
    assert len(house.tokens()) == 1


def test_what_was_taken_back_while_the_desktop_was_away_is_said_by_a_later_run(house: House) -> None:
    device = house.run_device("phone")
    me = house.pair(device)
    give(device, "fcm", "01")
    give(device, "apns", "02")
    house.has((me, "fcm", "01"), (me, "apns", "02"))
    house.kill(house.desktop)
    wait_until(lambda: not device.state["connection"][0]["online"])
    device.call("bw_device_clear_token", "fcm")
    house.kill(device)
    house.run_desktop()
    house.has((me, "fcm", "01"), (me, "apns", "02"))
    device = house.run_device("phone")
    house.has((me, "apns", "02"))
    # Said for good, once the device has forgotten it: a run after that has nothing to say, and gives its token anew.
    wait_until(lambda: house.unsaid("phone") == 0)
    house.close(device)
    device = house.run_device("phone")
    give(device, "fcm", "03")
    house.has((me, "apns", "02"), (me, "fcm", "03"))
    device.call("bw_device_clear_token", None)
    house.has()


def test_a_token_that_moves_to_another_device_leaves_the_first_and_goes_with_its_pairing(house: House) -> None:
    first, second = house.run_device("first"), house.run_device("second")
    one, two = house.pair(first), house.pair(second)
    give(first, "fcm", "aa")
    house.has((one, "fcm", "aa"))
    give(second, "fcm", "aa")
    house.has((two, "fcm", "aa"))
    give(first, "fcm", "bb")
    house.has((one, "fcm", "bb"), (two, "fcm", "aa"))
    house.desktop.call("bw_desktop_unpair", one)
    house.has((two, "fcm", "aa"))
    second.call("bw_pairing_clear")
    house.has()


def test_parameters_that_cannot_be_are_refused(house: House) -> None:
    device = house.run_device("phone")
    for service, token, length in (("", "00", 1), ("a b", "00", 1), ("fcm", "00", 0), ("fcm", "00" * 5000, 5000)):
        with pytest.raises(Refused) as refused:
            device.call("bw_device_token", service, token, length)
        assert refused.value.name == "BW_E_INVALID"


def test_topics_of_the_host_come_in_order_with_all_other_events(house: House) -> None:
    device = house.run_device("phone")
    house.pair(device)
    device.call("bw_device_post", "host.sync.begin", {"n": 1})
    house.desktop.call("bw_desktop_notify", {"title": "Between", "body": ""}, 10_000)
    device.event("notification.received", title="Between")
    device.call("bw_device_post", "host.sync.end", None)
    assert device.event("host.sync.end") == {}
    names = [event["event"] for event in device.events if "event" in event]
    assert names.index("host.sync.begin") < names.index("notification.received") < names.index("host.sync.end")
    assert device.of("host.sync.begin") == [{"n": 1}]
    house.desktop.call("bw_desktop_post", "host.x", {"a": [None]})
    assert house.desktop.event("host.x") == {"a": [None]}
    with pytest.raises(Refused):
        device.call("bw_device_post", "notification.received", {})
