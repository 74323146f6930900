"""Sampled entries of f(UVᵀ): what coefficients are fitted to, and errors estimated from.

An entry costs one inner product, so that any may be looked at; but a few long rows can hold most of
the matrix, as they do for exp, and a few others most of its error. So there are layers: all
entries between the longest and the worst rows; entries between nearly equal rows, such as the
diagonal; and the rest, drawn uniformly, where rows and columns are large, and where either is bad,
as much from each. Each entry is weighted by how many it stands for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import relative_error
from fewpairs.sketches.matches import Matches
from fewpairs.sketches.products import Function, evaluated, row_products, squares

#: Rows that a row is compared with to guess its size: the longest, and as many at random.
_COMPARED = 8
#: Rows of which sizes are guessed at a time, and long rows that are remembered.
_STRIP, _MOST_LONGEST = 2**13, 200
#: Shares of the entries that are between the longest rows, and on the diagonal.
_LONGEST, _DIAGONAL = 0.25, 0.1
#: Rows that are searched for nearly equal ones, for each entry.
_SEARCHED = 0.05


class Entries(NamedTuple):
    """Places, what stands there, how many entries each stands for; the first are all of theirs."""

    rows: IntArray
    columns: IntArray
    exact: FloatArray
    weights: FloatArray
    certain: int

    def error(self, guess: FloatArray) -> ErrorEstimate:
        """State the relative Frobenius error of guesses of these entries, as docs/error.md does."""
        # Sums of squares are taken in units of the largest entry, so that none over- or underflows.
        unit = float(np.abs(self.exact).max(initial=0)) or 1.0
        residuals = self.weights * ((guess - self.exact) / unit) ** 2
        squares = self.weights * (self.exact / unit) ** 2
        A, B = float(residuals.sum()), float(squares.sum())
        zeta = np.zeros(0)
        if A > 0 and B > 0:
            zeta = (residuals / A - squares / B)[self.certain :]
        # Without `Verdict.warned`: where entries that are certain hold nearly all of the error, few of
        # the drawn ones carry what little uncertainty is left, and a narrow interval is right.
        return relative_error(A, B, zeta, len(self.rows)).estimate


class Sampler:
    """Draws entries of diag(z)·f(UVᵀ)·diag(w), more of them where they are large.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
        One and the same object for a symmetric matrix.
    heights : pair of ndarray, optional
        z and w; by default 1.
    rng : numpy Generator
        For the rows that sizes are guessed from.

    Attributes
    ----------
    sides : tuple
        U and V.
    same : bool
        Whether they are one.
    """

    def __init__(
        self,
        function: Function,
        left: Any,
        right: Any,
        heights: tuple[FloatArray, FloatArray] | None,
        rng: np.random.Generator,
    ) -> None:
        self._function, self.sides = function, (left, right)
        self.same = right is left
        self._heights = heights or (np.ones(left.shape[0]), np.ones(right.shape[0]))
        self._squares = [squares(left)]
        self._squares.append(self._squares[0] if self.same else squares(right))
        self._matches = Matches(left, right, self._squares)
        self._tops = [_largest(square, _MOST_LONGEST) for square in self._squares]
        self._chances = [self._likely(0, rng)]
        self._chances.append(self._chances[0] if self.same else self._likely(1, rng))

    def _likely(self, side: int, rng: np.random.Generator) -> FloatArray:
        """Return how likely each row of a side is: by its entries with a few of the other."""
        rows, others = self.sides[side], self.sides[1 - side]
        some = self.compared(1 - side, rng)
        few = others[some]
        few = few.toarray().T if sp.issparse(few) else few.T
        mine, theirs = self._heights[side], self._heights[1 - side][some]
        sizes = np.empty(rows.shape[0])
        for start in range(0, len(sizes), _STRIP):
            part = slice(start, start + _STRIP)
            values = evaluated(self._function, np.asarray(rows[part] @ few, dtype=np.float64))
            sizes[part] = np.linalg.norm(values * theirs, axis=1) * mine[part]
        # Nothing is impossible: half are drawn alike.
        shares = shares_of(sizes)
        return _alike(len(sizes)) if shares is None else 0.5 * shares + 0.5 / len(sizes)

    def some_rows(
        self, side: int, count: int, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        """Return rows of a side, all or more of the large ones, and how many each stands for."""
        n = self.sides[side].shape[0]
        if n <= count:
            return np.arange(n), np.ones(n)
        chances = self._chances[side]
        chosen = np.sort(rng.choice(n, count, p=chances))
        return chosen, 1 / (count * chances[chosen])

    def draw(
        self, count: int, rng: np.random.Generator, off: list[FloatArray] | None = None
    ) -> Entries:
        """Draw so many entries.

        Parameters
        ----------
        count : int
        rng : numpy Generator
        off : pair of ndarray, optional
            Errors of rows and of columns, roughly, where an error is to be estimated.

        Returns
        -------
        Entries
        """
        (left, right), (p, q), (z, w) = self.sides, self._chances, self._heights
        n, m = left.shape[0], right.shape[0]
        likely = [(p, q)]
        shares = [None, None] if off is None else [shares_of(errors) for errors in off]
        if shares[0] is not None and shares[1] is not None:
            # A bad row is bad along its whole length; where two cross, all is taken anyway.
            likely += [(shares[0], q), (p, shares[1])]
        tops = self._certain(int(np.sqrt(_LONGEST * count)), off)
        inner = [np.repeat(tops[0], len(tops[1])), np.tile(tops[1], len(tops[0]))]
        own = np.mean([chances for chances, _ in likely], axis=0)
        layers = [self._matches.pairs(int(_SEARCHED * count), own, rng)]
        if self.same:
            on = rng.choice(n, max(1, int(_DIAGONAL * count)), p=own)
            layers.append((on, on, 1 / (len(on) * own[on])))
        rest = max(1, count - len(inner[0]) - sum(len(layer[0]) for layer in layers))
        kind = rng.integers(0, len(likely) + 1, rest)
        i, j = rng.integers(0, n, rest), rng.integers(0, m, rest)
        for k, (rows, columns) in enumerate(likely, 1):
            mine = np.flatnonzero(kind == k)
            i[mine], j[mine] = rng.choice(n, len(mine), p=rows), rng.choice(m, len(mine), p=columns)
        density = np.full(rest, 1 / (n * m))
        for rows, columns in likely:
            density += rows[i] * columns[j]
        layers.append((i, j, (len(likely) + 1) / (rest * density)))
        i, j, weights = (np.concatenate(parts) for parts in zip(*layers, strict=True))
        products = row_products(left[i], right[j])
        # What belongs to another layer stands for nothing here.
        weights[np.isin(i, tops[0]) & np.isin(j, tops[1])] = 0.0
        drawn = np.arange(len(i)) >= len(i) - rest
        weights[drawn & self._matches.near(i, j, products)] = 0.0
        products = np.concatenate([row_products(left[inner[0]], right[inner[1]]), products])
        i, j = np.concatenate([inner[0], i]), np.concatenate([inner[1], j])
        weights = np.concatenate([np.ones(len(inner[0])), weights])
        exact = evaluated(self._function, products)
        return Entries(i, j, exact, weights * (z[i] * w[j]) ** 2, len(inner[0]))

    def _certain(self, count: int, off: list[FloatArray] | None) -> list[IntArray]:
        """Return so many rows of each side between which all entries are taken."""
        if off is None:
            return [top[:count] for top in self._tops]
        return [
            np.unique(np.concatenate([top[: count // 2], _largest(errors, count - count // 2)]))
            for top, errors in zip(self._tops, off, strict=True)
        ]

    def compared(self, side: int, rng: np.random.Generator) -> IntArray:
        """Return a few rows of a side that all of the other are compared with."""
        few = rng.integers(0, self.sides[side].shape[0], _COMPARED)
        return np.concatenate([self._tops[side][:_COMPARED], few])

    def tried_rows(self, side: int, count: int, rng: np.random.Generator) -> IntArray:
        """Return different rows of a side: all, or the longest and so many others."""
        return np.union1d(self._tops[side], self.some_rows(side, count, rng)[0])

    def misses(self, side: int, rows: IntArray, few: IntArray, guess: FloatArray) -> FloatArray:
        """Return the errors of guesses of entries between rows of a side and a few of the other."""
        mine, others = self.sides[side][rows], self.sides[1 - side][few]
        others = others.toarray() if sp.issparse(others) else others
        exact = evaluated(self._function, np.asarray(mine @ others.T, dtype=np.float64))
        return (guess - exact) * self._heights[side][rows][:, None] * self._heights[1 - side][few]

    def own_misses(self, rows: IntArray, guess: FloatArray) -> FloatArray:
        """Return the errors of guesses of entries on the diagonal."""
        exact = evaluated(self._function, squares(self.sides[0][rows]))
        return (guess - exact) * self._heights[0][rows] ** 2


def shares_of(sizes: FloatArray) -> FloatArray | None:
    """Return the share that each has of the sum of squares; None if all are zero."""
    largest = float(sizes.max(initial=0))
    if largest == 0:
        return None
    square = (sizes / largest) ** 2
    return np.asarray(square / square.sum())


def _largest(values: FloatArray, count: int) -> IntArray:
    count = min(count, len(values))
    if count < 1:
        return np.zeros(0, dtype=np.int64)
    few = np.argpartition(-values, count - 1)[:count]
    return np.asarray(few[np.argsort(-values[few], kind="stable")])


def _alike(n: int) -> FloatArray:
    return np.full(n, 1 / n)
