"""`bellwire agent`: alerts beside the user's programs, through the agent or through one that shows them itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktopbus import PlayedServer, PrivateBus, missing_bus
from hosts import Host
from peers import Object
from programs import BELLWIRE, Program, wait_until

Start = Callable[..., Program]

pytestmark = pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))


def part(device: Host) -> str:
    return str(device.state["sharing"]["part"])


QUESTION = "Bellwire would like to send you notifications"


class House:
    """A desktop, a device's state directory, and programs of one person that use it on a private bus."""

    def __init__(self, start: Start, relay: str, home: Path) -> None:
        self.home = home
        self.bus = PrivateBus()
        self.server = PlayedServer(self.bus, "actions", "body")
        self.desktop = Host(
            start,
            "desktop",
            {"state_dir": str(home / "desktop"), "name": "Desk", "relay_url": relay, "follow_system": False},
        )
        self.desktop.start()

    def run(self, *arguments: str, **environment: str) -> Program:
        return self.bus.run(
            BELLWIRE,
            *arguments,
            **{"XDG_STATE_HOME": str(self.home), "TZ": "UTC", "LC_ALL": "C.UTF-8", **environment},
        )

    def pair(self) -> None:
        offer = self.desktop.call("bw_desktop_offer", 10_000)
        paired = self.run("pair", "--name", "Phone", offer["payload"])
        assert paired.wait() == 0, paired.err.all

    def allow(self) -> None:
        """The person allows alerts, before there is an agent."""
        device = self.device(alerts="system", shared=False)
        device.call("bw_alerts_authorize", "authorized", 0)
        device.close()

    def agent(self, *options: str) -> Program:
        """Shows each push by itself, unless the options say otherwise."""
        return self.run("agent", "--late", "each", *(options or ("--burst", "0")))

    def push(self, title: str, **params: object) -> None:
        self.desktop.call("bw_desktop_notify", {"title": title, "body": "Body", **params}, 10_000)

    def shows(self, title: str) -> Object:
        return self.server.shown(title, 30)

    def device(self, **options: object) -> Host:
        """Any other program that embeds the library."""

        def on_bus(*arguments: str | Path) -> Program:
            return self.bus.run(*arguments, XDG_STATE_HOME=str(self.home), TZ="UTC")

        directory = str(self.home / "bellwire" / "device")
        return Host(on_bus, "device", {"state_dir": directory, "application_id": "org.example.Program", **options})

    def reaches(self, device: Host, title: str) -> None:
        """Pushes until the program has received one: it gets events from its first dispatch on."""

        def is_there() -> bool:
            self.push(title)
            return title in [push["title"] for push in device.of("notification.received")]

        wait_until(is_there, 30)

    def close(self) -> None:
        self.desktop.close()
        self.bus.close()


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path) -> Iterator[House]:
    house = House(start, relay, tmp_path)
    house.pair()
    house.allow()
    yield house
    house.close()


def test_it_shows_pushes_beside_commands(house: House) -> None:
    agent = house.agent()
    house.push("First")
    house.shows("First")
    for number in range(3):
        sent = house.run("send", f"Sent {number}")
        assert sent.wait() == 0, sent.err.all
    house.push("Second")
    house.shows("Second")
    # It has taken no push from anybody.
    listener = house.run("listen", "--count", "6", "--timeout", "30")
    for title in ("First", "Sent 0", "Sent 1", "Sent 2", "Second"):
        listener.line(f"  {title}( |$)")
    house.push("Third")
    house.shows("Third")
    listener.line("  Third  ")
    assert listener.wait() == 0, listener.err.all
    house.push("Fourth")
    house.shows("Fourth")
    assert agent.end() == 0 and agent.err.all == []


def test_it_works_beside_a_program_and_shows_its_reminders(house: House) -> None:
    agent = house.agent()
    house.push("First")
    house.shows("First")
    device = house.device()
    assert part(device) == "guest"
    at = int(time.time() * 1000) + 3_000
    device.call("bw_reminder_add", {"id": "tea", "title": "Tea", "trigger": {"type": "moment", "at": at}})
    house.shows("Tea")
    device.start()
    house.reaches(device, "For both")
    house.shows("For both")
    # The program goes on without the agent, and the agent comes back.
    agent.kill()
    house.reaches(device, "Without an agent")
    again = house.agent()
    house.push("With one")
    house.shows("With one")
    device.program.kill()
    house.push("After its death")
    house.shows("After its death")
    assert again.end() == 0


