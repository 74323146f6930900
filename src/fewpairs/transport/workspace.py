"""The arrays that one thread solves problem after problem in."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.transport.reductions import COMPILED, INLINED, uncounted


class Workspace(NamedTuple):
    """One problem: what it moves, its tree and its duals. M = 64·W is the capacity."""

    costs: FloatArray  # M·M, used as rows × padded columns
    supply: FloatArray
    demand: FloatArray
    rows: IntArray  # which words of the one document keep mass
    columns: IntArray  # which of the other
    left_over: FloatArray
    u: FloatArray
    v: FloatArray
    row_mean: FloatArray
    column_mean: FloatArray
    row_least: FloatArray
    row_place: IntArray
    flow: FloatArray  # 2M
    parent: IntArray  # 2M
    order: IntArray  # 2M
    inside: npt.NDArray[np.uint64]  # 2M × 2W
    moved: npt.NDArray[np.uint64]  # 2W
    passed: npt.NDArray[np.uint64]  # 2W


@njit(**COMPILED)
def make_workspace(largest):
    """Allocate for problems of up to `largest` rows and columns."""
    words = (largest + 63) // 64
    m = words * 64
    return Workspace(
        np.empty(m * m),
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
def borrowed(owner):
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
