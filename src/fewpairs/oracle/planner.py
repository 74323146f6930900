"""What a method reads, cut into requests and priced before anything runs.

The plan is a pure function of the number of items and the landmarks. Pricing, resuming and
running elsewhere all follow from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.numerics import parts
from fewpairs.oracle.requests import Rectangle, Request, Scattered
from fewpairs.similarities.base import Similarity
from fewpairs.similarities.cost import Cost

#: Entries in one call where the similarity declares no preference: small enough that an
#: expensive similarity reports often, large enough that a cheap one is not slowed down.
DEFAULT_BLOCK = {"pair": 256, "pairs": 1024, "block": 2**14}

#: Scattered pairs in one call: each is a Python object, however large blocks may be.
LARGEST_LIST = 2**13

#: Width of the strips that cover a symmetric square. A similarity that takes pairs is asked for
#: exactly one triangle; a block-only one also for the other half of each small diagonal square.
_PAIR_STRIP, _BLOCK_STRIP = 32, 8
#: Of up to 512 × 512 entries none is asked for twice, although that takes more and smaller blocks.
#: Of more, the other halves of small squares, and single pairs that a later block asks for again,
#: are a few in a hundred of all.
_FEW_ENTRIES = 2**18


@dataclass(frozen=True)
class Planner:
    """Cuts what a method reads into requests, and prices it before anything runs.

    Parameters
    ----------
    n, m : int
        Shape of the matrix.
    square : bool
        Whether rows and columns are the same items.
    symmetric : bool
        Whether one triangle stands for both.
    block_size : int or (int, int)
        Entries in one request, or largest (rows, columns).
    by_block_only : bool
        Whether the similarity is written as a block and in no other way.
    by_pairs_only : bool
        Whether it is not written as a block at all; known entries are then never asked again.
    diagonal_known : bool
        Whether the diagonal is declared and need not be evaluated.
    per_entry : int
        Evaluations that one entry costs.
    cost : Cost or None
        What one evaluation costs in money.
    """

    n: int
    m: int
    square: bool
    symmetric: bool
    block_size: int | tuple[int, int]
    by_block_only: bool
    by_pairs_only: bool
    diagonal_known: bool
    per_entry: int = 1
    cost: Cost | None = None

    @classmethod
    def of(
        cls,
        similarity: Similarity,
        shape: tuple[int, int],
        *,
        square: bool,
        symmetric: bool,
        diagonal_known: bool,
    ) -> Planner:
        """Read a similarity's declared facts."""
        fastest = similarity.kinds[-1]
        return cls(
            n=shape[0],
            m=shape[1],
            square=square,
            symmetric=symmetric,
            block_size=similarity.block_size or DEFAULT_BLOCK[fastest],
            by_block_only=similarity.kinds == ("block",),
            by_pairs_only="block" not in similarity.kinds,
            diagonal_known=diagonal_known,
            per_entry=similarity.evaluations_per_entry,
            cost=similarity.cost,
        )

    def tiles(self, rows: IntArray, columns: IntArray) -> Iterator[Rectangle]:
        """Cut a rectangle into blocks of the preferred size."""
        if len(rows) == 0 or len(columns) == 0:
            return
        if isinstance(self.block_size, tuple):
            height, width = self.block_size
        else:
            width = min(len(columns), self.block_size)
            height = max(1, self.block_size // width)
        for top in range(0, len(rows), height):
            for start in range(0, len(columns), width):
                yield Rectangle(rows[top : top + height], columns[start : start + width])

    @property
    def strip(self) -> int:
        """Width of the strips that cover a symmetric square."""
        if not self.by_block_only:
            return _PAIR_STRIP
        if self.few_items:
            return 1
        # A diagonal square is one request, and must not be larger than a block may be.
        size = self.block_size
        return min(_BLOCK_STRIP, min(size) if isinstance(size, tuple) else isqrt(size))

    @property
    def few_items(self) -> bool:
        """Whether what blocks ask for twice would be a notable part of all pairs."""
        return self.n * self.m <= _FEW_ENTRIES

    @property
    def sees_both_orders(self) -> bool:
        """Whether a symmetric square is asked for both orders of some pairs anyway."""
        return self.by_block_only and self.strip > 1

    @property
    def first_landmarks(self) -> int:
        """How many landmarks' pairs are single requests, in which an order can be checked."""
        return _PAIR_STRIP

    def triangle(self, indices: IntArray) -> Iterator[Request]:
        """Cover a symmetric square by strips, asking (almost) only for one triangle."""
        width = self.strip
        for start in range(0, len(indices), width):
            strip, rest = indices[start : start + width], indices[start + width :]
            if self.by_block_only and width == 1:
                yield from self.tiles(strip, indices[start:])
                continue
            if self.by_block_only:
                yield Rectangle(strip, strip)
            else:
                i, j = np.triu_indices(len(strip), k=int(self.diagonal_known))
                yield from self.lists(strip[i], strip[j])
            yield from self.tiles(strip, rest)

    def columns(self, columns: IntArray, known_rows: IntArray) -> Iterator[Request]:
        """Cut whole columns into requests, leaving out rows that are known as a whole."""
        if self.symmetric:
            yield from self.triangle(columns)
            known_rows = np.concatenate([known_rows, columns])
        yield from self.tiles(np.setdiff1d(np.arange(self.n), known_rows), columns)

    def block(self, rows: IntArray, columns: IntArray) -> Iterator[Request]:
        """Cut a block into requests, one triangle of what is symmetric in it."""
        if not self.symmetric:
            yield from self.tiles(rows, columns)
            return
        both = np.intersect1d(rows, columns)
        yield from self.tiles(np.setdiff1d(rows, both), columns)
        yield from self.tiles(both, np.setdiff1d(columns, both))
        yield from self.triangle(both)

    def lists(
        self, rows: IntArray, columns: IntArray, kind: type[Scattered] = Scattered
    ) -> Iterator[Scattered]:
        """Cut single entries into requests."""
        size = self.block_size
        step = min(size[0] * size[1] if isinstance(size, tuple) else size, LARGEST_LIST)
        for part in parts(len(rows), step):
            yield kind(rows[part], columns[part])

    def price_of_square(self, size: int) -> int:
        """Count the evaluations of a square of `size` items, all new."""
        if not self.symmetric:
            entries = size * size
        elif self.by_block_only:
            whole, left = divmod(size, self.strip)
            inside = whole * self.strip**2 + left**2
            entries = inside + (size * size - inside) // 2
        else:
            entries = size * (size - 1) // 2 + (0 if self.diagonal_known else size)
        return entries * self.per_entry

    def price_of_columns(self, count: int) -> int:
        """Count the evaluations of `count` whole columns (and, by symmetry, rows)."""
        if self.symmetric:
            return (self.n - count) * count * self.per_entry + self.price_of_square(count)
        return (self.n * count - self._skipped(count)) * self.per_entry

    def price_of_lines(self, columns: int, rows: int, union: int) -> int:
        """Count the evaluations of whole columns and whole rows of `union` different items.

        Of a symmetric matrix the two are the same thing.
        """
        if self.symmetric:
            return self.price_of_columns(union)
        entries = self.n * columns + self.m * rows - columns * rows - self._skipped(union)
        return entries * self.per_entry

    @property
    def sides(self) -> int:
        """Number of items whose similarities with a landmark are kept."""
        return self.n if self.symmetric else self.n + self.m

    @property
    def price_of_everything(self) -> int:
        """Count the evaluations of all pairs: n(n+1)/2 if symmetric, else n·m."""
        n, m = self.n, self.m
        return (n * (n + 1) // 2 if self.symmetric else n * m) * self.per_entry

    def _skipped(self, diagonal_entries: int) -> int:
        return diagonal_entries if self.diagonal_known and self.by_pairs_only else 0
