"""The states of handles, of the inbox and of the queue, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional

from ._wire import WireEnum, wire
from .models import Failure, Push, Settings


@wire
@dataclass(frozen=True)
class Event:
    """An event. ``data`` is the event's JSON data, with the names of the wire."""

    event: str
    desktop: Optional[str] = None
    data: Mapping[str, Any] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class Route:
    """A route to a desktop, or from a desktop to its devices."""

    url: str
    #: Such as ``online`` or ``connecting``.
    state: str
    problem: Optional[str] = None
    #: Whether this relay lets anyone send in the name of an unencrypted peer; ``None`` = not known yet.
    forgeable: Optional[bool] = None


@wire
@dataclass(frozen=True)
class Connection:
    """The connection to a paired desktop."""

    desktop: str
    name: str
    online: bool
    routes: tuple[Route, ...] = ()


@wire
@dataclass(frozen=True)
class QueueCounts:
    """The content of the queue."""

    count: int
    pending: int
    sending: int
    failed: int


@wire
@dataclass(frozen=True)
class DeviceState:
    """The state of a device."""

    id: str
    device_id: str
    name: str
    started: bool
    unread: int
    authorization: str
    latest_push: Optional[Push] = None
    connection: tuple[Connection, ...] = ()
    queue: Optional[QueueCounts] = None
    #: System services that are missing.
    notes: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class CarriedRelay:
    """The relay that a desktop runs."""

    port: int
    health_port: Optional[int] = None
    note: Optional[str] = None


@wire
@dataclass(frozen=True)
class ShownOffer:
    """The pairing code that a desktop currently shows."""

    state: str
    expires_at: Optional[datetime] = None


@wire
@dataclass(frozen=True)
class DesktopState:
    """The state of a desktop."""

    id: str
    name: str
    started: bool
    unread: int
    #: The number of paired devices.
    devices: int = 0
    connection: tuple[Route, ...] = ()
    relay: Optional[CarriedRelay] = None
    notes: tuple[str, ...] = ()
    offer: Optional[ShownOffer] = None
    counters: Mapping[str, int] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class RelayState:
    """The state of a relay. ``stats`` is the content of /stats."""

    started: bool
    port: Optional[int] = None
    health_port: Optional[int] = None
    stats: Mapping[str, Any] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class InboxDesktop:
    """The inbox of one desktop."""

    desktop: str
    unread: int
    loading: bool = False
    refreshed_at: Optional[datetime] = None
    #: The last failure, until a refresh succeeds.
    error: Optional[Failure] = None
    #: The desktop has no ``notification.*`` methods.
    unsupported: bool = False


@wire
@dataclass(frozen=True)
class InboxState:
    """The state of the inbox for each desktop."""

    unread: int
    loading: bool
    desktops: tuple[InboxDesktop, ...] = ()


@wire
@dataclass(frozen=True)
class InboxSettings:
    """A desktop's settings as last received."""

    settings: Settings
    fetched_at: datetime


@wire
@dataclass(frozen=True)
class Refreshed:
    """What a refresh changed in the inbox."""

    added: int
    updated: int
    dropped: int
    unread: int
    #: The desktops that did not answer, if several were asked.
    failed: tuple[Failure, ...] = ()


@wire
class CommandState(WireEnum):
    """The state of a queued command."""

    PENDING = "pending"
    SENDING = "sending"
    FAILED = "failed"


@wire
@dataclass(frozen=True)
class QueuedCommand:
    """A command that waits for an offline desktop."""

    id: str
    desktop: str
    method: str
    state: CommandState
    tries: int
    created_at: datetime
    expires_at: datetime
    params: Mapping[str, Any] = field(default_factory=dict)
    error: Optional[Failure] = None


@wire
@dataclass(frozen=True)
class Received:
    """The result of :meth:`Device.receive`."""

    #: ``push``, ``silent`` or ``badge``.
    kind: str
    id: Optional[str] = None
    #: The push had already arrived.
    duplicate: bool = False
    #: A desktop encrypted it, but it came too late and is not shown.
    expired: bool = False
