"""The error estimate: what the result is off by, from pairs that the method never saw."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.errors import ErrorEstimateWarning
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.pairs import Drawn
from fewpairs.methods.unseen import Stratum, Unseen, of_aside, of_pairs, seen, unseen
from fewpairs.oracle.oracle import Oracle

#: A large sample that rests on fewer pairs than this is a surprise worth a warning.
_FEW, _MANY = 5, 500
_CONFIDENCE = 0.95
_ROUNDING = 1e-8


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
    more_off, more_size = of_aside(matrix, oracle)
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
            sums = of_pairs(matrix, i[out], j[out], self.values[out], both=oracle.symmetric)
            strata.append(Stratum(population, *sums, self.weights[out]))
        return combine(*seen(matrix, oracle), strata).estimate
