"""Landmark folds: the columns of held-out landmarks, predicted from the others, at no cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import Cores, least_ridge, nuggets_for
from fewpairs.methods.fitted.weights import FOLDS, Normal
from fewpairs.numerics import double

#: Rows of the held-out columns that are predicted: enough for seventy candidates.
_ROWS = 300
#: From this many landmarks on, one fold is predicted instead of all five: it holds out 200 columns,
#: as many as all folds of 200 landmarks do, and decompositions take most of the time by then.
_MANY = 1000


@dataclass(frozen=True, eq=False)
class Folds:
    """What held-out landmarks say of the candidates.

    Attributes
    ----------
    pairs : Normal
        Equations of pairs of different items.
    own : Normal or None
        Equations of self-similarities; None where rows and columns are different items.
    """

    pairs: Normal
    own: Normal | None


def landmark_folds(
    left: FloatArray,
    crossing: FloatArray,
    rows: IntArray,
    gap: float,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    square: bool = True,
) -> Folds:
    """Predict the columns of held-out landmarks from the others: costs no evaluations.

    Parameters
    ----------
    left : ndarray of shape (n, s)
        Columns of the landmarks.
    crossing : ndarray of shape (s, s)
    rows : ndarray
        Items that are no landmarks.
    gap : float
    rng : numpy.random.Generator
    symmetric : bool
    square : bool, default=True
        Whether row and column k of the crossing belong to the same item.

    Returns
    -------
    Folds
    """
    some = rng.permutation(rows)[:_ROWS]
    across = rng.permutation(crossing.shape[1])
    down = across if square else rng.permutation(crossing.shape[0])
    none = Normal(np.zeros(()), np.zeros(()))  # adding to it takes on the shape of the sum
    pairs = own = none
    block, least = double(left[some]), least_ridge(left)
    s, n_held = len(across), 0
    nuggets = nuggets_for(s, symmetric=symmetric)  # as all landmarks have them
    for fold in range(FOLDS if s < _MANY else 1):
        held = across[fold::FOLDS]
        n_held += len(held)
        kept = np.setdiff1d(across, held)
        kept_rows = kept if square else np.setdiff1d(down, down[fold::FOLDS])
        kept_crossing = crossing[np.ix_(kept_rows, kept)]
        cores = Cores.of(
            kept_crossing, gap, symmetric=symmetric, least_ridge=least, nuggets=nuggets
        )
        to_held = crossing[np.ix_(kept_rows, held)].T
        pairs = pairs.plus(*cores.block_sums(block[:, kept], to_held, block[:, held]))
        if square:
            guessed = cores.predictions(crossing[np.ix_(held, kept)], to_held)
            own = own.plus(guessed.T @ guessed, guessed.T @ np.diag(crossing)[held])
    return Folds(pairs.per(len(some) * n_held), own.per(n_held) if square else None)
