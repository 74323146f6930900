"""How many landmarks: grow until the stated error is small enough, and say why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewpairs.error.estimate import ErrorEstimate
from fewpairs.errors import BudgetError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import assemble
from fewpairs.methods.error import Audit, verdict
from fewpairs.methods.fitted import Fitted, Step
from fewpairs.methods.pairs import Drawn
from fewpairs.oracle.oracle import Oracle

#: Pairs set aside to judge every step by; at least as many fresh ones confirm a success.
AUDIT_PAIRS = 1000
_FRESH = 1.0
#: The audit must be this far below the target before fresh pairs are bought to confirm it.
_PROMISING = 1.0
_START = 0.01
_SMALLEST_STEP, _LARGEST_STEP, _PART_OF_THE_WAY = 1.03, 1.6, 0.7
#: Errors fall at least like this power of the landmarks; measured where these grow by a stretch.
_USUAL_SLOPE, _STRETCH = 0.5, 1.25
#: Growing by this factor must lower the error by this share, or the curve has flattened.
_FLAT_OVER, _FLAT_GAIN = 2.0, 0.03


class CurvePoint(NamedTuple):
    """One step: what had been spent, on how many landmarks, and the error then."""

    evaluations: int
    landmarks: int
    error: ErrorEstimate


@dataclass(frozen=True)
class Target:
    """What to reach, and what may be spent on it.

    Parameters
    ----------
    error : float
        The upper end of the error's interval must get below this.
    most : int
        Evaluations that may be spent in all.
    audit : int
        Pairs for judging; at least as many again for confirming.
    fold : bool
        Whether the judging pairs are used in the result when it is all over.
    """

    error: float
    most: int
    audit: int
    fold: bool = False


def grow_to(
    oracle: Oracle, method: Fitted, target: Target, rng: np.random.Generator, title: str
) -> FactoredMatrix:
    """Add landmarks, reusing every evaluation, until the target, a flat curve, or the budget.

    Parameters
    ----------
    oracle : Oracle
    method : Fitted
    target : Target
    rng : numpy.random.Generator
    title : str

    Returns
    -------
    FactoredMatrix
        With `curve`, and `stopped_because` saying which of the three it was.
    """
    n = min(oracle.shape)
    order = rng.permutation(oracle.shape[1])
    count = _first_count(oracle, method, target, n)
    audit: Audit | None = None
    step: Step | None = None
    curve: list[CurvePoint] = []
    promising = _PROMISING * target.error
    while True:
        step = method.grow(oracle, order[:count], rng, last=step)
        matrix = assemble(oracle, step.factors, "exact", title)
        if audit is None:
            audit = Audit.draw(matrix, oracle, target.audit, rng)
        judged = matrix.error = audit.judge(matrix, oracle)
        curve.append(CurvePoint(oracle.evaluations, count, judged))
        fresh = _fresh_pairs(oracle, target)
        if judged.value <= promising and fresh:
            confirmation = verdict(matrix, oracle, fresh, rng)
            matrix.error = confirmation.estimate
            # Where the audit must get for fresh pairs to agree.
            promising = max(judged.value, 1e-300) * target.error / max(matrix.error.high, 1e-300)
        larger = _next_count(oracle, method, curve, promising, target, n)
        reason = ""
        if matrix.error is not judged and matrix.error.high <= target.error:
            confirmation.warned()
            reason = "the target was reached"
        elif count == n:
            reason = "every item is a landmark"
        elif _flat(curve):
            reason = "the curve has flattened"
        elif larger == count:
            reason = "the budget is spent"
        if reason:
            break
        count = larger
    if target.fold:
        matrix = _folded(matrix, oracle, method, step, audit, title)
    matrix.curve, matrix.stopped_because = curve, reason
    matrix.evaluations = oracle.evaluations
    return matrix


def _folded(
    matrix: FactoredMatrix, oracle: Oracle, method: Fitted, step: Step, audit: Audit, title: str
) -> FactoredMatrix:
    """Use the audit's pairs in the result; its stated error is that of the one before."""
    oracle.memory.reveal()
    drawn = Drawn(audit.rows, audit.columns, audit.weights)
    better = assemble(oracle, method.tuned_further(step, drawn).factors, "exact", title)
    better.error = matrix.error
    return better


def _fresh_pairs(oracle: Oracle, target: Target) -> int:
    """Return how many fresh pairs confirm a success, as far as the budget goes.

    Their number balances what they cost against what a wide interval costs in landmarks.
    """
    per_entry = oracle.planner.per_entry
    wanted = max(target.audit, int((_FRESH * oracle.evaluations / per_entry) ** (2 / 3)))
    left = (target.most - oracle.evaluations) // per_entry
    return wanted if left >= wanted else left if left >= target.audit else 0


def _first_count(oracle: Oracle, method: Fitted, target: Target, n: int) -> int:
    """Start small, and inside the budget."""
    planner = oracle.planner
    judging = 2 * target.audit * planner.per_entry
    count = int(np.clip(round(_START * n), min(10, n), n))
    while count > 1 and method.price(planner, count) + judging > target.most:
        count -= 1
    least = method.price(planner, count) + judging
    if least > target.most:
        raise BudgetError(
            f"a budget of {target.most:,} evaluations is less than the {least:,} that a first "
            "step costs.",
            "It reads one column and judges the result twice.",
            "Raise the budget, or leave target_error out.",
        )
    return count


def _flat(curve: list[CurvePoint]) -> bool:
    now = curve[-1]
    before = [p for p in curve if _FLAT_OVER * p.evaluations <= now.evaluations]
    if not before or now.error.value == 0:
        return False
    return now.error.value > (1 - _FLAT_GAIN) * before[-1].error.value


def _next_count(
    oracle: Oracle,
    method: Fitted,
    curve: list[CurvePoint],
    promising: float,
    target: Target,
    n: int,
) -> int:
    """Go part of the way to a promising error: steps cost no evaluations, overshooting does."""
    now = curve[-1]
    ratio = max(now.error.value / promising, 1.0) ** (_PART_OF_THE_WAY / _slope(curve))
    ratio = float(np.clip(ratio, _SMALLEST_STEP, _LARGEST_STEP))
    wanted = min(n, max(now.landmarks + 1, round(ratio * now.landmarks)))
    reserve = target.audit * oracle.planner.per_entry
    while wanted > now.landmarks:
        more = method.price(oracle.planner, wanted) - method.price(oracle.planner, now.landmarks)
        if oracle.evaluations + more + reserve <= target.most:
            return wanted
        wanted -= max(1, (wanted - now.landmarks) // 2)
    return now.landmarks


def _slope(curve: list[CurvePoint]) -> float:
    """Return how fast the error falls with landmarks, over a stretch that noise cannot hide.

    The same pairs judged both ends, so their ratio is much surer than either.
    """
    now = curve[-1]
    before = [p for p in curve if _STRETCH * p.landmarks <= now.landmarks]
    if not before:
        return _USUAL_SLOPE
    last = before[-1]
    fall = np.log(max(last.error.value, 1e-300) / max(now.error.value, 1e-300))
    return float(np.clip(fall / np.log(now.landmarks / last.landmarks), _USUAL_SLOPE, 2.0))
