"""New items beside the old ones: what they have with the landmarks, and the longer known lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.files.scratch import lengthened
from fewpairs.items.items import Items
from fewpairs.oracle.known import Lines
from fewpairs.oracle.oracle import Oracle

if TYPE_CHECKING:
    from fewpairs.factored.source import Source


@dataclass(frozen=True, eq=False)
class Grown:
    """New items compared with the landmarks; NaN for pairs that were skipped."""

    source: Source
    forth: Lines  # new item first, landmark second
    back: Lines | None  # landmark first, new item second; None where only rows are new
    new: Items
    evaluations: int

    @property
    def skipped(self) -> IntArray:
        """Pairs without a value, as positions in the larger matrix."""
        found = [_gaps(self.forth, self.forth_start)]
        if self.back is not None and not self.source.symmetric:
            found.append(_gaps(self.back, self.back.width)[:, ::-1])
        return np.concatenate(found)

    @property
    def forth_start(self) -> int:
        """Position of the first new row."""
        assert self.source.items is not None  # noqa: S101 - the new ones are among them
        return len(self.source.items) - len(self.new)

    def filled(self, forth: FloatArray, back: FloatArray | None) -> Grown:
        """Return the same with values for all pairs."""
        with_forth = replace(self, forth=replace(self.forth, values=forth))
        if self.back is None or back is None:
            return with_forth
        return replace(with_forth, back=replace(self.back, values=back))

    @property
    def left(self) -> FloatArray:
        """Similarities with the landmarks that were asked, in the units of the left factor."""
        return self._in_units(self.forth, self.source.left_landmarks)

    @property
    def right(self) -> FloatArray:
        """The same of the right factor."""
        assert self.back is not None  # noqa: S101 - only a square grows on both sides
        return self._in_units(self.back, self.source.right_landmarks)

    def _in_units(self, lines: Lines, landmarks: IntArray | None) -> FloatArray:
        """Return similarities with landmarks, in the units of the factors."""
        assert landmarks is not None  # noqa: S101 - they were compared with some
        values = lines.values[:, lines.place[landmarks[lines.hold(landmarks)]]]
        return np.ldexp(values, self.source.power) if self.source.power else values

    @property
    def own_is_free(self) -> bool:
        """Whether self-similarities need no evaluation."""
        if self.source.similarity is None:
            return False
        return Oracle(self.new, self.source.similarity, resumable=False).planner.diagonal_known

    def own(self) -> tuple[FloatArray, int]:
        """Return the new items' self-similarities, evaluated unless declared, and their price.

        NaN for those that were skipped.
        """
        oracle = self.source.asking(self.new, skips=True)
        values = oracle.diagonal().copy()
        values[oracle.skipped[:, 0]] = np.nan
        return values, oracle.evaluations

    def columns(self, old: Lines) -> Lines:
        """Lengthen known columns by the new items."""
        more = 0 if self.back is None else len(self.new)
        return _lengthened(old, self.forth, old.width + more)

    def rows(self, old: Lines) -> Lines:
        """Lengthen known rows by the new items; where only rows are new, make room for them."""
        width = old.width + len(self.new)
        if self.back is None:
            return Lines.of(old.index, old.values, width)
        return _lengthened(old, self.back, width)


def _gaps(lines: Lines, start: int) -> IntArray:
    rows, places = np.nonzero(np.isnan(lines.values))
    return np.stack([rows + start, lines.index[places]], axis=1)


def _lengthened(old: Lines, grown: Lines, width: int) -> Lines:
    # A line whose item is no landmark was not compared with the new items, and ends here.
    compared = grown.hold(old.index)
    index = old.index[compared]
    rows = grown.values[:, grown.place[index]]
    old_values = old.values if compared.all() else old.values[:, compared]
    return Lines.of(index, lengthened(old_values, rows), width)
