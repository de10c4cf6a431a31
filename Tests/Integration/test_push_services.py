"""Push tokens between processes, pushes that are sealed for a push service, and topics of a host's own (WireSealing,
"Push tokens"; WirePrekeys)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import prekeys
import pytest
from hosts import STATUS, Host, Refused
from peers import FakeDesktop, Object, receive
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

    def database(self, name: str, role: str = "device") -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self._home / name / f'{role}.db'}?mode=ro", uri=True)

    def prekeys(self) -> int:
        """The unused single-use prekeys that the desktop has."""
        with closing(self.database("desktop", "desktop")) as database:
            query = """
                SELECT count(*) FROM device_prekey
                WHERE last_resort = 0 AND key NOT IN (SELECT key FROM device_prekey_used)
            """
            count: int = database.execute(query).fetchone()[0]
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


def test_a_desktop_without_encryption_gets_no_token(house: House, fake_desktop: FakeDesktop) -> None:
    device = house.run_device("phone")
    give(device, "fcm", "00c0ffee01")
    scanning = device.begin("bw_pairing_scan", fake_desktop.code(), 15_000)
    fake_desktop.pair()
    assert scanning()["status"] == STATUS["BW_OK"]
    # An encrypted desktop gets what is given before and after its pairing: tokens are on their way.
    me = house.pair(device)
    house.has((me, "fcm", "00c0ffee01"))
    give(device, "fcm", "00c0ffee02")
    house.has((me, "fcm", "00c0ffee02"))
    count = device.begin("bw_notification_get_unread_count", fake_desktop.peer_id, None, 10_000)
    assert fake_desktop.device is not None
    sent: list[Object] = []

    def is_the_request(frame: Object) -> bool:
        sent.append(frame)
        return "notification.getUnreadCount" in json.dumps(frame)

    receive(fake_desktop.device, is_the_request)
    assert not re.search("c0ffee|token", json.dumps(sent), re.IGNORECASE), sent
    # Nobody answers the request.
    device.call("bw_device_stop")
    assert count()["status"] == STATUS["BW_E_OFFLINE"]


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


def away(house: House, device: Host, **params: object) -> str:
    """Pushes while the device is offline. Gives the push's id."""
    device.call("bw_device_stop")
    pushed = house.desktop.call("bw_desktop_notify", {"title": "Tea", "body": "is ready", **params}, 10_000)
    assert pushed["deliveredCount"] == 0
    identity: str = pushed["notificationId"]
    return identity


def test_a_second_implementation_opens_what_the_desktop_seals(house: House) -> None:
    device = house.run_device("phone")
    give(device, "fcm", "01")
    me = house.pair(device)
    wait_until(lambda: house.prekeys() == 32)
    push = away(house, device, data={"n": 1.5}, collapseKey="k")
    payload = house.desktop.call("bw_desktop_seal_push", me, push, None)
    assert list(payload) == ["data"] and len(json.dumps(payload)) <= 4096
    with closing(house.database("phone")) as database:
        secrets = tuple(row[0] for row in database.execute("SELECT secret FROM prekey"))
        (psk,) = database.execute("SELECT psk FROM seal_peer").fetchone()
    text = payload["data"]["bellwire"]
    plaintext = json.loads(prekeys.opened(text, secrets, psk or bytes(32), me, house.desktop.state["id"]))
    fields = plaintext["body"]["payload"]
    assert (fields["notificationId"], fields["title"], fields["pushSeq"]) == (push, "Tea", 1)
    assert fields["data"] == {"n": 1.5} and fields["collapseKey"] == "k"


