"""`bellwire doctor` looks at what is really there, ends in time, says what to do, and changes nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from certificates import Authority
from desktopbus import PlayedServer, PrivateBus, missing_bus
from peers import free_port
from programs import BELLWIRE, FAKETIME, Program, wait_until
from test_command_line import Pair
from test_command_line_exit_codes import catches

Start = Callable[..., Program]
Checks = dict[str, dict[str, str]]


def doctor(home: Path, *arguments: str, code: int | None = 0, **environment: str) -> Checks:
    """The findings by their checks."""
    found = subprocess.run(
        [BELLWIRE, "doctor", "--json", *arguments],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home / "none"), **environment},
    )  # fmt: skip
    assert found.stderr == ""
    checks = json.loads(found.stdout)["checks"]
    for check in checks:
        assert check["state"] in ("ok", "warn", "fail") and check["message"], check
        assert bool(check.get("advice")) == (check["state"] != "ok"), check
    assert code is None or found.returncode == code, checks
    assert found.returncode == (1 if any(check["state"] == "fail" for check in checks) else 0)
    return {check["check"]: check for check in checks}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def free() -> str:
    return f"127.0.0.1:{free_port()}"


def test_a_machine_without_anything_is_well_and_stays_as_it_is(home: Path) -> None:
    checks = doctor(home, "--relay", free())
    assert {"device directory", "desktop directory", "clock", "proxy", "port", "notifications", "avahi"} == set(checks)
    assert "does not exist yet" in checks["device directory"]["message"]
    assert not home.exists()
    as_text = subprocess.run(
        [BELLWIRE, "doctor", "--relay", free()],
        capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "XDG_STATE_HOME": str(home)},
    )  # fmt: skip
    lines = as_text.stdout.splitlines()
    assert all(line.startswith(("ok    ", "warn  ", "      ")) for line in lines), lines


def content(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files, with their modes and when they were changed."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_running_pair_is_well_and_a_stopped_one_stays_as_it_is(bellwire: Start, home: Path) -> None:
    pair = Pair(bellwire)
    port = int(json.loads(pair.code)["signalingUrl"].rsplit(":", 1)[1])
    checks = doctor(home, "--relay", f"127.0.0.1:{port}")
    assert checks["port"]["message"] == f"{port} is the running desktop's"
    assert checks["device"]["message"] == "paired with 1 desktop"
    assert checks["desktop"]["message"] == "paired with 1 device"
    (relay,) = [check for name, check in checks.items() if name.startswith("relay ws://")]
    assert relay["state"] == "ok" and "accepts WebSocket connections" in relay["message"]
    assert pair.desktop.end() == 0
    before = content(home)
    checks = doctor(home, "--relay", free(), code=1)
    (relay,) = [check for name, check in checks.items() if name.startswith("relay ws://")]
    assert relay["state"] == "fail" and "cannot connect to 127.0.0.1" in relay["message"]
    assert f"port {port}" in relay["advice"]
    assert content(home) == before


# MARK: Relays


@pytest.fixture
def server() -> Iterator[Callable[[bytes], str]]:
    """Servers that read a request and answer it with that; with nothing they stay silent."""
    servers: list[socket.socket] = []

    def serve(server: socket.socket, answer: bytes) -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                servers.append(connection)
                if answer:
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()

    def make(answer: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=serve, args=(server, answer), daemon=True).start()
        return f"ws://127.0.0.1:{server.getsockname()[1]}"

    yield make
    for each in servers:
        each.close()


def relay_check(home: Path, url: str, *arguments: str, code: int = 1) -> dict[str, str]:
    checks = doctor(home, "--relay", free(), "--relay-url", url, *arguments, code=code)
    return next(check for name, check in checks.items() if name.startswith("relay "))


@pytest.mark.parametrize(
    ("answer", "message", "advice"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404", "is that of a relay"),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "401", "access_token"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "does not speak WebSocket", "is that of a relay"),
        (b"", "took longer than", "firewall"),
    ],
    ids=["another web server", "a relay with tokens", "no web server", "silent"],
)
def test_what_is_no_relay_is_named_in_time(
    home: Path, server: Callable[[bytes], str], answer: bytes, message: str, advice: str
) -> None:
    begin = time.monotonic()
    found = relay_check(home, server(answer), "--timeout", "1")
    assert found["state"] == "fail" and message in found["message"] and advice in found["advice"], found
    assert time.monotonic() - begin < 6


def test_a_name_that_is_none_and_a_url_that_is_none(home: Path) -> None:
    found = relay_check(home, "ws://no-such-host.invalid:9001")
    assert "no-such-host.invalid" in found["message"] and "spelling" in found["advice"]
    usage = subprocess.run(
        [BELLWIRE, "doctor", "--relay-url", "http://x"], capture_output=True, text=True, timeout=30, check=False
    )
    assert usage.returncode == 2 and usage.stderr.startswith("bellwire: --relay-url: ")


@pytest.mark.parametrize(("days", "state"), [(90, "ok"), (5, "warn")], ids=["fresh", "soon over"])
def test_the_certificate_of_a_relay(bellwire: Start, home: Path, tmp_path: Path, days: int, state: str) -> None:
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.issue("relay", "IP:127.0.0.1", days=days)
    program = bellwire(
        "relay", "--listen", "127.0.0.1:0", "--no-health", "--tls-certificate", certificate, "--tls-key", key
    )
    url = program.line(r"wss://\S+").group()
    options = ("--relay", free(), "--relay-url", url, "--ca-file", str(authority.file))
    checks = doctor(home, *options)
    assert checks["certificate"]["state"] == state
    assert re.search(rf"valid for ({days - 1}|{days}) more days", checks["certificate"]["message"])
    # Without the authority, and under another name.
    unknown = relay_check(home, url)
    assert "unknown authority" in unknown["message"] and "--ca-file" in unknown["advice"]
    other = relay_check(home, url.replace("127.0.0.1", "localhost"), "--ca-file", str(authority.file))
    assert "host name mismatch" in other["message"]


def test_a_token_in_the_url_is_not_shown(home: Path) -> None:
    checks = doctor(home, "--relay", free(), "--relay-url", f"ws://{free()}/?access_token=secret123", code=1)
    assert "secret123" not in json.dumps(checks)


# MARK: The machine


def test_permissions_of_the_directory_and_of_the_key(bellwire: Start, home: Path) -> None:
    pair = Pair(bellwire)
    pair.desktop.end()
    folder = home / "bellwire/desktop"
    options = ("--desktop", "--relay", free())
    (folder / "identity.key").chmod(0o644)
    found = doctor(home, *options, code=1)["desktop directory"]
    assert found["state"] == "fail" and "chmod 600" in found["advice"] and "identity.key" in found["message"]
    (folder / "identity.key").chmod(0o600)
    folder.chmod(0o777)
    found = doctor(home, *options, code=1)["desktop directory"]
    assert f"chmod go-w {folder}" in found["advice"]
    folder.chmod(0o700)
    assert doctor(home, *options, code=None)["desktop directory"]["state"] == "ok"
    if os.geteuid() == 0:
        os.chown(folder, 1234, 1234)
        assert "belongs to another user" in doctor(home, *options, code=1)["desktop directory"]["message"]
    (home / "file").write_text("")
    found = doctor(home, "--device", "--state-dir", str(home / "file"), code=1)["device directory"]
    assert "is not a directory" in found["message"]


def test_ports(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = doctor(home, "--relay", f"127.0.0.1:{port}")["port"]
        assert found["state"] == "warn" and "used by another program" in found["message"]
    assert doctor(home, "--relay", f"127.0.0.1:{port}")["port"]["state"] == "ok"
    found = doctor(home, "--relay", "203.0.113.7:9001", code=1)["port"]
    assert "not an address of this machine" in found["message"]
    assert "HOST:PORT" in doctor(home, "--relay", "nowhere", code=1)["port"]["message"]
    assert "port" not in doctor(home, "--device")


def test_proxies(home: Path) -> None:
    nothing = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "")
    assert doctor(home, "--device", **nothing)["proxy"]["state"] == "ok"
    found = doctor(home, "--device", **{**nothing, "https_proxy": "http://user:secret@proxy:3128"})["proxy"]
    assert found["state"] == "warn" and "https_proxy" in found["message"] and "secret" not in json.dumps(found)


@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed")
def test_a_clock_that_is_behind_what_was_received(bellwire: Start, home: Path) -> None:
    pair = Pair(bellwire)
    assert pair.bellwire("send", "Tea").wait() == 0
    pair.desktop.end()
    options = ("--device", "--timeout", "1")
    assert doctor(home, *options, code=None)["clock"]["state"] in ("ok", "warn")
    found = doctor(home, *options, code=1, LD_PRELOAD=str(FAKETIME), FAKETIME="-3d")["clock"]
    assert "the clock is behind" in found["message"] and "timedatectl" in found["advice"]


# MARK: The session's bus


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    bus = PrivateBus()
    yield bus
    bus.close()


@pytest.mark.skipif(missing_bus() is not None, reason=str(missing_bus()))
def test_the_notification_server(home: Path, bus: PrivateBus) -> None:
    def state() -> tuple[str, str]:
        found = doctor(home, "--device", **bus.environment)["notifications"]
        return found["state"], found["message"]

    assert state() == ("warn", "there is no notification server, so no alert can be shown")
    bus.can_start("org.freedesktop.Notifications", "/bin/false")
    assert state() == ("ok", "started when it is needed")
    server = PlayedServer(bus)
    assert state() == ("ok", "a notification server runs")
    assert server is not None


def test_no_bus_and_one_that_never_answers(home: Path, tmp_path: Path) -> None:
    absent = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/absent"}
    found = doctor(home, "--device", **absent)["notifications"]
    assert found["state"] == "warn" and "no bus" in found["message"]
    path = f"/tmp/bellwire-silent-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        try:
            silent.listen()
            begin = time.monotonic()
            options = ("--device", "--timeout", "1")
            found = doctor(home, *options, code=1, DBUS_SESSION_BUS_ADDRESS=f"unix:path={path}")["notifications"]
            assert "did not answer in time" in found["message"]
            assert time.monotonic() - begin < 6
        finally:
            os.unlink(path)


def test_ctrl_c_ends_it(server: Callable[[bytes], str], bellwire: Start) -> None:
    program = bellwire("doctor", "--relay-url", server(b""), "--timeout", "60")
    wait_until(lambda: catches(program, signal.SIGINT))
    assert program.end(signal.SIGINT) == 130
