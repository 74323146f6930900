"""What vectors of a guide are measured along: kept, so that new items are measured likewise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray

#: Columns that a sparse table is reduced to; more gain little (docs/tables/candidates.md).
DIMENSIONS = 128


class Basis(NamedTuple):
    """A linear map, from columns of a sparse table or from similarities with some items.

    Attributes
    ----------
    places : ndarray
        Which columns of the table, or which items.
    matrix : ndarray of shape (places, d)
    columns : int
        Of the whole table; 0 where `places` are items.
    """

    places: IntArray
    matrix: FloatArray
    columns: int = 0

    @property
    def of_items(self) -> bool:
        """Whether vectors are made of similarities with some of the items."""
        return self.columns == 0

    def of(self, table: Any) -> FloatArray:
        """Return rows of a sparse table along it."""
        return np.asarray(sp.csc_array(table)[:, self.places] @ self.matrix)


def leading_directions(table: Any) -> Basis | None:
    """Return the leading directions of a sparse table; None where it has few columns or rows."""
    if min(table.shape) <= DIMENSIONS:
        return None
    used = np.unique(sp.coo_array(table).col).astype(np.int64)
    if not len(used):  # nothing but zeros has no directions
        return Basis(used, np.zeros((0, DIMENSIONS)), int(table.shape[1]))
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 - takes a second to load

    # The seed is fixed: a guide is a function of the items.
    directions = TruncatedSVD(DIMENSIONS, random_state=0).fit(sp.csr_matrix(table))
    # Columns that are empty have no part in any direction.
    matrix = np.ascontiguousarray(directions.components_[:, used].T, dtype=np.float64)
    return Basis(used, matrix, int(table.shape[1]))
