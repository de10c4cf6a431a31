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
    """Something that happened. ``data`` is as the library has it; its names are those of the wire."""

    event: str
    desktop: Optional[str] = None
    data: Mapping[str, Any] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class Route:
    """A way to a desktop, or a desktop's to its devices."""

    url: str
    #: Such as ``online`` or ``connecting``.
    state: str
    problem: Optional[str] = None


@wire
@dataclass(frozen=True)
class Connection:
    """How a paired desktop is reached."""

    desktop: str
    name: str
    online: bool
    routes: tuple[Route, ...] = ()


@wire
@dataclass(frozen=True)
class QueueCounts:
    """What the queue holds."""

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
    #: What of its surroundings is not there.
    notes: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class CarriedRelay:
    """The relay that a desktop carries."""

    port: int
    health_port: Optional[int] = None
    note: Optional[str] = None


@wire
@dataclass(frozen=True)
class ShownOffer:
    """The pairing code that a desktop shows now."""

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
    #: How many are paired.
    devices: int = 0
    connection: tuple[Route, ...] = ()
    relay: Optional[CarriedRelay] = None
    notes: tuple[str, ...] = ()
    offer: Optional[ShownOffer] = None
    counters: Mapping[str, int] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class RelayState:
    """The state of a relay. ``stats`` is what its page /stats says."""

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
    #: What went wrong last, until something goes well.
    error: Optional[Failure] = None
    #: The desktop has no notification skill.
    unsupported: bool = False


@wire
@dataclass(frozen=True)
class InboxState:
    """How the inbox stands to its desktops."""

    unread: int
    loading: bool
    desktops: tuple[InboxDesktop, ...] = ()


@wire
@dataclass(frozen=True)
class InboxSettings:
    """A desktop's settings as it told them last."""

    settings: Settings
    fetched_at: datetime


@wire
@dataclass(frozen=True)
class Refreshed:
    """What a refresh of the inbox has changed."""

    added: int
    updated: int
    dropped: int
    unread: int
    #: The desktops that did not answer, where several were asked.
    failed: tuple[Failure, ...] = ()


@wire
class CommandState(WireEnum):
    """Where a queued command stands."""

    PENDING = "pending"
    SENDING = "sending"
    FAILED = "failed"


@wire
@dataclass(frozen=True)
class QueuedCommand:
    """A command that waits for its desktop."""

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
    """What :meth:`Device.receive` made of a platform's push."""

    #: ``push``, ``silent`` or ``badge``.
    kind: str
    id: Optional[str] = None
    #: It came over the wire before.
    duplicate: bool = False
