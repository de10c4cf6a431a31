"""Alerts that the user sees and responds to, from pushes and from the program's own reminders."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, Union

from . import _callbacks, _wire
from ._core import ask_async
from ._handle import TIMEOUT, milliseconds
from ._signatures import Presentation
from ._wire import INT64, Moment, WireEnum, decode, list_of, members, one, to_json, wire
from .inbox import Room
from .models import Push


@wire
class AuthorizationStatus(WireEnum):
    """Whether the user allows alerts."""

    NOT_DETERMINED = "notDetermined"
    AUTHORIZED = "authorized"
    DENIED = "denied"
    #: Quiet alerts, without asking the user.
    PROVISIONAL = "provisional"
    #: Allowed until a given time.
    EPHEMERAL = "ephemeral"


@wire
class AlertLevel(WireEnum):
    """How urgent an alert is."""

    PASSIVE = "passive"
    ACTIVE = "active"
    TIME_SENSITIVE = "timeSensitive"


@wire
@dataclass(frozen=True)
class Authorization:
    """Whether alerts are shown. ``advice``: ``explain``, ``settings``, ``register`` or ``upgrade``."""

    status: AuthorizationStatus
    advice: Optional[str] = None
    until: Optional[datetime] = None


@wire
@dataclass(frozen=True)
class Presenter:
    """Who shows alerts."""

    kind: str
    ready: bool = False
    server: Optional[str] = None
    capabilities: tuple[str, ...] = ()
    problem: Optional[str] = None
    #: Whether the desktop environment is in do-not-disturb mode; None = it doesn't report that.
    do_not_disturb: Optional[bool] = None


@wire
@dataclass(frozen=True)
class AlertsState:
    """The state of alerts."""

    authorization: Authorization
    presenter: Presenter
    in_front: bool = False
    badge: int = 0
    #: Alerts in progress.
    waiting: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class Alert:
    """An alert. A new one replaces the one with the same id; a reminder without an id gets one."""

    id: str = ""
    title: str = ""
    subtitle: Optional[str] = None
    body: Optional[str] = None
    badge: Optional[int] = None
    #: ``default``, a name from the sound theme, or a path.
    sound: Optional[str] = None
    category: Optional[str] = None
    thread: Optional[str] = None
    user_info: Optional[Mapping[str, Any]] = None
    deep_link: Optional[str] = None
    #: Paths of images; the first is shown.
    attachments: tuple[str, ...] = ()
    level: Optional[AlertLevel] = None


@wire
@dataclass(frozen=True)
class DeliveredAlert:
    """An alert that was shown and neither answered nor withdrawn."""

    alert: Alert
    shown_at: datetime
    #: None for a reminder.
    desktop: Optional[str] = None
    reminder: bool = False


@wire
@dataclass(frozen=True)
class AlertSettings:
    """The device's own settings, which no desktop sees. Sources and categories that are not listed are on."""

    enabled: bool = True
    quiet_hours_enabled: bool = False
    quiet_hours_start: str = "22:00"
    quiet_hours_end: str = "08:00"
    sound_enabled: bool = True
    #: False = only the title.
    show_preview: bool = True
    #: How many pushes of one source may show an alert within a second; one alert summarizes the rest. 0 = no limit.
    burst_limit: int = 0
    #: Whether a click opens an alert's link; for programs with the option ``opens_links``.
    open_links: bool = False
    sources: Mapping[str, bool] = field(default_factory=dict)
    categories: Mapping[str, bool] = field(default_factory=dict)


@wire
@dataclass(frozen=True)
class AlertAction:
    """A button of an alert, or with ``kind="reply"`` a text field."""

    id: str
    title: str
    kind: str = "button"
    placeholder: Optional[str] = None
    foreground: bool = False
    destructive: bool = False


@wire
@dataclass(frozen=True)
class AlertCategory:
    """A kind of alert, with its actions."""

    id: str
    actions: tuple[AlertAction, ...] = ()


