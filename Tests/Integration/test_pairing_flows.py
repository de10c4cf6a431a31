"""The three pairing flows, with device, desktop and relay in a process each: sealed between ours while everything between
them fails, and with deployed desktops by their literal frames (WirePairing, "Rules for both sides")."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from peers import LIMIT, FakeDesktop, FakePhone, Object, Peer, Server, free_port, now, peer_program, receive
from programs import Program, fastest
from terminal import Terminal
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.sync.server import ServerConnection

Start = Callable[..., Program]

# Nobody listens there.
DEAD = "ws://127.0.0.1:1"


class Proxy:
    """Stands before a relay, and breaks both halves of a connection at a part of its messages, drawn from a seed."""

    def __init__(self, target: str, seed: int, part: float) -> None:
        self._target, self._seed, self._part = target, seed, part
        self._server = Server()
        self.url = self._server.url
        self.breaks = 0
        self.passed = 0
        self._ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        number = 0
        while not self._ended:
            try:
                client = self._server.accept(timeout=0.5)
            except AssertionError:
                continue
            number += 1
            try:
                relay = connect(self._target, max_size=2 * LIMIT, proxy=None, compression=None, ping_interval=None)
            except OSError:
                client.close()
                continue
            ways: list[tuple[str, Connection, Connection]] = [("up", client, relay), ("down", relay, client)]
            for way, source, target in ways:
                chance = random.Random(f"{self._seed} {number} {way}")
                threading.Thread(target=self._carry, args=(chance, source, target), daemon=True).start()

    def _carry(self, chance: random.Random, source: Connection, target: Connection) -> None:
        try:
            for message in source:
                if chance.random() < self._part:
                    self.breaks += 1
                    break
                target.send(message)
                self.passed += 1
        except (ConnectionClosed, OSError):
            pass
        # Gone without a word, as a network goes.
        for connection in (source, target):
            connection.close_socket()

    def close(self) -> None:
        self._ended = True
        self._server.close()


class House:
    """A relay at a port that stays, a desktop at it, and what devices need to come to it."""

    def __init__(self, bellwire: Start) -> None:
        self.bellwire = bellwire
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self.origins = [self.url]
        self.proxy: Proxy | None = None
        self.relay = self.start_relay()

    def start_relay(self) -> Program:
        origins = [word for origin in self.origins for word in ("--origin", origin)]
        relay = self.bellwire(
            "relay", "--listen", f"127.0.0.1:{self.port}", "--no-health", "--state-dir", ":memory:", *origins
        )
        relay.line("Relay at")
        return relay

    def break_relay(self) -> None:
        self.relay.kill()
        self.relay = self.start_relay()

    def put_proxy(self, seed: int, part: float) -> Proxy:
        """From here on peers come through it. Ids are proved for the URL that was dialled: the relay is told that one."""
        self.proxy = Proxy(self.url, seed, part)
        self.origins.append(self.proxy.url)
        self.break_relay()
        return self.proxy

    @property
    def dialled(self) -> str:
        return self.proxy.url if self.proxy else self.url

    def desktop(self, *options: str) -> Program:
        return self.bellwire("desktop", "--relay-url", self.dialled, "--name", "Desk", "--json", "--accept", *options)

    def device(self, *options: str) -> Program:
        return self.bellwire("pair", "--name", "Phone", "--json", *options)

    def wait_for(self, peer_id: str) -> None:
        """Until the relay has that id registered."""
        deadline = time.monotonic() + 30
        while True:
            probe = Peer(self.url, f"probe-{time.monotonic_ns()}")
            probe.message(peer_id, {"type": "probe"})
            probe.send({"type": "ping"})
            answer = receive(probe.connection, lambda frame: frame["type"] in ("peer-offline", "pong"))
            probe.close()
            if answer["type"] == "pong":
                return
            assert time.monotonic() < deadline, f"{peer_id} is not registered"
            time.sleep(0.1)

    def close(self) -> None:
        if self.proxy:
            self.proxy.close()


@pytest.fixture
def house(bellwire: Start) -> Iterator[House]:
    house = House(bellwire)
    yield house
    house.close()


def paired(desktop: Program, timeout: float = 30) -> Object:
    """The device that the desktop has paired with next."""
    found: Object = desktop.event("pairing.changed", timeout, state="paired")["data"]["device"]
    return found


def ended(device: Program, timeout: float = 60) -> Object:
    """The desktop that `bellwire pair` has paired with."""
    assert device.wait(timeout) == 0, device.err.all
    found: Object = json.loads(device.out.all[-1])
    return found


def assert_sealed(desktop: Object, device: Object) -> None:
    """What each side says of the other: sealed, and the same short string."""
    assert desktop["secure"] is True and device["secure"] is True
    assert desktop["sas"] == device["sas"]
    assert re.fullmatch(r"\d{6}", device["sas"]["digits"])
    assert len(device["sas"]["words"]) == 2
    assert (desktop["name"], device["name"]) == ("Desk", "Phone")


# What is to happen between the code and the answer to it: gets who shows the code, and the id that is to answer.
Between = Callable[[Program, str], None]


def nothing(program: Program, peer_id: str) -> None:
    """Between the two all goes well."""


class NoCode(Exception):
    """Who was to show a code has ended without one."""

    def __init__(self, program: Program) -> None:
        super().__init__("\n".join(program.err.all))
        self.program = program


def shown(program: Program, event: str, patience: float) -> Object:
    """The code that it shows."""
    try:
        data: Object = program.event(event, patience)["data"]
        return data
    except AssertionError:
        if program.process.poll() is None:
            raise
        raise NoCode(program) from None


# A flow gives both programs, on their way to be paired.


def scan(house: House, between: Between = nothing, *options: str, patience: float = 20) -> tuple[Program, Program]:
    """The device scans the desktop's code."""
    desktop = house.desktop("--pair", *options)
    payload = shown(desktop, "offer", patience)["payload"]
    between(desktop, json.loads(payload)["pcPeerId"])
    return desktop, house.device(payload)


