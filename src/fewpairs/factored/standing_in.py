"""Pairs of new items without a value: what stands in for them, as old items' lines suggest it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewpairs.arrays import FloatArray, SingleArray
from fewpairs.errors import SimilarityError
from fewpairs.oracle.holes import stand_ins

if TYPE_CHECKING:
    from fewpairs.factored.factors import Factors
    from fewpairs.factored.grown import Grown

#: Old items whose lines say what stands in for a pair without a value: enough for a regression on
#: hundreds of landmarks, and few beside a million.
_OLD_ITEMS = 2000


def stood_in(matrix: Factors, grown: Grown, vectors: SingleArray | None) -> Grown:
    """Return new items of which all pairs have a value, as old items' lines suggest it."""
    if not len(grown.skipped):
        return grown
    for lines in (grown.forth, grown.forth if grown.back is None else grown.back):
        nothing = np.flatnonzero(np.isnan(lines.values).all(axis=1))
        if len(nothing):
            raise SimilarityError(
                f"new item {nothing[0]} has no value with any of {len(lines.index)} landmarks.",
                "All of its entries would be made up.",
                "Leave it out, or mend what fails, and call again; the matrix is as it was.",
            )
    forth = _stand_ins(matrix, grown, vectors, across=False)
    if grown.back is None:
        return grown.filled(forth, None)
    if matrix.right is matrix.left:
        return grown.filled(forth, forth)
    back = _stand_ins(matrix, grown, vectors, across=True)
    if grown.source.symmetric:  # each has its own landmarks filled
        forth, back = np.where(np.isnan(forth), back, forth), np.where(np.isnan(back), forth, back)
    return grown.filled(forth, back)


def _stand_ins(
    matrix: Factors, grown: Grown, vectors: SingleArray | None, *, across: bool
) -> FloatArray:
    """Fill the gaps in new items' lines; what a guide says is taken off first, and put back."""
    source = grown.source
    lines = grown.back if across else grown.forth
    landmarks = source.right_landmarks if across else source.left_landmarks
    tall, other = (matrix.right, matrix.left) if across else (matrix.left, matrix.right)
    assert lines is not None  # noqa: S101 - the caller looked
    assert landmarks is not None  # noqa: S101 - they were compared
    # Factors and lines may have the landmarks in different orders.
    there = np.flatnonzero(lines.hold(landmarks))
    places = lines.place[landmarks[there]]
    unit = float(np.ldexp(1.0, -source.power))
    said = np.zeros((len(lines.values), len(there)))
    if source.guide is not None and vectors is not None:
        marks = other[landmarks, len(landmarks) : -1] / unit
        said = unit * source.guide.said(vectors, marks[there])
    new = np.ldexp(lines.values[:, places], source.power) - said
    old = tall[:: max(1, len(tall) // _OLD_ITEMS), there]
    filled = stand_ins(np.vstack([old, new]))[len(old) :] + said
    values = lines.values.copy()
    values[:, places] = np.ldexp(filled, -source.power)
    return np.where(np.isnan(lines.values), values, lines.values)
