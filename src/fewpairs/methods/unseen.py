"""What a result is judged by: all that was evaluated, and samples of what was not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.pairs import Drawn, Scores, draw, parts, profiles
from fewpairs.oracle.memory import ColumnStore
from fewpairs.oracle.oracle import Oracle

#: The diagonal is few entries that may carry much of the weight, so it is sampled on its own.
_DIAGONAL_SHARE = 0.1
#: With fewer columns there are no profiles worth the name.
_COLUMNS = 10


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of the unseen entries, and a sample of it.

    Parameters
    ----------
    population : int
    off, size : ndarray
        For each sampled pair the squared residual and the squared value, summed over both
        orders where one evaluation stands for both.
    weights : ndarray
        Inverse probabilities, with a mean of about 1; all 1 for a uniform sample.
    """

    population: int
    off: FloatArray
    size: FloatArray
    weights: FloatArray

    def mean(self, values: FloatArray) -> float:
        """Estimate the mean over the population."""
        return float(self.weights @ values) / float(self.weights.sum())


# ---------------------------------------------------------------------- what was evaluated


def seen(matrix: FactoredMatrix, oracle: Oracle) -> tuple[float, float]:
    """Return the sums of squared residuals and values over everything evaluated."""
    memory = oracle.memory
    everyone = np.arange(oracle.shape[0])
    columns, rows = memory.columns, memory.rows
    crossing = columns.values[rows.landmarks]
    size = squared(columns.values) + squared(rows.values) - squared(crossing)
    off = 0.0 if not matrix.known.empty else _off_lines(matrix, columns, rows)
    i, j, values = memory.scattered()
    if memory.diagonal is not None:
        alone = (columns.position(everyone) < 0) & (rows.position(everyone) < 0)
        off_diagonal = i != j
        d = everyone[alone]
        i, j = np.concatenate([i[off_diagonal], d]), np.concatenate([j[off_diagonal], d])
        values = np.concatenate([values[off_diagonal], memory.diagonal[d]])
    pair_off, pair_size = of_pairs(matrix, i, j, values, both=oracle.symmetric)
    return off + float(pair_off.sum()), size + float(pair_size.sum())


def squared(values: FloatArray) -> float:
    """Return the sum of squares, without a copy."""
    return float(np.einsum("ij,ij->", values, values))


def _off_lines(matrix: FactoredMatrix, columns: ColumnStore, rows: ColumnStore) -> float:
    """Sum squared residuals over evaluated columns and rows; their crossing counts once."""
    total = 0.0
    to_columns = matrix.core @ matrix.right[columns.landmarks].T
    to_rows = matrix.left[rows.landmarks] @ matrix.core
    for part in parts(len(columns.values)):
        total += squared(matrix.left[part] @ to_columns - columns.values[part])
    for part in parts(len(rows.values)):
        gap = matrix.right[part] @ to_rows.T - rows.values[part]
        gap[columns.position(np.arange(part.start, part.start + len(gap))) >= 0] = 0
        total += squared(gap)
    return total


def of_aside(matrix: FactoredMatrix, oracle: Oracle) -> tuple[float, float]:
    """Return the same sums over pairs that were set aside and lie in nothing else evaluated."""
    memory = oracle.memory
    keys, values = memory.aside.all()
    hidden = np.isin(keys, Unseen.of(oracle).aside)
    i, j = memory.unkey(keys[hidden])
    off, size = of_pairs(matrix, i, j, values[hidden], both=oracle.symmetric)
    return float(off.sum()), float(size.sum())


def of_pairs(
    matrix: FactoredMatrix, i: IntArray, j: IntArray, values: FloatArray, *, both: bool
) -> tuple[FloatArray, FloatArray]:
    """Return squared residuals and squared values of pairs, in both orders if `both`."""
    off = (matrix.entries(i, j) - values) ** 2
    size = values**2
    if both:
        twice = i != j
        off = off + np.where(twice, (matrix.entries(j, i) - values) ** 2, 0)
        size = size * np.where(twice, 2, 1)
    return off, size


# ---------------------------------------------------------------------- what was not


