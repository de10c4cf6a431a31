"""A relay behind real proxies, with the configurations of the page "Running a relay for others".

Only ports, certificates and the name of the host differ from what the page shows.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from programs import ROOT, Program
from relay_node import Client, Node
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

Start = Callable[..., Program]

PAGE = (ROOT / "Sources/Library/CABI/Bellwire.docc/RelayForOthers.md").read_text()
HTTP, FORWARDS, SHARES = re.findall(r"^```nginx\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(CADDY,) = re.findall(r"^```caddyfile\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(TRAEFIK,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def certificate(authority: Authority) -> tuple[Path, Path]:
    return authority.issue("relay", "DNS:localhost", "IP:127.0.0.1")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Proxies:
    """Starts proxies, and ends them."""

    def __init__(self, folder: Path, certificate: tuple[Path, Path]) -> None:
        self.folder, self.certificate = folder, certificate
        self.running: list[subprocess.Popen[bytes]] = []

    def nginx(self, text: str, port: int, changes: dict[str, str]) -> None:
        modules = "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nevents {}\n"
        text = changed(text, changes)
        config = self.folder / "nginx.conf"
        config.write_text(
            f"daemon off;\npid {self.folder}/pid;\nerror_log {self.folder}/error.log;\n{modules}{text}".replace(
                "http {", f"http {{\naccess_log off;\nclient_body_temp_path {self.folder}/body;\n"
            )
        )
        self._run(["nginx", "-p", str(self.folder), "-c", str(config)], port)

    def ends_tls(self, kind: str, port: int, upstream: str) -> None:
        """nginx or Caddy, which passes what comes to wss://localhost:port on to `upstream`."""
        certificate, key = self.certificate
        if kind == "nginx":
            changes = {
                "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;", "server_name relay.example.org;": "",
                "relay.pem": str(certificate), "relay.key": str(key), "http://127.0.0.1:9001": upstream,
            }  # fmt: skip
            return self.nginx(HTTP, port, changes)
        changes = {
            "relay.example.org {": f"https://localhost:{port} {{\nbind 127.0.0.1\ntls {certificate} {key}",
            "127.0.0.1:9001": upstream,
        }
        config = self.folder / "Caddyfile"
        config.write_text("{\nadmin off\nauto_https disable_redirects\n}\n" + changed(CADDY, changes))
        command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
        self._run(command, port, XDG_DATA_HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder))

    def _run(self, command: list[str], port: int, **environment: str) -> None:
        with (self.folder / "proxy.log").open("wb") as log:
            environment = {"PATH": "/usr/bin:/usr/sbin:/bin", "HOME": str(self.folder), **environment}
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self.running.append(process)
        deadline = time.monotonic() + 20
        while True:
            assert process.poll() is None and time.monotonic() < deadline, (self.folder / "proxy.log").read_text()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)

    def close(self) -> None:
        for process in self.running:
            process.terminate()
            process.wait(20)


def changed(text: str, changes: dict[str, str]) -> str:
    for shown, used in changes.items():
        assert shown in text, f"the page no longer shows {shown}"
        text = text.replace(shown, used)
    return text


@pytest.fixture
def proxies(tmp_path: Path, certificate: tuple[Path, Path]) -> Iterator[Proxies]:
    folder = tmp_path / "proxy"
    folder.mkdir()
    proxies = Proxies(folder, certificate)
    yield proxies
    proxies.close()


def dial(authority: Authority, port: int, **options: Any) -> Client:
    context = ssl.create_default_context(cafile=str(authority.file))
    return Client(connect(f"wss://localhost:{port}", ssl=context, proxy=None, open_timeout=10, **options))


def until_open(connects: Callable[[], Client]) -> Client:
    deadline = time.monotonic() + 10
    while True:
        try:
            return connects()
        except (InvalidStatus, OSError, ConnectionClosed):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def pairs_and_pushes(bellwire: Start, authority: Authority, url: str) -> None:
    """A desktop and a device meet at this URL only."""
    trust = ("--ca-file", authority.file)
    desktop = bellwire("desktop", "--relay-url", url, *trust, "--stdin", home="desktop")
    code = desktop.line(r"^\{.*desktop-pairing.*").group()
    assert bellwire("pair", code, *trust).wait() == 0
    listener = bellwire("listen", "--count", "1", *trust)
    listener.error_line("^bellwire: connected to")
    desktop.write("Through a proxy\n")
    listener.line("Through a proxy")
    assert listener.wait() == 0


