"""Our device against a deployed desktop: a QR code without `bw`, no confirmation, pushes in each accepted form."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from peers import FakeDesktop, now, push_payload
from programs import Program, fastest

Start = Callable[..., Program]


@pytest.fixture
def listener(bellwire: Start, fake_desktop: FakeDesktop) -> Iterator[Program]:
    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    program = bellwire("listen", "--json", "--all")
    fake_desktop.accept()
    yield program
    assert program.end() == 0


def test_pairing_registers_the_did_and_acks_the_code(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    program = bellwire("pair", fake_desktop.code(), "--name", "Terminal", "--json")
    ack = fake_desktop.pair(is_silent=True)
    assert fake_desktop.device_id.startswith("did:key:z6Mk")
    assert ack["pairingCode"] == "004217"
    assert ack["mobileDid"] == fake_desktop.device_id
    assert ack["deviceInfo"]["name"] == "Terminal"
    assert ack["deviceInfo"]["platform"] == "linux"
    assert ack["deviceInfo"]["deviceId"]
    assert abs(ack["timestamp"] - now()) < 60_000
    # It would send its ICE servers if it took the ack: with nothing the pairing is stored, and said to be unconfirmed.
    assert program.wait() == 3, program.err.all
    desktop = json.loads(program.out.all[-1])
    assert (desktop["id"], desktop["name"], desktop["platform"]) == ("desktop-4f1c", "Office PC", "win32")
    assert desktop["secure"] is False
    assert desktop["unconfirmed"] is True
    assert "Office PC has not confirmed the pairing" in program.err.all[-1]


def test_an_unconfirmed_pairing_is_confirmed_by_the_first_frame_and_stays_until_then(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    def listed() -> tuple[bool, str]:
        program = bellwire("peers", "--json")
        assert program.wait() == 0
        said = bellwire("peers")
        assert said.wait() == 0
        (desktop,) = json.loads(program.out.all[0])["desktops"]
        return desktop.get("unconfirmed", False), "".join(said.err.all)

    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair(is_silent=True)
    assert pairing.wait() == 3, pairing.err.all
    assert "but not confirmed" in pairing.out.all[0]
    is_unconfirmed, notice = listed()
    assert is_unconfirmed and "Office PC has not confirmed the pairing" in notice
    listener = bellwire("listen", "--json", "--all")
    fake_desktop.accept()
    # What a desktop answers to strangers too is no confirmation.
    fake_desktop.message({"type": "chainlesschain:command:response", "payload": {"id": "x", "error": "not paired"}})
    fake_desktop.push(1)
    listener.event("notification.received")
    assert listener.end() == 0
    is_unconfirmed, notice = listed()
    assert not is_unconfirmed and "confirmed" not in notice


def test_a_relay_that_says_nothing_does_not_overrule_one_that_calls_the_desktop_absent(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    far = FakeDesktop()
    program = bellwire("pair", fake_desktop.code(relayUrl=far.url), "--json")
    fake_desktop.pair(is_silent=True)
    fake_desktop.send({"type": "peer-offline", "peerId": "desktop-4f1c", "timestamp": now()})
    far.pair(is_silent=True)
    assert program.wait() == 3
    assert json.loads(program.err.all[-1])["error"]["detail"]["reason"] == "desktop_offline"
    listed = bellwire("peers", "--json")
    assert listed.wait() == 0
    assert json.loads(listed.out.all[0]) == {"desktops": []}
    far.close()


def test_any_frame_of_the_desktop_confirms_the_pairing_at_once(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    homes = itertools.count()

    def pair() -> float:
        program = bellwire("pair", fake_desktop.code(), home=f"home-{next(homes)}")
        begin = time.monotonic()
        fake_desktop.pair()
        assert program.wait() == 0
        return time.monotonic() - begin

    fastest(pair, 1.5)


def test_ice_credentials_that_are_too_old_are_said_until_newer_ones_come(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    def listed() -> tuple[dict[str, Any], str]:
        program = bellwire("peers", "--json")
        assert program.wait() == 0
        return json.loads(program.out.all[0])["desktops"][0], program.out.all[0]

    servers = [{"urls": "turn:turn.example", "username": "u", "credential": "s3cret-word"}]
    pairing = bellwire("pair", fake_desktop.code(iceServers=servers, iceExpiry=now() // 1_000 - 1))
    fake_desktop.accept()
    fake_desktop.payload("pair-ack")
    fake_desktop.message({"type": "anything"})
    assert pairing.wait() == 0, pairing.err.all
    assert listed()[0]["iceExpired"] is True
    said = bellwire("peers")
    assert said.wait() == 0
    assert "Office PC: its data for direct connections has expired; pair again" in said.err.all[-1]
    # After a later frame of ours the desktop sends new ones (WirePairing, "After pairing").
    listener = bellwire("listen", "--json", "--all")
    fake_desktop.accept()
    config = {"pcPeerId": fake_desktop.peer_id, "iceServers": servers, "iceExpiry": now() // 1_000 + 600}
    fake_desktop.message({"type": "chainlesschain:ice:config", "payload": {**config, "timestamp": now()}})
    listener.event("peers.changed")
    assert listener.end() == 0
    desktop, text = listed()
    assert "iceExpired" not in desktop and "s3cret-word" not in text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"type": "wifi"}, "wrong_type", id="another type"),
        pytest.param({"code": "12345"}, "bad_code", id="five digits"),
        pytest.param({"code": 123456}, "bad_code", id="a code that is a number"),
        pytest.param({"code": "12345a"}, "bad_code", id="a letter in the code"),
        pytest.param({"pcPeerId": ...}, "missing_peer_id", id="no pcPeerId"),
        pytest.param({"pcPeerId": ""}, "missing_peer_id", id="an empty pcPeerId"),
        pytest.param({"timestamp": now() - 301_000}, "expired", id="5 min and 1 s old"),
        pytest.param({"signalingUrl": None}, "no_relay", id="no relay"),
    ],
)
def test_a_code_that_is_wrong_is_refused_with_the_first_reason(
    bellwire: Start, fake_desktop: FakeDesktop, changes: dict[str, Any], reason: str
) -> None:
    program = bellwire("pair", fake_desktop.code(**changes), "--json")
    is_text = reason in ("wrong_type", "bad_code", "missing_peer_id")
    assert program.wait() == 2 if is_text else program.wait() in (1, 3)
    error = json.loads(program.err.all[-1])
    assert error["error"]["status"] == "BW_E_PAIRING"
    assert error["error"]["detail"]["reason"] == reason
    assert error["error"]["message"]


@pytest.mark.parametrize("text", ["", "hello", "{", '"text"'])
def test_a_text_that_is_no_code_is_refused_as_not_json(bellwire: Start, text: str) -> None:
    program = bellwire("pair", "-", "--json")
    program.write(text)
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert program.wait() == 2
    error = json.loads(program.err.all[-1])["error"]
    assert error["detail"]["reason"] in ("not_json", "wrong_type")


def test_an_ack_that_is_refused_fails_the_pairing(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    program = bellwire("pair", fake_desktop.code(), "--json", "--timeout", "10")
    fake_desktop.pair(is_silent=True)
    fake_desktop.send({"type": "peer-offline", "peerId": "desktop-4f1c", "timestamp": now()})
    assert program.wait() == 3
    assert json.loads(program.err.all[-1])["error"]["detail"]["reason"] == "desktop_offline"


def test_an_ack_that_fails_on_the_lan_goes_once_over_the_relay(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    far = FakeDesktop()
    program = bellwire("pair", fake_desktop.code(relayUrl=far.url))
    fake_desktop.pair(is_silent=True)
    fake_desktop.send({"type": "peer-offline", "peerId": "desktop-4f1c", "timestamp": now()})
    ack = far.pair()
    assert ack["pairingCode"] == "004217"
    assert program.wait() == 0, program.err.all
    far.close()


def test_a_relay_is_used_when_the_lan_cannot_be_reached(bellwire: Start) -> None:
    far = FakeDesktop()
    program = bellwire("pair", far.code(signalingUrl="ws://127.0.0.1:1", relayUrl=far.url))
    far.pair()
    assert program.wait() == 0, program.err.all
    far.close()


def event(payload: Any) -> dict[str, Any]:
    return {"type": "chainlesschain:event", "payload": payload}


def form(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in push_payload("x", **fields).items() if value is not ...}


# Each literal form of WireDeployedPeers, "What a device accepts", with what the host must see.
FORMS = [
    pytest.param(event(form()), {"title": "Push x", "priority": "normal", "source": "pc"}, id="an object"),
    pytest.param(event(json.dumps(form())), {"title": "Push x"}, id="a text that holds the object"),
    pytest.param(
        {
            "type": "chainlesschain:event:notification",
            "payload": {"jsonrpc": "2.0", "method": "notification.received", "params": form(event=...)},
        },
        {"title": "Push x"},
        id="an RPC notification",
    ),
    pytest.param(
        {
            "type": "chainlesschain:event:notification",
            "payload": json.dumps({"jsonrpc": "2.0", "method": "notification.received", "params": form(event=...)}),
        },
        {"title": "Push x"},
        id="an RPC notification as text",
    ),
    pytest.param(
        {"type": "chainlesschain:notification:received", "payload": form(event=...)},
        {"title": "Push x"},
        id="third type",
    ),
    pytest.param(event(form(notificationId=..., id="notif-x")), {"id": "notif-x"}, id="id for notificationId"),
    pytest.param(event(form(priority=..., urgency="critical")), {"priority": "urgent"}, id="urgency critical"),
    pytest.param(event(form(priority=..., urgency="low")), {"priority": "low"}, id="urgency low"),
    pytest.param(event(form(priority="shiny")), {"priority": "normal"}, id="an unknown priority"),
    pytest.param(event(form(priority=...)), {"priority": "normal"}, id="no priority"),
    pytest.param(event(form(body=..., message="Text")), {"body": "Text"}, id="message for body"),
    pytest.param(event(form(body=...)), {"body": ""}, id="no body"),
    pytest.param(event(form(timestamp=1735689600000.25)), {"createdAt": 1735689600000}, id="a time with a fraction"),
    pytest.param(event(form(timestamp=1.7356896e12)), {"createdAt": 1735689600000}, id="a time with an exponent"),
    pytest.param(event(form(timestamp=...)), {"title": "Push x"}, id="no time"),
    pytest.param(event(form(source=...)), {"source": "pc"}, id="no source"),
    pytest.param(event(form(source="mobile")), {"source": "mobile"}, id="from a phone"),
    pytest.param(
        event(form(data={"n": 1, "deep": {"a": [True]}, "t": "x"})),
        {"data": {"n": 1, "deep": {"a": [True]}, "t": "x"}},
        id="data that is no text",
    ),
]


@pytest.mark.parametrize(("payload", "expected"), FORMS)
def test_a_push_in_each_form_that_deployed_desktops_use(
    listener: Program, fake_desktop: FakeDesktop, payload: Any, expected: dict[str, Any]
) -> None:
    fake_desktop.message(payload)
    data = listener.event("notification.received")["data"]
    assert data["id"] == "notif-x"
    assert {key: data.get(key) for key in expected} == expected
    assert isinstance(data["createdAt"], int) and isinstance(data["receivedAt"], int)


def test_the_whole_payload_of_a_message_may_be_a_text(listener: Program, fake_desktop: FakeDesktop) -> None:
    fake_desktop.message(json.dumps(event(form())))
    listener.event("notification.received", id="notif-x")


def test_a_push_in_an_offline_message_is_a_push(listener: Program, fake_desktop: FakeDesktop) -> None:
    original = {"type": "message", "from": fake_desktop.peer_id, "payload": event(form()), "timestamp": now()}
    fake_desktop.send(
        {"type": "offline-message", "originalMessage": original, "storedAt": now() - 5, "deliveredAt": now()}
    )
    listener.event("notification.received", id="notif-x")


def test_the_log_repeats_nothing_of_what_a_desktop_sent(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    """Malformed frames are in the log, without what is in them."""
    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    program = bellwire("listen", "--json", "--all", "--verbose")
    fake_desktop.accept()
    secret = "Kennwort"
    members = ("notificationId", "title", "body", "priority", "timestamp", "data", "collapseKey", "expiresAt")
    for wrong in (secret, [secret], {secret: secret}, secret * 50_000):
        for member in members:
            fake_desktop.message(event(push_payload(1, **{member: wrong})))
        fake_desktop.message(event(wrong))
        fake_desktop.message({"type": wrong, "payload": wrong})
        fake_desktop.message({"type": "chainlesschain:command:response", "payload": wrong})
        fake_desktop.message({"type": "chainlesschain:ice:config", "payload": wrong})
        fake_desktop.message(wrong)
        fake_desktop.send({"type": wrong})
        fake_desktop.send({"type": "message", "from": wrong, "payload": wrong})
        fake_desktop.send({"type": "error", "code": wrong, "message": wrong})
        fake_desktop.send({"type": "offline-message", "originalMessage": wrong})
        assert fake_desktop.device is not None
        fake_desktop.device.send(json.dumps(wrong)[:-1])
    fake_desktop.push("last")
    program.event("notification.received", id="notif-last")
    assert program.end() == 0
    log = [line for line in program.err.all if "dropped" in line or "refused" in line]
    assert len(log) > len(members), program.err.all
    assert not any(secret.lower() in line.lower() for line in program.err.all), program.err.all


def test_a_push_that_is_sent_twice_is_handed_over_once(listener: Program, fake_desktop: FakeDesktop) -> None:
    for _ in range(3):
        fake_desktop.push("twice")
    # Another time and another form, the same id: the same push.
    fake_desktop.message(event(json.dumps(push_payload("twice", timestamp=now() + 5))))
    fake_desktop.push("last")
    listener.event("notification.received", id="notif-last")
    assert sum('"notif-twice"' in line and "notification.received" in line for line in listener.out.all) == 1


def test_unread_counts_up_with_each_push(listener: Program, fake_desktop: FakeDesktop) -> None:
    fake_desktop.push(1)
    listener.event("unread.changed", unread=1)
    fake_desktop.push(2)
    listener.event("unread.changed", unread=2)


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_send_says_everything_that_any_desktop_reads(bellwire: Start, fake_desktop: FakeDesktop, as_text: bool) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("send", "Build done", "All green", "--priority", "urgent", "--json")
    fake_desktop.accept()
    request = fake_desktop.answer({"success": True, "id": "n-1", "timestamp": 1}, as_text=as_text)
    assert request["method"] == "notification.send"
    params = request["params"]
    assert (params["title"], params["body"]) == ("Build done", "All green")
    assert (params["priority"], params["urgency"]) == ("urgent", "critical")
    auth = request["auth"]
    assert auth["mobileDid"] == auth["did"] == fake_desktop.device_id
    assert auth["signature"] and auth["nonce"] and abs(auth["timestamp"] - now()) < 60_000
    assert program.wait() == 0, program.err.all
    assert json.loads(program.out.all[-1])["success"] is True


@pytest.mark.parametrize("reason", ["quiet_hours", "type_disabled"])
def test_silenced_is_not_failed(bellwire: Start, fake_desktop: FakeDesktop, reason: str) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("send", "Psst")
    fake_desktop.accept()
    fake_desktop.answer({"success": False, "reason": reason})
    assert program.wait() == 0, program.err.all


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param("Permission denied", "Permission denied", id="a text"),
        pytest.param({"code": -32603, "message": "It broke"}, "It broke", id="an object"),
    ],
)
def test_an_error_in_each_form_is_said(bellwire: Start, fake_desktop: FakeDesktop, error: Any, text: str) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("send", "Title")
    fake_desktop.accept()
    fake_desktop.answer(error=error)
    assert text in program.error_line("bellwire: ").string
    assert program.wait() == 1


def test_a_desktop_without_the_skill_is_unsupported(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("history", "--json")
    fake_desktop.accept()
    fake_desktop.answer(error={"code": -32603, "message": "Unknown command namespace: notification"})
    assert program.wait() == 1
    assert json.loads(program.err.all[-1])["error"]["status"] == "BW_E_UNSUPPORTED"


@pytest.mark.parametrize("result", [{"success": True}, {}, ...], ids=["success", "empty", "none"])
def test_null_beside_a_result_and_neither_are_success(bellwire: Start, fake_desktop: FakeDesktop, result: Any) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("send", "Title")
    fake_desktop.accept()
    fake_desktop.answer(result, error=... if result is ... else None)
    assert program.wait() == 0, program.err.all


HISTORIES = [
    pytest.param(
        {
            "notifications": [
                {"id": "a", "title": "A", "body": "b", "priority": "high", "read": True, "source": "pc", "createdAt": 5}
            ],
            "total": 1,
            "unreadCount": 0,
        },
        id="as designed",
    ),
    pytest.param(
        {
            "items": [
                {
                    "id": "a",
                    "title": "A",
                    "body": "b",
                    "urgency": "high",
                    "read": 1,
                    "created_at": 5,
                    "data": '{"k":"v"}',
                },
                {"title": "a row without an id"},
            ],
            "total": 2,
            "unreadCount": 0,
        },
        id="database rows",
    ),
]


@pytest.mark.parametrize("result", HISTORIES)
def test_history_in_each_form(bellwire: Start, fake_desktop: FakeDesktop, result: Any) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("history", "--limit", "5", "--unread", "--json")
    fake_desktop.accept()
    request = fake_desktop.answer(result)
    assert request["method"] == "notification.getHistory"
    assert request["params"]["limit"] == 5
    assert request["params"]["unreadOnly"] is True
    assert program.wait() == 0, program.err.all
    answer = json.loads(program.out.all[-1])
    row = answer["notifications"][0]
    assert (row["id"], row["title"], row["body"], row["priority"]) == ("a", "A", "b", "high")
    assert (row["read"], row["source"], row["createdAt"]) == (True, "pc", 5)
    assert len(answer["notifications"]) == 1
    assert answer["skipped"] == len(result.get("items", [0])) - 1


def test_a_history_without_a_count_asks_for_it(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("history", "--json")
    fake_desktop.accept()
    fake_desktop.answer({"items": [], "total": 0})
    assert fake_desktop.answer({"success": True, "count": 7})["method"] == "notification.getUnreadCount"
    assert program.wait() == 0, program.err.all
    assert json.loads(program.out.all[-1])["unreadCount"] == 7


def test_an_answer_that_cannot_be_decoded_is_said(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("history", "--json")
    fake_desktop.accept()
    fake_desktop.answer("not an object")
    assert program.wait() == 1
    assert json.loads(program.err.all[-1])["error"]["status"] == "BW_E_PROTOCOL"


def test_no_answer_is_a_timeout(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair(bellwire, fake_desktop)
    program = bellwire("history", "--json", "--timeout", "2")
    fake_desktop.accept()
    assert program.wait() == 3
    assert json.loads(program.err.all[-1])["error"]["status"] == "BW_E_TIMEOUT"


def pair(bellwire: Start, desktop: FakeDesktop) -> None:
    program = bellwire("pair", desktop.code())
    desktop.pair()
    assert program.wait() == 0, program.err.all