def show(house: House, between: Between = nothing, *options: str, patience: float = 20) -> tuple[Program, Program]:
    """The desktop scans the device's code."""
    device = house.device("--show", "--relay-url", house.dialled, "--timeout", "60")
    payload = shown(device, "offer", patience)["payload"]
    between(device, json.loads(payload)["did"])
    return house.desktop("--scan", payload, *options), device


def code(house: House, between: Between = nothing, *options: str, patience: float = 20) -> tuple[Program, Program]:
    """The digits that the desktop shows are typed on the device."""
    desktop = house.desktop("--pair", *options)
    digits = shown(desktop, "code", patience)["code"]
    between(desktop, f"pairing-code:{digits[:6]}")
    return desktop, house.device("--code", digits, "--relay-url", house.dialled)


FLOWS = [pytest.param(flow, id=flow.__name__) for flow in (scan, show, code)]
Flow = Callable[..., tuple[Program, Program]]


# MARK: Between ours


@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_pairs_sealed_with_the_same_short_string_on_both_sides(house: House, flow: Flow) -> None:
    desktop, device = flow(house)
    assert_sealed(ended(device), paired(desktop))
    # What is said of it later is the same.
    assert desktop.end() == 0
    lists = [house.bellwire("peers", "--json", role) for role in ("--device", "--desktop")]
    assert [each.wait() for each in lists] == [0, 0]
    assert_sealed(*(row for each in lists for rows in json.loads(each.out.all[0]).values() for row in rows))


def test_a_device_that_showed_its_code_ends_once_the_desktop_has_stored_it(house: House) -> None:
    """It waits for the desktop, which may need its last answer again, but not longer."""

    def pair() -> float:
        desktop, device = show(house)
        stored = paired(desktop)
        begin = time.monotonic()
        assert_sealed(ended(device), stored)
        taken = time.monotonic() - begin
        assert desktop.end() == 0
        return taken

    fastest(pair, 2.5, tries=3)


def older_digits(desktop_code: Object, device_id: str) -> str:
    """The digits of peers that commit to nothing: anyone with the code can search for a key that gives the same."""
    secret = base64.urlsafe_b64decode(desktop_code["bw"]["secret"] + "==")
    lines = f"bellwire-sas-v1\n{device_id}\n{desktop_code['pcPeerId']}"
    digest = hmac.digest(secret, lines.encode(), hashlib.sha256)
    return f"{(int.from_bytes(digest[:3], 'big') >> 4) % 1_000_000:06}"


@pytest.mark.parametrize("has_revision", [True, False])
def test_a_scanned_desktop_commits_to_the_digits_unless_its_code_has_no_revision(
    house: House, has_revision: bool
) -> None:
    """A device answers a code without a revision by an ack without one."""
    desktop = house.desktop("--pair")
    code = json.loads(shown(desktop, "offer", 20)["payload"])
    assert code["bw"]["rev"] == 1
    if not has_revision:
        del code["bw"]["rev"]
    device = house.device(json.dumps(code))
    mine, theirs = ended(device), paired(desktop)
    if has_revision:
        assert_sealed(mine, theirs)
        assert mine["sas"]["digits"] != older_digits(code, theirs["id"])
        return
    # Whoever has the secret can answer like that: the desktop has nothing to compare, and says so.
    assert mine["secure"] is True and theirs["secure"] is True
    assert mine["sas"]["digits"] == older_digits(code, theirs["id"])
    assert "sas" not in theirs and theirs["sasMissing"] == "older_peer"


def test_a_user_who_is_asked_about_a_scanning_device_sees_the_digits(house: House) -> None:
    desktop = house.bellwire("desktop", "--relay-url", house.url, "--json", "--pair", "--confirm")
    payload = shown(desktop, "offer", 20)["payload"]
    house.device(payload)
    asked = desktop.event("pairing.changed", state="acked", confirm=True)["data"]["device"]
    assert re.fullmatch(r"\d{6}", asked["sas"]["digits"])
    assert asked["sas"]["digits"] != older_digits(json.loads(payload), asked["id"])


