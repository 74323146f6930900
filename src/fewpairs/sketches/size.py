"""How large a map should be: its degree, and its number of columns.

The bound of the paper's Lemma 4 proposes degrees, because it is cheap; maps of these degrees are
drawn, and sampled entries decide between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import ErrorEstimate, SketchPoint
from fewpairs.sketches.coreset import coreset
from fewpairs.sketches.families import Candidate, Families
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.functions import Function
from fewpairs.sketches.products import radius_of
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
#: Columns of the first attempt at a wanted error by the paper's sketch. From 5 on, results have 17
#: % fewer columns, and take longer; from 30 on they have twice as many.
_FIRST_COLUMNS = 9
#: From one attempt to the next, columns grow at least and at most by these factors. Smaller ones
#: take more attempts, larger ones more columns than are needed.
_SMALLEST_STEP, _LARGEST_STEP = 1.25, 4.0

#: Landmarks of the first attempt at a wanted error.
_FIRST_LANDMARKS = 64
#: Directions are kept until such a share of the wanted error is left, and landmarks are enough if
#: without them such a share of that is left: with fewer landmarks more directions are needed.
_AIM, _SHARE_OF_AIM = 0.93, 0.5
#: If a first degree is so many times worse than landmarks, no other is tried.
_HOPELESS = 5.0
REACHED = "the target was reached"

#: States the error of a map, each time from new entries.
State = Callable[[FeatureMap], ErrorEstimate]


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
        self._matrix = function, left, right
        self._n_centers, self._rng = options.n_centers, rng

    @cached_property
    def _sums(self) -> tuple[Regression, FloatArray]:
        """Sums of the coreset and penalties, when they are needed: landmarks may be enough."""
        function, left, right = self._matrix
        highest = DEGREES[-1]
        centers = coreset(left, right, self._n_centers, self._rng)
        sums = Regression.of(function, *centers, radius_of(left, right), highest)
        return sums, variances(left, right, highest, 1) / highest * self.sketched

    def bound(self, degree: int, size: int) -> float:
        """Return Lemma 4's bound on the relative error."""
        regression, unit_penalty = self._sums
        return regression.bound(unit_penalty[: degree + 1] * degree / size)

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


def choose_family(columns: int, families: Families, proposals: Proposals) -> Choice:
    """Return the best map of at most so many columns, from landmarks or of any degree.

    Parameters
    ----------
    columns : int
    families : Families
    proposals : Proposals

    Returns
    -------
    Choice
        Its curve ends with the best attempt.
    """
    found: list[Candidate] = []
    if families.has_landmarks:
        candidate, enough = families.landmarks(columns)
        found.append(candidate)
        if enough or not families.exact.has_polynomial:
            return _choice(columns, families, found)
    return _choice(columns, families, found + _polynomials(columns, families, proposals, found))


def choose_columns(
    target: float, most: int, families: Families, proposals: Proposals, state: State
) -> Choice:
    """Return a map with few columns, the whole interval of whose error is below the target.

    Parameters
    ----------
    target : float
    most : int
        Columns that may be tried.
    families : Families
    proposals : Proposals
    state : callable
        States the error of a map, each time from new entries.

    Returns
    -------
    Choice
    """
    attempts = _grow_landmarks if families.has_landmarks else _grow_sketches
    curve: list[SketchPoint] = []
    hint = Hint(target)
    for choice in attempts(hint, most, families, proposals):
        hint.stated = state(choice.feature_map)
        # The error that is stated rests on entries that had no part in the choice.
        curve += [*choice.curve[:-1], choice.curve[-1]._replace(error=hint.stated)]
        if hint.stated.high <= target:
            return Choice(choice.feature_map, hint.stated, curve, REACHED)
    return Choice(choice.feature_map, hint.stated, curve, f"{most} columns were not enough")


class Hint:
    """The wanted error, and what the last attempt came to."""

    def __init__(self, target: float) -> None:
        self.target = target
        self.stated = ErrorEstimate(np.inf, np.inf, np.inf, 0)


def _grow_landmarks(
    hint: Hint, most: int, families: Families, proposals: Proposals
) -> Iterator[Choice]:
    """Draw more and more landmarks, and of their directions as many as the target needs."""
    limit = families.n_landmarks(most)
    count = min(_FIRST_LANDMARKS, limit)
    while True:
        fit, whole = families.best_fit(count, count)
        aim = hint.target * _AIM
        # Of many landmarks few directions are enough; of few landmarks nearly all are needed.
        while count == limit or whole.error.value <= _SHARE_OF_AIM * aim:
            columns = min(most, families.needed(fit, whole, aim))
            yield _choice(columns, families, [families.cut(fit, columns)])
            if columns == min(most, fit.rank) or whole.error.value > aim:
                break
            aim *= min(_AIM, hint.target / hint.stated.high)
        if count == limit:
            break
        count = min(limit, 2 * count)
    if families.exact.has_polynomial:
        best = families.cut(fit, most)
        others = _polynomials(most, families, proposals, [best])
        yield _choice(most, families, [best, *others])


def _grow_sketches(
    hint: Hint, most: int, families: Families, proposals: Proposals
) -> Iterator[Choice]:
    """Sketch in more and more columns."""
    columns = min(_FIRST_COLUMNS, most)
    while True:
        yield choose_family(columns, families, proposals)
        if columns >= most:
            return
        # Errors fall about like one over the number of columns.
        step = np.clip(hint.stated.high / hint.target, _SMALLEST_STEP, _LARGEST_STEP)
        columns = min(most, int(np.ceil(columns * step)))


def _polynomials(
    columns: int, families: Families, proposals: Proposals, before: list[Candidate]
) -> list[Candidate]:
    """Try degrees; if the first is far behind what was found before, no others."""
    found: list[Candidate] = []
    for degree in proposals.degrees(columns) or [0]:
        size = max(1, (columns - 1) // max(1, degree))
        most = None if proposals.sketched else columns
        found.append(families.polynomial(degree, size, most))
        if before and found[-1].error.value > _HOPELESS * before[0].error.value:
            break
    return found


def _choice(columns: int, families: Families, found: list[Candidate]) -> Choice:
    best = min(range(len(found)), key=lambda k: found[k].error.value)
    chosen = families.guarded(found[best]) if families.has_landmarks else found[best]
    tried = [*found[:best], *found[best + 1 :], chosen]
    curve = [SketchPoint(columns, x.degree, x.size, x.error) for x in tried]
    return Choice(chosen.feature_map, None, curve, "")
