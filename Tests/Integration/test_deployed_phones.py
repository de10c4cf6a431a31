"""Our desktop against deployed phones: each frame is answered in its own form (WireDeployedPeers, "What a desktop sends")."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from peers import FakePhone, Peer, now, receive
from programs import Program

Start = Callable[..., Program]

IOS = "did:key:z6MkiOSphoneAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
ANDROID = "did:key:zAndroid.Phone-1"


class House:
    """A relay, our desktop, and the phones that have paired with it."""

    def __init__(self, bellwire: Start, relay: str) -> None:
        self.relay = relay
        # Phones cannot prove that they have seen the code: nobody is at a terminal to be asked about them.
        self.desktop = bellwire(
            "desktop", "--relay-url", relay, "--json", "--stdin", "--name", "Desk", "--pair", "--accept"
        )
        self.offer = self.desktop.event("offer")["data"]
        self.code: str = self.offer["payload"]
        self.phones: list[FakePhone] = []

    def phone(self, platform: str, did: str) -> FakePhone:
        """Pairs a phone; an offer is for one device, so only the first one can."""
        phone = FakePhone(self.relay, platform, did)
        self.phones.append(phone)
        phone.pair(self.code)
        self.desktop.event("pairing.changed", state="paired")
        return phone

    def push(self, title: str, body: str = "Text", **fields: Any) -> None:
        self.desktop.write(json.dumps({"title": title, "body": body, **fields}) + "\n")

    def pushed(self) -> dict[str, Any]:
        data: dict[str, Any] = self.desktop.event("pushed")["data"]
        return data


@pytest.fixture
def house(bellwire: Start, relay: str) -> Iterator[House]:
    house = House(bellwire, relay)
    yield house
    for phone in house.phones:
        phone.close()
    assert house.desktop.process.poll() is None, house.desktop.err.all
    assert house.desktop.end() == 0


def ios(method: str, **params: Any) -> dict[str, Any]:
    """A request as the iOS app writes it: an object, identity without a signature."""
    return {"id": "5F2C1B3E-1", "method": method, "params": params, "auth": {"mobileDid": IOS}}


def android(method: str, **params: Any) -> dict[str, Any]:
    """A request as the Android app writes it (it travels as text)."""
    return {
        "jsonrpc": "2.0", "id": "req_1735689600000_17", "method": method, "params": params,
        "auth": {"did": ANDROID, "timestamp": now(), "nonce": "8c1f2a"},
    }  # fmt: skip


def test_the_code_is_one_that_deployed_phones_read(house: House) -> None:
    offer = json.loads(house.code)
    assert offer["type"] == "desktop-pairing"
    assert len(offer["code"]) == 6 and offer["code"].isdigit()
    assert offer["pcPeerId"].startswith("did:key:z6Mk")
    assert set(offer["deviceInfo"]) == {"name", "platform", "version"}
    assert offer["deviceInfo"]["platform"] in ("win32", "darwin", "linux")
    assert abs(offer["timestamp"] - now()) < 60_000
    assert house.relay in (offer.get("signalingUrl"), offer.get("relayUrl"))


def test_an_ios_request_is_answered_with_an_object(house: House) -> None:
    phone = house.phone("ios", IOS)
    answer = phone.invoke(ios("notification.getHistory", limit=50, offset=0, unreadOnly=False), as_text=False)
    response = answer["payload"]
    assert isinstance(response, dict)
    assert response["id"] == "5F2C1B3E-1"
    assert "error" not in response
    result = response["result"]
    assert result["success"] is True
    assert result["notifications"] == [] and result["total"] == 0 and result["unreadCount"] == 0


def test_an_ios_error_is_a_text_without_a_result(house: House) -> None:
    phone = house.phone("ios", IOS)
    response = phone.invoke(ios("notification.send", body="no title"), as_text=False)["payload"]
    assert isinstance(response["error"], str) and response["error"]
    assert "result" not in response


def test_an_android_request_is_answered_with_a_text(house: House) -> None:
    phone = house.phone("android", ANDROID)
    answer = phone.invoke(android("notification.getUnreadCount"), as_text=True)
    assert isinstance(answer["payload"], str)
    response = json.loads(answer["payload"])
    assert response["jsonrpc"] == "2.0"
    assert response["id"] == "req_1735689600000_17"
    assert response["result"]["success"] is True and response["result"]["count"] == 0
    assert "error" not in response


def test_an_android_error_is_an_object_in_a_text(house: House) -> None:
    phone = house.phone("android", ANDROID)
    response = json.loads(phone.invoke(android("notification.send", body="no title"), as_text=True)["payload"])
    assert response["jsonrpc"] == "2.0"
    assert response["error"]["code"] == -32602 and response["error"]["message"]
    assert "result" not in response


def test_a_method_that_is_none_is_minus_32601(house: House) -> None:
    phone = house.phone("android", ANDROID)
    response = json.loads(phone.invoke(android("notification.dance"), as_text=True)["payload"])
    assert response["error"]["code"] == -32601


def test_what_a_phone_sends_is_shown_and_kept(house: House) -> None:
    phone = house.phone("android", ANDROID)
    request = android("notification.send", title="From the phone", body="Hello", priority="high", urgency="high")
    response = json.loads(phone.invoke(request, as_text=True)["payload"])
    assert response["result"]["success"] is True
    shown = house.desktop.event("notification.received", title="From the phone")["data"]
    assert (shown["body"], shown["priority"], shown["source"]) == ("Hello", "high", "mobile")

    history = json.loads(phone.invoke(android("notification.getHistory", limit=5), as_text=True)["payload"])["result"]
    row = history["notifications"][0]
    assert row["title"] == "From the phone" and row["body"] == "Hello" and row["priority"] == "high"
    assert row["read"] is False and isinstance(row["createdAt"], int)
    assert history["total"] == 1 and history["unreadCount"] == 1

    marked = json.loads(
        phone.invoke(android("notification.markAsRead", notificationId=row["id"]), as_text=True)["payload"]
    )["result"]
    assert marked["success"] is True and marked["markedCount"] == 1
    count = json.loads(phone.invoke(android("notification.getUnreadCount"), as_text=True)["payload"])["result"]
    assert count["count"] == 0


def test_a_push_to_ios_is_an_event_with_an_object(house: House) -> None:
    phone = house.phone("ios", IOS)
    house.push("Tea", "is ready", priority="urgent", data={"n": 1, "deep": {"a": True}, "t": "x"})
    event = phone.payload("chainlesschain:event")["payload"]
    assert isinstance(event, dict)
    assert event["event"] == "notification.received"
    assert event["notificationId"]
    assert (event["title"], event["body"], event["priority"], event["source"]) == ("Tea", "is ready", "urgent", "pc")
    assert isinstance(event["timestamp"], int)
    assert all(isinstance(value, str) for value in event["data"].values()), "data is text to text"
    assert event["data"]["t"] == "x"
    assert house.pushed()["deliveredCount"] == 1


def test_a_push_to_android_is_a_notification_in_a_text(house: House) -> None:
    phone = house.phone("android", ANDROID)
    house.push("Tea", "is ready", priority="low")
    payload = phone.payload("chainlesschain:event:notification")["payload"]
    assert isinstance(payload, str)
    call = json.loads(payload)
    assert call["jsonrpc"] == "2.0" and call["method"] == "notification.received"
    assert call["params"]["notificationId"]
    assert (call["params"]["title"], call["params"]["body"], call["params"]["priority"]) == ("Tea", "is ready", "low")
    assert "id" not in call


def test_a_notification_without_a_text_still_has_a_body(house: House) -> None:
    phone = house.phone("ios", IOS)
    house.desktop.write('{"title":"Only a title"}\n')
    assert phone.payload("chainlesschain:event")["payload"]["body"] == ""


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_send_to_mobile_reaches_the_caller_itself(house: House, as_text: bool) -> None:
    phone = house.phone("ios", IOS)
    request = ios("notification.sendToMobile", title="To me", body="myself")
    phone.message(
        phone.desktop,
        {"type": "chainlesschain:command:request", "payload": json.dumps(request) if as_text else request},
    )
    seen: dict[str, Any] = {}
    while not {"chainlesschain:event", "chainlesschain:command:response"} <= seen.keys():
        payload = receive(phone.connection, lambda frame: frame["type"] == "message")["payload"]
        seen[payload["type"]] = payload["payload"]
    assert seen["chainlesschain:event"]["title"] == "To me"
    answer = seen["chainlesschain:command:response"]
    response = json.loads(answer) if as_text else answer
    assert response["result"]["success"] is True and response["result"]["delivered"] is True


def test_broadcast_counts_the_devices(house: House) -> None:
    phone = house.phone("ios", IOS)
    response = phone.invoke(ios("notification.broadcast", title="All", body="of you"), as_text=False)["payload"]
    assert response["result"]["success"] is True
    assert response["result"]["deliveredCount"] + response["result"]["failedCount"] == 1


def test_an_absent_phone_is_counted_as_failed(house: House) -> None:
    phone = house.phone("ios", IOS)
    phone.close()
    house.push("Nobody there")
    pushed = house.pushed()
    assert (pushed["deliveredCount"], pushed["failedCount"]) == (0, 1)


@pytest.mark.parametrize("code", ["000000", "12345", "", None], ids=repr)
def test_an_ack_with_a_wrong_code_pairs_nobody(house: House, relay: str, code: str | None) -> None:
    phone = FakePhone(relay, "ios", IOS)
    offer = json.loads(house.code)
    if offer["code"] == code:
        code = "000001"
    phone.pair(json.dumps({**offer, "code": code}))
    # Nobody is paired: a request is not carried out, and the right code still pairs.
    phone.pair(house.code)
    house.desktop.event("pairing.changed", state="paired")
    phone.close()


def test_a_stranger_is_not_obeyed(house: House, peer: Callable[..., Peer]) -> None:
    house.phone("ios", IOS)
    stranger = peer("did:key:zStranger", deviceType="mobile")
    request = {**ios("notification.send", title="Evil", body=""), "auth": {"mobileDid": IOS}}
    stranger.message(json.loads(house.code)["pcPeerId"], {"type": "chainlesschain:command:request", "payload": request})
    house.phones[0].invoke(ios("notification.send", title="Good", body=""), as_text=False)
    house.desktop.event("notification.received", title="Good")
    assert not any("Evil" in line for line in house.desktop.out.all)


def test_an_identity_in_auth_that_is_not_the_senders_is_refused(house: House) -> None:
    phone = house.phone("ios", IOS)
    request = {**ios("notification.getUnreadCount"), "auth": {"mobileDid": "did:key:zSomebodyElse"}}
    response = phone.invoke(request, as_text=False)["payload"]
    assert response["error"] and "result" not in response


BAD = [
    pytest.param("no JSON {", id="text that is no JSON"),
    pytest.param("[1]", id="text that is an array"),
    pytest.param(17, id="a number"),
    pytest.param(None, id="null"),
    pytest.param({"method": "notification.send"}, id="no id"),
    pytest.param({"id": "x"}, id="no method"),
    pytest.param({"id": {"a": 1}, "method": 7, "params": "x"}, id="wrong types"),
    pytest.param({"id": "x", "method": "notification.getHistory", "params": []}, id="params that are an array"),
    pytest.param({"id": "x", "method": "notification.getHistory", "params": {"limit": -5}}, id="a limit below zero"),
    pytest.param(
        {"id": "x", "method": "notification.getHistory", "params": {"limit": 1e300, "offset": "a"}}, id="absurd numbers"
    ),
    pytest.param({"id": "x", "method": "notification.send", "params": {"title": "t" * 5_000}}, id="a title of 5,000"),
    pytest.param({"id": "x", "method": "", "params": {}}, id="an empty method"),
    pytest.param({"id": "x" * 10_000, "method": "notification.getUnreadCount", "params": {}}, id="an id of 10,000"),
]


@pytest.mark.parametrize("payload", BAD)
def test_a_bad_request_leaves_the_desktop_as_it_was(house: House, payload: Any) -> None:
    phone = house.phone("ios", IOS)
    phone.message(phone.desktop, {"type": "chainlesschain:command:request", "payload": payload})
    phone.message(phone.desktop, {"type": "chainlesschain:command:request", "payload": json.dumps(payload)})
    request = {**ios("notification.getUnreadCount"), "id": "after"}
    phone.message(phone.desktop, {"type": "chainlesschain:command:request", "payload": request})
    response = receive(
        phone.connection,
        lambda frame: (
            frame["type"] == "message"
            and isinstance(frame["payload"]["payload"], dict)
            and frame["payload"]["payload"].get("id") == "after"
        ),
    )
    assert response["payload"]["payload"]["result"]["success"] is True
