"""How far a result is off, judged by pairs that it was not made of; docs/error.md has the formulas.

Letters: in stratum h there are N_h unseen entries, of which m_h were drawn with weights w (the
inverse of their probabilities, ω = w/Σw), squared residuals r² and squared values y².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import Interval, Verdict, relative_error
from fewpairs.error.missed import missed_mass, vouched, widened
from fewpairs.error.sampling import Drawn
from fewpairs.error.tails import DrawnPairs
from fewpairs.error.unseen import Approximation, Unseen, evaluated_sums, squared_residuals
from fewpairs.oracle.known import Known
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
        Inverse probabilities, with a mean of about 1; all 1 for a uniform audit.
    chances : ndarray
        Probabilities with which the pairs were drawn.
    """

    population: int
    residuals: FloatArray
    squares: FloatArray
    weights: FloatArray
    chances: FloatArray

    def total(self, values: FloatArray) -> float:
        """Estimate the sum over the population: N_h·Σωv, or Σv if all of it was drawn."""
        if len(values) == self.population:
            return float(values.sum())
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
        spread = np.sqrt((1 - np.minimum(1, self.chances)) * drawn / (drawn - 1))
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
    """Pairs that were drawn to judge by, and what they are.

    Attributes
    ----------
    pairs, values
        Pairs of two different items.
    own, own_values
        Items with themselves.
    stands_for
        How many pairs each of the pairs stands for in a sum over all that were unseen.
    chances
        Probabilities with which the pairs were drawn.
    """

    pairs: Drawn
    values: FloatArray
    own: IntArray
    own_values: FloatArray
    stands_for: FloatArray
    chances: FloatArray

    def joined(self, more: Audit) -> Audit:
        """Return one sample of both, where `more` was drawn from what this one has left.

        A sum over all pairs is estimated in two ways: by the first draw, and by the first pairs as
        they are with the second draw for the rest. Both are averaged, each counting by its pairs.
        """
        count = len(self.values) + len(more.values)
        share = len(self.values) / max(count, 1)
        stands_for = np.concatenate(
            [share * self.stands_for + (1 - share), (1 - share) * more.stands_for]
        )
        pairs = Drawn(
            np.concatenate([self.pairs.rows, more.pairs.rows]),
            np.concatenate([self.pairs.columns, more.pairs.columns]),
            stands_for * count / max(float(stands_for.sum()), 1.0),
        )
        return Audit(
            pairs,
            np.concatenate([self.values, more.values]),
            np.concatenate([self.own, more.own]),
            np.concatenate([self.own_values, more.own_values]),
            stands_for,
            np.concatenate([self.chances, more.chances]),
        )

    def reveal(self, oracle: Oracle) -> None:
        """Let methods and results use these entries: they judge no longer."""
        oracle.reveal(self.pairs.rows, self.pairs.columns)
        oracle.reveal(self.own, self.own)

    def strata(self, matrix: Approximation, known: Known, unseen: Unseen) -> list[Stratum]:
        """Return the strata of what no later step has read, with the unseen entries around it."""
        strata = []
        of_pairs = np.isnan(known.find(self.pairs.rows, self.pairs.columns))
        of_own = np.isnan(known.find(self.own, self.own))
        own = np.ones(int(of_own.sum()))
        n_own = len(unseen.own) + len(own)
        for population, i, j, values, weights, chances in (
            (
                unseen.population + int(of_pairs.sum()),
                self.pairs.rows[of_pairs],
                self.pairs.columns[of_pairs],
                self.values[of_pairs],
                self.pairs.weights[of_pairs],
                self.chances[of_pairs],
            ),
            (
                n_own,
                self.own[of_own],
                self.own[of_own],
                self.own_values[of_own],
                own,
                own * len(own) / max(n_own, 1),
            ),
        ):
            if len(i):
                sums = squared_residuals(matrix, i, j, values, both=known.symmetric)
                strata.append(Stratum(population, *sums, weights, chances))
        return strata