@wire
@dataclass(frozen=True)
class AlertRequest:
    """An alert for :meth:`Alerts.on_present` to show, or with ``withdraw`` to remove."""

    alert: Alert
    desktop: Optional[str] = None
    actions: tuple[AlertAction, ...] = ()
    #: A sum of :class:`~bellwire.Presentation`.
    presentation: int = 0
    quietly: bool = False
    #: The path of the downloaded image.
    image: Optional[str] = None
    reminder: bool = False
    withdraw: bool = False


@wire
@dataclass(frozen=True)
class Response:
    """The user's response to an alert. ``user_info`` and ``deep_link`` are passed on unchanged."""

    id: str
    #: ``default`` (click or tap), ``dismiss``, ``MARK_READ_ACTION``, ``REPLY_ACTION``, or the id of another action.
    action: str
    title: str = ""
    text: Optional[str] = None
    user_info: Mapping[str, Any] = field(default_factory=dict)
    deep_link: Optional[str] = None
    category: Optional[str] = None
    thread: Optional[str] = None
    responded_at: Optional[datetime] = None
    late: bool = False
    #: None for a reminder.
    desktop: Optional[str] = None
    push: Optional[Push] = None
    redelivered: bool = False
    #: The notification server has no text field: ask the user for the text of the reply.
    text_needed: bool = False


def response_of(value: Any) -> Response:
    return decode(Response, {**value["data"], "desktop": value.get("desktop")})


# Triggers of reminders


@dataclass(frozen=True)
class Interval:
    """After this many seconds, 1 to 100 years; at least 60 if it repeats."""

    seconds: float
    repeats: bool = False


@dataclass(frozen=True)
class At:
    """At a given time, or at once if it has passed."""

    at: Moment


@dataclass(frozen=True)
class Calendar:
    """When the local time matches all given fields; ``weekday`` is 1 (Monday) to 7."""

    year: Optional[int] = None
    month: Optional[int] = None
    day: Optional[int] = None
    weekday: Optional[int] = None
    hour: Optional[int] = None
    minute: Optional[int] = None
    second: Optional[int] = None
    repeats: bool = False


@dataclass(frozen=True)
class Region:
    """At a place, according to :meth:`Reminders.position`: degrees and metres (10 to 1,000,000)."""

    latitude: float
    longitude: float
    radius_m: float
    #: ``enter``, ``exit`` or ``both``.
    on: str = "enter"
    repeats: bool = False


Trigger = Union[Interval, At, Calendar, Region]
_TYPES: dict[type, str] = {Interval: "interval", At: "moment", Calendar: "calendar", Region: "region"}


@dataclass(frozen=True)
class Reminder:
    """A stored reminder. ``next_at`` is when it fires, if that is known."""

    alert: Alert
    #: The trigger as JSON; None = at once.
    trigger: Optional[Mapping[str, Any]] = None
    next_at: Optional[datetime] = None


def _reminder(value: Any) -> Reminder:
    moment = value.get("nextAt")
    return Reminder(decode(Alert, value), value.get("trigger"), None if moment is None else _wire.moment(moment))


def _trigger(trigger: Trigger) -> dict[str, Any]:
    # "radius_m" is so on the wire.
    found = to_json(trigger)
    if "radiusM" in found:
        found["radius_m"] = found.pop("radiusM")
    return {"type": _TYPES[type(trigger)], **found}


