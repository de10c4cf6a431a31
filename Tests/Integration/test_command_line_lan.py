"""Desktops that other machines can reach: `--lan`, and the warning about codes that name this machine's loopback."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import BELLWIRE, Program

# A bridge of containers comes first, and leads nowhere. The default route is that of the local network.
NETWORK = """
ip link set lo up
ip link add docker0 type veth peer name docker1 && ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up
ip link add wan0 type veth peer name wan1 && ip addr add 203.0.113.7/24 dev wan0 && ip link set wan0 up
ip link add lan0 type veth peer name lan1 && ip addr add 192.168.77.5/24 dev lan0 && ip link set lan0 up
ip link set wan1 up && ip link set lan1 up && ip route add default via 192.168.77.1 dev lan0
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


@contextmanager
def desktop(folder: Path, network: str, *options: str) -> Iterator[Program]:
    script = network + '\nexec "$@"'
    program = Program(
        ["unshare", "--net", "sh", "-ec", script, "sh", BELLWIRE, "desktop", *options],
        {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
    )
    try:
        yield program
    finally:
        program.end()


def test_lan_uses_the_address_of_the_local_network(tmp_path: Path) -> None:
    with desktop(tmp_path, NETWORK, "--lan") as program:
        assert program.line("^Relay at ").string == "Relay at ws://192.168.77.5:9001"
        code = json.loads(program.line(r"^\{.*desktop-pairing").string)
        assert code["signalingUrl"] == "ws://192.168.77.5:9001"
        program.line("bellwire pair --code .* --relay-url ws://192.168.77.5:9001$")
    assert not any("only on this machine" in line for line in program.err.all)


def test_a_code_that_names_the_loopback_says_so(tmp_path: Path) -> None:
    with desktop(tmp_path, NETWORK, "--relay", "127.0.0.1:0") as program:
        said = program.error_line("this code works only on this machine").string
        assert re.search(r"its relay is at 127\.0\.0\.1:\d+\. .* use --lan, whose relay is on 192\.168\.77\.5$", said)


def test_a_machine_without_a_network_is_told_what_to_pass(tmp_path: Path) -> None:
    alone = "ip link set lo up"
    with desktop(tmp_path, alone, "--lan") as program:
        assert program.wait() == 1
        assert "--relay HOST:PORT" in program.err.all[-1]
    with desktop(tmp_path, alone) as program:
        assert program.error_line("only on this machine").string.endswith("use --relay HOST:PORT")
