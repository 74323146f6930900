"""As many landmarks as a target error needs: grow, judge, and say why it ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.audit import Audit, draw_audit, judge
from fewpairs.error.estimate import CurvePoint
from fewpairs.errors import TargetMissedWarning, warn
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import Fit, Method, assemble
from fewpairs.numerics import most_affordable
from fewpairs.oracle.oracle import Oracle
from fewpairs.run.plan import Plan
from fewpairs.run.pricing import Target

REACHED = "the target was reached"
#: Steps multiply the landmarks by something between these: smaller ones would not be seen through
#: the noise, larger ones trust a slope too far. They go 0.7 of the way that the curve so far
#: suggests: each step costs only arithmetic, and overshooting costs evaluations.
_SMALLEST_STEP, _LARGEST_STEP, _PART_OF_THE_WAY = 1.03, 1.6, 0.7
#: The error is taken to fall at least like this power of the landmarks (the flattest curves of
#: benchmarks/matrix/target.py do), and not faster than its square; the slope is measured once
#: landmarks have grown by a stretch.
_USUAL_SLOPE, _STEEPEST, _STRETCH = 0.5, 2.0, 1.25
#: Growing by this factor must lower the error by this share, or the curve has flattened: at such a
#: slope (0.04) any further halving of the error would cost ten million times as much.
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
        matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
        if audit is None:
            audit = draw_audit(
                matrix, oracle, target.audit, rng, weighted=plan.weighted, ready=fit.profiles
            )
        verdict = judge(matrix, oracle, audit, plan.interval)
        error = verdict.estimate
        curve.append(CurvePoint(oracle.spent, count, error))
        n_fresh = _fresh_pairs(oracle, target)
        confirmed = error.value <= promising and n_fresh > 0
        if confirmed:
            fresh = draw_audit(
                matrix, oracle, n_fresh, rng, weighted=plan.weighted, ready=fit.profiles
            )
            verdict = judge(matrix, oracle, fresh, plan.interval)
            fresh.reveal(oracle)
            # The audit's error at which fresh pairs would probably confirm the target.
            fall = target.error / max(verdict.estimate.high, _TINY)
            promising = max(error.value, _TINY) * fall
            error = verdict.estimate
        fit = replace(fit, profiles=None)  # half an array less while the next step is made
        larger = _next_count(oracle, method, curve, promising, target, n)
        reached = confirmed and error.high <= target.error
        reason = REACHED if reached else _end(curve, larger, n)
        if reason:
            break
        count = larger
    if reason == REACHED:
        verdict.warned()
    else:
        warn(
            TargetMissedWarning(
                f"the target error {target.error:g} was not confirmed: {reason}; the error is "
                f"stated as {error.value:.3g} ({error.low:.3g} to {error.high:.3g})."
            )
        )
    if plan.fold:
        # Its stated error is that of the result before.
        audit.reveal(oracle)
        fit = method.refit(fit, audit.pairs, audit.values)
        matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
    return matrix.judged(error, oracle.spent, curve=curve, stopped_because=reason)


def _fresh_pairs(oracle: Oracle, target: Target) -> int:
    """Return how many fresh pairs confirm a success, as far as the budget goes.

    With B evaluations spent and m pairs the interval is about 1/√m wide on a log scale, and closing
    it with columns takes about B/√m more evaluations: B/√m + m is least at m = (B/2)^⅔. It is flat
    around that, and B^⅔ is taken, because a narrow interval is of use to the reader as well.
    """
    per_entry = oracle.planner.per_entry
    wanted = max(target.audit, int((oracle.spent / per_entry) ** (2 / 3)))
    left = (target.most - oracle.spent) // per_entry
    return wanted if left >= wanted else left if left >= target.audit else 0


def _end(curve: list[CurvePoint], larger: int, n: int) -> str:
    """Say why a run must end before its target is reached; nothing if it need not."""
    count = curve[-1].landmarks
    if count == n:
        return "every item is a landmark"
    if _flat(curve):
        return "the curve has flattened"
    return "the budget is spent" if larger == count else ""


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
    planner = oracle.planner
    room = target.most - oracle.spent - target.audit * planner.per_entry
    paid = method.price(planner, now.landmarks)
    return most_affordable(
        lambda count: method.price(planner, count) - paid, wanted, room, least=now.landmarks
    )


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
    return float(np.clip(fall / np.log(now.landmarks / last.landmarks), _USUAL_SLOPE, _STEEPEST))