class Alerts(Room):
    """The alerts that the user sees: ``device.alerts``.

    With the option ``alerts="none"`` no alerts are shown, and requests, reminders and badges raise
    :class:`~bellwire.UnsupportedError`. All methods may raise :class:`~bellwire.StoreError`.
    """

    def state(self) -> AlertsState:
        """Authorization, who shows alerts, the badge, and counters."""
        return self._ask(one(AlertsState), "bw_alerts_state")

    def request(self, *, provisional: bool = False, timeout: float = TIMEOUT) -> Authorization:
        """Asks the user for permission to show alerts, and waits up to ``timeout`` seconds for the answer.

        ``provisional``: quiet alerts, without asking. The callback of :meth:`on_authorize` runs in dispatch, so call
        this on another thread, or await :meth:`arequest`. Raises :class:`~bellwire.DeniedError` (refused, now or
        earlier), :class:`~bellwire.CallTimeoutError` (no answer yet; a later answer still counts),
        :class:`~bellwire.OfflineError` (no notification server), :class:`~bellwire.UnsupportedError`.
        """
        return self._ask(one(Authorization), "bw_alerts_request", _request(provisional), milliseconds(timeout))

    async def arequest(self, *, provisional: bool = False, timeout: float = TIMEOUT) -> Authorization:
        """Async version of :meth:`request`."""
        arguments = (_request(provisional), milliseconds(timeout))
        return one(Authorization)((await ask_async(self._core, "bw_alerts_request_async", *arguments))[1])

    def authorize(self, status: AuthorizationStatus | str, until: Moment | None = None) -> None:
        """Sets the authorization: the answer to :meth:`on_authorize`, or the choice on a settings page.

        ``until``: when ``ephemeral`` ends.
        """
        moment = 0 if until is None else _wire.integer(_wire.milliseconds(until), "until_ms", INT64)
        self._core.do("bw_alerts_authorize", _wire.text(str(status), "status"), ctypes.c_int64(moment))

    def on_authorize(self, callback: Callable[[str], object] | None) -> None:
        """Sets the callback that asks the user; it receives the program's name; None = no callback. It must return at
        once; answer with :meth:`authorize`, then or later."""

        def call(text: bytes) -> None:
            assert callback is not None
            callback(str(_wire.loads(text).get("name", "")))

        self._hook("bw_alerts_on_authorize", _callbacks.AUTHORIZE, None if callback is None else call)

    def on_will_present(self, callback: Callable[[AlertRequest], Presentation] | None) -> None:
        """Sets the callback that decides how an alert is shown while the program is in front; None = show all of it.

        It must answer within 500 ms.
        """

        def call(text: bytes) -> int:
            assert callback is not None
            return int(callback(decode(AlertRequest, _wire.loads(text))))

        self._hook("bw_alerts_on_will_present", _callbacks.WILL_PRESENT, None if callback is None else call)

    def on_present(self, callback: Callable[[AlertRequest], object] | None) -> None:
        """With ``alerts="host"``: sets the callback that shows alerts. If it raises or returns False, the library tries
        again for a minute. Report the user's response with :meth:`respond`."""

        def call(text: bytes) -> int:
            assert callback is not None
            return 1 if callback(decode(AlertRequest, _wire.loads(text))) is False else 0

        self._hook("bw_alerts_on_present", _callbacks.PRESENT, None if callback is None else call)

    def _hook(self, name: str, thunk: Any, call: Callable[[bytes], Any] | None) -> None:
        if call is None:
            self._core.do(name, type(thunk)(), None, _callbacks.DESTROY)
        else:
            status = self._core.give(name, (), thunk, call)
            if status < 0:
                raise self._core.failure(status)

    def in_front(self, in_front: bool) -> None:
        """Tells the library whether the program is in the foreground; default: no."""
        self._core.do("bw_alerts_in_front", int(bool(in_front)))

    def respond(self, alert_id: str, action: str, *, text: str | None = None, desktop: str | None = None) -> None:
        """With ``alerts="host"``: reports the user's response. ``desktop`` is the alert's, ``text`` a reply's text.

        Raises :class:`~bellwire.NotFoundError` (no such alert was shown, or it was already answered),
        :class:`~bellwire.InvalidError` (no such action).
        """
        self._core.do(
            "bw_alerts_respond",
            _wire.optional_text(desktop, "desktop"),
            _wire.text(alert_id, "id"),
            _wire.text(action, "action"),
            _wire.optional_text(text, "text"),
        )

    def categories(self, categories: Iterable[AlertCategory]) -> None:
        """Registers the alert categories and replaces earlier ones; at most 64 with 8 actions each."""
        self._core.do("bw_alerts_categories", _wire.dumps([to_json(each) for each in categories], "categories"))

    def settings(self) -> AlertSettings:
        """The device's own settings."""
        return self._ask(one(AlertSettings), "bw_alerts_settings")

    def set_settings(
        self,
        *,
        enabled: bool | None = None,
        quiet_hours_enabled: bool | None = None,
        quiet_hours_start: str | None = None,
        quiet_hours_end: str | None = None,
        sound_enabled: bool | None = None,
        show_preview: bool | None = None,
        burst_limit: int | None = None,
        open_links: bool | None = None,
        sources: Mapping[str, Optional[bool]] | None = None,
        categories: Mapping[str, Optional[bool]] | None = None,
    ) -> AlertSettings:
        """Changes the given settings and returns all; in sources and categories, None restores the default."""
        changes = members(
            enabled=enabled,
            quiet_hours_enabled=quiet_hours_enabled,
            quiet_hours_start=quiet_hours_start,
            quiet_hours_end=quiet_hours_end,
            sound_enabled=sound_enabled,
            show_preview=show_preview,
            burst_limit=burst_limit,
            open_links=open_links,
            sources=sources,
            categories=categories,
        )
        return self._ask(one(AlertSettings), "bw_alerts_set_settings", _wire.dumps(changes, "settings"))

    def open_settings(self) -> None:
        """Opens the desktop environment's settings for notifications.

        Raises :class:`~bellwire.UnsupportedError` if no program is known or installed for that.
        """
        self._core.do("bw_alerts_settings_open")

    def delivered(self) -> tuple[DeliveredAlert, ...]:
        """Alerts that were shown and neither answered nor withdrawn, at most 500.

        Those of a thread are listed together: the thread with the newest alert first, and its newest alert first.
        Alerts whose notification server ended while the program was not running are not among them.
        """
        return self._ask(list_of(DeliveredAlert), "bw_alerts_delivered")

    def remove(self, alert_id: str | None = None, *, thread: str | None = None, desktop: str | None = None) -> None:
        """Removes shown alerts: the one with this id (and desktop), those of a thread, or all.

        Raises :class:`~bellwire.NotFoundError` (id).
        """
        self._core.do("bw_alerts_remove", *map(_wire.optional_text, (desktop, alert_id, thread), _NAMES))

    def badge(self, number: int) -> None:
        """Sets the badge until the next ``unread.changed``; 0 clears it."""
        self._core.do("bw_alerts_badge", ctypes.c_int64(_wire.integer(number, "badge", INT64)))


