"""What a device, a desktop and a relay have in common: life, dispatch, events."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ClassVar, Optional, TypeVar

from . import _wire
from ._core import Core, abandoned, ask_async
from ._streams import AsyncStream, Source, Stream, subscribe
from .models import Push
from .states import Event

Self = TypeVar("Self", bound="Handle")
T = TypeVar("T")

#: Seconds that a call waits for an answer, unless it is told otherwise.
TIMEOUT = 30.0

#: Events that a device keeps in its store until they are handed over.
STORED = ("notification.received", "notification.response", "notification.silent")


class Subscription:
    """Calls a function for each event of a name, until :meth:`cancel`."""

    def __init__(self, core: Core, event: str, function: Callable[[bytes, bytes], None]) -> None:
        self.event = event
        self._core = core
        core.require_open()
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
        """Ends it: once this has returned, the function is not called. Idempotent.

        From another thread this waits for the function, if it is running.
        """
        number, self._number = self._number, None
        self._core.takers.pop(self, None)
        if number is not None and not self._core.closed:
            self._core.unsubscribe(number)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class Handle:
    """An open handle of the library; a context manager, which closes it.

    Calls may be made from any thread; those that wait let other threads run. Callbacks are called only inside
    :meth:`dispatch`, :meth:`run` and whatever iterates, on the thread that is there, one at a time; an exception that
    one raises is raised there. With ``threaded=True`` the library calls them on a thread of its own, and their
    exceptions go to :func:`threading.excepthook`.

    After :func:`os.fork` the child's calls raise :class:`~bellwire.ForkedError`. What is open when the interpreter
    ends is closed then.
    """

    _role: ClassVar[str]

    def __init__(self, options: dict[str, Any]) -> None:
        self._core = Core(self._role, options)
        self._finalizer = weakref.finalize(self, abandoned, self._core, type(self).__name__)
        self._finalizer.atexit = False

    # Life

    def start(self) -> None:
        """Goes online, and stays so until :meth:`stop` or :meth:`close`. Does not wait. Idempotent."""
        self._core.do("start")

    def stop(self) -> None:
        """Goes offline. Calls under way raise :class:`~bellwire.OfflineError`. Idempotent."""
        self._core.do("stop")

    def close(self) -> None:
        """Ends it: calls that wait raise :class:`~bellwire.ClosedError`, awaited ones too; no callback comes after it.

        From another thread it waits for the callback that is running; inside a callback it may be called. Idempotent.
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

        It is the same for the handle's life, and only for polling: do not read, write or close it.
        """
        self._core.do("fd")
        return self._core.number

    def dispatch(self) -> None:
        """Calls the callbacks for what has come, and returns; never waits for more.

        Raises what a callback raised; :class:`~bellwire.BusyError` inside a callback, beside another thread's, or with
        ``threaded=True``; :class:`~bellwire.StoreError` (pushes could not be marked as handed over: they come again).
        """
        self._core.dispatch()

    def run(self, timeout: float | None = None) -> None:
        """Waits and dispatches: for ``timeout`` seconds (None = no limit), until :meth:`quit`, or until it is closed.

        Signals are handled meanwhile, so Ctrl-C raises KeyboardInterrupt. Raises as :meth:`dispatch`.
        """
        self._core.run(timeout)

    def quit(self) -> None:
        """Makes the :meth:`run` that is under way return, or the next one if there is none. From any thread."""
        self._core.quit()

    # Events

    def subscribe(self, event: str, callback: Callable[[Event], object]) -> Subscription:
        """Calls ``callback`` for each event of that name, or for all with ``"*"``, in their order.

        The names, and what stands in their data, are in ``bellwire.h`` under "Events". Raises
        :class:`~bellwire.InvalidError` when there is no such event.
        """

        def call(_name: bytes, text: bytes) -> None:
            callback(_wire.decode(Event, _wire.loads(text)))

        return Subscription(self._core, event, call)

    def unsubscribe(self, subscription: Subscription) -> None:
        """As :meth:`Subscription.cancel`."""
        subscription.cancel()

    def events(self, *names: str, timeout: float | None = None) -> Stream[Event]:
        """Iterates over the events of these names, or over all; see :class:`~bellwire.Stream`.

        ``timeout``: seconds without an event after which it ends; None = never.
        """
        return Stream(self, self._source(names or ("*",), _event), timeout)

    def aevents(self, *names: str, timeout: float | None = None) -> AsyncStream[Event]:
        """As :meth:`events`, for ``async for``."""
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
    """A device or a desktop: they also carry events of the host's own."""

    def post(self, topic: str, data: Mapping[str, Any] | None = None) -> None:
        """Posts an event of the program's own to who has subscribed to it: from any thread to the one that dispatches.

        ``topic`` is ``host.`` and then letters, digits and . _ -, 128 bytes at most; ``data`` at most 65,536 bytes of
        JSON. Raises :class:`~bellwire.LimitError` when 1,024 events wait.
        """
        self._core.do("post", _wire.text(topic, "topic"), None if data is None else _wire.dumps(data, "data"))


def _event(value: Any) -> Event:
    return _wire.decode(Event, value)


def push_of(value: Any) -> Push:
    """The push of a notification.received or notification.updated."""
    return _wire.decode(Push, {**value["data"], "desktop": value.get("desktop")})


def milliseconds(seconds: float) -> ctypes.c_int32:
    return ctypes.c_int32(_wire.timeout_ms(seconds))
