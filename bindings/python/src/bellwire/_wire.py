"""JSON to frozen dataclasses and back.

A dataclass names its fields in snake_case and annotates them; the wire has them in camelCase. The annotations say how
each is read, so they are written in a small language: ``str``, ``int``, ``float``, ``bool``, ``datetime`` (milliseconds
on the wire), ``Mapping[…]``, the name of a class that was given to :func:`wire`, ``Optional[X]`` and ``tuple[X, ...]``.
"""

from __future__ import annotations

import dataclasses
import json
import json.scanner
import math
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any, TypeVar, Union

from .errors import InvalidError, ProtocolError

T = TypeVar("T")
Reader = Callable[[Any], Any]
#: A moment, as a datetime with a time zone, or in milliseconds since 1970.
Moment = Union[datetime, int]

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST = (datetime.min.replace(tzinfo=timezone.utc) - EPOCH) // timedelta(milliseconds=1)
_LAST = (datetime.max.replace(tzinfo=timezone.utc) - EPOCH) // timedelta(milliseconds=1)

INT32 = range(-(1 << 31), 1 << 31)
INT64 = range(-(1 << 63), 1 << 63)


class WireEnum(str, Enum):
    """Words of the wire. What this package does not know, from a newer peer, is a member of its own: ``UNKNOWN``."""

    @classmethod
    def _missing_(cls, value: object) -> WireEnum | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_, member._value_ = "UNKNOWN", value
        return member

    def __str__(self) -> str:
        return str(self.value)


# Reading


def _plain(kind: type) -> Reader:
    def read(value: Any) -> Any:
        # A bool is an int in Python, and is none on the wire.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"a {kind.__name__} was expected")
        return value

    return read


def moment(value: Any) -> datetime:
    """A time of the wire, in UTC. What lies outside the years that Python has becomes the first or last moment."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("expected a time")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("expected a time")
    return EPOCH + timedelta(milliseconds=min(max(int(value), _FIRST), _LAST))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("expected a number")
    return float(value)


def _tally(value: Any) -> int | None:
    """A count, or "all" of a desktop that does not count."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_READERS: dict[str, Reader] = {
    "str": _plain(str),
    "int": _plain(int),
    "bool": _plain(bool),
    "float": _number,
    "datetime": moment,
    "Tally": _tally,
    "Any": lambda value: value,
    "Failure.code": lambda value: value if isinstance(value, (int, str)) else None,
}


def _reader(annotation: str) -> Reader:
    if annotation.startswith("Optional[") and annotation.endswith("]"):
        inner = _reader(annotation[9:-1])
        return lambda value: None if value is None else inner(value)
    if annotation.startswith("tuple[") and annotation.endswith(", ...]"):
        item = _reader(annotation[6:-6])

        def read_all(value: Any) -> tuple[Any, ...]:
            if not isinstance(value, list):
                raise ValueError("expected an array")
            return tuple(item(each) for each in value)

        return read_all
    if annotation.startswith("Mapping["):
        return _plain(dict)
    return _READERS[annotation]


@dataclasses.dataclass(frozen=True)
class _Field:
    name: str
    key: str
    read: Reader
    required: bool


_PLANS: dict[type, list[_Field]] = {}


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def wire(cls: type[T]) -> type[T]:
    """Makes a dataclass, or an enum, one that :func:`decode` reads, alone or as a field of others."""
    if issubclass(cls, Enum):
        _READERS[cls.__name__] = cls
        return cls
    plan = []
    for each in dataclasses.fields(cls):  # type: ignore[arg-type]
        if each.name != "raw":
            required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
            plan.append(_Field(each.name, camel(each.name), _reader(str(each.type)), required))
    _PLANS[cls] = plan
    _READERS[cls.__name__] = lambda value: decode(cls, value)
    return cls


