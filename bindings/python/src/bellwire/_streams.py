"""Streams of events: ``for push in device.pushes()``, and ``async for`` on the asyncio loop."""

from __future__ import annotations

import asyncio
import ctypes
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any, Generic, TypeVar

from . import _callbacks, _wire
from ._callbacks import holding_signals
from ._core import Attachment, Core, attach
from .errors import BellwireError, ClosedError, LimitError

T = TypeVar("T")

#: How many events a stream buffers.
CAPACITY = 1024


def subscribe(
    core: Core, event: str, function: Callable[[bytes, bytes], None], number: ctypes.c_uint64, is_host: bool = True
) -> None:
    """Subscribes at the library; ``number`` becomes the subscription's number."""
    name = _wire.text(event, "event")
    status = core.give("subscribe", (name,), _callbacks.EVENT, function, ctypes.byref(number), is_host=is_host)
    if status < 0:
        raise core.failure(status)


class Source(Generic[T]):
    """A stream's subscriptions, and the events that have arrived but were not consumed yet.

    Events that the library stores until they are delivered, such as pushes, are taken one at a time: the subscription
    ends inside its own callback, and is created again for the next event. So events that the program has not iterated
    to stay stored, also when the process ends. This works only while no other taker on this handle takes the same
    events; it would get them while this source is not subscribed.

    Signal handlers that raise do so before or after each method, never in between: see :func:`holding_signals`.
    """

    def __init__(self, core: Core, events: tuple[str, ...], read: Callable[[Any], T], stored: str | None) -> None:
        self.core, self.events, self.read = core, events, read
        self.stored = stored
        self.items: deque[T] = deque()
        #: The first item was given to the program; see Stream.__next__().
        self.given = False
        self.numbers: list[ctypes.c_uint64] = []
        self.overflowed = False
        #: An asyncio stream that waits.
        self.wake: Callable[[], None] | None = None
        if stored is not None:
            core.add_taker(self, stored)

    def resume(self) -> None:
        with holding_signals():
            if self.numbers or self.core.closed or self.overflowed:
                return
            # Also one of many events: it takes stored ones among them, for which others may be away just now.
            if self not in self.core.takers:
                self.core.add_taker(self, *self.events)
            self.numbers = [ctypes.c_uint64() for _ in self.events]
            try:
                for event, number in zip(self.events, self.numbers):
                    subscribe(self.core, event, self._take, number, is_host=False)
            except BellwireError:
                self.end()
                raise

    def pause(self) -> None:
        with holding_signals():
            numbers, self.numbers = self.numbers, []
            for number in numbers:
                if number.value and not self.core.closed:
                    try:
                        self.core.unsubscribe(number)
                    except BellwireError:
                        if not self.core.closed:
                            raise

    def _take(self, _name: bytes, text: bytes) -> None:
        self.items.append(self.read(_wire.loads(text)))
        # On a thread of the library's this may come before the call that subscribes has told the number.
        if all(number.value for number in self.numbers):
            if len(self.items) - self.given >= CAPACITY:
                self.overflowed = self.stored is None
                self.end() if self.overflowed else self.pause()
            elif self.stored is not None and self.core.takes_alone(self):
                self.pause()
        with self.core.condition:
            self.core.condition.notify_all()
        if self.wake is not None:
            self.wake()

    def rest(self) -> None:
        """Pauses when no iteration waits, so that further events stay in the store."""
        with holding_signals():
            if self.stored is not None and not self.ready and self.core.takes_alone(self):
                self.core.takers.pop(self, None)
                self.pause()

    @property
    def ready(self) -> bool:
        return len(self.items) > self.given

    def pop(self) -> T:
        return self.items.popleft()

    def end(self) -> None:
        with holding_signals():
            self.core.takers.pop(self, None)
            self.pause()

    def overflow(self) -> LimitError:
        return LimitError(f"the stream has ended: {CAPACITY} events were waiting, the limit; iterate faster")


