"""The error estimate: what the result is off by, from pairs that the method never saw."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import ErrorEstimateWarning
from fewpairs.factored.error import ErrorEstimate
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.pairs import Drawn, Scores, draw, parts, profiles
from fewpairs.oracle.memory import ColumnStore
from fewpairs.oracle.oracle import Oracle

#: The diagonal is few entries that may carry much of the weight, so it is sampled on its own.
_DIAGONAL_SHARE = 0.1
#: A large sample that rests on fewer pairs than this is a surprise worth a warning.
_FEW, _MANY = 5, 500
_CONFIDENCE = 0.95
_ROUNDING = 1e-8
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


def estimate_error(
    matrix: FactoredMatrix,
    oracle: Oracle,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    weighted: bool = True,
) -> ErrorEstimate:
    """Estimate ‖K − K̃‖ / ‖K‖ over the whole matrix.

    What was evaluated is compared exactly; what was not is estimated from drawn pairs, with a
    log-scale t interval by linearisation (docs/error.md).

    Parameters
    ----------
    matrix : FactoredMatrix
    oracle : Oracle
        With the memory of the run.
    n_pairs : int
        Unseen pairs to evaluate; fewer if there are fewer.
    rng : numpy.random.Generator
    weighted : bool, default=True
        Draw pairs that may matter more often; False draws uniformly.

    Returns
    -------
    ErrorEstimate
    """
    return verdict(matrix, oracle, n_pairs, rng, weighted=weighted).warned()


@dataclass(frozen=True, eq=False)
class Verdict:
    """An estimate, the pairs off the diagonal that it rests on, and how many of them carry it."""

    estimate: ErrorEstimate
    carrying: float
    drawn: Drawn | None = None

    def warned(self) -> ErrorEstimate:
        """Return the estimate, with a warning if a large sample rests on very few pairs."""
        value, drawn = self.estimate.value, self.estimate.n_pairs
        if self.carrying < _FEW and drawn >= _MANY and value > _ROUNDING:
            warnings.warn(
                ErrorEstimateWarning(
                    f"the error estimate {value:.3g} rests on about {self.carrying:.1f} of {drawn} "
                    "sampled pairs; its interval may be too narrow. Ask for more with error_pairs=…"
                ),
                stacklevel=3,
            )
        return self.estimate


def verdict(
    matrix: FactoredMatrix,
    oracle: Oracle,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    weighted: bool = True,
) -> Verdict:
    """Do as `estimate_error`, and tell the pairs, so that a user may have them folded in."""
    off, size = seen(matrix, oracle)
    more_off, more_size = _of_aside(matrix, oracle)
    strata, drawn = unseen(matrix, oracle, n_pairs, rng, weighted=weighted)
    return replace(combine(off + more_off, size + more_size, strata), drawn=drawn)


def combine(off: float, size: float, strata: list[Stratum]) -> Verdict:
    """Turn seen sums and unseen samples into an estimate with its interval."""
    drawn = sum(len(s.off) for s in strata)
    total_off = off + sum(s.population * s.mean(s.off) for s in strata)
    total_size = size + sum(s.population * s.mean(s.size) for s in strata)
    if total_off == 0:
        return Verdict(ErrorEstimate(0.0, 0.0, 0.0, drawn), np.inf)
    if total_size == 0:
        return Verdict(ErrorEstimate(np.inf, np.inf, np.inf, drawn), np.inf)
    value = float(np.sqrt(total_off / total_size))
    # log(value²) is linearised: each pair moves it by its influence.
    influence = np.concatenate(
        [np.empty(0), *(_influence(s, total_off, total_size) for s in strata)]
    )
    variance = float(influence @ influence)
    if variance == 0:
        return Verdict(ErrorEstimate(value, value, value, drawn), np.inf)
    carrying = variance**2 / float(influence**2 @ influence**2)
    quantile = scipy.special.stdtrit(max(carrying - 1, 2), (1 + _CONFIDENCE) / 2)
    factor = float(np.exp(min(quantile * np.sqrt(variance) / 2, 700.0)))
    return Verdict(ErrorEstimate(value, value / factor, value * factor, drawn), carrying)


def _influence(stratum: Stratum, total_off: float, total_size: float) -> FloatArray:
    drawn, population = len(stratum.off), stratum.population
    if drawn == population:  # nothing is left to chance
        return np.empty(0)
    if drawn == 1:
        return np.full(1, 1.0)
    moved = stratum.off / total_off - stratum.size / total_size
    share = stratum.weights / stratum.weights.sum()
    # A pair that was certain to be drawn adds no uncertainty.
    uncertain = 1 - np.minimum(1, drawn / population / stratum.weights)
    spread = np.sqrt(uncertain * drawn / (drawn - 1))
    return np.asarray((moved - share @ moved) * population * share * spread)


@dataclass(frozen=True, eq=False)
class Audit:
    """One sample of pairs, set aside before the run grows, that judges every step of it.

    Pairs that a later step reads in a column drop out; the others remain a sample, with the same
    weights, of what is still unseen.
    """

    rows: IntArray
    columns: IntArray
    weights: FloatArray
    values: FloatArray

    @classmethod
    def draw(
        cls, matrix: FactoredMatrix, oracle: Oracle, n_pairs: int, rng: np.random.Generator
    ) -> Audit:
        """Draw pairs by what a first small result says of them, and evaluate them unseen."""
        unknown = Unseen.of(oracle)
        count = min(n_pairs, unknown.population)
        pairs = unknown.draw(matrix, oracle, count, rng, weighted=True)
        values = oracle.set_aside(pairs.rows, pairs.columns)
        return cls(pairs.rows, pairs.columns, pairs.weights, values)

    def judge(self, matrix: FactoredMatrix, oracle: Oracle) -> ErrorEstimate:
        """Estimate the error of one step's result."""
        memory = oracle.memory
        i, j = self.rows, self.columns
        out = (memory.rows.position(i) < 0) & (memory.columns.position(j) < 0)
        out &= np.isnan(memory.entries.find(memory.keys(i, j)))
        population = Unseen.of(oracle).population + int(out.sum())
        strata = []
        if out.any():
            sums = _of_pairs(matrix, i[out], j[out], self.values[out], both=oracle.symmetric)
            strata.append(Stratum(population, *sums, self.weights[out]))
        return combine(*seen(matrix, oracle), strata).estimate


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
    pair_off, pair_size = _of_pairs(matrix, i, j, values, both=oracle.symmetric)
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


def _of_aside(matrix: FactoredMatrix, oracle: Oracle) -> tuple[float, float]:
    """Return the same sums over pairs that were set aside and lie in nothing else evaluated."""
    memory = oracle.memory
    keys, values = memory.aside.all()
    hidden = np.isin(keys, Unseen.of(oracle).aside)
    i, j = memory.unkey(keys[hidden])
    off, size = _of_pairs(matrix, i, j, values[hidden], both=oracle.symmetric)
    return float(off.sum()), float(size.sum())


def _of_pairs(
    matrix: FactoredMatrix, i: IntArray, j: IntArray, values: FloatArray, *, both: bool
) -> tuple[FloatArray, FloatArray]:
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
            sums = _of_pairs(matrix, a, b, values, both=oracle.symmetric)
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