def decode(cls: type[T], value: Any) -> T:
    """A wire object as ``cls``; if ``cls`` has a field ``raw``, it becomes the whole object."""
    if not isinstance(value, dict):
        raise ProtocolError(f"{cls.__name__}: an object was expected")
    found: dict[str, Any] = {}
    for field in _PLANS[cls]:
        # A null is a member that is not there.
        if value.get(field.key) is None:
            if field.required:
                raise ProtocolError(f"{cls.__name__}: {field.key!r} is missing", {"field": field.key})
            continue
        try:
            found[field.name] = field.read(value[field.key])
        except ValueError as error:
            if isinstance(error, ProtocolError):
                raise
            raise ProtocolError(f"{cls.__name__}: {field.key!r}: {error}", {"field": field.key}) from None
    if any(each.name == "raw" for each in dataclasses.fields(cls)):  # type: ignore[arg-type]
        found["raw"] = value
    return cls(**found)


_deep = threading.Lock()


def _decoder_in_python() -> json.JSONDecoder:
    decoder: Any = json.JSONDecoder()
    scanner: Any = json.scanner
    decoder.scan_once = scanner.py_make_scanner(decoder)
    python: json.JSONDecoder = decoder
    return python


def loads(text: bytes | str) -> Any:
    """JSON that the library gave. It nests as deep as a peer likes, up to 2,048: deeper than Python reads at first."""
    try:
        return json.loads(text)
    except RecursionError:
        with _deep:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit + 20_000)
            try:
                return json.loads(text)
            except RecursionError:
                # Python 3.12 has a limit for C as well, which cannot be raised.
                return _decoder_in_python().decode(text if isinstance(text, str) else text.decode())
            finally:
                sys.setrecursionlimit(limit)


def list_of(cls: type[T]) -> Callable[[Any], tuple[T, ...]]:
    """A reader of arrays of ``cls``."""
    return lambda value: tuple(decode(cls, each) for each in value)


def one(cls: type[T]) -> Callable[[Any], T]:
    return lambda value: decode(cls, value)


# Writing


def text(value: str, field: str) -> bytes:
    """A parameter that is not JSON."""
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str, not {type(value).__name__}")
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise InvalidError(f"{field} has a lone surrogate, which UTF-8 has no form for", {"field": field}) from None
    if b"\0" in encoded:
        raise InvalidError(f"{field} has a NUL character, which ends a text in C", {"field": field})
    return encoded


def optional_text(value: str | None, field: str) -> bytes | None:
    return None if value is None else text(value, field)


def dumps(value: Any, field: str = "params") -> bytes:
    """A parameter that is JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise InvalidError(f"{field} has a lone surrogate, which UTF-8 has no form for", {"field": field}) from None
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"{field} cannot be JSON: {error}", {"field": field}) from None


def members(**values: Any) -> dict[str, Any]:
    """An object of the wire from keyword arguments: what is None is left out, moments become milliseconds."""
    return {camel(name): to_json(value) for name, value in values.items() if value is not None}


def to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return milliseconds(value)
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return members(**{f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name != "raw"})
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    return value


def milliseconds(value: Moment) -> int:
    """A moment as the wire has it."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidError("a datetime needs a time zone: datetime.now(timezone.utc), or value.astimezone()")
        return (value - EPOCH) // timedelta(milliseconds=1)
    return value


def integer(value: int, field: str, allowed: range = INT32) -> int:
    """A number that C takes: ctypes would cut off what does not fit."""
    if not isinstance(value, int):
        raise TypeError(f"{field} must be an int, not {type(value).__name__}")
    if value not in allowed:
        raise InvalidError(f"{field} must be from {allowed.start} to {allowed.stop - 1}", {"field": field})
    return int(value)


def timeout_ms(seconds: float) -> int:
    """Seconds to the library's milliseconds; it wants 1 ms to 600 s."""
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        raise TypeError(f"timeout must be a number of seconds, not {type(seconds).__name__}")
    if not 0 < seconds <= 600:
        raise InvalidError("timeout must be above 0 and at most 600 seconds", {"field": "timeout_ms"})
    return max(1, math.ceil(seconds * 1000))


def queue_ms(seconds: float | None) -> int | None:
    """How long a command may wait in the queue; the library wants 1 ms to a day."""
    if seconds is None:
        return None
    if not 0 < seconds <= 86_400:
        raise InvalidError("queue_for must be above 0 and at most 86,400 seconds", {"field": "queueMs"})
    return max(1, math.ceil(seconds * 1000))
