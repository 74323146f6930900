"""Which core the default method ends with: its weights, their guards, and the factors."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.sampling import random_pairs
from fewpairs.methods.base import Fit
from fewpairs.methods.fitted.guards import SanityCheck, largest_mean_square
from fewpairs.methods.fitted.plain import WholeLoss, one_nugget
from fewpairs.methods.fitted.stage import Sample, Stage
from fewpairs.methods.fitted.weights import Tuning, weigh

#: Landmark folds count as much as this many tuning pairs: they cost nothing and are many, but
#: predict columns of landmarks from fewer landmarks than there are. A tenth or ten times as much
#: changes the error by about 1 % (docs/tables/constants.md).
_FOLD_PAIRS = 300
#: Pairs on which a result must not be larger than the data; they cost no evaluations.
_SANITY_PAIRS = 4000


def choose_core(stage: Stage, sample: Sample, *, plain: bool) -> Fit:
    """Weigh the candidates, and return the factors of the weighted core.

    Parameters
    ----------
    stage : Stage
    sample : Sample
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
    return Fit(left, core, right, stage.landmarks, stage.row_landmarks, nugget)


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
    sane = _sanity(stage, tuning)
    if not plain:
        return weigh(stage.cores, tuning, sane, stage.rng)
    own = None if folds is None else folds.own
    whole = WholeLoss(stage.left, stage.crossing, stage.rows, own)
    return one_nugget(stage.cores, tuning, sane, whole)


def _sanity(stage: Stage, tuning: Tuning) -> SanityCheck:
    a, b = random_pairs(
        stage.rows,
        stage.columns,
        _SANITY_PAIRS,
        stage.rng,
        symmetric=stage.oracle.symmetric,
        square=stage.oracle.square,
    )
    i, j = stage.rows[a], stage.columns[b]
    largest = largest_mean_square(tuning.values, tuning.weights)
    checks = [(stage.cores.pair_predictions(stage.left, stage.right, i, j), largest)]
    if stage.oracle.square and not stage.diagonal_known:
        some = stage.rng.permutation(stage.rows)[:_SANITY_PAIRS]
        own = stage.cores.pair_predictions(stage.left, stage.right, some, some)
        diagonal = np.diag(stage.crossing)
        checks.append((own, largest_mean_square(diagonal, np.ones(len(diagonal)))))
    return SanityCheck(checks)


def _less_own(tall: FloatArray, landmarks: IntArray, nugget: float) -> FloatArray:
    """Take the nugget off each landmark's own entry."""
    result = tall.copy()
    result[landmarks, np.arange(len(landmarks))] -= nugget
    return result
