"""The error estimate: what the result is off by, from pairs that the method never saw."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import ErrorEstimateWarning
from fewpairs.factored.error import ErrorEstimate
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.oracle.memory import ColumnStore
from fewpairs.oracle.oracle import Oracle

#: The diagonal is few entries that may carry much of the weight, so it is sampled on its own.
_DIAGONAL_SHARE = 0.1
#: Populations up to this size are listed; larger ones are drawn from by rejection.
_LISTED = 200_000
#: A large sample that rests on fewer pairs than this is a surprise worth a warning.
_FEW, _MANY = 5, 500
_CONFIDENCE = 0.95
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of the unseen entries, and a uniform sample of it.

    `off` and `size` are, for each sampled pair, the squared residual and the squared value,
    summed over both orders where one evaluation stands for both.
    """

    population: int
    off: FloatArray
    size: FloatArray


def estimate_error(
    matrix: FactoredMatrix, oracle: Oracle, n_pairs: int, rng: np.random.Generator
) -> ErrorEstimate:
    """Estimate ‖K − K̃‖ / ‖K‖ over the whole matrix.

    What was evaluated is compared exactly; what was not is estimated from uniformly drawn pairs,
    with a log-scale t interval by linearisation (docs/error.md).

    Parameters
    ----------
    matrix : FactoredMatrix
    oracle : Oracle
        With the memory of the run.
    n_pairs : int
        Unseen pairs to evaluate; fewer if there are fewer.
    rng : numpy.random.Generator

    Returns
    -------
    ErrorEstimate
    """
    off, size = seen(matrix, oracle)
    strata = unseen(matrix, oracle, n_pairs, rng)
    return combine(off, size, strata)


def combine(off: float, size: float, strata: list[Stratum]) -> ErrorEstimate:
    """Turn seen sums and unseen samples into an estimate with its interval."""
    drawn = sum(len(s.off) for s in strata)
    total_off = off + sum(s.population * float(s.off.mean()) for s in strata)
    total_size = size + sum(s.population * float(s.size.mean()) for s in strata)
    if total_off == 0:
        return ErrorEstimate(0.0, 0.0, 0.0, drawn)
    if total_size == 0:
        return ErrorEstimate(np.inf, np.inf, np.inf, drawn)
    value = float(np.sqrt(total_off / total_size))
    # log(value²) is linearised: each pair moves it by its influence.
    influence = np.concatenate(
        [np.empty(0), *(_influence(s, total_off, total_size) for s in strata)]
    )
    variance = float(influence @ influence)
    if variance == 0:
        return ErrorEstimate(value, value, value, drawn)
    carrying = variance**2 / float(influence**2 @ influence**2)
    if carrying < _FEW and drawn >= _MANY and value > _ROUNDING:
        warnings.warn(
            ErrorEstimateWarning(
                f"the error estimate {value:.3g} rests on about {carrying:.1f} of {drawn} sampled "
                "pairs; its interval may be too narrow. Ask for more with error_pairs=…"
            ),
            stacklevel=3,
        )
    quantile = scipy.special.stdtrit(max(carrying - 1, 2), (1 + _CONFIDENCE) / 2)
    factor = float(np.exp(min(quantile * np.sqrt(variance) / 2, 700.0)))
    return ErrorEstimate(value, value / factor, value * factor, drawn)


def _influence(stratum: Stratum, total_off: float, total_size: float) -> FloatArray:
    drawn, population = len(stratum.off), stratum.population
    if drawn == population:  # nothing is left to chance
        return np.empty(0)
    if drawn == 1:
        return np.full(1, 1.0)
    moved = stratum.off / total_off - stratum.size / total_size
    finite = (1 - drawn / population) * drawn / (drawn - 1)
    return np.asarray((moved - moved.mean()) * (population / drawn) * np.sqrt(finite))


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


def parts(length: int, step: int = 4096) -> Iterator[slice]:
    """Cut a tall array into slices of rows."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


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


def unseen(
    matrix: FactoredMatrix, oracle: Oracle, n_pairs: int, rng: np.random.Generator
) -> list[Stratum]:
    """Draw and evaluate pairs outside everything evaluated: off the diagonal, and on it."""
    memory = oracle.memory
    n, m = oracle.shape
    rows = np.flatnonzero(memory.rows.position(np.arange(n)) < 0)
    columns = np.flatnonzero(memory.columns.position(np.arange(m)) < 0)
    known_i, known_j, _ = memory.scattered()
    known_pairs = memory.keys(known_i[known_i != known_j], known_j[known_i != known_j])

    both = np.intersect1d(rows, columns)
    single = both[np.isnan(memory.find(both, both))]
    if oracle.symmetric:
        population = len(rows) * (len(rows) - 1) // 2 - len(known_pairs)
    else:
        population = len(rows) * len(columns) - len(both) - len(known_pairs)
    on = min(len(single), max(2, round(_DIAGONAL_SHARE * n_pairs)), n_pairs)
    if population < n_pairs - on:  # few pairs are left: the diagonal gets the rest
        on = min(len(single), n_pairs - population)
    i, j = _draw(rows, columns, known_pairs, min(population, n_pairs - on), oracle, rng)
    d = rng.permutation(single)[:on]
    strata = []
    for count, (a, b) in ((population, (i, j)), (len(single), (d, d))):
        if count and len(a):
            values = oracle.entries(a, b)
            strata.append(Stratum(count, *_of_pairs(matrix, a, b, values, both=oracle.symmetric)))
    return strata


def _draw(
    rows: IntArray,
    columns: IntArray,
    known: IntArray,
    count: int,
    oracle: Oracle,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Draw different unseen pairs off the diagonal, all equally likely."""
    memory = oracle.memory
    if count <= 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if len(rows) * len(columns) <= max(_LISTED, 8 * count):
        i, j = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        usable = i < j if oracle.symmetric else i != j
        keys = memory.keys(i[usable], j[usable])
        keys = np.setdiff1d(keys, known)
        return memory.unkey(rng.permutation(keys)[:count])
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        i = rng.choice(rows, 2 * count)
        j = rng.choice(columns, 2 * count)
        keys = memory.keys(i[i != j], j[i != j])
        drawn = np.concatenate([drawn, keys[~np.isin(keys, known)]])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return memory.unkey(drawn[:count])
