"""The typed notification methods of a device; the coroutine version has an ``a`` before its name.

``desktop`` is the id of a paired desktop, or None if exactly one is paired; ``timeout`` is in seconds, at most 600.
All raise :class:`~bellwire.InvalidError` (before anything is sent), :class:`~bellwire.NotFoundError` (desktop),
:class:`~bellwire.OfflineError`, :class:`~bellwire.CallTimeoutError` (it may still be executed),
:class:`~bellwire.RemoteError`, :class:`~bellwire.ProtocolError`, :class:`~bellwire.DeniedError`,
:class:`~bellwire.UnsupportedError` and :class:`~bellwire.LimitError` (1,024 calls are in progress).

Some can be queued for an offline desktop: instead of raising OfflineError they return :class:`~bellwire.Queued`. So can
those that send, with ``queue_for``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Union, overload

from . import _wire
from ._core import ask_async
from ._fields import PushFields, push_params
from ._handle import TIMEOUT, PostingHandle, milliseconds
from ._signatures import declare_methods
from ._wire import Moment, members, one
from .models import (
    Broadcast,
    Cleared,
    Deleted,
    HistoryPage,
    Marked,
    Priority,
    Queued,
    Sent,
    SentToMobile,
    Settings,
    SettingsUpdate,
    Sort,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

declare_methods(
    "send",
    "send_to_mobile",
    "broadcast",
    "get_history",
    "mark_as_read",
    "mark_all_as_read",
    "delete",
    "clear_all",
    "get_unread_count",
    "get_settings",
    "update_settings",
)

T = TypeVar("T")
Object = Mapping[str, Any]


def settled(read: Callable[[Any], T], status: int, result: Any) -> Union[T, Queued]:
    """A result, or the note that the command was queued."""
    if status == 1:
        return Queued(str(result["id"]))
    return read(result)


def history_params(
    *,
    limit: int | None,
    offset: int | None,
    unread_only: bool,
    query: str | None,
    priority: Priority | str | None,
    source: str | None,
    since: Moment | None,
    until: Moment | None,
    sort: Sort | str | None,
    before: str | None,
) -> dict[str, Any]:
    return members(
        limit=limit,
        offset=offset,
        unread_only=unread_only or None,
        query=query,
        priority=priority,
        source=source,
        since=since,
        until=until,
        sort=sort,
        before=before,
    )


def _count(value: Any) -> int:
    return int(value["count"])


class Methods(PostingHandle):
    """The methods that a device can call on a desktop."""

    def _call(
        self, read: Callable[[Any], T], method: str, desktop: str | None, params: Object | None, timeout: float
    ) -> T:
        return self._ask(read, f"bw_notification_{method}", *_arguments(desktop, params, timeout))

    async def _acall(
        self, read: Callable[[Any], T], method: str, desktop: str | None, params: Object | None, timeout: float
    ) -> T:
        return await self._aask(read, f"bw_notification_{method}_async", *_arguments(desktop, params, timeout))

    def _change(
        self, read: Callable[[Any], T], method: str, desktop: str | None, params: Object | None, timeout: float
    ) -> Union[T, Queued]:
        return settled(read, *self._core.ask(f"bw_notification_{method}", *_arguments(desktop, params, timeout)))

    async def _achange(
        self, read: Callable[[Any], T], method: str, desktop: str | None, params: Object | None, timeout: float
    ) -> Union[T, Queued]:
        name = f"bw_notification_{method}_async"
        return settled(read, *await ask_async(self._core, name, *_arguments(desktop, params, timeout)))

    @overload
    def send(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Sent: ...

    @overload
    def send(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Sent, Queued]: ...

    def send(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Sent, Queued]:
        """Shows a notification on the desktop, which stores it and pushes it to its devices.

        ``title`` has 1 to 1,024 bytes, ``body`` at most 65,536. ``icon`` is the one that the desktop shows with it.
        The other fields are those of :class:`~bellwire.PushFields`, such as ``priority="urgent"`` or
        ``image_url="https://…"``. The desktop's quiet hours silence it, unless it is ``urgent`` or
        ``respect_quiet_hours`` is False. With ``queue_for``, up to 86,400 seconds, it waits in the queue for that
        long while the desktop is offline, if the desktop is encrypted; the result is then :class:`Queued`.
        """
        params = push_params(title, body, fields, icon=icon, queue_ms=_wire.queue_ms(queue_for))
        return self._change(one(Sent), "send", desktop, params, timeout)

    @overload
    async def asend(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Sent: ...

    @overload
    async def asend(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Sent, Queued]: ...

    async def asend(
        self,
        title: str,
        body: str = "",
        *,
        icon: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Sent, Queued]:
        """Async version of :meth:`send`."""
        params = push_params(title, body, fields, icon=icon, queue_ms=_wire.queue_ms(queue_for))
        return await self._achange(one(Sent), "send", desktop, params, timeout)

    @overload
    def send_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> SentToMobile: ...

    @overload
    def send_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[SentToMobile, Queued]: ...

    def send_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[SentToMobile, Queued]:
        """Makes the desktop push to one of its devices; without ``device_id``, to this one.

        The other fields and ``queue_for`` are as for :meth:`send`.
        """
        params = push_params(title, body, fields, device_id=device_id, queue_ms=_wire.queue_ms(queue_for))
        return self._change(one(SentToMobile), "send_to_mobile", desktop, params, timeout)

    @overload
    async def asend_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> SentToMobile: ...

    @overload
    async def asend_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[SentToMobile, Queued]: ...

    async def asend_to_mobile(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[SentToMobile, Queued]:
        """Async version of :meth:`send_to_mobile`."""
        params = push_params(title, body, fields, device_id=device_id, queue_ms=_wire.queue_ms(queue_for))
        return await self._achange(one(SentToMobile), "send_to_mobile", desktop, params, timeout)

    @overload
    def broadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Broadcast: ...

    @overload
    def broadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Broadcast, Queued]: ...

    def broadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Broadcast, Queued]:
        """Makes the desktop push to all its devices, or to those of its group ``group``.

        The other fields and ``queue_for`` are as for :meth:`send`.
        """
        params = push_params(title, body, fields, group=group, queue_ms=_wire.queue_ms(queue_for))
        return self._change(one(Broadcast), "broadcast", desktop, params, timeout)

    @overload
    async def abroadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Broadcast: ...

    @overload
    async def abroadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: float,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Broadcast, Queued]: ...

    async def abroadcast(
        self,
        title: str,
        body: str = "",
        *,
        group: str | None = None,
        queue_for: float | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Union[Broadcast, Queued]:
        """Async version of :meth:`broadcast`."""
        params = push_params(title, body, fields, group=group, queue_ms=_wire.queue_ms(queue_for))
        return await self._achange(one(Broadcast), "broadcast", desktop, params, timeout)

    def history(
        self,
        *,
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
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> HistoryPage:
        """A page of the desktop's history, newest first unless ``sort`` is given.

        ``limit`` is 1 to 500, default 50. ``query``: words that must all occur in title or body; ``buil*`` matches a
        prefix. ``before``: the ``next`` of the previous page. All parameters except ``limit``, ``offset`` and
        ``unread_only`` require a Bellwire desktop.
        """
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
        return self._call(one(HistoryPage), "get_history", desktop, params, timeout)

    async def ahistory(
        self,
        *,
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
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> HistoryPage:
        """Async version of :meth:`history`."""
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
        return await self._acall(one(HistoryPage), "get_history", desktop, params, timeout)

    def mark_as_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """Marks a notification as read."""
        params = members(notification_id=notification_id)
        return self._change(one(Marked), "mark_as_read", desktop, params, timeout)

    async def amark_as_read(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Marked, Queued]:
        """Async version of :meth:`mark_as_read`."""
        params = members(notification_id=notification_id)
        return await self._achange(one(Marked), "mark_as_read", desktop, params, timeout)

    def mark_all_as_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """Marks all of the desktop's notifications as read."""
        return self._change(one(Marked), "mark_all_as_read", desktop, None, timeout)

    async def amark_all_as_read(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Marked, Queued]:
        """Async version of :meth:`mark_all_as_read`."""
        return await self._achange(one(Marked), "mark_all_as_read", desktop, None, timeout)

    def delete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """Deletes a notification; an unknown id is not a failure."""
        params = members(notification_id=notification_id)
        return self._change(one(Deleted), "delete", desktop, params, timeout)

    async def adelete(
        self, notification_id: str, *, desktop: str | None = None, timeout: float = TIMEOUT
    ) -> Union[Deleted, Queued]:
        """Async version of :meth:`delete`."""
        params = members(notification_id=notification_id)
        return await self._achange(one(Deleted), "delete", desktop, params, timeout)

    def clear_all(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """Deletes all of the desktop's notifications."""
        return self._change(one(Cleared), "clear_all", desktop, None, timeout)

    async def aclear_all(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Union[Cleared, Queued]:
        """Async version of :meth:`clear_all`."""
        return await self._achange(one(Cleared), "clear_all", desktop, None, timeout)

    def unread_count(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> int:
        """How many of the desktop's notifications are unread."""
        return self._call(_count, "get_unread_count", desktop, None, timeout)

    async def aunread_count(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> int:
        """Async version of :meth:`unread_count`."""
        return await self._acall(_count, "get_unread_count", desktop, None, timeout)

    def settings(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Settings:
        """The desktop's settings; a device's own are in :class:`~bellwire.Alerts`."""
        return self._call(one(Settings), "get_settings", desktop, None, timeout)

    async def asettings(self, *, desktop: str | None = None, timeout: float = TIMEOUT) -> Settings:
        """Async version of :meth:`settings`."""
        return await self._acall(one(Settings), "get_settings", desktop, None, timeout)

    def update_settings(
        self,
        *,
        enabled: bool | None = None,
        quiet_hours_enabled: bool | None = None,
        quiet_hours_start: str | None = None,
        quiet_hours_end: str | None = None,
        sound_enabled: bool | None = None,
        vibration_enabled: bool | None = None,
        show_preview: bool | None = None,
        retention_rows: int | None = None,
        retention_days: int | None = None,
        revision: int | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Union[SettingsUpdate, Queued]:
        """Changes the given settings of the desktop; others stay as they are.

        Times of day are ``HH:mm`` in the desktop's time zone. ``revision`` is that of the settings the change is based
        on: a field that someone else has changed since then keeps its value and is listed in ``stale``.
        """
        params = members(
            enabled=enabled,
            quiet_hours_enabled=quiet_hours_enabled,
            quiet_hours_start=quiet_hours_start,
            quiet_hours_end=quiet_hours_end,
            sound_enabled=sound_enabled,
            vibration_enabled=vibration_enabled,
            show_preview=show_preview,
            retention_rows=retention_rows,
            retention_days=retention_days,
            revision=revision,
        )
        return self._change(one(SettingsUpdate), "update_settings", desktop, params, timeout)

    async def aupdate_settings(
        self,
        *,
        enabled: bool | None = None,
        quiet_hours_enabled: bool | None = None,
        quiet_hours_start: str | None = None,
        quiet_hours_end: str | None = None,
        sound_enabled: bool | None = None,
        vibration_enabled: bool | None = None,
        show_preview: bool | None = None,
        retention_rows: int | None = None,
        retention_days: int | None = None,
        revision: int | None = None,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Union[SettingsUpdate, Queued]:
        """Async version of :meth:`update_settings`."""
        params = members(
            enabled=enabled,
            quiet_hours_enabled=quiet_hours_enabled,
            quiet_hours_start=quiet_hours_start,
            quiet_hours_end=quiet_hours_end,
            sound_enabled=sound_enabled,
            vibration_enabled=vibration_enabled,
            show_preview=show_preview,
            retention_rows=retention_rows,
            retention_days=retention_days,
            revision=revision,
        )
        return await self._achange(one(SettingsUpdate), "update_settings", desktop, params, timeout)


def _arguments(desktop: str | None, params: Object | None, timeout: float) -> tuple[Any, ...]:
    return (
        _wire.optional_text(desktop, "desktop"),
        None if params is None else _wire.dumps(params),
        milliseconds(timeout),
    )
