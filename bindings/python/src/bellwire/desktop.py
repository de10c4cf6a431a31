"""The desktop role: shows pairing codes, keeps the history, answers the methods, pushes to its devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import _wire
from ._fields import PushFields, push_params
from ._handle import TIMEOUT, PostingHandle, milliseconds
from ._methods import history_params
from ._wire import Moment, list_of, one
from .device import StrPath, common_options, running_script
from .models import (
    Allowance,
    Broadcast,
    HistoryPage,
    Offer,
    PairedDevice,
    Permissions,
    Priority,
    PushToken,
    Rekey,
    RevokedKey,
    Sort,
    TypedCode,
)
from .states import DesktopState

if TYPE_CHECKING:
    from typing_extensions import Unpack

Flow = Literal["offer", "scan", "code"]


class Desktop(PostingHandle):
    """A desktop. Requires ``relay_url`` or ``relay``. It is offline until :meth:`start` or until it offers pairing.

    ::

        with bellwire.Desktop(relay={"listen": "192.168.1.5:9001"}) as desktop:
            print(bellwire.qr.terminal(desktop.offer().payload))
            desktop.run()

    ``relay_url``
        The relay to register with and to name in pairing codes.
    ``relay``
        Options of its own relay, such as ``{"listen": "0.0.0.0:9001"}``.
    ``signaling_url``
        The URL that codes contain instead, if devices reach that relay under another URL.
    ``confirm``
        True = every device waits for :meth:`confirm`; default: only those that cannot prove that they saw the code.
    ``legacy``
        How such a device may pair: ``"qr"`` (default), ``"all"``, or ``"none"`` = not at all.
    ``max_commands_per_second``
        Limit per device: 1 to 100,000, default 200.
    ``application_id``
        The name of this program among those that use the desktop at the same time, such as ``org.example.App``.

    Other options and exceptions: see :class:`~bellwire.Device`.
    """

    _role = "desktop"

    def __init__(
        self,
        *,
        state_dir: StrPath | None = None,
        name: str | None = None,
        platform: str | None = None,
        relay_url: str | None = None,
        relay: Mapping[str, Any] | None = None,
        signaling_url: str | None = None,
        confirm: bool | None = None,
        keys: Literal["file", "secret-service"] | None = None,
        ca_file: StrPath | None = None,
        legacy: Literal["qr", "all", "none"] | None = None,
        follow_system: bool | None = None,
        max_commands_per_second: int | None = None,
        application_id: str | None = None,
        threaded: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            common_options(
                state_dir,
                ca_file,
                threaded,
                options,
                name=name,
                platform=platform,
                relay_url=relay_url,
                relay=relay,
                signaling_url=signaling_url,
                confirm=confirm,
                keys=keys,
                legacy=legacy,
                follow_system=follow_system,
                max_commands_per_second=max_commands_per_second,
                application_id=application_id,
                program=running_script(),
            )
        )

    def start(self) -> None:
        """Starts its own relay, if configured, and goes online. Does not wait. Idempotent.

        Raises :class:`~bellwire.NetworkError` (the relay's address is in use), :class:`~bellwire.InvalidError`
        (neither ``relay`` nor ``relay_url``).
        """
        super().start()

    def state(self) -> DesktopState:
        """Its id, connections, relay, unread count and counters."""
        return self._ask(one(DesktopState), "state")

    # Pairing

    def offer(self, *, timeout: float = TIMEOUT) -> Offer:
        """Offers pairing for 5 minutes, replaces an earlier offer, and starts the desktop.

        Waits up to ``timeout`` seconds until it is registered with a relay. Raises :class:`~bellwire.OfflineError` or
        :class:`~bellwire.CallTimeoutError` (no relay), :class:`~bellwire.NetworkError`.
        """
        return self._ask(one(Offer), "offer", milliseconds(timeout))

    async def aoffer(self, *, timeout: float = TIMEOUT) -> Offer:
        """Async version of :meth:`offer`."""
        return await self._aask(one(Offer), "offer_async", milliseconds(timeout))

    def scan(self, qr_text: str) -> PairedDevice:
        """Scans the code text that a device shows and returns the device; call :meth:`confirm` within 30 s.

        Further steps send ``pairing.changed``. Raises :class:`~bellwire.PairingError`,
        :class:`~bellwire.NetworkError`.
        """
        return self._ask(one(PairedDevice), "scan", _wire.text(qr_text, "qr_text"))

    def code(self, *, timeout: float = TIMEOUT) -> TypedCode:
        """Creates digits to type on a device, valid for 5 minutes and three attempts.

        Raises :class:`~bellwire.OfflineError` or :class:`~bellwire.CallTimeoutError` (no relay),
        :class:`~bellwire.PairingError`, :class:`~bellwire.NetworkError`.
        """
        return self._ask(one(TypedCode), "code", milliseconds(timeout))

    async def acode(self, *, timeout: float = TIMEOUT) -> TypedCode:
        """Async version of :meth:`code`."""
        return await self._aask(one(TypedCode), "code_async", milliseconds(timeout))

    def cancel_pairing(self, flow: Flow | None = None) -> None:
        """Cancels a flow, or all. Idempotent."""
        self._core.do("pairing_cancel", _wire.optional_text(flow, "flow"))

    def confirm(self, accept: bool, flow: Flow | None = None) -> None:
        """Passes the user's decision about the device in ``pairing.changed``; ``flow`` None = the only flow that asks.

        Raises :class:`~bellwire.NotFoundError` (no device waits; or another one has just replaced it).
        """
        self._core.do("confirm", _wire.optional_text(flow, "flow"), int(bool(accept)))

    def devices(self) -> tuple[PairedDevice, ...]:
        """The paired devices."""
        return self._ask(list_of(PairedDevice), "devices")

    def tokens(self) -> tuple[PushToken, ...]:
        """The push tokens of the paired devices."""
        return self._ask(list_of(PushToken), "tokens")

    def seal_push(
        self, device: str, notification_id: str, *, service: str | None = None, alert: str | None = None
    ) -> dict[str, Any]:
        """Encrypts a push that a device does not have yet, for a push service; returns the payload.

        For programs that send payloads themselves, to the tokens of :meth:`tokens`. Only the device can read it, and it
        shows the push once. ``service`` is ``"apns"`` or any other (default ``"fcm"``); ``alert`` is the title that the
        system shows if it can't be decrypted (APNs). Call this again for each device and each time you send.

        Raises :class:`~bellwire.NotFoundError` (device; or the device has the push), :class:`~bellwire.LimitError`
        (larger than push services carry), :class:`~bellwire.UnsupportedError` (the device has published no keys).
        """
        options = {key: value for key, value in (("service", service), ("alert", alert)) if value is not None}
        return self._ask(
            dict,
            "seal_push",
            _wire.text(device, "device"),
            _wire.text(notification_id, "notification_id"),
            _wire.dumps(options, "options") if options else None,
        )

    def rename(self, device: str, name: str) -> None:
        """Renames a device, on this desktop only; 1 to 256 bytes. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("rename", _wire.text(device, "device"), _wire.text(name, "name"))

    def unpair(self, device: str) -> None:
        """Ends a pairing at once; an offline device is notified later. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("unpair", _wire.text(device, "device"))

    def unpair_all(self) -> None:
        """Ends all pairings."""
        self._core.do("clear")

    # Keys

    def revoke(self, device: str) -> None:
        """Revokes a stolen key: unpairs its device and refuses everything in its name.

        ``device`` is the id of a paired device, or any ``did:key``. Raises :class:`~bellwire.InvalidError`,
        :class:`~bellwire.LimitError`.
        """
        self._core.do("revoke", _wire.text(device, "device"))

    def readmit(self, device: str) -> None:
        """Removes a revocation. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("readmit", _wire.text(device, "device"))

    def revoked(self) -> tuple[RevokedKey, ...]:
        """The refused keys, oldest first."""
        return self._ask(list_of(RevokedKey), "revoked")

    def rekey(self) -> Rekey:
        """Starts moving to a new key, or continues: every device's user is asked (``rekey.changed`` there).

        Once the state is ``ready``, close and open again to switch to the new key. Raises
        :class:`~bellwire.UnsupportedError` (a peer has used no session yet: unpair it; or ``":memory:"`` is used),
        :class:`~bellwire.BusyError` (the last move has not reached every peer).
        """
        return self._ask(one(Rekey), "rekey")

    def cancel_rekey(self) -> None:
        """Cancels a move that is not complete yet. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("rekey_cancel")

    def rekey_status(self) -> Rekey:
        """The state of the move to a new key, and the peers that ask to move."""
        return self._ask(one(Rekey), "rekey_status")

    def confirm_rekey(self, device: str, new_id: str, accept: bool) -> None:
        """Passes the user's decision about a device's new key; compare the new id on both screens first.

        Raises :class:`~bellwire.NotFoundError` (no such question).
        """
        self._core.do("rekey_confirm", _wire.text(device, "device"), _wire.text(new_id, "new_id"), int(bool(accept)))

    # Permissions

    def permissions(self) -> Permissions:
        """What devices may do."""
        return self._ask(one(Permissions), "permissions")

    def allow(self, device: str, skill: str, allowance: Allowance | str) -> None:
        """Sets what a device may do from now on with a skill, a group of methods such as ``notification``.

        Refused commands raise :class:`~bellwire.DeniedError` on the device. Raises :class:`~bellwire.NotFoundError`.
        """
        self._core.do(
            "allow", _wire.text(device, "device"), _wire.text(skill, "skill"), _wire.text(str(allowance), "allowance")
        )

    def enable_skill(self, skill: str, enabled: bool) -> None:
        """Enables or disables a skill for all devices. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("skill_enable", _wire.text(skill, "skill"), int(bool(enabled)))

    # Notifications

    def notify(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        group: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Broadcast:
        """Stores a notification in the history and pushes it to all devices, or only to ``device_id`` or to ``group``.

        ``title`` has 1 to 1,024 bytes, ``body`` at most 65,536; the other fields are those of
        :class:`~bellwire.PushFields`. Delivered means that the device acknowledged it within 2 s. For other devices it
        waits for 30 days, or until ``expires_at``. With ``scheduled_at`` both counts are 0. Raises
        :class:`~bellwire.NotFoundError` (device_id, group), :class:`~bellwire.StoreError`,
        :class:`~bellwire.CallTimeoutError` (stored; the push may still be sent).
        """
        params = _wire.dumps(push_params(title, body, fields, device_id=device_id, group=group))
        return self._ask(one(Broadcast), "notify", params, milliseconds(timeout))

    async def anotify(
        self,
        title: str,
        body: str = "",
        *,
        device_id: str | None = None,
        group: str | None = None,
        timeout: float = TIMEOUT,
        **fields: Unpack[PushFields],
    ) -> Broadcast:
        """Async version of :meth:`notify`. Pushes are sent in the order of the calls."""
        params = _wire.dumps(push_params(title, body, fields, device_id=device_id, group=group))
        return await self._aask(one(Broadcast), "notify_async", params, milliseconds(timeout))

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
    ) -> HistoryPage:
        """A page of the desktop's history, with the parameters of :meth:`Device.history`."""
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
        return self._ask(one(HistoryPage), "history", _wire.dumps(params))

    def invoke(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT) -> Any:
        """Calls a notification method, such as ``notification.markAllAsRead``, as the desktop's own user.

        Parameters and result are those of the wire; devices are notified of changes. Raises
        :class:`~bellwire.UnsupportedError` (method), :class:`~bellwire.NotFoundError`,
        :class:`~bellwire.CallTimeoutError` (executed, but it is not known in time which devices were reached).
        """
        return self._core.ask("invoke", *_invocation(method, params, timeout))[1]

    async def ainvoke(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT) -> Any:
        """Async version of :meth:`invoke`."""
        return await self._aask(lambda value: value, "invoke_async", *_invocation(method, params, timeout))


def _invocation(method: str, params: Mapping[str, Any] | None, timeout: float) -> tuple[Any, ...]:
    return _wire.text(method, "method"), None if params is None else _wire.dumps(params), milliseconds(timeout)
