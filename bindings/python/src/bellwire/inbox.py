"""The stored parts of a device: the inbox, and the queue of waiting commands."""

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
    """A part of a device. Keeps the device from being garbage-collected."""

    def __init__(self, device: Handle) -> None:
        self._device = device

    @property
    def _core(self) -> Core:
        return self._device._core

    def _ask(self, read: Callable[[Any], T], name: str, *arguments: Any) -> T:
        return read(self._core.ask(name, *arguments)[1])


class Inbox(Room):
    """The stored notifications of all desktops: ``device.inbox``. It opens at once, also offline.

    ``desktop`` is the id of a paired desktop, or None if exactly one is paired; ``timeout`` is in seconds. Calls that
    ask a desktop raise the same errors as the methods. A change for an offline desktop returns
    :class:`~bellwire.Queued` and is visible at once. If the answer was lost (:class:`~bellwire.CallTimeoutError`), rows
    are ``uncertain`` until the next refresh.
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
        """The unread count, and the state of each desktop's rows."""
        return self._ask(one(InboxState), "bw_inbox_state")

    def settings(self, desktop: str | None = None) -> InboxSettings:
        """The desktop's settings as last received, from the store.

        Raises :class:`~bellwire.NotFoundError` (no such desktop, or never received),
        :class:`~bellwire.UnsupportedError`.
        """
        return self._ask(one(InboxSettings), "bw_inbox_settings", _wire.optional_text(desktop, "desktop"))

    def refresh(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Refreshed:
        """Updates the inbox from the desktop's history; None = from all paired desktops."""
        return self._ask(one(Refreshed), "bw_inbox_refresh", *_target(desktop, timeout))

    async def arefresh(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Refreshed:
        """Async version of :meth:`refresh`."""
        return one(Refreshed)((await ask_async(self._core, "bw_inbox_refresh_async", *_target(desktop, timeout)))[1])

    def mark_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """Marks a notification as read. Raises :class:`~bellwire.NotFoundError` if it is not in the inbox."""
        return self._change(one(Marked), "mark_read", *_target(desktop, timeout, notification_id))

    async def amark_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """Async version of :meth:`mark_read`."""
        return await self._achange(one(Marked), "mark_read", *_target(desktop, timeout, notification_id))

    def mark_all_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """Marks all notifications of a desktop as read."""
        return self._change(one(Marked), "mark_all_read", *_target(desktop, timeout))

    async def amark_all_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """Async version of :meth:`mark_all_read`."""
        return await self._achange(one(Marked), "mark_all_read", *_target(desktop, timeout))

    def delete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """Deletes a notification, also on the desktop. Raises :class:`~bellwire.NotFoundError`."""
        return self._change(one(Deleted), "delete", *_target(desktop, timeout, notification_id))

    async def adelete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """Async version of :meth:`delete`."""
        return await self._achange(one(Deleted), "delete", *_target(desktop, timeout, notification_id))

    def clear(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """Deletes all notifications of a desktop, also there."""
        return self._change(one(Cleared), "clear", *_target(desktop, timeout))

    async def aclear(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """Async version of :meth:`clear`."""
        return await self._achange(one(Cleared), "clear", *_target(desktop, timeout))

    def _change(self, read: Callable[[Any], T], name: str, *arguments: Any) -> Union[T, Queued]:
        return settled(read, *self._core.ask(f"bw_inbox_{name}", *arguments))

    async def _achange(self, read: Callable[[Any], T], name: str, *arguments: Any) -> Union[T, Queued]:
        return settled(read, *await ask_async(self._core, f"bw_inbox_{name}_async", *arguments))


class Queue(Room):
    """The commands that wait for an offline desktop: ``device.queue``. At most 100, each for 24 hours."""

    def list(self) -> tuple[QueuedCommand, ...]:
        """All of them, oldest first."""
        return self._ask(list_of(QueuedCommand), "bw_queue_list")

    def remove(self, command_id: str) -> None:
        """Removes a command; if it has been sent before, it may have been executed.

        Raises :class:`~bellwire.NotFoundError`, :class:`~bellwire.BusyError` (it is being sent).
        """
        self._core.do("bw_queue_remove", _wire.text(command_id, "id"))

    def retry(self, command_id: str | None = None) -> None:
        """Makes a failed command pending again; None = all failed ones. Raises the same errors as :meth:`remove`."""
        self._core.do("bw_queue_retry", _wire.optional_text(command_id, "id"))

    def clear(self, older_than: Moment | None = None) -> None:
        """Removes failed commands created before that time; None = all failed ones."""
        moment = 0 if older_than is None else _wire.integer(_wire.milliseconds(older_than), "older_than_ms", INT64)
        self._core.do("bw_queue_clear", ctypes.c_int64(moment))


def _target(desktop: str | None, timeout: float, notification_id: str | None = None) -> tuple[Any, ...]:
    ids = () if notification_id is None else (_wire.text(notification_id, "id"),)
    return (_wire.optional_text(desktop, "desktop"), *ids, milliseconds(timeout))
