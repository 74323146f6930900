"""Records: items with named fields, read field by field."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.items import Items
from fewpairs.items.stored import Stored, is_missing

#: Stands for a field that a record does not have.
_ABSENT = object()


def field_of(items: Items, name: str) -> tuple[list[Any], npt.NDArray[np.bool_]]:
    """Return one field of all records, and where it is filled.

    Parameters
    ----------
    items : Items
        Mappings, rows of a frame, named tuples or dataclasses.
    name : str

    Returns
    -------
    cells : list
    filled : ndarray of bool
        False where a record lacks the field, or holds None, NaN or a blank text in it.

    Raises
    ------
    InputError
        An item without fields, or a field that none of all records has.
    """
    records = list(items.values)
    cells = []
    for at, record in enumerate(records):
        names = field_names(record)
        if names is None:
            raise InputError(
                f"item {items.describe(at)} is a {type(record).__name__}, which has no fields.",
                f"It is compared by its field {name!r}.",
                "Pass mappings such as {'name': 'Ann'}, a data frame, named tuples or dataclasses.",
            )
        cells.append(_cell(record, name) if name in names else _ABSENT)
    # One record, or a few among many, may well lack a field that others have.
    if len(cells) > 1 and not items.is_subset and all(cell is _ABSENT for cell in cells):
        known = dict.fromkeys(str(other) for record in records for other in field_names(record))
        raise UnknownNameError("field", name, known, where="of the items")
    return cells, np.array([_is_filled(cell) for cell in cells], dtype=bool)


def shown_columns(items: Items, places: Any, side: str) -> dict[str, list[Any]]:
    """Return what is shown of some items in a table, as columns whose names begin with the side.

    Texts are one column; records have one for each field, with None where a record lacks it.
    """
    if items.kind == "text":
        return {f"{side}_text": list(items.take(places))}
    if not has_fields(items):
        return {}
    records = list(items.take(places))
    some = [items.values[0], *records]  # so that an empty table has columns, too
    names = dict.fromkeys(name for record in some for name in field_names(record))
    return {
        f"{side}_{name}": [
            _cell(record, name) if name in field_names(record) else None for record in records
        ]
        for name in names
    }


def has_fields(items: Items) -> bool:
    """Say whether items are records."""
    return isinstance(items.values, (list, Stored)) and field_names(items.values[0]) is not None


def field_names(record: Any) -> Any:
    """Return the names of a record's fields; None for what is no record."""
    if callable(getattr(record, "keys", None)):
        return record.keys()
    if isinstance(record, tuple):
        return getattr(record, "_fields", None)
    if is_dataclass(record) and not isinstance(record, type):
        return [field.name for field in fields(record)]
    return None


def _cell(record: Any, name: str) -> Any:
    return record[name] if hasattr(record, "keys") else getattr(record, name)


def _is_filled(cell: Any) -> bool:
    blank = isinstance(cell, str) and not cell.strip()
    return not (cell is _ABSENT or blank or is_missing(cell))
