"""One C function per kind of callback for the whole process, and the table of the Python functions behind them.

The library is given an integer as ``user_data``. It is the key of an entry here, which the destroy callback takes out:
so nothing is called after it was released, and nothing that ctypes would free is held by C.
"""

from __future__ import annotations

# The functions of signal themselves: those look each handler up in an enumeration, which takes ten times as long.
import _signal  # type: ignore[import-not-found]
import ctypes
import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

from . import _signatures as c

T = TypeVar("T")

#: Signals whose handlers programs let raise, to end.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)


class Scope:
    """Whose callbacks they are. Knows the thread on which one runs now."""

    def __init__(self) -> None:
        self.running: int | None = None


class Collected(threading.local):
    """The exceptions that callbacks raised on this thread, for each call in progress."""

    def __init__(self) -> None:
        self.calls: list[list[BaseException]] = []


_collected = Collected()

Handler = Callable[[int, "FrameType | None"], Any]


class Held:
    """Signals that come while the library calls back.

    Python runs their handlers at the first step of whatever it runs next: that is the first step of a callback, where
    nothing catches what they raise. ctypes drops it, and with it the callback: Ctrl-C would be lost, and a push too. So
    they wait until the call returns, but for those that come while a function of the host's runs.
    """

    def __init__(self) -> None:
        #: Calls in progress.
        self.depth = 0
        self.in_host = False
        self.came: list[tuple[Handler, int, FrameType | None]] = []
        #: By the signal: whose place ours has taken, and ours.
        self.wrappers: dict[int, tuple[Handler, Handler]] = {}

    def wrapper(self, number: int, handler: Handler) -> Handler:
        known = self.wrappers.get(number)
        if known is not None and known[0] is handler:
            return known[1]

        def hold(number: int, frame: FrameType | None) -> None:
            # One that a raising handler has left in its place only passes on.
            if self.in_host or self.depth == 0:
                handler(number, frame)
            else:
                self.came.append((handler, number, frame))

        self.wrappers[number] = (handler, hold)
        return hold

    def begin(self, replaced: list[int]) -> None:
        for number in SIGNALS:
            handler = _signal.getsignal(number)
            known = self.wrappers.get(number)
            if known is not None and known[1] is handler:
                replaced.append(number)
            # Those of a loop's add_signal_handler() do nothing.
            elif callable(handler) and getattr(handler, "__module__", "") != "asyncio.unix_events":
                replaced.append(number)
                _signal.signal(number, self.wrapper(number, handler))

    def end(self, replaced: list[int]) -> None:
        try:
            while replaced:
                handler, ours = self.wrappers[replaced[-1]]
                # The program may have set another one in the meantime.
                if _signal.getsignal(replaced[-1]) is ours:
                    _signal.signal(replaced[-1], handler)
                replaced.pop()
        finally:
            self.run()

    def run(self) -> None:
        while self.came:
            handler, number, frame = self.came.pop(0)
            handler(number, frame)


_held = Held()


def _on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


@contextmanager
def holding_signals() -> Iterator[None]:
    """Wraps a call that may run callbacks: runs pending signal handlers when the call has returned."""
    if not _on_main_thread():
        # Handlers run on the main thread alone.
        yield
        return
    before, replaced = (_held.depth, _held.in_host), list[int]()
    try:
        _held.depth, _held.in_host = before[0] + 1, False
        if before[0] == 0:
            # In a subinterpreter there are no handlers to be set.
            with suppress(ValueError):
                _held.begin(replaced)
        yield
    finally:
        _held.depth, _held.in_host = before
        if before[1] or before[0] == 0:
            _held.end(replaced)


def waiting(wait: Callable[..., T], *arguments: Any) -> T:
    """A wait inside :func:`holding_signals`: handlers run in it, and before it those of signals that came earlier."""
    if _held.depth == 0 or not _on_main_thread():
        return wait(*arguments)
    before, _held.in_host = _held.in_host, True
    try:
        _held.run()
        return wait(*arguments)
    finally:
        _held.in_host = before


@contextmanager
def surfacing() -> Iterator[None]:
    """Wraps a call that runs callbacks: re-raises their exceptions when the call has returned.

    The first is raised, unless another one asks the program to end; the others go to ``threading.excepthook``.
    """
    failures: list[BaseException] = []
    _collected.calls.append(failures)
    try:
        with holding_signals():
            yield
    except BaseException as error:
        failures.append(error)
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


#: The entry of a key: its scope, the function that takes the arguments after ``user_data``, and whether it is the
#: program's own, during which signal handlers run.
Entry = tuple[Scope, Callable[..., Any], bool]

_lock = threading.RLock()
_entries: dict[int, Entry] = {}
_keys = itertools.count(1)


def register(function: Callable[..., Any], scope: Scope, is_host: bool = True) -> ctypes.c_void_p:
    """Makes an entry; what it gives goes to the library as ``user_data``, with :data:`DESTROY`."""
    with _lock:
        key = next(_keys)
        _entries[key] = (scope, function, is_host)
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
    scope, function, is_host = entry
    before, scope.running = scope.running, threading.get_ident()
    lets_signals = is_host and _on_main_thread()
    try:
        try:
            if lets_signals:
                _held.in_host = True
            return function(*arguments)
        finally:
            if lets_signals:
                _held.in_host = False
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
    # If the callback raises, the alert counts as not shown, and the library tries again.
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
