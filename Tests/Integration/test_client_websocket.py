"""RFC 6455 against our client: a third-party server does what servers do, also what they must not."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from peers import LIMIT, FakeDesktop, close_code, free_port, now, push_payload, send_raw
from programs import Program
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Event
from websockets.server import ServerProtocol

Start = Callable[..., Program]


@pytest.fixture
def listener(bellwire: Start, fake_desktop: FakeDesktop) -> Iterator[Program]:
    """A device that is paired with the fake desktop, connected to it, and prints what comes."""
    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    program = bellwire("listen", "--json")
    fake_desktop.accept()
    yield program
    assert program.process.poll() is None, program.err.all
    assert program.end() == 0


def message(number: int | str, **fields: object) -> str:
    payload = {"type": "chainlesschain:event", "payload": push_payload(number)}
    return json.dumps(
        {"type": "message", "from": "desktop-4f1c", "payload": payload, "timestamp": now(), **fields},
        ensure_ascii=False,
    )


def receives(listener: Program, number: int | str) -> None:
    listener.event("notification.received", id=f"notif-{number}")


def test_fragments_with_pings_between_them_are_one_message(listener: Program, fake_desktop: FakeDesktop) -> None:
    assert fake_desktop.device is not None
    text = message(1, note="grüße").encode()
    cut = text.index("ü".encode()) + 1
    send_raw(fake_desktop.device, Opcode.TEXT, text[:cut], fin=False)
    assert fake_desktop.device.ping().wait(10), "a ping between fragments was not answered"
    send_raw(fake_desktop.device, Opcode.CONT, text[cut:])
    receives(listener, 1)


def test_pings_are_answered_with_their_data(listener: Program, fake_desktop: FakeDesktop) -> None:
    assert fake_desktop.device is not None
    assert fake_desktop.device.ping(b"y" * 125).wait(10)


def test_a_message_of_exactly_one_mebibyte_is_taken(listener: Program, fake_desktop: FakeDesktop) -> None:
    assert fake_desktop.device is not None
    size = len(message(1, fill="").encode())
    text = message(1, fill="x" * (LIMIT - size))
    assert abs(len(text.encode()) - LIMIT) <= 1
    fake_desktop.device.send(text[:LIMIT] if len(text) <= LIMIT else message(1, fill="x" * (LIMIT - size - 1)))
    receives(listener, 1)


@pytest.mark.parametrize(
    ("opcode", "data", "code"),
    [
        pytest.param(Opcode.TEXT, b"x" * (LIMIT + 1), 1009, id="over one MiB"),
        pytest.param(Opcode.TEXT, b'{"type":"\xff"}', 1007, id="not UTF-8"),
        pytest.param(Opcode.BINARY, b"\x00\x01", 1003, id="binary"),
        pytest.param(Opcode.CONT, b"x", 1002, id="a continuation of nothing"),
    ],
)
def test_a_breach_is_answered_with_its_code_and_the_device_comes_back(
    listener: Program, fake_desktop: FakeDesktop, opcode: Opcode, data: bytes, code: int
) -> None:
    assert fake_desktop.device is not None
    send_raw(fake_desktop.device, opcode, data)
    assert close_code(fake_desktop.device) == code
    fake_desktop.accept()
    fake_desktop.push("after")
    receives(listener, "after")


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 1012, 4001])
def test_whatever_code_a_server_closes_with_the_device_comes_back_with_the_same_id(
    listener: Program, fake_desktop: FakeDesktop, code: int
) -> None:
    assert fake_desktop.device is not None
    before = fake_desktop.device_id
    threading.Thread(target=fake_desktop.device.close, args=(code, "bye"), daemon=True).start()
    fake_desktop.accept()
    assert fake_desktop.device_id == before
    fake_desktop.push("after")
    receives(listener, "after")


def test_server_shutdown_and_a_lost_connection_bring_the_device_back(
    listener: Program, fake_desktop: FakeDesktop
) -> None:
    fake_desktop.send({"type": "server-shutdown", "timestamp": now()})
    assert fake_desktop.device is not None
    # The device may have ended the connection by now.
    with contextlib.suppress(OSError):
        fake_desktop.device.socket.shutdown(socket.SHUT_RDWR)
    fake_desktop.accept(timeout=25)
    fake_desktop.push("after")
    receives(listener, "after")


BAD_FRAMES = [
    pytest.param("{", id="cut"),
    pytest.param("", id="empty"),
    pytest.param("[1]", id="an array"),
    pytest.param('{"type":5}', id="a type that is a number"),
    pytest.param('{"type":"message","from":"desktop-4f1c"}', id="no payload"),
    pytest.param('{"type":"message","from":"desktop-4f1c","payload":"no JSON {"}', id="payload text that is no JSON"),
    pytest.param(
        '{"type":"message","from":"desktop-4f1c","payload":{"type":"chainlesschain:event","payload":"{"}}',
        id="event text that is no JSON",
    ),
    pytest.param('{"type":"message","type":"message","from":"a","payload":{}}', id="duplicate keys"),
    pytest.param(
        '{"type":"message","from":"desktop-4f1c","payload":' + "[" * 10_000 + "]" * 10_000 + "}", id="10,000 deep"
    ),
    pytest.param('{"type":"offline-message","originalMessage":"x"}', id="an offline-message that holds a text"),
    pytest.param('{"type":"offline-message"}', id="an offline-message that holds nothing"),
    pytest.param('{"type":"peer-status","peerId":"desktop-4f1c","status":9}', id="a status that is a number"),
    pytest.param('{"type":"peer-offline"}', id="peer-offline without an id"),
    pytest.param('{"type":"error"}', id="an error without a text"),
    pytest.param('{"type":"a-frame-of-the-future","n":1}', id="unknown type"),
    pytest.param(
        '{"type":"message","from":"desktop-4f1c","payload":{"type":"chainlesschain:event","payload":'
        '{"event":"notification.received","title":"No id"}}}',
        id="an event without an id",
    ),
    pytest.param(
        '{"type":"message","from":"desktop-4f1c","payload":{"type":"chainlesschain:command:response","payload":'
        '{"id":"nobody-asked","result":{}}}}',
        id="an answer that nobody asked for",
    ),
]


@pytest.mark.parametrize("frame", BAD_FRAMES)
def test_a_bad_frame_is_dropped_and_the_next_push_comes(
    listener: Program, fake_desktop: FakeDesktop, frame: str
) -> None:
    assert fake_desktop.device is not None
    fake_desktop.device.send(frame)
    fake_desktop.push("after")
    receives(listener, "after")
    received = [line for line in listener.out.all if '"notification.received"' in line]
    assert len(received) == 1, received


def test_a_stranger_cannot_push(listener: Program, fake_desktop: FakeDesktop) -> None:
    fake_desktop.send({
        "type": "message", "from": "somebody-else", "timestamp": now(),
        "payload": {"type": "chainlesschain:event", "payload": push_payload("stranger")},
    })  # fmt: skip
    fake_desktop.push("after")
    receives(listener, "after")
    assert not any("notif-stranger" in line for line in listener.out.all)


def test_a_server_that_answers_no_ping_is_left_within_half_a_minute_and_tried_again(
    bellwire: Start, fake_desktop: FakeDesktop
) -> None:
    """Pings every 25 s, a pong missing for 10 s ends the connection (Wire, "Keepalive")."""
    pairing = bellwire("pair", fake_desktop.code())
    fake_desktop.pair()
    assert pairing.wait() == 0, pairing.err.all
    # From now on, on the same port, a server that registers the device and then neither says nor answers anything.
    port = fake_desktop.server.port
    fake_desktop.close()
    with socket.create_server(("127.0.0.1", port)) as silent:
        silent.settimeout(20)
        bellwire("listen", "--json")
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(60)
            protocol = ServerProtocol()
            request = next_event(connection, protocol)
            assert isinstance(request, Request)
            protocol.send_response(protocol.accept(request))
            begin = time.monotonic()
            register = next_event(connection, protocol)
            assert isinstance(register, Frame)
            answer = {"type": "registered", "peerId": json.loads(register.data)["peerId"], "serverTime": now()}
            protocol.send_text(json.dumps(answer).encode())
            send_all(connection, protocol)
            while connection.recv(65536):  # pings; then the end
                assert time.monotonic() - begin < 90, "the client keeps a connection that answers no ping"
            # The first ping comes after 25 s, and its pong has 10 s.
            assert time.monotonic() - begin > 30
        again, _ = silent.accept()
        again.close()


def next_event(connection: socket.socket, protocol: ServerProtocol) -> Event:
    send_all(connection, protocol)
    while not (events := protocol.events_received()):
        protocol.receive_data(connection.recv(4096))
    return events[0]


def send_all(connection: socket.socket, protocol: ServerProtocol) -> None:
    for data in protocol.data_to_send():
        connection.sendall(data)


def test_a_port_where_nobody_listens_is_offline_and_says_so(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    code = fake_desktop.code(signalingUrl=f"ws://127.0.0.1:{free_port()}")
    program = bellwire("pair", code, "--timeout", "10")
    assert program.wait() == 3
    assert len(program.err.all) == 1
