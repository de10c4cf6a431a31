"""What Python's zoneinfo says about local times that match: an oracle that shares nothing with the library's calendar.

    matches.py COUNT [ZONE ...]

Prints COUNT cases for each zone (default: all that there are), one a line: the zone; year, month, day, weekday, hour,
minute, second, each a number or -; a moment; and the first match after it. Moments are seconds since 1970. Most lie within
two days of a change of the zone's clock. The same in each run.
"""

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

FIELDS = ("year", "month", "day", "weekday", "hour", "minute", "second")
FIRST = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
DAY = 86_400
Pattern = dict[str, int]


def offset(zone: ZoneInfo, moment: int) -> timedelta:
    shift = datetime.fromtimestamp(moment, zone).utcoffset()
    assert shift is not None
    return shift


def changes(zone: ZoneInfo, first: int, last: int, step: int) -> Iterator[int]:
    """The first second of each new offset."""
    for start in range(first, last, step):
        low, high = start, start + step
        if offset(zone, low) == offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if offset(zone, middle) == offset(zone, low):
                low = middle
            else:
                high = middle
        yield high


def moment_of(zone: ZoneInfo, local: datetime) -> int:
    """The first moment of a local time; the moment after the gap for one that the clock skips."""
    before = local.replace(tzinfo=zone, fold=0)
    first = round(before.timestamp())
    if datetime.fromtimestamp(first, zone).replace(tzinfo=None, fold=0) == local:
        return first
    # In a gap fold=0 counts by the offset before it, which is a moment after the change, and fold=1 one before it.
    second = round(local.replace(tzinfo=zone, fold=1).timestamp())
    (change,) = changes(zone, second, first, first - second)
    return change


def matching_times(pattern: Pattern) -> list[tuple[int, int, int]]:
    return [
        (hour, minute, pattern["second"])
        for hour in ([pattern["hour"]] if "hour" in pattern else range(24))
        for minute in ([pattern["minute"]] if "minute" in pattern else range(60))
    ]


def next_match(zone: ZoneInfo, given: Pattern, after: int) -> int | None:
    """Tries each day, and on each that matches each time; None when there is nothing for nine years."""
    finest = max(FIELDS.index(name) for name in given)
    pattern = dict(given)
    for name in FIELDS[finest + 1 :]:
        if name in FIRST:
            pattern[name] = FIRST[name]
    times = matching_times(pattern)
    day = datetime.fromtimestamp(after, zone).replace(tzinfo=None, hour=0, minute=0, second=0, fold=0)
    day -= timedelta(days=2)
    for _ in range(9 * 366):
        calendar = {"year": day.year, "month": day.month, "day": day.day, "weekday": day.isoweekday()}
        if all(pattern.get(name, value) == value for name, value in calendar.items()):
            for hour, minute, second in times:
                moment = moment_of(zone, day.replace(hour=hour, minute=minute, second=second))
                if moment > after:
                    return moment
        day += timedelta(days=1)
    return None


def some_pattern(chance: random.Random, near: datetime) -> Pattern:
    """Components that mostly match something soon after a local time."""
    near += timedelta(minutes=chance.choice([-90, -30, 0, 15, 30, 45, 60, 90, 1_440]))
    values = {
        "year": near.year,
        "month": near.month,
        "day": near.day,
        "weekday": near.isoweekday(),
        "hour": chance.choice([near.hour, near.hour, chance.randrange(24)]),
        "minute": chance.choice([near.minute, 0, 15, 30, chance.randrange(60)]),
        "second": chance.choice([0, 59, chance.randrange(60)]),
    }
    kinds = (
        "hour",
        "hour minute",
        "hour minute",
        "hour minute second",
        "minute",
        "second",
        "minute second",
        "weekday",
        "weekday hour",
        "day hour",
        "month day",
        "month day hour minute",
        "year month day hour minute",
        "year month day hour minute second",
        "month hour",
        "month weekday minute",
        "month",
        "year month",
        "day weekday hour minute",
        "hour second",
        "day",
    )
    return {name: values[name] for name in chance.choice(kinds).split()}


def main() -> None:
    count = int(sys.argv[1])
    # "localtime" and "posixrules" are files of one machine or another; Factory is nobody's zone.
    names = sys.argv[2:] or sorted(available_timezones() - {"localtime", "posixrules", "Factory"})
    for name in names:
        if name.startswith(("right/", "posix/")):
            continue
        zone = ZoneInfo(name)
        chance = random.Random(name)
        known = list(changes(zone, 3 * DAY, 2_240_000_000, 4 * DAY))
        written = 0
        while written < count:
            if known and chance.random() < 0.85:
                after = chance.choice(known) + chance.choice([-3_601, -1, 0, 1, 1_800, 3_599, 3_600]) * chance.choice(
                    [0, 1, 1, 2, 12, 24]
                )
            else:
                after = chance.randrange(3 * DAY, 4_000_000_000)
            local = datetime.fromtimestamp(after, zone).replace(tzinfo=None, fold=0)
            pattern = some_pattern(chance, local)
            expected = next_match(zone, pattern, after)
            if expected is None:
                continue
            written += 1
            print(name, *(pattern.get(field, "-") for field in FIELDS), after, expected)


assert datetime(1970, 1, 1, tzinfo=UTC).timestamp() == 0
if __name__ == "__main__":
    main()
