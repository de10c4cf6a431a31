"""What a disk has after a loss of power, built from the records of steps.c.

What a sync has covered is there. Of what came later, any part may be there: of a file's writes each sector on its own, and
of a directory's changes each on its own.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass(frozen=True)
class Record:
    """See steps.c; `p` is a note of the test itself."""

    kind: str
    inode: int
    offset: int
    data: bytes

    @property
    def name(self) -> str:
        return self.data.decode()

    @property
    def is_sync(self) -> bool:
        return self.kind in "sd"


_HEADER = struct.Struct("=IIQq")


def read_records(path: Path) -> Iterator[Record]:
    data = path.read_bytes()
    position = 0
    while position < len(data):
        kind, length, inode, offset = _HEADER.unpack_from(data, position)
        position += _HEADER.size
        yield Record(chr(kind), inode, offset, data[position : position + length])
        position += length


def note(path: Path, data: bytes) -> None:
    """Adds a note between the records of a running relay."""
    with path.open("ab", buffering=0) as file:
        file.write(_HEADER.pack(ord("p"), len(data), 0, 0) + data)


@dataclass(frozen=True)
class Loss:
    """Which of the changes that were not synced are there."""

    name: str
    #: Whether a change of a directory is.
    directory: Callable[[], bool]
    #: Whether the sector of a write is; with the number of writes to the file that came after it.
    sector: Callable[[int], bool]
    #: Files have the sizes that they had, with zeros in the place of what is lost.
    has_sizes: bool = False


def losses(seed: int) -> list[Loss]:
    """All is lost; nothing is; a part of the last write; all but that; the data, but not the sizes; at random."""

    def by(share: float) -> Callable[..., bool]:
        draw = random.Random(seed)
        return lambda *_: draw.random() < share

    half = by(0.5)
    return [
        Loss("all", by(0), by(0)),
        Loss("nothing", by(1), by(1)),
        Loss("a part of each last write", by(1), lambda later: later > 0 or half()),
        Loss("all but the last writes", by(1), lambda later: later == 0),
        Loss("data, but not sizes", by(1), by(0), has_sizes=True),
        Loss("names", by(0), by(1)),
        Loss("a little", by(0.8), by(0.9)),
        Loss("half", by(0.5), by(0.5)),
        Loss("most data, but not sizes", by(0.5), by(0.1), has_sizes=True),
    ]


@dataclass
class _File:
    synced: bytearray = field(default_factory=bytearray)
    #: Writes, and sizes that were set.
    later: list[tuple[int, bytes | None]] = field(default_factory=list)

    def content(self, loss: Loss) -> bytes:
        content = bytearray(self.synced)
        for index, (offset, data) in enumerate(self.later):
            remaining = len(self.later) - index - 1
            if data is None:
                if loss.sector(remaining):
                    _resize(content, offset)
                continue
            for begin, end in _sectors(offset, len(data)):
                if loss.sector(remaining):
                    _write(content, begin, data[begin - offset : end - offset])
            if loss.has_sizes and len(content) < offset + len(data):
                _resize(content, offset + len(data))
        return bytes(content)

    def sync(self) -> None:
        for offset, data in self.later:
            if data is None:
                _resize(self.synced, offset)
            else:
                _write(self.synced, offset, data)
        self.later = []


def _sectors(offset: int, length: int) -> Iterator[tuple[int, int]]:
    begin = offset
    while begin < offset + length:
        end = min((begin // SECTOR + 1) * SECTOR, offset + length)
        yield begin, end
        begin = end


def _resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


def _write(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        _resize(content, offset)
    content[offset : offset + len(data)] = data


#: Files by their paths; `None` = a directory.
_Names = dict[str, _File | None]
_Change = Callable[[_Names], None]


def _becomes(name: str, file: _File | None) -> _Change:
    return lambda names: names.update({name: file})


def _goes(name: str) -> _Change:
    def change(names: _Names) -> None:
        names.pop(name, None)

    return change


class Disk:
    """The recorded directory; every record is applied in turn."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._synced: _Names = {}
        #: What was not synced: the directory, and what changes in it.
        self._later: list[tuple[str, _Change]] = []
        #: As programs see it.
        self._now: _Names = {}

    def apply(self, record: Record) -> None:
        match record.kind:
            case "c":
                file = self._files[record.inode] = _File()
                self._change(record.name, _becomes(record.name, file))
            case "m":
                self._change(record.name, _becomes(record.name, None))
            case "u":
                self._change(record.name, _goes(record.name))
            case "r":
                old, new = record.name.split("\n")
                moved = self._now[old]
                self._change(new, _goes(old), _becomes(new, moved))
            case "w":
                self._files[record.inode].later.append((record.offset, record.data))
            case "t":
                self._files[record.inode].later.append((record.offset, None))
            case "s":
                self._files[record.inode].sync()
            case "d":
                for directory, change in self._later:
                    if directory == record.name:
                        change(self._synced)
                self._later = [entry for entry in self._later if entry[0] != record.name]

    def _change(self, name: str, *changes: _Change) -> None:
        """One change, of which all is there or nothing."""

        def change(names: _Names) -> None:
            for each in changes:
                each(names)

        change(self._now)
        self._later.append((name.rpartition("/")[0], change))

    def contents(self, loss: Loss) -> dict[str, bytes | None]:
        """Of the files; `None` for a directory. Without SQLite's index of a log, which it builds anew."""
        names = dict(self._synced)
        for _, change in self._later:
            if loss.directory():
                change(names)
        return {
            name: file.content(loss) if file else None
            for name, file in sorted(names.items())
            if not name.endswith("-shm") and all(parent in names for parent in _parents(name))
        }


def _parents(name: str) -> Iterable[str]:
    parts = name.split("/")[:-1]
    return ("/".join(parts[: index + 1]) for index in range(len(parts)))


def write_contents(contents: dict[str, bytes | None], directory: Path) -> None:
    directory.mkdir()
    for name, data in contents.items():
        if data is None:
            (directory / name).mkdir(0o700)
        else:
            (directory / name).write_bytes(data)
