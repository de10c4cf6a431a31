"""Runs the relay, raw forwarding and mosquitto by turns, and compares medians. Started by relay.sh."""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server process on loopback, ready when it accepts."""

    def __init__(self, name, proto, command, port):
        self.name, self.proto, self.port = name, proto, port
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
        self.failed = []
        self.missed = []
        self.broken = False

    # Servers

    def relay(self):
        port = free_port()
        command = [
            self.options.program,
            "relay",
            "--listen",
            f"127.0.0.1:{port}",
            "--health",
            f"127.0.0.1:{free_port()}",
        ]
        return Server("bellwire", "ws", command, port)

    def raw(self):
        port = free_port()
        return Server("raw forwarding", "raw", [self.options.raw, "--port", str(port)], port)

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
        return Server("mosquitto", "mqtt0", [found, "-c", config], port)

    # Runs

    def load(self, server, mode, **options):
        command = [
            self.options.load,
            mode,
            "--proto",
            server.proto,
            "--port",
            str(server.port),
            "--pid",
            str(server.process.pid),
        ]
        for key, value in options.items():
            command += [f"--{key}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            result = {"ok": False, "error": done.stderr.strip() or f"status {done.returncode}"}
        if not result.get("ok"):
            self.broken = True
            print(f"  {server.name} {mode}: the run broke: {result.get('error', result)}")
            return None
        return result

    def by_turns(self, servers, rounds, mode, value, **options):
        """A B A B …: what disturbs the machine disturbs all alike. One number for each server and round."""
        numbers = {server.name: [] for server in servers}
        for _ in range(rounds):
            for server in servers:
                result = self.load(server, mode, **options)
                if result:
                    numbers[server.name].append(result[value])
                    if "srv_cpu_us_per_msg" in result:
                        numbers.setdefault(server.name + " cpu", []).append(result["srv_cpu_us_per_msg"])
        return numbers

    # Medians of the short form's runs of a second differ by so much from one to the next on a machine that does nothing
    # else. The short form is there to catch a relay that has become slow: it ends with 1 only beyond that. The bounds
    # themselves are for the full form to hold.
    NOISE = 0.2

    def check(self, what, value, bound, at_least, unit="×"):
        sign = "≥" if at_least else "≤"
        held = value >= bound if at_least else value <= bound
        noise = self.NOISE if self.options.short else 0
        near = value >= bound * (1 - noise) if at_least else value <= bound * (1 + noise)
        word = "ok    " if held else "MISSED"
        print(
            f"  {word} {what}: {value:.2f} {unit} (bound {sign} {bound:g})"
            + ("" if held or not near else f", within the {noise:.0%} that short runs differ by")
        )
        if not held:
            self.missed.append(what)
        if not near:
            self.failed.append(what)

    # What is measured

    def settled(self, part, *parameters):
        """A part of the short form counts as missed only when it is missed three times: its runs are too short to
        tell a slow relay from a machine that somebody else used meanwhile. A relay that is slow misses all three."""
        for attempt in range(3 if self.options.short else 1):
            before = list(self.failed), list(self.missed)
            if attempt:
                print("measured again:")
            part(*parameters)
            if (self.failed, self.missed) == before or self.broken:
                return
            last, (self.failed, self.missed) = (self.failed, self.missed), before
        self.failed, self.missed = last

    def throughput(self, servers):
        rounds, secs, warmup = (2, 0.8, 0.2) if self.options.short else (5, 3, 1)
        print("throughput, 8 pairs, window 16, 400 bytes")
        numbers = self.by_turns(
            servers, rounds, "throughput", "msgs_per_s", pairs=8, window=16, size=400, secs=secs, warmup=warmup
        )
        medians = self.report(servers, numbers, "messages/s", "{:.0f}")
        for server in servers:
            cpu = numbers.get(server.name + " cpu")
            if cpu:
                print(f"  {server.name}: {statistics.median(cpu):.2f} µs of CPU a message")
        if medians.get("raw forwarding") and medians.get("bellwire"):
            self.check("throughput against raw forwarding", medians["bellwire"] / medians["raw forwarding"], 0.3, True)
        if medians.get("mosquitto") and medians.get("bellwire"):
            self.check("throughput against mosquitto QoS 0", medians["bellwire"] / medians["mosquitto"], 3, True)

    def latency(self, servers):
        rounds, secs = (3, 1) if self.options.short else (7, 4)
        print("latency, 1,000 messages/s, beside 2,000 idle peers")
        numbers = self.by_turns(
            servers,
            rounds,
            "latency",
            "p50_us",
            rate=1000,
            conns=2000,
            size=400,
            secs=secs,
            warmup=0.5,
            **{"quiet-ms": 200},
        )
        medians = self.report(servers, numbers, "µs p50", "{:.1f}")
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
                result = self.load(relay, "idle", conns=1000, burst=1000, **{"quiet-ms": 200})
                if result:
                    times.append(result["register_ms"])
                    sizes.append((result["rss_after_kb"] - before) / 1000)
            finally:
                relay.stop()
        if times:
            print(f"  all: {', '.join(f'{t:.0f}' for t in times)} ms")
            self.check("1,000 registrations", statistics.median(times), 150, False, "ms")
            self.check(
                "an idle connection, what the first ones cost once included", statistics.median(sizes), 8, False, "KiB"
            )

    def report(self, servers, numbers, unit, form):
        medians = {}
        for server in servers:
            values = numbers[server.name]
            if not values:
                continue
            medians[server.name] = statistics.median(values)
            spread = f"{form.format(min(values))} to {form.format(max(values))}"
            print(f"  {server.name}: {form.format(medians[server.name])} {unit} (of {len(values)}: {spread})")
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
            self.settled(self.throughput, servers)
            self.settled(self.latency, compared)
        finally:
            for server in servers:
                server.stop()
        self.settled(self.registrations)
        if self.broken:
            print("a run broke: see above")
            return 2
        print(f"{len(self.missed)} bounds missed: {', '.join(self.missed)}" if self.missed else "all bounds held")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    for name in ("program", "load", "raw", "work"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}" + (": busy, the numbers will say less" if load > 1.5 else ""))
    return Bench(options).run()


sys.exit(main())