@dataclass(frozen=True, eq=False)
class Unseen:
    """The entries that nothing evaluated covers: pairs off the diagonal, and single items."""

    rows: IntArray
    columns: IntArray
    known: IntArray  # keys of single entries among them that are known all the same
    single: IntArray  # items whose self-similarity is unknown
    aside: IntArray  # keys that were evaluated to judge by, and are in nothing else
    population: int  # pairs off the diagonal, without those

    @classmethod
    def of(cls, oracle: Oracle) -> Unseen:
        """Read it off the oracle's memory."""
        memory = oracle.memory
        n, m = oracle.shape
        rows = np.flatnonzero(memory.rows.position(np.arange(n)) < 0)
        columns = np.flatnonzero(memory.columns.position(np.arange(m)) < 0)
        i, j, _ = memory.scattered()
        off = i != j if oracle.square else np.ones(len(i), dtype=bool)
        known = memory.keys(i[off], j[off])
        both = np.intersect1d(rows, columns) if oracle.square else rows[:0]
        single = both[np.isnan(memory.find(both, both))]
        a, b = memory.unkey(memory.aside.all()[0])
        outside = np.isnan(memory.find(a, b))
        aside = memory.keys(a[outside], b[outside])
        pairs = len(rows) * len(columns) - len(both)
        population = (pairs // 2 if oracle.symmetric else pairs) - len(known) - len(aside)
        return cls(rows, columns, known, single, aside, population)

    def draw(
        self,
        matrix: FactoredMatrix,
        oracle: Oracle,
        count: int,
        rng: np.random.Generator,
        *,
        weighted: bool,
    ) -> Drawn:
        """Draw pairs off the diagonal that are neither known nor set aside."""
        scores = None
        if weighted and 0 < count < self.population:
            scores = _scores(matrix, oracle, self.rows, self.columns)
        return draw(
            self.rows,
            self.columns,
            count,
            rng,
            symmetric=oracle.symmetric,
            square=oracle.square,
            known=np.union1d(self.known, self.aside),
            width=oracle.shape[1],
            scores=scores,
        )


def unseen(
    matrix: FactoredMatrix,
    oracle: Oracle,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    weighted: bool,
) -> tuple[list[Stratum], Drawn]:
    """Draw and evaluate pairs outside everything evaluated: off the diagonal, and on it."""
    unknown = Unseen.of(oracle)
    single, population = unknown.single, unknown.population
    on = min(len(single), max(2, round(_DIAGONAL_SHARE * n_pairs)), n_pairs)
    if population < n_pairs - on:  # few pairs are left: the diagonal gets the rest
        on = min(len(single), n_pairs - population)
    pairs = unknown.draw(matrix, oracle, min(population, n_pairs - on), rng, weighted=weighted)
    d = rng.permutation(single)[:on]
    strata = []
    for size, a, b, weights in (
        (population, pairs.rows, pairs.columns, pairs.weights),
        (len(single), d, d, np.ones(len(d))),
    ):
        if size and len(a):
            values = oracle.entries(a, b)
            sums = of_pairs(matrix, a, b, values, both=oracle.symmetric)
            strata.append(Stratum(size, *sums, weights))
    return strata, pairs


def _scores(
    matrix: FactoredMatrix, oracle: Oracle, rows: IntArray, columns: IntArray
) -> Scores | None:
    """Return what the result and the evaluated columns say of unseen pairs."""
    memory = oracle.memory
    values = memory.columns.values
    if values.shape[1] < _COLUMNS:
        return None
    lowest, highest = float(values.min()), float(values.max())
    factors = (matrix.left, matrix.core, matrix.right, rows, columns)
    if not oracle.square:
        return Scores(*factors, None, None, lowest, highest)
    lines = values if oracle.symmetric else np.hstack([values, memory.rows.values])
    row_profiles = profiles(lines, rows)
    same = rows is columns or np.array_equal(rows, columns)
    column_profiles = row_profiles if same else profiles(lines, columns)
    return Scores(*factors, row_profiles, column_profiles, lowest, highest)
