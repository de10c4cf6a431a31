"""TLS of the client (device) and of the relay: who is trusted, and what is said when somebody is not."""

from __future__ import annotations

import os
import ssl
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import Authority
from peers import FakeDesktop
from programs import BELLWIRE, Program
from websockets.sync.client import connect

Start = Callable[..., Program]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def desktop_with() -> Iterator[Callable[..., FakeDesktop]]:
    """A deployed desktop behind TLS."""
    desktops: list[FakeDesktop] = []

    def make(context: ssl.SSLContext, host: str = "127.0.0.1") -> FakeDesktop:
        desktops.append(FakeDesktop(context, host=host))
        return desktops[-1]

    yield make
    for desktop in desktops:
        desktop.close()


def test_a_certificate_of_our_authority_for_this_address_is_accepted(
    bellwire: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop]
) -> None:
    desktop = desktop_with(authority.server("address", "IP:127.0.0.1"))
    program = bellwire("pair", desktop.code(), "--ca-file", authority.file)
    desktop.pair()
    assert program.wait() == 0, program.err.all


def test_a_certificate_of_our_authority_for_this_name_is_accepted(
    bellwire: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop]
) -> None:
    desktop = desktop_with(authority.server("name", "DNS:localhost"), host="localhost")
    program = bellwire("pair", desktop.code(), "--ca-file", authority.file)
    desktop.pair()
    assert program.wait() == 0, program.err.all


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root: it lays another system's files over this one's")
def test_authorities_are_found_where_another_system_has_them(
    start: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop]
) -> None:
    """openSUSE's place, seen by one process alone; OpenSSL was built for Debian's."""
    desktop = desktop_with(authority.server("elsewhere", "IP:127.0.0.1"))
    lay = 'mount -t tmpfs none /etc/ssl && cp "$1" /etc/ssl/ca-bundle.pem && shift && exec "$@"'
    hidden = ("env", "-u", "SSL_CERT_FILE", "-u", "SSL_CERT_DIR", "unshare", "--mount", "sh", "-c", lay, "sh")
    program = start(*hidden, authority.file, BELLWIRE, "pair", desktop.code())
    desktop.pair()
    assert program.wait() == 0, program.err.all


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_certificate_of_the_wrong_name_is_refused_and_said(
    bellwire: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop], host: str
) -> None:
    desktop = desktop_with(authority.server("other", "DNS:other.example", "IP:127.0.0.2"), host=host)
    program = bellwire("pair", desktop.code(), "--ca-file", authority.file, "--timeout", "8")
    message = program.error_line("bellwire: ").string
    assert "certificate" in message, message
    assert program.wait() == 3


def test_a_certificate_of_an_unknown_authority_is_refused_and_said(
    bellwire: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop]
) -> None:
    desktop = desktop_with(authority.server("unknown", "IP:127.0.0.1"))
    program = bellwire("pair", desktop.code(), "--timeout", "8")
    message = program.error_line("bellwire: ").string
    assert "certificate" in message, message
    assert program.wait() == 3


def test_a_ca_file_that_cannot_be_read_is_named(bellwire: Start, tmp_path: Path) -> None:
    code = FakeDesktop.offer("wss://127.0.0.1:1")
    program = bellwire("pair", code, "--ca-file", tmp_path / "absent.pem", "--timeout", "8")
    assert "absent.pem" in program.error_line("bellwire: ").string
    assert program.wait() in (1, 2, 3)


def test_the_relay_serves_wss_to_a_third_party_client(bellwire: Start, authority: Authority) -> None:
    certificate, key = authority.issue("relay", "IP:127.0.0.1")
    program = bellwire(
        "relay", "--listen", "127.0.0.1:0", "--no-health", "--tls-certificate", certificate, "--tls-key", key
    )
    url = program.line(r"wss://\S+").group()
    client = ssl.create_default_context(cafile=str(authority.file))
    with connect(url, ssl=client, proxy=None) as connection:
        connection.send('{"type":"ping"}')
        assert "pong" in connection.recv(timeout=10)
        assert connection.socket.version() in ("TLSv1.2", "TLSv1.3")  # type: ignore[attr-defined]


def test_the_relay_speaks_no_tls_below_1_2(bellwire: Start, authority: Authority) -> None:
    certificate, key = authority.issue("old", "IP:127.0.0.1")
    program = bellwire(
        "relay", "--listen", "127.0.0.1:0", "--no-health", "--tls-certificate", certificate, "--tls-key", key
    )
    url = program.line(r"wss://\S+").group()
    client = ssl.create_default_context(cafile=str(authority.file))
    client.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        client.minimum_version = ssl.TLSVersion.TLSv1
        client.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        connect(url, ssl=client, proxy=None)


def test_a_device_speaks_no_tls_below_1_2(
    bellwire: Start, authority: Authority, desktop_with: Callable[..., FakeDesktop]
) -> None:
    server = authority.server("old server", "IP:127.0.0.1")
    server.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        server.minimum_version = ssl.TLSVersion.TLSv1
        server.maximum_version = ssl.TLSVersion.TLSv1_1
    desktop = desktop_with(server)
    # The server itself works: a client that takes old versions gets through.
    client = ssl.create_default_context(cafile=str(authority.file))
    client.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        client.minimum_version = ssl.TLSVersion.TLSv1
    connect(desktop.url, ssl=client, proxy=None).close()
    program = bellwire("pair", desktop.code(), "--ca-file", authority.file, "--timeout", "8")
    message = program.error_line("bellwire: ").string
    assert "version" in message, message
    assert program.wait() == 3


def test_desktop_device_and_relay_speak_wss_with_each_other(bellwire: Start, authority: Authority) -> None:
    certificate, key = authority.issue("all", "IP:127.0.0.1")
    relay = bellwire(
        "relay", "--listen", "127.0.0.1:0", "--no-health", "--tls-certificate", certificate, "--tls-key", key
    )
    url = relay.line(r"wss://\S+").group()
    desktop = bellwire("desktop", "--relay-url", url, "--ca-file", authority.file, "--stdin")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    assert bellwire("pair", code, "--ca-file", authority.file).wait() == 0
    listener = bellwire("listen", "--count", "1", "--ca-file", authority.file)
    listener.error_line("^bellwire: connected to")
    desktop.write("Over TLS\n")
    listener.line("Over TLS")
    assert listener.wait() == 0


def test_a_certificate_file_that_is_not_there_is_named(bellwire: Start, tmp_path: Path) -> None:
    absent = tmp_path / "absent.pem"
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--tls-certificate", absent, "--tls-key", absent)
    assert program.wait() == 1
    assert f"cannot use the certificate file {absent}: No such file or directory" in "\n".join(program.err.all)
