"""How large a map should be: its degree, and its number of columns.

The bound of the paper's Lemma 4 proposes degrees, because it is cheap; maps of these degrees are
drawn, and sampled entries decide between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fewpairs.error.estimate import ErrorEstimate, SketchPoint
from fewpairs.sketches.coreset import coreset
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.products import Function, radius_of
from fewpairs.sketches.regression import Regression, variances

# Errors and columns below are of the data of benchmarks/sketches/sketch_target.py.
#: Degrees that are thought of. They lie closer together where one more degree changes more.
DEGREES = (1, 2, 3, 4, 6, 8, 10, 14, 20)
#: Degrees that are tried, where the bound ranks them. The first alone can be 3 times worse than the
#: best; more than two are hardly ever better.
_TRIED_DEGREES = 3
#: A polynomial is good enough if its own bound is below this error, or below this share of a wanted
#: one; and if it is at most this many times the smallest bound. Ten times larger or smaller errors
#: make the results 1 to 2 % worse.
_GOOD_ENOUGH, _SHARE_OF_TARGET, _NEAR_BEST = 1e-3, 1 / 3, 1.5
#: Columns of the first attempt at a wanted error. From 5 on, results have 17 % fewer columns, and
#: take longer; from 30 on they have twice as many.
_FIRST_COLUMNS = 9
#: From one attempt to the next, columns grow at least and at most by these factors. Smaller ones
#: take more attempts, larger ones more columns than are needed.
_SMALLEST_STEP, _LARGEST_STEP = 1.25, 4.0

#: Draws a map, given its degree, its sketch size and the most columns that it may have.
Draw = Callable[[int, int, int | None], FeatureMap]
#: Estimates the error of a map, each time from new entries.
Estimate = Callable[[FeatureMap], ErrorEstimate]


class Choice(NamedTuple):
    """The map that was chosen.

    Attributes
    ----------
    feature_map : FeatureMap
    error : ErrorEstimate or None
        From entries that had no part in the choice.
    curve : list of SketchPoint
        All attempts.
    stopped_because : str
        Why there were no more of them.
    """

    feature_map: FeatureMap
    error: ErrorEstimate | None
    curve: list[SketchPoint]
    stopped_because: str


class Proposals:
    """Degrees that are worth trying, by Lemma 4's bound.

    The sums of the coreset are taken once, for the highest degree. Where the heaviest terms are
    exact, the variance of sketches does not count, and bounds only fall with the degree. Then the
    two lowest degrees that are good enough are proposed, and the highest of all.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
    options : SketchOptions
    target : float or None
        The error that is wanted.
    rng : numpy Generator

    Attributes
    ----------
    sketched : bool
        Whether most terms are sketches, whose variance counts.
    """

    def __init__(
        self,
        function: Function,
        left: Any,
        right: Any,
        options: SketchOptions,
        target: float | None,
        rng: np.random.Generator,
    ) -> None:
        self.sketched = options.coefficients != "tuned" or not options.exact_terms
        self._good_enough = _GOOD_ENOUGH if target is None else target * _SHARE_OF_TARGET
        highest = DEGREES[-1]
        centers = coreset(left, right, options.n_centers, rng)
        self._regression = Regression.of(function, *centers, radius_of(left, right), highest)
        self._unit_penalty = variances(left, right, highest, 1) / highest * self.sketched

    def bound(self, degree: int, size: int) -> float:
        """Return Lemma 4's bound on the relative error."""
        return self._regression.bound(self._unit_penalty[: degree + 1] * degree / size)

    def degrees(self, columns: int) -> list[int]:
        """Return the degrees to try for a number of columns."""
        possible = [degree for degree in DEGREES if degree < columns]
        bounds = {degree: self.bound(degree, (columns - 1) // degree) for degree in possible}
        ranked = sorted(possible, key=lambda degree: bounds[degree])
        if self.sketched or not possible:
            return ranked[:_TRIED_DEGREES]
        limit = max(self._good_enough, _NEAR_BEST * bounds[ranked[0]])
        good = [degree for degree in possible if bounds[degree] <= limit]
        return list(dict.fromkeys([*good[:2], possible[-1]]))


def choose_degree(
    columns: int,
    proposals: Proposals,
    draw: Draw,
    estimate: Estimate,
    before: int | None = None,
) -> Choice:
    """Return the best map of at most so many columns.

    Parameters
    ----------
    columns : int
    proposals : Proposals
    draw, estimate : callable
    before : int, optional
        The degree that was best with fewer columns: only one other is tried beside it.

    Returns
    -------
    Choice
        Its curve ends with the best attempt.
    """
    degrees = proposals.degrees(columns) or [0]
    if before is not None:
        degrees = list(dict.fromkeys([before, degrees[0] if proposals.sketched else degrees[-1]]))
    curve, maps = [], []
    for degree in degrees:
        size = max(1, (columns - 1) // max(1, degree))
        maps.append(draw(degree, size, None if proposals.sketched else columns))
        curve.append(SketchPoint(columns, degree, size, estimate(maps[-1])))
    best = min(range(len(curve)), key=lambda k: curve[k].error.value)
    # The best of a few estimates is too low on average: new entries have no part in the choice.
    error = estimate(maps[best])
    return Choice(maps[best], error, [*curve[:best], *curve[best + 1 :], curve[best]], "")


def choose_columns(
    target: float, most: int, proposals: Proposals, draw: Draw, estimate: Estimate
) -> Choice:
    """Return a map with few columns, the whole interval of whose error is below the target.

    Parameters
    ----------
    target : float
    most : int
        Columns that may be tried.
    proposals : Proposals
    draw, estimate : callable

    Returns
    -------
    Choice
    """
    columns, before = min(_FIRST_COLUMNS, most), None
    curve: list[SketchPoint] = []
    while True:
        choice = choose_degree(columns, proposals, draw, estimate, before)
        curve += choice.curve
        error = choice.error
        if error is None or error.high <= target:
            return Choice(choice.feature_map, error, curve, "the target was reached")
        if columns >= most:
            return Choice(choice.feature_map, error, curve, f"{most} columns were not enough")
        # Errors fall about like one over the number of columns.
        step = np.clip(error.high / target, _SMALLEST_STEP, _LARGEST_STEP)
        columns = min(most, int(np.ceil(columns * step)))
        before = curve[-1].degree
