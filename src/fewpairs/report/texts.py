"""Items as texts for a page: whatever they are, and no longer than a page can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import IntArray, is_whole
from fewpairs.errors import InputError
from fewpairs.items.items import Items, as_items
from fewpairs.items.records import field_names

#: Characters of all texts on a page together, and of one.
_ALL, _ONE = 1_200_000, 4_000
#: Numbers of a vector that are shown.
_NUMBERS = 4


def texts_of(items: Items | None, places: IntArray, given: Any = None) -> list[str]:
    """Return what is shown of some items.

    Parameters
    ----------
    items : Items or None
        None where a file does not hold them.
    places : ndarray of int
    given : sequence, optional
        Texts that the user wants to see instead, one for each of all items.

    Returns
    -------
    list of str
    """
    if given is not None:
        values = as_items(given).values
        return [_text(values[k]) for k in places.tolist()]
    if items is None:
        return [f"item {k}" for k in places.tolist()]
    if sp.issparse(items.values):
        return [_vector(items.values[[k]].toarray().ravel()) for k in places.tolist()]
    return [_text(items.values[k]) for k in places.tolist()]


def both_sides(given: Any, shape: tuple[int, int], what: str, *, square: bool) -> tuple[Any, Any]:
    """Return what the user gives for the items of both sides; of two sets, a pair."""
    if given is None:
        return None, None
    if square:
        check_given(given, shape[0], what)
        return given, given
    if not isinstance(given, (tuple, list)) or len(given) != 2:  # noqa: PLR2004 - two sets
        raise InputError(
            f"{what} is one sequence, and there are two sets of items.",
            "Each set has its own.",
            f"Pass {what}=(of the items, of the others).",
        )
    for side, count in zip(given, shape, strict=True):
        check_given(side, count, what)
    return given[0], given[1]


def check_given(given: Any, count: int, what: str) -> None:
    """Refuse texts, ids or labels that are not one for each item."""
    if given is not None and len(as_items(given)) != count:
        raise InputError(
            f"{what} has {len(as_items(given)):,} entries for {count:,} items.",
            "Entry k belongs to item k.",
            "Pass as many as there are items, in the same order.",
        )


def check_most(most: object) -> None:
    """Refuse what is no number of items."""
    if not is_whole(most) or most < 1:
        raise InputError(
            f"most is {most!r}.",
            "It is the number of items on the page.",
            "Pass a positive integer, for example 5000.",
        )


def shortened(texts: Sequence[str]) -> list[str]:
    """Cut long texts, so that all of them together fit on a page."""
    lengths = np.sort(np.array([len(text) for text in texts], dtype=np.int64))
    if not len(lengths):
        return []
    # The longest that may stay: texts up to it whole, all others that long.
    totals = np.cumsum(lengths) + lengths * np.arange(len(lengths) - 1, -1, -1)
    fitting = lengths[totals <= _ALL]
    limit = int(fitting[-1]) if len(fitting) else _ALL // len(lengths)
    limit = max(min(limit if len(fitting) < len(lengths) else _ONE, _ONE), 1)
    return [text if len(text) <= limit else text[: limit - 1] + "…" for text in texts]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        return _vector(value.ravel())
    names = field_names(value)
    if names is not None:
        read = value.__getitem__ if hasattr(value, "keys") else lambda name: getattr(value, name)
        cells = ((name, read(name)) for name in names)
        return "\n".join(f"{name}: {cell}" for name, cell in cells if cell is not None)
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return str(value)


def _vector(values: Any) -> str:
    shown = ", ".join(f"{float(x):.3g}" for x in values[:_NUMBERS])
    more = ", …" if len(values) > _NUMBERS else ""
    return f"({shown}{more}), {len(values):,} numbers"
