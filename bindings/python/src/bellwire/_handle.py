"""The common base of device, desktop and relay: lifecycle, dispatch and events."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ClassVar, Optional, TypeVar

from . import _wire
from ._callbacks import holding_signals
from ._core import Core, abandoned, ask_async
from ._streams import AsyncStream, Source, Stream, subscribe
from .models import Push
from .states import Event

Self = TypeVar("Self", bound="Handle")
T = TypeVar("T")

#: The default time that a call waits for an answer, in seconds.
TIMEOUT = 30.0

#: Events that a device stores until they are delivered.
STORED = ("notification.received", "notification.response", "notification.silent")


class Subscription:
    """Calls a function for each event with a name, until :meth:`cancel`."""

    def __init__(self, core: Core, event: str, function: Callable[[bytes, bytes], None]) -> None:
        self.event = event
        self._core = core
        core.require_open()
        with holding_signals():
            core.add_taker(self, event)
            try:
                number = ctypes.c_uint64()
                subscribe(core, event, function, number)
                self._number: Optional[int] = number.value
            except BaseException:
                core.takers.pop(self, None)
                raise

    def resume(self) -> None:
        """It is never away."""

    def cancel(self) -> None:
        """Ends the subscription: after this returns, the function is not called. Idempotent.

        If another thread is running the function, this waits for it.
        """
        with holding_signals():
            number, self._number = self._number, None
            self._core.takers.pop(self, None)
            if number is not None and not self._core.closed:
                self._core.unsubscribe(number)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class Handle:
    """An open handle of the library. As a context manager it closes itself.

    Any thread may call it; calls that wait let other threads run. Callbacks run only inside :meth:`dispatch`,
    :meth:`run` and iteration, on the calling thread, one at a time. If a callback raises an exception, that call
    raises it. With ``threaded=True`` the library runs callbacks on its own thread, and their exceptions go to
    :func:`threading.excepthook`.

    After :func:`os.fork`, calls in the child raise :class:`~bellwire.ForkedError`. Handles that are still open when
    the interpreter ends are closed.
    """

    _role: ClassVar[str]

    def __init__(self, options: dict[str, Any]) -> None:
        self._core = Core(self._role, options)
        self._finalizer = weakref.finalize(self, abandoned, self._core, type(self).__name__)
        self._finalizer.atexit = False

    # Life

    def start(self) -> None:
        """Goes online and stays online until :meth:`stop` or :meth:`close`. Does not wait. Idempotent."""
        self._core.do("start")

    def stop(self) -> None:
        """Goes offline. Pending calls raise :class:`~bellwire.OfflineError`. Idempotent."""
        self._core.do("stop")

    def close(self) -> None:
        """Closes the handle: waiting and awaited calls raise :class:`~bellwire.ClosedError`; no callback runs after it.

        If another thread runs a callback, it waits for that callback. It may be called inside a callback. Idempotent.
        """
        self._finalizer.detach()
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._core.closed

    def __enter__(self: Self) -> Self:
        self._core.require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<bellwire.{type(self).__name__} {'closed' if self.closed else 'open'}>"

    # Loops

    def fileno(self) -> int:
        """A file descriptor that is readable when there is something to :meth:`dispatch`, for any main loop.

        It never changes while the handle is open. Only poll it: do not read, write or close it.
        """
        self._core.do("fd")
        return self._core.number

    def dispatch(self) -> None:
        """Runs the callbacks for everything that has arrived, then returns. Never waits.

        Raises what a callback raised; :class:`~bellwire.BusyError` inside a callback, while another thread dispatches,
        or with ``threaded=True``; :class:`~bellwire.StoreError` (pushes could not be marked as delivered: they come
        again).
        """
        self._core.dispatch()

    def run(self, timeout: float | None = None) -> None:
        """Waits and dispatches for ``timeout`` seconds (None = no limit), until :meth:`quit`, or until closed.

        Signals are handled, so Ctrl-C raises KeyboardInterrupt. Raises the same errors as :meth:`dispatch`.
        """
        self._core.run(timeout)

    def quit(self) -> None:
        """Makes the running :meth:`run` return, or the next one if none is running. Callable from any thread."""
        self._core.quit()

    # Events

    def subscribe(self, event: str, callback: Callable[[Event], object]) -> Subscription:
        """Calls ``callback`` for each event with this name, or for all with ``"*"``, in order.

        ``bellwire.h`` lists the names and their data under "Events". Raises :class:`~bellwire.InvalidError` if there
        is no such event.
        """

        def call(_name: bytes, text: bytes) -> None:
            callback(_wire.decode(Event, _wire.loads(text)))

        return Subscription(self._core, event, call)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Same as :meth:`Subscription.cancel`."""
        subscription.cancel()

    def events(self, *names: str, timeout: float | None = None) -> Stream[Event]:
        """Iterates over events with these names, or over all; see :class:`~bellwire.Stream`.

        It ends after ``timeout`` seconds without an event; None = never.
        """
        return Stream(self, self._source(names or ("*",), _event), timeout)

    def aevents(self, *names: str, timeout: float | None = None) -> AsyncStream[Event]:
        """Async version of :meth:`events`, for ``async for``."""
        return AsyncStream(self, self._source(names or ("*",), _event), timeout)

    def _source(self, names: tuple[str, ...], read: Callable[[Any], T]) -> Source[T]:
        self._core.require_open()
        stored = names[0] if self._role == "device" and len(names) == 1 and names[0] in STORED else None
        return Source(self._core, names, read, stored)

    # Calls

    def _ask(self, read: Callable[[Any], T], name: str, *arguments: Any) -> T:
        return read(self._core.ask(name, *arguments)[1])

    async def _aask(self, read: Callable[[Any], T], name: str, *arguments: Any) -> T:
        return read((await ask_async(self._core, name, *arguments))[1])


class PostingHandle(Handle):
    """A device or a desktop, which also carry the program's own events."""

    def post(self, topic: str, data: Mapping[str, Any] | None = None) -> None:
        """Posts an event of the program's own, from any thread, to its subscribers on the dispatching thread.

        ``topic`` is ``host.`` followed by letters, digits and . _ -, at most 128 bytes; ``data`` has at most 65,536
        bytes of JSON. Raises :class:`~bellwire.LimitError` if 1,024 events wait.
        """
        self._core.do("post", _wire.text(topic, "topic"), None if data is None else _wire.dumps(data, "data"))


def _event(value: Any) -> Event:
    return _wire.decode(Event, value)


def push_of(value: Any) -> Push:
    """The push in a notification.received or notification.updated event."""
    return _wire.decode(Push, {**value["data"], "desktop": value.get("desktop")})


def milliseconds(seconds: float) -> ctypes.c_int32:
    return ctypes.c_int32(_wire.timeout_ms(seconds))
