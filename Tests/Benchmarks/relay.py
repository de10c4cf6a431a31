"""Runs the relay, raw forwarding, mosquitto and nats-server in turn, and compares medians. Started by relay.sh."""

import argparse
import contextlib
import getpass
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from websockets.sync.client import connect

sys.path.append(str(Path(__file__).parent.parent / "Integration"))
from certificates import Authority  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server process on loopback, ready when it accepts."""

    def __init__(self, name, protocol, command, port):
        self.name, self.protocol, self.port = name, protocol, port
        self.other = self.health = None
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            if self.process.poll() is not None:
                sys.exit(f"{name} ended at once (status {self.process.returncode}): {' '.join(command)}")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit(f"{name} does not listen on port {port}")
                time.sleep(0.02)

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def kill(self):
        """As a crash: nothing is written any more."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Bench:
    def __init__(self, options):
        self.options = options
        self.missed = []
        self.broken = False

    # Servers

    def relay(self, *options, name="bellwire", port=None):
        """A relay that is ready: one of a cluster can reach the others then."""
        port, health = port or free_port(), free_port()
        command = [self.options.program, "relay", "--listen", f"127.0.0.1:{port}", "--health", f"127.0.0.1:{health}"]
        server = Server(name, "websocket", [*command, *options], port)
        server.health = health
        self.await_ready(health)
        return server

    def member(self, nats, node, name, port=None):
        """A relay of a cluster."""
        folder = os.path.join(self.options.work, node)
        options = ("--node", node, "--nats", f"nats://127.0.0.1:{nats.port}", "--state-dir", folder)
        return self.relay(*options, name=name, port=port)

    def nats(self, *options):
        found = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not found:
            return None
        port = free_port()
        return Server("nats-server", "nats", [found, "-a", "127.0.0.1", "-p", str(port), *options], port)

    def cluster(self):
        """A NATS server, and two relays that it connects; the first one knows the other. None without nats-server."""
        nats = self.nats("-js", "-sd", os.path.join(self.options.work, "nats"))
        if not nats:
            return None
        relays = [self.member(nats, node, "two relays") for node in ("one", "two")]
        relays[0].other = relays[1]
        return nats, relays

    @staticmethod
    def await_ready(health):
        deadline = time.monotonic() + 10
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{health}/ready", timeout=1).close()
                return
            except urllib.error.URLError as error:
                if time.monotonic() > deadline:
                    sys.exit(f"the relay is not ready: {error}")
                time.sleep(0.02)

    def raw(self):
        port = free_port()
        return Server("raw forwarding", "raw", [self.options.forward, str(port)], port)

    def mosquitto(self, *lines, name="mosquitto", port=None):
        """Without lines of its configuration nothing is stored: its best case. It never limits anything."""
        found = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not found:
            return None
        port = port or free_port()
        config = os.path.join(self.options.work, "mosquitto.conf")
        with open(config, "w") as out:
            out.write(
                f"listener {port} 127.0.0.1\nallow_anonymous true\nuser {getpass.getuser()}\nlog_type none\n"
                "max_queued_messages 0\nmax_inflight_messages 0\nset_tcp_nodelay true\n"
            )
            for line in lines or ("persistence false",):
                out.write(f"{line}\n")
        return Server(name, "mqtt", [found, "-c", config], port)

    # Runs

    def load(self, server, run, may_lose=False, **numbers):
        """A run's result; None when it broke, or a message did not arrive once, in order and unaltered.

        `may_lose`: messages may be missing. That says something about the server, not that the run broke.
        """
        command = [self.options.load, run, server.protocol]
        numbers = {"port": server.port, "pid": server.process.pid, **numbers}
        if server.other:
            numbers |= {"other_port": server.other.port, "other_pid": server.other.process.pid}
        for name, number in numbers.items():
            command += [f"--{name.replace('_', '-')}", str(number)]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            result = {"ok": False, "error": done.stderr.strip() or f"status {done.returncode}"}
        if not result["ok"] and not (may_lose and "arrived" in result):
            self.broken = True
            print(f"  {server.name} {run}: {result.get('error', result)}")
            return None
        return result

    def in_turn(self, servers, rounds, run, **numbers):
        """A B A B …: what disturbs the machine disturbs all alike. The results of each server, by its name."""
        results = {server.name: [] for server in servers}
        for _ in range(rounds):
            for server in servers:
                if result := self.load(server, run, **numbers):
                    results[server.name].append(result)
        return results

    def check(self, what, value, bound, at_least, unit="×"):
        """The short form has no bounds: its runs are too short to tell a slow relay from a busy machine."""
        if self.options.short:
            print(f"  {what}: {value:.2f} {unit}")
            return
        held = value >= bound if at_least else value <= bound
        print(
            f"  {'ok    ' if held else 'MISSED'} {what}: {value:.2f} {unit} (bound {'≥' if at_least else '≤'} {bound:g})"
        )
        if not held:
            self.missed.append(what)

    # What is measured

    def throughput(self, servers, window=16):
        rounds, run_ms, warm_up_ms = (2, 800, 200) if self.options.short else (5, 3000, 1000)
        print(f"throughput, 8 pairs, window {window}, 400 bytes")
        results = self.in_turn(
            servers, rounds, "throughput", pairs=8, window=window, size=400, run_ms=run_ms, warm_up_ms=warm_up_ms
        )
        medians = self.report(results, "messages_per_s", "messages/s", "{:.0f}")
        cpu = self.report(results, "server_cpu_us", "µs of CPU a message", "{:.2f}")
        if window == 16 and cpu.get("raw forwarding") and cpu.get("bellwire"):
            self.check("CPU against raw forwarding", cpu["bellwire"] / cpu["raw forwarding"], 2.2, False)
        if cpu.get("nats-server") and cpu.get("bellwire"):
            bound = 0.6 if window == 16 else 0.7
            self.check("CPU against nats-server", cpu["bellwire"] / cpu["nats-server"], bound, False)
        if medians.get("raw forwarding") and medians.get("bellwire"):
            self.check("throughput against raw forwarding", medians["bellwire"] / medians["raw forwarding"], 0.3, True)
        if medians.get("mosquitto") and medians.get("bellwire"):
            self.check("throughput against mosquitto QoS 0", medians["bellwire"] / medians["mosquitto"], 3, True)

    def latency(self, servers):
        rounds, run_ms = (3, 500) if self.options.short else (7, 4000)
        print("latency, 1,000 messages/s, beside 2,000 idle peers")
        results = self.in_turn(
            servers, rounds, "latency", rate=1000, idle=2000, size=400, run_ms=run_ms, warm_up_ms=500
        )
        medians = self.report(results, "p50_us", "µs p50", "{:.1f}")
        if medians.get("raw forwarding") and medians.get("bellwire"):
            self.check("p50 against raw forwarding", medians["bellwire"] / medians["raw forwarding"], 1.4, False)

    def registrations(self):
        rounds = 3 if self.options.short else 7
        print("1,000 registrations at once, each time at a new relay")
        times, sizes = [], []
        for _ in range(rounds):
            relay = self.relay()
            try:
                before = relay.rss_kib()
                if result := self.load(relay, "registrations", idle=1000):
                    times.append(result["registration_ms"])
                    sizes.append((result["server_rss_kib"] - before) / 1000)
            finally:
                relay.stop()
        if times:
            print(f"  all: {', '.join(f'{t:.0f}' for t in times)} ms")
            self.check("1,000 registrations", statistics.median(times), 150, False, "ms")
            self.check(
                "an idle connection, what the first ones cost once included", statistics.median(sizes), 8, False, "KiB"
            )

    def coming_back(self, name, start, kib, within_s=None, **numbers):
        """All peers of a relay that was killed come back at once, each with a proof of its id."""
        count = 500 if self.options.short else 15_000
        port = free_port()
        times, sizes = [], []
        for attempt in range(2 if self.options.short else 4):
            relay = start(port)
            try:
                before = relay.rss_kib()
                if result := self.load(relay, "registrations", idle=count, proved=1, **numbers):
                    # The first time they are new.
                    if attempt:
                        times.append(result["of_95_percent_ms"])
                    sizes.append((result["server_rss_kib"] - before) / count)
            finally:
                relay.kill()
        if times:
            print(f"{count} peers come back to {name} and prove their ids: 95 % of them after")
            print(f"  {', '.join(f'{t:.0f}' for t in times)} ms")
            if within_s:
                self.check("95 % are back", statistics.median(times) / 1_000, within_s, False, "s")
            what = "an idle wss connection" if "tls" in numbers else "an idle connection of a proved peer"
            print(f"  {what}: {', '.join(f'{size:.1f}' for size in sizes)} KiB")
            self.check(what, statistics.median(sizes), kib, False, "KiB")

    def returns(self):
        folder = os.path.join(self.options.work, "back")
        self.coming_back("a relay", lambda port: self.relay("--state-dir", folder, port=port), kib=2.5, within_s=7)
        certificate, key = Authority(Path(self.options.work, "authority")).issue("relay", "IP:127.0.0.1")
        tls = ("--tls-certificate", str(certificate), "--tls-key", str(key), "--state-dir", folder)
        # Idle for some seconds: what the handshakes took may go back to the system.
        self.coming_back("a relay over TLS", lambda port: self.relay(*tls, port=port), kib=20, tls=1, settle_ms=3000)
        started = self.cluster()
        if not started:
            return
        nats, relays = started
        try:
            self.coming_back(
                "one relay of three",
                lambda port: self.member(nats, "three", "a relay of three", port=port),
                kib=2.5,
                within_s=7,
            )
        finally:
            for server in (*relays, nats):
                server.stop()

    def storing_relay(self, folder=None, name="bellwire", port=None):
        """A relay whose limits no run reaches: one network may use a quarter of them."""
        options = ["--max-absent-peers", "100000", "--max-stored-bytes", str(1 << 30)]
        return self.relay(*options, *(("--state-dir", folder) if folder else ()), name=name, port=port)

    def stores(self):
        """Messages to absent peers until all are on disk, against those that mosquitto has accepted at QoS 1.

        The relay has a frame on disk within about 10 ms. mosquitto writes all that it stores into a new file: by default
        every 30 minutes, so a crash loses everything since; and at most once a second, or after so many changes.
        """
        rounds, count = (2, 80) if self.options.short else (5, 2_000)
        print(f"{100 * count:,} messages of 400 bytes to {count:,} absent peers, until they are stored")
        results = {}
        run_number = 0
        for turn in range(rounds):
            kinds = [
                ("bellwire", count, None),
                ("mosquitto QoS 1", count, ["persistence true"]),
                ("mosquitto QoS 1, autosave_interval 1", count, ["persistence true", "autosave_interval 1"]),
            ]
            if turn == 0:
                # As often as the relay does at 100,000 messages/s. Slow, and slower the more it stores: once, and fewer.
                lines = ["persistence true", "autosave_on_changes true", "autosave_interval 1000"]
                kinds.append(("mosquitto QoS 1, written every 1,000 changes", count // 10, lines))
            for name, absent, lines in kinds:
                run_number += 1
                if result := self.stored_and_drained(name, absent, lines, run_number):
                    results.setdefault(name, []).append(result)
        if not results.get("bellwire"):
            return
        medians = self.report(results, "messages_per_s", "messages/s", "{:.0f}")
        self.report(results, "server_cpu_us", "µs of CPU a message", "{:.2f}")
        self.report(results, "survived", "% survive kill -9", "{:.2f}")
        if "mosquitto QoS 1" in medians:
            ratio = medians["bellwire"] / medians["mosquitto QoS 1"]
            self.check("durable messages against mosquitto QoS 1 with persistence", ratio, 1, True)
        for name in medians:
            if "," in name:
                print(f"  against {name}: {medians['bellwire'] / medians[name]:.2f} ×")

    def stored_and_drained(self, name, absent, lines, run_number):
        """A new server stores messages, is killed, starts again, and delivers what it has. None if it is not installed."""
        folder = os.path.join(self.options.work, f"stored-{run_number}")
        os.mkdir(folder, mode=0o700)
        numbers = {"pairs": 8, "idle": absent, "run_number": run_number}

        def start(port=None):
            if not lines:
                return self.storing_relay(folder, name, port)
            return self.mosquitto(*lines, f"persistence_location {folder}/", name=name, port=port)

        numbers |= {"qos": 1} if lines else {}
        server = start()
        if not server:
            return None
        try:
            health = {} if lines else {"health": server.health}
            result = self.load(server, "store", window=64, **numbers, **health)
            server.kill()
            if not result:
                return None
            server = start(server.port)
            drained = self.load(server, "drain", may_lose=bool(lines), **numbers)
            if not drained:
                return None
            return result | {"survived": 100 * drained["arrived"] / (100 * absent)}
        finally:
            server.kill()
            shutil.rmtree(folder)

    def beside_stores(self):
        """Latency between peers that are online while another client sends messages that are stored."""
        rounds, run_ms = (1, 400) if self.options.short else (5, 6000)
        print("latency, 1,000 messages/s, beside 1,000 messages/s to absent peers, by turns")
        results = {}
        for turn in range(rounds):
            # New processes: where the kernel puts one has more effect than what it does.
            on_disk = self.storing_relay(os.path.join(self.options.work, f"beside-{turn}"))
            on_disk.other = in_memory = self.storing_relay()
            try:
                if result := self.load(on_disk, "beside", rate=1000, size=400, run_ms=run_ms):
                    for name, of_way in result["ways"].items():
                        results.setdefault(name, []).append(of_way)
            finally:
                in_memory.stop()
                on_disk.stop()
        p50 = self.report(results, "p50_us", "µs p50", "{:.1f}")
        self.report(results, "p99_us", "µs p99", "{:.1f}")
        if p50:
            ratios = [a["p50_us"] / b["p50_us"] for a, b in zip(results["on disk"], results["in memory"], strict=True)]
            self.check(
                "p50 beside durable messages, against the same in memory", statistics.median(ratios), 1.05, False
            )
            print(f"  against nothing stored: {p50['on disk'] / p50['nothing stored']:.2f} ×")

    def absence(self):
        """After a relay was killed: how long until another one says that a peer of it is absent, asked every millisecond."""
        times = []
        for _ in range(3 if self.options.short else 20):
            started = self.cluster()
            if not started:
                return
            nats, (here, there) = started
            try:
                alice, bob = (connect(f"ws://127.0.0.1:{relay.port}", proxy=None) for relay in (here, there))
                for name, peer in (("alice", alice), ("bob", bob)):
                    peer.send(json.dumps({"type": "register", "peerId": name}))
                    while json.loads(peer.recv(timeout=10))["type"] != "registered":
                        pass
                there.process.kill()
                begin = time.monotonic()
                answer = None
                while not answer:
                    alice.send('{"type":"message","to":"bob","payload":1}')
                    with contextlib.suppress(TimeoutError):
                        answer = alice.recv(timeout=0.001)
                if json.loads(answer)["type"] != "peer-offline":
                    sys.exit(f"the relay answers {answer}")
                times.append(1_000 * (time.monotonic() - begin))
            finally:
                for server in (here, there, nats):
                    server.stop()
        print(f"a peer is absent once its relay was killed: {', '.join(f'{t:.1f}' for t in times)} ms")
        self.check("the longest until that is known", max(times), 50, False, "ms")

    def crossing(self, local):
        """Messages between peers of two relays, against those between peers of one."""
        started = self.cluster()
        if not started:
            print("nats-server is not installed: two relays are not measured")
            return
        nats, relays = started
        try:
            rounds, run_ms = (2, 500) if self.options.short else (5, 3000)
            servers = [local, relays[0]]
            print("two relays that work together, 8 pairs, window 16, 400 bytes")
            results = self.in_turn(
                servers, rounds, "throughput", pairs=8, window=16, size=400, run_ms=run_ms, warm_up_ms=500
            )
            self.report(results, "messages_per_s", "messages/s", "{:.0f}")
            cpu = self.report(results, "server_cpu_us", "µs of CPU a message, in all relays", "{:.2f}")
            if len(cpu) == 2:
                self.check("CPU of both relays against one", cpu["two relays"] / cpu["bellwire"], 1.6, False)
            print("the same, 1,000 messages/s")
            results = self.in_turn(servers, rounds, "latency", rate=1000, size=400, run_ms=run_ms, warm_up_ms=500)
            p50 = self.report(results, "p50_us", "µs p50", "{:.1f}")
            done = subprocess.run(
                [self.options.ping, str(nats.port), "2000"], capture_output=True, text=True, check=True
            )
            ping = json.loads(done.stdout)["p50_us"]
            print(f"  a ping of the NATS server: {ping:.1f} µs p50")
            if len(p50) == 2:
                self.check(
                    "what crossing adds, against that ping", (p50["two relays"] - p50["bellwire"]) / ping, 4, False
                )
        finally:
            for server in (*relays, nats):
                server.stop()

    def report(self, results, value, unit, form):
        medians = {}
        for name, of_server in results.items():
            values = [result[value] for result in of_server]
            if not values:
                continue
            medians[name] = statistics.median(values)
            spread = f"{form.format(min(values))} to {form.format(max(values))}"
            print(f"  {name}: {form.format(medians[name])} {unit} (of {len(values)}: {spread})")
        return medians

    def run(self):
        servers = []
        try:
            servers.append(self.relay())
            servers.append(self.raw())
            compared = list(servers)
            mosquitto = self.mosquitto()
            if mosquitto:
                servers.append(mosquitto)
            else:
                print("mosquitto is not installed: not compared with it")
            nats = self.nats()
            if nats:
                servers.append(nats)
            self.throughput(servers)
            self.throughput([server for server in servers if server.name in ("bellwire", "nats-server")], window=64)
            self.latency(compared)
            self.crossing(servers[0])
        finally:
            for server in servers:
                server.stop()
        self.registrations()
        self.stores()
        self.beside_stores()
        self.returns()
        self.absence()
        if self.broken:
            print("a run broke, or a message did not arrive as it should: see above")
            return 2
        if self.options.short:
            print("every message arrived once, in order and unaltered")
        else:
            print(f"{len(self.missed)} bounds missed: {', '.join(self.missed)}" if self.missed else "all bounds held")
        return 1 if self.missed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    for name in ("program", "load", "forward", "ping", "work"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}" + (": busy, so the numbers say little" if load > 1.5 else ""))
    return Bench(options).run()


sys.exit(main())
