"""One file of a journal: some requests with their answers, items by their keys.

A block is a file of `files/archive.py` (safetensors, a SHA-256 for each array, no code) with four
arrays: the keys of the items that occur in it; a row (kind, rows, columns) for each record; the
places of those rows and columns among the keys; and the values. So a rectangle takes little more
than its values, and any block can be read without the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.files import archive
from fewpairs.files.contents import require
from fewpairs.items.keys import SIZE, Keys
from fewpairs.oracle.requests import Ordered, Rectangle, Request, Scattered

_KIND = "journal block"
#: Kinds of records, by their numbers in files.
KINDS: tuple[type[Rectangle | Scattered], ...] = (Rectangle, Scattered, Ordered)
_SHAPE = 3


@dataclass(frozen=True, eq=False)
class Record:
    """A request with its answer; rows and columns are places in the block's table of keys."""

    request: Request
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Block:
    """What one file holds.

    Attributes
    ----------
    keys : ndarray of 16-byte strings
    records : list of Record
        Without values, where only the shapes were read.
    matrix : str
        A sign of the two sets of items that it was evaluated of, in their order, where they share
        some; nothing otherwise.
    """

    keys: Keys
    records: list[Record]
    matrix: str = ""

    @property
    def size(self) -> int:
        """Number of values."""
        return sum(record.request.size for record in self.records)


def merged(records: Sequence[Record]) -> list[Record]:
    """Join neighbouring rectangles of the same rows, then of the same columns, and lists.

    No pair may be twice in a rectangle, in whatever order: which of its values came first would be
    lost.
    """
    return list(_joined(_joined(records, axis=1), axis=0))


def _joined(records: Iterable[Record], axis: int) -> Iterator[Record]:
    group: list[Record] = []
    for record in records:
        if group and not _fit(group[-1].request, record.request, axis):
            yield from _as_one(group, axis)
            group = []
        group.append(record)
    yield from _as_one(group, axis)


def _fit(one: Request, other: Request, axis: int) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, Scattered):
        return axis == 0
    same = ("columns", "rows")[axis]
    return (
        np.array_equal(getattr(one, same), getattr(other, same))
        and not np.isin(other.rows, other.columns).any()
    )


def _as_one(group: list[Record], axis: int) -> list[Record]:
    if len(group) < 2:  # noqa: PLR2004 - nothing to join
        return group
    first = group[0].request
    rows, columns = first.rows, first.columns
    if isinstance(first, Scattered) or axis == 0:
        rows = np.concatenate([record.request.rows for record in group])
    if isinstance(first, Scattered) or axis == 1:
        columns = np.concatenate([record.request.columns for record in group])
    if isinstance(first, Rectangle):
        along = (rows, columns)[axis]
        if len(np.unique(along)) < len(along) or np.isin(rows, columns).any():
            return group
    values = np.concatenate([record.values for record in group], axis=axis)
    return [Record(type(first)(rows, columns), values)]


def write_block(
    path: Path,
    records: Sequence[Record],
    keys: Keys,
    identity: str,
    dtype: str,
    matrix: str = "",
) -> None:
    """Write records to a new file, whole or not at all.

    Parameters
    ----------
    path : Path
    records : sequence of Record
        Rows and columns are places in `keys`.
    keys : ndarray
        Of all items; those that occur are written.
    identity : str
        Of the similarity.
    dtype : {"float64", "float32"}
    matrix : str, default=""
        As `Block` has it.
    """
    shapes = [
        (KINDS.index(type(r.request)), len(r.request.rows), len(r.request.columns)) for r in records
    ]
    sides = [side for r in records for side in (r.request.rows, r.request.columns)]
    used, places = np.unique(np.concatenate(sides), return_inverse=True)
    arrays: dict[str, npt.NDArray[Any]] = {
        "keys": keys[used].view(np.uint8).reshape(-1, SIZE),
        "records": np.array(shapes, dtype=np.int64),
        "places": places.reshape(-1).astype(np.uint32),
        "values": np.concatenate([r.values.ravel() for r in records]).astype(dtype, copy=False),
    }
    archive.write(path, arrays, {"kind": _KIND, "identity": identity, "matrix": matrix})


def read_block(path: Path, identity: str, *, values: bool = True) -> Block:
    """Read a block of this similarity; what is none raises FileFormatError."""
    only = None if values else ("keys", "records", "places")
    arrays, facts = archive.read(path, only=only)
    with archive.unpacking(path):
        require(facts.get("kind") == _KIND, "it is no block of a journal")
        require(facts.get("identity") == identity, "it belongs to another similarity")
        return replace(_unpacked(arrays, values=values), matrix=str(facts.get("matrix")))


def _unpacked(arrays: dict[str, npt.NDArray[Any]], *, values: bool) -> Block:
    table, shapes, places = arrays["keys"], arrays["records"], arrays["places"]
    require(table.dtype == np.uint8 and table.shape[1:] == (SIZE,), "its keys do not fit")
    require(shapes.dtype == np.int64 and shapes.shape[1:] == (_SHAPE,), "its records do not fit")
    require(places.dtype == np.uint32 and places.ndim == 1, "its places do not fit")
    require(not len(places) or int(places.max()) < len(table), "its places do not fit")
    where = places.astype(np.int64)
    numbers = _numbers(arrays["values"]) if values else None
    records, at, value_at = [], 0, 0
    for kind, n_rows, n_columns in shapes.tolist():
        require(0 <= kind < len(KINDS) and min(n_rows, n_columns) >= 0, "its records do not fit")
        ends = at + n_rows, at + n_rows + n_columns
        require(ends[1] <= len(where), "its records are longer than their places")
        request = KINDS[kind](where[at : ends[0]], where[ends[0] : ends[1]])
        rectangle = kind == 0
        require(rectangle or n_rows == n_columns, "its pairs do not fit")
        shape = (n_rows, n_columns) if rectangle else (n_rows,)
        end = value_at + request.size
        if numbers is None:
            found: FloatArray = np.empty(0)
        else:
            require(end <= len(numbers), "it holds too few values")
            found = numbers[value_at:end].reshape(shape)
        records.append(Record(request, found))
        at, value_at = ends[1], end
    require(at == len(where), "it holds places that belong to nothing")
    require(numbers is None or value_at == len(numbers), "it holds values of nothing")
    keys = np.ascontiguousarray(table).reshape(-1).view(f"S{SIZE}")
    return Block(keys, records)


def _numbers(values: npt.NDArray[Any]) -> FloatArray:
    require(values.dtype.name in ("float64", "float32") and values.ndim == 1, "values do not fit")
    require(np.isfinite(values).all(), "it holds values that are not finite")
    return values.astype(np.float64, copy=False)