def test_a_device_that_reveals_other_bytes_than_it_committed_to_is_refused_and_ends_the_code(
    house: House, start: Start, tmp_path: Path
) -> None:
    """The page's device knows the secret, and once it has the desktop's random bytes it chooses its own."""
    program = peer_program()
    honest = 'acknowledge({"random": revealed}'
    assert program.count(honest) == 1
    (tmp_path / "chooser.py").write_text(program.replace(honest, f"revealed = text(os.urandom(16))\n{honest}"))
    desktop = house.desktop("--pair")
    code = shown(desktop, "offer", 20)["payload"]
    chooser = start(sys.executable, tmp_path / "chooser.py", code)
    chooser.line(r'"opened".*"bellwire:challenge"')
    chooser.line(r'"opened".*"pairing:reject"')
    assert desktop.event("pairing.changed", state="failed")["data"]["reason"] == "not_secure"
    desktop.end()
    assert not any('"paired"' in line for line in desktop.out.all)
    listing = house.bellwire("peers", "--desktop", "--json")
    assert listing.wait() == 0 and json.loads(listing.out.all[0]) == {"devices": []}


@pytest.mark.parametrize("flow", FLOWS)
def test_what_was_paired_by_each_flow_is_used(house: House, flow: Flow) -> None:
    desktop, device = flow(house, nothing, "--stdin")
    assert_sealed(ended(device), paired(desktop))
    listener = house.bellwire("listen", "--json", "--all", "--count", "1", "--timeout", "20")
    listener.event("connection.changed", online=True)
    desktop.write('{"title":"Tea","body":"is ready"}\n')
    assert listener.event("notification.received")["data"]["title"] == "Tea"
    assert listener.wait() == 0
    sent = house.bellwire("send", "Hello", "--timeout", "20")
    assert sent.wait() == 0, sent.err.all
    desktop.event("notification.received", title="Hello")


@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_pairs_with_a_dead_url_of_the_local_network(house: House, flow: Flow) -> None:
    desktop, device = flow(house, nothing, "--signaling-url", DEAD)
    assert_sealed(ended(device), paired(desktop))


@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_pairs_when_the_relay_dies_between_the_code_and_the_answer(house: House, flow: Flow) -> None:
    def between(shower: Program, peer_id: str) -> None:
        house.break_relay()
        # A code of digits is not there while its alias is not: only it is waited for.
        if peer_id.startswith("pairing-code:"):
            house.wait_for(peer_id)

    desktop, device = flow(house, between)
    assert_sealed(ended(device), paired(desktop))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_pairs_where_a_fifth_of_all_messages_breaks_the_connection(
    house: House, flow: Flow, seed: int
) -> None:
    """Both sides come through the proxy, so that of five connections three do not even get registered. An attempt may
    fail, but says so with a reason on the side that has failed; who begins anew, as a person does, comes through."""
    proxy = house.put_proxy(seed, 0.2)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        breaks = proxy.breaks
        state = attempt(house, flow)
        if state == "paired" and proxy.breaks > breaks:
            return
    raise AssertionError(f"not paired through {proxy.breaks} broken connections")


def attempt(house: House, flow: Flow) -> str:
    """One attempt at pairing: "paired", or "failed" with a reason said by each side that knows of it."""
    try:
        desktop, device = flow(house, patience=90)
    except NoCode as none:
        assert none.program.wait() == 3 and reason(none.program) == "relay_unreachable"
        return "failed"
    exit_code = device.wait(90)
    if exit_code != 0:
        assert exit_code in (1, 3), device.err.all
        assert reason(device) in ("desktop_offline", "relay_unreachable", "timeout", "typed_code_unavailable")
        desktop.end()
        return "failed"
    outcome = desktop.out.next(outcome_of_pairing, 60)
    if outcome["state"] == "paired":
        assert_sealed(ended(device), outcome["device"])
    else:
        # Only where the device answers last can it know more: its answer was lost, and the desktop says so.
        assert flow is show and outcome["reason"] in ("timeout", "desktop_offline", "relay_unreachable")
    desktop.end()
    return str(outcome["state"])


def outcome_of_pairing(line: str) -> Object | None:
    """What a `pairing.changed` of the desktop's says, when it is the last of its flow."""
    event: Object = json.loads(line)
    data: Object = event.get("data") or {}
    is_end = event["event"] == "pairing.changed" and data["state"] in ("paired", "failed")
    return data if is_end else None


# MARK: Both sides end alike


class Swallower(Proxy):
    """Loses the first so many messages that come from a peer for another one, and breaks nothing."""

    def __init__(self, target: str, lost: int) -> None:
        self.lost = 0
        self._left = lost
        super().__init__(target, 0, 0)

    def _carry(self, chance: random.Random, source: Connection, target: Connection) -> None:
        try:
            for message in source:
                if self._left > 0 and json.loads(message)["type"] == "message" and "to" in json.loads(message):
                    self._left -= 1
                    self.lost += 1
                    continue
                target.send(message)
        except (ConnectionClosed, OSError):
            pass
        for connection in (source, target):
            connection.close_socket()


def shown_through(house: House, lost: int) -> tuple[Swallower, Program, Program]:
    """A desktop's scan of a device whose first messages are lost."""
    swallower = Swallower(house.url, lost)
    house.origins.append(swallower.url)
    house.break_relay()
    device = house.device("--show", "--relay-url", swallower.url, "--timeout", "60")
    payload = shown(device, "offer", 20)["payload"]
    return swallower, house.desktop("--scan", payload), device