class Stream(Generic[T], Iterator[T]):
    """Iterates over events. Ends when the handle is closed, or after ``timeout`` seconds without an event.

    While it waits it dispatches: callbacks of the handle run on this thread, and their exceptions are raised here. The
    subscription ends with :meth:`close`, at the end of a ``with`` statement, or when the stream is garbage-collected.

    A signal handler that raises, such as Ctrl-C, loses no event of a ``for`` loop: another loop over the same stream
    continues with the next one.
    """

    def __init__(self, owner: object, source: Source[T], timeout: float | None) -> None:
        self._owner, self._source, self._timeout = owner, source, timeout
        self._ended = False

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        source = self._source
        if source.given:
            source.given = False
            source.items.popleft()
        if self._ended:
            raise StopIteration
        if not source.ready:
            if source.overflowed:
                self.close()
                raise source.overflow()
            try:
                source.resume()
                arrived = source.core.pump(lambda: source.ready, self._timeout)
            except ClosedError:
                arrived = False
            except BaseException:
                source.rest()
                raise
            if not arrived:
                self.close()
                raise StopIteration
        # The interpreter runs signal handlers after a call: what they raise there would lose an item just taken out.
        # So it is taken out by the next call. From here to the caller there is none.
        item = source.items[0]
        source.given = True
        return item

    def close(self) -> None:
        """Ends it. Events not consumed yet stay in the store, if the library stores events of this kind."""
        if not self._ended:
            self._ended = True
            self._source.end()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_ended", True):
            # In a fork of the process that opened it, or with a handle that is closed just now.
            with suppress(BellwireError):
                self.close()


class AsyncStream(Generic[T], AsyncIterator[T]):
    """Like :class:`Stream`, on the asyncio loop, which polls the handle's file descriptor while something waits.

    Exceptions of the handle's callbacks go to the loop's exception handler.
    """

    def __init__(self, owner: object, source: Source[T], timeout: float | None) -> None:
        self._owner, self._source, self._timeout = owner, source, timeout
        self._attachment: Attachment | None = None
        self._waiting = False
        self._ended = False

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> T:
        source = self._source
        if self._ended:
            raise StopAsyncIteration
        if not source.ready:
            if source.overflowed:
                await self.aclose()
                raise source.overflow()
            if not await self.arrives(self._timeout):
                await self.aclose()
                raise StopAsyncIteration
        return source.pop()

    def listen(self) -> None:
        """Starts to receive events."""
        if self._attachment is None:
            self._attachment = attach(self._source.core)
        self._source.resume()

    async def arrives(self, timeout: float | None) -> bool:
        """Waits up to so many seconds for an event; returns whether there is one."""
        source = self._source
        if self._waiting:
            raise RuntimeError("the stream is already awaited; use one stream per task")
        if source.core.closed:
            return source.ready
        self.listen()
        arrived = asyncio.Event()
        attachment = self._attachment

        def wake() -> None:
            if attachment is not None:
                attachment.soon(arrived.set)

        source.wake = wake
        source.core.at_close.add(wake)
        self._waiting = True
        try:
            while not source.ready and not source.core.closed:
                arrived.clear()
                if timeout is None:
                    await arrived.wait()
                else:
                    await asyncio.wait_for(arrived.wait(), timeout)
        except asyncio.TimeoutError:
            pass
        finally:
            self._waiting = False
            source.wake = None
            source.core.at_close.discard(wake)
            source.rest()
        return source.ready

    def forget(self) -> None:
        """Drops events that were not consumed."""
        self._source.items.clear()

    async def aclose(self) -> None:
        """Ends it."""
        if not self._ended:
            self._ended = True
            if self._attachment is not None:
                self._attachment.release()
                self._attachment = None
            self._source.end()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if not getattr(self, "_ended", True):
            self._ended = True
            with suppress(BellwireError):
                if self._attachment is not None:
                    self._attachment.soon(self._attachment.release)
                self._source.end()
