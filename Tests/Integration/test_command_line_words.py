"""Errors of the library name the options and commands of the command line, not those of the C interface."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from peers import FakeDesktop, free_port
from programs import Program
from test_command_line import pair_with, run

Start = Callable[..., Program]
#: What only a program that uses the library knows.
FOREIGN = re.compile(r"\bbw_\w+|\"[a-z]+_[a-z_]+\"|\brelay_url|state_dir|relay options|option \"")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pair", "--code", "123456-789012"], 3, "Pass --relay-url, or scan a code that contains a relay."),
        (["pair", "--show", "--relay-url", "http://x"], 2, "--relay-url: "),
        (["pair", "{}", "--name", ""], 2, "--name is empty; omit it to use the host name"),
        (["listen", "--state-dir", ""], 2, "--state-dir is empty; pass a directory"),
        (["listen", "--application-id", "lamp"], 2, "--application-id must be like org.example.App"),
        (["desktop", "--relay", "nowhere"], 2, "--relay must be host:port, such as 127.0.0.1:9001"),
        (["desktop", "--relay-url", "http://x"], 2, "--relay-url: "),
        (["desktop", "--relay-url", "ws://x", "--signaling-url", "http://x"], 2, "--signaling-url: "),
        (["rekey", "--state-dir", ":memory:"], 1, "with --state-dir :memory: the key cannot be changed"),
        (["relay", "--listen", "nowhere"], 2, "--listen must be host:port, such as 127.0.0.1:9001"),
        (["relay", "--health", "nowhere"], 2, "--health must be host:port"),
        (["relay", "--origin", "http://x"], 2, "--origin: "),
        (["relay", "--origin", "wss://x"], 2, "--origin must begin with ws://, the scheme of this relay"),
        (["relay", "--max-frame-bytes", "17"], 2, "--max-frame-bytes must be from 4096 to 16777216"),
        (["relay", "--trusted-proxy", "x"], 2, "--trusted-proxy must be addresses or networks"),
        (["relay", "--proxy-protocol"], 2, "--proxy-protocol needs --trusted-proxy: the addresses of the proxies"),
        (["relay", "--node", "x"], 2, "--node needs --nats, the URLs of NATS servers"),
        (["relay", "--nats", "http://x"], 2, "--nats: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_error_names_the_option(arguments: list[str], code: int, says: str, tmp_path: Path) -> None:
    found = run(*arguments, XDG_STATE_HOME=str(tmp_path))
    assert found.returncode == code, found.stderr
    assert says in found.stderr and not FOREIGN.search(found.stderr)
    as_json = run(*arguments, "--json", XDG_STATE_HOME=str(tmp_path))
    assert says in json.loads(as_json.stderr)["error"]["message"], as_json.stderr


def test_an_error_of_the_relays_configuration_file_names_the_file_and_its_key(tmp_path: Path) -> None:
    file = tmp_path / "relay.json"
    for content, says in (
        ({"max_frame_bytes": 17}, '"max_frame_bytes" must be from 4096 to 16777216'),
        ({"origins": ["http://x"]}, '"origins": '),
        ({"signaling_url": "ws://x"}, 'unknown option "signaling_url"'),
        ({"tls": {"certificate_file": "x"}}, '"tls" needs certificate_file and key_file'),
    ):
        file.write_text(json.dumps(content))
        found = run("relay", "--config", str(file), "--listen", "127.0.0.1:0")
        assert found.returncode == 2
        assert found.stderr.startswith(f"bellwire: {file}: {says}"), found.stderr
    # The command line takes precedence, so that is where it is wrong.
    file.write_text(json.dumps({"max_frame_bytes": 65536}))
    found = run("relay", "--config", str(file), "--max-frame-bytes", "17", "--listen", "127.0.0.1:0")
    assert found.returncode == 2 and found.stderr.startswith("bellwire: --max-frame-bytes must be"), found.stderr


def test_a_directory_that_cannot_be_used_names_the_option(bellwire: Start, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for path in (file, open_to_all):
        for command in (["listen"], ["desktop", "--relay", "127.0.0.1:0"]):
            program = bellwire(*command, "--state-dir", path)
            assert program.wait() == 1
            assert program.err.all[-1].endswith("use another --state-dir"), program.err.all


def test_what_is_not_there_names_the_command_that_lists_it(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    pair_with(bellwire, fake_desktop)
    for command in (["inbox", "delete", "x"], ["queue", "retry", "x"], ["send", "T", "--to", "x"]):
        program = bellwire(*command)
        assert program.wait() == 4
        assert not FOREIGN.search(program.err.all[-1]), program.err.all


def test_a_pairing_that_is_refused_names_the_option(bellwire: Start, fake_desktop: FakeDesktop) -> None:
    program = bellwire("pair", fake_desktop.code(), "--legacy", "none")
    assert program.wait() == 1, program.err.all
    assert "--legacy qr for QR codes, --legacy all for six digits" in program.err.all[-1]


def test_a_relay_that_cannot_be_reached_names_no_option_of_the_library(bellwire: Start) -> None:
    desktop = bellwire("desktop", "--relay-url", f"ws://127.0.0.1:{free_port()}")
    assert not FOREIGN.search(desktop.error_line("offline, retrying: .*").group())
