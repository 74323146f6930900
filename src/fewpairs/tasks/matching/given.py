"""Candidates as somebody else has them: pairs of ids or positions, a frame, a graph."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from fewpairs.arrays import IntArray, unmasked
from fewpairs.errors import InputError
from fewpairs.items.ids import Ids, Names
from fewpairs.numerics import distinct
from fewpairs.tasks.matching.found import Found
from fewpairs.tasks.matching.universe import Universe

#: What the columns of both items are called: here, and by splink.
_COLUMNS = (("left", "right"), ("unique_id_l", "unique_id_r"))


def keys_of(candidates: Any, universe: Universe, ids: Ids, *, said: bool) -> IntArray:
    """Return different keys of candidates, in order.

    Parameters
    ----------
    candidates : as for `recall_of`
    universe : Universe
    ids : Ids
        Of the items; candidates name them where they are a table, which has what `Found.to_pandas`
        or another tool wrote. Elsewhere integers are positions, unless somebody said otherwise.
    said : bool
        Whether the caller gave these ids; they may also be an index that the items have.

    Returns
    -------
    ndarray of int
    """
    if isinstance(candidates, Found):
        return _keys_of_found(candidates, universe)
    if sparse.issparse(candidates):
        sides = _places_in(candidates, universe)
    else:
        named = said or _is_table(candidates)
        sides = [
            _positions(side, names if names and (named or not names.like_positions) else None, n)
            for side, names, n in zip(
                _sides(candidates), ids, (universe.n, universe.m), strict=True
            )
        ]
    if universe.square and (sides[0] == sides[1]).any():
        at = int(np.flatnonzero(sides[0] == sides[1])[0])
        raise InputError(
            f"candidate {at} pairs an item with itself.",
            "An item is no match of its own.",
            "Leave such pairs out.",
        )
    return distinct(universe.keys(*sides))


def _keys_of_found(found: Found, universe: Universe) -> IntArray:
    _refuse_other_items(found.shape, universe)
    return distinct(universe.keys(found.left, found.right))


def _places_in(matrix: Any, universe: Universe) -> list[IntArray]:
    """Return where a sparse matrix has entries; a stored zero, as of a distance, is one."""
    _refuse_other_items(matrix.shape, universe)
    entries = matrix.tocoo()
    return [np.asarray(side, dtype=np.int64) for side in (entries.row, entries.col)]


def _refuse_other_items(shape: tuple[int, ...], universe: Universe) -> None:
    if shape != (universe.n, universe.m):
        raise InputError(
            f"the candidates were found among {shape} items, and there are "
            f"{(universe.n, universe.m)}.",
            "Their positions would name other items.",
            "Pass the items that they were found among.",
        )


def _as_frame(candidates: Any) -> Any:
    """Return a frame as narwhals has it, and anything else as it is."""
    try:
        return nw.from_native(candidates, pass_through=True, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"the candidates have the columns {', '.join(map(str, candidates.columns))}.",
            "Columns of the same name cannot be told apart.",
            "Call the two that name the items left and right, and the others something else.",
        ) from error


def _is_table(candidates: Any) -> bool:
    """Say whether candidates are a frame, or the pairs of a pandas index: both have labels."""
    frame = _as_frame(candidates)
    return isinstance(frame, nw.DataFrame) or nw.dependencies.is_pandas_index(candidates)


def _sides(candidates: Any) -> tuple[list[Any], list[Any]]:
    frame = _as_frame(candidates)
    if isinstance(frame, nw.DataFrame):
        for names in _COLUMNS:
            if set(names) <= set(frame.columns):
                return frame[names[0]].to_list(), frame[names[1]].to_list()
        raise InputError(
            f"the candidates have the columns {', '.join(map(str, frame.columns))}.",
            "Which of them name the two items of a pair cannot be guessed.",
            "Call these columns left and right.",
        )
    # A tuple of two tuples may be two pairs as well as two sides: then it is pairs.
    sides = isinstance(candidates, tuple) and len(candidates) == 2  # noqa: PLR2004 - two sides
    try:
        if sides and not all(isinstance(side, tuple) for side in candidates):
            left, right = (list(unmasked(side, "candidates")) for side in candidates)
        else:
            pairs = [tuple(pair) for pair in unmasked(candidates, "candidates")]
            left, right = [a for a, _ in pairs], [b for _, b in pairs]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "candidates are not pairs.",
            "Each names two items.",
            "Pass an array with two columns, two arrays, or a frame with left and right.",
        ) from error
    if len(left) != len(right):
        raise InputError(
            f"the candidates have {len(left):,} left and {len(right):,} right items.",
            "Each pair has one of both.",
            "Pass two sequences of the same length.",
        )
    return left, right


def _positions(side: list[Any], names: Names | None, length: int) -> IntArray:
    if names is not None:
        # Of tuples, the labels of a pandas index with levels, polars makes lists.
        labels = (tuple(name) if isinstance(name, list) else name for name in side)
        return np.array([names.position(name) for name in labels], dtype=np.int64)
    array = np.asarray(side)
    if not len(array):
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= length:
        raise InputError(
            f"candidates are not positions from 0 to {length - 1}.",
            "They say which items are paired.",
            "Pass positions, or ids= and candidates that name them.",
        )
    return array.astype(np.int64)
