"""Items: what the user compares, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import unmasked
from fewpairs.errors import InputError
from fewpairs.items.chunks import is_dask, is_numeric
from fewpairs.items.on_disk import ItemsOnDisk
from fewpairs.items.stored import Joined, Stored, is_missing

#: How items are stored in a file; "objects" are not.
ItemKind = Literal["text", "numbers", "vectors", "sparse", "objects"]
#: Messages show this many characters of an item, and this many positions.
_SHOWN_CHARACTERS = 60
_SHOWN_POSITIONS = 5


class Items:
    """A fixed sequence of items.

    Subsets have the form that similarities take: of a list a list, of an array of vectors a 2-D
    array, of anything else what an array of indices gives.

    Parameters
    ----------
    values : list, ndarray, sparse matrix, or other sequence that takes an array of indices
        Use `as_items` to make `Items` of what a user passes.
    positions : ndarray, optional
        Of a subset: where its items stand among the user's, for messages.
    index : list, optional
        Names that the items bring themselves: a pandas index.

    Examples
    --------
    >>> items = as_items(["ape", "bee", "cat"])
    >>> items.take([2, 0])
    ['cat', 'ape']
    """

    def __init__(
        self,
        values: Any,
        positions: npt.NDArray[np.int64] | None = None,
        index: list[Any] | None = None,
    ) -> None:
        self.values = values
        self._positions = positions
        self.index = index

    def __len__(self) -> int:
        return int(self.values.shape[0]) if hasattr(self.values, "shape") else len(self.values)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.values, Stored):
            return iter(self.values)
        return (self.take([i])[0] for i in range(len(self)))

    def take(self, indices: npt.ArrayLike) -> Any:
        """Return the items at `indices`, in the form of `values`."""
        if isinstance(self.values, list):
            return [self.values[i] for i in np.asarray(indices)]
        return self.values[np.asarray(indices)]

    def subset(self, indices: npt.ArrayLike) -> Items:
        """Return the items at `indices` as `Items`."""
        places = np.asarray(indices)
        index = None if self.index is None else [self.index[k] for k in places]
        if self._positions is not None:
            places = self._positions[places]
        return Items(self.take(indices), places, index)

    def joined(self, other: Items) -> Items:
        """Return these items followed by those of `other`."""
        mine, theirs = self.values, other.values
        named = self.index is not None and other.index is not None
        index = [*(self.index or []), *(other.index or [])] if named else None
        if sp.issparse(mine) and sp.issparse(theirs):
            return Items(sp.vstack([mine, theirs], format="csr"), index=index)
        if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
            return Items(np.concatenate([mine, theirs]), index=index)
        if isinstance(mine, Stored) or isinstance(theirs, Stored):
            return Items(Joined(mine, theirs), index=index)
        return Items([*mine, *theirs], index=index)

    def describe(self, index: int) -> str:
        """Name one item in a message: its position and the beginning of its content."""
        text = repr(self.take([index])[0])
        if len(text) > _SHOWN_CHARACTERS:
            text = text[: _SHOWN_CHARACTERS - 1] + "…"
        position = index if self._positions is None else self._positions[index]
        return f"{position} ({text})"

    @property
    def is_subset(self) -> bool:
        """Whether these are some of the user's items only."""
        return self._positions is not None

    @property
    def kind(self) -> ItemKind:
        """How the items are stored in a file."""
        if sp.issparse(self.values):
            return "sparse"
        if isinstance(self.values, np.ndarray):
            if self.values.dtype.kind not in "biuf":
                return "objects"
            return "vectors" if self.values.ndim > 1 else "numbers"
        if isinstance(self.values, Stored):
            text = self.values.is_text
        else:
            text = all(isinstance(v, str) for v in self.values)
        if text:
            return "text"
        plain = (bool, int, float, np.integer, np.floating)
        return "numbers" if all(isinstance(v, plain) for v in self.values) else "objects"


