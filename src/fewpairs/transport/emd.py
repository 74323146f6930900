"""emd(): the exact earth mover's distance between two weight vectors."""

# mypy: disable-error-code="no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.parallel import announce
from fewpairs.transport.reductions import COMPILED
from fewpairs.transport.simplex import (
    PADDING_COST,
    padded,
    solve,
    words_of,
)
from fewpairs.transport.workspace import make_workspace

_SAME_MASS = 1e-8


@overload
def emd(
    a: npt.ArrayLike, b: npt.ArrayLike, cost: npt.ArrayLike, *, plan: Literal[False] = False
) -> float: ...
@overload
def emd(
    a: npt.ArrayLike, b: npt.ArrayLike, cost: npt.ArrayLike, *, plan: Literal[True]
) -> tuple[float, FloatArray]: ...
def emd(
    a: npt.ArrayLike, b: npt.ArrayLike, cost: npt.ArrayLike, *, plan: bool = False
) -> float | tuple[float, FloatArray]:
    """Return the least cost of moving the masses `a` to the masses `b`.

    Parameters
    ----------
    a, b : array of shape (n,), (m,)
        Not negative; their sums must agree to 1e-8 of their size (`b` is scaled to the last bit).
    cost : array of shape (n, m)
        What one unit costs from i to j; any finite numbers.
    plan : bool, default=False
        Also return the n × m flows.

    Returns
    -------
    cost : float
    flows : ndarray of shape (n, m), if `plan`

    Examples
    --------
    >>> emd([0.5, 0.5], [1.0], [[1.0], [3.0]])
    2.0
    """
    supply, demand, costs = (np.array(x, dtype=np.float64) for x in (a, b, cost))
    _check(supply, demand, costs)
    rows, columns = np.flatnonzero(supply > 0), np.flatnonzero(demand > 0)
    flows = np.zeros(costs.shape)
    total = 0.0
    if len(rows) and len(columns):
        # Weights that sum to one, whatever unit the masses have: tolerances are absolute.
        mass = float(supply.sum())
        shares = supply[rows] / mass
        part = np.zeros((len(rows), len(columns)))
        inner = np.ascontiguousarray(costs[np.ix_(rows, columns)])
        # The simplex stops by the largest cost; shifting all costs changes every flow alike.
        low = float(inner.min())
        announce(_solve_one, "the transport solver")
        demands = demand[columns] / float(demand.sum())
        total = (float(_solve_one(inner - low, shares, demands, part)) + low) * mass
        flows[np.ix_(rows, columns)] = part * mass
    return (total, flows) if plan else total


def _check(supply: FloatArray, demand: FloatArray, costs: FloatArray) -> None:
    if supply.ndim != 1 or demand.ndim != 1 or costs.shape != (len(supply), len(demand)):
        raise InputError(
            f"the masses have the shapes {supply.shape} and {demand.shape}, the costs "
            f"{costs.shape}.",
            "There is one cost for each pair of places.",
            "Pass masses of n and m places and an n × m array of costs.",
        )
    if not costs.size or not np.isfinite(costs).all():
        raise InputError(
            "the costs are empty or not finite.",
            "The cheapest way to move is not defined.",
            "Pass finite costs; for a forbidden way pass a large number.",
        )
    for name, masses in (("a", supply), ("b", demand)):
        bad = np.flatnonzero(~(masses >= 0) | ~np.isfinite(masses))
        if len(bad):
            raise InputError(
                f"{name}[{bad[0]}] is {masses[bad[0]]}.",
                "A mass is a finite number, 0 or more.",
                "Remove or repair it.",
            )
    if abs(supply.sum() - demand.sum()) > _SAME_MASS * max(supply.sum(), demand.sum()):
        raise InputError(
            f"a sums to {supply.sum():.9g} and b to {demand.sum():.9g}.",
            "All that leaves must arrive.",
            "Divide each by its sum.",
        )


@njit(**COMPILED)
def _solve_one(costs: Any, supply: Any, demand: Any, flows: Any) -> Any:
    """Solve one problem and write its flows."""
    rows, columns = costs.shape
    space = make_workspace(max(rows, columns))
    width = padded(columns)
    inner = space.costs[: rows * width].reshape(rows, width)
    for i in range(rows):
        space.supply[i] = supply[i]
        for j in range(columns):
            inner[i, j] = costs[i, j]
        for j in range(columns, width):
            inner[i, j] = PADDING_COST
    for j in range(columns):
        space.demand[j] = demand[j]
    total = solve(inner, rows, columns, space)
    m = 64 * words_of(rows, columns)
    for i in range(rows):
        if space.parent[i] >= 0:
            flows[i, space.parent[i] - m] = space.flow[i]
    for j in range(columns):
        if space.parent[m + j] >= 0:
            flows[space.parent[m + j], j] = space.flow[m + j]
    return total
