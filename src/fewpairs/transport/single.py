"""One transport problem of any costs: solved, and not handed out before it is known to be optimal.

Any numbers u, v prove a lower bound: no plan costs less than Σ aᵢuᵢ + Σ bⱼvⱼ, less the mass times
the most by which some uᵢ + vⱼ is above its cost. The solver's duals prove that its plan is optimal
but for a small share of its cost, rounding included. Where they do not,

1. costs far above those of the plan are lowered to one level, below which small differences count
   again. A bound for the lowered costs is one for the true ones, too. Repeated, while it helps;
2. what is still not proven is solved in whole numbers (`exact.py`).
"""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.parallel import announce
from fewpairs.transport.exact import exact_flows
from fewpairs.transport.masses import balanced, times_power
from fewpairs.transport.reductions import FINITE_ONLY, INLINED, smaller
from fewpairs.transport.simplex import solve
from fewpairs.transport.workspace import PADDING_COST, Workspace, make_workspace, padded, words_of

#: A plan is optimal if it costs at most this share more than a bound.
_PROVEN = 1e-10
#: Costs above this many times the mean cost of a plan are lowered. Rounding beside them is 1e-14 of
#: that mean.
_LEVEL = 2.0**7
#: A level is worth another attempt if it is this many times lower than the last one.
_LOWER = 4.0
#: Below this share of the largest cost, floats begin to lose digits.
_VANISHING = 1e-280
#: Rounding of a reduced cost is below this share of its terms.
_ROUNDING = 2.0**-51


class _Attempt(NamedTuple):
    """A plan, its tree, and by how much it may lie above the optimum, in units of its cost."""

    flows: FloatArray
    row_above: IntArray
    column_above: IntArray
    excess: float


def best_flows(costs: FloatArray, supply: FloatArray, demand: FloatArray) -> FloatArray:
    """Return an optimal plan.

    Parameters
    ----------
    costs : ndarray of shape (n, m)
        Finite.
    supply, demand : ndarray of shape (n,), (m,)
        Positive; with sums from 1 to 2 that are equal but for rounding.

    Returns
    -------
    ndarray of shape (n, m)
    """
    demands = balanced(supply, demand)
    if len(supply) == 1:
        return demands[None, :]
    if len(demand) == 1:
        return supply[:, None]
    announce(_solve_one, "the transport solver")
    level = float(np.abs(costs).max())
    while True:
        found = _attempt(costs, level, supply, demands)
        if found.excess <= _PROVEN:
            return found.flows
        # Not below what this plan pays for: dearer plans would look as cheap.
        size, exponent = moved_cost(found.flows, np.abs(costs))
        dearest = float(np.abs(costs[found.flows > 0]).max())
        with np.errstate(over="ignore"):
            lower = max(float(np.ldexp(_LEVEL * size, exponent)), _LOWER * dearest)
        if not 0 < lower < level / _LOWER:
            return exact_flows(costs, supply, demand, found.row_above, found.column_above)
        level = lower


def moved_cost(flows: FloatArray, costs: FloatArray) -> tuple[float, int]:
    """Return s and k such that the plan costs s·2^k; neither over- nor underflows."""
    used = np.flatnonzero(flows)
    paid = costs.ravel()[used]
    exponent = int(np.frexp(np.abs(paid).max(initial=0.0))[1])
    return float((flows.ravel()[used] * times_power(paid, -exponent)).sum()), exponent


