"""A relay that is run for others: access, reloads, proxies, metrics, the end, and what a crash leaves."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest
from certificates import Authority
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from peers import close_code
from programs import BELLWIRE
from relay_node import Node, Start, certificate_of, did_of, head, proxy_header, status
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

TOKEN, OTHER = "a-token-of-alice-and-her-phone", "a-token-of-bob-who-leaves-us"

CATALOGUE = Path(__file__).resolve().parents[2] / "Sources/Library/CABI/Bellwire.docc"

# How often the relay is killed here; the full length is in Tests/soak.sh.
KILLS = int(os.environ.get("BELLWIRE_RELAY_KILLS", "4"))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "ca")


# MARK: What it says of itself


def test_metrics_are_what_prometheus_takes_and_the_pages_tell_the_truth(bellwire: Start, tmp_path: Path) -> None:
    node = Node(bellwire, "--state-dir", tmp_path / "state")
    alice, bob = node.peer("alice"), node.peer("bob")
    alice.message("bob", 1)
    bob.next("message")
    alice.message("carol", 2)
    alice.next("peer-offline")
    alice.send(type="nonsense")
    alice.next("error")
    code, text = node.get("/metrics")
    assert code == 200
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0 and not checked.stdout and not checked.stderr, checked.stdout + checked.stderr
    assert node.metric("bellwire_relay_registered_ids") == 2
    assert node.metric("bellwire_relay_frames_forwarded_total") == 1
    assert node.metric("bellwire_relay_forwarded_bytes_total") > 40
    assert node.metric('bellwire_relay_frames_refused_total{reason="unknown_type"}') == 1
    assert node.metric("bellwire_relay_stored_frames") == 1
    node.wait("bellwire_relay_store_committed_total", lambda value: value == 1)
    node.wait("bellwire_relay_event_loop_delay_seconds_count", lambda value: value > 0)
    assert json.loads(node.get("/health")[1])["status"] == "healthy"
    assert (node.get("/ready")[0], json.loads(node.get("/ready")[1])) == (200, {"ready": True, "problems": []})
    assert node.get("/stats")[0] == 200 and node.get("/nothing")[0] == 404


def test_the_dashboard_and_the_alerts_use_metrics_that_there_are(bellwire: Start, tmp_path: Path) -> None:
    """The files for Grafana and Prometheus that the page offers; its table has the same alerts."""
    # With everything that has metrics, though there is no NATS.
    code, text = Node(bellwire, "--state-dir", tmp_path / "state", "--nats", "nats://127.0.0.1:1").get("/metrics")
    assert code == 200
    there = set(re.findall(r"^(bellwire_relay_\w+)", text, re.MULTILINE))
    rules = CATALOGUE / "relay-alerts.yml"
    alerts = re.findall(r"^ +expr: '(.*)'$", rules.read_text(), re.MULTILINE)
    table = re.findall(
        r"^\| .* \| `(.*bellwire_relay_.*)` \|$", (CATALOGUE / "RelayForOthers.md").read_text(), re.MULTILINE
    )
    assert alerts == table
    panels = json.loads((CATALOGUE / "relay-dashboard.json").read_text())["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    parsed = [expr.replace("$__rate_interval", "5m") for expr in shown]
    panel_rules = tmp_path / "panels.json"
    panel_rules.write_text(
        json.dumps({"groups": [{"name": "panels", "rules": [{"record": "panel", "expr": expr} for expr in parsed]}]})
    )
    for file in (rules, panel_rules):
        checked = subprocess.run(
            ["promtool", "check", "rules", "--lint=none", str(file)], capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
    used = set(re.findall(r"bellwire_relay_\w+", " ".join(alerts + shown)))
    assert len(panels) > 10 and used <= there, used - there


def test_the_log_is_one_json_object_a_line(bellwire: Start) -> None:
    node = Node(bellwire, "--log-format", "json")
    started = node.log("started")
    assert started["level"] == "info" and node.url in started["message"] and started["time"].endswith("Z")
    node.peer(TOKEN).settle()
    assert node.program.end(signal.SIGTERM) == 0
    entries = [json.loads(line) for line in node.program.err.all]
    assert [entry["event"] for entry in entries] == ["started", "draining"]
    assert TOKEN not in "".join(node.program.err.all)


def test_it_is_not_ready_when_no_more_connections_are_accepted(bellwire: Start) -> None:
    node = Node(bellwire, "--max-connections", "2")
    first, _ = node.peer("a"), node.peer("b")
    assert json.loads(node.get("/ready")[1]) == {"ready": False, "problems": ["not_accepting"]}
    assert json.loads(node.get("/health")[1])["status"] == "degraded"
    first.close()
    node.wait("bellwire_relay_connections", lambda value: value == 1)
    assert node.get("/ready")[0] == 200


# MARK: Its configuration


def test_options_come_from_a_file_and_the_command_line_wins(bellwire: Start, tmp_path: Path) -> None:
    file = tmp_path / "relay.json"
    file.write_text(json.dumps({"listen": "127.0.0.1:1", "max_frame_bytes": 5000, "log_format": "json"}))
    node = Node(bellwire, "--config", file)
    node.log("started")
    peer = node.peer("a")
    peer.message("b", "x" * 6000)
    assert close_code(peer.connection) == 1009


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"nonsense":1}', "nonsense"),
        ('{"drain_ms":"soon"}', "drain_ms"),
        ('{"proxy_protocol":true}', "trusted_proxies"),
        ('{"tokens_file":"/nonexistent/tokens"}', "/nonexistent/tokens"),
        (None, "absent.json"),
    ],
)
def test_a_wrong_configuration_ends_it_with_2_and_is_named(
    bellwire: Start, tmp_path: Path, text: str | None, named: str
) -> None:
    file = tmp_path / ("relay.json" if text is not None else "absent.json")
    if text is not None:
        file.write_text(text)
    program = bellwire("relay", "--listen", "127.0.0.1:0", "--no-health", "--config", file)
    assert program.wait() == 2
    assert named in "\n".join(program.err.all)


# MARK: Who may connect


def test_a_token_opens_the_door_and_a_revoked_one_closes_it_again(bellwire: Start, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# alice\n{TOKEN}\n{OTHER}\n")
    node = Node(bellwire, "--tokens-file", tokens, "--log-format", "json")
    for url, headers in [("/", None), ("/?access_token=wrong-wrong-wrong", None), ("/", {"Authorization": "Bearer x"})]:
        with pytest.raises(InvalidStatus) as refused:
            connect(node.url + url, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 401
        assert refused.value.response.headers["WWW-Authenticate"] == "Bearer"
    alice = node.peer("alice", additional_headers={"Authorization": f"Bearer {TOKEN}"})
    node.url += f"/?access_token={OTHER}"
    bob = node.peer("bob")
    assert node.metric('bellwire_relay_connections_refused_total{reason="missing_token"}') == 1
    assert node.metric('bellwire_relay_connections_refused_total{reason="wrong_token"}') == 2

    tokens.write_text(f"{TOKEN}\n")
    node.program.process.send_signal(signal.SIGHUP)
    assert "1 connections of revoked tokens" in node.log("reloaded")["message"]
    assert close_code(bob.connection) == 1008
    with pytest.raises(InvalidStatus):
        node.peer()
    alice.settle()

    # A file that is wrong changes nothing.
    for text in ("short\n", None):
        tokens.write_text(text) if text is not None else tokens.unlink()
        node.program.process.send_signal(signal.SIGHUP)
        assert "keeps the previous lists" in node.log("lists_not_reloaded")["message"]
        node.log("reloaded")
    alice.settle()
    assert TOKEN not in "".join(node.program.err.all)


@pytest.mark.parametrize("how", ["an option is gone", "the file is another"])
def test_a_reload_never_opens_a_relay_that_had_a_list(bellwire: Start, tmp_path: Path, how: str) -> None:
    tokens, ids, config = tmp_path / "tokens", tmp_path / "ids", tmp_path / "relay.json"
    tokens.write_text(f"{TOKEN}\n")
    ids.write_text("alice\n")
    config.write_text(json.dumps({"tokens_file": str(tokens), "allowed_ids_file": str(ids)}))
    node = Node(bellwire, "--config", config, "--log-format", "json")
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    alice = node.peer("alice", additional_headers=bearer)
    config.write_text("{}" if how == "an option is gone" else json.dumps({"max_frame_bytes": 100_000}))
    node.program.process.send_signal(signal.SIGHUP)
    message = node.log("access_not_reloaded")["message"]
    assert "tokens_file and allowed_ids_file" in message and "restart" in message
    node.log("reloaded")
    with pytest.raises(InvalidStatus) as refused:
        connect(node.url, proxy=None)
    assert refused.value.response.status_code == 401
    alice.settle()
    # The list that is kept is compared again, and a new one replaces it.
    tokens.write_text(f"{OTHER}\n")
    config.write_text(json.dumps({"tokens_file": str(tokens)}))
    node.program.process.send_signal(signal.SIGHUP)
    assert "1 connections of revoked tokens" in node.log("reloaded")["message"]


def test_desktops_and_devices_pair_over_a_url_with_a_token_and_never_log_it(bellwire: Start, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n")
    node = Node(bellwire, "--tokens-file", tokens, "--verbose")
    url = f"{node.url}/?access_token={TOKEN}"
    desktop = bellwire("desktop", "--relay-url", url, "--qr-text", "--verbose")
    desktop.error_line(r"registered at")
    pair = bellwire("pair", desktop.line(r"^\{.*desktop-pairing.*").group(), "--verbose")
    assert pair.wait() == 0, pair.err.all
    send = bellwire("send", "Over a relay", "with a token", "--verbose")
    assert send.wait() == 0, send.err.all
    for program in (desktop, pair, send, node.program):
        assert TOKEN not in "\n".join(program.err.all)


def test_only_ids_on_the_list_register(bellwire: Start, tmp_path: Path) -> None:
    ids = tmp_path / "ids"
    ids.write_text("alice\nbob\n")
    node = Node(bellwire, "--allowed-ids-file", ids, "--log-format", "json")
    alice, bob = node.peer("alice"), node.peer("bob")
    assert node.peer().register("mallory")["code"] == "not_allowed"
    ids.write_text("alice\ncarol\n")
    node.program.process.send_signal(signal.SIGHUP)
    node.log("reloaded")
    assert close_code(bob.connection) == 1008
    node.peer("carol").message("alice", 1)
    assert alice.next("message")["from"] == "carol"


# MARK: A reload


def test_a_reload_takes_over_limits_and_certificate_and_drops_nobody(
    bellwire: Start, tmp_path: Path, authority: Authority
) -> None:
    (first, first_key), (second, second_key) = (authority.issue(name, "IP:127.0.0.1") for name in ("one", "two"))
    certificate, key, config = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "relay.json"
    certificate.write_bytes(first.read_bytes())
    key.write_bytes(first_key.read_bytes())
    config.write_text('{"max_stored_per_peer":3}')
    node = Node(
        bellwire, "--tls-certificate", certificate, "--tls-key", key, "--config", config, "--log-format", "json"
    )
    context = ssl.create_default_context(cafile=str(authority.file))
    alice, bob = node.peer("alice", ssl=context), node.peer("bob", ssl=context)
    before = certificate_of(node.port)

    certificate.write_bytes(second.read_bytes())
    key.write_bytes(second_key.read_bytes())
    config.write_text('{"max_stored_per_peer":1}')
    node.program.process.send_signal(signal.SIGHUP)
    node.log("reloaded")
    after = certificate_of(node.port)
    assert after != before

    # Files that cannot be read, or do not belong together, change nothing.
    for break_it in (lambda: key.write_bytes(first_key.read_bytes()), certificate.unlink):
        break_it()
        node.program.process.send_signal(signal.SIGHUP)
        assert "keeps the previous one" in node.log("certificate_not_reloaded")["message"]
        node.log("reloaded")
        assert certificate_of(node.port) == after
    config.write_text("{")
    node.program.process.send_signal(signal.SIGHUP)
    assert "keeps the previous options" in node.log("not_reloaded")["message"]

    alice.message("bob", 1)
    assert bob.next("message")["payload"] == 1
    for number in range(3):
        alice.message("carol", number)
        alice.next("peer-offline")
    assert node.metric("bellwire_relay_stored_frames") == 1
    assert node.metric("bellwire_relay_connections_total") == 2 + 0


def test_what_needs_a_restart_is_said(bellwire: Start, tmp_path: Path) -> None:
    config = tmp_path / "relay.json"
    config.write_text("{}")
    node = Node(bellwire, "--config", config, "--log-format", "json")
    peer = node.peer("a")
    config.write_text(json.dumps({"state_dir": str(tmp_path / "state"), "reuse_port": True}))
    node.program.process.send_signal(signal.SIGHUP)
    assert "state_dir, reuse_port" in node.log("needs_restart")["message"]
    peer.settle()


def test_a_client_resumes_its_tls_session(bellwire: Start, tmp_path: Path, authority: Authority) -> None:
    certificate, key = authority.issue("relay", "IP:127.0.0.1")
    node = Node(bellwire, "--tls-certificate", certificate, "--tls-key", key)
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{node.port}", "-CAfile", authority.file, "-ign_eof"]
    session = tmp_path / "session"
    for option, said in (("-sess_out", "New, "), ("-sess_in", "Reused, ")):
        ran = subprocess.run(
            [*command, option, session], input=b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            capture_output=True, timeout=30,
        )  # fmt: skip
        assert said.encode() in ran.stdout, ran.stdout
    assert node.metric('bellwire_relay_tls_handshakes_total{result="resumed"}') == 1
    assert status(node.port, b"GET / HTTP/1.1\r\n\r\n") is None
    node.wait('bellwire_relay_tls_handshakes_total{result="failed"}', lambda value: value == 1)


# MARK: Proxies


def test_x_forwarded_for_counts_from_trusted_proxies_only(bellwire: Start) -> None:
    limits = ["--max-unregistered-per-address", "2"]
    node = Node(bellwire, "--trusted-proxy", "127.0.0.1", *limits)
    kept = []
    for client, expected in [
        ("192.0.2.1", 101), ("192.0.2.1", 101), ("192.0.2.1", 429), ("6.6.6.6, 192.0.2.1", 429), ("192.0.2.2", 101),
    ]:  # fmt: skip
        stream = socket.create_connection(("127.0.0.1", node.port), timeout=10)
        kept.append(stream)
        stream.sendall(head("/", f"X-Forwarded-For: {client}\r\n"))
        assert int(stream.recv(4096).split()[1]) == expected, client
    # Who is not trusted says what it likes: it stays itself, loopback, without a limit.
    open_node = Node(bellwire, "--trusted-proxy", "192.0.2.0/24", *limits)
    for _ in range(4):
        stream = socket.create_connection(("127.0.0.1", open_node.port), timeout=10)
        kept.append(stream)
        stream.sendall(head("/", "X-Forwarded-For: 192.0.2.1\r\n"))
        assert int(stream.recv(4096).split()[1]) == 101


def test_a_proxy_header_names_the_client_before_tls_and_in_any_pieces(bellwire: Start, authority: Authority) -> None:
    certificate, key = authority.issue("relay", "IP:127.0.0.1")
    options = ["--trusted-proxy", "127.0.0.1", "--proxy-protocol", "--max-unregistered-per-address", "1"]
    node = Node(bellwire, *options, "--tls-certificate", certificate, "--tls-key", key)
    context = ssl.create_default_context(cafile=str(authority.file))
    kept = []
    for client, expected in [("192.0.2.1", 101), ("192.0.2.1", None), ("192.0.2.2", 101)]:
        stream = socket.create_connection(("127.0.0.1", node.port), timeout=10)
        for byte in proxy_header(client):
            stream.sendall(bytes([byte]))
        try:
            tls = context.wrap_socket(stream, server_hostname="127.0.0.1")
            tls.sendall(head("/"))
            answer = tls.recv(4096)
        except (ssl.SSLError, ConnectionError):
            answer = b""
        kept.append(stream)
        found = int(answer.split()[1]) if answer else None
        assert found in ((expected,) if expected else (None, 429)), (client, found)
        if answer:
            kept.append(tls)


def test_a_proxy_header_is_refused_where_it_is_wrong_or_not_trusted(bellwire: Start) -> None:
    node = Node(bellwire, "--trusted-proxy", "127.0.0.1", "--proxy-protocol")
    request = head("/")
    assert status(node.port, proxy_header("192.0.2.1") + request) == 101
    assert status(node.port, proxy_header("192.0.2.1", command=0x20), request) == 101
    assert status(node.port, b"PROXY TCP4 192.0.2.1 127.0.0.1 1 2\r\n" + request) == 101
    for wrong in (request, b"PROXY TCP4 192.0.2.1 127.0.0.1 1\r\n" + request, proxy_header("1.2.3.4", 0x31)):
        assert status(node.port, wrong) is None
    assert node.metric('bellwire_relay_connections_refused_total{reason="proxy_header"}') == 3
    # From anywhere else it is not even read.
    strict = Node(bellwire, "--trusted-proxy", "192.0.2.0/24", "--proxy-protocol")
    assert status(strict.port, proxy_header("192.0.2.1") + request) == 400
    assert status(strict.port, request) == 101


def test_slow_requests_hold_up_nobody_and_end(bellwire: Start) -> None:
    node = Node(bellwire, "--trusted-proxy", "127.0.0.2", "--proxy-protocol")
    peer = node.peer("a")
    began = time.monotonic()
    # One sends its request byte by byte; the other is a proxy that does not say whom it speaks for.
    slow = socket.create_connection(("127.0.0.1", node.port), timeout=30)
    silent = socket.create_connection(("127.0.0.1", node.port), timeout=30, source_address=("127.0.0.2", 0))
    silent.sendall(proxy_header("192.0.2.1")[:5])
    pieces = iter(head("/", "X: " + "x" * 1000))
    while not ended(slow):
        assert time.monotonic() - began < 25, "still open"
        try:
            slow.sendall(bytes([next(pieces)]))
        except ConnectionError:
            break
        peer.settle()
    assert time.monotonic() - began > 8
    while not ended(silent):
        assert time.monotonic() - began < 25, "still open"
        peer.settle()


def ended(stream: socket.socket) -> bool:
    """Whether the other side has closed; looks for 50 ms."""
    stream.settimeout(0.05)
    try:
        return stream.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


# MARK: The end


def test_sigterm_closes_connections_over_its_time_and_new_ones_go_to_the_next_relay(
    bellwire: Start, tmp_path: Path
) -> None:
    old = Node(bellwire, "--reuse-port", "--drain-ms", "1500", "--log-format", "json")
    peers = [old.peer(f"p{number}") for number in range(150)]
    new = Node(bellwire, "--reuse-port", listen=f"127.0.0.1:{old.port}")
    old.program.process.send_signal(signal.SIGTERM)
    old.log("draining")
    code, text = old.get("/ready")
    assert (code, json.loads(text)["problems"]) == (503, ["draining"])
    for number in range(20):
        new.peer(f"q{number}")
    times = set()
    for peer in peers:
        times.add(peer.next("server-shutdown", timeout=15)["timestamp"])
        with pytest.raises(ConnectionClosed) as closed:
            peer.connection.recv(timeout=15)
        assert closed.value.rcvd and closed.value.rcvd.code == 1001
    assert len(times) > 10, "all at once"
    assert old.program.wait() == 0
    assert new.metric("bellwire_relay_registered_ids") == 20


def test_the_service_manager_hears_what_happens(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "notify"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(path))
    manager.settimeout(15)

    def said() -> dict[str, str]:
        return dict(line.split("=", 1) for line in manager.recv(4096).decode().splitlines())

    os.environ["NOTIFY_SOCKET"] = str(path)
    os.environ["WATCHDOG_USEC"] = "100000"
    try:
        program = start(BELLWIRE, "relay", "--listen", "127.0.0.1:0", "--no-health")
    finally:
        del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
    assert said()["READY"] == "1"
    program.line("Relay at")
    assert said() == {"WATCHDOG": "1"}
    program.process.send_signal(signal.SIGHUP)
    while "RELOADING" not in (message := said()):
        assert message == {"WATCHDOG": "1"}
    assert int(message["MONOTONIC_USEC"]) > 0
    while "READY" not in (message := said()):
        assert message == {"WATCHDOG": "1"}
    program.process.send_signal(signal.SIGTERM)
    while "STOPPING" not in (message := said()):
        assert message == {"WATCHDOG": "1"}
    assert int(message["EXTEND_TIMEOUT_USEC"]) >= 5_000_000
    assert program.wait() == 0


def test_sockets_of_the_service_manager_are_taken_over_and_outlive_it(tmp_path: Path) -> None:
    peers, health = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    port, page = peers.getsockname()[1], health.getsockname()[1]
    script = 'exec 3<&"$0" 4<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=peers:health exec "$@"'
    numbers = [os.dup(peers.fileno()), os.dup(health.fileno())]
    for number in numbers:
        os.set_inheritable(number, True)

    def run() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["bash", "-c", script, str(numbers[0]), str(numbers[1]), BELLWIRE, "relay", "--listen", "127.0.0.1:1"],
            pass_fds=numbers, stdout=subprocess.PIPE,
        )  # fmt: skip

    # Before it runs, newcomers wait.
    waiting = socket.create_connection(("127.0.0.1", port), timeout=20)
    waiting.sendall(head("/"))
    for _ in range(2):
        program = run()
        assert int(waiting.recv(4096).split()[1]) == 101
        assert status(page, b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n") == 200
        program.send_signal(signal.SIGTERM)
        assert program.wait(15) == 0
        waiting = socket.create_connection(("127.0.0.1", port), timeout=20)
        waiting.sendall(head("/"))


# MARK: What a crash leaves


def test_stored_messages_and_proofs_survive_kill_9(bellwire: Start, tmp_path: Path) -> None:
    """Whatever the relay says that it has committed is there after a kill, in order and once."""
    keys: list[Ed25519PrivateKey] = []
    committed: list[int] = []
    sent: list[int] = []
    for kill in range(KILLS):
        node = Node(bellwire, "--state-dir", tmp_path / "state")
        for key in keys[-3:]:
            assert node.peer().register(did_of(key))["code"] == "proof_required", "a proof was forgotten"
        if kill % 3 == 2:
            bob = node.peer("bob")
            got = [frame["originalMessage"]["payload"] for frame in bob.until_settled("offline-message")]
            assert got == sorted(set(got)) and set(committed) <= set(got) <= set(sent), (committed, got)
            node.wait("bellwire_relay_store_pending", lambda value: value == 0)
            bob.close()
            node.wait("bellwire_relay_stored_frames", lambda value: value == 0)
            committed, sent = [], []
        alice = node.peer("alice")
        batch = list(range(kill * 100, kill * 100 + 30))
        for number in batch:
            alice.message("bob", number)
        key = Ed25519PrivateKey.generate()
        assert node.peer().prove(key, node.url)["type"] == "registered"
        keys.append(key)
        alice.settle()
        # Perhaps not all of them: the kill comes with the first group.
        node.wait("bellwire_relay_store_committed_total", lambda value: value > 0)
        count = int(node.metric("bellwire_relay_store_committed_total"))
        node.program.kill()
        committed += batch[:count]
        sent += batch
    node = Node(bellwire, "--state-dir", tmp_path / "state")
    assert [node.peer().register(did_of(key))["code"] for key in keys] == ["proof_required"] * KILLS


def test_a_full_disk_is_said_and_overcome_and_live_messages_do_not_care(bellwire: Start, tmp_path: Path) -> None:
    node = Node(bellwire, "--state-dir", tmp_path / "state", "--log-format", "json")
    alice, bob = node.peer("alice"), node.peer("bob")
    resource.prlimit(node.program.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    alice.message("carol", "kept")
    assert alice.next("peer-offline")["peerId"] == "carol"
    assert "retries" in node.log("store_failing")["message"]
    assert json.loads(node.get("/ready")[1])["problems"] == ["store_failing"]
    assert json.loads(node.get("/health")[1])["status"] == "degraded"
    assert node.metric("bellwire_relay_store_failing") == 1
    alice.message("bob", "live")
    assert bob.next("message")["payload"] == "live"
    # A new id is registered all the same; that it could not be kept is said.
    key = Ed25519PrivateKey.generate()
    assert node.peer().prove(key, node.url)["type"] == "registered"
    assert "cannot store proved ids" in node.log("relay")["message"]
    resource.prlimit(node.program.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    node.log("store_recovered")
    assert node.get("/ready")[0] == 200
    assert node.peer().prove(key, node.url)["type"] == "registered"
    node.program.kill()
    again = Node(bellwire, "--state-dir", tmp_path / "state")
    assert again.peer("carol").next("offline-message")["originalMessage"]["payload"] == "kept"
    assert again.peer().register(did_of(key))["code"] == "proof_required"


def test_frames_that_leave_while_the_disk_is_full_leave_a_store_that_works(bellwire: Start, tmp_path: Path) -> None:
    node = Node(bellwire, "--state-dir", tmp_path / "state", "--log-format", "json")
    alice = node.peer("alice")
    resource.prlimit(node.program.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    alice.message("carol", 1)
    node.log("store_failing")
    carol = node.peer("carol")
    assert len(carol.until_settled("offline-message")) == 1
    # Nothing is left to write.
    node.log("store_recovered")
    resource.prlimit(node.program.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    alice.message("dave", 2)
    node.wait("bellwire_relay_store_committed_total", lambda value: value == 1)


def test_the_file_of_stored_frames_has_a_bound(bellwire: Start, tmp_path: Path) -> None:
    node = Node(
        bellwire, "--state-dir", tmp_path / "state", "--max-disk-bytes", str(1 << 20), "--log-format", "json",
    )  # fmt: skip
    alice = node.peer("alice")
    for number in range(40):
        alice.message(f"p{number % 4}", "x" * 60_000)
        alice.next("peer-offline")
    node.log("store_failing")
    assert (tmp_path / "state" / "frames.db").stat().st_size <= 1 << 20
    # When peers have fetched what is theirs, there is room again.
    for number in range(4):
        peer = node.peer(f"p{number}")
        assert len(peer.until_settled("offline-message")) == 10
    node.log("store_recovered")
    node.wait("bellwire_relay_store_pending", lambda value: value == 0)


@pytest.mark.parametrize("name", ["frames.db", "relay.db"])
def test_a_damaged_database_is_moved_aside_and_said(bellwire: Start, tmp_path: Path, name: str) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / name).write_bytes(b"not a database" * 1000)
    node = Node(bellwire, "--state-dir", state, "--log-format", "json")
    assert f"{name}.damaged-" in node.log("database_damaged")["message"]
    alice = node.peer("alice")
    alice.message("bob", 1)
    alice.next("peer-offline")
    node.wait("bellwire_relay_store_committed_total", lambda value: value == 1)
    assert list(state.glob(f"{name}.damaged-*"))


def test_memory_only_keeps_nothing(bellwire: Start) -> None:
    node = Node(bellwire, "--state-dir", ":memory:")
    alice = node.peer("alice")
    alice.message("bob", 1)
    alice.next("peer-offline")
    assert "bellwire_relay_store_committed_total" not in node.get("/metrics")[1]
