"""One exception class per status of the library; all derive from :class:`BellwireError`.

Some also derive from a built-in exception: a :class:`CallTimeoutError` is a :class:`TimeoutError`, an
:class:`OfflineError` a :class:`ConnectionError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ._signatures import Status

__all__ = [
    "BellwireError",
    "BusyError",
    "CallTimeoutError",
    "ClosedError",
    "DeniedError",
    "FileError",
    "ForkedError",
    "HandleError",
    "InvalidError",
    "LibraryError",
    "LimitError",
    "NetworkError",
    "NotFoundError",
    "OfflineError",
    "OutOfMemoryError",
    "PairingError",
    "ProtocolError",
    "RemoteError",
    "StoreError",
    "UnsupportedError",
]


class LibraryError(ImportError):
    """The shared library was not found, cannot be loaded or is too old."""


class BellwireError(Exception):
    """A call that failed.

    ``status`` is the library's status. ``message`` says in English what is wrong and what to do. ``detail`` has further
    facts, such as the ``field`` of a parameter, or the ``code`` and ``message`` of a peer that refused.
    """

    #: The status of this class.
    default_status: ClassVar[Status] = Status.E_INVALID

    def __init__(self, message: str, detail: Mapping[str, Any] | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail: dict[str, Any] = dict(detail or {})
        number = self.default_status if status is None else status
        #: A :class:`Status`, or a plain number if the library is newer than this package.
        self.status: int = Status(number) if number in Status._value2member_map_ else number

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.detail, int(self.status))


class InvalidError(BellwireError, ValueError):
    """Invalid parameter: not JSON, unknown key, out of range. ``detail["field"]`` names it."""

    default_status = Status.E_INVALID


class HandleError(BellwireError, ValueError):
    """The handle is closed or of the wrong kind."""

    default_status = Status.E_HANDLE


class BusyError(BellwireError):
    """In use: state_dir by another process; dispatch by another thread or a callback."""

    default_status = Status.E_BUSY


class OfflineError(BellwireError, ConnectionError):
    """Not connected to the desktop."""

    default_status = Status.E_OFFLINE


class CallTimeoutError(BellwireError, TimeoutError):
    """No answer in time; the command may still be executed."""

    default_status = Status.E_TIMEOUT


class RemoteError(BellwireError):
    """The peer refused."""

    default_status = Status.E_REMOTE

    @property
    def code(self) -> int | None:
        """The peer's error code, if it sent one."""
        code = self.detail.get("code")
        return code if isinstance(code, int) else None


class ProtocolError(BellwireError):
    """The peer's answer cannot be decoded."""

    default_status = Status.E_PROTOCOL


class DeniedError(BellwireError, PermissionError):
    """The peer, or a file's permissions, do not allow it."""

    default_status = Status.E_DENIED


class UnsupportedError(BellwireError):
    """The peer, or this build of the library, does not support it."""

    default_status = Status.E_UNSUPPORTED


class StoreError(BellwireError):
    """The database failed: disk full, I/O error."""

    default_status = Status.E_STORE


class ClosedError(BellwireError):
    """The handle was closed, before the call or while it waited."""

    default_status = Status.E_CLOSED


class ForkedError(BellwireError):
    """This process was forked from the one that opened the library; open handles after the fork, or exec."""

    default_status = Status.E_FORKED


class OutOfMemoryError(BellwireError, MemoryError):
    """Out of memory."""

    default_status = Status.E_NO_MEMORY


class FileError(BellwireError, OSError):
    """Cannot use a file or directory; the message names it."""

    default_status = Status.E_IO


class NetworkError(BellwireError, OSError):
    """Cannot use an address: in use, not local, or its certificate is unreadable."""

    default_status = Status.E_NETWORK


class PairingError(BellwireError):
    """Pairing failed; ``reason`` says why."""

    default_status = Status.E_PAIRING

    @property
    def reason(self) -> str | None:
        """One of a fixed list, such as ``expired``, ``rejected``, ``timeout`` or ``cancelled``."""
        reason = self.detail.get("reason")
        return reason if isinstance(reason, str) else None


class NotFoundError(BellwireError, LookupError):
    """No such desktop, device, notification or subscription."""

    default_status = Status.E_NOT_FOUND


class LimitError(BellwireError):
    """A limit of the library was reached; the message names it."""

    default_status = Status.E_LIMIT


_BY_STATUS: dict[int, type[BellwireError]] = {
    int(kind.default_status): kind
    for kind in (
        InvalidError,
        HandleError,
        BusyError,
        OfflineError,
        CallTimeoutError,
        RemoteError,
        ProtocolError,
        DeniedError,
        UnsupportedError,
        StoreError,
        ClosedError,
        ForkedError,
        OutOfMemoryError,
        FileError,
        NetworkError,
        PairingError,
        NotFoundError,
        LimitError,
    )
}


def error_of(status: int, report: Mapping[str, Any] | None) -> BellwireError:
    """The exception for a failed status; ``report`` comes from bw_last_error() or a completion."""
    report = report or {}
    detail = report.get("detail")
    kind = _BY_STATUS.get(status, BellwireError)
    name = Status(status).name if status in Status._value2member_map_ else str(status)
    message = report.get("message")
    return kind(
        message if isinstance(message, str) and message else (kind.__doc__ or name).splitlines()[0],
        detail if isinstance(detail, dict) else {},
        status,
    )
