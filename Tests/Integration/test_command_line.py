"""The command line as its users meet it: help, exit codes, one line on standard error, JSON for machines."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from peers import FakeDesktop, Peer, free_port
from programs import BELLWIRE, FAKETIME, Program, wait_until

Start = Callable[..., Program]

COMMANDS = [
    "relay", "desktop", "pair", "status", "doctor", "peers", "rekey", "revoke", "listen", "agent", "send", "run", "history",
    "inbox", "settings", "quiet", "queue", "backup", "restore", "qr", "completion", "man", "version",
]  # fmt: skip


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BELLWIRE, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, env={**os.environ, **environment},
        check=False,
    )  # fmt: skip


# MARK: Help and usage


def test_a_preloaded_library_that_sets_a_variable_does_not_hide_the_arguments() -> None:
    # Swift's runtime looks for them beside the environment, which such a library moves.
    preloaded = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "+0"}
    assert run("version", **preloaded).stdout == run("version").stdout != ""
    found = run("send", "", "--json", "--no-such-option", **preloaded)
    assert found.returncode == json.loads(found.stderr or found.stdout)["exit"] == 2, found.stderr


def test_the_overview_names_every_command() -> None:
    for arguments in (["--help"], ["-h"], ["help"]):
        found = run(*arguments)
        assert found.returncode == 0 and found.stderr == ""
        for command in COMMANDS:
            assert f"\n  {command} " in found.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_page_with_options_exit_codes_and_an_example(command: str) -> None:
    page = run(command, "--help")
    assert page.returncode == 0 and page.stderr == ""
    assert page.stdout.startswith(f"Usage: bellwire {command} ")
    for part in ("Options:", "Exit codes:", f"$ bellwire {command}" if command != "send" else "bellwire send"):
        assert part in page.stdout
    assert max(len(line) for line in page.stdout.splitlines()) <= 80
    assert run("help", command).stdout == page.stdout


def test_the_version_is_that_of_the_header() -> None:
    header = (Path(__file__).resolve().parents[2] / "include/bellwire.h").read_text()
    version = re.search(r'#define BW_VERSION "(.+)"', header)
    assert version
    assert run("--version").stdout == f"bellwire {version[1]}\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param([], "missing command", id="no command"),
        pytest.param(["lisen"], 'did you mean "listen"?', id="a command misspelled"),
        pytest.param(["listen", "--cuont", "3"], "unknown option --cuont, did you mean --count?", id="an option misspelled"),
        pytest.param(["listen", "-x"], "unknown option -x", id="an unknown letter"),
        pytest.param(["listen", "--count"], "--count needs a value", id="no value"),
        pytest.param(["listen", "--json=yes"], "--json takes no value", id="a value too many"),
        pytest.param(["listen", "--count", "0"], "--count", id="a number out of range"),
        pytest.param(["listen", "--count", "many"], "--count", id="a number that is none"),
        pytest.param(["listen", "--timeout", "-1"], "--timeout", id="a time below zero"),
        pytest.param(["send"], "TITLE is missing", id="an operand missing"),
        pytest.param(["send", "a", "b", "c"], '"c" is an unexpected argument', id="an operand too many"),
        pytest.param(["send", "a", "--broadcast", "--to-mobile"], "cannot be combined", id="two kinds of send"),
        pytest.param(["send", "a", "--broadcast", "--icon", "x"], "--icon", id="an icon for a push"),
        pytest.param(["history", "--limit", "501"], "1 to 500", id="a limit over 500"),
        pytest.param(["pair", "@/nothing/here"], "/nothing/here", id="a file that is not there"),
        pytest.param(["pair", "--show", "--code", "123456-789012"], "cannot be combined", id="two ways to pair"),
        pytest.param(["pair", "--show", "text"], "--show, --code and --image take no TEXT", id="a text for a code of its own"),
        pytest.param(["pair", "{}", "--legacy", "some"], "legacy", id="legacy that is none"),
        pytest.param(["pair", "--show", "--relay-url", "http://x"], "--relay-url", id="a relay that is none"),
        pytest.param(["desktop", "--accept", "--confirm"], "cannot be combined", id="accept and confirm"),
        pytest.param(["desktop", "--scan", "@/nothing/here"], "/nothing/here", id="a code's file that is not there"),
        pytest.param(["peers", "--device", "--desktop"], "cannot be combined", id="two roles"),
        pytest.param(["peers", "--clear", "--unpair", "x"], "cannot be combined", id="two changes"),
        pytest.param(["peers", "--rename", "x"], "NAME", id="a new name missing"),
        pytest.param(["peers", "x"], "--rename", id="a name without --rename"),
        pytest.param(["peers", "--relay-url", "ws://x"], "--desktop", id="a relay for a device's peers"),
        pytest.param(["relay", "--origin", "http://x"], "--origin", id="an origin that is none"),
        pytest.param(["desktop", "--relay", "x:1", "--relay-url", "ws://x"], "cannot be combined", id="two relays"),
        pytest.param(["desktop", "--state-dir", ":memory:", "--relay", "nowhere"], "--relay", id="an address without port"),
        pytest.param(["desktop", "--state-dir", ":memory:", "--relay-url", "http://x"], "--relay-url", id="a URL that is none"),
        pytest.param(["relay", "--listen", "127.0.0.1"], "--listen", id="relay without a port"),
        pytest.param(["relay", "--max-frame-bytes", "17"], "--max-frame-bytes", id="a limit too small"),
        pytest.param(["relay", "--tls-key", "x"], "must be given together", id="half of TLS"),
    ],
)  # fmt: skip
def test_wrong_usage_is_code_2_and_one_line_that_names_it(arguments: list[str], named: str, tmp_path: Path) -> None:
    found = run(*arguments, XDG_STATE_HOME=str(tmp_path))
    assert found.returncode == 2, found.stderr
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1 and found.stderr.startswith("bellwire: ")
    assert named in found.stderr


def test_every_limit_that_the_relays_help_lists_is_taken_with_its_default(bellwire: Start) -> None:
    page = " ".join(run("relay", "--help").stdout.split())
    limits = re.findall(r"--([a-z-]+) N .*?Default: (\d+)\.", page)
    assert len(limits) == 26
    options = [word for name, initial in limits for word in (f"--{name}", initial)]
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", *options, "--limit-loopback")
    program.line("Relay at ws://")
    assert program.end() == 0


def test_a_limit_of_the_relay_works(bellwire: Start) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", "--max-stored-per-peer", "2")
    url = program.line(r"ws://\S+").group()
    peer = Peer(url, "alice")
    for number in range(5):
        peer.message("bob", {"n": number})
    assert peer.is_answered()
    bob = Peer(url, "bob")
    numbers = [bob.receive("offline-message")["originalMessage"]["payload"]["n"] for _ in range(2)]
    assert numbers == [3, 4]


# MARK: Exit codes


def test_not_paired_is_code_4(tmp_path: Path) -> None:
    for command in (["listen"], ["send", "Title"], ["history"]):
        found = run(*command, XDG_STATE_HOME=str(tmp_path))
        assert found.returncode == 4
        assert "bellwire pair" in found.stderr


def test_commands_share_a_device(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """One listens; others use the device meanwhile."""
    pair_with(bellwire, fake_desktop)
    listen = bellwire("listen", "--count", "1", "--json")
    fake_desktop.accept()
    for _ in range(3):
        assert bellwire("peers").wait() == 0
    assert listen.process.poll() is None


def test_a_state_directory_in_use_is_code_5(bellwire: Start, fake_desktop: FakeDesktop, tmp_path: Path) -> None:
    pair_with(bellwire, fake_desktop)
    with (tmp_path / "home/bellwire/device/lock").open("r+b") as lock:
        # As a program that doesn't share the device.
        fcntl.lockf(lock, fcntl.LOCK_EX)
        second = bellwire("listen", "--json")
        assert second.wait() == 5
    assert json.loads(second.err.all[-1])["error"]["status"] == "BW_E_BUSY"
    assert json.loads(second.err.all[-1])["exit"] == 5


def test_a_port_in_use_is_code_1_and_named(bellwire: Start, relay: str) -> None:
    address = relay.removeprefix("ws://")
    second = bellwire("relay", "--listen", address, "--no-health")
    assert second.wait() == 1
    assert address.split(":")[1] in second.err.all[-1] and "in use" in second.err.all[-1]
    desktop = bellwire("desktop", "--relay", address)
    assert desktop.wait() == 1
    assert "in use" in desktop.err.all[-1]


def test_an_absent_desktop_is_code_3(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair_with(bellwire, fake_desktop)
    fake_desktop.close()
    for command in (["send", "Title"], ["history"]):
        program = bellwire(*command, "--timeout", "2")
        assert program.wait() == 3
        assert "Office PC" in program.err.all[-1]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_interrupted_before_it_is_done_is_128_and_the_signal(
    bellwire: Start, fake_desktop: FakeDesktop, number: int, code: int
) -> None:
    pair_with(bellwire, fake_desktop)
    program = bellwire("send", "Title", "--timeout", "60")
    fake_desktop.accept()
    fake_desktop.payload("chainlesschain:command:request")
    # Its own time is a minute.
    assert program.end(number) == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["Ctrl-C", "SIGTERM"])
def test_what_runs_until_it_is_stopped_is_interrupted_by_ctrl_c_alone(
    bellwire: Start, fake_desktop: FakeDesktop, tmp_path: Path, number: int, code: int
) -> None:
    pair_with(bellwire, fake_desktop)
    listener = bellwire("listen")
    fake_desktop.accept()
    listener.error_line("^bellwire: connected to Office PC")
    relay = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health")
    relay.line("Relay at")
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0")
    desktop.line("desktop-pairing")
    agent = bellwire("agent")
    wait_until(lambda: (tmp_path / "home/bellwire/device/agent").exists())
    for program in (agent, listener, relay, desktop):
        assert program.end(number, timeout=8) == code
        assert not any("interrupted" in line for line in program.err.all)


def test_a_hangup_ends_nothing_that_runs_for_long(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair_with(bellwire, fake_desktop)
    listener = bellwire("listen")
    fake_desktop.accept()
    listener.error_line("^bellwire: connected to Office PC")
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--qr-text")
    desktop.line("desktop-pairing")
    programs = [(listener, "peers"), (bellwire("agent"), "peers"), (desktop, "group")]
    for program, other in programs:
        for _ in range(20):
            program.process.send_signal(signal.SIGHUP)
        # Asks the program that runs.
        assert bellwire(other).wait() == 0
        assert program.process.poll() is None
    for program, _ in programs:
        assert program.end(signal.SIGTERM, timeout=8) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_root_leaves_nothing_in_the_directory_of_another_user(bellwire: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    commands = (
        *(["push", "x"], ["token", "x"], ["token", "--revoke", "x"], ["group", "g"], ["peers", "--desktop"]),
        *(
            ["desktop", "--relay", "127.0.0.1:0"],
            ["agent"],
            ["listen"],
            ["send", "x"],
            ["pair", "{}"],
            ["pair", "--show"],
        ),
        ["relay", "--listen", "127.0.0.1:0", "--no-health", "--state-dir", home / "relay"],
    )
    for existing in ((), ("bellwire", "bellwire/desktop", "bellwire/device")):
        for path in (home, *(home / name for name in existing)):
            path.mkdir(mode=0o700, exist_ok=True)
            os.chown(path, 1234, 1234)
        for arguments in commands:
            program = bellwire(*arguments)
            assert program.wait() == 1, (arguments, program.out.all, program.err.all)
            assert "belongs to another user" in program.err.all[-1]
            assert sorted(str(path.relative_to(home)) for path in home.rglob("*")) == sorted(existing)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (signal.SIGINT, signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGHUP, signal.SIGINT, -signal.SIGINT),
        # A session that ends sends both.
        (signal.SIGHUP, signal.SIGTERM, 0),
    ],
    ids=["kill after Ctrl-C", "Ctrl-C after the terminal went", "the end of a session"],
)
def test_a_second_signal_ends_it_at_once_wherever_it_is(
    bellwire: Start, first: signal.Signals, second: signal.Signals, code: int
) -> None:
    # Not the relay: a SIGHUP makes it read its options again.
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0")
    desktop.line("desktop-pairing")
    # Both wait for it when it goes on, the first one in the order of their numbers: it cannot have ended in between.
    for number in (signal.SIGSTOP, first, second):
        desktop.process.send_signal(number)
    assert desktop.end(signal.SIGCONT, timeout=8) == code


# MARK: Between our desktop and our devices


class Pair:
    def __init__(self, bellwire: Start, *options: str) -> None:
        self.bellwire = bellwire
        self.desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--name", "Desk", *options)
        self.code = self.desktop.line(r"^\{.*desktop-pairing.*").group()
        pairing = bellwire("pair", self.code)
        assert pairing.wait() == 0, pairing.err.all
        paired, sealed = pairing.out.all
        assert paired == "Paired with Desk (linux)."
        self.desktop.line(r"^Paired with .+ \(linux\)\.$")
        # Both say the same digits and words.
        string = r"^End-to-end encrypted\. Compare with the \w+: (\d{6}, [a-z]+ [a-z]+)\."
        found = re.match(string, sealed)
        assert found and found[1] == self.desktop.line(string)[1]


@pytest.fixture
def pair(bellwire: Start) -> Iterator[Pair]:
    pair = Pair(bellwire)
    yield pair
    assert pair.desktop.end() == 0, pair.desktop.err.all


def test_send_shows_on_the_desktop_and_history_has_it(pair: Pair) -> None:
    sent = pair.bellwire("send", "Build done", "All green", "--priority", "high")
    assert sent.wait() == 0, sent.err.all
    assert sent.out.all == ["Sent to Desk."]
    pair.desktop.line(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  high    mobile  Build done  All green$")
    history = pair.bellwire("history", "--to", "Desk")
    assert history.wait() == 0, history.err.all
    assert len(history.out.all) == 1
    assert re.match(r"^\* .*  high    mobile  Build done  All green  \S+$", history.out.all[0])
    page = pair.bellwire("history", "--json")
    assert page.wait() == 0
    answer = json.loads(page.out.all[0])
    assert (answer["total"], answer["unreadCount"], answer["notifications"][0]["title"]) == (1, 1, "Build done")


def test_a_body_comes_from_standard_input(pair: Pair) -> None:
    sent = pair.bellwire("send", "Log", "-")
    sent.write("line one\nline two\n")
    assert sent.process.stdin is not None
    sent.process.stdin.close()
    assert sent.wait() == 0
    pair.desktop.line("Log  line one line two$")


def test_pushes_from_standard_input_reach_listen(pair: Pair) -> None:
    listener = pair.bellwire("listen", "--count", "3", "--timeout", "30")
    listener.error_line("^bellwire: connected to Desk")
    pair.desktop.write("Only a title\nTitle\tand body\n\nThree\tparts\turgent\n")
    # A push that waited for the one before would take ten seconds more.
    assert listener.wait(9) == 0
    assert [re.split(r" {2,}", line)[1:] for line in listener.out.all] == [
        ["normal", "pc", "Only a title"],
        ["normal", "pc", "Title", "and body"],
        ["urgent", "pc", "Three", "parts"],
    ]
    pair.desktop.line("^Pushed to 1 of 1 devices.$")


def test_pushes_that_complete_while_the_desktop_ends_are_reported(bellwire: Start, relay: str, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    options = ["desktop", "--relay-url", relay, "--state-dir", str(folder), "--stdin"]
    pairing = bellwire(*options)
    assert bellwire("pair", pairing.line(r"^\{.*desktop-pairing.*").group()).wait() == 0
    pairing.line("^Paired with")
    assert pairing.end() == 0
    # It may have been online only for a moment that the library does not report.
    bellwire("listen").error_line("^bellwire: (not )?connected to")
    # Nobody reads its output at first, so its only dispatch stops at the full pipe. What completes meanwhile is left to
    # the end of the handle.
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    command = [BELLWIRE, *options, "--no-pair"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL) as desktop:
        os.close(writing)
        assert desktop.stdin is not None
        desktop.stdin.write(b"T\n" * 400)
        desktop.stdin.flush()
        with closing(sqlite3.connect(f"file:{folder / 'desktop.db'}?mode=ro", uri=True)) as database:
            acknowledged = "SELECT (SELECT count(*) FROM history) = 400 AND NOT EXISTS (SELECT * FROM outbox)"
            wait_until(lambda: database.execute(acknowledged).fetchone() == (1,), timeout=30)
        desktop.send_signal(signal.SIGTERM)
        with open(reading) as output:
            # A push that takes longer than two seconds counts as not delivered, and completes all the same.
            said = re.findall(r"^Pushed to [01] of 1 devices\.$", output.read(), re.MULTILINE)
        assert len(said) == 400
        assert desktop.wait(15) == 0


def test_a_bad_line_of_standard_input_is_said_and_the_next_one_goes_out(pair: Pair) -> None:
    listener = pair.bellwire("listen", "--count", "1")
    listener.error_line("^bellwire: connected to Desk")
    pair.desktop.write("x" * 2000 + "\nTitle\tbody\tshiny\n" + "y" * 300_000 + "\nGood\n")
    listener.line("Good")
    assert listener.wait() == 0
    for number in (1, 2, 3):
        pair.desktop.error_line(f"^bellwire: line {number} of standard input: ")


def test_listen_with_a_count_leaves_the_rest_for_the_next_time(pair: Pair) -> None:
    first = pair.bellwire("listen", "--count", "1")
    first.error_line("^bellwire: connected to Desk")
    pair.desktop.write("One\nTwo\nThree\n")
    assert first.wait() == 0
    second = pair.bellwire("listen", "--count", "2", "--timeout", "15")
    assert second.wait() == 0, second.err.all
    titles = [re.split(r" {2,}", line)[3] for program in (first, second) for line in program.out.all]
    assert titles == ["One", "Two", "Three"]


def test_listen_says_when_too_few_came(pair: Pair) -> None:
    listener = pair.bellwire("listen", "--count", "2", "--timeout", "1")
    assert listener.wait() == 3
    assert "0 of 2" in listener.err.all[-1]
    assert pair.bellwire("listen", "--timeout", "0.5").wait() == 0


def test_broadcast_and_to_mobile_push_to_devices(pair: Pair) -> None:
    for options, said in (
        (["--broadcast"], "Pushed to 1 of 1 devices of Desk."),
        (["--to-mobile"], "Pushed by Desk."),
    ):
        sent = pair.bellwire("send", "To me", "myself", *options)
        assert sent.wait() == 0, sent.err.all
        assert sent.out.all == [said]
    listener = pair.bellwire("listen", "--count", "2", "--timeout", "10")
    assert listener.wait() == 0, listener.err.all


def test_json_is_one_object_a_line(bellwire: Start) -> None:
    desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--json")
    assert desktop.event("started")["data"]["relay"]["port"] > 0
    code = desktop.event("offer")["data"]["payload"]
    pairing = bellwire("pair", code, "--json")
    assert pairing.wait() == 0
    assert re.fullmatch(r"\d{6}-\d{6}", desktop.event("code")["data"]["code"])
    paired = json.loads(pairing.out.all[0])
    assert paired["id"] == json.loads(code)["pcPeerId"] and paired["secure"] is True
    assert desktop.event("pairing.changed", state="paired")["data"]["device"]["sas"] == paired["sas"]
    listener = bellwire("listen", "--json", "--all", "--count", "1")
    listener.event("connection.changed", online=True)
    desktop.write('{"title":"Tea","body":"Now","priority":"low","data":{"k":"v"}}\n')
    push = listener.event("notification.received", title="Tea")
    assert push["desktop"] == json.loads(code)["pcPeerId"]
    assert push["data"]["data"] == {"k": "v"}
    assert listener.wait() == 0
    assert desktop.event("pushed")["data"]["deliveredCount"] == 1


def test_the_list_of_desktops(pair: Pair) -> None:
    listing = pair.bellwire("pair", "--list")
    assert listing.wait() == 0
    assert listing.out.all[0].startswith("Desk (linux)  paired 20")
    unknown = pair.bellwire("send", "Title", "--to", "Nowhere")
    assert unknown.wait() == 4
    assert "Desk" in unknown.err.all[-1]


def test_peers_lists_and_renames(pair: Pair) -> None:
    listing = pair.bellwire("peers")
    assert listing.wait() == 0, listing.err.all
    heading, row = (re.split(r" {2,}", line) for line in listing.out.all)
    assert heading == ["NAME", "PLATFORM", "ENCRYPTED", "TO COMPARE", "LAST SEEN", "ID"]
    assert row[:3] == ["Desk", "linux", "yes"] and re.fullmatch(r"\d{6}, [a-z]+ [a-z]+", row[3])
    renamed = pair.bellwire("peers", "--rename", "Desk", "Desk at work")
    assert renamed.wait() == 0, renamed.err.all
    assert renamed.out.all == ["Renamed Desk to Desk at work."]
    again = pair.bellwire("peers", "--json")
    assert again.wait() == 0
    (desktop,) = json.loads(again.out.all[0])["desktops"]
    assert desktop["online"] is None, "without a connection it is unknown"
    assert (desktop["name"], desktop["platform"], desktop["secure"]) == ("Desk at work", "linux", True)
    assert desktop["id"] == json.loads(pair.code)["pcPeerId"] and desktop["sas"] and desktop["lastSeenAt"]
    unknown = pair.bellwire("peers", "--rename", "Desk", "No")
    assert unknown.wait() == 4
    assert "Desk at work" in unknown.err.all[-1]


def test_peers_of_a_desktop_are_listed_and_changed_while_it_runs_and_afterwards(pair: Pair) -> None:
    running = pair.bellwire("peers", "--desktop", "--json")
    assert running.wait() == 0, running.err.all
    pair.desktop.end()
    listing = pair.bellwire("peers", "--desktop", "--json")
    assert listing.wait() == 0, listing.err.all
    assert listing.out.all == running.out.all
    (device,) = json.loads(listing.out.all[0])["devices"]
    assert device["secure"] is True and device["platform"] == "linux"
    renamed = pair.bellwire("peers", "--desktop", "--rename", device["id"][:20], "My phone")
    assert renamed.wait() == 0, renamed.err.all
    cleared = pair.bellwire("peers", "--desktop", "--clear")
    assert cleared.wait() == 0, cleared.err.all
    assert cleared.out.all == ["Unpaired My phone (linux)."]
    assert "could not be notified" in cleared.err.all[-1]
    empty = pair.bellwire("peers", "--desktop")
    assert empty.wait() == 0 and empty.out.all == []


def test_several_desktops_need_a_name(pair: Pair) -> None:
    other = pair.bellwire("desktop", "--relay", "127.0.0.1:0", "--name", "Lap", home="other")
    code = other.line(r"^\{.*desktop-pairing.*").group()
    assert pair.bellwire("pair", code).wait() == 0
    unclear = pair.bellwire("send", "Title")
    assert unclear.wait() == 2
    assert "Desk" in unclear.err.all[-1] and "Lap" in unclear.err.all[-1]
    assert pair.bellwire("send", "Title", "--to", "Lap").wait() == 0
    other.line("Title")


def test_a_desktop_that_has_a_device_offers_pairing_only_when_asked(bellwire: Start, tmp_path: Path) -> None:
    Pair(bellwire).desktop.end()
    again = bellwire("desktop", "--relay", "127.0.0.1:0")
    again.error_line("online")
    assert again.end() == 0
    assert not any("desktop-pairing" in line for line in again.out.all)
    asked = bellwire("desktop", "--relay", "127.0.0.1:0", "--pair")
    asked.line("desktop-pairing")
    never = bellwire("desktop", "--relay", "127.0.0.1:0", "--no-pair", home="fresh")
    never.error_line("online")
    assert never.end() == 0
    assert not any("desktop-pairing" in line for line in never.out.all)


def test_a_desktop_waits_for_a_relay_that_is_not_there_yet(bellwire: Start) -> None:
    port = free_port()
    desktop = bellwire("desktop", "--relay-url", f"ws://127.0.0.1:{port}")
    desktop.error_line("offline, retrying: ")
    bellwire("relay", "--listen", f"127.0.0.1:{port}", "--no-health").line("Relay at")
    desktop.line("desktop-pairing", timeout=30)


@pytest.mark.parametrize(
    ("columns", "rows", "is_drawn"),
    [
        (120, 60, True), (200, 50, True), (80, 48, True),
        # Without the warning and the digits below it, it would fit.
        (80, 39, False), (80, 24, False), (20, 60, False), (10, 10, False),
    ],
)  # fmt: skip
def test_a_terminal_of_any_size_gets_the_text_and_the_drawing_if_all_below_it_fits(
    columns: int, rows: int, is_drawn: bool
) -> None:
    shown = in_terminal(
        "desktop", "--state-dir", ":memory:", "--relay", "127.0.0.1:0", "--color=never",
        columns=columns, rows=rows, until=r"Or type digits: .*\n",
    )  # fmt: skip
    found = re.search(r"^(\{.*\})\r$", shown, re.MULTILINE)
    assert found and json.loads(found[1])["type"] == "desktop-pairing", shown
    after = shown[found.end() + 1 :]
    lines = after.split("\r\n")
    assert any(block in after for block in "▀▄█") == is_drawn, shown
    taken = sum(max(1, -(-len(line) // columns)) for line in lines)
    if is_drawn:
        # All of it is in the window, from the first row of the code to the cursor.
        assert taken <= rows and max(len(line) for line in lines if set("▀▄█") & set(line)) <= columns
    else:
        assert re.search(rf"needs \d+ (columns|rows), but the terminal has ({columns}|{rows})", shown)


def test_the_qr_code_is_not_drawn_if_only_its_text_is_wanted() -> None:
    shown = in_terminal("desktop", "--state-dir", ":memory:", "--relay", "127.0.0.1:0", "--qr-text", columns=120)
    assert "desktop-pairing" in shown and not any(block in shown for block in "▀▄█")


def test_a_terminal_that_is_too_small_says_so(tmp_path: Path) -> None:
    narrow = in_terminal("desktop", "--state-dir", ":memory:", "--relay", "127.0.0.1:0", columns=20)
    assert "columns" in narrow and "desktop-pairing" in narrow
    low = in_terminal("desktop", "--state-dir", ":memory:", "--relay", "127.0.0.1:0", columns=120, rows=24)
    assert re.search(r"needs \d+ rows, but the terminal has 24", low) and "qr --png" in low
    assert "desktop-pairing" in low and "▀" not in low and "█" not in low


def in_terminal(
    *arguments: str, columns: int, rows: int = 60, until: str = r"expires in five minutes|qr --png FILE"
) -> str:
    """What the program draws in a terminal of that width, until it has shown a code and said what to do, or its text."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            "/bin/sh",
            ["sh", "-c", f'stty cols {columns} rows {rows}; exec "$0" "$@"', str(BELLWIRE), *arguments],
            {**os.environ, "TERM": "xterm-256color"},
        )
    seen = b""
    os.set_blocking(terminal, True)
    deadline = time.monotonic() + 20
    done = re.compile(until.encode())
    try:
        while (left := deadline - time.monotonic()) > 0 and not done.search(seen):
            if select.select([terminal], [], [], left)[0]:
                seen += os.read(terminal, 65536)
        os.kill(child, signal.SIGTERM)
        while True:
            seen += os.read(terminal, 65536)
    except OSError:
        pass  # the terminal closes with the program
    os.waitpid(child, 0)
    os.close(terminal)
    return seen.decode("utf-8", "replace")


def test_a_pipe_that_closes_ends_it_quietly(pair: Pair) -> None:
    history = subprocess.run(
        f'"{BELLWIRE}" relay --help | head -n 1', shell=True, capture_output=True, text=True, timeout=20, check=False
    )
    assert history.stdout.startswith("Usage:") and history.stderr == ""


def test_a_full_disk_is_said(pair: Pair) -> None:
    full = subprocess.run(
        f'"{BELLWIRE}" --help > /dev/full', shell=True, capture_output=True, text=True, timeout=20, check=False
    )
    assert full.returncode == 1 and "cannot write" in full.stderr


def pair_with(bellwire: Start, desktop: FakeDesktop) -> None:
    program = bellwire("pair", desktop.code())
    desktop.pair()
    assert program.wait() == 0, program.err.all
