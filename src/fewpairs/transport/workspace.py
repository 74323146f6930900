"""The arrays in which one thread solves problem after problem, and how a problem is laid out.

Sets of rows and of columns are bit sets, so a problem has room for M rows and M columns, with M a
multiple of 64. Rows of costs are padded to whole vectors of eight numbers.
"""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.transport.reductions import FINITE_ONLY, INLINED, uncounted

#: Masses below this are rounding: weights sum to one, and one is exact to 1e-16.
NO_MASS = 1e-15
#: Cost of a padded column: no minimum falls on it, and it stays far below `INFINITE`.
PADDING_COST = 1e200


class Workspace(NamedTuple):
    """One problem: what is to be moved, the tree of flows, and the duals.

    Nodes of the tree are numbered: row i is node i, column j is node M + j. A set of nodes has W
    words of 64 bits for the rows, then W for the columns.
    """

    costs: FloatArray  # used as rows × padded columns
    supply: FloatArray
    demand: FloatArray
    rows: IntArray  # which words of the one document keep mass
    columns: IntArray  # which words of the other
    left_over: FloatArray  # the other document's mass that is not matched yet
    u: FloatArray  # duals of the rows
    v: FloatArray  # duals of the columns
    row_mean: FloatArray
    column_mean: FloatArray
    row_least: FloatArray  # the cheapest centred cost of each row
    row_place: IntArray  # and its column
    flow: FloatArray  # 2M: what moves between a node and its parent
    parent: IntArray  # 2M
    order: IntArray  # 2M: nodes in the order in which they were struck out
    inside: npt.NDArray[np.uint64]  # 2M × 2W: the set of nodes in each subtree
    moved: npt.NDArray[np.uint64]  # 2W: the subtree that a pivot moves
    passed: npt.NDArray[np.uint64]  # 2W: what a walk up that subtree has left below


@njit(**INLINED)
def padded(count: int) -> int:
    """Round up to whole vectors of eight numbers."""
    return (count + 7) // 8 * 8


@njit(**INLINED)
def words_of(rows: int, columns: int) -> int:
    """Return how many 64-bit words hold a set of rows, or of columns, of this problem."""
    return (max(rows, columns) + 63) // 64


@njit(**FINITE_ONLY)
def make_workspace(largest: int, cells: int) -> Workspace:
    """Allocate for problems of up to `largest` rows and columns, and `cells` padded costs."""
    words = (largest + 63) // 64
    m = words * 64
    return Workspace(
        np.empty(cells),
        np.empty(m),
        np.empty(m),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m, np.int64),
        np.empty(2 * m),
        np.empty(2 * m, np.int64),
        np.empty(2 * m, np.int64),
        np.empty((2 * m, 2 * words), np.uint64),
        np.empty(2 * words, np.uint64),
        np.empty(2 * words, np.uint64),
    )


@njit(**INLINED)
def borrowed(owner: Workspace) -> Workspace:
    """Return the same arrays without counting references; `owner` must be an argument."""
    return Workspace(
        uncounted(owner.costs),
        uncounted(owner.supply),
        uncounted(owner.demand),
        uncounted(owner.rows),
        uncounted(owner.columns),
        uncounted(owner.left_over),
        uncounted(owner.u),
        uncounted(owner.v),
        uncounted(owner.row_mean),
        uncounted(owner.column_mean),
        uncounted(owner.row_least),
        uncounted(owner.row_place),
        uncounted(owner.flow),
        uncounted(owner.parent),
        uncounted(owner.order),
        uncounted(owner.inside),
        uncounted(owner.moved),
        uncounted(owner.passed),
    )
