"""A sample of the entries of diag(z)·f(UVᵀ)·diag(w).

Coefficients are fitted to sampled entries, and errors are estimated from them. Any entry can be
computed, for the price of one inner product. But a few long rows may hold most of the matrix, as
they do for exp, and a few other rows most of its error; a uniform sample would miss both. So the
matrix is cut into layers, and every entry belongs to exactly one of them:

1. Entries between the longest rows or, if errors of rows are given, between the longest rows and
   those with the largest errors. All of these are taken.
2. Entries between near-duplicates. Rows are drawn, and their near-duplicates are searched for.
3. The diagonal of a symmetric matrix. Rows are drawn.
4. All other entries. They are drawn in up to four ways, each as often: uniformly; in rows and
   columns with large entries; in rows with large errors; in columns with large errors.

Every entry of the sample has a weight: the number of entries that it stands for. So weighted sums
over the sample are unbiased estimates of sums over the matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.numerics import largest, row_squares
from fewpairs.sketches.exact import Exact, squared_shares
from fewpairs.sketches.functions import apply
from fewpairs.sketches.near_duplicates import NearDuplicates
from fewpairs.sketches.products import row_products

# Widths of intervals below are those of the maps of benchmarks/sketches/sketch_intervals.py.
#: Shares of a sample that are certain, and on the diagonal. Intervals are a quarter wider without
#: certain entries, and a third wider with a tenth of the diagonal's share. With two or three times
#: these shares they are 5 % wider, because other entries are fewer.
_CERTAIN_SHARE, _DIAGONAL_SHARE = 0.25, 0.1
#: Rows that are searched for near-duplicates, as a share of the sample. With a fifth of it,
#: intervals are 2 % wider; with four times as much, 6 %.
_SEARCHED_SHARE = 0.05


class Entries(NamedTuple):
    """Sampled entries of a matrix.

    Attributes
    ----------
    rows, columns : ndarray of int64
        Where they are.
    exact : ndarray of float64
        f of the inner products, without z and w.
    weights : ndarray of float64
        How many entries of the matrix each stands for, times the square of its z·w.
    certain : int
        The first `certain` entries were not left to chance. Each stands for itself alone.
    """

    rows: IntArray
    columns: IntArray
    exact: FloatArray
    weights: FloatArray
    certain: int


class Sampler:
    """Draws entries of diag(z)·f(UVᵀ)·diag(w), more of them where they are large.

    Parameters
    ----------
    exact : Exact
        The matrix.
    rng : numpy Generator
        For the rows by which the sizes of all others are guessed.

    Attributes
    ----------
    function : callable
    sides, scaling : tuple
        (U, V) and (z, w).
    symmetric : bool
        Whether U and V are one and the same.
    """

    def __init__(self, exact: Exact, rng: np.random.Generator) -> None:
        self.function, self.sides, self.symmetric = exact.function, exact.sides, exact.symmetric
        self.scaling = exact.scaling() or (np.ones(exact.shape[0]), np.ones(exact.shape[1]))
        squares = [row_squares(exact.left)]
        squares.append(squares[0] if self.symmetric else row_squares(exact.right))
        self._near_duplicates = NearDuplicates(*self.sides, squares)
        self._longest = exact.longest
        self._chances = [exact.chances(0, rng)]
        self._chances.append(self._chances[0] if self.symmetric else exact.chances(1, rng))

    def sample_rows(
        self, side: int, count: int, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        """Return rows of a side, the larger the likelier, and how many rows each stands for.

        All rows are returned where there are no more than `count`.
        """
        n = self.sides[side].shape[0]
        if n <= count:
            return np.arange(n), np.ones(n)
        chances = self._chances[side]
        chosen = np.sort(rng.choice(n, count, p=chances))
        return chosen, 1 / (count * chances[chosen])

    def distinct_rows(self, side: int, count: int, rng: np.random.Generator) -> IntArray:
        """Return the longest rows of a side and `count` others; all where there are no more."""
        return np.union1d(self._longest[side], self.sample_rows(side, count, rng)[0])

    def draw(
        self,
        count: int,
        rng: np.random.Generator,
        row_errors: list[FloatArray] | None = None,
    ) -> Entries:
        """Draw entries from all layers.

        Parameters
        ----------
        count : int
            About how many.
        rng : numpy Generator
        row_errors : pair of ndarray, optional
            Rough errors of each row and of each column.

        Returns
        -------
        Entries
        """
        left, right = self.sides
        mixture = self._mixture(row_errors)
        certain = self._certain_rows(int(np.sqrt(_CERTAIN_SHARE * count)), row_errors)
        block = np.repeat(certain[0], len(certain[1])), np.tile(certain[1], len(certain[0]))

        chances = np.mean([of_rows for of_rows, _ in mixture], axis=0)
        layers = [self._near_duplicates.draw(int(_SEARCHED_SHARE * count), chances, rng)]
        if self.symmetric:
            on = rng.choice(len(chances), max(1, int(_DIAGONAL_SHARE * count)), p=chances)
            layers.append((on, on, 1 / (len(on) * chances[on])))
        others = max(1, count - len(block[0]) - sum(len(layer[0]) for layer in layers))
        layers.append(_draw_mixture(mixture, others, rng))

        i, j, weights = (np.concatenate(layer) for layer in zip(*layers, strict=True))
        products = row_products(left[i], right[j])
        # What a draw hits of another layer is not counted: it has its share there.
        weights[np.isin(i, certain[0]) & np.isin(j, certain[1])] = 0.0
        last = np.arange(len(i)) >= len(i) - others
        weights[last & self._near_duplicates.recognise(i, j, products)] = 0.0

        products = np.concatenate([row_products(left[block[0]], right[block[1]]), products])
        i, j = np.concatenate([block[0], i]), np.concatenate([block[1], j])
        weights = np.concatenate([np.ones(len(block[0])), weights])
        z, w = self.scaling
        exact = apply(self.function, products)
        return Entries(i, j, exact, weights * (z[i] * w[j]) ** 2, len(block[0]))

    def _mixture(self, row_errors: list[FloatArray] | None) -> list[tuple[FloatArray, FloatArray]]:
        """Return chances of rows and of columns, for each way to draw entries but the uniform."""
        of_rows, of_columns = self._chances
        mixture = [(of_rows, of_columns)]
        if row_errors is not None:
            bad_rows, bad_columns = (squared_shares(errors) for errors in row_errors)
            if bad_rows is not None and bad_columns is not None:
                # A bad row is bad with all columns; where it crosses a bad column, the certain
                # block holds the entry.
                mixture += [(bad_rows, of_columns), (of_rows, bad_columns)]
        return mixture

    def _certain_rows(self, count: int, row_errors: list[FloatArray] | None) -> list[IntArray]:
        """Return rows of each side, about `count`, between which all entries are taken."""
        if row_errors is None:
            return [longest[:count] for longest in self._longest]
        return [
            np.unique(np.concatenate([longest[: count // 2], largest(errors, count - count // 2)]))
            for longest, errors in zip(self._longest, row_errors, strict=True)
        ]


def _draw_mixture(
    mixture: list[tuple[FloatArray, FloatArray]], count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Draw entries uniformly, and in as many parts by the chances of each pair of the mixture.

    The weight of an entry is one over how often the whole mixture is expected to draw it, whichever
    part did.
    """
    n, m = (len(chances) for chances in mixture[0])
    n_ways = len(mixture) + 1
    way = rng.integers(0, n_ways, count)
    i, j = rng.integers(0, n, count), rng.integers(0, m, count)
    for k, (of_rows, of_columns) in enumerate(mixture, 1):
        mine = np.flatnonzero(way == k)
        i[mine] = rng.choice(n, len(mine), p=of_rows)
        j[mine] = rng.choice(m, len(mine), p=of_columns)
    density = np.full(count, 1 / (n * m))
    for of_rows, of_columns in mixture:
        density += of_rows[i] * of_columns[j]
    return i, j, n_ways / (count * density)
