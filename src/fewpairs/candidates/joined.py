"""Vectors whose columns lie in several arrays, put side by side for the rows that are read."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from fewpairs.arrays import IntArray, SingleArray


class Columns(NamedTuple):
    """Some columns of all vectors, or one, and what they are multiplied by."""

    values: SingleArray
    weight: np.float32 = np.float32(1)


class Joined:
    """Reads like an array of vectors, and holds no copy of them.

    A copy for each side of a million items takes as much memory as everything else that a search
    for their pairs holds.

    Parameters
    ----------
    pieces : list of Columns
        All of the same length.

    Examples
    --------
    >>> import numpy as np
    >>> both = Joined([Columns(np.ones((3, 1), np.float32)), Columns(np.arange(3, dtype="f4"))])
    >>> both[np.array([2, 0])].tolist()
    [[1.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, pieces: list[Columns]) -> None:
        self._pieces = [
            Columns(values if values.ndim > 1 else values[:, None], np.float32(weight))
            for values, weight in pieces
        ]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, and of their columns."""
        return len(self), sum(values.shape[1] for values, _ in self._pieces)

    def __len__(self) -> int:
        return len(self._pieces[0].values)

    def __getitem__(self, rows: slice | IntArray) -> SingleArray:
        chosen = [values[rows] for values, _ in self._pieces]
        result = np.empty((len(chosen[0]), self.shape[1]), dtype=np.float32)
        at = 0
        for some, (_, weight) in zip(chosen, self._pieces, strict=True):
            here = slice(at, at := at + some.shape[1])
            np.multiply(some, weight, out=result[:, here])
        return result

    def part(self, rows: slice) -> Joined:
        """Return the vectors of some rows, without reading them."""
        return Joined([Columns(values[rows], weight) for values, weight in self._pieces])


#: Vectors that are read some rows at a time.
Vectors: TypeAlias = SingleArray | Joined


def part_of(vectors: Vectors, rows: slice) -> Vectors:
    """Return the vectors of some rows, without copying them."""
    return vectors.part(rows) if isinstance(vectors, Joined) else vectors[rows]
