"""The transportation simplex once more, in whole numbers of any size: slow, and never wrong.

Costs that differ by more than ten orders of magnitude are too much for `simplex.py`: beside a cost
of 1e12, a difference of 1e-4 is rounding. Every float is a whole number of some smallest unit, and
Python's integers have room for all of them. So here sums are exact, signs are certain, and the
method ends at the optimum, but for one part in 10¹⁴ of what is paid. It begins with the tree that
`simplex.py` has left, which is near.

Most reduced costs are plainly positive already in floats, and only the doubtful ones are computed
in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray

#: Bits of a float64's digits.
_DIGITS = 53
#: Masses are rounded to one part in 2⁵³. A flow is a difference between sums of masses; where it is
#: below one part in 2⁵⁰ of them, it is that rounding, and nothing is paid for it.
_ROUNDED = 50
#: One part in 2⁴⁶ of what is paid is rounding of a float that is returned.
_NOTHING = 46
#: Three operations on floats are wrong by less than this share of their largest term.
_DOUBT = 2.0**-50
#: Added to it, because the smallest floats have fewer digits.
_SMALLEST = 1e-300


def exact_flows(
    costs: FloatArray,
    supply: FloatArray,
    demand: FloatArray,
    row_above: IntArray,
    column_above: IntArray,
) -> FloatArray:
    """Return an optimal plan.

    Parameters
    ----------
    costs : ndarray of shape (n, m)
        Finite.
    supply, demand : ndarray of shape (n,), (m,)
        Positive. Demands are multiplied by the ratio of the two sums, exactly.
    row_above, column_above : ndarray of int of shape (n,), (m,)
        A tree to begin with: the column above each row and the row above each column; -1 at the
        root.

    Returns
    -------
    ndarray of shape (n, m)
    """
    supplies, demands, unit = _whole_masses(supply, demand)
    tree = _first_tree(costs, [*supplies], [*demands], row_above, column_above)
    _improve(tree, costs, supplies + demands)
    flows = np.zeros(costs.shape)
    n = tree.rows
    for node, flow in _without_rounding(tree, supplies + demands):
        above = tree.parent[node]
        cell = (node, above - n) if node < n else (above, node - n)
        flows[cell] = flow / unit
    return flows


@dataclass(eq=False)
class _Tree:
    """A spanning tree of rows 0, 1, … and columns `rows`, `rows` + 1, …, with its flows.

    It is strongly feasible: an arc without flow has its row below its column. See `simplex.py`.
    """

    rows: int
    parent: list[int]
    flow: list[int]

    def downwards(self) -> list[int]:
        """Return all nodes, each after its parent."""
        children: list[list[int]] = [[] for _ in self.parent]
        for node, above in enumerate(self.parent):
            if above >= 0:
                children[above].append(node)
        order = [self.parent.index(-1)]
        for node in order:  # grows while it is walked through
            order.extend(children[node])
        return order

    def upwards(self, node: int) -> list[int]:
        """Return the nodes from this one to the root."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parent[node]
        return path


class _WholeCosts:
    """Costs as whole numbers of their smallest unit."""

    def __init__(self, costs: FloatArray) -> None:
        self._digits, self._shifts, self.lowest = _whole(costs)

    def __call__(self, row: int, column: int) -> int:
        return int(self._digits[row, column]) << int(self._shifts[row, column])


