"""What the library tells: notifications, peers, states and results, as frozen dataclasses.

Times are datetimes in UTC, of milliseconds. Where a class has ``raw``, that is the object as it came, with every member
that a peer or a newer library added; it takes no part in comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, Union

from ._wire import WireEnum, wire

#: How many; None where the desktop only says "all".
Tally = Optional[int]
#: A peer's number, or a word of the library's.
Code = Union[int, str]


# Notifications


@wire
class Priority(WireEnum):
    """How much a notification matters."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@wire
class Sort(WireEnum):
    """The order of a history."""

    NEWEST = "newest"
    OLDEST = "oldest"
    #: The most urgent first.
    PRIORITY = "priority"
    #: Unread ones first.
    UNREAD = "unread"


@wire
@dataclass(frozen=True)
class Push:
    """A notification that a desktop pushed to this device."""

    id: str
    title: str
    body: str
    priority: Priority
    source: str
    created_at: datetime
    received_at: datetime
    #: For the history alone: the desktop's quiet hours, or its notifications are switched off.
    silenced: bool = False
    #: It did not come at once, but after an absence of either side.
    late: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: The id of the desktop.
    desktop: Optional[str] = None
    #: The process ended while it was being handed over before: perhaps it was seen already.
    redelivered: bool = False
    #: The id of the push whose place it takes (``collapseKey``).
    replaces: Optional[str] = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@wire
@dataclass(frozen=True)
class Notification:
    """A row of a desktop's history."""

    id: str
    title: str
    body: str
    priority: Priority
    source: str
    created_at: datetime
    read: bool = False
    read_at: Optional[datetime] = None
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@wire
@dataclass(frozen=True)
class HistoryPage:
    """A page of a desktop's history."""

    notifications: tuple[Notification, ...]
    #: All rows that the question matches.
    total: int = 0
    #: All unread ones of the history.
    unread_count: int = 0
    #: Rows of the desktop's that could not be read.
    skipped: int = 0
    #: Goes into ``before`` for the page after this one.
    next: Optional[str] = None
    success: bool = True


@wire
@dataclass(frozen=True)
class InboxNotification:
    """A row of the device's inbox."""

    desktop: str
    id: str
    title: str
    body: str
    priority: Priority
    source: str
    created_at: datetime
    received_at: datetime
    silenced: bool = False
    late: bool = False
    read: bool = False
    read_at: Optional[datetime] = None
    #: The answer to a change was lost; the next refresh settles it.
    uncertain: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@wire
@dataclass(frozen=True)
class InboxPage:
    """A page of the inbox."""

    notifications: tuple[InboxNotification, ...]
    #: What the question matches.
    total: int
    #: Of the desktop, or of all.
    unread: int
    next: Optional[str] = None
    #: A refresh is under way.
    loading: bool = False


# Results of the methods


@dataclass(frozen=True)
class Queued:
    """The desktop is away: the command is kept, and carried out when it is there again."""

    #: Its name in the queue, and in ``queue.ended``.
    id: str


@wire
@dataclass(frozen=True)
class Sent:
    """What became of :meth:`Device.send`."""

    success: bool
    notification_id: Optional[str] = None
    #: Kept for the history alone, because of quiet hours or because notifications are switched off.
    silenced: bool = False
    error: Optional[str] = None
    timestamp: Optional[datetime] = None


