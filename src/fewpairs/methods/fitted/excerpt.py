"""The items that fitting with a guide looks at: those of the tuning pairs, of the folds, landmarks.

They are few beside all items, and what guides say of them is worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import Cores, gap_of
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.predictors import (
    Items,
    Kernel,
    Lines,
    Pairs,
    Predictors,
    less_nugget,
    mean_square,
)
from fewpairs.methods.fitted.stage import Stage
from fewpairs.methods.fitted.weights import FOLDS

#: Rows of held-out columns that are predicted.
_ROWS = 300


class Variant(NamedTuple):
    """One kernel: β of each guide's vectors, the nugget as a share of the gap, the ridges λ."""

    betas: tuple[float, ...]
    eta: float
    ridges: tuple[float, ...]


class Alike(NamedTuple):
    """Inner products of a guide's vectors, of items of one side with landmarks of that side."""

    left: FloatArray
    right: FloatArray
    of_rows: FloatArray  # the rows' landmarks with each other
    of_columns: FloatArray


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

    def spread(self, betas: tuple[float, ...]) -> FloatArray:
        """Return β of each coordinate of all guides' vectors."""
        widths = [mine.stop - mine.start for mine in self.slices]
        return np.repeat(np.asarray(betas), widths)

    def gap(self, lines: Lines) -> float:
        """Return the mean of the diagonal less that of the rest, if positive."""
        return max(gap_of(lines.crossing), 0.0) if self.square else 0.0

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


@dataclass(frozen=True, eq=False)
class Problem:
    """Entries that are predicted from some landmarks: tuning pairs, or columns of those held out.

    Parameters
    ----------
    excerpt : Excerpt
    kept_rows, kept : ndarray
        Places of the landmarks that are used.
    held : ndarray or None
        Places of the columns' landmarks that are predicted; None for the tuning pairs.
    """

    excerpt: Excerpt
    kept_rows: IntArray
    kept: IntArray
    held: IntArray | None

    def part(self, lines: Lines) -> Lines:
        """Return those of the lines that take part here."""
        if self.held is None:
            return lines
        left = lines.left[np.ix_(self.excerpt.rows, self.kept)]
        right = lines.crossing[np.ix_(self.kept_rows, self.held)].T
        return Lines(left, right, lines.crossing[np.ix_(self.kept_rows, self.kept)])

    def predictors(self, lines: Lines, gap: float, variant: Variant) -> tuple[Predictors, Items]:
        """Make the kernel of a variant from residual lines; return it with the items in it."""
        e, mine = self.excerpt, self.part(lines)
        left, right, of_rows, of_columns = self._alike(variant.betas)
        nugget = variant.eta * gap
        crossing = less_nugget(mine.crossing, nugget)
        ridges = np.asarray(variant.ridges)
        rows = columns = Kernel.of(crossing, of_rows, mean_square(mine.left), ridges)
        if not e.symmetric:
            columns = Kernel.of(crossing.T, of_columns, mean_square(mine.right), ridges)
        made = rows.items(mine.left, left)
        same = mine.right is mine.left and e.symmetric
        across = made if same else columns.items(mine.right, right)
        return Predictors(rows, columns, nugget), Items(made, across)

    def _alike(self, betas: tuple[float, ...]) -> Alike:
        """Return the weighted sum of what the guides find alike, of what takes part here."""
        total = [
            sum((b * part for b, part in zip(betas, parts, strict=True) if b), np.zeros(()))
            for parts in zip(*self.excerpt.alike, strict=True)
        ]
        if self.held is None:
            return Alike(*total)
        left, _, of_rows, of_columns = (np.atleast_2d(part) for part in total)
        return Alike(
            left[np.ix_(self.excerpt.rows, self.kept_rows)],
            of_columns[np.ix_(self.held, self.kept)],
            of_rows[np.ix_(self.kept_rows, self.kept_rows)],
            of_columns[np.ix_(self.kept, self.kept)],
        )

    def predicted(self, predictors: Predictors, items: Items, lines: Lines) -> FloatArray:
        """Return what predictors say of the entries, from lines of any matrix."""
        mine = self.part(lines)
        if self.held is None:
            return predictors.at(items, mine, self.excerpt.pairs)
        return predictors.block(items, mine).reshape(predictors.count, -1).T

    def by_cores(self, cores: Cores, lines: Lines) -> FloatArray:
        """Return what cores say of the entries."""
        mine = self.part(lines)
        if self.held is None:
            return cores.pair_predictions(mine.left, mine.right, *self.excerpt.pairs)
        rows, columns = (
            p.ravel() for p in np.indices((len(mine.left), len(mine.right))).astype(np.int64)
        )
        return cores.pair_predictions(mine.left, mine.right, rows, columns)

    def truth(self, lines: Lines) -> FloatArray:
        """Return the entries of held-out columns."""
        assert self.held is not None  # noqa: S101 - values of pairs are the caller's
        return np.asarray(lines.left[np.ix_(self.excerpt.rows, self.held)]).ravel()


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