def _whole(values: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Return d, s and k such that each value is d·2^(s + k), with s not negative."""
    shares, exponents = np.frexp(values)
    digits = np.ldexp(shares, _DIGITS).astype(np.int64)
    exponents = exponents.astype(np.int64) - _DIGITS
    lowest = int(exponents[digits != 0].min(initial=0))
    return digits, np.where(digits != 0, exponents - lowest, 0), lowest


def _whole_masses(supply: FloatArray, demand: FloatArray) -> tuple[list[int], list[int], int]:
    """Return masses as whole numbers, equal in sum, and how many of them are 1."""
    digits, shifts, lowest = _whole(np.concatenate([supply, demand]))
    whole = [d << s for d, s in zip(digits.tolist(), shifts.tolist(), strict=True)]
    supplies, demands = whole[: len(supply)], whole[len(supply) :]
    unit = 1 << -lowest
    totals = sum(supplies), sum(demands)
    if totals[0] != totals[1]:
        supplies = [totals[1] * mass for mass in supplies]
        demands = [totals[0] * mass for mass in demands]
        unit *= totals[1]
    return supplies, demands, unit


def _first_tree(
    costs: FloatArray,
    supply: list[int],
    demand: list[int],
    row_above: IntArray,
    column_above: IntArray,
) -> _Tree:
    """Ship along the given tree, from its leaves; then along the cheapest cells that are left.

    Lines are struck out as in `first_tree.py`. Where rounding has made the given tree impossible,
    its arc is passed over.
    """
    n, m = costs.shape
    given = [n + int(j) if j >= 0 else -1 for j in row_above] + column_above.tolist()
    tree = _Tree(n, [-1] * (n + m), [0] * (n + m))
    left = [set(range(n)), set(range(m))]

    def ship(row: int, column: int, only: int | None) -> None:
        goes = len(left[0]) > 1 and (len(left[1]) == 1 or supply[row] < demand[column])
        gone, stays = (row, n + column) if goes else (n + column, row)
        if only is not None and gone != only:
            return
        amount = supply[row] if goes else demand[column]
        tree.parent[gone], tree.flow[gone] = stays, amount
        supply[row] -= amount
        demand[column] -= amount
        left[0 if goes else 1].remove(row if goes else column)

    for node in reversed(_Tree(n, given, []).downwards()):
        above = given[node]
        row, column = (node, above - n) if node < n else (above, node - n)
        if above >= 0 and row in left[0] and column in left[1]:
            ship(row, column, node)
    while len(left[0]) + len(left[1]) > 1:
        rows, columns = (np.array(sorted(lines)) for lines in left)
        place = int(np.argmin(costs[np.ix_(rows, columns)]))
        ship(int(rows[place // len(columns)]), int(columns[place % len(columns)]), None)
    return tree


def _improve(tree: _Tree, costs: FloatArray, masses: list[int]) -> None:
    """Pivot, row after row, until no reduced cost is negative by more than a rounding."""
    whole = _WholeCosts(costs)
    n = tree.rows
    top = math.frexp(float(np.abs(costs).max()))[1]
    rough = np.ldexp(costs, -top)
    unit = 1 << (top - whole.lowest)  # what 1 is in `rough`
    sizes = np.abs(rough)
    duals, rough_duals = _duals(tree, whole, unit)
    slack = _slack(tree, whole, masses)
    row, unpriced = 0, n
    while unpriced:
        reduced = rough[row] - rough_duals[row] - rough_duals[n:]
        doubt = _DOUBT * (sizes[row] + abs(rough_duals[row]) + np.abs(rough_duals[n:])) + _SMALLEST
        column = int(np.argmin(reduced))
        negative = bool(reduced[column] < -doubt[column] - slack / unit)
        if not negative:
            doubtful = np.flatnonzero(reduced < doubt - slack / unit).tolist()
            exact = [(whole(row, j) - duals[row] - duals[n + j], j) for j in doubtful]
            least, column = min(exact, default=(0, 0))
            negative = least < -slack
        if negative:
            _pivot(tree, row, n + column)
            duals, rough_duals = _duals(tree, whole, unit)
            slack = _slack(tree, whole, masses)
            unpriced = n + 1
        row = row + 1 if row + 1 < n else 0
        unpriced -= 1


def _slack(tree: _Tree, whole: _WholeCosts, masses: list[int]) -> int:
    """Return a share of the mean cost that is paid; a reduced cost above minus that is nothing.

    Without it, differences of 1e-300 would be settled one by one beside costs of 1. Flows that are
    rounding do not count: at a cost of 1e300, they would make everything else nothing.
    """
    n, paid, moved = tree.rows, 0, 1
    for node, flow in _without_rounding(tree, masses):
        above = tree.parent[node]
        cost = whole(node, above - n) if node < n else whole(above, node - n)
        paid += flow * abs(cost)
        moved += flow
    return (paid // moved) >> _NOTHING


def _duals(tree: _Tree, whole: _WholeCosts, unit: int) -> tuple[list[int], FloatArray]:
    """Return the duals of all nodes, exactly and as floats: two of them sum to an arc's cost."""
    n = tree.rows
    duals = [0] * len(tree.parent)
    for node in tree.downwards()[1:]:
        above = tree.parent[node]
        cost = whole(node, above - n) if node < n else whole(above, node - n)
        duals[node] = cost - duals[above]
    return duals, np.array([dual / unit for dual in duals])


def _pivot(tree: _Tree, row: int, end: int) -> None:
    """Let a cell enter the tree, by Cunningham's rule; see `pivot.py`."""
    n, parent, flow = tree.rows, tree.parent, tree.flow
    from_row, from_end = tree.upwards(row), tree.upwards(end)
    while from_row and from_end and from_row[-1] == from_end[-1]:  # at last, all up to the apex
        from_row.pop()
        from_end.pop()
    losing = [node for node in from_row if node < n]
    leaving = min(losing, key=flow.__getitem__, default=-1)  # the first of equal ones
    on_columns_side = False
    for node in from_end:
        if node >= n and (leaving < 0 or flow[node] <= flow[leaving]):
            leaving, on_columns_side = node, True
    amount = flow[leaving]
    for node in from_row:
        flow[node] += -amount if node < n else amount
    for node in from_end:
        flow[node] += amount if node < n else -amount
    node, above = (end, row) if on_columns_side else (row, end)
    carried = amount
    while True:  # the path up to what leaves is turned over
        old_parent, old_flow = parent[node], flow[node]
        parent[node], flow[node] = above, carried
        if node == leaving:
            return
        above, carried, node = node, old_flow, old_parent


def _without_rounding(tree: _Tree, masses: list[int]) -> list[tuple[int, int]]:
    """Return the nodes and flows of all arcs but those that only carry rounding of the masses.

    What remains of an optimal plan is optimal for what it moves.
    """
    below = list(masses)  # of whole subtrees, when all children were added
    total = sum(masses)
    kept = []
    for node in reversed(tree.downwards()[1:]):
        below[tree.parent[node]] += below[node]
        sums = min(below[node], total - below[node])
        if tree.flow[node] << _ROUNDED > sums:
            kept.append((node, tree.flow[node]))
    return kept