def as_items(items: Any, *, records: bool = False, names: str | None = None) -> Items:
    """Make `Items` of what the user passed; refuse what has no order or no content.

    Parameters
    ----------
    items : sequence, array, sparse matrix, column, frame, ItemsOnDisk, TextLines, or iterator
        Columns and frames are those of pandas, polars or Arrow. A bag of Dask, or a column of its
        data frames that does not hold numbers, is read part by part, and stays on disk. Rows of a
        2-D array, of a sparse matrix and of a frame of numbers are the items. A frame with a single
        column of other than numbers is that column. An iterator is read to its end.
        A pandas index that tells all items apart, and does not just count them, comes along.
    records : bool, default=False
        Whether an item of a frame is a whole row, as a mapping from its columns to its values.
    names : str, optional
        What messages call these, where they are no items themselves but ids of some.

    Returns
    -------
    Items

    Raises
    ------
    InputError
        No items, a missing item, or a container without positions.
    """
    if isinstance(items, Items):
        return items
    if is_dask(items):
        items = items.compute() if is_numeric(items) else ItemsOnDisk(items)
    if isinstance(items, Stored):
        result = Items(items)
    else:
        given = unmasked(items, "items")
        result = Items(_ordered(given, records=records), index=_index(given))
    if len(result) == 0:
        raise InputError(
            "there are no items.",
            "A similarity matrix needs at least one.",
            "Pass a non-empty sequence.",
        )
    _refuse_missing(result, names)
    return result


def _ordered(items: Any, *, records: bool) -> Any:
    if isinstance(items, (str, bytes, AbstractSet, Mapping)) or not isinstance(items, Iterable):
        raise InputError(
            f"items is a {type(items).__name__}.",
            "Row 3 of the matrix belongs to item 3, so items need an order.",
            "Pass a list, an array, or a column of a data frame; a single item as a list of one.",
        )
    if sp.issparse(items):
        return sp.csr_array(items)
    if isinstance(items, np.ndarray):
        return _array(items)
    native = nw.from_native(items, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        return _series(native)
    if isinstance(native, (nw.DataFrame, nw.LazyFrame)):
        return _frame(native, records=records)
    if isinstance(items, range):
        return np.asarray(items)
    # An array of Arrow is no series, as the columns of its tables are.
    return items.to_pylist() if hasattr(items, "to_pylist") else list(items)


def _index(items: Any) -> list[Any] | None:
    """Return the index of a pandas object, where it tells the items apart."""
    native = nw.from_native(items, pass_through=True, eager_only=True, allow_series=True)
    if not isinstance(native, (nw.Series, nw.DataFrame)):
        return None
    index = nw.maybe_get_index(native)
    if index is None or not index.is_unique:
        return None
    names: list[Any] = index.tolist()  # of several levels: tuples, which may have gaps, too
    if any(map(is_missing, names)) or any(
        isinstance(name, tuple) and any(map(is_missing, name)) for name in names
    ):
        return None
    return None if names == list(range(len(names))) else names


def _array(items: npt.NDArray[Any]) -> Any:
    if items.ndim == 0:
        raise InputError(
            "items is an array without dimensions.",
            "It holds one value, and items need positions.",
            "Pass a 1-D array of items or a 2-D array of vectors.",
        )
    numeric = items.dtype.kind in "biuf"
    return items if numeric or items.ndim > 1 else items.tolist()


def _series(column: Any) -> Any:
    return _array(column.to_numpy()) if column.dtype.is_numeric() else column.to_list()


def _frame(frame: Any, *, records: bool) -> Any:
    if records and isinstance(frame, nw.DataFrame):
        return frame.rows(named=True)
    names = frame.collect_schema().names()
    if isinstance(frame, nw.DataFrame) and all(d.is_numeric() for d in frame.schema.values()):
        return frame.to_numpy()
    if isinstance(frame, nw.DataFrame) and len(names) == 1:
        return _series(frame[names[0]])
    raise InputError(
        f"items is a data frame with the columns {', '.join(map(str, names[:8]))}.",
        "One item is one value; which column holds the items cannot be guessed.",
        "Pass one column, for example frame['text'], or a frame of numbers only; to compare "
        "several columns use fewpairs.RecordSimilarity.",
    )


def _refuse_missing(items: Items, names: str | None) -> None:
    if isinstance(items.values, Stored):
        missing = items.values.missing()
    elif isinstance(items.values, list):
        missing = [i for i, value in enumerate(items.values) if is_missing(value)]
    elif isinstance(items.values, np.ndarray) and items.values.ndim == 1:
        missing = np.flatnonzero(items.values != items.values).tolist()  # NaN alone
    else:
        return
    if missing:
        more = ", …" if len(missing) > _SHOWN_POSITIONS else ""
        places = ", ".join(map(str, missing[:_SHOWN_POSITIONS])) + more
        if names is not None:
            raise InputError(
                f"{len(missing)} of {len(items)} {names} are missing (None or NaN): positions "
                f"{places}.",
                "A match is told by the ids of its two items.",
                "Fill them, or leave ids out to get positions.",
            )
        raise InputError(
            f"{len(missing)} of {len(items)} items are missing (None or NaN): positions {places}.",
            "A missing item has no similarity to anything.",
            "Drop or fill them before the run.",
        )
