"""How many landmarks: grow until the stated error is small enough, and say why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewpairs.errors import BudgetError, InputError
from fewpairs.factored.error import ErrorEstimate
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import assemble
from fewpairs.methods.error import Audit, estimate_error
from fewpairs.methods.fitted import Fitted, Step
from fewpairs.oracle.oracle import Oracle

#: Pairs set aside to judge every step by, and fresh ones to confirm a success.
AUDIT_PAIRS = 1000
_START = 0.01
_SMALLEST_STEP, _LARGEST_STEP = 1.05, 1.6
#: Growing by this factor must lower the error by this share, or the curve has flattened.
_FLAT_OVER, _FLAT_GAIN = 2.0, 0.05


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
        Pairs for judging, and again for confirming.
    """

    error: float
    most: int
    audit: int


def check_target(target: object) -> float:
    """Check a wanted error: a number between 0 and 1."""
    number = isinstance(target, (int, float, np.integer, np.floating))
    if not number or isinstance(target, bool) or not 0 < target < 1:  # type: ignore[operator]
        raise InputError(
            f"target_error is {target!r}.",
            "It is a relative error: 0 would need all pairs, 1 none.",
            "Pass a number between 0 and 1, for example 0.1.",
        )
    return float(target)  # type: ignore[arg-type]


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
    while True:
        step = method.grow(oracle, order[:count], rng, last=step)
        matrix = assemble(oracle, step.factors, "exact", title)
        if audit is None:
            audit = Audit.draw(matrix, oracle, target.audit, rng)
        matrix.error = audit.judge(matrix, oracle)
        curve.append(CurvePoint(oracle.evaluations, count, matrix.error))
        reason = None
        if matrix.error.high <= target.error:
            matrix.error = estimate_error(matrix, oracle, target.audit, rng)
            if matrix.error.high <= target.error:
                reason = "the target was reached"
        if reason is None and count == n:
            reason = "every item is a landmark"
        if reason is None and _flat(curve):
            reason = "the curve has flattened"
        if reason is None:
            larger = _next_count(oracle, method, curve, target, n)
            if larger == count:
                reason = "the budget is spent"
            count = larger
        if reason is not None:
            matrix.curve, matrix.stopped_because = curve, reason
            matrix.evaluations = oracle.evaluations
            return matrix


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
    oracle: Oracle, method: Fitted, curve: list[CurvePoint], target: Target, n: int
) -> int:
    """Aim at the target along the last slope, in steps that are neither tiny nor wild."""
    now = curve[-1]
    slope = 0.5
    if len(curve) > 1:
        last = curve[-2]
        fall = np.log(max(last.error.high, 1e-300) / max(now.error.high, 1e-300))
        slope = float(np.clip(fall / np.log(now.landmarks / last.landmarks), 0.3, 2.0))
    ratio = max(now.error.high / target.error, 1.0) ** (1 / slope)
    ratio = float(np.clip(ratio, _SMALLEST_STEP, _LARGEST_STEP))
    wanted = min(n, max(now.landmarks + 1, round(ratio * now.landmarks)))
    reserve = target.audit * oracle.planner.per_entry
    while wanted > now.landmarks:
        more = method.price(oracle.planner, wanted) - method.price(oracle.planner, now.landmarks)
        if oracle.evaluations + more + reserve <= target.most:
            return wanted
        wanted -= max(1, (wanted - now.landmarks) // 2)
    return now.landmarks
