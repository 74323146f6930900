"""Whether a similarity that is declared symmetric gives both orders of a pair the same value."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import AsymmetryError
from fewpairs.items.items import Items
from fewpairs.oracle.requests import Rectangle, Request

#: Relative difference between two values of one pair that still counts as none: half-precision
#: models and batched networks repeat themselves no better than this, in whatever order.
SYMMETRY_TOLERANCE = 1e-4


def worst_difference(one: FloatArray, other: FloatArray) -> int | None:
    """Return where two lists of values differ most, or None if it is no more than rounding."""
    scale = max(float(np.abs(one).max()), float(np.abs(other).max()))
    with np.errstate(over="ignore"):  # infinitely different is different
        gap = np.abs(one - other)
    worst = int(gap.argmax())
    return worst if gap[worst] > SYMMETRY_TOLERANCE * scale else None


def asymmetry(
    items: Items, rows: IntArray, columns: IntArray, there: FloatArray, back: FloatArray
) -> AsymmetryError | None:
    """Compare both orders of some pairs; return the fault, naming the worst pair, or None."""
    if not len(there):
        return None
    worst = worst_difference(there, back)
    if worst is None:
        return None
    i, j = int(rows[worst]), int(columns[worst])
    return AsymmetryError(
        f"the similarity is declared symmetric, but items {items.describe(i)} and "
        f"{items.describe(j)} give {there[worst]:.6g} in one order and "
        f"{back[worst]:.6g} in the other ({len(there)} pairs were asked in both).",
        "One order would silently stand for both.",
        "Declare symmetric=False, or average both orders with similarity.symmetrized().",
        pair=(i, j),
    )


def square_asymmetry(
    items: Items, request: Request, values: FloatArray
) -> tuple[AsymmetryError | None, FloatArray]:
    """Check the answer to a square request, which has both orders of every pair.

    Returns
    -------
    fault : AsymmetryError or None
    values : ndarray
        With one triangle standing for both, so that the square is symmetric to the last bit; NaN
        where either order is not finite.
    """
    if not isinstance(request, Rectangle) or not np.array_equal(request.rows, request.columns):
        return None, values
    good = ~(np.isnan(values) | np.isnan(values.T))
    i, j = request.pairs()
    fault = asymmetry(items, i[good.ravel()], j[good.ravel()], values[good], values.T[good])
    return fault, np.where(good, np.triu(values) + np.triu(values, 1).T, np.nan)
