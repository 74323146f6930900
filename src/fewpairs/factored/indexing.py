"""What may stand in the brackets of ``K[…]``: what NumPy takes for a table, or our error."""

from __future__ import annotations

import operator
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, unmasked
from fewpairs.errors import PositionError
from fewpairs.items.ids import Names

#: What nobody takes for a position.
_IDS = (str, date)
_WHY = "A factored matrix is read like an array of two dimensions."
_HOW = "Pass positions, slices, lists of positions, or masks of booleans; ids if items have any."


def whole_key(key: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return a key for the rows and one for the columns; what is left out is everything."""
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) == 1:
        # A mask of two dimensions takes the place of both.
        taken = sum(2 if _is_mask(part, shape) else 1 for part in parts) - 1
        parts[dots[0] : dots[0] + 1] = [slice(None)] * (2 - taken)
    if len(parts) == 1 and _is_mask(parts[0], shape):
        rows, columns = np.nonzero(parts[0])
        return rows, columns
    parts += [slice(None)] * (2 - len(parts))
    if len(parts) > 2 or len(dots) > 1 or any(part is None for part in parts):  # noqa: PLR2004
        raise PositionError(f"the matrix was read with {key!r:.100}.", _WHY, _HOW)
    return parts[0], parts[1]


def positions(index: Any, length: int, names: Names | None = None) -> IntArray:
    """Return checked positions as NumPy takes them: negative ones count from the end.

    Texts and dates are ids, where the items have some; integers are always positions.
    """
    if isinstance(index, _IDS):
        return np.asarray(_position_of(index, length, names))
    array = _as_array(index)
    if array.dtype.kind in "UT" or (array.dtype == object and array.size):
        each = [_position_of(name, length, names) for name in array.ravel().tolist()]
        return np.array(each, dtype=np.int64).reshape(array.shape)
    if array.dtype == bool and array.shape == (length,):
        return np.flatnonzero(array)
    if array.size == 0 and (array.dtype.kind in "iu" or not isinstance(index, np.ndarray)):
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        what = f"{array.dtype} of the shape {array.shape}"
        raise PositionError(f"{what} was given as the positions of {length} items.", _WHY, _HOW)
    if array.size and (array.min() < -length or array.max() >= length):
        wrong = array.max() if array.max() >= length else array.min()
        raise PositionError(
            f"index {wrong} is out of range for {length} items.",
            "There is no item at that position.",
            f"Pass positions from 0 to {length - 1}, or from -{length} to -1.",
        )
    whole = array.astype(np.int64)  # before anything is added: a small type would overflow
    return np.where(whole < 0, whole + length, whole)


def one_position(index: Any, length: int, names: Names | None = None) -> int:
    """Return a single checked position."""
    array = positions(index, length, names)
    if array.ndim:
        what = f"{index!r:.100} was given where one item is meant."
        raise PositionError(what, "Neighbours are those of one item.", "Pass one position.")
    return int(array)


def broadcast(rows: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return positions of rows and columns, in pairs."""
    try:
        i, j = np.broadcast_arrays(rows, columns)
    except ValueError as error:
        raise PositionError(
            f"the positions have the shapes {rows.shape} and {columns.shape}.",
            "Each position of a row belongs to one of a column.",
            "Pass as many of both, or numpy.ix_(rows, columns) for all combinations.",
        ) from error
    return i, j


def _position_of(name: Any, length: int, names: Names | None) -> int:
    if not isinstance(name, _IDS):
        raise PositionError(f"{name!r:.100} was given as a position.", _WHY, _HOW)
    if names is None:
        raise PositionError(
            f"{name!r:.100} was given, and the items have no ids.",
            "A text is an id; what is not in the matrix is a new item.",
            f"Pass a position from 0 to {length - 1}, make the matrix with ids=…, or ask "
            "nearest(item=…).",
        )
    return names.position(name)


def _is_mask(part: Any, shape: tuple[int, int]) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "b" and part.shape == shape


def _as_array(index: Any) -> npt.NDArray[Any]:
    index = unmasked(index, "the index")
    try:
        array = np.asarray(index)
        if array.dtype != object or all(isinstance(one, _IDS) for one in array.ravel()):
            return array
        # An object of somebody's own may stand for an integer.
        return np.asarray(operator.index(index))
    except (TypeError, ValueError, OverflowError) as error:
        what = f"{index!r:.100} was given as positions."
        raise PositionError(what, _WHY, _HOW) from error
