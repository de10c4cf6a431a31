"""The library's log, for use with Python's logging."""

from __future__ import annotations

import logging
from collections.abc import Callable

from . import _callbacks
from ._core import check
from ._library import library
from ._signatures import LogLevel

_LEVELS = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}


def set_log(callback: Callable[[LogLevel, str], object] | None, level: LogLevel = LogLevel.INFO) -> None:
    """Sets the callback for log lines of at least ``level``; it runs in the next dispatch of any handle.

    One per process; None = no log. Lines never contain payloads, keys or codes. Raises
    :class:`~bellwire.InvalidError` (level).
    """
    if callback is None:
        check(library.bw_set_log(int(level), type(_callbacks.LOG)(), None, _callbacks.DESTROY))
        return

    def call(number: int, message: bytes) -> None:
        callback(LogLevel(number), message.decode(errors="replace"))

    key = _callbacks.register(call, _callbacks.Scope())
    check(library.bw_set_log(int(level), _callbacks.LOG, key, _callbacks.DESTROY))


def log_to(logger: logging.Logger, level: LogLevel = LogLevel.INFO) -> None:
    """Passes the lines to a Python logger."""
    set_log(lambda number, message: logger.log(_LEVELS[number], "%s", message), level)