def _attempt(costs: FloatArray, level: float, supply: FloatArray, demand: FloatArray) -> _Attempt:
    """Solve with all costs above a level lowered to it."""
    # A power of two brings costs to 1 at most, and changes no digit.
    exponent = int(np.frexp(max(level, -float(costs.min())))[1])
    lowered = times_power(np.minimum(costs, level), -exponent)
    # The solver's threshold is a share of the mean cost: costs that all lie near 1000 would make
    # it coarse. Subtracting the same from all costs changes no flow.
    lowest = float(lowered.min())
    flows = np.zeros(costs.shape)
    above = np.empty(len(supply), np.int64), np.empty(len(demand), np.int64)
    gap, size = _solve_one(lowered - lowest, lowest, supply, demand, flows, *above)
    dear = np.flatnonzero(flows * (costs > level))
    if len(dear):
        with np.errstate(over="ignore"):  # infinitely far above the level is not proven, rightly
            above_level = np.ldexp(costs.ravel()[dear], -exponent) - lowered.ravel()[dear]
            more = float((flows.ravel()[dear] * above_level).sum())
        gap, size = gap + more, size + more
    if size < _VANISHING:  # beside the level, what is paid is lost in floats; unless it is nothing
        free = lowest >= 0 and not costs[flows > 0].any()
        return _Attempt(flows, *above, 0.0 if free else np.inf)
    return _Attempt(flows, *above, gap / size if np.isfinite(size) else np.inf)


@njit(**FINITE_ONLY)
def _solve_one(
    costs: FloatArray,
    lowest: float,
    supply: FloatArray,
    demand: FloatArray,
    flows: FloatArray,
    row_above: IntArray,
    column_above: IntArray,
) -> tuple[float, float]:
    """Solve one problem, and write its flows and its tree.

    Parameters
    ----------
    costs : ndarray
        From 0 to 2.
    lowest : float
        What was subtracted from all of them.
    supply, demand, flows, row_above, column_above : ndarray

    Returns
    -------
    gap : float
        The plan costs at most this much more than the optimum.
    size : float
        What it costs, every cost taken as positive.
    """
    rows, columns = costs.shape
    width = padded(columns)
    space = make_workspace(max(rows, columns), rows * width)
    inner = space.costs.reshape(rows, width)
    for i in range(rows):
        space.supply[i] = supply[i]
        for j in range(columns):
            inner[i, j] = costs[i, j]
        for j in range(columns, width):
            inner[i, j] = PADDING_COST
    for j in range(columns):
        space.demand[j] = demand[j]
    solve(inner, rows, columns, space)
    m = 64 * words_of(rows, columns)  # the number of the first column's node
    for i in range(rows):
        above = space.parent[i]
        row_above[i] = above - m if above >= 0 else -1
        if above >= 0:
            flows[i, above - m] = space.flow[i]
    for j in range(columns):
        column_above[j] = space.parent[m + j]
        if column_above[j] >= 0:
            flows[column_above[j], j] = space.flow[m + j]
    gap, size = _gap(costs, lowest, m, space)
    return gap, size


@njit(**INLINED)
def _gap(costs: FloatArray, lowest: float, m: int, space: Workspace) -> tuple[float, float]:
    """Return what `_solve_one` does, from the tree and its duals; column j is node m + j."""
    rows, columns = costs.shape
    # Where the lowest cost is negative, the difference may be rounded by more than the cost.
    shifted = max(-lowest, 0.0)
    gap, mass, size = 0.0, 0.0, 0.0
    for k in range(rows + columns):
        node = k if k < rows else m + k - rows
        above, flow = space.parent[node], space.flow[node]
        if above >= 0:
            i, j = (node, above - m) if node < m else (above, node - m)
            u, v = space.u[i], space.v[j]
            rounding = _ROUNDING * (costs[i, j] + abs(u) + abs(v) + shifted)
            gap += flow * max(costs[i, j] - u - v + rounding, 0.0)
            mass += flow
            size += flow * abs(costs[i, j] + lowest)
    worst = 0.0
    for i in range(rows):
        u = space.u[i]
        for j in range(columns):
            v = space.v[j]
            rounding = _ROUNDING * (costs[i, j] + abs(u) + abs(v) + shifted)
            worst = smaller(costs[i, j] - u - v - rounding, worst)
    return gap - mass * worst, size