# MARK: The proxy ends TLS


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_peers_prove_their_ids_through_a_proxy_that_ends_tls(
    bellwire: Start, authority: Authority, proxies: Proxies, tmp_path: Path, kind: str
) -> None:
    port = free_port()
    url = f"wss://localhost:{port}"
    state = ("--state-dir", tmp_path / "state", "--max-unregistered-per-address", "1")
    node = Node(bellwire, "--origin", url, "--trusted-proxy", "127.0.0.1", *state)
    proxies.ends_tls(kind, port, f"http://127.0.0.1:{node.port}")
    pairs_and_pushes(bellwire, authority, url)
    # Both have proved their ids, so nobody registers them without a proof.
    assert node.metric("bellwire_relay_proved_ids") == 2
    assert node.metric("bellwire_relay_proofs_refused_total") == 0
    # The proxy names its clients: limits hold for them, and not for loopback, from where it comes.
    waiting = until_open(lambda: dial(authority, port))
    with pytest.raises((InvalidStatus, OSError, ConnectionClosed)):
        dial(authority, port)
    waiting.close()
    node.wait("bellwire_relay_connections", lambda count: count <= 1)
    # A page of the relay's own page works through it, too.
    key = Ed25519PrivateKey.generate()
    stranger = until_open(lambda: dial(authority, port))
    assert stranger.prove(key, "wss://elsewhere.example:443")["code"] == "bad_origin"
    assert stranger.prove(key, url)["type"] == "registered"
    stranger.close()


def test_a_proxy_may_reach_the_relay_by_tls(
    bellwire: Start, authority: Authority, proxies: Proxies, certificate: tuple[Path, Path]
) -> None:
    """The exporter of the proxy's own connection is not the client's; who connects directly is still bound to TLS."""
    port, own = free_port(), free_port()
    origins = ["--origin", f"wss://localhost:{port}", "--origin", f"wss://localhost:{own}"]
    files = ["--tls-certificate", certificate[0], "--tls-key", certificate[1]]
    node = Node(bellwire, *origins, "--trusted-proxy", "127.0.0.1", *files, listen=f"127.0.0.1:{own}")
    proxies.ends_tls("nginx", port, f"https://127.0.0.1:{node.port}")
    pairs_and_pushes(bellwire, authority, f"wss://localhost:{port}")
    direct = dial(authority, own)
    assert direct.prove(Ed25519PrivateKey.generate(), f"wss://localhost:{own}")["code"] == "bad_proof"
    direct.close()


def test_a_proxy_that_ends_tls_may_send_a_proxy_header(
    bellwire: Start, authority: Authority, proxies: Proxies, certificate: tuple[Path, Path]
) -> None:
    port = free_port()
    url = f"wss://localhost:{port}"
    node = Node(bellwire, "--origin", url, "--trusted-proxy", "127.0.0.1", "--proxy-protocol")
    tls = f"listen 127.0.0.1:{port} ssl;\nssl_certificate {certificate[0]};\nssl_certificate_key {certificate[1]};"
    proxies.nginx(FORWARDS, port, {"listen 9443;": tls, "127.0.0.1:9001;": f"127.0.0.1:{node.port};"})
    pairs_and_pushes(bellwire, authority, url)
    assert node.metric("bellwire_relay_proofs_refused_total") == 0


def test_the_origins_of_proxies_change_with_a_reload(bellwire: Start, tmp_path: Path) -> None:
    config = tmp_path / "relay.json"
    key = Ed25519PrivateKey.generate()

    def write(*origins: str) -> None:
        config.write_text(json.dumps({"origins": origins, "trusted_proxies": ["127.0.0.1"]}))

    write("wss://old.example")
    node = Node(bellwire, "--config", config, "--log-format", "json")
    peer = node.peer()
    assert peer.prove(key, "wss://new.example:443")["code"] == "bad_origin"
    write("wss://new.example")
    node.program.process.send_signal(signal.SIGHUP)
    node.log("reloaded")
    assert peer.prove(key, "wss://new.example:443")["type"] == "registered"
    assert peer.prove(key, "wss://old.example:443")["code"] == "bad_origin"
    peer.close()