def test_a_scanned_device_whose_first_answers_are_lost_is_paired_on_both_sides(house: House) -> None:
    swallower, desktop, device = shown_through(house, 1)
    mine = ended(device)
    # The command has ended with the pairing: its next start greets the desktop.
    listener = house.bellwire("listen", "--json", "--all")
    listener.event("connection.changed", online=True)
    assert_sealed(mine, paired(desktop, 40))
    assert swallower.lost == 1
    assert listener.end() == 0
    swallower.close()


def test_a_scanned_device_whose_every_answer_is_lost_hears_that_it_is_not_paired(house: House) -> None:
    swallower, desktop, device = shown_through(house, 1_000)
    ended(device)
    outcome = desktop.out.next(outcome_of_pairing, 60)
    assert (outcome["state"], outcome["reason"]) in [("failed", "timeout"), ("failed", "desktop_offline")]
    listener = house.bellwire("listen", "--json", "--all")
    listener.event("peers.changed", desktops=[])
    listener.end()
    left = house.bellwire("peers", "--json", "--device")
    assert left.wait() == 0 and json.loads(left.out.all[0]) == {"desktops": []}
    swallower.close()


def test_who_is_unpaired_while_no_desktop_runs_is_told_at_its_next_start(house: House) -> None:
    desktop, device = scan(house)
    mine = ended(device)
    phone = paired(desktop)
    assert desktop.end() == 0
    unpaired = house.bellwire("peers", "--desktop", "--unpair", "Phone")
    assert unpaired.wait() == 0
    assert "Phone could not be notified; it will be notified when this desktop runs" in unpaired.err.all[-1]
    listener = house.bellwire("listen", "--json", "--all")
    house.wait_for(phone["id"])
    again = house.desktop()
    listener.event("peers.changed", desktops=[])
    listener.end()
    assert again.end() == 0
    left = house.bellwire("peers", "--json", "--device")
    assert left.wait() == 0 and json.loads(left.out.all[0]) == {"desktops": []}, mine


# MARK: Digits


def test_digits_typed_wrongly_three_times_are_burnt_and_the_qr_code_is_not(house: House) -> None:
    desktop = house.bellwire("desktop", "--relay-url", house.url, "--name", "Desk")
    payload = desktop.line(r"^\{.*desktop-pairing.*").group()
    found = desktop.line(r"--code (\d{6})-(\d{6}) --relay-url (\S+)$")
    nameplate, password = found[1], found[2]
    assert found[3] == house.url
    wrong = f"{nameplate}-{(int(password) + 1) % 1_000_000:06}"
    for _ in range(3):
        device = house.device("--code", wrong, "--relay-url", house.url)
        # The desktop answers the second guess after 5 seconds, and the third after 20.
        assert device.wait(timeout=55) == 1
        assert reason(device) == "typed_code_unavailable"
    desktop.error_line("the digits are void after three wrong attempts")
    right = house.device("--code", f"{nameplate}-{password}", "--relay-url", house.url)
    assert right.wait() == 1
    assert reason(right) == "typed_code_unavailable"
    assert ended(house.device(payload))["secure"] is True


def test_two_wrong_digits_leave_room_for_the_right_ones(house: House) -> None:
    desktop = house.desktop("--pair")
    digits = desktop.event("code")["data"]["code"]
    wrong = digits[:7] + f"{(int(digits[7:]) + 1) % 1_000_000:06}"
    for _ in range(2):
        assert house.device("--code", wrong, "--relay-url", house.url).wait() == 1
    # Spaces and the dash may be left out.
    device = house.device("--code", digits.replace("-", " "), "--relay-url", house.url)
    assert_sealed(ended(device), paired(desktop))


def test_a_code_is_for_one_device_however_it_is_taken(house: House) -> None:
    desktop = house.desktop("--pair")
    payload = desktop.event("offer")["data"]["payload"]
    digits = desktop.event("code")["data"]["code"]
    assert ended(house.device(payload))["secure"] is True
    desktop.event("pairing.changed", flow="code", state="cancelled")
    late = house.device("--code", digits, "--relay-url", house.url, "--state-dir", ":memory:")
    assert late.wait() == 1
    assert reason(late) == "typed_code_unavailable"


def test_a_relay_that_gives_no_digits_is_said_and_the_qr_code_holds(bellwire: Start) -> None:
    relay = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", "--max-aliases", "0")
    url = relay.line(r"ws://\S+").group()
    desktop = bellwire("desktop", "--relay-url", url, "--name", "Desk")
    payload = desktop.line(r"^\{.*desktop-pairing.*").group()
    desktop.error_line("no digits available: ")
    assert ended(bellwire("pair", payload, "--json"))["secure"] is True
    desktop.line("^Paired with ")
    assert desktop.end() == 0


def test_digits_need_a_relay_and_the_last_one_that_worked_will_do(house: House) -> None:
    none = house.device("--code", "123456-789012")
    assert none.wait() == 3
    assert reason(none) == "no_relay"
    desktop, device = scan(house)
    ended(device)
    desktop.end()
    again = house.desktop("--pair")
    digits = again.event("code")["data"]["code"]
    assert_sealed(ended(house.device("--code", digits)), paired(again))


