"""Finds the shared library, loads it once and sets the types of each function."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import Any

from ._signatures import ABI_VERSION, FUNCTIONS
from .errors import LibraryError, UnsupportedError

SONAME = "libbellwire.so.1"
VARIABLE = "BELLWIRE_LIBRARY"
PACKAGED = Path(__file__).resolve().parent / "_lib" / SONAME


def candidate() -> str:
    """The path or name of the library to load.

    Order: the environment variable BELLWIRE_LIBRARY, the library inside the package, the system's directories.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise LibraryError(
                f"{VARIABLE} names {named!r}, which is not a file; set it to the path of {SONAME}, or unset it"
            )
        return named
    return str(PACKAGED) if PACKAGED.exists() else SONAME


def load(path: str) -> ctypes.CDLL:
    """Loads it and checks its ABI version."""
    if not sys.platform.startswith("linux"):
        raise LibraryError(f"bellwire runs on Linux; this is {sys.platform}")
    try:
        # CDLL gives the GIL back in each call. RTLD_LOCAL, its default: its symbols are nobody else's.
        library = ctypes.CDLL(path)
    except OSError as error:
        places = f"{VARIABLE}, the package ({PACKAGED.parent}) and the system's directories"
        if path == SONAME:
            raise LibraryError(
                f"{SONAME} was not found or cannot be loaded ({error}); tried {places}. Install the wheel that contains"
                f" it, or the library, or set {VARIABLE} to its path"
            ) from error
        raise LibraryError(f"{path} cannot be loaded: {error}") from error
    try:
        library.bw_abi_version.restype = ctypes.c_int32
        library.bw_version.restype = ctypes.c_char_p
        abi, version = int(library.bw_abi_version()), library.bw_version().decode()
    except AttributeError as error:
        raise LibraryError(f"{path} is not a {SONAME}: {error}") from error
    if abi < ABI_VERSION:
        raise LibraryError(
            f"{path} is version {version} (ABI {abi}); this package needs ABI {ABI_VERSION} or newer: update the"
            f" library, or install the matching version of this package"
        )
    return library


class Library:
    """The functions of the header as attributes; the first use loads the library."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._native: ctypes.CDLL | None = None
        #: The path it was loaded from.
        self.path: str | None = None

    def _load(self) -> ctypes.CDLL:
        with self._lock:
            if self._native is None:
                path = candidate()
                self._native, self.path = load(path), path
            return self._native

    def __getattr__(self, name: str) -> Any:
        # Only for names that are not there yet: each function is looked up once.
        if name not in FUNCTIONS:
            raise AttributeError(name)
        native = self._native or self._load()
        try:
            function = getattr(native, name)
        except AttributeError:
            raise UnsupportedError(
                f"{self.path} (version {native.bw_version().decode()}) has no {name}: update the library"
            ) from None
        function.restype, function.argtypes = FUNCTIONS[name][0], list(FUNCTIONS[name][1])
        setattr(self, name, function)
        return function

    def after_fork(self) -> None:
        """In a child: another thread may have held the lock."""
        self._lock = threading.Lock()


library = Library()
os.register_at_fork(after_in_child=library.after_fork)
