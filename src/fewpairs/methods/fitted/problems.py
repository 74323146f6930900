"""Entries that are predicted with a guide: tuning pairs, and columns of landmarks held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import Cores
from fewpairs.methods.fitted.predictors import (
    Items,
    Kernel,
    Likeness,
    Lines,
    Predictors,
    less_nugget,
)

if TYPE_CHECKING:
    from fewpairs.methods.fitted.excerpt import Excerpt


class Alike(NamedTuple):
    """Inner products of a guide's vectors, of items of one side with landmarks of that side."""

    left: FloatArray
    right: FloatArray
    of_rows: FloatArray  # the rows' landmarks with each other
    of_columns: FloatArray


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

    def prepared(self, lines: Lines, nugget: float) -> Prepared:
        """Return what all kernels share that are made from residual lines less a nugget."""
        mine = self.part(lines)
        crossing = less_nugget(mine.crossing, nugget)
        rows = columns = Likeness.of(crossing, mine.left)
        same = mine.right is mine.left and self.excerpt.symmetric
        if not self.excerpt.symmetric:
            columns = Likeness.of(crossing.T, mine.right)
        elif not same:
            columns = replace(rows, items=mine.right @ rows.to_lines.T)
        return Prepared(self, rows, columns, nugget)

    def alike(self, betas: tuple[float, ...]) -> Alike:
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem's lines, compared with each other once for all kernels.

    Parameters
    ----------
    problem : Problem
    rows, columns : Likeness
    nugget : float
        What was taken off the landmarks' own entries.
    """

    problem: Problem
    rows: Likeness
    columns: Likeness
    nugget: float

    def predictors(self, betas: tuple[float, ...], ridges: FloatArray) -> tuple[Predictors, Items]:
        """Make the kernel with some β; return it with the items in it."""
        left, right, of_rows, of_columns = self.problem.alike(betas)
        rows = columns = Kernel.of(self.rows, of_rows, ridges)
        if not self.problem.excerpt.symmetric:
            columns = Kernel.of(self.columns, of_columns, ridges)
        made = rows.items(left)
        if self.columns is self.rows:
            return Predictors(rows, columns, self.nugget), Items(made, made)
        across = replace(columns, lines=self.columns).items(right)
        return Predictors(rows, columns, self.nugget), Items(made, across)
