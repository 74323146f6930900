"""Items that stay on disk: a sequence that reads what it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np


class Stored(ABC):
    """A fixed sequence of items, of which a few are in memory at a time."""

    #: Whether every item is a text.
    is_text: bool

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _item(self, k: int) -> Any:
        """Read one item, at a position that is there."""

    def _check(self) -> None:  # noqa: B027 - most need none
        """Refuse to read what is no longer what it was; called once for some items."""

    def __iter__(self) -> Iterator[Any]:
        self._check()
        return (self._item(k) for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """Read one item, or a list of those at some positions."""
        self._check()
        if isinstance(index, slice):
            return [self._item(k) for k in range(*index.indices(len(self)))]
        if np.ndim(index) == 0:
            return self._item(range(len(self))[int(index)])
        places = np.asarray(index)
        if places.dtype == bool:  # a mask, which would be read as items 0 and 1
            places = np.arange(len(self))[places]
        everyone = range(len(self))  # counts from the end what is negative
        return [self._item(everyone[k]) for k in places.tolist()]

    def missing(self) -> list[int]:
        """Return the positions at which there is nothing."""
        return []


class Joined(Stored):
    """Items followed by others, of which some stay on disk.

    Parameters
    ----------
    first, second : sequence
    """

    def __init__(self, first: Any, second: Any) -> None:
        self._first, self._second = first, second
        self.is_text = all(map(_are_texts, (first, second)))

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def _item(self, k: int) -> Any:
        n = len(self._first)
        return self._first[k] if k < n else self._second[k - n]


def _are_texts(items: Any) -> bool:
    return items.is_text if isinstance(items, Stored) else all(isinstance(v, str) for v in items)


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, or what data frames have in their place."""
    # pandas' own missing values, told by name: pandas is optional and may not be imported.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value  # noqa: PLR0124 - NaN
