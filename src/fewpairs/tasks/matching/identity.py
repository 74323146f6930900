"""The user's own names of items, so that results can be read without positions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.errors import InputError
from fewpairs.items.items import Items, as_items
from fewpairs.items.records import field_of, has_fields
from fewpairs.oracle.oracle import Oracle


class Ids(NamedTuple):
    """Names of the items on both sides; None where positions serve."""

    left: list[Any] | None
    right: list[Any] | None

    def name(self, positions: IntArray, *, right: bool = False) -> Any:
        """Return the names at some positions, or the positions themselves."""
        names = self.right if right else self.left
        return positions if names is None else [names[k] for k in positions]


def read_ids(ids: Any, oracle: Oracle) -> Ids:
    """Check ids: one for each item, none twice."""
    if ids is None:
        return Ids(None, None)
    if oracle.square:
        ids = _looked_up(ids, oracle.items)
        names = _names(ids, len(oracle.items), "ids")
        return Ids(names, names)
    ids = (ids, ids) if isinstance(ids, str) else ids
    both = isinstance(ids, (tuple, list)) and len(ids) == 2  # noqa: PLR2004 - two sets
    if both:
        sides = zip(ids, (oracle.items, oracle.others), strict=True)
        ids = [_looked_up(side, items) for side, items in sides]
    if not both or any(not hasattr(side, "__len__") for side in ids):
        raise InputError(
            "ids is one sequence, and there are two sets of items.",
            "Each set has names of its own.",
            "Pass ids=(ids of the items, ids of the others).",
        )
    left, right = ids
    return Ids(
        _names(left, len(oracle.items), "ids of the items"),
        _names(right, len(oracle.others), "ids of the others"),
    )


def names_of(ids: Any, items: Items | None, count: int) -> Ids:
    """Check ids of one set of items, where there is no oracle; a column's name needs the items."""
    if ids is None:
        return Ids(None, None)
    if isinstance(ids, str) and items is None:
        raise InputError(
            f"ids is {ids!r}, and the items are not there.",
            "A name is looked up in the rows of a data frame, or in records.",
            "Pass the ids themselves.",
        )
    names = _names(ids if items is None else _looked_up(ids, items), count, "ids")
    return Ids(names, names)


def _looked_up(ids: Any, items: Items) -> Any:
    """Return the ids that a name of a column or field stands for; anything else as it is."""
    if not isinstance(ids, str):
        return ids
    if not has_fields(items):
        raise InputError(
            f"ids is {ids!r}, and the items have no columns or fields.",
            "A name is looked up in the rows of a data frame, or in records.",
            "Pass the column itself, for example ids=frame['id'].",
        )
    cells, filled = field_of(items, ids)
    if not filled.all():
        at = int(np.flatnonzero(~filled)[0])
        raise InputError(
            f"{int((~filled).sum())} of {len(items)} items have no {ids}; first: item {at}.",
            "A match is told by the ids of its two items.",
            "Fill them, or leave ids out to get positions.",
        )
    return cells


def ids_of_new(ids: Any, oracle: Oracle, before: tuple[int, int]) -> Any:
    """Return the ids of new items, where the name of a column or field stands for them."""
    if not isinstance(ids, str):
        return ids
    sides = [(oracle.items, before[0])]
    sides += [] if oracle.square else [(oracle.others, before[1])]
    fresh = [items.subset(range(old, len(items))) for items, old in sides]
    looked_up = [_looked_up(ids, items) for items in fresh if len(items)]
    return looked_up[0] if len(looked_up) == 1 else looked_up


def longer_ids(
    old: Ids, new: Any, before: tuple[int, int], shape: tuple[int, int], *, square: bool
) -> Ids:
    """Join names of new items to those of the old ones.

    Parameters
    ----------
    old : Ids
    new : sequence, pair of sequences, or None
        Of one set, or of the one set that has new items, a sequence; else a pair.
    before, shape : (int, int)
        Numbers of items on both sides, before and now.
    square : bool
        Whether both sides are the same items.
    """
    more = [now - then for now, then in zip(shape, before, strict=True)]
    grown = [side for side in (0, 1) if more[side]][: 1 if square else 2]
    if old.left is None:
        if new is not None:
            raise InputError(
                "ids were given for new items, and the old ones have none.",
                "An item has a name or a position, and results hold one kind of both.",
                "Leave ids out: positions go on where the old ones end.",
            )
        return old
    if not grown:
        return old
    given = [new] if len(grown) == 1 else new
    if new is None or not isinstance(given, (tuple, list)) or len(given) != len(grown):
        raise InputError(
            "the items have ids, and none were given for the new ones.",
            "A match is told by them.",
            "Pass ids= with one for each new item; for both sets a pair of sequences.",
        )
    names = list(old)
    for side, some in zip(grown, given, strict=False):
        fresh = _names(some, more[side], "ids of the new items")
        names[side] = _different([*(old[side] or []), *fresh], "ids of old and new items")
    return Ids(names[0], names[0]) if square else Ids(*names)


def _names(ids: Any, count: int, what: str) -> list[Any]:
    values: Sequence[Any] | np.ndarray[Any, Any] = as_items(ids).values
    names = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(names) != count:
        raise InputError(
            f"{what} has {len(names):,} entries for {count:,} items.",
            "Name k belongs to item k.",
            "Pass as many as there are items, in the same order.",
        )
    if any(not isinstance(name, Hashable) for name in names):
        raise InputError(
            f"{what} has entries that cannot name anything: lists, or other things that change.",
            "A match is told by them.",
            "Pass texts or numbers.",
        )
    return _different(names, what)


def _different(names: list[Any], what: str) -> list[Any]:
    seen: set[Any] = set()
    twice = next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
    if twice is not None:
        raise InputError(
            f"{what} has {twice!r} more than once.",
            "A match could not be told from another.",
            "Pass different ids, or leave ids out to get positions.",
        )
    return names
