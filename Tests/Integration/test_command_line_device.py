"""What a person scripts on a device: send lines, search the history, the inbox offline, settings, quiet hours, queue."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peers import FakeDesktop
from programs import Program, fastest
from test_command_line import Pair, pair_with, run

Start = Callable[..., Program]


class Desk(Pair):
    """A paired desktop, on a relay that stays when the desktop goes."""

    def __init__(self, bellwire: Start, relay: str) -> None:
        self._relay = relay
        super().__init__(bellwire, "--relay-url", relay)

    def leave(self) -> None:
        assert self.desktop.end() == 0, self.desktop.err.all

    def return_(self) -> None:
        self.desktop = self.bellwire("desktop", "--relay-url", self._relay, "--stdin", "--name", "Desk")
        self.desktop.error_line("online")

    def run(self, *arguments: str, code: int = 0) -> list[str]:
        """Runs a command of the device to its end: its lines, of standard error where it fails."""
        program = self.bellwire(*arguments)
        found = program.wait(40)
        assert found == code, (found, program.out.all, program.err.all)
        return program.err.all if code else program.out.all

    def json(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run(*arguments, "--json")]

    def send(self, *titles: str) -> None:
        for title in titles:
            self.run("send", title, "body of it")


@pytest.fixture
def desk(bellwire: Start, relay: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    # The desktop's own relay is exchanged for the test's.
    def start(*arguments: str | Path, home: str = "home") -> Program:
        words = list(arguments)
        if words[0] == "desktop" and "--relay-url" in words and "--relay" in words:
            place = words.index("--relay")
            del words[place : place + 2]
        return bellwire(*words, home=home)

    desk = Desk(start, relay)
    yield desk
    assert desk.desktop.end() == 0, desk.desktop.err.all


# MARK: send


def test_each_line_of_standard_input_is_sent_in_order_and_a_bad_one_is_said(desk: Desk) -> None:
    sender = desk.bellwire("send", "--stdin", "--priority", "low")
    sender.write("One\n\nTwo\twith a body\thigh\n" + "x" * 2000 + "\nbad\tbody\tshiny\nThree\n")
    # It goes on as long as its input does: what is written is sent at once.
    desk.desktop.line(r"low     mobile  One$")
    desk.desktop.line(r"high    mobile  Two  with a body$")
    desk.desktop.line(r"low     mobile  Three$")
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    assert sender.wait() == 1
    assert sender.out.all == ["Sent to Desk."] * 3
    assert "2 of 5 lines were not sent" in sender.err.all[-1] and len(sender.err.all) == 3


def test_lines_of_json_are_sent_and_answered_in_json(desk: Desk) -> None:
    sender = desk.bellwire("send", "--stdin", "--json")
    sender.write('{"title":"One","body":"b","priority":"urgent"}\n[]\nnothing\n{"title":"Two","body":""}\n')
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    desk.desktop.line("urgent  mobile  One  b$")
    desk.desktop.line("normal  mobile  Two$")
    assert sender.wait() == 1
    assert [json.loads(line)["success"] for line in sender.out.all] == [True, True]
    assert [json.loads(line)["exit"] for line in sender.err.all] == [1, 1, 1]


def test_lines_that_were_not_sent_are_counted_also_those_that_are_too_long(desk: Desk) -> None:
    sender = desk.bellwire("send", "--stdin", "--json")
    sender.write('{"title":"One","body":""}\n[]\n' + "x" * 300_000 + '\n{"title":"Two","body":""}\n' + "y" * 300_000)
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    assert sender.wait() == 1, "what is dropped was not sent"
    assert len(sender.out.all) == 2
    assert "3 of 5 lines were not sent" in sender.err.all[-1]


def test_a_sender_of_lines_waits_for_a_desktop_that_went(bellwire: Start) -> None:
    pair = Pair(bellwire)
    port = json.loads(pair.code)["signalingUrl"].rsplit(":", 1)[1]
    sender = bellwire("send", "--stdin")
    sender.write("One\n")
    sender.line("Sent to Desk")
    pair.desktop.end()
    sender.write("Two\n")
    again = bellwire("desktop", "--relay", f"127.0.0.1:{port}")
    again.line("mobile  Two$")
    sender.line("Sent to Desk")
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    assert sender.wait() == 0, sender.err.all


def test_ctrl_c_ends_a_sender_that_waits_for_lines(desk: Desk) -> None:
    sender = desk.bellwire("send", "--stdin")
    sender.write("One\n")
    sender.line("Sent to Desk")
    assert sender.end(signal.SIGINT) == 130


# MARK: history


def test_history_searches_and_filters(desk: Desk) -> None:
    desk.run("send", "Build failed", "unit tests", "--priority", "high")
    desk.run("send", "Building", "all green")
    desk.run("send", "Tea", "is ready", "--priority", "urgent")

    def titles(*arguments: str) -> list[str]:
        return [row["title"] for row in desk.json("history", *arguments)[0]["notifications"]]

    assert titles() == ["Tea", "Building", "Build failed"]
    assert titles("--search", "buil*") == ["Building", "Build failed"]
    assert titles("--search", "tests") == ["Build failed"]
    assert titles("--priority", "urgent") == ["Tea"]
    assert titles("--sort", "oldest", "--limit", "2") == ["Build failed", "Building"]
    assert titles("--sort", "priority", "--offset", "1", "-n", "1") == ["Build failed"]
    assert titles("--source", "pc") == []
    for since in ("1h", "today", "2020-01-01", "2020-01-01 10:30", "2020-01-01T10:30:15", "yesterday"):
        assert len(titles("--since", since)) == 3, since
    for until in ("1h", "2020-01-01", "3d", "1w"):
        assert titles("--until", until) == [], until
    assert titles("--unread", "--since", "1m", "--search", "ready") == ["Tea"]
    newest, second, oldest = desk.json("history")[0]["notifications"]
    # The next page begins before the last one of this page.
    assert titles("--before", str(newest["createdAt"])) == ["Building", "Build failed"]
    assert titles("--before", str(second["createdAt"])) == ["Build failed"]
    assert titles("--before", str(oldest["createdAt"])) == []
    assert "--until and --before" in desk.run("history", "--before", "1h", "--until", "1h", code=2)[-1]
    assert [row.split("  ")[-1] for row in desk.run("history")] == [newest["id"], second["id"], oldest["id"]]


def test_a_desktop_of_other_makers_may_leave_filters_out_and_that_is_said(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    pair_with(bellwire, fake_desktop)
    history = bellwire("history", "--search", "x")
    history.error_line("Office PC may ignore --search")
    fake_desktop.accept()
    request = fake_desktop.answer({"success": True, "notifications": [], "total": 0, "unreadCount": 0})
    assert request["method"] == "notification.getHistory"
    assert history.wait() == 0


# MARK: inbox


def test_the_inbox_is_there_while_the_desktop_is_away(desk: Desk) -> None:
    desk.send("One", "Two", "Three")
    refreshed = desk.run("inbox", "refresh")
    assert re.fullmatch(r"Desk: \d added, \d updated, 0 dropped; 3 unread\.", refreshed[0])
    desk.leave()

    def read() -> float:
        begin = time.monotonic()
        rows = desk.run("inbox")
        assert [re.split(r" {2,}", row)[3] for row in rows] == ["Three", "Two", "One"]
        assert all(row.startswith("* ") for row in rows)
        page = desk.json("inbox", "--search", "two")[0]
        assert [row["title"] for row in page["notifications"]] == ["Two"] and page["unread"] == 3
        assert rows[1].split("  ")[-1] == page["notifications"][0]["id"]
        assert desk.json("inbox", "list", "--to", "Desk", "--unread", "-n", "1")[0]["total"] == 3
        return time.monotonic() - begin

    fastest(read, 10)
    absent = desk.run("inbox", "refresh", "--timeout", "1", code=3)
    assert "Desk" in absent[-1]
    desk.return_()


def test_read_and_delete_take_ids_and_change_the_desktop(desk: Desk) -> None:
    desk.send("One", "Two", "Three")
    desk.run("inbox", "refresh")
    ids = {row["title"]: row["id"] for row in desk.json("inbox")[0]["notifications"]}
    assert desk.run("inbox", "read", ids["One"], ids["Two"]) == [f"{ids['One']} is read.", f"{ids['Two']} is read."]
    assert desk.json("inbox", "delete", ids["Three"])[0]["success"] is True
    answer = desk.json("history")[0]
    assert [(row["title"], row["read"]) for row in answer["notifications"]] == [("Two", True), ("One", True)]
    assert answer["unreadCount"] == 0
    desk.send("Four")
    assert desk.run("inbox", "read", "--all") == ["Marked all notifications from Desk as read."]
    assert desk.json("history", "--unread")[0]["total"] == 0
    assert desk.run("inbox", "clear") == ["Deleted all notifications from Desk."]
    assert desk.json("history")[0]["total"] == 0
    assert desk.run("inbox") == []


def test_the_beginning_of_an_id_is_enough_where_it_means_one(desk: Desk) -> None:
    desk.send("One", "Two")
    desk.run("inbox", "refresh")
    one, two = (row["id"] for row in desk.json("inbox", "--sort", "oldest")[0]["notifications"])
    common = next(index for index, (left, right) in enumerate(zip(one, two)) if left != right)
    desk.run("inbox", "read", one[: common + 1])
    assert [row["title"] for row in desk.json("inbox", "--unread")[0]["notifications"]] == ["Two"]
    if common:
        assert "matches 2" in desk.run("inbox", "read", one[:common], code=2)[-1]
    assert "no notification" in desk.run("inbox", "delete", "nothing-like-it", code=4)[-1]


def test_what_is_changed_while_the_desktop_is_away_waits_in_the_queue_and_is_carried_out(desk: Desk) -> None:
    desk.send("One", "Two")
    desk.run("inbox", "refresh")
    one, two = (row["id"] for row in desk.json("inbox", "--sort", "oldest")[0]["notifications"])
    desk.leave()
    kept = desk.run("inbox", "read", one, "--queue")
    assert kept == ["Queued until Desk is online (see bellwire queue)."]
    assert desk.json("inbox", "delete", two, "--timeout", "1")[0]["queued"] is True
    # It is so here already.
    assert [(row["id"], row["read"]) for row in desk.json("inbox")[0]["notifications"]] == [(one, True)]
    rows = desk.run("queue")
    assert len(rows) == 2 and re.match(r"pending  0  2\d{3}-.*  notification\.markAsRead  \S+$", rows[0])
    waiting = desk.run("queue", "run", "--timeout", "1", code=3)
    assert "2 still waiting" in waiting[-1]
    desk.return_()
    done = desk.run("queue", "run")
    assert [line.split()[0::2] for line in done] == [
        ["notification.markAsRead", "done"], ["notification.delete", "done"]
    ]  # fmt: skip
    answer = desk.json("history")[0]
    assert [(row["id"], row["read"]) for row in answer["notifications"]] == [(one, True)]


def test_what_is_sent_while_the_desktop_is_away_waits_and_is_shown_once(desk: Desk) -> None:
    desk.leave()
    queued = ["Queued until Desk is online (see bellwire queue)."]
    assert desk.run("send", "One", "body") == queued
    assert desk.run("send", "Two", "--broadcast") == queued
    assert desk.json("send", "Three", "--to-mobile")[0]["queued"] is True
    # The relay may keep it for a desktop that comes soon.
    assert "Desk" in desk.run("send", "Perhaps", "--no-queue", "--timeout", "1", code=3)[-1]
    # Too late when the desktop is back.
    assert desk.run("send", "Late", "--queue-for", "0.001") == queued
    rows = desk.json("queue")[0]["changes"]
    assert [row["params"]["title"] for row in rows] == ["One", "Two", "Three", "Late"]
    desk.return_()
    if rows[-1]["state"] == "failed":
        # While the command that queued it was still running.
        assert [line.split()[-1] for line in desk.run("queue", "run")] == ["done", "done", "done"]
    else:
        assert "1 failed" in desk.run("queue", "run", code=1)[-1]
    left = desk.json("queue")[0]["changes"]
    assert [(row["params"]["title"], row["state"]) for row in left] == [("Late", "failed")]
    desk.desktop.line("normal  mobile  One  body$")
    answer = desk.json("history", "--sort", "oldest")[0]
    shown = [row["title"] for row in answer["notifications"] if row["title"] != "Perhaps"]
    assert shown == ["One", "Two", "Three"]


def test_a_queued_command_that_the_desktop_refuses_fails_when_the_queue_runs(desk: Desk) -> None:
    # Before it goes: the relay may keep what was sent for it, and would deliver it before a later change.
    (device,) = desk.json("desktop", "devices")[0]["devices"]
    desk.run("desktop", "allow", device["name"], "nothing")
    desk.leave()
    desk.run("send", "One")
    desk.return_()
    assert "1 failed" in desk.run("queue", "run", code=1)[-1]
    assert [row["state"] for row in desk.json("queue")[0]["changes"]] == ["failed"]


def test_the_end_of_a_command_waits_for_a_desktop_that_is_away(desk: Desk) -> None:
    desk.leave()
    assert desk.run("run", "--title", "Build", "--", "true") == []
    assert [row["params"]["title"] for row in desk.json("queue")[0]["changes"]] == ["Build"]
    desk.return_()
    desk.run("queue", "run")
    desk.desktop.line("normal  mobile  Build  ")


def test_the_queue_gives_back_what_is_taken_out(desk: Desk) -> None:
    desk.send("One")
    desk.run("inbox", "refresh")
    one = desk.json("inbox")[0]["notifications"][0]["id"]
    desk.leave()
    desk.run("inbox", "read", one, "--queue")
    (command,) = desk.json("queue")[0]["changes"]
    assert (command["state"], command["method"]) == ("pending", "notification.markAsRead")
    assert "nothing in the queue" in desk.run("queue", "remove", "nothing-like-it", code=4)[-1]
    for action in ("retry", "clear"):
        assert desk.run("queue", action) == [], "no failed changes"
    assert desk.run("queue", "remove", command["id"][:8])[0].endswith("was removed.")
    assert desk.json("queue") == [{"changes": []}]
    assert desk.run("queue", "list") == []
    assert desk.run("queue", "run") == []
    desk.return_()


# MARK: settings and quiet hours


def test_settings_are_shown_changed_and_given_back_as_they_are_shown(desk: Desk) -> None:
    shown = desk.run("settings")
    assert "enabled=true" in shown and "soundEnabled=true" in shown
    changed = desk.run("settings", "soundEnabled=off", "retentionDays=90", "quietHoursStart=21:30")
    assert {"soundEnabled=false", "retentionDays=90", "quietHoursStart=21:30"} <= set(changed)
    settings = desk.json("settings")[0]
    assert (settings["soundEnabled"], settings["retentionDays"]) == (False, 90)
    assert desk.run("settings", *changed) == changed
    desk.leave()
    assert {"soundEnabled=false", "retentionDays=90"} <= set(desk.run("settings", "--stored"))
    kept = desk.run("settings", "soundEnabled=on", "--queue")
    assert kept == ["Queued until Desk is online (see bellwire queue)."]
    assert "Desk" in desk.run("settings", "--timeout", "1", code=3)[-1]
    desk.return_()
    assert "notification.updateSettings" in desk.run("queue", "run")[0]
    assert desk.json("settings")[0]["soundEnabled"] is True


def test_a_devices_own_settings_are_another_thing(desk: Desk) -> None:
    changed = desk.run("settings", "--device", "sources.mobile=off", "showPreview=no")
    assert {"sources.mobile=false", "showPreview=false"} <= set(changed)
    settings = desk.json("settings", "--device")[0]
    assert settings["sources"] == {"mobile": False} and settings["showPreview"] is False
    assert desk.json("settings")[0]["showPreview"] is True
    assert "burstLimit=5" in desk.run("settings", "--device", "burstLimit=5")
    desk.run("settings", "--device", "burstLimit=many", code=2)


def test_quiet_hours_of_the_desktop_and_of_the_device(desk: Desk) -> None:
    for where, name in (([], "Desk"), (["--device"], "this device")):
        assert desk.run("quiet", *where)[0].startswith(f"Quiet hours of {name} are off")
        assert desk.run("quiet", "22:00-08:00", *where) == [f"Quiet hours of {name}: 22:00-08:00."]
        assert desk.run("quiet", "off", *where) == [f"Quiet hours of {name} are off (22:00-08:00)."]
        assert desk.run("quiet", "on", *where) == [f"Quiet hours of {name}: 22:00-08:00."]
        assert desk.json("quiet", *where) == [
            {"quietHoursEnabled": True, "quietHoursStart": "22:00", "quietHoursEnd": "08:00"}
        ]
    desk.leave()
    assert "Queued until Desk is online" in desk.run("quiet", "off", "--queue")[0]
    assert desk.run("quiet", "--device") == ["Quiet hours of this device: 22:00-08:00."]
    desk.return_()


# MARK: Usage


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["send", "--stdin", "Title"], "no TITLE", id="a title beside lines"),
        pytest.param(["send", "a", "--priority", "shiny"], "low, normal, high", id="a priority that is none"),
        pytest.param(["history", "--since", "soon"], "--since", id="a time that is none"),
        pytest.param(["history", "--since", "2026-02-30"], "--since", id="a day that no month has"),
        pytest.param(["history", "--until", "25:00"], "--until", id="an hour that no day has"),
        pytest.param(["history", "--sort", "best"], "newest", id="an order that is none"),
        pytest.param(["inbox", "eat"], 'unknown action "eat"', id="an action that is none"),
        pytest.param(["inbox", "read"], "--all", id="read what"),
        pytest.param(["inbox", "delete"], "IDs", id="delete what"),
        pytest.param(["inbox", "clear", "x"], "no ID", id="clear one"),
        pytest.param(["inbox", "delete", "x", "--all"], "--all", id="delete all"),
        pytest.param(["inbox", "refresh", "--unread"], "--unread", id="refresh the unread"),
        pytest.param(["inbox", "--queue"], "--queue", id="a list for the queue"),
        pytest.param(["queue", "eat"], 'unknown action "eat"', id="a queue that eats"),
        pytest.param(["queue", "remove"], "IDs", id="remove what"),
        pytest.param(["queue", "clear", "x"], "no ID", id="clear one of the queue"),
        pytest.param(["settings", "sound"], "KEY=VALUE", id="a setting without a value"),
        pytest.param(["settings", "sound=on"], "unknown setting", id="a setting that is none"),
        pytest.param(["settings", "soundEnabeld=on"], "did you mean soundEnabled", id="a setting misspelled"),
        pytest.param(["settings", "enabled=perhaps"], "must be true or false", id="a switch that is none"),
        pytest.param(["settings", "retentionDays=x"], "whole number", id="a number that is none"),
        pytest.param(["settings", "--device", "retentionDays=3"], "unknown setting", id="not the device's"),
        pytest.param(["settings", "--device", "--to", "x"], "cannot be combined", id="both sides"),
        pytest.param(["settings", "--stored", "enabled=on"], "--stored", id="change what is stored"),
        pytest.param(["settings", "--queue"], "--queue", id="nothing for the queue"),
        pytest.param(["quiet", "22:00"], "HH:mm-HH:mm", id="one time"),
        pytest.param(["quiet", "22:00-24:00"], "HH:mm-HH:mm", id="24 o'clock"),
        pytest.param(["quiet", "8:00-9:00"], "HH:mm-HH:mm", id="a digit too few"),
        pytest.param(["quiet", "08:00-08:00"], "off", id="no time between"),
        pytest.param(["quiet", "--queue"], "--queue", id="show in the queue"),
    ],
)
def test_wrong_usage_is_code_2_and_one_line_that_names_it(arguments: list[str], named: str, tmp_path: Path) -> None:
    found = run(*arguments, XDG_STATE_HOME=str(tmp_path))
    assert (found.returncode, found.stdout) == (2, ""), found
    assert found.stderr.count("\n") == 1 and found.stderr.startswith("bellwire: ") and named in found.stderr
    assert list(tmp_path.iterdir()) == [], "it made a state directory"


def test_without_a_desktop_they_are_code_4_or_empty(tmp_path: Path) -> None:
    for command in (["settings"], ["quiet"], ["inbox", "refresh"], ["inbox", "clear"], ["inbox", "read", "x"]):
        found = run(*command, XDG_STATE_HOME=str(tmp_path))
        assert (found.returncode, found.stdout) == (4, ""), command
    for command in (["inbox"], ["queue"], ["queue", "clear"], ["queue", "retry"], ["queue", "run"]):
        found = run(*command, XDG_STATE_HOME=str(tmp_path))
        assert (found.returncode, found.stdout) == (0, ""), command
    assert run("settings", "--device", XDG_STATE_HOME=str(tmp_path)).stdout.startswith("alerts=ask\nenabled=")
