"""What is asked of a similarity: blocks, scattered pairs, and pairs in a given order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Rectangle:
    """All pairs of some rows with some columns."""

    rows: IntArray
    columns: IntArray

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.rows) * len(self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its answer."""
        return len(self.rows), len(self.columns)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return row and column of every entry, row by row."""
        return np.repeat(self.rows, len(self.columns)), np.tile(self.columns, len(self.rows))


@dataclass(frozen=True, eq=False)
class Scattered:
    """Single entries: ``rows[k], columns[k]``."""

    rows: IntArray
    columns: IntArray

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its answer."""
        return (len(self.rows),)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return row and column of every entry."""
        return self.rows, self.columns


@dataclass(frozen=True, eq=False)
class Ordered(Scattered):
    """Single entries in exactly this order, to see whether the order matters after all."""


Request = Rectangle | Scattered
