"""Which core the default method ends with: its weights, their guards, and the factors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.factors import factored_entries
from fewpairs.files.scratch import copied
from fewpairs.methods.base import Fit
from fewpairs.methods.fitted.gate import as_fit, follow
from fewpairs.methods.fitted.guards import (
    MeanSquare,
    OfAllPairs,
    SanityCheck,
    largest_mean_square,
    of_pairs,
)
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.plain import WholeLoss, one_nugget
from fewpairs.methods.fitted.stage import Sample, Stage
from fewpairs.methods.fitted.weights import Tuning, weigh
from fewpairs.numerics import double

#: Landmark folds count as much as this many tuning pairs: they cost nothing and are many, but
#: predict columns of landmarks from fewer landmarks than there are. A tenth or ten times as much
#: changes the error by about 1 % (docs/tables/constants.md).
_FOLD_PAIRS = 300
#: Items whose predicted self-similarities are looked at; they cost no evaluations.
_SANITY_ITEMS = 4000


def choose_core(
    stage: Stage, sample: Sample, terms: GuideTerms | None = None, *, plain: bool
) -> Fit:
    """Weigh the candidates, and return the factors of the weighted core, or those with a guide.

    Parameters
    ----------
    stage : Stage
    sample : Sample
    terms : GuideTerms, optional
        Of guides, which are followed if they are worth it.
    plain : bool
        Whether the factors must answer for everything, landmarks' own entries included.

    Returns
    -------
    Fit
    """
    weights = _weights(stage, sample, plain=plain)
    core = stage.cores.combined(weights)
    if stage.oracle.symmetric:
        core = (core + core.T) / 2
    left, right = stage.left, None if stage.right is stage.left else stage.right
    nugget = stage.cores.nugget(weights)
    if plain and nugget:
        left = _less_own(left, stage.landmarks, nugget)
        right = None if right is None else _less_own(right, stage.landmarks, nugget)
        nugget = 0.0
    fit = Fit(left, core, right, stage.landmarks, stage.row_landmarks, nugget)
    if terms is None or stage.finished:
        return fit
    return _with_guide(stage, sample, terms, fit, plain=plain)


def _with_guide(stage: Stage, sample: Sample, terms: GuideTerms, fit: Fit, *, plain: bool) -> Fit:
    """Return the factors with a guide if they are better, else those without it."""
    right = fit.left if fit.right is None else fit.right

    def entries(rows: IntArray, columns: IntArray) -> FloatArray:
        return factored_entries(fit.left, fit.core, right, rows, columns)

    followed = follow(stage, sample, terms, entries, plain=plain)
    if followed is None:
        return fit
    guided = as_fit(stage, followed.terms, followed.guided)
    if plain and guided.nugget:
        own, nugget = stage.landmarks, guided.nugget
        both = guided.right if guided.right is None else _less_own(guided.right, own, nugget)
        guided = replace(guided, left=_less_own(guided.left, own, nugget), right=both, nugget=0.0)
    return guided


def _weights(stage: Stage, sample: Sample, *, plain: bool) -> FloatArray:
    """Return the weights of the candidates, from the tuning pairs that lie in no known line."""
    if stage.finished:  # nothing is left to predict: any core will do
        return np.asarray(np.eye(1, stage.cores.count)[0])
    known = stage.oracle.known()
    drawn = sample.drawn
    in_lines = known.in_lines(drawn.rows, drawn.columns)
    # Near-duplicates are exact in the result, and unlike the pairs that remain.
    taken = ~in_lines & ~np.isin(known.keys_of(drawn.rows, drawn.columns), sample.near_keys)
    folds = stage.folds
    if not taken.any() and not plain:
        return np.zeros(stage.cores.count) if folds is None else folds.pairs.non_negative()
    count = int(taken.sum())
    tuning = Tuning(
        stage.predictions(drawn)[taken],
        sample.values[taken],
        drawn.weights[taken],
        None if folds is None else folds.pairs,
        count / (count + _FOLD_PAIRS),
    )
    sane = _sanity(stage, tuning, hinted=sample.hinted)
    if not plain:
        return weigh(stage.cores, tuning, sane, stage.rng)
    own = None if folds is None else folds.own
    whole = WholeLoss(stage.left, stage.crossing, stage.rows, own)
    return one_nugget(stage.cores, tuning, sane, whole)


def _sanity(stage: Stage, tuning: Tuning, *, hinted: bool) -> SanityCheck:
    square = stage.oracle.square
    largest = largest_mean_square(tuning.values, tuning.weights)
    if hinted:
        # Pairs that a guide points at are the large entries only by its lights: where few entries
        # hold most of the matrix, they miss these, and the right core would be refused. Landmarks
        # were not chosen by a guide.
        lines = double(stage.left[stage.rows]).ravel()
        largest = max(largest, largest_mean_square(lines, np.ones(len(lines))))
    some = stage.rng.permutation(stage.rows)[: _SANITY_ITEMS if square else 0]
    everything = OfAllPairs(stage.cores, stage.left, stage.right, stage.rows, stage.columns, some)
    checks: list[tuple[MeanSquare, float]]
    checks = [(everything, largest)]
    if square and not stage.diagonal_known:
        own = stage.cores.pair_predictions(stage.left, stage.right, some, some)
        diagonal = np.diag(stage.crossing)
        checks.append((of_pairs(own), largest_mean_square(diagonal, np.ones(len(diagonal)))))
    return SanityCheck(checks)


def _less_own(tall: FloatArray, landmarks: IntArray, nugget: float) -> FloatArray:
    """Take the nugget off each landmark's own entry."""
    result = copied(tall)
    result[landmarks, np.arange(len(landmarks))] -= nugget
    return result
