"""Two families of maps, polynomial sketches and landmarks; entries that neither saw decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.error.estimate import ErrorEstimate
from fewpairs.sketches.bands import Band, Lines, draw_lines
from fewpairs.sketches.error import draw_band
from fewpairs.sketches.exact import Exact
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import MOST_TERMS, SketchOptions, make_map
from fewpairs.sketches.landmarks import LandmarkFit, fit_landmarks
from fewpairs.sketches.sampling import Sampler

#: Rows and columns between which maps are compared; all where the matrix has no more entries.
_ROWS, _COLUMNS = 96, 1024
#: No matrix of that width can have a smaller error than what all other directions hold. If the
#: error is at most the first multiple of it, polynomials are not tried; nor if it is the second,
#: the map is not poor and there are few rows. Of more rows, features take longer than the trial.
_NEAR_BEST, _NEAR, _SMALL = 1.1, 4.0, 10_000
#: Errors below this are rounding.
_ROUNDING = 1e-12
#: A map whose error is larger than this is shrunk to what unseen entries say of it.
_POOR = 0.3


class Candidate(NamedTuple):
    """A map, and what entries that it was not fitted to say of it.

    Attributes
    ----------
    feature_map : FeatureMap
    error : ErrorEstimate
        From the entries by which all candidates are compared.
    degree, size : int
        Degree of its polynomial and columns for each power; 0 and the number of landmarks.
    """

    feature_map: FeatureMap
    error: ErrorEstimate
    degree: int
    size: int


class Families:
    """Draws maps of both families, and compares them.

    Parameters
    ----------
    exact : Exact
        The matrix.
    options : SketchOptions
    rng : numpy Generator
    nonnegative : bool, default=False
        Allow no signs of features.
    """

    def __init__(
        self,
        exact: Exact,
        options: SketchOptions,
        rng: np.random.Generator,
        *,
        nonnegative: bool = False,
    ) -> None:
        self.exact, self.options, self.rng = exact, options, rng
        self.nonnegative = nonnegative
        #: Whether landmarks take part: not in the paper's maps.
        self.has_landmarks = options.coefficients == "tuned" and options.exact_terms

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.exact, self.rng)

    @cached_property
    def _band(self) -> Band:
        n, m = self.exact.shape
        if n * m <= _ROWS * _COLUMNS:
            rows, columns = Lines.all(n), Lines.all(m)
        else:
            rows = draw_lines(self.exact, 0, _ROWS, self.rng)
            columns = draw_lines(self.exact, 1, _COLUMNS, self.rng)
        return Band.of(self.exact, rows, columns, columns)

    def judge(self, feature_map: FeatureMap, degree: int, size: int) -> Candidate:
        """Compare a map with the entries between some rows and columns."""
        error = self._band.compare(*self._guess(feature_map))
        if not np.isfinite(error.value):  # so far off that squares overflow
            error = ErrorEstimate(np.inf, 0.0, np.inf, error.n_pairs)
        return Candidate(feature_map, error, degree, size)

    def polynomial(self, degree: int, size: int, columns: int | None = None) -> Candidate:
        """Draw a sketch of a degree and a size, or with at most so many columns."""
        chosen = replace(self.options, degree=degree, sketch_size=size, columns=columns)
        found = make_map(
            self.exact.function, *self.exact.sides, chosen, rng=self.rng,
            nonnegative=self.nonnegative, sampler=self._sampler,
        )  # fmt: skip
        return self.judge(replace(found, scale=self.exact.scale), degree, size)

    def n_landmarks(self, columns: int) -> int:
        """Return how many landmarks a map of so many columns gets."""
        count = min(columns * self.options.oversampling, MOST_TERMS)
        return min(max(columns, count), max(self.exact.shape))

    def cut(self, fit: LandmarkFit, columns: int) -> Candidate:
        """Keep the first directions of a fit."""
        found = fit.map(columns, nonnegative=self.nonnegative)
        return self.judge(found, fit.degree, fit.n_landmarks)

    def landmarks(self, columns: int) -> tuple[Candidate, bool]:
        """Return a map from landmarks, and whether no map of this width can be much better."""
        fit, found = self.best_fit(self.n_landmarks(columns), columns)
        floor = fit.tail(columns) / self.length
        small = max(self.exact.shape) <= _SMALL
        near = _NEAR if found.error.value <= _POOR and small else _NEAR_BEST
        return found, found.error.value <= max(near * floor, _ROUNDING)

    def best_fit(self, count: int, columns: int) -> tuple[LandmarkFit, Candidate]:
        """Draw landmarks; return the best fit to them, and its map of so many columns."""
        fits = fit_landmarks(self.exact, count, self.options.degree, self.rng)
        found = [self.cut(fit, columns) for fit in fits]
        best = min(range(len(found)), key=lambda k: found[k].error.value)
        return fits[best], found[best]

    def needed(self, fit: LandmarkFit, whole: Candidate, aim: float) -> int:
        """Return how many directions of a fit leave an error below the aim, if any number does."""
        room = aim**2 - whole.error.value**2
        if room <= 0:
            return fit.rank
        unit = float(np.abs(fit.values).max(initial=0)) or 1.0
        tails = np.cumsum((fit.values[::-1] / unit) ** 2)[::-1]
        return max(1, int((tails > room * (self.length / unit) ** 2).sum()))

    @cached_property
    def length(self) -> float:
        """The length (Frobenius norm) of the matrix."""
        band = self._band
        unit = band.unit
        total = band.total((band.values / unit) ** 2, (band.own_values / unit) ** 2)
        return float(np.sqrt(max(total, 1e-300))) * unit

    def best(self, candidates: Iterable[Candidate]) -> Candidate:
        """Return the one with the smallest error, shrunk if it is poor."""
        return self.guarded(min(candidates, key=lambda candidate: candidate.error.value))

    def guarded(self, candidate: Candidate) -> Candidate:
        """Shrink a poor map by the factor that suits unseen entries best: at worst to zero.

        A poor map may be worst in a few rows, which the entries for comparison miss: these are
        looked for.
        """
        if candidate.error.value <= _POOR:
            return candidate
        found = candidate.feature_map
        features = found.of_both(self.exact)
        band = draw_band(features, found.signs, self.exact, self.rng)
        unit = band.unit
        guess, own = (x / unit for x in band.guess(features, found.signs))
        length = band.total(guess**2, own**2)
        product = band.total(guess * (band.values / unit), own * (band.own_values / unit))
        factor = min(1.0, max(0.0, product / length)) if 0 < length < np.inf else 0.0
        # Zero, not zero times whatever the map may hold.
        left, right = (
            x * np.sqrt(factor) if factor else np.zeros_like(x) for x in (found.left, found.right)
        )
        if found.right is found.left:
            right = left
        shrunk = replace(found, left=left, right=right)
        return self.judge(shrunk, candidate.degree, candidate.size)

    def _guess(self, feature_map: FeatureMap) -> tuple[FloatArray, FloatArray]:
        exact, band = self.exact, self._band
        left = feature_map(exact.left[band.rows.places]).astype(np.float64, copy=False)
        right = feature_map(exact.right[band.columns.places], side="right")
        right = right.astype(np.float64, copy=False)
        own = (right * right) @ feature_map.signs if exact.symmetric else np.zeros(0)
        return left @ (right * feature_map.signs).T, own


def best_map(
    exact: Exact, options: SketchOptions, rng: np.random.Generator, *, nonnegative: bool = False
) -> Candidate:
    """Return a map from landmarks, or of the degree and size that are asked for: the better one.

    Parameters
    ----------
    exact : Exact
    options : SketchOptions
    rng : numpy Generator
    nonnegative : bool, default=False

    Returns
    -------
    Candidate
    """
    families = Families(exact, options, rng, nonnegative=nonnegative)
    degree, size, columns = options.degree, options.sketch_size, options.columns
    if not families.has_landmarks:
        return families.polynomial(degree, size, columns)
    found, enough = families.landmarks(columns or degree * size + 1)
    if enough or not exact.has_polynomial:
        return families.guarded(found)
    return families.best([found, families.polynomial(degree, size, columns)])