@pytest.mark.parametrize("shows", [True, False], ids=["the device shows", "digits"])
def test_a_guest_pairs_over_a_relay_that_the_holder_does_not_know(house: House, shows: bool) -> None:
    desktop, device = scan(house)
    first = ended(device)
    holder = house.bellwire("listen", "--json", "--all")
    holder.event("connection.changed", online=True)
    relay = house.bellwire("relay", "--listen", "127.0.0.1:0", "--no-health")
    url = relay.line(r"ws://\S+").group()
    options = ("--relay-url", url, "--name", "Other", "--json", "--accept")
    if shows:
        device = house.device("--show", "--relay-url", url)
        payload = device.event("offer")["data"]["payload"]
        other = house.bellwire("desktop", *options, "--scan", payload, home="other")
    else:
        other = house.bellwire("desktop", *options, "--pair", home="other")
        device = house.device("--code", other.event("code")["data"]["code"], "--relay-url", url)
    second = ended(device)
    assert second["secure"] is True and second["id"] != first["id"]
    # The name is the holder's, and that is said.
    assert any("no effect of --name" in line for line in device.err.all), device.err.all
    assert paired(other)["name"] != "Phone"
    # The holder stays in touch with both, over a relay each.
    for name in ("Desk", "Other"):
        sent = house.bellwire("send", "to both", "--to", name)
        assert sent.wait(30) == 0, sent.err.all
    assert holder.end() == 0 and desktop.end() == 0 and other.end() == 0


@pytest.mark.parametrize("digits", ["12345", "1234567", "123456-78901x", ""])
def test_what_are_no_digits_is_said(house: House, digits: str) -> None:
    device = house.device("--code", digits, "--relay-url", house.url)
    assert device.wait() == 2
    assert reason(device) == "bad_code"


@pytest.mark.parametrize("words", [["--show"], ["--code", "123456-789012"]], ids=["show", "code"])
def test_the_fault_of_the_relay_is_said_when_the_time_is_over(house: House, tmp_path: Path, words: list[str]) -> None:
    """The time is shorter than the library's own for a relay: not the other side's silence is the reason."""
    certificate, key = Authority(tmp_path / "authority").issue("server", "DNS:localhost")
    options = ("--listen", "127.0.0.1:0", "--no-health", "--tls-certificate", certificate, "--tls-key", key)
    port = house.bellwire("relay", *options).line(r"wss://127\.0\.0\.1:(\d+)")[1]
    for url, fault in [(f"wss://localhost:{port}", "unknown authority"), (DEAD, "refused")]:
        device = house.device(*words, "--relay-url", url, "--timeout", "3")
        assert device.wait() == 3
        error = json.loads(device.err.all[-1])["error"]
        assert error["detail"]["reason"] == "relay_unreachable" and fault in error["message"]


def test_a_code_that_nobody_takes_is_code_3(house: House) -> None:
    device = house.device("--show", "--relay-url", house.url, "--timeout", "2")
    device.event("offer")
    assert device.wait() == 3
    assert reason(device) == "timeout"


def reason(device: Program) -> str:
    """Why the pairing failed, as `--json` says it."""
    found: str = json.loads(device.err.all[-1])["error"]["detail"]["reason"]
    return found


# MARK: A person is asked


def test_a_device_that_cannot_prove_itself_is_refused_where_nobody_can_be_asked(house: House) -> None:
    desktop = house.bellwire("desktop", "--relay-url", house.url)
    phone = FakePhone(house.url, "ios", "did:key:zPhone")
    phone.pair(desktop.line(r"^\{.*desktop-pairing.*").group())
    said = desktop.error_line("My ios").string
    assert "can't prove that it saw the code" in said and "no terminal" in said and "--accept" in said
    assert phone.payload("pairing:reject")["type"] == "pairing:reject"
    assert desktop.end() == 0
    listing = house.bellwire("peers", "--desktop", "--json")
    assert listing.wait() == 0 and json.loads(listing.out.all[0]) == {"devices": []}
    phone.close()


@pytest.mark.parametrize(("answer", "accepted"), [("y", True), ("n", False), ("", False)], ids=["yes", "no", "Enter"])
def test_the_person_at_the_terminal_decides_about_a_phone(house: House, answer: str, accepted: bool) -> None:
    terminal = Terminal("desktop", "--state-dir", ":memory:", "--relay-url", house.url, "--qr-text", columns=120)
    payload = terminal.wait_for(r"\{.*desktop-pairing.*\}")
    phone = FakePhone(house.url, "ios", "did:key:zPhone")
    phone.message(
        json.loads(payload)["pcPeerId"],
        {
            "type": "pair-ack", "pairingCode": json.loads(payload)["code"], "mobileDid": phone.did,
            "deviceInfo": {"deviceId": "ios-1", "name": "Eve\x1b[2J\u202e", "platform": "ios"}, "timestamp": now(),
        },
    )  # fmt: skip
    asked = terminal.wait_for(r"bellwire: .* wants to pair.*30 s:")
    assert "can't prove that it saw the code" in asked
    assert "\x1b" not in asked and "\u202e" not in asked
    terminal.write(answer + "\n")
    if accepted:
        terminal.wait_for(r"Paired with Eve.* \(ios\)")
        terminal.wait_for("Not encrypted: its identity is not proven")
        phone.payload("chainlesschain:ice:config")
    else:
        terminal.wait_for("refused Eve")
        phone.payload("pairing:reject")
        # Six digits are soon known to others: the code stays open for who has seen it.
        assert ended(house.device(payload))["secure"] is True
        terminal.wait_for(r"Paired with Phone")
    phone.close()
    assert terminal.end() == 130


