"""Weights for a plain result of rank s, whose core answers for everything, landmarks included.

Nothing overrides the factors then, so one nugget must serve: it is taken off the landmarks' own
entries, and several cannot be mixed there. Each is judged by its loss over the whole matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import RIDGES, Cores
from fewpairs.methods.fitted.guards import SanityCheck
from fewpairs.methods.fitted.weights import Normal, Tuning
from fewpairs.numerics import row_squares

#: Rows of the landmarks' columns that stand for all of them.
_ROWS = 300


@dataclass(frozen=True, eq=False)
class WholeLoss:
    """What counts beside pairs of other items: landmarks' lines, their crossing, the diagonal.

    Parameters
    ----------
    left : ndarray of shape (n, s)
    crossing : ndarray of shape (s, s)
    rows : ndarray
        Items that are no landmarks.
    own : Normal or None
        Equations of self-similarities, from landmarks that were held out.
    """

    left: FloatArray
    crossing: FloatArray
    rows: IntArray
    own: Normal | None

    def added_to(self, pairs: Normal, cores: Cores, family: int) -> Normal:
        """Return the equations of one nugget's candidates for the whole matrix.

        All in units of a mean over pairs that lie in no line, of which there are about n²: lines
        have 2sn entries (read off a sample of the columns), the crossing s², the diagonal n.
        """
        n = len(self.rows)
        mine = slice(family * len(RIDGES), (family + 1) * len(RIDGES))
        gram, target = pairs.gram[mine, mine], pairs.target[mine]
        if self.own is not None:
            gram = gram + self.own.gram[mine, mine] / n
            target = target + self.own.target[mine] / n
        f = cores.families[family]
        some = self.left[self.rows[:: max(1, n // _ROWS)]]
        # Less its nugget, W is PΛQᵀ: a candidate predicts some·Q·diag(filter·λ)·Qᵀ of rows of the
        # columns, and P·diag(filter·λ²)·Qᵀ of the crossing.
        squares = row_squares((some @ f.left).T)
        of_rows, of_crossing = f.filters * f.values, f.filters * f.values**2
        own = f.values + f.eta * cores.gap * np.einsum("kp,kp->p", f.right, f.left)
        for predicted, gained, truth, weight in (
            (of_rows * squares, of_rows, squares, 2 / (n * len(some))),
            (of_crossing, of_crossing, own, 1 / n**2),
        ):
            gram = gram + weight * predicted @ gained.T
            target = target + weight * gained @ truth
        return Normal(gram, target)


def one_nugget(cores: Cores, tuning: Tuning, sane: SanityCheck, whole: WholeLoss) -> FloatArray:
    """Return weights on the candidates of the nugget whose loss is least; others are 0.

    Parameters
    ----------
    cores : Cores
    tuning : Tuning
    sane : SanityCheck
    whole : WholeLoss

    Returns
    -------
    ndarray
    """
    pairs = tuning.normal(np.arange(cores.count))
    families = range(len(cores.families))
    equations = [whole.added_to(pairs, cores, k) for k in families]
    everyone = np.arange(cores.count)
    for smallest in range(len(RIDGES)):
        best, least = np.zeros(cores.count), np.inf
        chosen = np.arange(smallest, len(RIDGES))
        for k in families:
            part = equations[k].of_some(chosen)
            w = part.non_negative()
            loss = float(w @ part.gram @ w - 2 * w @ part.target)
            if loss < least:
                least, best = loss, np.zeros(cores.count)
                best[k * len(RIDGES) + chosen] = w
        if sane.passes(everyone, best):
            return best
    # Where a few pairs hold nearly everything, a sample can miss them, and nothing passes. A core
    # of zeros would leave no features at all.
    return sane.shrunk(everyone, best)