def test_it_leaves_alerts_to_a_program_that_shows_them_itself(house: House) -> None:
    """Such a program becomes the holder, and the agent its guest, until that program ends."""
    agent = house.agent()
    house.push("First")
    house.shows("First")
    device = house.device(alerts="host", late_alerts="none", name="Lamp")
    assert part(device) == "holder"
    device.start()
    house.reaches(device, "Of the program")
    assert agent.process.poll() is None and "Of the program" not in house.server.titles
    device.close()
    house.push("Of the agent")
    house.shows("Of the agent")
    assert agent.end() == 0


def test_an_agent_that_dies_is_in_nobodys_way(house: House) -> None:
    agent = house.agent()
    house.push("First")
    house.shows("First")
    agent.kill()
    sent = house.run("send", "Title", "--timeout", "10")
    assert sent.wait() == 0, sent.err.all
    again = house.agent()
    house.push("Second")
    house.shows("Second")
    assert again.end() == 0


def test_it_takes_over_from_a_program_that_shows_no_alerts(house: House) -> None:
    device = house.device()
    device.start()
    assert part(device) == "holder"
    agent = house.agent()
    wait_until(lambda: part(device) == "guest", 30)
    house.push("For both")
    house.shows("For both")
    device.close()
    house.push("Of the agent")
    house.shows("Of the agent")
    assert agent.end() == 0


def test_it_waits_for_a_program_that_does_not_share(house: House) -> None:
    device = house.device(shared=False)
    device.start()
    agent = house.agent()
    house.reaches(device, "Of the program")
    assert agent.process.poll() is None
    device.close()
    house.push("Of the agent")
    house.shows("Of the agent")
    assert agent.end() == 0 and agent.err.all == []


def test_there_is_one_agent(house: House) -> None:
    agent = house.agent()
    house.push("First")
    house.shows("First")
    second = house.run("agent")
    assert second.wait() == 5 and "another bellwire agent" in second.err.all[-1]
    house.push("Second")
    house.shows("Second")
    assert agent.end() == 0


def test_without_a_pairing_or_a_directory_it_says_so(start: Start, relay: str, tmp_path: Path) -> None:
    house = House(start, relay, tmp_path)
    unpaired = house.run("agent")
    assert unpaired.wait() == 4 and "bellwire pair" in unpaired.err.all[-1]
    memory = house.run("agent", "--state-dir", ":memory:")
    assert memory.wait() == 2
    house.close()


@pytest.mark.parametrize("answer", ["Allow", "Don't allow"])
def test_it_asks_once(start: Start, relay: str, tmp_path: Path, answer: str) -> None:
    house = House(start, relay, tmp_path)
    house.pair()
    agent = house.agent()
    question = house.shows(QUESTION)
    house.server.press(question, answer)
    if answer == "Allow":

        def is_shown() -> bool:
            house.push("Wanted")
            return "Wanted" in house.server.titles

        # The answer counts once it is stored.
        wait_until(is_shown, 30)
    else:
        agent.error_line("bellwire: ")
        house.push("Unwanted")
        listener = house.run("listen", "--count", "1", "--timeout", "30")
        listener.line("  Unwanted  ")
        assert listener.wait() == 0
        assert len(house.server.titles) == 1
    assert agent.end() == 0
    house.close()


def test_the_permission_can_be_changed_after_the_answer(house: House) -> None:
    agent = house.agent()

    def settings(*words: str) -> list[str]:
        run = house.run("settings", "--device", *words)
        assert run.wait() == 0, run.err.all
        return [line for line in run.out.all if line.startswith("alerts=")]

    assert settings() == ["alerts=allowed"]
    assert settings("alerts=denied") == ["alerts=denied"]
    house.push("Hidden")
    assert settings("alerts=allowed", "burstLimit=0") == ["alerts=allowed"]
    house.push("Seen")
    house.shows("Seen")
    assert "Hidden" not in house.server.titles
    refused = house.run("settings", "--device", "alerts=perhaps")
    assert refused.wait() == 2 and "allowed, denied, ask" in "".join(refused.err.all)
    # The next agent says how to change it.
    assert settings("alerts=denied") == ["alerts=denied"]
    assert agent.end() == 0
    again = house.agent()
    again.error_line("alerts are not allowed; to allow them, run: bellwire settings --device alerts=allowed", 30)
    assert again.end() == 0
    allowing = house.run("agent", "--allow", "--late", "each")
    house.push("Allowed")
    house.shows("Allowed")
    assert settings() == ["alerts=allowed"]
    assert allowing.end() == 0 and allowing.err.all == []


