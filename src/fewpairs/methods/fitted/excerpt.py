"""The items that fitting with a guide looks at: those of the tuning pairs, of the folds, landmarks.

They are few beside all items, and what guides say of them is worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import gap_of
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.predictors import Lines, Pairs
from fewpairs.methods.fitted.problems import Alike, Problem
from fewpairs.methods.fitted.stage import Stage
from fewpairs.methods.fitted.weights import FOLDS

#: Rows of held-out columns that are predicted.
_ROWS = 300


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Lines and guides of some items.

    Attributes
    ----------
    lines : Lines
        Of these items with all landmarks.
    terms : list of Lines
        What each term of the guides says of the same entries.
    alike : list of Alike
        How alike each guide finds items and landmarks of the same side.
    x_marks, y_marks : ndarray
        Guides' vectors of the rows' landmarks and of the columns' landmarks.
    pairs : Pairs
        Places of the tuning pairs among the items.
    rows : ndarray
        Places of some row items that are no landmarks, for the folds.
    symmetric, square : bool
    """

    lines: Lines
    terms: list[Lines]
    alike: list[Alike]
    x_marks: FloatArray
    y_marks: FloatArray
    pairs: Pairs
    rows: IntArray
    slices: list[slice]
    symmetric: bool
    square: bool

    @classmethod
    def of(cls, stage: Stage, terms: GuideTerms, rows: IntArray, columns: IntArray) -> Excerpt:
        """Gather what concerns the pairs ``rows[k], columns[k]``, and the folds."""
        symmetric = stage.oracle.symmetric
        some = stage.rows[:: max(1, len(stage.rows) // _ROWS)][:_ROWS]
        first = np.unique(np.concatenate([rows, columns, some] if symmetric else [rows, some]))
        second = first if symmetric else np.unique(columns)
        left = stage.left[first]
        right = left if symmetric else stage.right[second]
        of_rows, of_columns = stage.row_landmarks, stage.landmarks
        of_left = terms.block(first, of_columns)
        of_right = of_left
        if not symmetric:
            of_right = terms.block(of_rows, second).transpose(0, 2, 1)
        of_crossing = terms.block(of_rows, of_columns)
        lines = [
            Lines(a, a if symmetric else b, c)
            for a, b, c in zip(of_left, of_right, of_crossing, strict=True)
        ]
        x_marks = terms.left[of_rows].astype(np.float64)
        y_marks = x_marks if symmetric else terms.right[of_columns].astype(np.float64)
        return cls(
            lines=Lines(left, right, stage.crossing),
            terms=lines,
            alike=_alike(terms, lines, first, second, x_marks, y_marks),
            x_marks=x_marks,
            y_marks=y_marks,
            pairs=Pairs(np.searchsorted(first, rows), np.searchsorted(second, columns)),
            rows=np.searchsorted(first, some),
            slices=terms.slices,
            symmetric=symmetric,
            square=stage.oracle.square,
        )

    def residual(self, b: FloatArray) -> Lines:
        """Return the lines less b times the guides' terms."""
        left, right, crossing = (
            whole - sum((w * part for w, part in zip(b, parts, strict=True)), np.zeros(()))
            for whole, *parts in zip(self.lines, *self.terms, strict=True)
        )
        return Lines(left, left if self.symmetric else right, crossing)

    def every(self, step: int) -> Excerpt:
        """Return the same with the first of so many pairs, again and again."""
        rows, columns = self.pairs
        return replace(self, pairs=Pairs(rows[::step], columns[::step]))

    def gap(self, lines: Lines) -> float:
        """Return the mean of the diagonal less that of the rest.

        Of residual lines it may be negative: an item's product with itself is 1, and that much is
        taken off its own entry.
        """
        return gap_of(lines.crossing) if self.square else 0.0

    def whole(self) -> Problem:
        """Return the tuning pairs, predicted from all landmarks."""
        every = np.arange(len(self.lines.crossing))
        return Problem(self, every, every, None)

    def folds(self, count: int = FOLDS) -> list[Problem]:
        """Return held-out landmarks' columns, predicted from the others: it costs no evaluations.

        Landmarks are in random order, so that every fifth is a random one.
        """
        every = np.arange(len(self.lines.crossing))
        result = []
        count = min(count, len(every))
        for fold in range(count):
            held = every[fold::count]
            kept = np.setdiff1d(every, held)
            result.append(Problem(self, kept, kept, held))
        return result


def _alike(
    terms: GuideTerms,
    lines: list[Lines],
    rows: IntArray,
    columns: IntArray,
    x_marks: FloatArray,
    y_marks: FloatArray,
) -> list[Alike]:
    """Return it for each guide; where both sides are the same items, the terms have it already."""
    result = []
    for guide, of_guide, mine in zip(terms.guides, lines, terms.slices, strict=False):
        if guide.right is guide.left and x_marks is y_marks:
            left, right, crossing = of_guide
            result.append(Alike(left, right, crossing, crossing))
            continue
        x, y = x_marks[:, mine], y_marks[:, mine]
        left = guide.left[rows].astype(np.float64) @ x.T
        right = guide.right[columns].astype(np.float64) @ y.T
        result.append(Alike(left, right, x @ x.T, y @ y.T))
    return result