def test_only_a_trusted_proxy_may_claim_the_origin_of_a_proxy(
    bellwire: Start, authority: Authority, proxies: Proxies
) -> None:
    port = free_port()
    url = f"wss://localhost:{port}"
    node = Node(bellwire, "--origin", url, "--trusted-proxy", "127.0.0.2")
    key = Ed25519PrivateKey.generate()

    def claim(source: str, **options: Any) -> dict[str, Any]:
        stream = socket.create_connection(("127.0.0.1", node.port), timeout=10, source_address=(source, 0))
        peer = node.peer(sock=stream, **options)
        answer = peer.prove(key, url)
        peer.close()
        return answer

    for headers in ({}, {"X-Forwarded-For": "127.0.0.2"}, {"X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4"}):
        refused = claim("127.0.0.1", additional_headers=headers)
        assert refused["code"] == "bad_origin" and "--trusted-proxy" in refused["error"], refused
    assert claim("127.0.0.2", additional_headers={"X-Forwarded-For": "1.2.3.4"})["type"] == "registered"
    # An own origin, from anywhere.
    direct = node.peer()
    assert direct.prove(key, node.url)["type"] == "registered"
    direct.close()

    # nginx connects from 127.0.0.1, which is not on the list: the program says what to do.
    proxies.ends_tls("nginx", port, f"http://127.0.0.1:{node.port}")
    desktop = bellwire("desktop", "--relay-url", url, "--ca-file", authority.file, home="desktop")
    assert "--trusted-proxy" in desktop.error_line("not among this relay's origins").string


def test_an_origin_of_a_proxy_needs_the_proxy(bellwire: Start) -> None:
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--origin", "wss://relay.example.org")
    assert program.wait() == 2
    assert "--trusted-proxy" in "\n".join(program.err.all)


def test_the_configuration_of_traefik_is_whole() -> None:
    """Traefik is not in Debian; this reads the page's example as Traefik does."""
    http = tomllib.loads(TRAEFIK)["http"]
    (router,) = http["routers"].values()
    assert router["rule"] == "Host(`relay.example.org`)" and router["tls"] == {}
    (server,) = http["services"][router["service"]]["loadBalancer"]["servers"]
    assert server["url"] == "http://127.0.0.1:9001"


# MARK: The proxy forwards TLS


def relay_with_certificate(bellwire: Start, certificate: tuple[Path, Path], port: int) -> Node:
    files = ["--tls-certificate", certificate[0], "--tls-key", certificate[1]]
    options = ["--trusted-proxy", "127.0.0.1", "--proxy-protocol", "--max-unregistered-per-address", "1"]
    return Node(bellwire, *files, *options, "--origin", f"wss://localhost:{port}")


def test_nginx_forwards_tls_and_names_its_clients(
    bellwire: Start, authority: Authority, proxies: Proxies, certificate: tuple[Path, Path]
) -> None:
    port = free_port()
    node = relay_with_certificate(bellwire, certificate, port)
    changes = {"listen 9443;": f"listen 127.0.0.1:{port};", "127.0.0.1:9001;": f"127.0.0.1:{node.port};"}
    proxies.nginx(FORWARDS, port, changes)
    # The limit of one address also counts the connection that looked for nginx, until the relay sees its end.
    first = until_open(lambda: dial(authority, port))
    # The limit of one address: not for loopback, from where nginx itself comes.
    with pytest.raises((InvalidStatus, OSError, ConnectionClosed)):
        dial(authority, port)
    assert first.register("phone")["type"] == "registered"
    second = dial(authority, port)
    assert second.register("pc")["type"] == "registered"
    # A proof stays bound to the client's TLS.
    assert second.prove(Ed25519PrivateKey.generate(), f"wss://localhost:{port}")["code"] == "bad_proof"
    pairs_and_pushes(bellwire, authority, f"wss://localhost:{port}")
    for each in (first, second):
        each.close()


def test_nginx_shares_a_port_between_the_relay_and_sites(
    bellwire: Start, authority: Authority, proxies: Proxies, certificate: tuple[Path, Path]
) -> None:
    port, sites = free_port(), free_port()
    node = relay_with_certificate(bellwire, certificate, port)
    site = f"""http {{
        server {{
            listen 127.0.0.1:{sites} ssl proxy_protocol;
            ssl_certificate {certificate[0]};
            ssl_certificate_key {certificate[1]};
            return 200 "a site";
        }}
    }}
    """
    changes = {
        "listen 443;": f"listen 127.0.0.1:{port};", "127.0.0.1:9001;": f"127.0.0.1:{node.port};",
        "127.0.0.1:8443;": f"127.0.0.1:{sites};", "relay.example.org": "localhost",
    }  # fmt: skip
    proxies.nginx(SHARES + site, port, changes)
    pairs_and_pushes(bellwire, authority, f"wss://localhost:{port}")
    assert node.metric("bellwire_relay_proofs_refused_total") == 0
    # A client that asks for no name, or another one, gets to the sites.
    context = ssl.create_default_context(cafile=str(authority.file))
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
        with context.wrap_socket(stream, server_hostname="127.0.0.1") as tls:
            tls.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            answer = b""
            while piece := tls.recv(4096):
                answer += piece
    assert answer.endswith(b"a site")
