"""As many landmarks as a target error needs: grow, judge, and say why it ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.audit import Audit, judge_by_fresh_pairs
from fewpairs.error.estimate import CurvePoint
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import Fit, Method, assemble
from fewpairs.oracle.oracle import Oracle
from fewpairs.run.plan import Plan
from fewpairs.run.pricing import Target

#: Steps multiply the landmarks by something between these. They go 0.7 of the way that the curve
#: so far suggests: each step costs only arithmetic, and overshooting costs evaluations.
_SMALLEST_STEP, _LARGEST_STEP, _PART_OF_THE_WAY = 1.03, 1.6, 0.7
#: The error is taken to fall at least like this power of the landmarks (the flattest curves of
#: benchmarks/matrix/target.py do); a slope is measured once landmarks have grown by a stretch.
_USUAL_SLOPE, _STRETCH = 0.5, 1.25
#: Growing by this factor must lower the error by this share, or the curve has flattened.
_FLAT_OVER, _FLAT_GAIN = 2.0, 0.03
#: Keeps quotients of errors finite.
_TINY = 1e-300


def grow_to_target(
    oracle: Oracle, plan: Plan, target: Target, order: IntArray, rng: np.random.Generator
) -> FactoredMatrix:
    """Add landmarks, reusing every evaluation, until the target, a flat curve, or the budget.

    Parameters
    ----------
    oracle : Oracle
    plan : Plan
        Its number of landmarks is that of the first step.
    target : Target
    order : ndarray
        All items, in the order in which they become landmarks.
    rng : numpy.random.Generator

    Returns
    -------
    FactoredMatrix
        With `curve`, and `stopped_because` saying which of the three it was.
    """
    method, count = plan.method, plan.n_landmarks
    n = len(order)
    audit: Audit | None = None
    fit: Fit | None = None
    curve: list[CurvePoint] = []
    promising = target.error
    while True:
        fit = method.fit(oracle, order[:count], rng, last=fit)
        matrix = assemble(oracle, fit, plan.known, plan.title)
        if audit is None:
            audit = Audit.draw(matrix, oracle, target.audit, rng, weighted=plan.weighted)
        verdict = audit.judge(matrix, oracle, plan.interval)
        error = verdict.estimate
        curve.append(CurvePoint(oracle.spent, count, error))
        fresh = _fresh_pairs(oracle, target)
        confirmed = error.value <= promising and fresh > 0
        if confirmed:
            verdict, _ = judge_by_fresh_pairs(
                matrix,
                oracle,
                fresh,
                rng,
                weighted=plan.weighted,
                ready=fit.profiles,
                interval=plan.interval,
            )
            # Where the audit must get for fresh pairs to agree.
            fall = target.error / max(verdict.estimate.high, _TINY)
            promising = max(error.value, _TINY) * fall
            error = verdict.estimate
        fit = replace(fit, profiles=None)  # half an array less while the next step is made
        larger = _next_count(oracle, method, curve, promising, target, n)
        reason = ""
        if confirmed and error.high <= target.error:
            verdict.warned()
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
    if plan.fold:
        # Its stated error is that of the result before.
        oracle.reveal()
        fit = method.refit(fit, audit.pairs, audit.values)
        matrix = assemble(oracle, fit, plan.known, plan.title)
    return matrix.judged(error, oracle.evaluations, curve=curve, stopped_because=reason)


def _fresh_pairs(oracle: Oracle, target: Target) -> int:
    """Return how many fresh pairs confirm a success, as far as the budget goes.

    With B evaluations spent and m pairs the interval is about 1/√m wide on a log scale, and closing
    it takes about B/√m more columns' worth: B/√m + m is least at m = (B/2)^⅔, and flat around it.
    """
    per_entry = oracle.planner.per_entry
    wanted = max(target.audit, int((oracle.spent / per_entry) ** (2 / 3)))
    left = (target.most - oracle.spent) // per_entry
    return wanted if left >= wanted else left if left >= target.audit else 0


def _flat(curve: list[CurvePoint]) -> bool:
    now = curve[-1]
    before = [p for p in curve if _FLAT_OVER * p.evaluations <= now.evaluations]
    if not before or now.error.value == 0:
        return False
    return now.error.value > (1 - _FLAT_GAIN) * before[-1].error.value


def _next_count(
    oracle: Oracle,
    method: Method,
    curve: list[CurvePoint],
    promising: float,
    target: Target,
    n: int,
) -> int:
    """Go part of the way to a promising error: steps cost no evaluations, overshooting does."""
    now = curve[-1]
    # In logarithms, because an error of 0 can be infinitely far from what is promising.
    fall = np.log(max(now.error.value, _TINY)) - np.log(max(promising, _TINY))
    growth = max(fall, 0.0) * _PART_OF_THE_WAY / _slope(curve)
    ratio = float(np.exp(np.clip(growth, np.log(_SMALLEST_STEP), np.log(_LARGEST_STEP))))
    wanted = min(n, max(now.landmarks + 1, round(ratio * now.landmarks)))
    reserve = target.audit * oracle.planner.per_entry
    while wanted > now.landmarks:
        more = method.price(oracle.planner, wanted) - method.price(oracle.planner, now.landmarks)
        if oracle.spent + more + reserve <= target.most:
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
    fall = np.log(max(last.error.value, _TINY)) - np.log(max(now.error.value, _TINY))
    return float(np.clip(fall / np.log(now.landmarks / last.landmarks), _USUAL_SLOPE, 2.0))
