"""Notifications, peers, states and results of the library, as frozen dataclasses.

Times are datetimes in UTC, of milliseconds. Where a class has ``raw``, that is the object as it came, with every member
that a peer or a newer library added; it takes no part in comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, Union

from ._wire import WireEnum, wire

#: The number, or None if the desktop only says "all".
Tally = Optional[int]
#: An error code: a peer's number, or a word from the library.
Code = Union[int, str]


# Notifications


@wire
class Priority(WireEnum):
    """The priority of a notification."""

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
    #: Without an alert, because of the desktop's quiet hours or because its notifications are switched off.
    silenced: bool = False
    #: It was delayed because one side was offline.
    late: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: The id of the desktop.
    desktop: Optional[str] = None
    #: The process ended during its first delivery, so it may have been seen before.
    redelivered: bool = False
    #: The id of the push that it replaces (``collapseKey``).
    replaces: Optional[str] = None
    #: It came encrypted through a push service; the desktop has not confirmed it over its own connection yet.
    hint: bool = False
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
    #: All rows that match.
    total: int = 0
    #: All unread rows of the history.
    unread_count: int = 0
    #: Rows of the desktop that could not be read.
    skipped: int = 0
    #: Pass it as ``before`` to get the next page.
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
    #: The answer to a change was lost; the next refresh shows whether it was made.
    uncertain: bool = False
    #: It came encrypted through a push service; the desktop has not confirmed it over its own connection yet.
    hint: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@wire
@dataclass(frozen=True)
class InboxPage:
    """A page of the inbox."""

    notifications: tuple[InboxNotification, ...]
    #: All rows that match.
    total: int
    #: Unread rows of the desktop, or of all.
    unread: int
    next: Optional[str] = None
    #: A refresh is in progress.
    loading: bool = False


# Results of the methods


@dataclass(frozen=True)
class Queued:
    """The desktop is offline; the command is stored and will be sent when it is back."""

    #: Its id in the queue and in ``queue.ended``.
    id: str


@wire
@dataclass(frozen=True)
class Sent:
    """The result of :meth:`Device.send`."""

    success: bool
    notification_id: Optional[str] = None
    #: When the desktop pushes it, of a push for later.
    scheduled_at: Optional[datetime] = None
    #: Stored without an alert, because of quiet hours or because notifications are switched off.
    silenced: bool = False
    error: Optional[str] = None
    timestamp: Optional[datetime] = None


@wire
@dataclass(frozen=True)
class SentToMobile:
    """The result of :meth:`Device.send_to_mobile`."""

    success: bool
    #: The device received it within 2 s; otherwise it receives it when it is back online. ``None``: the desktop doesn't
    #: say, like those of ChainlessChain.
    delivered: Optional[bool] = None
    device_id: Optional[str] = None
    notification_id: Optional[str] = None
    #: When the desktop pushes it, of a push for later.
    scheduled_at: Optional[datetime] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Broadcast:
    """The result of :meth:`Device.broadcast` or :meth:`Desktop.notify`."""

    success: bool
    delivered_count: int = 0
    failed_count: int = 0
    notification_id: Optional[str] = None
    #: When the desktop pushes it, of a push for later.
    scheduled_at: Optional[datetime] = None
    timestamp: Optional[datetime] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Marked:
    """The result of marking as read. Only the inbox reports ``unread``."""

    success: bool
    marked_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Deleted:
    """The result of deleting. Only the inbox reports ``unread``."""

    success: bool
    deleted_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Cleared:
    """The result of clearing. Only the inbox reports ``unread``."""

    success: bool
    cleared_count: Tally = None
    unread: Optional[int] = None
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Settings:
    """A desktop's settings. Times of day are ``HH:mm`` in the desktop's time zone."""

    enabled: bool = True
    quiet_hours_enabled: bool = False
    quiet_hours_start: Optional[str] = None
    quiet_hours_end: Optional[str] = None
    sound_enabled: bool = True
    vibration_enabled: bool = True
    show_preview: bool = True
    #: How much history to keep, 0 = all. This and the next two come only from Bellwire desktops.
    retention_rows: Optional[int] = None
    retention_days: Optional[int] = None
    #: Counts changes; pass it to :meth:`Device.update_settings`.
    revision: Optional[int] = None


@wire
@dataclass(frozen=True)
class SettingsUpdate:
    """The result of :meth:`Device.update_settings`."""

    success: bool
    settings: Optional[Settings] = None
    revision: Optional[int] = None
    #: Fields that someone else changed first; they keep the desktop's value.
    stale: tuple[str, ...] = ()
    error: Optional[str] = None


@wire
@dataclass(frozen=True)
class Failure:
    """An error inside a result."""

    code: Any = None
    message: str = ""
    desktop: Optional[str] = None


# Peers


@wire
@dataclass(frozen=True)
class ShortAuthentication:
    """The digits and words that both sides of an encrypted pairing show, for their users to compare."""

    digits: str
    words: tuple[str, ...] = ()


@wire
@dataclass(frozen=True)
class SealStatus:
    """Which encryption protects the traffic with an encrypted peer."""

    #: The lowest version that is accepted from the peer: 2 (sessions), or 1 (static keys) before the first session
    #: without a preshared key.
    version: int
    #: Whether a preshared key from the pairing protects the sessions, in addition to the identity keys. False if one
    #: side did not offer sessions while pairing: update both and pair again to get one.
    psk: bool = False
    #: "handshake_refused": the desktop answers with different keys than those of the pairing, for example after a
    #: backup of one side was restored; pair again. "no_session": the peer has not answered for 90 s, and no
    #: relay calls it absent. "not_paired": the peer says, without proof, that it is not paired with this side: it has
    #: lost its pairings; pair again. None: no problem.
    problem: Optional[str] = None


@wire
@dataclass(frozen=True)
class PairedDesktop:
    """A desktop that this device is paired with."""

    id: str
    name: str
    platform: str = ""
    #: Whether the pairing is end-to-end encrypted, without a fallback to plain text.
    secure: bool = False
    sas: Optional[ShortAuthentication] = None
    #: Why an encrypted peer has no ``sas``: ``"older_peer"`` (its digits could be imitated; update it and pair again).
    sas_missing: Optional[str] = None
    #: Only in lists, and only of an encrypted pairing.
    seal: Optional[SealStatus] = None
    online: bool = False
    paired_at: Optional[datetime] = None
    last_seen_at: Optional[datetime] = None
    signaling_url: Optional[str] = None
    relay_url: Optional[str] = None
    #: Its data for direct connections has expired: pair again.
    ice_expired: bool = False
    #: It has sent nothing since it was paired, so it may have rejected the code. Only for unencrypted desktops.
    unconfirmed: bool = False
    #: Anyone can send in its name over one of its relays. Only in lists, and only without encryption.
    forgeable: bool = False


@wire
@dataclass(frozen=True)
class PairedDevice:
    """A paired device, or the device whose code this desktop has scanned."""

    id: str
    device_id: str
    name: str
    platform: str = ""
    secure: bool = False
    sas: Optional[ShortAuthentication] = None
    #: Why an encrypted peer has no ``sas``: ``"older_peer"`` (its digits could be imitated; update it and pair again).
    sas_missing: Optional[str] = None
    #: Only in lists, and only of an encrypted pairing.
    seal: Optional[SealStatus] = None
    paired_at: Optional[datetime] = None
    last_seen_at: Optional[datetime] = None
    #: Anyone can send in its name over one of the desktop's relays. Only in lists, and only without encryption.
    forgeable: bool = False


@wire
@dataclass(frozen=True)
class MovingPeer:
    """A peer that is asked to accept the new key, or that does not know the new key yet after the switch."""

    id: str
    name: str
    #: ``waiting``, ``approved`` or ``declined``.
    state: str


@wire
@dataclass(frozen=True)
class RekeyQuestion:
    """A peer that moves to a new key and waits for the user's answer."""

    id: str
    name: str
    new_id: str
    #: By the peer's clock.
    at: datetime


