"""The device role: pairs with desktops, receives their pushes, calls their methods."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, Optional, Union

from . import _wire
from ._handle import TIMEOUT, Subscription, milliseconds, push_of
from ._methods import Methods
from ._signatures import BYTES, SIZE
from ._streams import AsyncStream, Stream
from ._wire import list_of, one
from .alerts import Alerts, Reminders, Response, response_of
from .errors import InvalidError, NotFoundError, OfflineError
from .inbox import Inbox, Queue
from .models import Offer, PairedDesktop, Push, Rekey, RevokedKey
from .states import DeviceState, Received

StrPath = Union[str, "os.PathLike[str]"]
Flow = Literal["scan", "show", "code"]


def common_options(
    state_dir: StrPath | None, ca_file: StrPath | None, threaded: bool, options: Mapping[str, Any] | None, **others: Any
) -> dict[str, Any]:
    """The options of a handle as JSON; option names are snake_case there, too."""
    found = {name: value for name, value in others.items() if value is not None}
    if state_dir is not None:
        found["state_dir"] = _path(state_dir, "state_dir")
    if ca_file is not None:
        found["tls"] = {"ca_file": _path(ca_file, "ca_file")}
    if threaded:
        found["threaded"] = True
    return {**found, **(options or {})}


def _path(value: StrPath, field: str) -> str:
    path = os.fspath(value)
    if not isinstance(path, str):
        raise TypeError(f"{field} must be a str or a path of str")
    if "\0" in path:
        raise InvalidError(f"{field} has a NUL character", {"field": field})
    return path


def running_script() -> str | None:
    """The path of what the interpreter runs; None for the interactive interpreter and -c."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if not path:
        return None
    # A path need not be UTF-8; two of them never get the same text.
    name = os.fsencode(os.path.realpath(path)).replace(b"\\", b"\\\\")
    return name.decode(errors="backslashreplace")[-4_000:]


