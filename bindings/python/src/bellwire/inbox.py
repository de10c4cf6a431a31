"""The rooms of a device that stand in its store: the inbox, and the queue of commands that wait."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar, Union

from . import _wire
from ._core import Core, ask_async
from ._handle import TIMEOUT, Handle, milliseconds
from ._methods import history_params, settled
from ._wire import INT64, Moment, list_of, one
from .models import Cleared, Deleted, InboxPage, Marked, Priority, Queued, Sort
from .states import InboxSettings, InboxState, QueuedCommand, Refreshed

T = TypeVar("T")


class Room:
    """A part of a device. Keeps the device from being collected."""

    def __init__(self, device: Handle) -> None:
        self._device = device

    @property
    def _core(self) -> Core:
        return self._device._core

    def _ask(self, read: Callable[[Any], T], name: str, *arguments: Any) -> T:
        return read(self._core.ask(name, *arguments)[1])


class Inbox(Room):
    """The desktops' history as the device knows it: ``device.inbox``. It opens at once, and offline.

    ``desktop`` is the id of a paired desktop, None where exactly one is paired; ``timeout`` is in seconds. What asks a
    desktop raises as the methods do. A change that has to wait for its desktop gives :class:`~bellwire.Queued`, and is
    shown at once. Where the answer was lost (:class:`~bellwire.CallTimeoutError`), rows are ``uncertain`` until the
    next refresh.
    """

    def load(
        self,
        *,
        desktop: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        unread_only: bool = False,
        query: str | None = None,
        priority: Priority | str | None = None,
        source: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        sort: Sort | str | None = None,
        before: str | None = None,
    ) -> InboxPage:
        """A page of the inbox, of one desktop or of all; see :meth:`Device.history` for the parameters."""
        params = history_params(
            limit=limit,
            offset=offset,
            unread_only=unread_only,
            query=query,
            priority=priority,
            source=source,
            since=since,
            until=until,
            sort=sort,
            before=before,
        )
        if desktop is not None:
            params["desktop"] = desktop
        return self._ask(one(InboxPage), "bw_inbox_load", _wire.dumps(params))

    def state(self) -> InboxState:
        """How many are unread, and how each desktop's part stands to the desktop."""
        return self._ask(one(InboxState), "bw_inbox_state")

    def settings(self, desktop: str | None = None) -> InboxSettings:
        """The desktop's settings as it told them last, out of the store.

        Raises :class:`~bellwire.NotFoundError` (desktop; or it has not told them yet),
        :class:`~bellwire.UnsupportedError`.
        """
        return self._ask(one(InboxSettings), "bw_inbox_settings", _wire.optional_text(desktop, "desktop"))

    def refresh(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Refreshed:
        """Brings it up to date with the desktop's history; None = with those of all paired desktops."""
        return self._ask(one(Refreshed), "bw_inbox_refresh", *_target(desktop, timeout))

    async def arefresh(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Refreshed:
        """As :meth:`refresh`, awaited."""
        return one(Refreshed)((await ask_async(self._core, "bw_inbox_refresh_async", *_target(desktop, timeout)))[1])

    def mark_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """Marks a notification as read. Raises :class:`~bellwire.NotFoundError` when the inbox does not have it."""
        return self._change(one(Marked), "mark_read", *_target(desktop, timeout, notification_id))

    async def amark_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """As :meth:`mark_read`, awaited."""
        return await self._achange(one(Marked), "mark_read", *_target(desktop, timeout, notification_id))

    def mark_all_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """Marks all of a desktop's as read."""
        return self._change(one(Marked), "mark_all_read", *_target(desktop, timeout))

    async def amark_all_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """As :meth:`mark_all_read`, awaited."""
        return await self._achange(one(Marked), "mark_all_read", *_target(desktop, timeout))

    def delete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """Deletes a notification, on the desktop as well. Raises :class:`~bellwire.NotFoundError`."""
        return self._change(one(Deleted), "delete", *_target(desktop, timeout, notification_id))

    async def adelete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """As :meth:`delete`, awaited."""
        return await self._achange(one(Deleted), "delete", *_target(desktop, timeout, notification_id))

    def clear(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """Deletes all of a desktop's, on the desktop as well."""
        return self._change(one(Cleared), "clear", *_target(desktop, timeout))

    async def aclear(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """As :meth:`clear`, awaited."""
        return await self._achange(one(Cleared), "clear", *_target(desktop, timeout))

    def _change(self, read: Callable[[Any], T], name: str, *arguments: Any) -> Union[T, Queued]:
        return settled(read, *self._core.ask(f"bw_inbox_{name}", *arguments))

    async def _achange(self, read: Callable[[Any], T], name: str, *arguments: Any) -> Union[T, Queued]:
        return settled(read, *await ask_async(self._core, f"bw_inbox_{name}_async", *arguments))


class Queue(Room):
    """The commands that wait for their desktops: ``device.queue``. At most 100, each for 24 hours."""

    def list(self) -> tuple[QueuedCommand, ...]:
        """All of them, the oldest first."""
        return self._ask(list_of(QueuedCommand), "bw_queue_list")

    def remove(self, command_id: str) -> None:
        """Takes one out; one that was sent before may have been carried out all the same.

        Raises :class:`~bellwire.NotFoundError`, :class:`~bellwire.BusyError` (it is being sent just now).
        """
        self._core.do("bw_queue_remove", _wire.text(command_id, "id"))

    def retry(self, command_id: str | None = None) -> None:
        """Lets one that has failed wait again, as if it were new; None = all that have. Raises as :meth:`remove`."""
        self._core.do("bw_queue_retry", _wire.optional_text(command_id, "id"))

    def clear(self, older_than: Moment | None = None) -> None:
        """Takes out those that have failed and were given before that moment; None = all that have failed."""
        moment = 0 if older_than is None else _wire.integer(_wire.milliseconds(older_than), "older_than_ms", INT64)
        self._core.do("bw_queue_clear", ctypes.c_int64(moment))


def _target(desktop: str | None, timeout: float, notification_id: str | None = None) -> tuple[Any, ...]:
    ids = () if notification_id is None else (_wire.text(notification_id, "id"),)
    return (_wire.optional_text(desktop, "desktop"), *ids, milliseconds(timeout))