@wire
@dataclass(frozen=True)
class Rekey:
    """A move to a new key."""

    #: ``none``, ``asking``, ``ready`` or ``switched``.
    state: str
    #: The id in use.
    id: str
    old_id: Optional[str] = None
    new_id: Optional[str] = None
    peers: tuple[MovingPeer, ...] = ()
    questions: tuple[RekeyQuestion, ...] = ()


@wire
@dataclass(frozen=True)
class RevokedKey:
    """A key that is refused: it was revoked, or its owner has moved to another one."""

    id: str
    #: The peer's name; empty if it was not paired.
    name: str
    at: datetime
    #: The key that its owner has moved to. None = it was revoked.
    moved_to: Optional[str] = None


@wire
@dataclass(frozen=True)
class Offer:
    """A pairing code to show."""

    #: The text for the QR code.
    payload: str = field(repr=False)
    #: The digits to type.
    code: str = field(repr=False)
    expires_at: datetime


@wire
@dataclass(frozen=True)
class TypedCode:
    """Digits to type on a device, such as ``123456-789012``."""

    code: str = field(repr=False)
    expires_at: datetime


@wire
@dataclass(frozen=True)
class PushToken:
    """The token under which a device receives pushes from a platform service."""

    device: str
    device_id: str
    service: str
    #: In hexadecimal: ``bytes.fromhex(token)``.
    token: str = field(repr=False)
    received_at: Optional[datetime] = None


@wire
class Allowance(WireEnum):
    """The risk of a method, and what a device may do."""

    NOTHING = "nothing"
    #: Reads.
    SAFE = "safe"
    MUTATING = "mutating"
    PRIVILEGED = "privileged"


@wire
@dataclass(frozen=True)
class Skill:
    """A group of methods, such as ``notification``."""

    name: str
    #: The risk of its riskiest method.
    risk: Allowance
    enabled: bool
    #: Maps method to risk.
    methods: Mapping[str, str] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class DeviceAllowances:
    """What one device may do. ``allowed`` maps skill to allowance."""

    id: str
    name: str
    allowed: Mapping[str, str] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class Permissions:
    """What the devices of a desktop may do."""

    skills: tuple[Skill, ...]
    devices: tuple[DeviceAllowances, ...]
