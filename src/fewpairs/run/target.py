"""As many landmarks as a target error needs: grow, judge, and say why it ended."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.audit import judge
from fewpairs.error.estimate import CurvePoint
from fewpairs.errors import TargetMissedWarning, warn
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import Fit, Method, assemble
from fewpairs.numerics import most_affordable
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import memory_ceiling
from fewpairs.run.judging import TINY, Judges
from fewpairs.run.plan import Plan
from fewpairs.run.pricing import Target, peak_memory

REACHED = "the target was reached"
FULL = "no more columns fit under the memory ceiling"
#: Steps multiply the landmarks by something between these: smaller ones would not be seen through
#: the noise, larger ones trust a slope too far. They go half of the way that the curve so far
#: suggests: each step costs only arithmetic, and overshooting costs evaluations.
_SMALLEST_STEP, _LARGEST_STEP, _PART_OF_THE_WAY = 1.02, 1.4, 0.5
#: The error falls like a power of the landmarks, measured once they have grown by a stretch, and
#: between these. Steps take it to be at least the usual one, because noise makes curves look flat.
_FLATTEST, _USUAL_SLOPE, _STEEPEST, _STRETCH = 0.3, 0.5, 2.0, 1.25
#: Growing by this factor must lower the error by this share, or the curve has flattened: at such a
#: slope (0.04) any further halving of the error would cost ten million times as much. Unless what
#: is read becomes exact fast enough: with s columns (1 − s/n)² of all pairs are left, and more than
#: a tenth of them must be, or evaluating everything is the better way.
_FLAT_OVER, _FLAT_GAIN, _WORTH_LEAVING = 4.0, 0.06, 0.1


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
        With `curve`, and `stopped_because` saying which of the three it was. A run that has missed
        its target returns the step that was judged best, with everything that was evaluated.
    """
    method, count = plan.method, plan.n_landmarks
    n = len(order)
    judges = Judges(oracle, plan, target, rng)
    fit: Fit | None = None
    best: Fit | None = None
    least = np.inf
    curve: list[CurvePoint] = []
    room: int | None = None
    while True:
        fit = method.fit(oracle, order[:count], rng, room, last=fit)
        matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
        verdict = judges.of_step(matrix, fit, _slope(curve))
        if verdict.estimate.high <= target.error:
            verdict = judges.confirming(matrix, fit, verdict)
        error = verdict.estimate
        curve.append(CurvePoint(oracle.spent, count, error))
        fit = replace(fit, profiles=None)  # half an array less while the next step is made
        if error.value <= least:
            best, least = fit, error.value
        room = target.most - oracle.spent - target.audit * oracle.planner.per_entry
        price = partial(method.price_of_step, oracle.planner, fit, count)
        larger = most_affordable(price, _next_count(curve, target, n), room, least=count)
        memory = partial(_memory_of_step, oracle, method)
        fitting = most_affordable(memory, larger, memory_ceiling(), least=count)
        reason = (
            REACHED
            if error.high <= target.error
            else _end(curve, larger, n, target.error if plan.put_back else 0.0)
            or (FULL if fitting == count else "")
        )
        if reason:
            break
        count = fitting
    if reason == REACHED:
        verdict.warned()
    else:
        if best is not None and best is not fit:
            earlier = assemble(oracle, best, plan.title, put_back=plan.put_back)
            judged = judges.again(earlier)
            if judged.estimate.value < error.value:
                fit, matrix, error = best, earlier, judged.estimate
        warn(
            TargetMissedWarning(
                f"the target error {target.error:g} was not confirmed: {reason}; the error is "
                f"stated as {error.value:.3g} ({error.low:.3g} to {error.high:.3g})."
            )
        )
    if judges.audit is not None and (plan.fold or (plan.put_back and error.low == error.high)):
        # Its stated error is that of the result before; unless everything was evaluated by now.
        judges.audit.reveal(oracle)
        fit = method.refit(fit, judges.audit.pairs, judges.audit.values)
        matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
        if error.low == error.high:
            error = judge(matrix, oracle, judges.audit, plan.interval).estimate
    return matrix.judged(error, oracle.spent, curve=curve, stopped_because=reason)


def _memory_of_step(oracle: Oracle, method: Method, count: int) -> int:
    """Return the bytes of a further step: as for a run, and its columns twice more.

    While room is made for them they lie beside those of the step before, and some room is made
    ahead.
    """
    alone = peak_memory(method, oracle.planner, count, judged=True)
    return alone + 2 * method.memory(oracle.planner, count)


def _end(curve: list[CurvePoint], larger: int, n: int, target: float) -> str:
    """Say why a run must end before its target is reached; nothing if it need not.

    `target` is what exact entries may lead to, 0 where they are not put back.
    """
    count = curve[-1].landmarks
    if count == n:
        return "every item is a landmark"
    if _flat(curve, n, target):
        return "the curve has flattened"
    return "the budget is spent" if larger == count else ""


def _flat(curve: list[CurvePoint], n: int, target: float) -> bool:
    now = curve[-1]
    before = [p for p in curve if _FLAT_OVER * p.evaluations <= now.evaluations]
    if not before or now.error.value == 0:
        return False
    # The error of the rest stays what it is, and the rest becomes less.
    left = (1 - now.landmarks / n) * target / max(now.error.high, TINY)
    flat = now.error.value > (1 - _FLAT_GAIN) * before[-1].error.value
    return flat and left * left < _WORTH_LEAVING


def _next_count(curve: list[CurvePoint], target: Target, n: int) -> int:
    """Go part of the way to the target: steps cost no evaluations, overshooting does."""
    now = curve[-1]
    # In logarithms, because an error of 0 can be infinitely far from the target.
    fall = np.log(max(now.error.high, TINY)) - np.log(target.error)
    growth = max(fall, 0.0) * _PART_OF_THE_WAY / max(_slope(curve), _USUAL_SLOPE)
    ratio = float(np.exp(np.clip(growth, np.log(_SMALLEST_STEP), np.log(_LARGEST_STEP))))
    return min(n, max(now.landmarks + 1, round(ratio * now.landmarks)))


def _slope(curve: list[CurvePoint]) -> float:
    """Return how fast the error falls with landmarks, over a stretch that noise cannot hide."""
    if not curve:
        return _USUAL_SLOPE
    now = curve[-1]
    before = [p for p in curve if _STRETCH * p.landmarks <= now.landmarks]
    if not before:
        return _USUAL_SLOPE
    last = before[-1]
    fall = np.log(max(last.error.value, TINY)) - np.log(max(now.error.value, TINY))
    return float(np.clip(fall / np.log(now.landmarks / last.landmarks), _FLATTEST, _STEEPEST))
