"""A handle of the library: calls, dispatch and close. The public classes are built on these."""

from __future__ import annotations

import _thread
import asyncio
import atexit
import ctypes
import os
import select
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from . import _callbacks, _wire
from ._callbacks import holding_signals, surfacing, waiting
from ._library import library
from .errors import BellwireError, BusyError, ClosedError, HandleError, error_of

#: How long the interpreter's exit waits for a callback that runs on another thread.
EXIT_GRACE = 5.0


def take(pointer: ctypes.c_void_p | int | None) -> bytes:
    """Copies a string that the library returned, and frees it."""
    value = pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer
    if not value:
        return b""
    try:
        return ctypes.string_at(value)
    finally:
        library.bw_free(value)


def last_error(status: int) -> BellwireError:
    report = take(library.bw_last_error())
    return error_of(status, _wire.loads(report) if report else None)


def check(status: int) -> int:
    if status < 0:
        raise last_error(status)
    return status


class Descriptor:
    """A duplicate of a handle's file descriptor: stays valid for threads that wait on it while the handle closes."""

    def __init__(self, number: int) -> None:
        self.number = os.dup(number)

    def wait(self, seconds: float | None) -> None:
        """Waits until it is readable, or until the timeout. Signal handlers run, and may raise."""
        poll = select.poll()
        poll.register(self.number, select.POLLIN)
        poll.poll(None if seconds is None else max(0.0, min(seconds * 1000, 2**31 - 1)))

    def __del__(self) -> None:
        number, self.number = getattr(self, "number", -1), -1
        if number >= 0:
            os.close(number)


class Taker(Protocol):
    def resume(self) -> None:
        """Takes events from now on, if it does not already."""


