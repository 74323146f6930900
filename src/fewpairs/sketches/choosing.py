"""Which degree, and how many columns: Lemma 4 proposes, sampled entries decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fewpairs.error.estimate import ErrorEstimate
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.products import Function, radius_of
from fewpairs.sketches.regression import Regression, coreset, variances

#: Degrees that are thought of, and how many of them are tried.
DEGREES = (1, 2, 3, 4, 6, 8, 10, 14, 20)
_TRIED = 3
#: Where no error is asked for, a polynomial with this one is good enough.
_ENOUGH = 1e-3
#: Columns of the first attempt; each next one has so many times as many, at least and at most.
_START, _SMALLEST_STEP, _LARGEST_STEP = 9, 1.25, 4.0

#: Draws a map of a degree, a size and at most so many columns; estimates its error.
Draw = Callable[[int, int, int | None], FeatureMap]
Judge = Callable[[FeatureMap], ErrorEstimate]


class SketchPoint(NamedTuple):
    """One attempt: the columns that it was allowed, its degree and size, and the error then."""

    columns: int
    degree: int
    sketch_size: int
    error: ErrorEstimate


class Chosen(NamedTuple):
    """The map, its error on entries that nothing was chosen by, all attempts, why they ended."""

    made: FeatureMap
    error: ErrorEstimate | None
    curve: list[SketchPoint]
    stopped_because: str


class Proposals:
    """Degrees in the order of Lemma 4's bound, for any number of columns.

    Entries of the coreset are summed up once, for the highest degree. Where the heaviest terms are
    exact, variances do not count, and bounds only fall with the degree: then the lowest degree that
    is good enough comes first, then the next, then the highest.

    Parameters
    ----------
    function : callable of an array
    left, right : ndarray or csr_array
    options : SketchOptions
    target : float or None
        The error that is wanted.
    rng : numpy Generator
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
        self._enough = _ENOUGH if target is None else target / 3
        side = coreset(left, right, options.n_centers, rng)
        self._entries = Regression.of(function, *side, radius_of(left, right), DEGREES[-1])
        self._unit = variances(left, right, DEGREES[-1], 1) / DEGREES[-1] * self.sketched

    def bound(self, degree: int, size: int) -> float:
        """Return Lemma 4's bound on the relative error."""
        return self._entries.bound(self._unit[: degree + 1] * degree / size)

    def best(self, columns: int) -> list[int]:
        """Return the degrees to try."""
        possible = [degree for degree in DEGREES if degree < columns]
        bounds = {degree: self.bound(degree, (columns - 1) // degree) for degree in possible}
        ranked = sorted(possible, key=lambda degree: bounds[degree])
        if self.sketched or not possible:
            return ranked[:_TRIED]
        enough = [d for d in possible if bounds[d] <= max(self._enough, 1.5 * bounds[ranked[0]])]
        return list(dict.fromkeys([*enough[:2], possible[-1]]))


def choose_degree(
    columns: int, proposals: Proposals, draw: Draw, judge: Judge, also: int | None = None
) -> Chosen:
    """Return the best map of at most so many columns.

    Parameters
    ----------
    columns : int
    proposals : Proposals
    draw, judge : callable
    also : int, optional
        A degree that was best before: it is tried against one other alone.

    Returns
    -------
    Chosen
        Its curve ends with the best.
    """
    degrees = proposals.best(columns) or [0]
    if also is not None:
        degrees = list(dict.fromkeys([also, degrees[0] if proposals.sketched else degrees[-1]]))
    curve, maps = [], []
    for degree in degrees:
        size = max(1, (columns - 1) // max(1, degree))
        maps.append(draw(degree, size, None if proposals.sketched else columns))
        curve.append(SketchPoint(columns, degree, size, judge(maps[-1])))
    best = min(range(len(curve)), key=lambda k: curve[k].error.value)
    # The winner of a few attempts looks better than it is.
    error = judge(maps[best])
    return Chosen(maps[best], error, [*curve[:best], *curve[best + 1 :], curve[best]], "")


def choose_columns(
    target: float, most: int, proposals: Proposals, draw: Draw, judge: Judge
) -> Chosen:
    """Return a map with few columns whose error is below the target with its whole interval.

    Parameters
    ----------
    target : float
    most : int
        Columns that may be tried.
    proposals : Proposals
    draw, judge : callable

    Returns
    -------
    Chosen
    """
    columns, also = min(_START, most), None
    curve: list[SketchPoint] = []
    while True:
        chosen = choose_degree(columns, proposals, draw, judge, also)
        curve += chosen.curve
        fresh = chosen.error
        if fresh is None or fresh.high <= target:
            return Chosen(chosen.made, fresh, curve, "the target was reached")
        if columns >= most:
            return Chosen(chosen.made, fresh, curve, f"{most} columns were not enough")
        # Errors fall about like one over the columns.
        step = np.clip(fresh.high / target, _SMALLEST_STEP, _LARGEST_STEP)
        columns = min(most, int(np.ceil(columns * step)))
        also = curve[-1].degree
