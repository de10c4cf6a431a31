"""Relays of a cluster that are replaced one after the other, while programs push through them."""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from hosts import Host
from nats_servers import NATS
from peers import free_port
from programs import ROOT, Program, wait_until
from relay_node import Node

sys.path.insert(0, str(ROOT / "Tests/Soak"))
from front import Front

Start = Callable[..., Program]


def test_a_rolling_restart_under_load_loses_doubles_and_reorders_nothing(
    start: Start, bellwire: Start, tmp_path: Path, nats: NATS
) -> None:
    ports = [free_port() for _ in range(3)]
    front = Front(ports, random.Random(1))
    url = f"ws://127.0.0.1:{front.port}"

    def open_relay(number: int) -> Node:
        options = ("--origin", url, "--nats", nats.url, "--node", f"{number}", "--drain-ms", "300")
        kept = ("--state-dir", tmp_path / f"relay{number}", "--log-format", "json")
        node = Node(bellwire, *options, *kept, listen=f"127.0.0.1:{ports[number]}")
        node.log("nats_connected")
        return node

    nodes = [open_relay(number) for number in range(3)]
    desktop = Host(start, "desktop", {"state_dir": str(tmp_path / "desktop"), "relay_url": url, "follow_system": False})
    device = Host(start, "device", {"state_dir": str(tmp_path / "device"), "follow_system": False})
    try:
        desktop.start()
        device.start()
        device.call("bw_pairing_scan", desktop.call("bw_desktop_offer", 20_000)["payload"], 20_000)
        pushed = 0
        ended = threading.Event()

        def push() -> None:
            nonlocal pushed
            while not ended.is_set():
                desktop.call("bw_desktop_notify", {"title": f"{pushed}", "body": ""}, 30_000)
                pushed += 1

        pusher = threading.Thread(target=push)
        pusher.start()
        for number in (0, 1, 2, 0):
            before = pushed
            assert nodes[number].program.end(signal.SIGTERM) == 0, "it has drained"
            nodes[number] = open_relay(number)
            # Load between two restarts, too.
            wait_until(lambda before=before: pushed >= before + 20 or not pusher.is_alive(), 20)
            assert pusher.is_alive(), f"{pushed - before} pushes since the restart"
        ended.set()
        pusher.join(40)
        titles = [
            device.wait(lambda event: event.get("event") == "notification.received", 30)["data"]["title"]
            for _ in range(pushed)
        ]
        assert titles == [f"{number}" for number in range(pushed)]
        print(f"{pushed} pushes through {len(nodes)} relays, four of them replaced")
    finally:
        device.close()
        desktop.close()
        front.close()
