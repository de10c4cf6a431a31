"""QR codes: draws text of 1 to 2,048 bytes and reads codes from pictures."""

from __future__ import annotations

import ctypes
import os
from typing import Union

from . import _wire
from ._core import check, take
from ._library import library
from .errors import InvalidError

__all__ = ["png", "read", "read_pixels", "svg", "terminal"]


def terminal(text: str, *, plain: bool = False) -> str:
    """A drawing of half-block characters that sets its own colours, to be scanned on dark and light backgrounds.

    ``plain``: without colour sequences, for a light background. Raises :class:`~bellwire.InvalidError`.
    """
    out = ctypes.c_void_p()
    check(library.bw_qr_terminal(_wire.text(text, "text"), int(plain), ctypes.byref(out)))
    return take(out).decode()


def svg(text: str) -> str:
    """An SVG document, black on white with the quiet zone; one module is one unit.

    Raises :class:`~bellwire.InvalidError`.
    """
    out = ctypes.c_void_p()
    check(library.bw_qr_svg(_wire.text(text, "text"), ctypes.byref(out)))
    return take(out).decode()


def png(text: str, *, scale: int = 8) -> bytes:
    """A PNG image, black on white with the quiet zone; ``scale`` is 1 to 32 pixels per module.

    Raises :class:`~bellwire.InvalidError`, :class:`~bellwire.UnsupportedError` (no libpng).
    """
    out, size = ctypes.c_void_p(), ctypes.c_size_t()
    scale = _wire.integer(scale, "scale")
    check(library.bw_qr_png(_wire.text(text, "text"), scale, ctypes.byref(out), ctypes.byref(size)))
    try:
        return ctypes.string_at(out, size.value)
    finally:
        library.bw_free(out)


def read(path: Union[str, os.PathLike[str]]) -> tuple[str, ...]:
    """The texts of the QR codes in a PNG or JPEG file of at most 32 MiB and 50 megapixels.

    Raises :class:`~bellwire.NotFoundError` (no QR code in it), :class:`~bellwire.FileError`,
    :class:`~bellwire.InvalidError` (it is no such image), :class:`~bellwire.LimitError` (too large),
    :class:`~bellwire.UnsupportedError` (a library is missing; the message names it).
    """
    out = ctypes.c_void_p()
    # As the file system has it: a name need not be UTF-8.
    name = os.fsencode(path)
    if b"\0" in name:
        raise InvalidError("path contains a NUL character", {"field": "path"})
    check(library.bw_qr_read(name, ctypes.byref(out)))
    return tuple(_wire.loads(take(out)))


def read_pixels(grey: bytes, width: int, height: int, stride: int | None = None) -> tuple[str, ...]:
    """The same for pixels in memory: ``height`` rows of ``width`` grey bytes (0 = black), ``stride`` bytes apart."""
    stride = _wire.integer(width if stride is None else stride, "stride")
    width, height = _wire.integer(width, "width"), _wire.integer(height, "height")
    if width < 1 or height < 1 or stride < width or len(grey) < (height - 1) * stride + width:
        raise InvalidError("grey must have height rows of stride bytes, and stride at least width", {"field": "grey"})
    out = ctypes.c_void_p()
    check(library.bw_qr_read_pixels(bytes(grey), width, height, stride, ctypes.byref(out)))
    return tuple(_wire.loads(take(out)))