def test_a_sealed_push_wakes_a_device_once_over_crashes_and_restarts_of_both(house: House) -> None:
    device = house.run_device("phone")
    give(device, "fcm", "01")
    me = house.pair(device)
    wait_until(lambda: house.prekeys() == 32)
    push = away(house, device)
    # Restarted, the desktop has its prekeys still.
    house.close(house.desktop)
    house.run_desktop()
    first, second = (house.desktop.call("bw_desktop_seal_push", me, push, None) for _ in range(2))
    house.kill(device)

    # A new process, woken by the service: it is not connected.
    device = Host(house._start, "device", {**device.options, "relay_url": "ws://127.0.0.1:9"})
    house._open.append(device)
    received = device.call("bw_device_receive", "fcm", first)
    assert received == {"kind": "push", "id": push, "duplicate": False}
    assert device.event("notification.received", title="Tea")["hint"] is True
    (row,) = device.call("bw_inbox_load", None)["notifications"]
    assert (row["id"], row["desktop"], row["hint"]) == (push, house.desktop.state["id"], True)
    house.kill(device)

    device = house.run_device("phone")
    for copy in (first, second, first):
        assert device.call("bw_device_receive", "fcm", copy)["duplicate"] is True
    wait_until(lambda: "hint" not in device.call("bw_inbox_load", None)["notifications"][0])
    house.desktop.call("bw_desktop_notify", {"title": "Next", "body": ""}, 10_000)
    device.event("notification.received", title="Next")
    assert device.state["unread"] == 2
    # Killed before the mark of the hand-over was stored, it comes once more; else not at all.
    again = [each for each in device.of("notification.received") if each["id"] == push]
    assert all(each.get("redelivered") for each in again) and len(again) <= 1
    with pytest.raises(Refused) as refused:
        house.desktop.call("bw_desktop_seal_push", me, push, None)
    assert refused.value.name == "BW_E_NOT_FOUND"


def test_what_does_not_fit_is_refused_with_its_size(house: House) -> None:
    device = house.run_device("phone")
    give(device, "apns", "01")
    me = house.pair(device)
    wait_until(lambda: house.prekeys() == 32)
    push = away(house, device, title="Large", body="x" * 3000)
    outcome = house.desktop.outcome("bw_desktop_seal_push", me, push, {"service": "apns"})
    assert outcome["status"] == STATUS["BW_E_LIMIT"]
    detail = outcome["error"]["detail"]
    assert detail["limit"] == 2815 and detail["size"] > 3000
    assert house.prekeys() == 32
    fitting = away(house, device, title="Fits", body="x" * 2500)
    payload = house.desktop.call("bw_desktop_seal_push", me, fitting, {"service": "apns", "alert": "é" * 50})
    assert len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()) <= 4096
    assert device.call("bw_device_receive", "apns", payload)["id"] == fitting


def test_the_command_line_prints_payloads_for_devices_that_are_away(
    start: Start, bellwire: Start, tmp_path: Path
) -> None:
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--seal")
    code = desktop.line(r"^\{.*desktop-pairing.*").string
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "name": "phone", "follow_system": False})
    give(device, "apns", "00ff")
    device.call("bw_pairing_scan", code, 15_000)
    desktop.line("^Paired with phone")
    desktop.write("Here\n")
    device.event("notification.received", title="Here")
    # An answer comes behind the prekeys.
    device.notification("get_unread_count")
    device.call("bw_device_state")
    device.notification("get_unread_count")
    device.call("bw_device_stop")
    desktop.write("Away\tfrom here\n")
    service, token, text = desktop.line(r"^apns\t.*").string.split("\t")
    assert (service, token) == ("apns", "00ff")
    received = device.call("bw_device_receive", service, json.loads(text))
    assert received["duplicate"] is False
    assert device.event("notification.received", title="Away")["body"] == "from here"
    device.close()
    assert desktop.end() == 0
    assert not any(re.match("apns", line) for line in desktop.out.all[:-1] if "Here" in line)


def test_the_option_needs_lines_to_push(bellwire: Start) -> None:
    desktop = bellwire("desktop", "--seal")
    assert desktop.wait() == 2
    assert "--stdin" in desktop.err.all[-1]


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
