"""QR codes over the C interface: read by a third party's reader, and pictures that a third party made read by us."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import LIBRARY

CODE = json.dumps({"type": "desktop-pairing", "name": "Küche 🍵", "code": "123456"}, ensure_ascii=False)

INVALID, UNSUPPORTED, IO, NOT_FOUND, LIMIT = -1, -9, -14, -17, -18


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return ctypes.CDLL(str(LIBRARY))


def png(library: ctypes.CDLL, text: str, scale: int = 6) -> bytes:
    image, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.bw_qr_png(text.encode(), scale, ctypes.byref(image), ctypes.byref(size)) == 0
    result = ctypes.string_at(image, size.value)
    library.bw_free(image)
    return result


def svg(library: ctypes.CDLL, text: str) -> bytes:
    document = ctypes.c_void_p()
    assert library.bw_qr_svg(text.encode(), ctypes.byref(document)) == 0
    result = ctypes.string_at(document)
    library.bw_free(document)
    return result


def read(library: ctypes.CDLL, path: Path) -> list[str] | int:
    """The texts, or the status of the failure."""
    texts = ctypes.c_void_p()
    status = int(library.bw_qr_read(os.fsencode(path), ctypes.byref(texts)))
    if status < 0:
        return status
    result = json.loads(ctypes.string_at(texts))
    library.bw_free(texts)
    return list(result)


def convert(*arguments: str | Path) -> None:
    """ImageMagick, which knows no code."""
    subprocess.run(["convert", *map(str, arguments)], check=True, timeout=60)


def third_party(path: Path) -> str:
    """What ZBar's own program, with ImageMagick's decoders, reads from a picture."""
    command = ["zbarimg", "--quiet", "--raw", "--oneshot", "-Sbinary", str(path)]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout.decode().rstrip("\n")


def test_a_third_party_reads_what_is_drawn(library: ctypes.CDLL, tmp_path: Path) -> None:
    image = tmp_path / "code.png"
    image.write_bytes(png(library, CODE))
    assert third_party(image) == CODE
    drawing = tmp_path / "code.svg"
    drawing.write_bytes(svg(library, CODE))
    subprocess.run(["rsvg-convert", "-z", "3", "-o", tmp_path / "from-svg.png", drawing], check=True, timeout=60)
    assert third_party(tmp_path / "from-svg.png") == CODE


@pytest.mark.parametrize(
    "changes",
    [
        ["-quality", "35"],
        ["-rotate", "17", "-quality", "80"],
        ["-blur", "0x2", "-attenuate", "0.4", "+noise", "Gaussian", "-quality", "70"],
        ["-negate"],
        ["-distort", "Perspective", "0,0 20,30 0,300 10,320 300,0 290,15 300,300 320,310", "-quality", "80"],
        ["-bordercolor", "#557799", "-border", "400", "-resize", "70%", "-quality", "60"],
        ["-colorspace", "Gray"],
        ["-interlace", "JPEG"],
    ],
    ids=["coarse", "turned", "noisy", "negative", "askew", "small in a large picture", "grey", "progressive"],
)
def test_photographs_are_read(library: ctypes.CDLL, tmp_path: Path, changes: list[str]) -> None:
    image, photograph = tmp_path / "code.png", tmp_path / "photograph.jpg"
    image.write_bytes(png(library, CODE, 8))
    convert(image, "-virtual-pixel", "white", "-background", "white", *changes, photograph)
    assert read(library, photograph) == [CODE]


@pytest.mark.parametrize("kind", ["png8", "png24", "png32", "png48", "transparent", "white modules"])
def test_every_kind_of_png_is_read(library: ctypes.CDLL, tmp_path: Path, kind: str) -> None:
    image, other = tmp_path / "code.png", tmp_path / "other.png"
    image.write_bytes(png(library, CODE))
    if kind == "transparent":
        convert(image, "-transparent", "white", other)
    elif kind == "white modules":
        convert(image, "-transparent", "white", "-fill", "white", "-opaque", "black", f"png32:{other}")
    else:
        convert(image, f"{kind}:{other}")
    assert read(library, other) == [CODE]


@pytest.mark.parametrize(
    "changes",
    [[], ["-negate"], ["-sampling-factor", "4:2:0"], ["-sampling-factor", "4:2:2"]],
    ids=["light", "ink", "4:2:0", "4:2:2"],
)
def test_a_jpeg_in_the_colours_of_printing_is_read(library: ctypes.CDLL, tmp_path: Path, changes: list[str]) -> None:
    image, printed = tmp_path / "code.png", tmp_path / "printed.jpg"
    image.write_bytes(png(library, CODE))
    convert(image, "-colorspace", "CMYK", *changes, printed)
    assert b"Adobe" in printed.read_bytes()[:200] and read(library, printed) == [CODE]
    # The same numbers, without the note that they say how much light is left: they are amounts of ink.
    data = printed.read_bytes()
    begin = data.index(b"\xff\xee")
    printed.write_bytes(data[:begin] + data[begin + 2 + int.from_bytes(data[begin + 2 : begin + 4], "big") :])
    assert read(library, printed) == [CODE]


def test_several_codes_are_all_read(library: ctypes.CDLL, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.png").write_bytes(png(library, name))
    convert(*(tmp_path / f"{name}.png" for name in ("first", "second", "third")), "+append", tmp_path / "all.png")
    texts = read(library, tmp_path / "all.png")
    assert isinstance(texts, list) and sorted(texts) == ["first", "second", "third"]


def test_bad_files_are_named_errors(library: ctypes.CDLL, tmp_path: Path) -> None:
    convert("-size", "300x300", "plasma:fractal", "-seed", "7", tmp_path / "none.jpg")
    assert read(library, tmp_path / "none.jpg") == NOT_FOUND
    assert read(library, tmp_path / "absent.png") == IO
    assert read(library, tmp_path) == IO
    (tmp_path / "text.png").write_text("no image")
    assert read(library, tmp_path / "text.png") == INVALID
    (tmp_path / "cut.jpg").write_bytes((tmp_path / "none.jpg").read_bytes()[:40])
    assert read(library, tmp_path / "cut.jpg") == INVALID
    convert("-size", "8000x8000", "xc:white", tmp_path / "large.jpg")
    assert read(library, tmp_path / "large.jpg") == LIMIT
    # A file of 32 MiB is read, and is not an image; one of a byte more is not read.
    for size, status in ((32 << 20, INVALID), ((32 << 20) + 1, LIMIT)):
        with (tmp_path / "long.png").open("wb") as file:
            file.truncate(size)
        assert read(library, tmp_path / "long.png") == status


MISSING = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
library.bw_last_error.restype = ctypes.c_void_p
result, size = ctypes.c_void_p(), ctypes.c_size_t()
for call in (
    lambda: library.bw_qr_read(os.fsencode(sys.argv[2]), ctypes.byref(result)),
    lambda: library.bw_qr_png(b"x", 4, ctypes.byref(result), ctypes.byref(size)),
    lambda: library.bw_qr_svg(b"x", ctypes.byref(result)),
):
    status = call()
    print(status, ctypes.string_at(library.bw_last_error()).decode() if status < 0 else "")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root: it hides a library from one process")
@pytest.mark.parametrize("hidden", ["libzbar.so.0", "libpng16.so.16"])
def test_without_a_library_the_error_names_it_and_all_else_works(
    library: ctypes.CDLL, tmp_path: Path, hidden: str
) -> None:
    image = tmp_path / "code.png"
    image.write_bytes(png(library, CODE))
    found = subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    path = next(line.split(" => ")[1] for line in found.splitlines() if line.strip().startswith(hidden))
    hide = 'mount --bind /dev/null "$1" && shift && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", hide, "sh", os.path.realpath(path), sys.executable, "-c", MISSING]
    answer = subprocess.run(
        [*command, str(LIBRARY), str(image)], check=True, capture_output=True, text=True, timeout=30
    )
    reading, drawing, as_svg = answer.stdout.splitlines()
    assert reading.startswith(f"{UNSUPPORTED} ") and hidden.partition(".")[0] in reading
    assert drawing.startswith(f"{UNSUPPORTED} " if "png" in hidden else "0 ")
    assert as_svg.startswith("0 ")


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    script = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
result = ctypes.c_void_p()
names = ("libzbar", "libpng", "libturbojpeg")
loaded = lambda: sorted(name for name in names if name in open("/proc/self/maps").read())
assert library.bw_qr_terminal(b"x", 0, ctypes.byref(result)) == 0 and library.bw_qr_svg(b"x", ctypes.byref(result)) == 0
print(loaded())
size = ctypes.c_size_t()
assert library.bw_qr_png(b"x", 4, ctypes.byref(result), ctypes.byref(size)) == 0
print(loaded())
"""
    command = [sys.executable, "-c", script, str(LIBRARY)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
    assert answer.stdout.splitlines() == ["[]", "['libpng']"]
