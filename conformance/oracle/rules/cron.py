"""The five-field schedules of automations (docs/guide/automations.md, Scheduled triggers)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
# Per field: least and greatest value, and the number of the first name.
_FIELDS: tuple[tuple[int, int, tuple[str, ...], int], ...] = (
    (0, 59, (), 0),
    (0, 23, (), 0),
    (1, 31, (), 0),
    (1, 12, _MONTHS, 1),
    (0, 7, _DAYS, 0),
)
_PART = re.compile(r"(\*|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:/(\d+))?", re.ASCII)


class Outside(Exception):
    """An expression that the grammar does not know."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The values of each field. ``either``: both day fields are restricted, and one of them is enough."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool

    def has(self, moment: datetime) -> bool:
        """Whether a moment, in the time zone of the schedule, is one of its occurrences."""
        by_day, by_weekday = moment.day in self.days, (moment.isoweekday() % 7) in self.weekdays
        day = (by_day or by_weekday) if self.either else (by_day and by_weekday)
        on_time = moment.minute in self.minutes and moment.hour in self.hours and moment.month in self.months
        return day and on_time and moment.second == 0

    @property
    def shortest(self) -> int:
        """The least number of minutes between two occurrences of one day; a day's length when there is but one."""
        times = sorted(60 * hour + minute for hour in self.hours for minute in self.minutes)
        return min((later - earlier for earlier, later in pairwise(times)), default=24 * 60)


def schedule_of(expression: str) -> Schedule | None:
    """The schedule of an expression. Raises Outside where the grammar is clearly left; None where it may be read so
    or so: a step on a single value or within a list, and a range that runs backwards."""
    fields = expression.split()
    if len(fields) != len(_FIELDS) or not expression.isascii():
        raise Outside(expression)
    parsed = [_values(field, *form) for field, form in zip(fields, _FIELDS, strict=True)]
    if any(values is None for values in parsed):
        return None
    minutes, hours, days, months, weekdays = (values or frozenset() for values in parsed)
    weekdays = frozenset(day % 7 for day in weekdays)
    # A step on "*" restricts a field for some and not for others.
    if any(fields[place].startswith("*/") for place in (2, 4)):
        return None
    return Schedule(minutes, hours, days, months, weekdays, either=fields[2] != "*" and fields[4] != "*")


def _values(field: str, least: int, greatest: int, names: tuple[str, ...], first: int) -> frozenset[int] | None:
    parts = field.split(",")
    unclear = False
    found: set[int] = set()
    for part in parts:
        match = _PART.fullmatch(part)
        if match is None or (match[1] == "*" and match[2] is not None) or match[3] == "0":
            raise Outside(field)
        start = least if match[1] == "*" else _value(match[1], least, greatest, names, first)
        end = greatest if match[1] == "*" else start
        if match[2] is not None:
            end = _value(match[2], least, greatest, names, first)
        single = match[1] != "*" and match[2] is None
        unclear = unclear or end < start or (match[3] is not None and (single or len(parts) > 1))
        unclear = unclear or (match[1] == "*" and len(parts) > 1)
        found.update(range(start, end + 1, int(match[3] or 1)) if len(match[3] or "") < 4 else [start])
    return None if unclear else frozenset(found)


def _value(word: str, least: int, greatest: int, names: tuple[str, ...], first: int) -> int:
    if word.isdigit() and len(word) < 4 and least <= int(word) <= greatest:
        return int(word)
    if word.upper() in names:
        return names.index(word.upper()) + first
    raise Outside(word)
