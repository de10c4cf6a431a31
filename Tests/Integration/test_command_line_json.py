"""`--json`: what every command prints has the shape that the pages CommandLine… show."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import BELLWIRE, ROOT, Program
from test_command_line import run

Start = Callable[..., Program]

CATALOGUE = ROOT / "Sources/Library/CABI/Bellwire.docc"
PAGES = "\n".join(
    (CATALOGUE / f"CommandLine{name}.md").read_text() for name in ("JSON", "Events", "Results", "Histories")
)

TYPES: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "time": lambda value: type(value) is int and value > 1_500_000_000_000,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "any": lambda value: True,
}


def blocks() -> dict[str, list[Any]]:
    """The blocks of the pages, each under the names in the line before it; events under their own, as "event"."""
    found: dict[str, list[Any]] = {}
    names: list[str] = []
    count = 0
    for paragraph in PAGES.split("\n\n"):
        if not paragraph.startswith("```json"):
            spans = re.findall(r"`([^`]+)`", paragraph.replace("\n", " ").split(":")[0])
            commands = [each for each in spans if each.startswith("bellwire ")]
            names = commands if commands[:1] == spans[:1] else spans
            count = 0
            continue
        shape = json.loads(paragraph.strip().removeprefix("```json").removesuffix("```"))
        if isinstance(shape, dict) and "event" in shape:
            found.setdefault("event", []).append(shape)
        elif names and names[0].startswith("bellwire "):
            for name in names:
                found.setdefault(name, []).append(shape)
        elif names:
            # Two names with two blocks: one each.
            found.setdefault(names[min(count, len(names) - 1)], []).append(shape)
        count += 1
    return found


SHAPES = blocks()
EVENTS = SHAPES.pop("event")
#: Of errors, on standard error.
FAILURE = SHAPES["status"][0]


def problems(shape: Any, value: Any, where: str = "") -> list[str]:
    """Where a value differs from a shape."""
    if isinstance(shape, str):
        found: list[str] = []
        for one in shape.split(" | "):
            if one.startswith("'"):
                fails = [] if value == one.strip("'") else [f"{where}: {value!r} is not {one}"]
            elif one in TYPES:
                fails = [] if TYPES[one](value) else [f"{where}: {value!r} is not {one}"]
            else:
                fails = problems(SHAPES[one][0], value, where)
            if not fails:
                return []
            found += fails
        return found
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: not a list"]
        return [each for index, row in enumerate(value) for each in problems(shape[0], row, f"{where}/{index}")]
    if not isinstance(value, dict):
        return [f"{where}: not an object"]
    found = []
    known = {name.rstrip("?"): inner for name, inner in shape.items()}
    for name in shape:
        if not name.endswith("?") and name not in ("*", "…") and name not in value:
            found.append(f"{where}: no {name}")
    for name, inner in value.items():
        wanted = known.get(name, shape.get("*", shape.get("…")))
        found += (
            [f"{where}: {name} is not on the page"] if wanted is None else problems(wanted, inner, f"{where}/{name}")
        )
    return found


def check(name: str, line: str) -> Any:
    """Compares a line with one of the blocks under that name."""
    value = json.loads(line)
    results = [problems(shape, value) for shape in SHAPES[name]]
    assert any(not each for each in results), (name, results, line)
    return value


def check_event(line: str) -> Any:
    event = json.loads(line)
    own = [shape for shape in EVENTS if shape["event"] == f"'{event['event']}'"]
    # The others are the library's, which the header has.
    assert event.keys() <= {"event", "desktop", "data"} and isinstance(event["data"], dict), line
    if own:
        results = [problems(shape, event) for shape in own]
        assert any(not each for each in results), (results, line)
    return event


class Case:
    """One pair, whose desktop runs, and what its commands print."""

    def __init__(self, bellwire: Start, tmp_path: Path) -> None:
        self.start = bellwire
        self.folder = tmp_path
        self.checked: set[str] = set()
        self.desktop = bellwire("desktop", "--relay", "127.0.0.1:0", "--stdin", "--json", "--name", "Desk")
        code = self.desktop.event("offer")["data"]["payload"]
        self.of("bellwire pair", "pair", code, "--name", "Phone")
        self.desktop.event("pairing.changed", state="paired")
        (device,) = self.of("bellwire peers --desktop", "peers", "--desktop")["devices"]
        self.device: str = device["id"]

    def lines(self, *arguments: str | Path, code: int = 0, home: str = "home") -> list[str]:
        program = self.start(*arguments, "--json", home=home)
        assert program.process.stdin is not None
        program.process.stdin.close()
        assert program.wait(30) == code, (arguments, program.err.all)
        if code:
            self.failure(program.err.all[-1], code)
        return program.out.all

    def failure(self, line: str, code: int) -> None:
        failure = json.loads(line)
        assert not problems(FAILURE, failure), line
        assert failure["exit"] == code

    def of(self, name: str, *arguments: str | Path, events: int = 0) -> Any:
        """The result of a command: the last line, after so many events or more."""
        lines = self.lines(*arguments)
        assert len(lines) == 1 if not events else len(lines) > events, lines
        for line in lines[:-1]:
            check_event(line)
        self.checked.add(name)
        value = check(name, lines[-1])
        assert not isinstance(value, dict) or "event" not in value
        return value


@pytest.fixture
def case(bellwire: Start, tmp_path: Path) -> Iterator[Case]:
    case = Case(bellwire, tmp_path)
    yield case
    if case.desktop.process.poll() is None:
        assert case.desktop.end() == 0, case.desktop.err.all


def test_the_page_has_a_shape_for_every_command() -> None:
    overview = run("--help").stdout
    commands = re.findall(r"^  ([a-z]+) +\S", overview.split("Commands:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert len(commands) > 20
    # The relay and listen print events, and the agent nothing.
    for command in commands:
        assert re.search(rf"`bellwire {command}\b", PAGES), command
    results = {name.split()[1] for name in SHAPES if name.startswith("bellwire ")}
    assert set(commands) - results <= {"relay", "listen", "agent"}


def test_names_of_shapes_are_on_the_page() -> None:
    def names(shape: Any) -> Iterator[str]:
        if isinstance(shape, str):
            yield from (one for one in shape.split(" | ") if not one.startswith("'"))
        for inner in shape.values() if isinstance(shape, dict) else shape if isinstance(shape, list) else ():
            yield from names(inner)

    for shapes in SHAPES.values():
        for block in shapes:
            for name in names(block):
                assert name in TYPES or name in SHAPES, name


def test_a_value_of_another_shape_is_found() -> None:
    assert problems({"a": "text", "b?": "number"}, {"a": "x"}) == []
    others: list[Any] = [{}, {"a": 1}, {"a": "x", "b": True}, {"a": "x", "c": 1}, [], None]
    for value in others:
        assert problems({"a": "text", "b?": "number"}, value)
    assert problems(["'pc' | null"], ["pc", None]) == [] and problems(["'pc' | null"], ["mobile"])


def test_pairing_and_peers(case: Case) -> None:
    case.of("bellwire pair --list", "pair", "--list")
    case.of("bellwire peers", "peers")
    case.of("bellwire peers", "peers", "--names")
    case.of("bellwire peers --rename", "peers", "--rename", "Desk", "Desk at work")
    case.of("bellwire peers --desktop --rename", "peers", "--desktop", "--rename", "Phone", "Old phone")
    case.of("bellwire desktop devices", "desktop", "devices")
    case.of("bellwire desktop allow", "desktop", "allow", "Old phone", "safe")
    case.of("bellwire desktop allow", "desktop", "allow", "Old phone", "mutating")
    shown = [check_event(line)["event"] for line in case.lines("desktop", "pair")]
    assert shown == ["offer", "code"]
    stranger = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
    case.of("bellwire revoke", "revoke", stranger)
    case.of("bellwire revoke --list", "revoke", "--list")
    case.of("bellwire revoke --remove", "revoke", "--remove", stranger)
    case.of("bellwire status", "status")
    case.of("bellwire peers", "peers", "--unpair", "Desk at work")
    case.of("bellwire peers --desktop", "peers", "--desktop", "--clear")
    case.of("bellwire desktop stop", "desktop", "stop")
    assert case.desktop.wait() == 0
    for line in case.desktop.out.all:
        check_event(line)
    case.of("bellwire status", "status")
    case.lines("desktop", "stop", code=3)


def test_sending(case: Case) -> None:
    listener = case.start("listen", "--json", "--all")
    listener.event("connection.changed", online=True)
    case.of("bellwire send", "send", "Title", "Body", "-p", "high")
    case.of("bellwire send", "send", "Title", "--at", "2h")
    case.of("bellwire send --broadcast", "send", "Title", "--broadcast", "--image", "https://example.org/i.png")
    case.of("bellwire send --broadcast", "send", "Title", "--broadcast", "--at", "2h")
    case.of("bellwire send --to-mobile", "send", "Title", "--to-mobile")
    pushed = case.of("bellwire push", "push", "Title")
    case.of("bellwire push", "push", "Title", "--at", "2h")
    assert len(case.of("bellwire push --scheduled", "push", "--scheduled")["scheduled"]) == 3
    case.of("bellwire push --withdraw", "push", "--withdraw", pushed["notificationId"])
    case.lines("push", "--withdraw", pushed["notificationId"], code=4)
    case.of("bellwire group", "group", "family", case.device)
    case.of("bellwire group", "group")
    case.of("bellwire group", "group", "--remove", "family")
    created = case.of("bellwire token NAME", "token", "backups", "--group", "family")
    assert created["token"].startswith("tk_")
    assert "token" not in case.of("bellwire token", "token")["tokens"][0]
    assert "token" not in case.of("bellwire token --revoke", "token", "--revoke", "backups")
    case.lines("token", "--revoke", "backups", code=4)
    case.desktop.write('{"title":"Line"}\n')
    check_event(json.dumps(case.desktop.event("pushed")))
    listener.event("notification.received", title="Line")
    assert listener.end() == 0
    for line in listener.out.all + case.desktop.out.all:
        check_event(line)
    for flags in (["-q"], ["--broadcast", "-q"]):
        assert case.lines("send", "Title", *flags) == []
    assert case.lines("push", "Title", "-q") == []


def test_commands_that_run_others(case: Case) -> None:
    for words, code in ((["sh", "-c", "echo out"], 0), (["false"], 1)):
        program = case.start("run", "--json", "--", *words)
        assert program.wait(30) == code, program.err.all
        assert program.out.all == (["out"] if code == 0 else [])
        result = check("bellwire run", program.err.all[-1])
        assert result["code"] == code
        assert result["notification"]["success"]
    fast = case.start("run", "--json", "--after", "60", "--", "true")
    assert fast.wait(30) == 0
    assert "notification" not in check("bellwire run", fast.err.all[-1])
    assert case.start("push", "Title").wait() == 0
    listener = case.start("listen", "--json", "--count", "1", "--exec", "true")
    assert listener.wait(30) == 0
    events = [check_event(line)["event"] for line in listener.out.all]
    assert events == ["notification.received", "exec"]


def test_histories_settings_and_the_queue(case: Case) -> None:
    for title in ("One", "Two"):
        assert case.start("send", title).wait(30) == 0
    case.of("bellwire history", "history", "--limit", "1")
    case.of("bellwire inbox refresh", "inbox", "refresh")
    rows = case.of("bellwire inbox", "inbox")["notifications"]
    assert len(rows) == 2
    read = case.of("bellwire inbox read", "inbox", "read", rows[0]["id"])
    assert (read["notificationId"], read["desktop"]) == (rows[0]["id"], rows[0]["desktop"])
    case.of("bellwire inbox delete", "inbox", "delete", rows[0]["id"])
    case.of("bellwire inbox read --all", "inbox", "read", "--all")
    case.of("bellwire inbox clear", "inbox", "clear")
    for words in ([], ["soundEnabled=off"], ["soundEnabled=on"]):
        case.of("bellwire settings", "settings", *words)
    for words in ([], ["soundEnabled=off"], ["sources.pc=off", "categories.DOOR=on"]):
        case.of("bellwire settings --device", "settings", "--device", *words)
    for words in ([], ["22:00-08:00"], ["off"]):
        case.of("bellwire quiet", "quiet", *words)
        case.of("bellwire quiet --device", "quiet", "--device", *words)
    assert case.start("send", "Three").wait(30) == 0
    (row,) = case.of("bellwire inbox", "inbox")["notifications"]
    # While nothing connects.
    queued = [
        case.of("bellwire settings KEY=VALUE", "settings", "soundEnabled=off", "--queue"),
        case.of("bellwire quiet HOURS", "quiet", "off", "--queue"),
        case.of("bellwire inbox read", "inbox", "read", row["id"], "--queue"),
    ]
    assert queued[2]["notificationId"] == row["id"]
    changes = case.of("bellwire queue", "queue")["changes"]
    # A newer change takes the field of an older one.
    assert queued[2]["id"] in [change["id"] for change in changes]
    removed = case.of("bellwire queue", "queue", "remove", queued[2]["id"])["changes"]
    assert [change["id"] for change in removed] == [queued[2]["id"]]
    assert case.of("bellwire queue run", "queue", "run", events=1) == {"changes": []}
    for action in ("retry", "clear"):
        case.of("bellwire queue", "queue", action)
    assert case.desktop.end() == 0
    case.of("bellwire send", "send", "Later", "--timeout", "3")
    case.lines("send", "Later", "--no-queue", "--timeout", "1", code=3)
    lines = case.lines("queue", "run", "--timeout", "1", code=3)
    assert len(check("bellwire queue run", lines[-1])["changes"]) == 1


def test_moves_to_a_new_key(case: Case) -> None:
    listener = case.start("listen", "--json", "--all")
    listener.event("connection.changed", online=True)
    assert listener.end() == 0
    case.of("bellwire rekey --status", "rekey", "--status")
    mover = case.start("rekey", "--json", "--timeout", "60")
    question = case.desktop.event("rekey.changed", state="confirming")["data"]
    status = case.of("bellwire rekey --status", "rekey", "--desktop", "--status")
    assert status["questions"][0]["newId"] == question["newId"]
    accepted = case.of("bellwire desktop accept", "desktop", "accept")
    assert accepted["newId"] == question["newId"]
    assert mover.wait(60) == 0, mover.err.all
    for line in mover.out.all[:-1]:
        check_event(line)
    assert check("bellwire rekey", mover.out.all[-1])["state"] == "none"
    mover = case.start("rekey", "--json", "--timeout", "60")
    case.desktop.event("rekey.changed", state="confirming")
    case.of("bellwire desktop decline", "desktop", "decline")
    mover.end(2)
    case.of("bellwire rekey --cancel", "rekey", "--cancel")
    case.lines("rekey", "--cancel", code=4)


def test_a_code_that_is_shown(case: Case, relay: str) -> None:
    shown = case.start("pair", "--show", "--relay-url", relay, "--json", home="other")
    offer = check_event(shown.out.next(lambda line: line, 15))["data"]["payload"]
    desktop = case.start("desktop", "--relay-url", relay, "--scan", offer, "--accept", "--json", home="other")
    assert shown.wait(30) == 0, shown.err.all
    check("bellwire pair --show", shown.out.all[-1])
    assert desktop.end() == 0
    for line in desktop.out.all:
        check_event(line)


def test_other_commands(case: Case) -> None:
    case.of("bellwire qr", "qr", "Tea")
    for option in ("svg", "png"):
        file = case.folder / f"code.{option}"
        assert case.of(f"bellwire qr --{option}", "qr", "Tea", f"--{option}", file) == {"file": str(file)}
    assert case.of("bellwire qr --read", "qr", "--read", case.folder / "code.png") == {"texts": ["Tea"]}
    case.of("bellwire version", "version")
    case.of("bellwire completion", "completion", "bash")
    case.of("bellwire man", "man", "send")
    case.of("bellwire man --list", "man", "--list")
    doctor = case.start("doctor", "--json")
    assert doctor.wait(30) in (0, 1), doctor.err.all
    check("bellwire doctor", doctor.out.all[-1])
    file = case.folder / "backup.tar"
    case.of("bellwire backup", "backup", file)
    assert case.of("bellwire restore --check", "restore", "--check", file)["roles"][0]["role"] == "device"
    restored = case.start("restore", file, "--json", home="restored")
    assert restored.wait(30) == 0, restored.err.all
    check("bellwire restore", restored.out.all[-1])
    case.lines("send", code=2)
    case.lines("send", "Title", "--to", "Nobody", code=4)
    relay = case.start("relay", "--listen", "127.0.0.1:0", "--no-health", "--json")
    check_event(relay.out.next(lambda line: line, 15))
    assert relay.end() == 0
    unpaired = case.start("status", "--json", home="empty")
    assert unpaired.wait() == 0
    assert check("bellwire status", unpaired.out.all[-1])["device"] is None
    assert BELLWIRE.exists()