@pytest.mark.parametrize(("answer", "accepted"), [("y", True), ("n", False), ("", False)], ids=["yes", "no", "Enter"])
def test_the_person_at_the_terminal_decides_about_a_desktop_that_scans(
    house: House, answer: str, accepted: bool
) -> None:
    terminal = Terminal("pair", "--show", "--state-dir", ":memory:", "--relay-url", house.url, columns=120)
    text = terminal.wait_for(r"\{.*device-pairing.*\}")
    offer = json.loads(text)
    desktop = Peer(house.url, "desktop-77aa")
    desktop.message(
        offer["did"],
        {
            "type": "pairing:confirmation", "pairingCode": offer["code"], "pcPeerId": "desktop-77aa",
            "deviceInfo": {"name": "Eve\x1b[2J\u202e", "platform": "win32", "version": "0.39.2"}, "timestamp": now(),
        },
    )  # fmt: skip
    asked = terminal.wait_for(r"bellwire: .* wants to pair.*30 s:")
    assert "can't prove that it saw the code" in asked
    assert "\x1b" not in asked and "\u202e" not in asked
    terminal.write(answer + "\n")
    if accepted:
        terminal.wait_for(r"Paired with Eve.* \(win32\)")
        terminal.wait_for("Not encrypted: its identity is not proven")
    else:
        terminal.wait_for("refused Eve")
        # The code stays open for who has seen it.
        assert paired(house.desktop("--scan", text))["secure"] is True
        terminal.wait_for(r"Paired with Desk")
    desktop.close()
    assert terminal.wait() == 0


def test_with_confirm_the_person_is_asked_about_a_sealed_device_too(house: House) -> None:
    terminal = Terminal(
        "desktop", "--state-dir", ":memory:", "--relay-url", house.url, "--qr-text", "--confirm", columns=120
    )
    device = house.device(terminal.wait_for(r"\{.*desktop-pairing.*\}"))
    asked = terminal.wait_for(r"bellwire: .* wants to pair.*30 s:")
    assert "Phone (linux)" in asked and "prove" not in asked
    terminal.write("maybe\n")
    terminal.wait_for(r"wants to pair.*30 s:")
    terminal.write("y\n")
    desktop = ended(device)
    assert desktop["secure"] is True
    terminal.wait_for(f"Compare with the device: {desktop['sas']['digits']}, {' '.join(desktop['sas']['words'])}")
    assert terminal.end() == 130


def test_with_confirm_and_nobody_to_ask_a_sealed_device_is_refused(house: House) -> None:
    desktop = house.bellwire("desktop", "--relay-url", house.url, "--confirm")
    device = house.device(desktop.line(r"^\{.*desktop-pairing.*").group())
    assert device.wait(30) == 1
    assert reason(device) == "rejected"
    desktop.error_line("Phone.*no terminal")


def test_a_scanned_device_is_not_paired_where_nobody_can_be_asked(house: House) -> None:
    device = house.device("--show", "--relay-url", house.url, "--timeout", "4")
    payload = device.event("offer")["data"]["payload"]
    desktop = house.bellwire("desktop", "--relay-url", house.url, "--scan", payload)
    desktop.error_line("Phone.*no terminal")
    assert device.wait() == 3
    assert not any("Paired" in line for line in desktop.out.all)


def test_a_text_that_is_no_devices_code_ends_the_desktop(house: House) -> None:
    desktop = house.desktop("--scan", '{"type":"desktop-pairing"}')
    assert desktop.wait() == 2
    assert json.loads(desktop.err.all[-1])["error"]["detail"]["reason"] == "wrong_type"


# MARK: Unpairing


@pytest.mark.parametrize("flow", FLOWS)
def test_a_device_that_unpairs_tells_the_desktop(house: House, flow: Flow) -> None:
    desktop, device = flow(house)
    assert_sealed(ended(device), paired(desktop))
    unpaired = house.bellwire("peers", "--unpair", "Desk", "--timeout", "20")
    assert unpaired.wait(30) == 0, unpaired.err.all
    assert unpaired.out.all == ["Unpaired Desk (linux)."] and unpaired.err.all == []
    desktop.event("peers.changed", devices=[])
    assert house.bellwire("listen").wait() == 4
    assert desktop.end() == 0
    listing = house.bellwire("peers", "--desktop", "--json")
    assert listing.wait() == 0 and json.loads(listing.out.all[0]) == {"devices": []}


