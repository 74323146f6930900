"""The transportation simplex: the cheapest way to move masses, exactly, compiled.

Given supplies a (rows), demands b (columns), equal in sum, and costs C, minimise Σ f_ij·C_ij over
flows f ≥ 0 with row sums a and column sums b. An optimal flow lives on a spanning tree of rows and
columns. We keep such a tree and change one arc at a time:

1. `first_tree.py` finds a good tree: from centred costs, the cheapest cell first.
2. It has duals: numbers u, v with u_i + v_j = C_ij along the tree.
3. While some cell has C_ij < u_i + v_j, `pivot.py` lets it enter the tree; one arc leaves.

What holds at every step of 3. Row i is node i, column j is node M + j, with M a multiple of 64.

- `parent[k]` is the node above k, -1 for the root; `flow[k]` is what moves between the two.
- `inside[k]` is the set of nodes in the subtree of k, k included, as bits: W words of rows, then W
  words of columns. One test tells whether a node is an ancestor of another, so neither depths nor
  lists of children are kept, and to hang a subtree elsewhere takes a few logical operations.
- The tree is strongly feasible: an arc without flow points to the root. Leaving arcs are chosen by
  Cunningham's rule, which keeps it so, and then the method cannot cycle.

On documents of 60 words the first tree is within 1 % of the optimum, and about 140 pivots follow.
"""

# mypy: disable-error-code="untyped-decorator,no-any-return"

from __future__ import annotations

from numba import njit

from fewpairs.arrays import FloatArray
from fewpairs.transport.first_tree import centre, find_duals, grow_tree
from fewpairs.transport.pivot import pivot
from fewpairs.transport.reductions import (
    FINITE_ONLY,
    INFINITE,
    INLINED,
    least_difference,
    place_of_difference,
)
from fewpairs.transport.workspace import Workspace, padded, words_of

#: A reduced cost above minus this share of the largest mean cost of a row is rounding: some hundred
#: times the precision of float64. Distances agree with other solvers to 4e-15 of their size.
_TOLERANCE = 1e-13
#: Rows searched before each pivot. One finds poorer arcs: 13 % more time on documents of 66 words.
#: 8 take the same time as 4; 32 save a quarter of the pivots and take 1.7 times as long.
_ROWS_PRICED = 4
#: Only against a loop without end, where rounding defeats Cunningham's rule, as it can with masses
#: from 1 to 1e-57: so many pivots for each row and column, and so many besides. Problems of
#: 1,000 × 1,000 take 2 to 8 for each. What is then not optimal is not proven, either: see
#: `single.py`.
_PIVOTS_PER_LINE, _PIVOTS_BESIDES = 500, 10_000
#: Where a plan costs less than this share of a plan at mean cost, the threshold is coarse for it.
_COARSE = 1e-4
#: Costs are lowered to this many times the mean cost of a plan.
_LEVEL = 2.0**10


@njit(**INLINED)
def solve(costs: FloatArray, rows: int, columns: int, space: Workspace) -> tuple[float, bool]:
    """Return the least cost; supplies and demands are in the workspace, and are used up.

    Parameters
    ----------
    costs : ndarray of shape (rows, padded(columns))
        The last columns filled with `PADDING_COST`.
    rows, columns : int
    space : Workspace
        Afterwards `parent` and `flow` hold the optimal tree, with nodes numbered for
        `words_of(rows, columns)` words.

    Returns
    -------
    total : float
    coarse : bool
        Whether it is so small beside most costs that it may be wrong by more than 1e-9 of itself.
    """
    words = words_of(rows, columns)
    mass = centre(costs, rows, columns, space)
    root = grow_tree(costs, rows, columns, words, space)
    find_duals(costs, rows, columns, words, root, space)
    mean = _improve(costs, rows, columns, words, space)
    total = _cost(costs, rows, columns, words, space)
    return total, 0.0 < total < _COARSE * mass * mean


@njit(**FINITE_ONLY)
def solve_finer(
    costs: FloatArray, rows: int, columns: int, total: float, space: Workspace
) -> float:
    """Solve a problem again, with costs far above those of its plan lowered to one level.

    Small differences are no longer rounding beside them, and a plan that uses no lowered cost is
    optimal for the true ones, too. Repeated, while it helps.

    Parameters
    ----------
    costs : ndarray
        As for `solve`; are lowered.
    rows, columns : int
    total : float
        What `solve` has returned.
    space : Workspace
        As `solve` has left it.

    Returns
    -------
    float
    """
    coarse = True
    while coarse:
        mass, dearest = _masses_of(costs, rows, columns, space)
        level = max(_LEVEL * total / mass, 2.0 * dearest)
        largest = 0.0
        for i in range(rows):
            for j in range(columns):
                largest = max(largest, costs[i, j])
                costs[i, j] = min(costs[i, j], level)
        if largest <= 2.0 * level:
            break
        again, coarse = solve(costs, rows, columns, space)
        if again < total and _masses_of(costs, rows, columns, space)[1] < level:
            total = again
        else:
            break
    return total


@njit(**FINITE_ONLY)
def _masses_of(costs: FloatArray, rows: int, columns: int, space: Workspace) -> tuple[float, float]:
    """Write the masses that a plan moves; return their sum, and the largest cost that is paid."""
    m = 64 * words_of(rows, columns)
    space.supply[:rows] = 0.0
    space.demand[:columns] = 0.0
    mass, dearest = 0.0, 0.0
    for k in range(rows + columns):
        node = k if k < rows else m + k - rows
        above, flow = space.parent[node], space.flow[node]
        if above >= 0 and flow > 0:
            i, j = (node, above - m) if node < m else (above, node - m)
            space.supply[i] += flow
            space.demand[j] += flow
            mass += flow
            dearest = max(dearest, costs[i, j])
    return mass, dearest


@njit(**INLINED)
def _improve(costs: FloatArray, rows: int, columns: int, words: int, space: Workspace) -> float:
    """Pivot on the best cell of a few rows, row after row, until a whole round finds none.

    Returns the largest mean cost of a row.
    """
    width = padded(columns)
    scale = 0.0
    for i in range(rows):
        scale = max(scale, abs(space.row_mean[i]))
    threshold = -_TOLERANCE * scale
    row, unpriced = 0, rows
    left = _PIVOTS_BESIDES + _PIVOTS_PER_LINE * (rows + columns)
    while left:
        best, best_row = INFINITE, 0
        for _k in range(min(_ROWS_PRICED, unpriced)):
            reduced = least_difference(costs[row], space.v, width) - space.u[row]
            if reduced < best:
                best, best_row = reduced, row
            unpriced -= 1
            row = row + 1 if row + 1 < rows else 0
        if best < threshold:
            low = least_difference(costs[best_row], space.v, width)
            column = place_of_difference(costs[best_row], space.v, low, width)
            pivot(best_row, column, low - space.u[best_row], words, space)
            unpriced = rows
            left -= 1
        elif unpriced == 0:
            break
    return scale


@njit(**INLINED)
def _cost(costs: FloatArray, rows: int, columns: int, words: int, space: Workspace) -> float:
    """Add up flow times cost along the tree."""
    m = 64 * words
    total = 0.0
    for i in range(rows):
        if space.parent[i] >= 0:
            total += space.flow[i] * costs[i, space.parent[i] - m]
    for j in range(columns):
        if space.parent[m + j] >= 0:
            total += space.flow[m + j] * costs[space.parent[m + j], j]
    return total
