"""The user's own names of items, so that results can be asked and read without positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.errors import InputError, UnknownIdError
from fewpairs.items.items import Items, as_items
from fewpairs.items.on_disk import ItemsOnDisk
from fewpairs.items.records import field_of, has_fields


@dataclass(frozen=True, eq=False)
class Names:
    """One name for each item, all different.

    Examples
    --------
    >>> Names(["ape", "bee", "cat"]).position("cat")
    2
    """

    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: at for at, name in enumerate(self.values)}

    def position(self, name: Any) -> int:
        """Return where the item of that name stands."""
        at = self._places.get(name)
        if at is None:
            raise UnknownIdError(name, self.values)
        return at

    def at(self, positions: IntArray) -> list[Any]:
        """Return the names at some positions; None for the negative ones, where nothing is."""
        return [self.values[k] if k >= 0 else None for k in positions.tolist()]

    @cached_property
    def like_positions(self) -> bool:
        """Whether any is a number, which may be taken for a position; no text or date is."""
        return any(isinstance(name, Number) for name in self.values)


class Ids(NamedTuple):
    """Names of the items of the rows and of the columns; None where positions serve."""

    left: Names | None = None
    right: Names | None = None

    def name(self, positions: IntArray, *, right: bool = False) -> Any:
        """Return the names at some positions, or the positions themselves."""
        names = self.right if right else self.left
        return positions if names is None else names.at(positions)

    def written(self, position: int, *, right: bool = False) -> str:
        """Return one name, or the position, as a text."""
        return str(self.name(np.array([position]), right=right)[0])


#: Positions serve.
NO_IDS = Ids()


def read_ids(ids: Any, items: Items, others: Items | None = None) -> Ids:
    """Check ids: one for each item, none twice.

    Parameters
    ----------
    ids : sequence, pair of sequences, str or None
        With others a pair. A single text is the name of a column or field of the items. None takes
        what the items bring themselves: the index of a pandas object.
    items : Items
    others : Items, optional
        Of the columns, where they are others than those of the rows.

    Returns
    -------
    Ids
    """
    if others is None:
        names = _own(items) if ids is None else _names(_looked_up(ids, items), len(items), "ids")
        return Ids(names, names)
    if ids is None:
        return Ids(_own(items), _own(others))
    ids = (ids, ids) if isinstance(ids, str) else ids
    both = isinstance(ids, (tuple, list)) and len(ids) == 2  # noqa: PLR2004 - two sets
    if both:
        ids = [_looked_up(side, of) for side, of in zip(ids, (items, others), strict=True)]
    if not both or any(side is not None and not hasattr(side, "__len__") for side in ids):
        raise InputError(
            "ids is one sequence, and there are two sets of items.",
            "Each set has names of its own.",
            "Pass ids=(ids of the items, ids of the others).",
        )
    left, right = ids
    return Ids(
        _own(items) if left is None else _names(left, len(items), "ids of the items"),
        _own(others) if right is None else _names(right, len(others), "ids of the others"),
    )


def ids_of_one_set(ids: Any, items: Items | None, count: int) -> Ids:
    """Check ids of one set of items, which may not be there; a column's name needs them."""
    if isinstance(ids, str) and items is None:
        raise InputError(
            f"ids is {ids!r}, and the items are not there.",
            "A name is looked up in the rows of a data frame, or in records.",
            "Pass the ids themselves.",
        )
    names = _names(ids if items is None else _looked_up(ids, items), count, "ids")
    return Ids(names, names)


def given_ids(ids: Any, shape: tuple[int, int], *, square: bool) -> Ids:
    """Check ids of items that may not be there, of both sides; of two sets a pair."""
    if square:
        return ids_of_one_set(ids, None, shape[0])
    return Ids(*_of_both(ids, shape, _names))


def shown_ids(ids: Any, shape: tuple[int, int], *, square: bool) -> Ids:
    """Return ids that are only looked at, and may repeat."""
    if square:
        names = Names(_listed(ids, shape[0], "ids"))
        return Ids(names, names)
    return Ids(*_of_both(ids, shape, lambda *given: Names(_listed(*given))))


