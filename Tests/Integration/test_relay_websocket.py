"""RFC 6455 against our relay: what a third-party client may do, and what it must not."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from peers import LIMIT, Peer, close_code, send_raw
from websockets.exceptions import InvalidStatus
from websockets.frames import Opcode
from websockets.sync.client import connect

Join = Callable[..., Peer]


def test_fragments_with_a_ping_between_them_are_one_message(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    text = '{"type":"message","to":"bob","payload":{"text":"grüße"}}'.encode()
    cut = text.index("ü".encode()) + 1  # inside a character
    send_raw(alice.connection, Opcode.TEXT, text[:cut], fin=False)
    pong = alice.connection.ping()
    assert pong.wait(10), "a ping between fragments was not answered"
    send_raw(alice.connection, Opcode.CONT, text[cut : cut + 3], fin=False)
    send_raw(alice.connection, Opcode.CONT, text[cut + 3 :])
    assert bob.receive("message")["payload"] == {"text": "grüße"}


def test_pings_are_answered_with_their_data(peer: Join) -> None:
    assert peer().connection.ping(b"x" * 125).wait(10)


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4999])
def test_a_close_is_answered_with_its_code(peer: Join, code: int) -> None:
    alice = peer("alice")
    alice.connection.close(code, "bye")
    assert alice.connection.protocol.close_rcvd is not None
    assert alice.connection.protocol.close_rcvd.code == code


def test_a_message_over_one_mebibyte_ends_the_connection_with_1009(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.send('{"type":"message","to":"bob","payload":"' + "x" * LIMIT + '"}')
    assert close_code(alice.connection) == 1009
    assert bob.is_answered()


def test_a_message_that_grows_over_one_mebibyte_in_fragments_ends_with_1009(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    send_raw(alice.connection, Opcode.TEXT, b"x" * (LIMIT // 2), fin=False)
    send_raw(alice.connection, Opcode.CONT, b"x" * (LIMIT // 2), fin=False)
    send_raw(alice.connection, Opcode.CONT, b"x", fin=True)
    assert close_code(alice.connection) == 1009
    assert bob.is_answered()


def test_a_frame_that_announces_far_too_much_ends_with_1009_before_it_comes(peer: Join) -> None:
    alice = peer("alice")
    # FIN text, masked, a length of 2^62: only the frame's head and its first byte are sent.
    alice.connection.socket.sendall(b"\x81\xff" + (1 << 62).to_bytes(8, "big") + b"\0\0\0\0" + b"{")
    assert close_code(alice.connection) == 1009


def test_text_that_is_not_utf8_ends_with_1007(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    send_raw(alice.connection, Opcode.TEXT, b'{"type":"message","to":"bob","payload":"\xff\xfe"}')
    assert close_code(alice.connection) == 1007
    assert bob.is_answered()


def test_a_surrogate_in_utf8_ends_with_1007(peer: Join) -> None:
    alice = peer("alice")
    send_raw(alice.connection, Opcode.TEXT, b'"\xed\xa0\x80"')
    assert close_code(alice.connection) == 1007


def test_a_binary_message_is_refused_by_name_or_ends_with_1003(peer: Join) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.connection.send(b"\x00\x01\x02")
    assert close_code(alice.connection) == 1003
    assert bob.is_answered()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x91\x80\0\0\0\0", id="a reserved bit"),
        pytest.param(b"\x83\x80\0\0\0\0", id="a reserved opcode"),
        pytest.param(b"\x80\x80\0\0\0\0", id="a continuation of nothing"),
        pytest.param(b"\x09\x80\0\0\0\0", id="a ping in fragments"),
        pytest.param(b"\x89\xfe\x00\x7e" + b"\0" * 130, id="a ping of 126 bytes"),
        pytest.param(b"\x81\x02{}", id="a frame without a mask"),
        pytest.param(b"\x88\x81\0\0\0\0\0", id="a close with one byte"),
    ],
)
def test_a_breach_of_the_protocol_ends_with_1002(peer: Join, data: bytes) -> None:
    alice, bob = peer("alice"), peer("bob")
    alice.connection.socket.sendall(data)
    assert close_code(alice.connection) == 1002
    assert bob.is_answered()


def test_a_browser_of_another_origin_is_refused(relay: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(relay, origin="https://evil.example", proxy=None)  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        # The pages have an address of their own, which an operator may keep from the world.
        pytest.param("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"426", id="no upgrade"),
        pytest.param("nonsense\r\n\r\n", b"400", id="no HTTP"),
        pytest.param(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 7\r\n\r\n",
            b"426",
            id="another version",
        ),
        pytest.param(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n",
            b"400",
            id="no key",
        ),
    ],
)
def test_a_request_that_is_no_upgrade_gets_a_status(relay: str, request_text: str, status: bytes) -> None:
    host, port = relay.removeprefix("ws://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request_text.encode())
        assert connection.recv(4096).split(b" ")[1] == status


def test_a_request_whose_head_never_ends_is_cut_off(relay: str) -> None:
    host, port = relay.removeprefix("ws://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        try:
            for _ in range(4096):
                connection.sendall(b"X-Fill: " + b"y" * 1024 + b"\r\n")
            assert connection.recv(4096).split(b" ")[1] in (b"400", b"431")
        except (BrokenPipeError, ConnectionResetError):
            pass  # cut off while it was still being sent
