"""`bellwire backup` saves what runs as it is at one moment; `bellwire restore` checks all of it before it replaces anything."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import stat
import tarfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from peers import free_port
from programs import Program

Start = Callable[..., Program]

DESCRIPTION = "bellwire-backup.json"


class House:
    """A desktop and a device in one home, whose relay keeps its address."""

    def __init__(self, bellwire: Start, folder: Path) -> None:
        self.bellwire, self.folder = bellwire, folder
        self.home = folder / "home"
        self.port = free_port()
        self.desktop = self.run_desktop("--name", "Desk")
        code = self.desktop.line(r"^\{.*desktop-pairing.*").group()
        pairing = bellwire("pair", "--name", "Laptop", code)
        assert pairing.wait() == 0, pairing.err.all
        self.desktop.line("^Paired with")
        self.file = folder / "saved.tar"

    def run_desktop(self, *options: str, home: str = "home") -> Program:
        return self.bellwire("desktop", "--relay", f"127.0.0.1:{self.port}", "--stdin", *options, home=home)

    def push(self, desktop: Program, title: str) -> None:
        desktop.write(title + "\n")
        desktop.line("^Pushed to")

    def save(self, *options: str) -> Path:
        program = self.bellwire("backup", *options, self.file)
        assert program.wait() == 0, program.err.all
        return self.file

    def restore(self, *options: str | Path, home: str = "home", code: int = 0) -> Program:
        program = self.bellwire("restore", *options, self.file, home=home)
        assert program.wait() == code, program.err.all
        return program

    def titles(self, desktop: Path) -> list[str]:
        with closing(sqlite3.connect(f"file:{desktop / 'desktop.db'}?mode=ro", uri=True)) as database:
            return [title for (title,) in database.execute("SELECT title FROM history ORDER BY rowid")]


@pytest.fixture
def house(bellwire: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return House(bellwire, tmp_path)


def names(file: Path) -> list[str]:
    with tarfile.open(file) as archive:
        return archive.getnames()


def rewritten(file: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> None:
    """The archive with other members."""
    with tarfile.open(file) as archive:
        members = [(member.name, archive.extractfile(member).read()) for member in archive]  # type: ignore[union-attr]
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for member in members:
            changed = change(*member)
            if changed is None:
                continue
            info = tarfile.TarInfo(changed[0])
            info.size = len(changed[1])
            archive.addfile(info, io.BytesIO(changed[1]))


def test_a_backup_is_a_tar_archive_of_its_owner_with_all_files_and_their_hashes(house: House) -> None:
    (house.folder / "config/bellwire").mkdir(parents=True)
    (house.folder / "config/bellwire/config.json").write_text('{"default": {"color": "never"}}')
    assert house.bellwire("token", "backups").wait() == 0
    listener = house.bellwire("listen")
    listener.error_line("connected to Desk")
    before = os.umask(0)
    file = house.save()
    os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(names(file)) == sorted(
        [
            "device/device.db", "device/device.pairings", "device/identity.key",
            "desktop/desktop.db", "desktop/desktop.pairings", "desktop/identity.key", "desktop/tokens.json",
            "desktop/relay/relay.db", "desktop/relay/relay.db.ids", "config.json", DESCRIPTION,
        ]
    )  # fmt: skip
    with tarfile.open(file) as archive:
        contents = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
        assert all(member.mode == 0o600 and member.isfile() for member in archive)
    described = json.loads(contents.pop(DESCRIPTION))
    assert {row["name"]: (row["size"], row["sha256"]) for row in described["files"]} == {
        name: (len(content), hashlib.sha256(content).hexdigest()) for name, content in contents.items()
    }
    assert contents["device/identity.key"] == (house.home / "bellwire/device/identity.key").read_bytes()
    # Nothing else was left, and both programs go on.
    assert sorted(path.name for path in house.folder.iterdir()) == ["config", "home", "saved.tar"]
    house.push(house.desktop, "Tea")
    listener.line("Tea")


def test_no_file_is_written_over(house: House) -> None:
    house.file.write_text("mine")
    program = house.bellwire("backup", house.file)
    assert program.wait() == 2 and "exists" in program.err.all[-1]
    assert house.file.read_text() == "mine"
    (house.folder / "link").symlink_to(house.folder / "elsewhere")
    assert house.bellwire("backup", house.folder / "link").wait() == 2
    assert not (house.folder / "elsewhere").exists()


def test_without_anything_to_save_no_file_is_made(bellwire: Start, tmp_path: Path) -> None:
    program = bellwire("backup", tmp_path / "saved.tar")
    assert program.wait() == 4 and "nothing to save" in program.err.all[-1]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_file(house: House) -> None:
    program = house.bellwire("backup", "/dev/full/saved.tar")
    assert program.wait() == 1
    for options in (["--device", "--desktop"], ["--state-dir", "x"]):
        assert house.bellwire("backup", *options, house.file).wait() == 2
    assert not house.file.exists()


def test_a_backup_made_during_pushes_is_whole(house: House) -> None:
    house.desktop.write("".join(f"Push {number}\n" for number in range(300)))
    house.desktop.line("^Pushed to")
    house.save("--desktop")
    with tarfile.open(house.file) as archive:
        archive.extractall(house.folder / "out", filter="data")
    with closing(sqlite3.connect(house.folder / "out/desktop/desktop.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    saved = house.titles(house.folder / "out/desktop")
    assert saved == [f"Push {number}" for number in range(len(saved))] and saved


def test_both_go_on_from_a_backup_on_a_new_machine(house: House) -> None:
    house.push(house.desktop, "Before")
    house.save()
    assert house.desktop.end() == 0
    restored = house.restore(home="new")
    assert restored.out.all[:2] == [
        "Restored the device, paired with Desk.",
        "Restored the desktop, paired with Laptop.",
    ]
    assert "never run it on two machines" in restored.err.all[-1]
    for role in ("device", "desktop"):
        folder = house.folder / "new/bellwire" / role
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in folder.rglob("*"))
    assert sorted(path.name for path in (house.folder / "new/bellwire").iterdir()) == ["desktop", "device"]
    desktop = house.run_desktop("--no-pair", home="new")
    desktop.error_line("online")
    listener = house.bellwire("listen", "--json", home="new")
    listener.event("notification.received", title="Before")
    house.push(desktop, "After")
    listener.event("notification.received", title="After")
    sent = house.bellwire("send", "From the device", home="new")
    assert sent.wait() == 0, sent.err.all
    desktop.line("From the device")


def test_a_state_is_replaced_only_when_asked_and_kept(house: House) -> None:
    house.push(house.desktop, "Before")
    house.save("--desktop")
    house.push(house.desktop, "After")
    in_use = house.restore("--replace", "--desktop", code=5)
    assert str(house.home / "bellwire/desktop") in in_use.err.all[-1] and "bellwire desktop stop" in in_use.err.all[-1]
    assert house.desktop.end() == 0
    folder = house.home / "bellwire/desktop"
    refused = house.restore("--desktop", code=1)
    assert "--replace" in refused.err.all[-1]
    assert house.titles(folder) == ["Before", "After"]
    done = house.restore("--desktop", "--replace")
    assert house.titles(folder) == ["Before"]
    (aside,) = folder.parent.glob("desktop.replaced-*")
    assert str(aside) in done.out.all[0]
    assert house.titles(aside) == ["Before", "After"]
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    # The device keeps its own state, and both go on; so does the state before.
    desktop = house.run_desktop("--no-pair")
    desktop.error_line("online")
    listener = house.bellwire("listen")
    listener.error_line("connected to Desk")
    house.push(desktop, "Again")
    listener.line("Again")


def test_a_state_that_cannot_be_kept_stays_in_its_place(house: House) -> None:
    house.push(house.desktop, "Before")
    house.save("--desktop")
    house.push(house.desktop, "After")
    assert house.desktop.end() == 0
    folder = house.home / "bellwire/desktop"
    now = int(time.time())
    for second in range(now, now + 120):
        (folder.parent / f"desktop.replaced-{second}/full").mkdir(parents=True)
    refused = house.restore("--desktop", "--replace", code=1)
    assert "cannot keep the state before" in refused.err.all[-1]
    assert house.titles(folder) == ["Before", "After"]
    assert not list(folder.parent.glob("*restoring*"))


def test_an_older_device_gets_what_comes_after_its_backup(house: House) -> None:
    house.save("--device")
    listener = house.bellwire("listen", "--count", "1")
    listener.error_line("connected to Desk")
    house.push(house.desktop, "Lost")
    assert listener.wait() == 0
    house.restore("--device", "--replace")
    again = house.bellwire("listen", "--json")
    house.desktop.write("New\n")
    again.event("notification.received", title="New")


@pytest.mark.parametrize(
    "kind", ["cut", "flipped", "undescribed", "another file", "outside", "no tar", "newer", "no key"]
)
def test_a_file_that_is_not_whole_replaces_nothing(house: House, kind: str) -> None:
    house.save("--device")
    content = house.file.read_bytes()
    if kind == "cut":
        house.file.write_bytes(content[: len(content) // 2])
    elif kind == "flipped":
        place = content.index(b"device/device.pairings") + 1024
        house.file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    elif kind == "undescribed":
        rewritten(house.file, lambda name, data: None if name == DESCRIPTION else (name, data))
    elif kind == "another file":
        rewritten(
            house.file, lambda name, data: ("device/other", data) if name == "device/identity.key" else (name, data)
        )
    elif kind == "outside":
        rewritten(
            house.file, lambda name, data: ("../escaped", data) if name == "device/identity.key" else (name, data)
        )
    elif kind == "no tar":
        house.file.write_bytes(os.urandom(4096))
    elif kind == "newer":
        rewritten(
            house.file,
            lambda name, data: (
                (name, data.replace(b'"format":1', b'"format":2')) if name == DESCRIPTION else (name, data)
            ),
        )
    elif kind == "no key":

        def change(name: str, data: bytes) -> tuple[str, bytes] | None:
            if name == DESCRIPTION:
                described = json.loads(data)
                described["files"] = [row for row in described["files"] if row["name"] != "device/identity.key"]
                data = json.dumps(described).encode()
            return None if name == "device/identity.key" else (name, data)

        rewritten(house.file, change)
    folder = house.home / "bellwire"
    before = {path: path.stat().st_ino for path in folder.rglob("*")}
    for options, home in ((["--replace", "--device"], "home"), (["--check"], "home"), ([], "new")):
        program = house.bellwire("restore", *options, house.file, home=home)
        assert program.wait() == 1, (kind, options)
        assert len(program.err.all) == 1 and str(house.file) in program.err.all[0], program.err.all
    assert {path: path.stat().st_ino for path in folder.rglob("*")} == before
    assert list((house.folder / "new").rglob("*.db")) == []
    assert not list(house.folder.rglob("escaped")) and not list(house.folder.rglob("*restoring*"))


def test_a_damaged_database_is_neither_saved_nor_restored(house: House) -> None:
    assert house.desktop.end() == 0
    path = house.home / "bellwire/desktop/desktop.db"
    content = bytearray(path.read_bytes())
    content[-4096 * 3 :] = b"\xff" * (4096 * 3)
    path.write_bytes(content)
    program = house.bellwire("backup", "--desktop", house.file)
    assert program.wait() == 1
    assert not house.file.exists()


def test_check_shows_what_is_in_a_file_and_puts_nothing_back(house: House) -> None:
    house.save()
    shown = house.restore("--check", home="new")
    assert shown.out.all[0] == "The backup has the device, paired with Desk."
    assert not (house.folder / "new").exists()
    as_json = house.restore("--check", "--json", home="new")
    found = json.loads(as_json.out.all[0])
    assert [role["role"] for role in found["roles"]] == ["device", "desktop"] and found["createdAt"] > 0


def test_the_configuration_is_put_back_where_there_is_none(house: House) -> None:
    file = house.folder / "config/bellwire/config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"default": {"color": "never"}}')
    house.save("--device")
    file.write_text('{"default": {"color": "auto"}}')
    kept = house.restore("--device", home="new")
    assert any("was left as it is" in line for line in kept.err.all)
    assert "auto" in file.read_text()
    file.unlink()
    house.restore("--device", home="newer")
    assert "never" in file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600
