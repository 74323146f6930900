"""What the evaluated lines show of a tail: its mass over all that is unseen, with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.special

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import CONFIDENCE
from fewpairs.error.unseen import Unseen
from fewpairs.numerics import median, parts
from fewpairs.oracle.known import Known


class Shown(NamedTuple):
    """Mass of a tail, squared distances from the middle, with its interval.

    Attributes
    ----------
    low, mass, high : float
    squares : float
        Squared values, as a multiple of the mass.
    lumps : float
        How many equal parts would scatter as much.
    """

    low: float
    mass: float
    high: float
    squares: float
    lumps: float


class Direction(NamedTuple):
    """Evaluated columns (or rows) in the items that have none: pairs of the kind that is unseen.

    Attributes
    ----------
    lines : ndarray
        A column for each evaluated line.
    others : ndarray
        The items that have none.
    left : int
        Lines of this direction that were not evaluated.
    share : float
        Of all lines of this direction, those that were.
    """

    lines: FloatArray
    others: IntArray
    left: int
    share: float

    def blocks(self) -> Iterator[FloatArray]:
        """Yield the values, some rows at a time: the lines are the largest array of a run."""
        for part in parts(len(self.others)):
            yield self.lines[self.others[part]].astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class EvaluatedLines:
    """Lines of random items, in one direction, or in two where the order of a pair matters.

    Parameters
    ----------
    directions : list of Direction
    middle : float
        Where distances are measured from.
    """

    directions: list[Direction]
    middle: float

    @classmethod
    def of(cls, known: Known, unseen: Unseen) -> EvaluatedLines:
        """Measure from the median."""
        every = [(known.columns, unseen.rows, unseen.columns)]
        if not known.symmetric and len(known.rows.index):
            every.append((known.rows, unseen.columns, unseen.rows))
        directions = [
            Direction(lines.values, others, len(left), len(lines.index) / lines.width)
            for lines, others, left in every
        ]
        return cls(directions, median(lambda: (b for d in directions for b in d.blocks())))

    @property
    def fewest(self) -> int:
        """The number of lines in the direction that has fewer."""
        return min(int(d.lines.shape[1]) for d in self.directions)

    @property
    def exposure(self) -> float:
        """How often an unseen pair has an evaluated one of its kind, all directions together."""
        return float(sum(d.lines.shape[1] / d.left for d in self.directions))

    @cached_property
    def farthest(self) -> float:
        """The largest distance."""
        return max(
            float(np.abs(block - self.middle).max())
            for d in self.directions
            for block in d.blocks()
        )

    def beyond(self, threshold: float) -> Shown | None:
        """Return the mass beyond a threshold, over all that is unseen; None if there is none.

        It comes in lumps, as many as carry it, and their number is Poisson. With all lines
        evaluated nothing would be left to chance.
        """
        unit = self.farthest  # in its units even fourth powers are numbers
        if unit <= threshold or unit == 0:
            return None
        of_lines, values = [], 0.0
        for direction in self.directions:
            of_each = np.zeros(direction.lines.shape[1])
            for block in direction.blocks():
                far = np.abs(block - self.middle)
                inside = far > threshold
                mass = np.where(inside, (far / unit) ** 2, 0.0)
                of_each += mass.sum(axis=0)
                values += float(((block[inside] / unit) ** 2).sum())
            of_lines.append(of_each)
        each = np.concatenate(of_lines)
        total = float(each.sum())
        lumps = total**2 / float(each @ each)  # what lies in one line is one lump
        low = float(scipy.special.gammaincinv(lumps, (1 - CONFIDENCE) / 2)) / lumps
        high = float(scipy.special.gammaincinv(lumps + 1, (1 + CONFIDENCE) / 2)) / lumps
        chance = np.sqrt(max(0.0, 1 - min(d.share for d in self.directions)))
        everywhere = total / self.exposure * unit**2
        return Shown(
            everywhere * (1 - (1 - low) * chance),
            everywhere,
            everywhere * (1 + (high - 1) * chance),
            values / total,
            lumps,
        )
