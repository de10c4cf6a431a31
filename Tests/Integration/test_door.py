"""Publishing to a desktop over HTTP, as ntfy's clients do it, and what its door refuses."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import apprise
import pytest
from certificates import Authority
from doors import Door, Start
from programs import private_memory, wait_until


@pytest.fixture
def door(bellwire: Start, tmp_path: Path) -> Iterator[Door]:
    door = Door(bellwire, tmp_path)
    yield door
    assert door.desktop.end() == 0, door.desktop.err.all


def raw(door: Door, data: bytes, timeout: float = 15) -> bytes:
    """What comes back until the door closes the connection."""
    with socket.create_connection(("127.0.0.1", door.port), timeout) as connection:
        connection.sendall(data)
        found = b""
        while part := connection.recv(65_536):
            found += part
        return found


def code(answer: bytes) -> int:
    return int(json.loads(answer.split(b"\r\n\r\n", 1)[1])["code"])


# MARK: What is published


def test_a_post_is_pushed_to_the_devices(bellwire: Start, tmp_path: Path) -> None:
    door = Door(bellwire, tmp_path, pairs=True)
    assert bellwire("pair", door.code).wait() == 0
    listener = bellwire("listen", "--json", "--all")
    listener.event("connection.changed", online=True)
    reply = door.post("/backups", "Backup done", {"Title": "Nightly", "Priority": "high", "Tags": "disk,ok"})
    assert reply.status == 200
    expected = {"event": "message", "topic": "backups", "title": "Nightly", "message": "Backup done", "priority": 4}
    assert reply.json == {**reply.json, **expected, "tags": ["disk", "ok"]}
    push = listener.event("notification.received", id=reply.json["id"])["data"]
    assert (push["title"], push["body"], push["priority"], push["threadId"]) == (
        "Nightly",
        "Backup done",
        "high",
        "backups",
    )
    assert push["data"] == {"topic": "backups", "tags": "disk,ok"}
    listener.end()
    door.desktop.end()


def test_apprise_publishes_without_a_change(door: Door) -> None:
    token = door.token("apprise")
    for url in (
        f"ntfy://127.0.0.1:{door.port}/plain",
        f"ntfy://{token}@127.0.0.1:{door.port}/bearer",
        f"ntfy://me:{token}@127.0.0.1:{door.port}/basic?priority=high&tags=disk",
    ):
        messenger = apprise.Apprise()
        assert messenger.add(url)
        assert messenger.notify(title="Title", body="Body\nof two lines"), url
    assert door.stored("title, body, priority") == [
        ("Title", "Body\nof two lines", 1),
        ("Title", "Body\nof two lines", 1),
        ("Title", "Body\nof two lines", 2),
    ]
    messenger = apprise.Apprise()
    assert messenger.add(f"ntfy://tk_wrong@127.0.0.1:{door.port}/topic")
    assert not messenger.notify(body="Body")


def test_json_and_chunks_are_taken_and_connections_kept(door: Door) -> None:
    assert door.post("/", json.dumps({"topic": "t", "message": "ä", "priority": 5})).json["priority"] == 5
    chunked = (
        b"POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nchu\r\n3\r\nnky\r\n0\r\n\r\n"
        b"PUT /d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast"
    )
    assert raw(door, chunked).count(b"HTTP/1.1 200 OK") == 2
    assert [body for _, body in door.stored()] == ["ä", "chunky", "last"]


def test_a_topic_goes_to_the_group_of_its_name_and_a_token_to_its_own(bellwire: Start, tmp_path: Path) -> None:
    door = Door(bellwire, tmp_path, pairs=True)
    assert bellwire("pair", door.code, "--name", "One", home="one").wait() == 0
    text = json.loads(door.command("desktop", "pair", "--json")[0])["data"]["payload"]
    assert bellwire("pair", text, "--name", "Two", home="two").wait() == 0
    assert door.command("group", "first", "One") == ["first", "  " + door.command("desktop", "devices")[0].split()[-1]]
    one, two = (bellwire("listen", "--json", "--all", home=home) for home in ("one", "two"))
    for listener in (one, two):
        listener.event("connection.changed", online=True)
    assert door.post("/first", "to one").status == 200
    token = door.token("bot", "--group", "first")
    bearer = {"Authorization": f"Bearer {token}"}
    assert door.post("/second", "to one again", bearer).status == 200
    assert door.post("/second", "to all").status == 200
    bodies = {one: [], two: []}
    for listener, count in ((one, 3), (two, 1)):
        bodies[listener] = [listener.event("notification.received")["data"]["body"] for _ in range(count)]
    assert bodies == {one: ["to one", "to one again", "to all"], two: ["to all"]}
    assert door.command("group", "--remove", "first") == []
    assert door.post("/second", "gone", bearer).json["http"] == 404
    assert door.post("/first", "to all now").status == 200
    assert two.event("notification.received")["data"]["body"] == "to all now"
    for program in (one, two, door.desktop):
        program.end()


def test_a_certificate_makes_it_https(bellwire: Start, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "certificates")
    certificate, key = authority.issue("localhost", "DNS:localhost")
    door = Door(bellwire, tmp_path, "--http-certificate", str(certificate), "--http-key", str(key))
    context = ssl.create_default_context(cafile=str(authority.file))
    request = urllib.request.Request(f"https://localhost:{door.port}/t", data=b"secret")
    with urllib.request.urlopen(request, context=context, timeout=15) as response:
        assert json.load(response)["message"] == "secret"
    door.desktop.end()


# MARK: Who may publish


def test_without_a_token_only_this_machine_and_only_if_the_user_said_so(bellwire: Start, tmp_path: Path) -> None:
    door = Door(bellwire, tmp_path, is_open=False)
    assert door.post("/t", "x").json == {"code": 40101, "http": 401, "error": "unauthorized"}
    token = door.token("ci")
    bearer = {"Authorization": f"Bearer {token}"}
    assert door.post("/t", "x", bearer).status == 200
    assert door.post("/t", "x", {"Authorization": f"Bearer {token}x"}).status == 401
    assert token not in (door.directory / "tokens.json").read_text()
    assert [line.split()[0] for line in door.command("token")] == ["ci"]
    door.command("token", "ci", code=1)
    assert door.command("token", "--revoke", "ci") == ["Revoked ci."]
    assert door.post("/t", "x", bearer).status == 401
    door.command("token", "--revoke", "ci", code=4)
    assert len(door.stored()) == 1
    door.desktop.end()


def test_a_moment_in_which_the_tokens_cannot_be_read_passes(bellwire: Start, tmp_path: Path) -> None:
    door = Door(bellwire, tmp_path, is_open=False)
    bearer = {"Authorization": f"Bearer {door.token('ci')}"}
    file = door.directory / "tokens.json"
    # A link is not followed: like a lack of descriptors, that is an error of a system call.
    file.rename(file.with_suffix(".away"))
    file.symlink_to(file.with_suffix(".away"))
    for _ in range(3):
        assert door.post("/t", "x", bearer).json["code"] == 50302
    file.with_suffix(".away").rename(file)
    assert door.post("/t", "x", bearer).status == 200
    # Neither content nor time changes.
    file.chmod(0o644)
    assert door.post("/t", "x", bearer).json["code"] == 50302
    file.chmod(0o600)
    assert door.post("/t", "x", bearer).status == 200
    lines = [line for line in door.desktop.err.all if "no token is accepted" in line]
    assert len(lines) == 2, lines
    door.desktop.end()


def test_a_pipe_in_the_place_of_a_file_stops_nothing(bellwire: Start, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "certificates")
    certificate, key = authority.issue("localhost", "DNS:localhost")
    door = Door(bellwire, tmp_path, "--http-certificate", str(certificate), "--http-key", str(key))
    token = door.token("ci")
    context = ssl.create_default_context(cafile=str(authority.file))

    def status() -> int:
        url = f"https://localhost:{door.port}/t"
        request = urllib.request.Request(url, b"x", {"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, context=context, timeout=15) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    assert status() == 200
    for file in (door.directory / "tokens.json", key, certificate):
        away = file.with_suffix(".away")
        file.rename(away)
        os.mkfifo(file, 0o600)
        if file.name == "tokens.json":
            assert status() == 503
            assert "not a regular file" in door.command("token", code=1)[0]
        else:
            door.desktop.process.send_signal(signal.SIGHUP)
            door.desktop.error_line(f"{file}: it is not a regular file; --http keeps its previous certificate")
        file.unlink()
        away.rename(file)
        assert status() == 200
    assert door.desktop.end(signal.SIGTERM) == 0


def test_a_request_that_a_proxy_passed_on_is_not_from_this_machine(door: Door) -> None:
    bearer = {"Authorization": f"Bearer {door.token('ci')}"}
    assert door.post("/t", "x").status == 200
    for header in (
        *("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Host", "Via", "CF-Connecting-IP"),
        *("DO-Connecting-IP", "X_Forwarded_For", "X-Originating-IP", "REMOTE_ADDR"),
    ):
        refused = door.post("/t", "x", {header: "for=203.0.113.9"})
        assert refused.status == 401 and header in refused.json["error"]
        assert door.post("/t", "x", {header: "for=203.0.113.9", **bearer}).status == 200


def test_a_renewed_certificate_is_used_after_a_hangup(bellwire: Start, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "certificates")
    certificate, key = authority.issue("localhost", "DNS:localhost")
    door = Door(bellwire, tmp_path, "--http-certificate", str(certificate), "--http-key", str(key))

    def shown() -> str:
        return ssl.get_server_certificate(("127.0.0.1", door.port))

    first, renewed = shown(), authority.issue("renewed", "DNS:localhost")
    for source, target in zip(renewed, (certificate, key), strict=True):
        target.write_bytes(source.read_bytes())
    assert shown() == first
    # Two in a row do not end it either.
    for _ in range(2):
        door.desktop.process.send_signal(signal.SIGHUP)
    door.desktop.error_line("certificate of --http-certificate was read again")
    second = shown()
    assert second == certificate.read_text().strip() + "\n" or second != first
    certificate.write_text("nonsense")
    door.desktop.process.send_signal(signal.SIGHUP)
    door.desktop.error_line("keeps its previous certificate")
    assert shown() == second
    assert door.desktop.end(signal.SIGTERM) == 0


def test_few_lines_say_that_a_token_is_at_its_limit(door: Door) -> None:
    bearer = {"Authorization": f"Bearer {door.token('small', '--per-minute', '1')}"}
    answers = [door.post("/t", "x", bearer).status for _ in range(20)]
    assert answers == [200] + [429] * 19
    assert len([line for line in door.desktop.err.all if "limit of 1 requests" in line]) == 1


def test_each_token_has_its_own_limits(door: Door) -> None:
    token = door.token("small", "--per-minute", "3", "--max-bytes", "10")
    bearer = {"Authorization": f"Bearer {token}"}
    assert door.post("/t", "0123456789", bearer).status == 200
    assert door.post("/t", "0123456789x", bearer).json["code"] == 41301
    assert door.post("/t", "x", bearer).status == 200
    assert door.post("/t", "x", bearer).json["code"] == 42901
    assert door.post("/t", "x").status == 200


def test_web_pages_cannot_publish(door: Door) -> None:
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": f"http://127.0.0.1:{door.port}"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
    ):
        assert door.post("/t", "x", headers).status == 403, headers
    preflight = raw(
        door, b"OPTIONS /t HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n"
    )
    assert b"403" in preflight and b"access-control" not in preflight.lower()
    assert door.stored() == []


# MARK: What is wrong


@pytest.mark.parametrize(
    ("path", "body", "headers", "expected"),
    [
        ("/t", b"x", {"Priority": "shiny"}, 40007),
        ("/t", b"x", {"Priority": "6"}, 40007),
        ("/t", b"x", {"At": "tomorrow, 10am"}, 40004),
        ("/t", b"x", {"In": "400d"}, 40006),
        ("/t", b"x", {"Email": "me@example.org"}, 40000),
        ("/t", b"x", {"Filename": "x.jpg"}, 40014),
        ("/t", b"x", {"Attach": "http://example.org/x.png"}, 40013),
        ("/t", b"x", {"Actions": "http, Do, https://example.org"}, 40018),
        ("/t", b"x", {"Actions": "view, Map, geo:47.6,9.4"}, 40018),
        ("/", b'{"topic":"t","message":"*x*","markdown":"true"}', {}, 40000),
        ("/a/b", b"x", {}, 40009),
        ("/", b"{", {}, 40017),
        pytest.param("/", b" " * 262_145, {}, 41301, id="long JSON"),
        pytest.param("/t", b"x" * 16_777_217, {}, 41301, id="a long body"),
        pytest.param("/t", b"x", {"Title": "x" * 1_025}, 41301, id="a long title"),
        ("/t", b"x", {"Content-Encoding": "gzip"}, 41501),
        ("/t", b"x", {"Content-Type": "multipart/form-data; boundary=x"}, 41501),
        ("/t", b"x", {"Markdown": "yes"}, 40000),
    ],
)
def test_what_is_wrong_is_said_in_words(
    door: Door, path: str, body: bytes, headers: dict[str, str], expected: int
) -> None:
    reply = door.post(path, body, headers)
    assert (reply.json["code"], reply.json["http"]) == (expected, reply.status) == (expected, expected // 100)
    assert reply.json["error"]
    assert door.stored() == []


def test_only_publishing_is_there(door: Door) -> None:
    for method, path in (("GET", "/t/json"), ("GET", "/t"), ("DELETE", "/t"), ("GET", "/v1/stats"), ("GET", "/")):
        assert door.post(path, b"", method=method).json["code"] == 40401
    assert door.post("/v1/health", b"", method="GET").json == {"healthy": True}
    assert door.post("/v1/health", b"", {"Host": "evil.example"}, method="GET").status == 403


def test_a_body_in_another_character_set_is_converted_and_a_long_one_is_cut(door: Door) -> None:
    assert door.post("/t", "gr\xf6\xdfe.c: error".encode("latin-1")).json["message"] == "größe.c: error"
    for charset, text in (("iso-8859-1", "größe"), ("koi8-r", "Привет"), ("shift_jis", "日本")):
        header = {"Content-Type": f"text/plain; charset={charset}"}
        assert door.post("/t", text.encode(charset), header).json["message"] == text
    # As Python's clients send it.
    assert door.post("/t", b"x", {"Title": "Größe"}).json["title"] == "Größe"
    assert door.post("/t", b"x", {"Title": "Disk =?iso-8859-15?q?5_=A4?= full"}).json["title"] == "Disk 5 € full"
    before = private_memory(door.desktop.pid)
    for length in (70_000, 200_000, 2_000_000, 16_000_000):
        long = door.post("/t", "begin" + "x" * length + "end").json["message"]
        assert len(long.encode()) <= 65_536 and long.startswith("beginx") and long.endswith("xend")
        assert "bytes left out" in long
    assert private_memory(door.desktop.pid) - before < 8 << 20
    assert door.post("/", '{"topic":"t","message":"cut \\ud83d"}').json["message"] == "cut \ufffd"
    assert [body for _, body in door.stored()][-2:] == [long, "cut \ufffd"]


def test_the_priority_header_of_http_is_not_a_notification_s(door: Door) -> None:
    for value in ("u=3", "u=3, i", "i", "u=1,i=?0"):
        assert "priority" not in door.post("/t", b"x", {"Priority": value}).json
        assert door.post("/t?priority=5", b"x", {"Priority": value}).json["priority"] == 5
    assert door.post("/t", b"x", {"Priority": "banana"}).status == 400


def test_requests_of_old_clients_and_of_proxies_are_understood(door: Door) -> None:
    for head in (
        b"POST /t HTTP/1.0\r\n",
        b"POST http://localhost/t HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n",
        b"POST /t HTTP/1.1\r\nHost: localhost.\r\nConnection: close\r\n",
        b"POST /t HTTP/1.1\r\nHost: " + socket.gethostname().encode() + b":80\r\nConnection: close\r\n",
        b"POST http://u:p@localhost/t HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n",
        b"POST /t HTTP/1.1\r\nHost: [fe80::1%eth0]:80\r\nConnection: close\r\n",
    ):
        assert raw(door, head + b"Content-Length: 2\r\n\r\nhi").startswith(b"HTTP/1.1 200 OK"), head
    for head in (
        b"POST http://evil.example/t HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
        b"POST /t HTTP/1.0\r\nHost: evil.example\r\n",
    ):
        assert code(raw(door, head + b"Content-Length: 2\r\n\r\nhi")) == 40303
    # Where its body ends can't be known.
    assert b"needs a Content-Length" in raw(door, b"POST /t HTTP/1.0\r\n\r\nhi")
    assert len(door.stored()) == 6


def test_a_message_beside_a_body_and_a_query_in_latin_1_are_taken(door: Door) -> None:
    assert door.post("/t", "log", {"Message": "failed"}).json["message"] == "failed\nlog"
    assert door.post("/t?message=gr%F6%DFe+91%").json["message"] == "größe 91%"
    assert door.post("/t", "x", {"Content-Encoding": "utf-8"}).json["message"] == "x"


def test_a_body_that_ends_early_is_answered(door: Door) -> None:
    with socket.create_connection(("127.0.0.1", door.port), 15) as connection:
        connection.sendall(b"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhal")
        connection.shutdown(socket.SHUT_WR)
        found = b""
        while part := connection.recv(65_536):
            found += part
    assert code(found) == 40000 and b"ended before the body" in found
    assert door.stored() == []


def test_a_url_alone_publishes_with_a_token_in_it(door: Door) -> None:
    token = door.token("webhook")
    auth = base64.urlsafe_b64encode(f"Bearer {token}".encode()).decode().rstrip("=")
    for end in ("publish", "send", "trigger"):
        reply = door.post(f"/t/{end}?message=Hello+there&priority=4&auth={auth}", method="GET")
        assert (reply.status, reply.json["message"], reply.json["topic"]) == (200, "Hello there", "t")
    # A picture in a page would be such a request.
    assert door.post("/t/publish?message=x", method="GET").json["code"] == 40101
    assert door.post(f"/t/publish?auth={auth}", b"", {"Sec-Fetch-Site": "cross-site"}, "GET").status == 403
    assert len(door.stored()) == 3


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 4\r\nContent-Length: 40\r\n",
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Content-Length : 4\r\n",
        b"X: a\r\nHost: evil.example\r\nContent-Length: 4\r\n",
        b"Content-Length: +4\r\n",
        b"Transfer-Encoding: chunked\x0b\r\n",
    ],
)
def test_smuggled_requests_are_refused_as_a_whole(door: Door, headers: bytes) -> None:
    second = b"POST /smuggled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
    answer = raw(door, b"POST /t HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + b"0\r\n\r\n" + second)
    assert answer.startswith(b"HTTP/1.1 4") and answer.count(b"HTTP/1.1") == 1
    assert door.stored() == []


def test_bodies_and_heads_without_end_are_cut_off(door: Door) -> None:
    def flood(begin: bytes, part: bytes) -> None:
        with socket.create_connection(("127.0.0.1", door.port), 15) as connection:
            with pytest.raises(OSError) as found:
                connection.sendall(begin)
                while True:
                    connection.sendall(part)
            assert not isinstance(found.value, TimeoutError)
            cut.append(part)

    cut: list[bytes] = []
    before = private_memory(door.desktop.pid)
    begin = b"POST /t HTTP/1.1\r\nHost: localhost\r\n"
    chunked = begin + b"Transfer-Encoding: chunked\r\n\r\n"
    floods = [
        (chunked, b"1000\r\n" + b"x" * 4_096 + b"\r\n"),
        (chunked + b"1;", b"x" * 4_096),
        (chunked + b"0\r\n", b"A: b\r\n" * 1_000),
        (begin, b"X: y\r\n" * 1_000),
    ]
    threads = [threading.Thread(target=flood, args=each) for each in floods]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cut) == len(floods)
    answer = raw(door, begin + b"Content-Length: 9223372036854775807\r\n\r\nx")
    assert code(answer) in (40000, 41301)
    assert door.post("/t", "still there").status == 200
    assert len(door.stored()) == 1
    assert private_memory(door.desktop.pid) - before < 16 << 20


def test_slow_clients_keep_nobody_out(door: Door) -> None:
    """More of them than the door has places: the slowest make room."""
    slow = []
    for number in range(300):
        connection = socket.create_connection(("127.0.0.1", door.port), 30)
        half = b"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhal"
        connection.sendall(half[: 20 + number % 60])
        slow.append(connection)
    # Less than it takes until their time is up.
    connection = socket.create_connection(("127.0.0.1", door.port), 5)
    connection.sendall(b"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\nme")
    found = b""
    while part := connection.recv(65_536):
        found += part
    assert found.startswith(b"HTTP/1.1 200 OK")
    for each in [*slow, connection]:
        each.close()
    assert [body for _, body in door.stored()] == ["me"]


def test_10_000_posts_at_once_come_in_order_and_in_bounded_memory(door: Door) -> None:
    lanes, each = 50, 200
    before = private_memory(door.desktop.pid)
    answers: list[int] = []

    def publish(lane: int) -> None:
        request = b"".join(
            b"POST /lane%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n%s\r\n%04d"
            % (lane, b"Connection: close\r\n" if number == each - 1 else b"", number)
            for number in range(each)
        )
        answers.append(raw(door, request, 60).count(b"HTTP/1.1 200 OK"))

    begin = time.monotonic()
    threads = [threading.Thread(target=publish, args=(lane,)) for lane in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{lanes * each / (time.monotonic() - begin):.0f} posts per second")
    grown = private_memory(door.desktop.pid) - before
    print(f"{grown >> 10} KiB more")
    assert answers == [each] * lanes
    stored = door.stored()
    assert len(stored) == lanes * each
    found: dict[str, list[str]] = {}
    for title, body in stored:
        found.setdefault(title, []).append(body)
    expected = [f"{number:04d}" for number in range(each)]
    assert len(found) == lanes and all(bodies == expected for bodies in found.values())
    assert grown < 32 << 20


# MARK: Later


def test_too_many_delayed_posts_are_refused_as_such(door: Door) -> None:
    answers = [door.post("/t", "later", {"Delay": "2d"}) for _ in range(103)]
    assert [answer.status for answer in answers] == [200] * 100 + [429] * 3
    assert answers[-1].json["code"] == 42902 and "delayed" in answers[-1].json["error"]
    assert len([line for line in door.desktop.err.all if "limit of scheduled notifications" in line]) == 1


def test_a_delayed_post_survives_a_restart_and_goes_out_once(bellwire: Start, tmp_path: Path) -> None:
    door = Door(bellwire, tmp_path)
    reply = door.post("/t", "later", {"At": "2s"})
    assert reply.status == 200 and door.stored() == []
    assert re.search(rf"{reply.json['id']}  t$", door.command("push", "--scheduled")[0])
    door.desktop.kill()
    door = Door(bellwire, tmp_path)
    wait_until(lambda: len(door.stored()) == 1, 15)
    assert door.stored("id, body") == [(reply.json["id"], "later")]
    assert door.command("push", "--scheduled") == []
    door.desktop.end()
