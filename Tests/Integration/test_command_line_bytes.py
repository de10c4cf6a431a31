"""Words, paths and variables are bytes: what is not valid UTF-8 works where it names a file or a command's argument."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from peers import free_port
from programs import BELLWIRE, wait_until
from test_command_line import Pair, pair  # noqa: F401

ODD = b"gr\xf6\xdfe"


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def run(
    home: Path, *words: str | bytes, code: int = 0, **environment: str | bytes
) -> subprocess.CompletedProcess[bytes]:
    bellwire = os.fsencode(BELLWIRE)
    done = subprocess.run(
        [bellwire, *(os.fsencode(word) for word in words)],
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        env={**os.environb, b"XDG_STATE_HOME": os.fsencode(home / "state")}
        | {name.encode(): os.fsencode(value) for name, value in environment.items()},
        check=False,
    )
    assert done.returncode == code, done
    done.stderr.decode()  # what people read is UTF-8
    return done


def test_a_command_gets_the_bytes_of_its_words(pair: Pair, tmp_path: Path) -> None:  # noqa: F811
    name = b"words-" + ODD + "-ä-\U0010fff6".encode()
    state = str(tmp_path / "home")
    done = run(tmp_path, "run", "--", "printf", "%s|", name, b"", b"--json\xff", XDG_STATE_HOME=state)
    assert done.stdout == name + b"||--json\xff|"
    assert "gr\ufffd\ufffde-ä-" in pair.desktop.line("words-").string
    run(tmp_path, "run", "--", b"./missing\xff", code=127, XDG_STATE_HOME=state)


def test_what_a_notification_says_is_converted(pair: Pair, tmp_path: Path) -> None:  # noqa: F811
    state = str(tmp_path / "home")
    run(tmp_path, "send", ODD, b"caf\xe9", XDG_STATE_HOME=state)
    pair.desktop.line("größe  café$")
    run(tmp_path, "send", "-t", ODD + b" 2", "-m", b"caf\xe9", XDG_STATE_HOME=state)
    pair.desktop.line("größe 2  café$")


def test_a_json_line_is_sent_though_its_body_was_cut_or_is_too_long(pair: Pair) -> None:  # noqa: F811
    sender = pair.bellwire("send", "--stdin", "--json")
    sender.write('{"title":"Half","body":"a\\ud83d"}\n' + json.dumps({"title": "Long", "body": "x" * 70_000}) + "\n")
    assert sender.process.stdin is not None
    sender.process.stdin.close()
    assert sender.wait() == 0, sender.err.all
    pair.desktop.line("Half  a\ufffd$")
    assert "bytes left out" in pair.desktop.line("Long  x").string


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_descriptor_is_not_taken_by_a_file_of_the_program(tmp_path: Path, closed: str) -> None:
    # The pipe for signals had its number: what was printed was read as signals, and standard input never ended.
    port = free_port()
    script = f'"$0" relay --listen 127.0.0.1:{port} {closed} & echo $! >&3; wait $!; echo $? >&3'
    read, write = os.pipe()
    shell = subprocess.Popen(
        ["bash", "-c", f"exec 3>&{write} {write}>&-; {script}", BELLWIRE],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[write],
    )  # fmt: skip
    os.close(write)
    with open(read) as lines:
        relay = int(lines.readline())
        wait_until(lambda: is_listening(port) or shell.poll() is not None)
        assert is_listening(port)
        os.kill(relay, signal.SIGTERM)
        assert lines.readline().strip() == "0"
    assert shell.wait(10) == 0


def test_closed_standard_input_is_empty(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", 'exec "$0" push A - <&-', BELLWIRE],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_state_directory_is_found_by_its_bytes(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path) + b"/" + ODD + b"/state"
    keys = []
    for word in (place, b"./" + ODD + b"/state"):
        run(tmp_path, "pair", "--list", "--state-dir", word)
        with open(place + b"/identity.key", "rb") as file:
            keys.append(file.read())
    assert keys[0] == keys[1]
    assert os.listdir(os.fsencode(tmp_path)) == [ODD], "nothing was made under another name"


def test_variables_name_directories_by_their_bytes(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path) + b"/" + ODD
    run(tmp_path, "pair", "--list", XDG_STATE_HOME=base + b"/state")
    assert os.path.exists(base + b"/state/bellwire/device/identity.key")
    os.mkdir(base + b"/home")
    run(tmp_path, "pair", "--list", XDG_STATE_HOME="", HOME=base + b"/home")
    assert os.path.exists(base + b"/home/.local/state/bellwire/device/identity.key")
    os.makedirs(base + b"/config/bellwire")
    with open(base + b"/config/bellwire/config.json", "w") as file:
        file.write('{"default":{"no-such-option":1}}')
    refused = run(tmp_path, "version", code=2, XDG_CONFIG_HOME=base + b"/config")
    assert b"no-such-option" in refused.stderr
    assert sorted(os.listdir(os.fsencode(tmp_path))) == [ODD]


def test_files_are_written_and_read_by_their_bytes(tmp_path: Path) -> None:
    run(tmp_path, "qr", "--png", ODD + b".png", "hello")
    assert os.listdir(os.fsencode(tmp_path)) == [ODD + b".png"]
    assert run(tmp_path, "qr", "--read", ODD + b".png").stdout == b"hello\n"
    (tmp_path / os.fsdecode(ODD)).write_text("no code")
    assert b"no code" not in run(tmp_path, "pair", b"@" + ODD, code=2).stderr
    missing = run(tmp_path, "qr", "--read", ODD + b".gone", code=1).stderr
    assert b"No such file" in missing and "gr\ufffd".encode() in missing
    assert b"--read" not in missing
    folder = os.fsencode(tmp_path) + b"/folder-" + ODD
    os.mkdir(folder)
    for words in (["qr", "--read", folder + b"/none.png"], ["pair", b"@" + folder + b"/none"]):
        for more in ([], ["--json"]):
            done = subprocess.run([BELLWIRE, *words, *more], cwd=tmp_path, capture_output=True, timeout=30, check=False)
            told = done.stderr if not more else json.loads(done.stderr)["error"]["message"].encode()
            assert done.returncode != 0 and "gr\ufffd\ufffde/none".encode() in told and b"/proc" not in told, done


@pytest.mark.parametrize("word", [b"caf\xe9", b"\xff"])
def test_what_is_text_must_be_text(tmp_path: Path, word: bytes) -> None:
    for words in (
        [b"queue", b"remove", word],
        [b"pair", b"--name", word],
        [b"desktop", b"--http-name=" + word],
        [word],
    ):
        assert b"not valid UTF-8" in run(tmp_path, *words, code=2).stderr
        told = json.loads(run(tmp_path, *words, "--json", code=2).stderr)
        assert "not valid UTF-8" in told["error"]["message"]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs a mount namespace")
def test_without_proc_the_words_are_there(tmp_path: Path) -> None:
    script = 'mount -t tmpfs none /proc && "$@" && "$0" push hello'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, BELLWIRE, BELLWIRE, "version"],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith("bellwire"), done