@pytest.mark.parametrize("before", ["none", "without buttons"])
def test_it_asks_when_a_server_comes_that_can_ask(start: Start, relay: str, tmp_path: Path, before: str) -> None:
    house = House(start, relay, tmp_path)
    house.server.end()
    house.pair()
    if before == "without buttons":
        house.server = PlayedServer(house.bus, "body")
    names = len(house.bus.names)
    agent = house.agent()
    if before == "none":
        wait_until(lambda: len(house.bus.names) > names, 30)
    else:
        agent.error_line("the notification server can't ask you for permission", 30)
    house.server = PlayedServer(house.bus, "actions", "body")
    house.server.press(house.shows(QUESTION), "Allow")

    def is_shown() -> bool:
        house.push("Wanted")
        return "Wanted" in house.server.titles

    wait_until(is_shown, 30)
    assert agent.end() == 0
    house.close()


def test_bursts_are_summed_up_unless_the_user_wants_each(house: House) -> None:
    def burst_limit() -> list[str]:
        run = house.run("settings", "--device")
        assert run.wait() == 0, run.err.all
        return [line for line in run.out.all if line.startswith("burstLimit=")]

    assert burst_limit() == ["burstLimit=0"]
    agent = house.run("agent", "--late", "each")
    house.push("First")
    house.shows("First")
    assert burst_limit() == ["burstLimit=5"]
    for number in range(40):
        house.push(f"Burst {number}")
    house.server.wait(lambda line: str(line.get("title", "")).endswith(" notifications in a short time"), 30)
    assert len([title for title in house.server.titles if title.startswith("Burst ")]) < 40
    assert agent.end() == 0
    each = house.agent("--burst", "0")
    house.push("Second")
    house.shows("Second")
    assert burst_limit() == ["burstLimit=0"]
    for number in range(12):
        house.push(f"Each {number}")
    for number in range(12):
        house.shows(f"Each {number}")
    assert each.end() == 0
    # It is remembered.
    again = house.run("agent", "--late", "each")
    house.push("Third")
    house.shows("Third")
    assert burst_limit() == ["burstLimit=0"]
    assert again.end() == 0
    refused = house.run("agent", "--burst", "101")
    assert refused.wait() == 2 and "0 to 100" in "".join(refused.err.all)


def test_a_click_opens_a_web_link_if_the_user_allows_it(house: House, tmp_path: Path) -> None:
    programs, opened = tmp_path / "programs", tmp_path / "opened"
    programs.mkdir()
    script = programs / "xdg-open"
    script.write_text(f"#!/bin/sh\nprintf '%s|' \"$@\" >> '{opened}'\n")
    script.chmod(0o755)
    agent = house.run("agent", "--late", "each", PATH=f"{programs}:/usr/bin:/bin")
    link = "https://example.org/a?b=c&d=*$(e);f"
    house.push("Off", deepLink=link)
    assert list(house.shows("Off")["actions"]) == ["Mark as read"]
    setting = house.run("settings", "--device", "openLinks=on")
    assert setting.wait() == 0, setting.err.all
    for title, other in [("Without", None), ("File", "file:///etc/passwd"), ("Program", "app://task/1")]:
        house.push(title, **({"deepLink": other} if other else {}))
        assert list(house.shows(title)["actions"]) == ["Mark as read"]
    house.push("On", deepLink=link)
    shown = house.shows("On")
    assert list(shown["actions"]) == ["Open", "Mark as read"]
    house.server.press(shown, "Open")
    wait_until(opened.exists)
    wait_until(lambda: opened.read_text() == f"{link}|")
    assert agent.end() == 0 and agent.err.all == []


def test_emoji_with_joiners_are_printed_as_they_are(house: House) -> None:
    listener = house.run("listen", "--count", "1", "--timeout", "30")
    title = "👩‍💻 ❤️ 🏳️‍🌈 می‌خواهم"
    house.push(f"{title}\u200b\u202e!")
    listener.line(f"  {title}\\?\\?!")
    assert listener.wait() == 0, listener.err.all
