"""emd(): the exact earth mover's distance between two lists of masses."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.transport.masses import common_unit, read_masses, read_numbers, times_power
from fewpairs.transport.single import best_flows, moved_cost


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
        Not negative; their sums must agree to 1e-6 of their size, as those of weights do that
        were divided by their sum in single precision. `b` is then scaled to the sum of `a`.
        Masses below 2⁻⁵³ of the total that the other side does not hold count as rounding: what
        becomes of them is not defined, and nothing need be paid for them.
    cost : array of shape (n, m)
        What one unit costs from i to j; any finite numbers, however much they differ. For a
        forbidden way pass a large one, such as 1e100; if it must be used, the result shows it.
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
    # Powers of two change no digit: whatever the units, it is the same problem.
    supply, demand, exponent = common_unit(supply, demand)
    rows, columns = np.flatnonzero(supply), np.flatnonzero(demand)
    flows = np.zeros(costs.shape)
    if not len(rows):
        return (0.0, flows) if plan else 0.0
    if len(rows) * len(columns) == costs.size:  # as nearly always; indexing takes its time
        flows = best_flows(costs, supply, demand)
    else:
        there = np.ix_(rows, columns)
        flows[there] = best_flows(costs[there], supply[rows], demand[columns])
    total, cost_exponent = moved_cost(flows, costs)
    with np.errstate(over="ignore"):
        paid = float(np.ldexp(total, cost_exponent + exponent))
    if not np.isfinite(paid):
        raise InputError(
            "the cost of moving is too large for a number.",
            f"Costs of up to {np.abs(costs).max():.3g} are paid for masses of up to "
            f"{max(np.max(a), np.max(b)):.3g}.",
            "Divide the costs or the masses by a large number.",
        )
    return (paid, times_power(flows, exponent)) if plan else paid


def _checked(
    a: npt.ArrayLike, b: npt.ArrayLike, cost: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arguments as arrays; refuse what cannot be moved, or not at a definite cost."""
    supply, demand = read_masses(a, "a"), read_masses(b, "b")
    costs = np.ascontiguousarray(read_numbers(cost, "cost"))
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
            "Pass finite costs; for a forbidden way pass a large one, for example 1e100.",
        )
    return supply, demand, costs