def draw_audit(
    matrix: Approximation,
    oracle: Oracle,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    weighted: bool = True,
    ready: SingleArray | None = None,
) -> Audit:
    """Draw unseen entries by what a result says of them, and evaluate them where no method sees.

    Parameters
    ----------
    matrix : FactoredMatrix
    oracle : Oracle
        With the memory of the run.
    n_pairs : int
        Entries to evaluate; fewer if there are fewer.
    rng : numpy.random.Generator
    weighted : bool, default=True
        Draw pairs that may matter more often; False draws uniformly.
    ready : ndarray, optional
        Profiles of the items that are no landmarks, where a method has them already.

    Returns
    -------
    Audit
    """
    known = oracle.known()
    unseen = Unseen.of(oracle, known)
    on = min(len(unseen.own), max(_FEWEST_OWN, round(_DIAGONAL_SHARE * n_pairs)), n_pairs)
    if unseen.population < n_pairs - on:  # few pairs are left: the diagonal gets the rest
        on = min(len(unseen.own), n_pairs - unseen.population)
    count = min(unseen.population, n_pairs - on)
    beliefs = None
    if weighted and 0 < count < unseen.population:
        beliefs = unseen.beliefs(matrix, oracle, known, ready)
    pairs = unseen.draw(oracle, count, rng, beliefs)
    own = rng.permutation(unseen.own)[:on]
    values = oracle.set_aside(pairs.rows, pairs.columns)
    stands_for = pairs.weights * unseen.population / max(len(values), 1)
    own_values = oracle.set_aside(own, own)
    return Audit(pairs, values, own, own_values, stands_for, 1 / stands_for)


def judge(
    matrix: Approximation, oracle: Oracle, audit: Audit, interval: Interval = relative_error
) -> Verdict:
    """Estimate ‖K − K̃‖ / ‖K‖ over the whole matrix.

    What was evaluated is compared exactly; what was not is estimated from two strata, pairs of
    different items and items with themselves. Entries of the audit that a later step of the run
    has read in a column drop out; the others remain a sample, with the same weights, of what is
    still unseen. What other audits have set aside is known, to the judge.

    Parameters
    ----------
    matrix : FactoredMatrix
    oracle : Oracle
        With the memory of the run.
    audit : Audit
    interval : Interval
        How the estimate becomes an interval.

    Returns
    -------
    Verdict
    """
    known = oracle.known()
    unseen = Unseen.of(oracle, known)
    A, B = evaluated_sums(matrix, known)
    if len(skipped := oracle.skipped):  # what stands in for them was not evaluated
        i, j = skipped[known.in_lines(*skipped.T)].T
        of_holes = squared_residuals(matrix, i, j, known.find(i, j), both=oracle.symmetric)
        A, B = (max(0.0, x - float(y.sum())) for x, y in zip((A, B), of_holes, strict=True))
    mine = np.concatenate(
        [
            known.keys_of(audit.pairs.rows, audit.pairs.columns),
            known.keys_of(audit.own, audit.own),
        ]
    )
    i, j = known.places_of(np.setdiff1d(unseen.reserved, mine))
    others = squared_residuals(matrix, i, j, oracle.entries(i, j), both=oracle.symmetric)
    A, B = A + float(others[0].sum()), B + float(others[1].sum())
    return verdict_of(matrix, known, unseen, audit, (A, B), interval)


def verdict_of(
    matrix: Approximation,
    known: Known,
    unseen: Unseen,
    audit: Audit,
    sums: tuple[float, float],
    interval: Interval = relative_error,
) -> Verdict:
    """State the error, given A and B over all that is known; `unseen` is without the audit."""
    A, B = sums
    strata = audit.strata(matrix, known, unseen)
    verdict = combine(A, B, strata, interval)
    B += sum(stratum.total(stratum.squares) for stratum in strata)
    left = np.isnan(known.find(audit.pairs.rows, audit.pairs.columns))
    n_left = unseen.population + int(left.sum())
    if n_left and not left.any():  # pairs are unseen, and none was drawn: nobody can tell
        value, n_pairs = verdict.estimate.value, verdict.estimate.n_pairs
        return Verdict(ErrorEstimate(value, 0.0, np.inf, n_pairs), 0.0)
    if n_left == int(left.sum()):  # all that is unseen was drawn
        return verdict
    if B == 0:  # nothing but zeros was seen, and the rest may be anything: then nothing was found
        return Verdict(ErrorEstimate(verdict.estimate.value, 0.0, 1.0, len(left)), verdict.carrying)
    # Pairs of different items are the first stratum.
    drawn = DrawnPairs(
        np.nan_to_num(audit.values[left], nan=0.0), audit.stands_for[left], strata[0].residuals
    )
    missed = missed_mass(known, unseen, drawn, verdict.estimate.high * verdict.estimate.high * B)
    wide = widened(verdict, B, missed)
    return vouched(wide, B, len(drawn.values), lambda: unseen.predicted_squares(matrix))
