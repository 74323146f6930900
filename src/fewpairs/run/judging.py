"""The pairs that judge every step to a target error, and how many of them are worth buying."""

from __future__ import annotations

import numpy as np

from fewpairs.error.audit import Audit, draw_audit, judge
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.error.interval import Verdict
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import Fit
from fewpairs.oracle.oracle import Oracle
from fewpairs.run.plan import Plan
from fewpairs.run.pricing import Target

#: An interval of a relative error from m pairs has a half-width of about 2/√m on ordinary matrices,
#: and more where few pairs carry the error; more pairs would not help where it is wider than this.
_WIDTHS = (1.0, 6.0)
#: A success is confirmed by a quarter as many fresh pairs as have judged so far. Most claims
#: are true with these (docs/tables/target.md); half as many cost runs that had to confirm twice up
#: to a tenth more.
_CONFIRMING = 0.25
#: Keeps quotients of errors finite.
TINY = 1e-300


class Judges:
    """One sample of pairs that no step sees, and that grows with what is spent.

    It judges all steps, so what chance makes of it is nearly the same throughout. A run ends when
    it looks well, which flatters the result a little; so fresh pairs join before it is believed.

    Parameters
    ----------
    oracle : Oracle
    plan : Plan
    target : Target
    rng : numpy.random.Generator

    Attributes
    ----------
    audit : Audit or None
        The pairs so far.
    """

    def __init__(
        self, oracle: Oracle, plan: Plan, target: Target, rng: np.random.Generator
    ) -> None:
        self.oracle, self.plan, self.target, self.rng = oracle, plan, target, rng
        self.audit: Audit | None = None

    def of_step(self, matrix: FactoredMatrix, fit: Fit, slope: float) -> Verdict:
        """Judge a step by the pairs of the steps before, and by as many more as are worth it.

        Parameters
        ----------
        matrix : FactoredMatrix
        fit : Fit
            That it was made of.
        slope : float
            The error falls like this power of what is spent.

        Returns
        -------
        Verdict
        """
        if self.audit is None:
            return self._with_more(matrix, fit, self.target.audit)
        verdict = self._verdict(matrix, self.audit)
        more = self._affordable(self._wanted(verdict.estimate, slope) - verdict.estimate.n_pairs)
        return self._with_more(matrix, fit, more) if more else verdict

    def confirming(self, matrix: FactoredMatrix, fit: Fit, verdict: Verdict) -> Verdict:
        """Judge a success again, with fresh pairs among those that judged it."""
        more = self._affordable(int(_CONFIRMING * verdict.estimate.n_pairs))
        return self._with_more(matrix, fit, more) if more else verdict

    def again(self, matrix: FactoredMatrix) -> Verdict:
        """Judge a step once more, by the pairs that judged the last one."""
        assert self.audit is not None  # noqa: S101 - every step is judged
        return self._verdict(matrix, self.audit)

    def _wanted(self, now: ErrorEstimate, slope: float) -> int:
        """Return how many pairs should judge.

        m pairs give an interval of c/√m on a log scale, and closing it with landmarks takes
        B·c/√m/slope more evaluations, with B spent. The sum of that and of m is least at
        m = (c·B/2/slope)^⅔.
        """
        width = np.log(max(now.high, TINY)) - np.log(max(now.value, TINY))
        width = float(np.clip(width * np.sqrt(max(now.n_pairs, 1)), *_WIDTHS))
        spent = self.oracle.spent / self.oracle.planner.per_entry
        return int((width * spent / 2 / slope) ** (2 / 3))

    def _affordable(self, pairs: int) -> int:
        left = (self.target.most - self.oracle.spent) // self.oracle.planner.per_entry
        return max(0, min(pairs, left))

    def _with_more(self, matrix: FactoredMatrix, fit: Fit, count: int) -> Verdict:
        drawn = draw_audit(
            matrix, self.oracle, count, self.rng, weighted=self.plan.weighted, ready=fit.profiles
        )
        self.audit = drawn if self.audit is None else self.audit.joined(drawn)
        return self._verdict(matrix, self.audit)

    def _verdict(self, matrix: FactoredMatrix, audit: Audit) -> Verdict:
        return judge(matrix, self.oracle, audit, self.plan.interval)
