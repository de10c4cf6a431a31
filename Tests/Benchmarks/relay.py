"""Runs the relay, raw forwarding, mosquitto and nats-server in turn, and compares medians. Started by relay.sh."""

import argparse
import contextlib
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

from websockets.sync.client import connect


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server process on loopback, ready when it accepts."""

    def __init__(self, name, protocol, command, port):
        self.name, self.protocol, self.port = name, protocol, port
        self.other = None
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

    def mosquitto(self):
        found = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not found:
            return None
        port = free_port()
        config = os.path.join(self.options.work, "mosquitto.conf")
        with open(config, "w") as out:
            # Nothing written, nothing limited: its best case.
            out.write(
                f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_type none\n"
                "max_queued_messages 0\nmax_inflight_messages 0\nset_tcp_nodelay true\n"
            )
        return Server("mosquitto", "mqtt", [found, "-c", config], port)

    # Runs

    def load(self, server, run, **numbers):
        """A run's result; None when it broke, or a message did not arrive once, in order and unaltered."""
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
        if not result["ok"]:
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

    def coming_back(self, name, start):
        """All peers of a relay that was killed come back at once, each with a proof of its id."""
        count = 500 if self.options.short else 15_000
        port = free_port()
        times, sizes = [], []
        for attempt in range(2 if self.options.short else 4):
            relay = start(port)
            try:
                before = relay.rss_kib()
                if result := self.load(relay, "registrations", idle=count, proved=1):
                    # The first time they are new.
                    if attempt:
                        times.append(result["of_95_percent_ms"])
                    sizes.append((result["server_rss_kib"] - before) / count)
            finally:
                relay.process.kill()
                relay.process.wait()
        if times:
            print(f"{count} peers come back to {name} and prove their ids: 95 % of them after")
            print(f"  {', '.join(f'{t:.0f}' for t in times)} ms")
            self.check("95 % are back", statistics.median(times) / 1_000, 7, False, "s")
            self.check("an idle connection of a proved peer", statistics.median(sizes), 2.5, False, "KiB")

    def returns(self):
        folder = os.path.join(self.options.work, "back")
        self.coming_back("a relay", lambda port: self.relay("--state-dir", folder, port=port))
        started = self.cluster()
        if not started:
            return
        nats, relays = started
        try:
            self.coming_back(
                "one relay of three", lambda port: self.member(nats, "three", "a relay of three", port=port)
            )
        finally:
            for server in (*relays, nats):
                server.stop()

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
