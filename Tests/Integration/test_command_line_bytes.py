"""Words, paths and variables are bytes: what is not valid UTF-8 works where it names a file or a command's argument."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import BELLWIRE
from test_command_line import Pair, pair  # noqa: F401

ODD = b"gr\xf6\xdfe"


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


@pytest.mark.parametrize("word", [b"caf\xe9", b"\xff"])
def test_what_is_text_must_be_text(tmp_path: Path, word: bytes) -> None:
    for words in ([b"send", word], [b"pair", b"--name", word], [b"desktop", b"--http-name=" + word], [word]):
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
