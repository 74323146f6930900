"""Ids as arrays, for files: texts, numbers, dates, times, and tuples of these come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime
from importlib.util import find_spec
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from fewpairs.errors import IdsDroppedWarning, warn
from fewpairs.items.ids import Names
from fewpairs.items.items import Items
from fewpairs.items.packing import NONE, Arrays, pack_items, unpack_items

#: The kind of ids of which each is a text of its own, in JSON.
_SPELT = "spelt"


def pack_names(names: Names | None, role: str) -> tuple[Arrays, str]:
    """Return the arrays that hold names, and of which kind they are; warn where none can."""
    if names is None:
        return {}, NONE
    arrays, kind = pack_items(Items(names.values), role)
    if kind != NONE:
        return arrays, kind
    texts = spelt(names.values)
    if texts is not None:
        return pack_items(Items(texts), role)[0], _SPELT
    warn(
        IdsDroppedWarning(
            f"the file does not hold the ids, such as {names.values[0]!r}: they are neither texts "
            "nor numbers, dates, times, or tuples of these. Attach them with "
            "fewpairs.load(path, ids=…), or make texts of them before the run."
        )
    )
    return {}, NONE


def unpack_names(arrays: Arrays, kind: str, role: str, count: int) -> Names | None:
    """Return what `pack_names` packed; what are no names, or not so many, raises ValueError."""
    items = unpack_items(arrays, "text" if kind == _SPELT else kind, role, (count,))
    if items is None:
        return None
    values = items.values if isinstance(items.values, list) else items.values.tolist()
    names = read(values) if kind == _SPELT else values
    if kind not in ("text", "numbers", _SPELT) or len(set(names)) != count:
        message = "its ids are no names, or not all different"
        raise ValueError(message)
    return Names(names)


def spelt(names: Iterable[Any]) -> list[str] | None:
    """Return each name as a text of which `read` makes the same name; None if one has none.

    Examples
    --------
    >>> spelt([date(2026, 5, 1), ("north", 3)])
    ['{"date": "2026-05-01"}', '["north", 3]']
    """
    names = list(names)
    made = [_jsonable(name) for name in names]
    try:
        texts = [json.dumps(name, allow_nan=False) for name in made]
        # An hour that a zone leaves out, for example, equals no time that is written otherwise.
        return texts if read(texts) == names else None
    except (TypeError, ValueError):  # no such thing, or a number that is none
        return None


def read(texts: Iterable[str]) -> list[Any]:
    """Return the names that `spelt` has written; ValueError if these are none."""
    try:
        return [_named(json.loads(text)) for text in texts]
    except RecursionError as error:
        message = "its ids are nested too deeply"
        raise ValueError(message) from error


#: Something that JSON refuses.
_REFUSED = object()


def _jsonable(name: Any) -> Any:
    """Return a name as JSON has it; what it has no word for is left for it to refuse."""
    if isinstance(name, tuple):  # of an index with several levels; not of tuples
        return [_REFUSED if isinstance(part, tuple) else _jsonable(part) for part in name]
    if isinstance(name, np.generic) and name.dtype.kind in "biufU":
        return name.item()
    if isinstance(name, (list, dict)) or name != name:  # noqa: PLR0124 - a time that is none
        return _REFUSED
    if isinstance(name, datetime) and hasattr(name, "nanosecond"):  # of pandas
        of = None if name.tzinfo is None else str(name.tzinfo)
        return {"timestamp": name.isoformat(), "zone": of}
    if isinstance(name, datetime):
        zone = {"zone": name.tzinfo.key} if isinstance(name.tzinfo, ZoneInfo) else {}
        return {"datetime": name.isoformat()} | zone
    return {"date": name.isoformat()} if isinstance(name, date) else name


def _named(read: Any) -> Any:
    if isinstance(read, list):
        return tuple(map(_part, read))
    return _part(read)


def _part(read: Any) -> Any:
    if read is None or isinstance(read, (str, int, float)):
        return read
    if isinstance(read, dict):
        zone = read.pop("zone", None)
        kind, text = next(iter(read.items()), ("", None))
        if len(read) == 1 and kind in _TIMES and isinstance(text, str):
            return _TIMES[kind](text, zone if isinstance(zone, str) else None)
    message = "its ids are no names"
    raise ValueError(message)


def _datetime(text: str, zone: str | None) -> datetime:
    at = datetime.fromisoformat(text)
    if zone is not None and at.tzinfo is not None:
        with suppress(*_UNKNOWN):
            at = at.astimezone(ZoneInfo(zone))
    return at


def _timestamp(text: str, zone: str | None) -> datetime:
    """Return a time of pandas, or without it one of Python, which is the same to a microsecond."""
    if find_spec("pandas") is None:
        return datetime.fromisoformat(text)
    import pandas as pd  # noqa: PLC0415 - an extra

    at: datetime = pd.Timestamp(text)
    if zone is not None:
        with suppress(*_UNKNOWN):
            at = pd.Timestamp(text).tz_convert(zone)
    return at


#: What a zone raises that this machine does not know, or that is no name of one.
_UNKNOWN = (KeyError, IndexError, TypeError, ValueError, OverflowError, OSError)
#: From the word for a kind of time to what makes one of its text, and of the name of its zone.
_TIMES: dict[str, Callable[[str, str | None], date]] = {
    "date": lambda text, _: date.fromisoformat(text),
    "datetime": _datetime,
    "timestamp": _timestamp,
}
