"""emd(): the exact earth mover's distance between two lists of masses."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Literal, overload

import numpy as np
import numpy.typing as npt
from numba import njit

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.parallel import announce
from fewpairs.transport.masses import read_masses, refuse_unequal
from fewpairs.transport.reductions import FINITE_ONLY
from fewpairs.transport.simplex import solve
from fewpairs.transport.workspace import PADDING_COST, make_workspace, padded, words_of


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
    supply, demand, costs = _checked(a, b, cost)
    rows, columns = np.flatnonzero(supply > 0), np.flatnonzero(demand > 0)
    flows = np.zeros(costs.shape)
    total = 0.0
    if len(rows) and len(columns):
        # The solver's tolerances are absolute, so it gets shares of all mass, whatever the unit.
        mass = float(supply.sum())
        shares, demands = supply[rows] / mass, demand[columns] / float(demand.sum())
        # It takes very large costs for padding. A power of two brings all of them to 1 at most,
        # and changes no digit.
        needed = costs[np.ix_(rows, columns)]
        exponent = int(np.frexp(np.abs(needed).max())[1])
        needed = np.ldexp(needed, -exponent)
        # Its threshold is a share of the mean cost: costs that all lie near 1000 would make it
        # coarse. Subtracting the same from all costs changes no flow.
        lowest = float(needed.min())
        used = np.zeros(needed.shape)
        announce(_solve_one, "the transport solver")
        least = float(_solve_one(needed - lowest, shares, demands, used)) + lowest
        total = float(np.ldexp(least, exponent)) * mass
        flows[np.ix_(rows, columns)] = used * mass
    return (total, flows) if plan else total


def _checked(
    a: npt.ArrayLike, b: npt.ArrayLike, cost: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arguments as arrays; refuse what cannot be moved, or not at a definite cost."""
    supply, demand = read_masses(a, "a"), read_masses(b, "b")
    costs = np.array(cost, dtype=np.float64)
    if costs.shape != (len(supply), len(demand)):
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
            "Pass finite costs; for a forbidden way pass some thousand times the largest other.",
        )
    refuse_unequal(supply, demand)
    return supply, demand, costs


@njit(**FINITE_ONLY)
def _solve_one(
    costs: FloatArray, supply: FloatArray, demand: FloatArray, flows: FloatArray
) -> float:
    """Solve one problem; write its flows and return its cost."""
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
    m = 64 * words_of(rows, columns)  # the number of the first column's node
    for i in range(rows):
        if space.parent[i] >= 0:
            flows[i, space.parent[i] - m] = space.flow[i]
    for j in range(columns):
        if space.parent[m + j] >= 0:
            flows[space.parent[m + j], j] = space.flow[m + j]
    return float(total)