def _of_both(
    ids: Any, shape: tuple[int, int], read: Callable[[Any, int, str], Names]
) -> Iterator[Names | None]:
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:  # noqa: PLR2004 - two sets
        raise InputError(
            "ids is one sequence, and there are two sets of items.",
            "Each set has names of its own.",
            "Pass ids=(ids of the rows, ids of the columns); None for a set without.",
        )
    for side, count, what in zip(ids, shape, ("rows", "columns"), strict=True):
        yield None if side is None else read(side, count, f"ids of the {what}")


def _own(items: Items) -> Names | None:
    return None if items.index is None else Names(items.index)


def _looked_up(ids: Any, items: Items) -> Any:
    """Return the ids that a name of a column or field stands for; anything else as it is."""
    if not isinstance(ids, str):
        return ids
    if isinstance(items.values, ItemsOnDisk) and not has_fields(items):
        return items.values.column(ids)
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


def longer_ids(old: Ids, given: Any, new: Items | None, others: Items | None = None) -> Ids:
    """Join names of new items to those of the old ones.

    Parameters
    ----------
    old : Ids
    given : sequence, pair of sequences, str or None
        Of one set, or of the one set that has new items, a sequence; else a pair. None takes the
        index of the new items.
    new, others : Items or None
        New items of the rows and, of two sets, of the columns; None where there are none.

    Returns
    -------
    Ids
        Both sides the same where they were.
    """
    one_set = old.right is old.left and others is None
    grown = [(side, some) for side, some in enumerate((new, others)) if some is not None]
    if not grown:
        return old
    if len(grown) == 2 and isinstance(given, str):  # noqa: PLR2004 - two sets
        given = (given, given)
    each = [given] if len(grown) == 1 else given
    if each is None:
        each = [None] * len(grown)
    if not isinstance(each, (tuple, list)) or len(each) != len(grown):
        raise InputError(
            "both sets have new items, and ids is one sequence.",
            "Each set has names of its own.",
            "Pass ids=(ids of the new items, ids of the new others).",
        )
    names = list(old)
    for (side, some), ids in zip(grown, each, strict=True):
        names[side] = _longer(old[side], ids, some)
    return Ids(names[0], names[0]) if one_set else Ids(*names)


def _longer(old: Names | None, ids: Any, new: Items) -> Names | None:
    if old is None:
        if ids is not None:
            raise InputError(
                "ids were given for new items, and the old ones have none.",
                "An item has a name or a position, and results hold one kind of both.",
                "Leave ids out: positions go on where the old ones end.",
            )
        return None
    fresh = _own(new) if ids is None else _names(_looked_up(ids, new), len(new), "ids")
    if fresh is None:
        raise InputError(
            "the items have ids, and none were given for the new ones.",
            "A match is told by them.",
            "Pass ids= with one for each new item; for both sets a pair of sequences.",
        )
    return _different([*old.values, *fresh.values], "ids of old and new items")


def _listed(ids: Any, count: int, what: str) -> list[Any]:
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "M":
        # Of nanoseconds NumPy would make integers; those of whole microseconds are times.
        whole = ids.astype("datetime64[us]")
        ids = whole.tolist() if (whole == ids).all() else list(ids)
    values = as_items(ids, names=what).values
    names: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(names) != count:
        raise InputError(
            f"{what} has {len(names):,} entries for {count:,} items.",
            "Name k belongs to item k.",
            "Pass as many as there are items, in the same order.",
        )
    return names


def _names(ids: Any, count: int, what: str) -> Names:
    names = _listed(ids, count, what)
    if any(not isinstance(name, Hashable) for name in names):
        raise InputError(
            f"{what} has entries that cannot name anything: lists, or other things that change.",
            "A match is told by them.",
            "Pass texts or numbers.",
        )
    return _different(names, what)


def _different(names: list[Any], what: str) -> Names:
    seen: set[Any] = set()
    twice = next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
    if twice is not None:
        raise InputError(
            f"{what} has {twice!r} more than once.",
            "A match could not be told from another.",
            "Pass different ids, or leave ids out to get positions.",
        )
    return Names(names)
