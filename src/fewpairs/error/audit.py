"""How far a result is off, judged by pairs that it was not made of; docs/error.md has the formulas.

Letters: in stratum h there are N_h unseen entries, of which m_h were drawn with weights w (the
inverse of their probabilities, ω = w/Σw), squared residuals r² and squared values y².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.error.interval import Interval, Verdict, relative_error
from fewpairs.error.sampling import Drawn
from fewpairs.error.unseen import Approximation, Unseen, evaluated_sums, squared_residuals
from fewpairs.oracle.oracle import Oracle

#: The diagonal is few entries that may carry much of the weight, so it is sampled on its own, by
#: this share of the pairs, and by at least two, for a spread.
_DIAGONAL_SHARE, _FEWEST_OWN = 0.1, 2


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of the unseen entries, and a sample of it.

    Parameters
    ----------
    population : int
        N_h, of which one stands for both orders of a symmetric matrix.
    residuals, squares : ndarray
        r² and y² of each sampled pair, summed over both orders where one stands for both.
    weights : ndarray
        Inverse probabilities, with a mean of about 1; all 1 for a uniform sample.
    """

    population: int
    residuals: FloatArray
    squares: FloatArray
    weights: FloatArray

    def total(self, values: FloatArray) -> float:
        """Estimate the sum over the population: N_h·Σωv."""
        return self.population * float(self.weights @ values) / float(self.weights.sum())

    def influence(self, A: float, B: float) -> FloatArray:
        """Return ζ: by how much each sampled pair moves log A − log B."""
        drawn = len(self.residuals)
        if drawn == self.population:  # nothing is left to chance
            return np.empty(0)
        if drawn == 1:  # one pair has no spread: it may be off by its own size
            return np.ones(1)
        moves = self.residuals / A - self.squares / B
        share = self.weights / self.weights.sum()
        # A pair that was certain to be drawn adds no uncertainty.
        uncertain = 1 - np.minimum(1, drawn / self.population / self.weights)
        spread = np.sqrt(uncertain * drawn / (drawn - 1))
        return np.asarray((moves - share @ moves) * self.population * share * spread)


def combine(
    A: float, B: float, strata: list[Stratum], interval: Interval = relative_error
) -> Verdict:
    """Add what is estimated of the strata to the sums A₀ and B₀, and state the error."""
    A += sum(s.total(s.residuals) for s in strata)
    B += sum(s.total(s.squares) for s in strata)
    zeta = np.empty(0)
    if A > 0 and B > 0:
        zeta = np.concatenate([zeta, *(s.influence(A, B) for s in strata)])
    return interval(A, B, zeta, sum(len(s.residuals) for s in strata))


@dataclass(frozen=True, eq=False)
class Audit:
    """Pairs that were drawn to judge by, and evaluated where no method sees them.

    Pairs that a later step of the run reads in a column drop out; the others remain a sample, with
    the same weights, of what is still unseen.
    """

    pairs: Drawn
    values: FloatArray

    @classmethod
    def draw(
        cls,
        matrix: Approximation,
        oracle: Oracle,
        n_pairs: int,
        rng: np.random.Generator,
        *,
        weighted: bool = True,
    ) -> Audit:
        """Draw pairs by what a first small result says of them, and set them aside."""
        known = oracle.known()
        unseen = Unseen.of(oracle, known)
        count = min(n_pairs, unseen.population)
        beliefs = None
        if weighted and 0 < count < unseen.population:
            beliefs = unseen.beliefs(matrix, oracle, known)
        pairs = unseen.draw(oracle, count, rng, beliefs)
        return cls(pairs, oracle.set_aside(pairs.rows, pairs.columns))

    def judge(
        self, matrix: Approximation, oracle: Oracle, interval: Interval = relative_error
    ) -> Verdict:
        """Estimate the error of one step's result."""
        known = oracle.known()
        i, j = self.pairs.rows, self.pairs.columns
        left = np.isnan(known.find(i, j))
        population = Unseen.of(oracle, known).population + int(left.sum())
        strata = []
        if left.any():
            i, j, values = i[left], j[left], self.values[left]
            sums = squared_residuals(matrix, i, j, values, both=oracle.symmetric)
            strata.append(Stratum(population, *sums, self.pairs.weights[left]))
        return combine(*evaluated_sums(matrix, known), strata, interval)


def judge_by_fresh_pairs(
    matrix: Approximation,
    oracle: Oracle,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    weighted: bool = True,
    ready: SingleArray | None = None,
    interval: Interval = relative_error,
) -> tuple[Verdict, Drawn]:
    """Estimate ‖K − K̃‖ / ‖K‖ over the whole matrix from pairs that are drawn now.

    What was evaluated is compared exactly; what was not is estimated from two strata, pairs of
    different items and items with themselves.

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
    ready : ndarray, optional
        Profiles of the items that are no landmarks, where a method has them already.
    interval : Interval
        How the estimate becomes an interval.

    Returns
    -------
    verdict : Verdict
    drawn : Drawn
        The pairs of different items that it rests on.
    """
    known = oracle.known()
    unseen = Unseen.of(oracle, known)
    A, B = evaluated_sums(matrix, known)
    hidden = _reserved_sums(matrix, oracle, unseen)
    on = min(len(unseen.own), max(_FEWEST_OWN, round(_DIAGONAL_SHARE * n_pairs)), n_pairs)
    if unseen.population < n_pairs - on:  # few pairs are left: the diagonal gets the rest
        on = min(len(unseen.own), n_pairs - unseen.population)
    count = min(unseen.population, n_pairs - on)
    beliefs = None
    if weighted and 0 < count < unseen.population:
        beliefs = unseen.beliefs(matrix, oracle, known, ready)
    pairs = unseen.draw(oracle, count, rng, beliefs)
    own = rng.permutation(unseen.own)[:on]
    strata = []
    for population, i, j, weights in (
        (unseen.population, pairs.rows, pairs.columns, pairs.weights),
        (len(unseen.own), own, own, np.ones(len(own))),
    ):
        if population and len(i):
            values = oracle.entries(i, j)
            sums = squared_residuals(matrix, i, j, values, both=oracle.symmetric)
            strata.append(Stratum(population, *sums, weights))
    return combine(A + hidden[0], B + hidden[1], strata, interval), pairs


def _reserved_sums(matrix: Approximation, oracle: Oracle, unseen: Unseen) -> tuple[float, float]:
    """Return the sums of r² and y² over pairs that were set aside and lie in nothing else."""
    i, j = _places(unseen.reserved, oracle.shape[1])
    values = oracle.entries(i, j)  # paid for
    residuals, squares = squared_residuals(matrix, i, j, values, both=oracle.symmetric)
    return float(residuals.sum()), float(squares.sum())


def _places(keys: IntArray, width: int) -> tuple[IntArray, IntArray]:
    return keys // width, keys % width
