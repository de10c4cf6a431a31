"""The optional fields of a notification, the same for all calls that send one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypedDict, Union

from ._wire import Moment, members
from .models import Priority


class PushFields(TypedDict, total=False):
    """Keyword arguments of :meth:`Device.send`, :meth:`Device.send_to_mobile`, :meth:`Device.broadcast` and
    :meth:`Desktop.notify`, each of which may be left out. Texts have at most 8,192 bytes.

    - ``priority``: ``low``, ``normal`` (default), ``high`` or ``urgent``, which overrides quiet hours.
    - ``respect_quiet_hours``: False = shown even during quiet hours. Default: True.
    - ``silenced``: True = stored in the histories and inboxes, without an alert.
    - ``scheduled_at``: when the desktop sends it, by its own clock: within 366 days; an aware datetime or milliseconds
      since 1970, as all times.
    - ``expires_at``: devices that have not received it by then don't get it.
    - ``collapse_key``: it replaces the last notification with the same key.
    - ``subtitle``: a second, shorter title of the alert.
    - ``image_url``: an image for the alert, ``https://``.
    - ``deep_link``: a URL for the program on the device, which may open it.
    - ``category``: the alert category of the device, which defines the alert's buttons and replies.
    - ``buttons``: up to three links, label to URL, which bellwire-tray shows as buttons; passed on as
      ``data["actions"]``. Alerts have the buttons of their category only.
    - ``thread_id``: alerts with the same one are grouped.
    - ``sound``: ``default``, or a name from the device's sound theme.
    - ``badge``: the number on the icon of the program on the device.
    - ``data``: an object for the program on the device, at most 262,144 bytes as JSON.
    """

    priority: Union[Priority, str, None]
    respect_quiet_hours: bool
    silenced: bool
    scheduled_at: Union[Moment, None]
    expires_at: Union[Moment, None]
    collapse_key: Union[str, None]
    subtitle: Union[str, None]
    image_url: Union[str, None]
    deep_link: Union[str, None]
    category: Union[str, None]
    buttons: Union[Mapping[str, str], None]
    thread_id: Union[str, None]
    sound: Union[str, None]
    badge: Union[int, None]
    data: Union[Mapping[str, Any], None]


def push_params(title: str, body: str, fields: PushFields, **own: Any) -> dict[str, Any]:
    """The parameters of a call that sends a notification.

    ``own`` are those that only this call takes. Raises TypeError for any other keyword.
    """
    unknown = fields.keys() - PushFields.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    values: dict[str, Any] = {**fields}
    # Defaults stay out of the parameters.
    values["respect_quiet_hours"] = None if values.get("respect_quiet_hours", True) else False
    values["silenced"] = True if values.get("silenced") else None
    buttons = values.pop("buttons", None)
    if buttons:
        actions = [{"action": "view", "label": label, "url": url} for label, url in buttons.items()]
        values["data"] = {**(values.get("data") or {}), "actions": json.dumps(actions, ensure_ascii=False)}
    return members(title=title, body=body, **values, **own)