def test_listen_says_that_a_desktop_is_offline(house: House) -> None:
    """However fast the relay's word for that follows the registration: a slow reader sees the newest state alone."""
    desktop, device = scan(house)
    assert_sealed(ended(device), paired(desktop))
    assert desktop.end() == 0
    listener = house.bellwire("listen")
    listener.error_line("^bellwire: not connected to Desk: it is offline$")
    assert listener.end() == 0


def test_a_desktop_that_unpairs_tells_the_device(house: House) -> None:
    desktop, device = scan(house)
    assert_sealed(ended(device), paired(desktop))
    assert desktop.end() == 0
    listener = house.bellwire("listen")
    listener.error_line("connected to Desk")
    unpaired = house.bellwire("peers", "--desktop", "--unpair", "Phone", "--relay-url", house.url, "--timeout", "20")
    assert unpaired.wait(30) == 0, unpaired.err.all
    assert unpaired.out.all == ["Unpaired Phone (linux)."]
    listener.error_line("Desk is not paired any more")
    assert listener.wait() == 4


def test_a_device_that_was_unpaired_unheard_has_no_rights(house: House) -> None:
    desktop, device = scan(house)
    assert_sealed(ended(device), paired(desktop))
    assert desktop.end() == 0
    unpaired = house.bellwire("peers", "--desktop", "--unpair", "Phone")
    assert unpaired.wait() == 0
    assert "could not be notified" in unpaired.err.all[-1]
    again = house.desktop("--no-pair")
    again.event("connection.changed", online=True)
    sent = house.bellwire("send", "Evil", "--timeout", "3")
    # Refused; or it has heard meanwhile that it is not paired any more.
    assert sent.wait() in (1, 3, 4)
    assert not any("Evil" in line for line in again.out.all)


# MARK: The relay


def test_ids_are_proved_for_the_urls_that_the_relay_is_told(house: House, bellwire: Start) -> None:
    relay = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", "--origin", "ws://relay.example.org:9001")
    url = relay.line(r"ws://\S+").group()
    desktop = bellwire("desktop", "--relay-url", url)
    desktop.error_line("offline, retrying: ")
    assert not any("desktop-pairing" in line for line in desktop.out.all)


def test_a_relay_with_a_state_directory_knows_after_a_restart_who_was_proved(bellwire: Start, tmp_path: Any) -> None:
    port = free_port()
    options = ["--listen", f"127.0.0.1:{port}", "--no-health", "--state-dir", str(tmp_path / "relay")]
    relay = bellwire("relay", *options)
    url = relay.line(r"ws://\S+").group()
    desktop = bellwire("desktop", "--relay-url", url, "--json")
    did = json.loads(desktop.event("offer")["data"]["payload"])["pcPeerId"]
    desktop.kill()
    assert relay.end() == 0
    bellwire("relay", *options).line("Relay at")
    thief = Peer(url)
    thief.send({"type": "register", "peerId": did, "deviceType": "desktop"})
    assert receive(thief.connection, lambda frame: frame["type"] in ("registered", "error"))["type"] == "error"
    thief.close()


# MARK: Deployed desktops


