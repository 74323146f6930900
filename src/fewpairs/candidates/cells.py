"""Cells of similar vectors, and which cells each row of the other side looks into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import BoolArray, IntArray, SingleArray
from fewpairs.candidates.joined import Vectors
from fewpairs.candidates.tiles import Tile
from fewpairs.numerics import parts
from fewpairs.parallel import one_blas_thread

#: Cells for √m vectors. More cells are smaller: fewer products for the same recall, until finding
#: the cells costs more than that.
_CELLS = 2
#: Vectors for each cell that k-means sees, and its rounds: more of either change recall by less
#: than 0.002.
_SEEN, _ROUNDS = 40, 6
#: Cells that a row looks into: docs/tables/candidates.md.
PROBES = 32
#: Members, and products, of a tile.
_MEMBERS, _PRODUCTS = 4096, 2**21
#: Rows that are compared with all cells at a time: a multiple of eight, the bits of a byte.
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Cells:
    """Vectors divided by k-means.

    Attributes
    ----------
    means : ndarray of shape (cells, d)
    members : list of ndarray
        Places of the vectors of each cell, ascending; none is empty.
    cell_of : ndarray of int32
        The cell of each vector.
    """

    means: SingleArray
    members: list[IntArray]
    cell_of: npt.NDArray[np.int32]

    @classmethod
    def of(cls, vectors: Vectors, rng: np.random.Generator) -> Cells:
        """Divide vectors: 2·√m cells of about √m / 2 vectors."""
        count = max(1, int(_CELLS * len(vectors) ** 0.5))
        seen = rng.choice(len(vectors), min(len(vectors), _SEEN * count), replace=False)
        with one_blas_thread():
            sample = vectors[seen]
            means = sample[:count]
            for _ in range(_ROUNDS):
                means = _means(sample, _closest(sample, means))
            cell_of = _closest(vectors, means)
            means = _means(vectors, cell_of)
        _, cell_of = np.unique(cell_of, return_inverse=True)
        order = np.argsort(cell_of, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(cell_of))[:-1])
        return cls(means, members, cell_of.astype(np.int32))


def memory_of_cells(n: int, width: int) -> int:
    """Count the bytes of cells of n vectors that are on disk: what k-means sees, and a bit each."""
    count = int(_CELLS * n**0.5)
    return 4 * min(n, _SEEN * count) * width + count * n // 8


class Probes:
    """Which rows look into which cells: one bit each.

    Parameters
    ----------
    left : ndarray of shape (n, d)
    cells : Cells
        Of the other side.
    per_row : int
        Cells that a row looks into, in the mean; those with whose mean it has the largest product.
    each : bool
        Every row looks into as many. Otherwise one threshold decides for all: a long row, or one
        in a crowded place, looks into more. Its own best cell is always among them.

    Attributes
    ----------
    home : ndarray of int
        The best cell of each row.
    """

    def __init__(self, left: Vectors, cells: Cells, per_row: int, *, each: bool) -> None:
        n, count = len(left), len(cells.members)
        self._n = n
        self._bits = np.empty((count, -(-n // 8)), dtype=np.uint8)
        self.home: IntArray = np.empty(n, dtype=np.int64)
        per_row = min(per_row, count)
        across = np.ascontiguousarray(cells.means.T)
        with one_blas_thread():
            cut = -np.inf if each else self._one_cut(left, across, per_row)
            for rows in parts(n, _ROWS):
                near = left[rows] @ across
                least = np.partition(near, -per_row, axis=1)[:, -per_row] if each else cut
                self.home[rows] = np.argmax(near, axis=1)
                least = np.minimum(least, near.max(axis=1))
                chosen = near >= least[:, None]
                self._bits[:, rows.start // 8 : -(-rows.stop // 8)] = np.packbits(chosen.T, axis=1)

    @staticmethod
    def _one_cut(left: Vectors, across: SingleArray, per_row: int) -> np.float32:
        near = (left[:: max(1, len(left) // _ROWS)] @ across).ravel()
        rank = max(1, len(near) * per_row // across.shape[1])
        return np.float32(np.partition(near, -rank)[-rank])

    def rows_of(self, cell: int, band: slice | None = None) -> IntArray:
        """Return the rows that look into a cell, ascending; of a band that begins with a byte."""
        start, stop = (0, self._n) if band is None else (band.start, band.stop)
        bits = self._bits[cell, start // 8 : -(-stop // 8)]
        return np.flatnonzero(np.unpackbits(bits, count=stop - start)) + start

    def mark(self, cell: int, rows: IntArray) -> None:
        """Let further rows look into a cell."""
        np.bitwise_or.at(self._bits[cell], rows >> 3, (128 >> (rows & 7)).astype(np.uint8))

    def holds(self, cells: npt.NDArray[np.int32], rows: IntArray) -> BoolArray:
        """Say of each cell whether that row looks into it."""
        return np.asarray(self._bits[cells, rows >> 3] >> (7 - (rows & 7)) & 1, dtype=bool)


class PairsOfCells:
    """The tiles of rows that look into a cell, with its members.

    Parameters
    ----------
    left, right : ndarray of shape (n, d) and (m, d)
    rng : numpy.random.Generator
    square : bool
        Both sides stand for the same items.
    """

    def __init__(
        self, left: Vectors, right: Vectors, rng: np.random.Generator, *, square: bool
    ) -> None:
        self._cells = Cells.of(right, rng)
        self._probes = Probes(left, self._cells, PROBES, each=False)
        self._square = square

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles, cell by cell; none is large, however full a cell is."""
        for cell, members in enumerate(self._cells.members):
            rows = self._probes.rows_of(cell)
            for some in parts(len(members), _MEMBERS):
                for part in parts(len(rows), _PRODUCTS // len(members[some])):
                    yield Tile(rows[part], members[some])

    def wanted(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which pairs of a tile count: each once, none of an item with itself."""
        if not self._square:
            return np.ones(len(rows), dtype=bool)
        # Both may look into the cell of the other.
        again = self._probes.holds(self._cells.cell_of[rows], columns)
        return np.asarray((columns > rows) | ((columns < rows) & ~again))


def _closest(vectors: Vectors, means: SingleArray) -> IntArray:
    """Return the place of the mean with the least distance to each vector."""
    across, half = np.ascontiguousarray(means.T), np.einsum("ij,ij->i", means, means) / 2
    found = [np.argmax(vectors[rows] @ across - half, axis=1) for rows in parts(len(vectors))]
    return np.concatenate(found)


def _means(vectors: Vectors, cell_of: IntArray) -> SingleArray:
    """Return the means of the cells that are not empty."""
    counts = np.bincount(cell_of)
    counts = counts[counts > 0]
    order = np.argsort(cell_of, kind="stable")
    ends = np.cumsum(counts)
    sums = np.empty((len(counts), vectors.shape[1]), dtype=np.float32)
    # Some cells at a time: all vectors in this order would be a copy of them all.
    for cells in parts(len(counts), max(1, _ROWS * len(counts) // len(vectors))):
        first = ends[cells.start] - counts[cells.start]
        some = vectors[order[first : ends[cells.stop - 1]]]
        starts = ends[cells] - counts[cells] - first
        sums[cells] = np.add.reduceat(some, starts, axis=0)
    return np.asarray(sums / counts[:, None].astype(np.float32), dtype=np.float32)