class Device(Methods):
    """A device: pairs with desktops and receives their pushes. It is offline until :meth:`start` or a pairing.

    ::

        with bellwire.Device() as device:
            device.scan(text_of_the_qr_code)
            for push in device.pushes():
                print(push.title)

    ``state_dir``
        Directory for keys and database; default ``$XDG_STATE_HOME/bellwire/device``. ``":memory:"`` stores nothing.
        Other programs can use it at the same time; ``options={"shared": False}`` keeps it to this handle.
    ``name``, ``platform``
        Reported to the desktop; default: the host name and ``linux``.
    ``relay_url``
        The ws:// or wss:// URL of a relay to use in addition to those in a desktop's code.
    ``keys``
        Where the key is stored: ``"file"`` (default) or ``"secret-service"``, the keyring of the user's session.
    ``ca_file``
        PEM certificates to trust instead of the system's.
    ``legacy``
        How desktops that cannot prove their identity may pair: by ``"qr"`` code (default), ``"all"`` = also by six
        digits, ``"none"``.
    ``follow_system``
        Reconnects after sleep and network changes, and looks for relays on the local network; default True.
    ``late_alerts``
        Which late pushes may show an alert: ``"none"`` (default), ``"summary"``, ``"each"``.
    ``alerts``
        Who shows alerts: ``"none"`` (default), ``"system"`` or ``"host"``; see :class:`~bellwire.Alerts`.
    ``application_id``, ``icon``
        For ``"system"`` alerts: the name of the program's .desktop file; a name from the icon theme, or a path. Each
        ``application_id`` receives every push, beside the programs that share the device; the default is the path of
        the script.
    ``images``
        ``{"enabled": bool, "timeout_ms": int, "allow": [addresses]}``.
    ``threaded``
        The library dispatches on its own thread, which runs the callbacks.
    ``options``
        Further options of the library, by the names in ``bellwire.h``.

    Raises :class:`~bellwire.InvalidError` (an option), :class:`~bellwire.BusyError` (the state_dir is in use),
    :class:`~bellwire.FileError`, :class:`~bellwire.DeniedError` (permissions of the key, the keyring is locked),
    :class:`~bellwire.StoreError`, :class:`~bellwire.LimitError` (file descriptors).
    """

    _role = "device"

    def __init__(
        self,
        *,
        state_dir: StrPath | None = None,
        name: str | None = None,
        platform: str | None = None,
        relay_url: str | None = None,
        keys: Literal["file", "secret-service"] | None = None,
        ca_file: StrPath | None = None,
        legacy: Literal["qr", "all", "none"] | None = None,
        follow_system: bool | None = None,
        late_alerts: Literal["none", "summary", "each"] | None = None,
        alerts: Literal["none", "system", "host"] | None = None,
        application_id: str | None = None,
        icon: str | None = None,
        images: Mapping[str, Any] | None = None,
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
                keys=keys,
                legacy=legacy,
                follow_system=follow_system,
                late_alerts=late_alerts,
                alerts=alerts,
                application_id=application_id,
                program=running_script(),
                icon=icon,
                images=images,
            )
        )

    # Rooms

    @property
    def inbox(self) -> Inbox:
        """The stored notifications of all desktops."""
        return Inbox(self)

    @property
    def queue(self) -> Queue:
        """The commands that wait for an offline desktop."""
        return Queue(self)

    @property
    def alerts(self) -> Alerts:
        """The alerts that the user sees."""
        return Alerts(self)

    @property
    def reminders(self) -> Reminders:
        """The program's own alerts."""
        return Reminders(self)

    # Life

    def suspend(self) -> None:
        """Call before the machine sleeps: closes the connections at once. Idempotent."""
        self._core.do("suspend")

    def resume(self) -> None:
        """Call after the machine wakes: reconnects at once. Idempotent."""
        self._core.do("resume")

    def state(self) -> DeviceState:
        """Its id, connections, unread count, latest push, queue and counters."""
        return self._ask(one(DeviceState), "state")

    def wait_online(self, desktop: str | None = None, *, timeout: float = TIMEOUT) -> None:
        """Starts the device and waits up to ``timeout`` seconds until the desktop is reachable.

        Dispatches while it waits. Raises :class:`~bellwire.OfflineError` if the desktop is not reachable by then,
        :class:`~bellwire.NotFoundError` (desktop).
        """
        self.start()
        source = self._source(("connection.changed",), _as_it_is)
        source.resume()
        try:
            online = self._core.pump(lambda: self._is_online(desktop), timeout)
        finally:
            source.end()
        if not online:
            raise _unreached(timeout)

    async def await_online(self, desktop: str | None = None, *, timeout: float = TIMEOUT) -> None:
        """Async version of :meth:`wait_online`."""
        self.start()
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        stream = AsyncStream(self, self._source(("connection.changed",), _as_it_is), None)
        try:
            stream.listen()
            while not self._is_online(desktop):
                if not await stream.arrives(end - loop.time()):
                    raise _unreached(timeout)
                stream.forget()
        finally:
            await stream.aclose()

    def _is_online(self, desktop: str | None) -> bool:
        found = [each for each in self.state().connection if desktop in (None, each.desktop)]
        if len(found) != 1:
            message = "no such desktop is paired" if not found else "several desktops are paired; pass the id of one"
            raise NotFoundError(message, {"field": "desktop"})
        return found[0].online

    # Pushes

    def pushes(self, *, timeout: float | None = None) -> Stream[Push]:
        """Iterates over pushes, stored ones first, and starts the device.

        Each push comes once. The iteration ends when the device is closed, or after ``timeout`` seconds without a
        push. Pushes not yet
        iterated over stay stored, even if the process ends, unless something else receives this device's pushes.
        """
        return Stream(self, self._pushes(), timeout)

    def apushes(self, *, timeout: float | None = None) -> AsyncStream[Push]:
        """Async version of :meth:`pushes`, for ``async for`` on the asyncio loop, without a thread."""
        return AsyncStream(self, self._pushes(), timeout)

    def _pushes(self) -> Any:
        self.start()
        return self._source(("notification.received",), push_of)

    def on_push(self, callback: Callable[[Push], object]) -> Subscription:
        """Calls ``callback`` for each push, inside dispatch."""

        def call(_name: bytes, text: bytes) -> None:
            callback(push_of(_wire.loads(text)))

        return Subscription(self._core, "notification.received", call)

    def responses(self, *, timeout: float | None = None) -> Stream[Response]:
        """Iterates over the user's responses to alerts, like :meth:`pushes`."""
        return Stream(self, self._source(("notification.response",), response_of), timeout)

    def aresponses(self, *, timeout: float | None = None) -> AsyncStream[Response]:
        """Async version of :meth:`responses`, for ``async for``."""
        return AsyncStream(self, self._source(("notification.response",), response_of), timeout)

    # Pairing

    def scan(self, qr_text: str, *, timeout: float = TIMEOUT) -> PairedDesktop:
        """Pairs with the desktop whose QR code contains ``qr_text``; starts the device.

        Waits up to ``timeout`` seconds. Scanning a code a second time returns the same desktop. Raises
        :class:`~bellwire.PairingError` with a ``reason``.
        """
        return self._ask(one(PairedDesktop), "bw_pairing_scan", _wire.text(qr_text, "qr_text"), milliseconds(timeout))

    async def ascan(self, qr_text: str, *, timeout: float = TIMEOUT) -> PairedDesktop:
        """Async version of :meth:`scan`."""
        arguments = (_wire.text(qr_text, "qr_text"), milliseconds(timeout))
        return await self._aask(one(PairedDesktop), "bw_pairing_scan_async", *arguments)

    def show(self, *, timeout: float = TIMEOUT) -> Offer:
        """Creates a code for a desktop to scan, valid for 5 minutes; starts the device.

        Waits up to ``timeout`` seconds for a relay. When a desktop has scanned it, the event
        ``pairing.changed`` follows. Raises :class:`~bellwire.PairingError`.
        """
        return self._ask(one(Offer), "bw_pairing_show", milliseconds(timeout))

    async def ashow(self, *, timeout: float = TIMEOUT) -> Offer:
        """Async version of :meth:`show`."""
        return await self._aask(one(Offer), "bw_pairing_show_async", milliseconds(timeout))

    def type_code(self, code: str, *, timeout: float = TIMEOUT) -> PairedDesktop:
        """Pairs with the desktop that shows these digits, such as ``123456-789012``; same relay as :meth:`show`.

        Six digits require ``legacy="all"``. Raises :class:`~bellwire.PairingError`.
        """
        return self._ask(one(PairedDesktop), "bw_pairing_type", _wire.text(code, "code"), milliseconds(timeout))

    async def atype_code(self, code: str, *, timeout: float = TIMEOUT) -> PairedDesktop:
        """Async version of :meth:`type_code`."""
        arguments = (_wire.text(code, "code"), milliseconds(timeout))
        return await self._aask(one(PairedDesktop), "bw_pairing_type_async", *arguments)

    def cancel_pairing(self, flow: Flow | None = None) -> None:
        """Cancels a flow, or all; its calls raise PairingError with the reason ``cancelled``. Idempotent."""
        self._core.do("bw_pairing_cancel", _wire.optional_text(flow, "flow"))

    def confirm(self, accept: bool, flow: Flow | None = None) -> None:
        """Passes the user's decision about the desktop in ``pairing.changed`` with the state ``confirming``.

        Such a desktop cannot prove that it saw the code. ``flow`` None = the only one that asks. Raises
        :class:`~bellwire.NotFoundError` (no desktop waits for confirmation).
        """
        self._core.do("bw_pairing_confirm", _wire.optional_text(flow, "flow"), int(bool(accept)))

    def desktops(self) -> tuple[PairedDesktop, ...]:
        """The paired desktops, the oldest pairing first."""
        return self._ask(list_of(PairedDesktop), "bw_pairing_list")

    def rename(self, desktop: str, name: str) -> None:
        """Renames a desktop, on this device only; 1 to 256 bytes. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("bw_pairing_rename", _wire.text(desktop, "desktop"), _wire.text(name, "name"))

    def unpair(self, desktop: str) -> None:
        """Ends a pairing at once; its notifications stay in the inbox. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("bw_pairing_unpair", _wire.text(desktop, "desktop"))

    def unpair_all(self) -> None:
        """Ends all pairings."""
        self._core.do("bw_pairing_clear")

    # Keys

    def revoke(self, desktop: str) -> None:
        """Revokes a stolen key: unpairs its desktop and refuses everything in its name.

        ``desktop`` is the id of a paired desktop, or any ``did:key``. Raises :class:`~bellwire.InvalidError`,
        :class:`~bellwire.LimitError`.
        """
        self._core.do("bw_device_revoke", _wire.text(desktop, "desktop"))

    def readmit(self, desktop: str) -> None:
        """Removes a revocation. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("bw_device_readmit", _wire.text(desktop, "desktop"))

    def revoked(self) -> tuple[RevokedKey, ...]:
        """The refused keys, oldest first."""
        return self._ask(list_of(RevokedKey), "bw_device_revoked")

    def rekey(self) -> Rekey:
        """Starts moving to a new key, or continues: every desktop's user is asked (``rekey.changed`` there).

        Once the state is ``ready``, close and open again to switch to the new key. Raises
        :class:`~bellwire.UnsupportedError` (a peer has used no session yet: unpair it; or ``":memory:"`` is used),
        :class:`~bellwire.BusyError` (the last move has not reached every peer).
        """
        return self._ask(one(Rekey), "bw_device_rekey")

    def cancel_rekey(self) -> None:
        """Cancels a move that is not complete yet. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("bw_device_rekey_cancel")

    def rekey_status(self) -> Rekey:
        """The state of the move to a new key, and the peers that ask to move."""
        return self._ask(one(Rekey), "bw_device_rekey_status")

    def confirm_rekey(self, desktop: str, new_id: str, accept: bool) -> None:
        """Passes the user's decision about a desktop's new key; compare the new id on both screens first.

        Raises :class:`~bellwire.NotFoundError` (no such question).
        """
        self._core.do(
            "bw_device_rekey_confirm", _wire.text(desktop, "desktop"), _wire.text(new_id, "new_id"), int(bool(accept))
        )

    # Any other method

    def invoke(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Any:
        """Calls any method of the desktop (``namespace.method``); raises the same errors as the methods.

        Parameters and result are passed through unchanged. The five methods that can be queued return
        ``{"queued": True, "id": …}`` while the desktop is offline.
        """
        return self._core.ask("invoke", *_invocation(method, params, desktop, timeout))[1]

    async def ainvoke(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        desktop: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Any:
        """Async version of :meth:`invoke`."""
        return await self._aask(_as_it_is, "bw_device_invoke_async", *_invocation(method, params, desktop, timeout))

    # Push services

    def set_token(self, service: str, token: bytes) -> None:
        """Sets the device's token for a push service such as ``fcm``; 1 to 4,096 bytes. Set it in each run.

        Raises :class:`~bellwire.LimitError` (16 services), :class:`~bellwire.StoreError`.
        """
        if not isinstance(token, (bytes, bytearray)):
            raise TypeError(f"token must be bytes, not {type(token).__name__}")
        self._core.do("token", _wire.text(service, "service"), BYTES(bytes(token)), SIZE(len(token)))

    def clear_token(self, service: Optional[str] = None) -> None:
        """Revokes the token of a service, for example when the user logs out; None = of all services."""
        self._core.do("clear_token", _wire.optional_text(service, "service"))

    def receive(self, service: str, payload: Mapping[str, Any]) -> Received:
        """Processes a payload that a push service delivered: APNs or FCM.

        Raises :class:`~bellwire.ProtocolError` (neither format), :class:`~bellwire.LimitError` (100,000 pushes wait).
        """
        return self._ask(one(Received), "receive", _wire.text(service, "service"), _wire.dumps(payload, "payload"))

    def complete(self, push_id: str, result: Literal["new_data", "no_data", "failed"]) -> None:
        """Completes a ``notification.silent``, within 30 s. Raises :class:`~bellwire.NotFoundError`."""
        self._core.do("complete", _wire.text(push_id, "id"), _wire.text(result, "result"))


def _unreached(timeout: float) -> OfflineError:
    return OfflineError(f"the desktop was not reachable within {timeout:g} s")


def _as_it_is(value: Any) -> Any:
    return value


def _invocation(method: str, params: Mapping[str, Any] | None, desktop: str | None, timeout: float) -> tuple[Any, ...]:
    return (
        _wire.optional_text(desktop, "desktop"),
        _wire.text(method, "method"),
        None if params is None else _wire.dumps(params),
        milliseconds(timeout),
    )
