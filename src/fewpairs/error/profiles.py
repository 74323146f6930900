"""Profiles: unit vectors that tell items apart by the evaluated lines, within a set and across two.

Items with similar profiles are likely near-duplicates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.files.scratch import tall_beside
from fewpairs.numerics import double, parts, row_squares

#: Directions of the columns with less than this share of the mean variance are faded out: their
#: differences are mostly noise, and whitening would blow them up.
_FADED = 1e-3
#: From this many columns on, other axes are taken, which a Cholesky decomposition gives in a
#: twentieth of the time. Products of profiles are the same; below, time is no matter.
_MANY = 1000


def profiles(columns: FloatArray, rows: IntArray, others: FloatArray | None = None) -> SingleArray:
    """Return unit vectors that tell items apart by their columns: centred, softly whitened.

    With Y = UΣVᵀ the centred columns of the items `rows`, they are the rows of
    UΣ/√(Σ² + 10⁻³·mean Σ²), scaled to length one, in single precision. The columns are read in
    blocks; of columns on disk the profiles are there, too.

    Parameters
    ----------
    columns : ndarray
        A line for each item.
    rows : ndarray
        Items whose profiles are wanted.
    others : ndarray, optional
        Further columns: the evaluated rows, transposed, where the order of a pair matters.

    Returns
    -------
    ndarray, float32
    """
    lines = _Lines(columns, others)
    centre, axes, triangular = _whitening(lines, rows)
    # With fewer lines results keep their last bits.
    many = others is not None and lines.width >= 2 * _MANY
    return _units(lines, rows, centre, axes, triangular=triangular and many)


def paired_profiles(
    columns: FloatArray, rows: IntArray, lines: FloatArray, others: IntArray, crossing: FloatArray
) -> tuple[SingleArray, SingleArray]:
    """Return unit vectors of two sets of items that can be compared across the sets.

    Rows are told apart by the evaluated columns, columns by the evaluated rows: other items, and so
    other axes. Both are centred and softly whitened, as profiles are; what they have in common is
    the crossing of those lines, whose singular vectors, once it is whitened from both sides, turn
    one set of axes into the other.

    Parameters
    ----------
    columns, lines : ndarray
        Evaluated columns, and evaluated rows, transposed.
    rows, others : ndarray
        Items of both sets whose profiles are wanted.
    crossing : ndarray
        Where evaluated rows and columns meet.

    Returns
    -------
    of_rows, of_columns : ndarray, float32
    """
    of_rows, of_columns = _Lines(columns), _Lines(lines)
    centre, whitening, _ = _whitening(of_rows, rows)
    other_centre, other_whitening, _ = _whitening(of_columns, others)
    middle = crossing - crossing.mean(axis=0) - crossing.mean(axis=1)[:, None] + crossing.mean()
    left, _, right = np.linalg.svd(other_whitening.T @ middle @ whitening, full_matrices=False)
    return (
        _units(of_rows, rows, centre, whitening @ right.T),
        _units(of_columns, others, other_centre, other_whitening @ left),
    )


class _Lines(NamedTuple):
    """Columns, and further ones beside them, which are put together a block at a time."""

    columns: FloatArray
    others: FloatArray | None = None

    @property
    def width(self) -> int:
        return int(self.columns.shape[1] + (0 if self.others is None else self.others.shape[1]))

    def of(self, rows: IntArray) -> FloatArray:
        if self.others is None:
            return double(self.columns[rows])
        return double(np.hstack([self.columns[rows], self.others[rows]]))


def _whitening(lines: _Lines, rows: IntArray) -> tuple[FloatArray, FloatArray, bool]:
    """Return the mean of the columns, and what whitens them softly, an axis a column.

    And whether the axes are an upper triangle, of which no product with zeros need be computed.
    """
    width = lines.width
    gram, total = np.zeros((width, width)), np.zeros(width)
    for part in parts(len(rows)):
        block = lines.of(rows[part])
        gram += block.T @ block
        total += block.sum(axis=0)
    centre = total / max(1, len(rows))
    gram -= len(rows) * np.outer(centre, centre)
    faded = _FADED * float(np.trace(gram)) / max(1, width)
    if width >= _MANY and faded > 0:
        # With G + cI = RᵀR, products along the columns of R⁻¹ are those of (G + cI)⁻¹.
        gram[np.diag_indices(width)] += faded
        root = scipy.linalg.cholesky(gram, overwrite_a=True, check_finite=False)
        return centre, np.asarray(scipy.linalg.lapack.dtrtri(root, overwrite_c=True)[0]), True
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    values = np.maximum(values, 0)
    soft = np.sqrt(values + _FADED * values.mean())
    return centre, np.divide(vectors, soft, out=np.zeros_like(vectors), where=soft > 0), False


def _units(
    lines: _Lines, rows: IntArray, centre: FloatArray, axes: FloatArray, *, triangular: bool = False
) -> SingleArray:
    result = tall_beside(lines.columns, len(rows), axes.shape[1])
    for part in parts(len(rows)):
        block = lines.of(rows[part]) - centre
        if triangular:
            # Transposed, because BLAS reads arrays column by column.
            product = scipy.linalg.blas.dtrmm(1.0, axes, block.T, trans_a=1, overwrite_b=1)
            block = np.asarray(product).T
        else:
            block = block @ axes
        lengths = np.sqrt(row_squares(block))
        result[part] = block / np.maximum(lengths, np.finfo(float).tiny)[:, None]
    return result