class Reminders(Room):
    """The program's own alerts, triggered by time or place: ``device.reminders``. At most 500 are stored."""

    def add(self, alert: Alert, trigger: Trigger | None = None) -> Reminder:
        """Adds a reminder, or replaces the one with the same id; ``trigger`` None = at once.

        Raises :class:`~bellwire.InvalidError` (also for a time that never comes), :class:`~bellwire.LimitError`.
        """
        value = {key: each for key, each in to_json(alert).items() if each not in ("", []) or key in ("title", "body")}
        if trigger is not None:
            value["trigger"] = _trigger(trigger)
        return self._ask(_reminder, "bw_reminder_add", _wire.dumps(value, "reminder"))

    def list(self) -> tuple[Reminder, ...]:
        """The pending reminders, next one first, regions last."""
        return self._ask(lambda found: tuple(map(_reminder, found)), "bw_reminder_list")

    def remove(self, reminder_id: str | None = None, *, thread: str | None = None) -> None:
        """Removes the one with this id, those of a thread, or all; shown alerts stay.

        Raises :class:`~bellwire.NotFoundError` (id).
        """
        self._core.do("bw_reminder_remove", *map(_wire.optional_text, (reminder_id, thread), _NAMES[1:]))

    def position(self, latitude: float, longitude: float, accuracy_m: float = 0.0) -> None:
        """Reports the device's position in degrees, and its uncertainty in metres.

        Raises :class:`~bellwire.InvalidError` (invalid coordinates).
        """
        self._core.do("bw_reminder_position", float(latitude), float(longitude), float(accuracy_m))


_NAMES = ("desktop", "id", "thread")


def _request(provisional: bool) -> bytes | None:
    return _wire.dumps({"provisional": True}) if provisional else None
