"""Alerts that wait, over the C interface: what is decided about them meanwhile, in which order they come, and for whom they
make room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Start
from desktopbus import PlayedServer, PrivateBus, missing_bus
from pictures import Web, options
from programs import wait_until
from test_alerts import House, local_minute
from test_system_alerts import BUTTONS
from test_system_alerts import House as SystemHouse

Change = Callable[[Any], object]

CHANGES: dict[str, tuple[Change, str]] = {
    "denied": (lambda house: house.device.call("bw_alerts_authorize", "denied", 0), "denied"),
    "switched off": (lambda house: house.device.call("bw_alerts_set_settings", {"enabled": False}), "disabled"),
    "source": (
        lambda house: house.device.call("bw_alerts_set_settings", {"sources": {"pc": False}}),
        "source_disabled",
    ),
    "quiet hours": (
        lambda house: house.device.call(
            "bw_alerts_set_settings",
            {
                "quietHoursEnabled": True,
                "quietHoursStart": local_minute(-60),
                "quietHoursEnd": local_minute(60),
            },
        ),
        "quiet_hours",
    ),
}


@pytest.fixture
def house(start: Start, relay: str, tmp_path: Path, web: Web) -> Iterator[House]:
    house = House(start, relay, tmp_path, **options(web))
    house.authorize()
    yield house
    house.device.close()
    house.desktop.close()


def titles(house: House) -> list[str]:
    """What the program was given to show, and not to take away, in this order."""
    asked = house.device.questions("present")
    return [question["alert"]["title"] for question in asked if not question.get("withdraw")]


def waits(house: Any, count: int = 1) -> None:
    wait_until(lambda: house.device.call("bw_alerts_state")["waiting"] >= count, 60)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("wait", ["no callback", "failed once", "does not look", "slow image", "asked in front"])
def test_what_waits_is_decided_again(house: House, web: Web, wait: str, change: str) -> None:
    device = house.device
    image: dict[str, Any] = {}
    match wait:
        case "no callback":
            device.answer("present", None)
        case "failed once":
            device.answer("present", 5)
        case "slow image":
            image = {"imageUrl": web.url("stalled")}
        case "asked in front":
            device.answer("will_present", 15)
            device.call("bw_alerts_in_front", 1)
    if wait in ("does not look", "asked in front"):
        device.pause(True)
    pushed = house.push("Waiting", **image)
    waits(house)
    if wait == "failed once":
        house.shown("Waiting")
    before = len(titles(house))
    act, reason = CHANGES[change]
    act(house)
    wait_until(lambda: device.call("bw_alerts_state")["waiting"] == 0)
    if wait in ("does not look", "asked in front"):
        device.pause(False)
    assert house.presented(pushed) == {"id": pushed, "presented": False, "reason": reason}
    device.answer("present", 0)
    # What follows is shown, and that one was not.
    device.call("bw_alerts_authorize", "authorized", 0)
    device.call("bw_alerts_set_settings", {"enabled": True, "sources": {"pc": None}})
    house.push("Afterwards", priority="urgent")
    house.shown("Afterwards")
    assert titles(house)[before:] == ["Afterwards"]


@pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))
@pytest.mark.parametrize("change", ["denied", "switched off"])
def test_what_waits_for_a_notification_server_is_decided_again(
    start: Start, relay: str, tmp_path: Path, change: str
) -> None:
    bus = PrivateBus()
    house = SystemHouse(start, relay, bus, tmp_path)
    house.authorize()
    pushed = house.push("Waiting")
    waits(house)
    act, reason = CHANGES[change]
    act(house)
    assert house.presented(pushed)["reason"] == reason
    PlayedServer(bus, BUTTONS)
    house.until_ready()
    house.authorize()
    house.device.call("bw_alerts_set_settings", {"enabled": True})
    house.presented(house.push("Afterwards"))
    wait_until(lambda: house.delivered == ["Afterwards"])
    house.close()
    bus.close()


def test_an_expired_push_is_not_shown(house: House) -> None:
    expired = {"notification": {"title": "Over"}, "data": {"expiresAt": "1000"}}
    received = house.device.call("bw_device_receive", "fcm", expired)
    assert house.presented(received["id"])["reason"] == "expired"


def test_images_that_hang_hold_up_neither_an_urgent_push_nor_a_reminder_nor_others(
    start: Start, relay: str, tmp_path: Path, web: Web
) -> None:
    house = House(start, relay, tmp_path, **options(web, timeout_ms=20_000))
    house.authorize()
    for number in range(200):
        house.push(f"Hanging {number}", imageUrl=web.url("silent"))
    waits(house, 200)
    house.push("Critical", priority="urgent")
    house.shown("Critical")
    house.device.call("bw_reminder_add", {"title": "Reminder"})
    house.shown("Reminder")
    house.push("Ordinary")
    house.shown("Ordinary")
    assert titles(house) == ["Critical", "Reminder", "Ordinary"]
    house.device.close()
    house.desktop.close()


def test_a_host_that_did_not_answer_in_time_is_not_asked_again_at_once(
    start: Start, relay: str, tmp_path: Path, web: Web
) -> None:
    house = House(start, relay, tmp_path, **options(web, timeout_ms=300))
    house.authorize()
    url = web.url("silent")
    first = house.push("First", imageUrl=url)
    assert house.presented(first)["image"] == {"error": "timeout"}
    second = house.push("Second", imageUrl=url)
    assert house.presented(second)["image"] == {"error": "host_resting"}
    house.device.close()
    house.desktop.close()


def test_what_waited_comes_in_its_order_urgent_ones_first(house: House) -> None:
    house.device.answer("present", None)
    for number in range(1_000):
        house.push(f"{number}", priority="urgent" if number % 250 == 249 else "normal")
    wait_until(lambda: house.device.state["unread"] == 1_000, 60)
    house.device.answer("present", 0)
    wait_until(lambda: len(titles(house)) == 1_000, 120)
    urgent = [f"{number}" for number in range(1_000) if number % 250 == 249]
    ordinary = [f"{number}" for number in range(1_000) if number % 250 != 249]
    shown = titles(house)
    assert shown[:4] == urgent
    assert shown[4:] == ordinary


def test_ordinary_alerts_make_room_for_an_urgent_one_and_a_reminder_and_a_digest_says_so(house: House) -> None:
    house.device.answer("present", None)
    first = house.push("0")
    for number in range(1, 1_000):
        house.push(f"{number}")
    wait_until(lambda: house.device.state["unread"] == 1_000, 60)
    house.push("Critical", priority="urgent")
    house.device.call("bw_reminder_add", {"id": "r", "title": "Reminder"})
    assert house.presented(first) == {"id": first, "presented": False, "reason": "too_many"}
    wait_until(lambda: len(house.device.of("notification.presented")) == 2)
    house.device.answer("present", 0)
    digest = house.shown("2 notifications while too many were waiting")
    assert digest["alert"]["body"].split("\n") == ["1", "0"]
    wait_until(lambda: len(titles(house)) == 1_001, 120)
    assert {"Critical", "Reminder"} < set(titles(house))


def test_a_burst_is_summed_up_after_its_first_few(house: House) -> None:
    assert house.device.call("bw_alerts_settings")["burstLimit"] == 0
    assert house.settings(burstLimit=5)["burstLimit"] == 5
    pushed = [house.push(f"Burst {number}") for number in range(200)]
    urgent = house.push("Urgent", priority="urgent")

    def told_by_id() -> dict[str, Any]:
        return {each["id"]: each for each in house.device.of("notification.presented")}

    # The digest is told, too.
    wait_until(lambda: told_by_id().keys() >= {*pushed, urgent}, 60)
    told = told_by_id()
    assert told[urgent]["presented"] is True
    held = [told[identity] for identity in pushed if not told[identity]["presented"]]
    assert {each["reason"] for each in held} == {"burst"}
    assert all(told[identity]["presented"] for identity in pushed[:5]), "the first few come as they are"
    assert len(held) >= 100
    # A second begins anew, so how many are shown, and whether the last one is, depends on how fast they came.
    digests = lambda: [title for title in titles(house) if title.endswith("in a short time")]  # noqa: E731
    wait_until(lambda: digests()[-1:] == [f"{len(held)} notifications in a short time"], 30)
    digest = [question for question in house.device.questions("present") if "short time" in question["alert"]["title"]]
    assert {question["alert"]["id"] for question in digest} == {"bellwire.digest.burst"}
    assert digest[-1]["alert"]["userInfo"] == {"digest": "burst", "count": len(held)}
    refused = house.device.outcome("bw_alerts_set_settings", {"burstLimit": 101})
    assert refused["error"]["detail"]["field"] == "burstLimit"