def _overlap(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return "*" in some or "*" in others or not set(some).isdisjoint(others)


class Core:
    """One open handle."""

    def __init__(self, role: str, options: dict[str, Any]) -> None:
        self.role = role
        self.pid = os.getpid()
        self.threaded = options.get("threaded") is True
        self.scope = _callbacks.Scope()
        #: Notified when a stream has received an event, or when a thread has stopped dispatching.
        self.condition = threading.Condition()
        self.dispatcher: int | None = None
        self.quits = False
        self.closed = False
        self.attachment: Attachment | None = None
        #: The consumers of stored events; see add_taker().
        self.takers: dict[Taker, tuple[str, ...]] = {}
        #: Called when the handle is closed.
        self.at_close: set[Callable[[], None]] = set()
        out = ctypes.c_void_p()
        check(self.function("open")(_wire.dumps(options, "options"), ctypes.byref(out)))
        self.value = out.value
        try:
            self.number = check(self.function("fd")(self.value))
            self.descriptor = Descriptor(self.number)
        except BaseException:
            self.function("close")(self.value)
            raise
        _open.add(self)

    def function(self, name: str) -> Any:
        """``open`` is bw_<role>_open; a name that begins with bw_ is itself."""
        return getattr(library, name if name.startswith("bw_") else f"bw_{self.role}_{name}")

    # Calls

    def require_open(self) -> None:
        if self.closed:
            raise ClosedError(f"the {self.role} is closed")

    def failure(self, status: int) -> BellwireError:
        error = last_error(status)
        if isinstance(error, HandleError) and self.closed:
            return ClosedError(f"the {self.role} was closed in the meantime")
        return error

    def do(self, name: str, *arguments: Any) -> int:
        """A call without a result."""
        self.require_open()
        status: int = self.function(name)(self.value, *arguments)
        if status < 0:
            raise self.failure(status)
        return status

    def unsubscribe(self, number: ctypes.c_uint64 | int) -> None:
        """Ends a subscription, whose entry the library releases."""
        with holding_signals():
            self.do("unsubscribe", number)

    def ask(self, name: str, *arguments: Any) -> tuple[int, Any]:
        """A call with a result in JSON."""
        out = ctypes.c_void_p()
        status = self.do(name, *arguments, ctypes.byref(out))
        result = take(out)
        return status, _wire.loads(result) if result else None

    def begin(self, name: str, complete: Callable[[int, Any], None], *arguments: Any) -> None:
        """A call of the _async form. ``complete`` is called once, with what came of it, unless this raises."""
        self.require_open()
        ended = False

        def completion(status: int, result: bytes | None) -> None:
            nonlocal ended
            ended = True
            complete(status, _wire.loads(result) if result else None)

        status = self.give(name, arguments, _callbacks.COMPLETION, completion, is_host=False)
        if status < 0 and not ended:
            raise self.failure(status)

    def give(
        self,
        name: str,
        before: tuple[Any, ...],
        thunk: Any,
        function: Callable[..., Any],
        *after: Any,
        is_host: bool = True,
    ) -> int:
        """A call that takes a callback, whose entry the library releases, also when the call fails; its status."""
        self.require_open()
        native = self.function(name)
        # Held from before the entry is made: what a signal handler raises would leave it without an owner.
        with holding_signals():
            key = _callbacks.register(function, self.scope, is_host)
            try:
                status: int = native(self.value, *before, thunk, key, _callbacks.DESTROY, *after)
            except ctypes.ArgumentError:
                _callbacks.release(key)
                raise
        return status

    # Dispatch

    def dispatch(self, name: str = "dispatch", *arguments: Any) -> None:
        self.require_open()
        with surfacing():
            status = self.function(name)(self.value, *arguments)
        # Closed by a callback, or by another thread: an end, and no failure.
        if status < 0 and not self.closed:
            raise self.failure(status)

    def run(self, timeout: float | None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            # The library's own, which also forgets a bw_*_quit() that it was told. It waits for nothing: a wait in C
            # would keep Python's signals waiting.
            self.dispatch("run", 0)
            if self.quits or self.closed:
                self.quits = False
                return
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            self.descriptor.wait(left)
            if self.closed:
                return

    def quit(self) -> None:
        self.quits = True
        self.do("quit")

    def pump(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Dispatches, or waits for the thread that does, until ``ready``; whether it is.

        Signal handlers that raise do so in its waits or when it returns: what it keeps for other threads stays right.
        """
        self.do("fd")  # raises in a forked child, where no other thread would wake the wait
        end = None if timeout is None else time.monotonic() + timeout
        with holding_signals():
            while not ready():
                left = None if end is None else end - time.monotonic()
                if self.closed or (left is not None and left <= 0):
                    return False
                with self.condition:
                    if self.threaded or self.dispatcher is not None:
                        # Another thread dispatches.
                        waiting(
                            self.condition.wait_for,
                            lambda: ready() or self.closed or (self.dispatcher is None and not self.threaded),
                            left,
                        )
                        continue
                    self.dispatcher = _thread.get_ident()
                try:
                    waiting(self.descriptor.wait, left)
                    if not self.closed:
                        self.dispatch()
                except BusyError:
                    # A callback that iterates would wait for ever: it is what keeps the others from coming.
                    if self.scope.running == _thread.get_ident():
                        raise
                    waiting(time.sleep, 0.001)
                finally:
                    with self.condition:
                        self.dispatcher = None
                        self.condition.notify_all()
            return True

    # Who takes what

    def add_taker(self, taker: Taker, *events: str) -> None:
        """Registers a taker of these events; "*" = all.

        A stream that takes stored events one at a time is not subscribed between two of them, so that the library
        keeps them for it. A second taker would get them in that time. So the stream subscribes again first, and stays
        subscribed.
        """
        for other, names in list(self.takers.items()):
            if _overlap(names, events):
                other.resume()
        self.takers[taker] = events

    def takes_alone(self, taker: Taker) -> bool:
        mine = self.takers.get(taker, ())
        return all(other is taker or not _overlap(names, mine) for other, names in list(self.takers.items()))

    # The end

    def close(self) -> None:
        if self.pid != os.getpid():
            # The parent's, which closes it; here a thread that is no more may hold the condition's lock.
            self.closed = True
            return
        with self.condition:
            if self.closed:
                return
            self.closed = True
        _open.discard(self)
        if self.attachment is not None:
            self.attachment.detach()
        try:
            with surfacing():
                status = self.function("close")(self.value)
        finally:
            with self.condition:
                self.condition.notify_all()
            for wake in list(self.at_close):
                wake()
        if status < 0:
            raise last_error(status)


class Attachment:
    """A handle that an asyncio loop polls, as long as a coroutine awaits something from it."""

    def __init__(self, core: Core, loop: asyncio.AbstractEventLoop) -> None:
        self.core, self.loop = weakref.ref(core), loop
        self.thread = _thread.get_ident()
        self.descriptor = core.descriptor
        self.uses = 0
        self.attached = not core.threaded
        if self.attached:
            loop.add_reader(self.descriptor.number, self._readable)

    def _readable(self) -> None:
        core = self.core()
        if core is None or core.closed:
            self.detach()
            return
        # Another thread dispatches: it will do what there is to do.
        with suppress(BusyError):
            core.dispatch()

    def soon(self, function: Callable[[], None]) -> None:
        """Calls it on the loop's thread."""
        if self.thread == _thread.get_ident():
            function()
            return
        # The loop is closed, so no coroutine waits any more.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(function)

    def release(self) -> None:
        self.uses -= 1
        if self.uses == 0:
            self.detach()

    def detach(self) -> None:
        core = self.core()
        if core is not None and core.attachment is self:
            core.attachment = None
        if not self.attached:
            return
        self.attached = False
        descriptor = self.descriptor

        def remove() -> None:
            if not self.loop.is_closed():
                self.loop.remove_reader(descriptor.number)

        self.soon(remove)


def attach(core: Core) -> Attachment:
    """The running loop, reading the handle; to be released once."""
    loop = asyncio.get_running_loop()
    attachment = core.attachment
    if attachment is not None and (attachment.loop.is_closed() or attachment.loop is not loop):
        if not attachment.loop.is_closed():
            raise RuntimeError(f"the {core.role} is awaited by another event loop; use one loop, or threaded=True")
        core.attachment = attachment = None
    if attachment is None:
        core.require_open()
        core.attachment = attachment = Attachment(core, loop)
    attachment.uses += 1
    return attachment


async def ask_async(core: Core, name: str, *arguments: Any) -> tuple[int, Any]:
    """A call of the _async form, awaited on the running loop."""
    attachment = attach(core)
    future: asyncio.Future[tuple[int, Any]] = attachment.loop.create_future()

    def complete(status: int, result: Any) -> None:
        def settle() -> None:
            # Also of a task that was cancelled: the loop reads until the library has let go of the call.
            attachment.release()
            if future.done():
                return
            if status < 0:
                future.set_exception(error_of(status, result if isinstance(result, dict) else None))
            else:
                future.set_result((status, result))

        attachment.soon(settle)

    try:
        core.begin(name, complete, *arguments)
    except BaseException:
        attachment.release()
        raise
    return await future


# What is open when nobody holds it any more, and when the interpreter ends

_open: weakref.WeakSet[Core] = weakref.WeakSet()


def abandoned(core: Core, kind: str) -> None:
    """The public object is gone and was not closed."""
    if core.closed or core.pid != os.getpid():
        return
    warnings.warn(f"unclosed {kind}: call close(), or use it in a with statement", ResourceWarning, stacklevel=2)
    try:
        # Not here: garbage is collected anywhere, also while a lock is held that a callback waits for.
        _thread.start_new_thread(_close_quietly, (core,))
    except RuntimeError:
        _close_quietly(core)


def _close_quietly(core: Core) -> None:
    try:
        core.close()
    except Exception as error:
        _callbacks.report(error)


def _at_exit() -> None:
    """Closes what is open, so that no thread of the library's calls an interpreter that is gone."""
    end = time.monotonic() + EXIT_GRACE
    for core in list(_open):
        if core.pid != os.getpid():
            continue
        while core.scope.running not in (None, _thread.get_ident()) and time.monotonic() < end:
            time.sleep(0.005)
        # A callback that does not end keeps its handle: closing would wait for it for ever.
        if core.scope.running in (None, _thread.get_ident()):
            _close_quietly(core)


atexit.register(_at_exit)