@wire
@dataclass(frozen=True)
class SentToMobile:
    """What became of :meth:`Device.send_to_mobile`."""

    success: bool
    #: The device had it within 2 s; if not, it gets it when it is there again.
    delivered: bool = False
    device_id: Optional[str] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Broadcast:
    """What became of :meth:`Device.broadcast`, or of :meth:`Desktop.notify`."""

    success: bool
    delivered_count: int = 0
    failed_count: int = 0
    notification_id: Optional[str] = None
    timestamp: Optional[datetime] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Marked:
    """What became of marking as read. ``unread`` is told by the inbox alone."""

    success: bool
    marked_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Deleted:
    """What became of deleting. ``unread`` is told by the inbox alone."""

    success: bool
    deleted_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Cleared:
    """What became of clearing. ``unread`` is told by the inbox alone."""

    success: bool
    cleared_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Settings:
    """A desktop's settings. Times of day are ``HH:mm``, local to the desktop."""

    enabled: bool = True
    quiet_hours_enabled: bool = False
    quiet_hours_start: Optional[str] = None
    quiet_hours_end: Optional[str] = None
    sound_enabled: bool = True
    vibration_enabled: bool = True
    show_preview: bool = True
    #: How much history is kept, 0 = all; of Bellwire desktops, like the next two.
    retention_rows: Optional[int] = None
    retention_days: Optional[int] = None
    #: Counts the changes; goes into :meth:`Device.update_settings`.
    revision: Optional[int] = None


@wire
@dataclass(frozen=True)
class SettingsUpdate:
    """What became of :meth:`Device.update_settings`."""

    success: bool
    settings: Optional[Settings] = None
    revision: Optional[int] = None
    #: Fields that somebody else had changed meanwhile; they keep the desktop's value.
    stale: tuple[str, ...] = ()
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Failure:
    """Something that went wrong, as a part of a result."""

    code: Any = None
    message: str = ""
    desktop: Optional[str] = None


# Peers


@wire
@dataclass(frozen=True)
class ShortAuthentication:
    """What both sides of a sealed pairing have: for their people to compare."""

    digits: str
    words: tuple[str, ...] = ()


@wire
@dataclass(frozen=True)
class PairedDesktop:
    """A desktop that this device is paired with."""

    id: str
    name: str
    platform: str = ""
    #: Paired sealed: it is never spoken with in plain text again.
    secure: bool = False
    sas: Optional[ShortAuthentication] = None
    online: bool = False
    paired_at: Optional[datetime] = None
    last_seen_at: Optional[datetime] = None
    signaling_url: Optional[str] = None
    relay_url: Optional[str] = None
    #: What it gave to be reached directly is too old: pair again.
    ice_expired: bool = False


@wire
@dataclass(frozen=True)
class PairedDevice:
    """A device that this desktop is paired with, or that shows the code that it has scanned."""

    id: str
    device_id: str
    name: str
    platform: str = ""
    secure: bool = False
    sas: Optional[ShortAuthentication] = None
    paired_at: Optional[datetime] = None
    last_seen_at: Optional[datetime] = None


@wire
@dataclass(frozen=True)
class Offer:
    """A pairing code that is shown."""

    #: The text for the QR code.
    payload: str = field(repr=False)
    #: The digits beside it.
    code: str = field(repr=False)
    expires_at: datetime


@wire
@dataclass(frozen=True)
class TypedCode:
    """Digits to be typed on a device, such as ``123456-789012``."""

    code: str = field(repr=False)
    expires_at: datetime


@wire
@dataclass(frozen=True)
class PushToken:
    """Where a device of a desktop gets pushes from a service of its platform."""

    device: str
    device_id: str
    service: str
    #: As hexadecimal digits: ``bytes.fromhex(token)``.
    token: str = field(repr=False)
    received_at: Optional[datetime] = None


@wire
class Allowance(WireEnum):
    """A risk, and how far a device may go."""

    NOTHING = "nothing"
    #: Reads.
    SAFE = "safe"
    MUTATING = "mutating"
    PRIVILEGED = "privileged"


@wire
@dataclass(frozen=True)
class Skill:
    """Methods that belong together, such as ``notification``."""

    name: str
    #: That of its riskiest method.
    risk: Allowance
    enabled: bool
    #: Method: risk.
    methods: Mapping[str, str] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class DeviceAllowances:
    """What one device may do. ``allowed`` is skill: allowance."""

    id: str
    name: str
    allowed: Mapping[str, str] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class Permissions:
    """What the devices of a desktop may do."""

    skills: tuple[Skill, ...]
    devices: tuple[DeviceAllowances, ...]
