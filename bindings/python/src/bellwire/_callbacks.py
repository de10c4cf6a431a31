"""One C function for each kind of callback, for the whole process, and the table of what they stand for.

The library is given an integer as ``user_data``. It is the key of an entry here, which the destroy callback takes out:
so nothing is called after it was released, and nothing that ctypes would free is held by C.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _signatures as c


class Scope:
    """Whose callbacks they are. Knows the thread on which one runs now."""

    def __init__(self) -> None:
        self.running: int | None = None


class Collected(threading.local):
    """What callbacks have raised on this thread, inside each of the calls that are under way."""

    def __init__(self) -> None:
        self.calls: list[list[BaseException]] = []


_collected = Collected()


@contextmanager
def surfacing() -> Iterator[None]:
    """Around a call that runs callbacks: raises what they raised, once it has returned.

    The first is raised, unless another one asks the program to end; the others are told to ``threading.excepthook``.
    """
    failures: list[BaseException] = []
    _collected.calls.append(failures)
    try:
        yield
    finally:
        _collected.calls.pop()
        if failures:
            chosen = next((each for each in failures if not isinstance(each, Exception)), failures[0])
            for each in failures:
                if each is not chosen:
                    report(each)
            raise chosen


def report(error: BaseException) -> None:
    """An exception that no call can raise: of a thread of the library's, as one of any other thread."""
    threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))


#: What stands behind a key: its scope, and the function that takes the arguments after ``user_data``.
Entry = tuple[Scope, Callable[..., Any]]

_lock = threading.RLock()
_entries: dict[int, Entry] = {}
_keys = itertools.count(1)


def register(function: Callable[..., Any], scope: Scope) -> ctypes.c_void_p:
    """Makes an entry; what it gives goes to the library as ``user_data``, with :data:`DESTROY`."""
    with _lock:
        key = next(_keys)
        _entries[key] = (scope, function)
    return ctypes.c_void_p(key)


def release(key: ctypes.c_void_p) -> None:
    """Takes an entry out that the library was never given."""
    _destroy(key.value or 0)


def registered() -> int:
    """How many entries there are: each is released exactly once, so this comes back to where it was."""
    with _lock:
        return len(_entries)


def _call(key: int, default: Any, *arguments: Any) -> Any:
    with _lock:
        entry = _entries.get(key)
    if entry is None:
        return default
    scope, function = entry
    before, scope.running = scope.running, threading.get_ident()
    try:
        return function(*arguments)
    except BaseException as error:  # C cannot carry it
        if _collected.calls:
            _collected.calls[-1].append(error)
        else:
            report(error)
        return default
    finally:
        scope.running = before


def _destroy(key: int) -> None:
    with _lock:
        _entries.pop(key, None)


def _event(key: int, name: bytes, text: bytes) -> None:
    _call(key, None, name, text)


def _completion(key: int, status: int, text: bytes | None) -> None:
    _call(key, None, status, text)


def _log(key: int, level: int, message: bytes) -> None:
    _call(key, None, level, message)


def _authorize(key: int, text: bytes) -> None:
    _call(key, None, text)


def _number(answer: Any, default: int) -> int:
    return int(answer) if isinstance(answer, int) else default


def _will_present(key: int, text: bytes) -> int:
    return _number(_call(key, None, text), int(c.Presentation.ALL))


def _present(key: int, text: bytes) -> int:
    # A host whose callback raises has shown nothing: the library tries again.
    return _number(_call(key, 1, text), 0)


# Kept for as long as the process lives: C holds their addresses.
DESTROY = c.Destroy(_destroy)
EVENT = c.EventCallback(_event)
COMPLETION = c.Completion(_completion)
LOG = c.LogCallback(_log)
AUTHORIZE = c.AuthorizeCallback(_authorize)
WILL_PRESENT = c.WillPresentCallback(_will_present)
PRESENT = c.PresentCallback(_present)


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