def test_six_digits_alone_are_refused_before_anything_is_sent(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    for options in ([], ["--legacy", "qr"], ["--legacy", "none"]):
        device = bellwire("pair", "--code", "004217", "--relay-url", fake_desktop.url, "--json", *options)
        assert device.wait() == 1
        assert reason(device) == "not_secure"


def test_with_legacy_all_six_digits_pair_unsealed_when_the_desktop_sends_its_ice_servers(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    device = bellwire(
        "pair", "--code", "004217", "--relay-url", fake_desktop.url, "--legacy", "all", "--json", "--name", "Phone"
    )
    connection = fake_desktop.accept()
    ack = payload_to(connection, "pairing-code:004217")
    assert (ack["type"], ack["pairingCode"], ack["mobileDid"]) == ("pair-ack", "004217", fake_desktop.device_id)
    assert ack["deviceInfo"]["name"] == "Phone" and "bw" not in ack
    fake_desktop.message(ice_config(fake_desktop))
    desktop = ended(device)
    assert (desktop["id"], desktop["secure"]) == (fake_desktop.peer_id, False)
    assert "sas" not in desktop


def test_with_legacy_all_six_digits_that_nobody_has_are_unavailable(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    device = bellwire("pair", "--code", "004217", "--relay-url", fake_desktop.url, "--legacy", "all", "--json")
    payload_to(fake_desktop.accept(), "pairing-code:004217")
    fake_desktop.send({"type": "peer-offline", "peerId": "pairing-code:004217", "timestamp": now()})
    assert device.wait() == 1
    assert reason(device) == "typed_code_unavailable"


def test_a_qr_code_without_urls_is_taken_over_the_relay_that_the_user_names(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    text = fake_desktop.code(signalingUrl=...)
    lost = bellwire("pair", text, "--json")
    assert lost.wait() == 3
    assert reason(lost) == "no_relay"
    device = bellwire("pair", text, "--relay-url", fake_desktop.url, "--json")
    fake_desktop.pair()
    assert ended(device)["secure"] is False


def test_no_confirmation_comes_in_flow_b_and_ice_servers_after_the_ack_are_the_desktops(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    silent = bellwire("pair", fake_desktop.code())
    fake_desktop.pair(is_silent=True)
    assert silent.wait() == 3, silent.err.all
    assert silent.out.all[0] == "Paired with Office PC (win32), but not confirmed."
    assert silent.out.all[1].startswith("Not encrypted: its identity is not proven")
    again = bellwire("pair", fake_desktop.code(), "--json")
    connection = fake_desktop.accept()
    ack = receive(connection, lambda frame: frame.get("payload", {}).get("type") == "pair-ack")
    assert ack["to"] == fake_desktop.peer_id
    fake_desktop.message(ice_config(fake_desktop))
    assert ended(again)["id"] == fake_desktop.peer_id
    # A later one changes what is stored, and nothing else.
    listener = bellwire("listen", "--count", "1", "--timeout", "20")
    fake_desktop.accept()
    fake_desktop.message(ice_config(fake_desktop))
    fake_desktop.push(1)
    assert listener.wait() == 0, listener.err.all


def test_legacy_none_pairs_no_deployed_desktop(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    device = bellwire("pair", fake_desktop.code(), "--legacy", "none", "--json")
    assert device.wait() == 1
    assert reason(device) == "not_secure"


@pytest.mark.parametrize("is_routed", [True, False], ids=["a frame of its own", "inside a message"])
def test_a_deployed_desktop_that_scans_confirms_in_each_form(
    bellwire: Start, fake_desktop: FakeDesktop, is_routed: bool
) -> None:
    device = bellwire("pair", "--show", "--accept", "--relay-url", fake_desktop.url, "--json")
    fake_desktop.accept()
    offer = json.loads(device.event("offer")["data"]["payload"])
    assert offer["type"] == "device-pairing" and offer["did"] == fake_desktop.device_id
    assert re.fullmatch(r"\d{6}", offer["code"])
    wrong = "000000" if offer["code"] != "000000" else "000001"
    for digits in (wrong, offer["code"]):
        # Its pcPeerId is no address: the sender that the relay wrote is.
        confirmation = {
            "type": "pairing:confirmation", "pairingCode": digits, "pcPeerId": "desktop-unknown",
            "deviceInfo": {"name": "Office PC", "platform": "win32", "version": "0.39.2"}, "timestamp": now(),
        }  # fmt: skip
        if is_routed:
            fake_desktop.send({**confirmation, "from": fake_desktop.peer_id, "to": offer["did"]})
        else:
            fake_desktop.message(confirmation)
    desktop = ended(device)
    assert (desktop["id"], desktop["name"], desktop["platform"]) == (fake_desktop.peer_id, "Office PC", "win32")
    assert desktop["secure"] is False


def test_with_legacy_none_a_plain_confirmation_counts_for_nothing(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    device = bellwire("pair", "--show", "--relay-url", fake_desktop.url, "--legacy", "none", "--json", "--timeout", "3")
    fake_desktop.accept()
    offer = json.loads(device.event("offer")["data"]["payload"])
    info = {"name": "Office PC", "platform": "win32", "version": "0.39.2"}
    fake_desktop.message(
        {
            "type": "pairing:confirmation", "pairingCode": offer["code"], "pcPeerId": fake_desktop.peer_id,
            "deviceInfo": info, "timestamp": now(),
        }
    )  # fmt: skip
    assert device.wait() == 3


def test_a_phone_by_its_six_digits_needs_legacy_all_on_the_desktop(house: House) -> None:
    for options, is_taken in (([], False), (["--legacy", "all"], True)):
        desktop = house.desktop("--pair", *options)
        digits = desktop.event("code")["data"]["code"]
        phone = FakePhone(house.url, "android", "did:key:zAndroid.Phone-1")
        ack = {
            "type": "pair-ack", "pairingCode": digits[:6], "mobileDid": phone.did,
            "deviceInfo": {"deviceId": "android-1", "name": "My android", "platform": "android"}, "timestamp": now(),
        }  # fmt: skip
        phone.message(f"pairing-code:{digits[:6]}", ack)
        if is_taken:
            device = paired(desktop)
            assert (device["id"], device["secure"]) == (phone.did, False)
            phone.payload("chainlesschain:ice:config")
        else:
            assert phone.is_answered()
        assert desktop.end() == 0
        assert is_taken or not any('"acked"' in line for line in desktop.out.all)
        phone.close()


def payload_to(connection: ServerConnection, peer_id: str) -> Object:
    """The payload of the next `message` to that id."""
    frame = receive(connection, lambda frame: frame["type"] == "message" and frame["to"] == peer_id)
    found: Object = frame["payload"]
    return found


def ice_config(desktop: FakeDesktop) -> Object:
    """As the deployed desktop sends it: the expiry is in seconds."""
    return {
        "type": "chainlesschain:ice:config",
        "payload": {
            "pcPeerId": desktop.peer_id,
            "iceServers": [{"urls": ["turn:turn.example.org:3478"], "username": "u", "credential": "c"}],
            "iceExpiry": now() // 1000 + 3600,
            "timestamp": now(),
        },
    }
