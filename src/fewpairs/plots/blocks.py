"""Some items with each other, as a block of colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator
from fewpairs.errors import InputError
from fewpairs.plots.axes import new_axes

#: Seriation sorts blocks of at most so many items well within a second.
_MOST_IN_BLOCK = 2000


def plot_block(
    matrix: Any,
    items: npt.ArrayLike | None = None,
    *,
    exact: npt.ArrayLike | None = None,
    labels: Any = None,
    random_state: RandomState = 0,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw a block of the matrix as a heat map, and beside it what is exact of the same block.

    Parameters
    ----------
    matrix : FactoredMatrix
        Of one set of items.
    items : array-like of int, optional
        Which items; by default 80 drawn at random.
    exact : array-like of shape (len(items), len(items)), optional
        Exact similarities of these items. By default those that were evaluated, with gaps.
    labels : sequence, optional
        A label for each item of the matrix: items are ordered by it, and then by similarity.
    random_state : int, Generator or None, default=0
        Which items.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    n, m = matrix.shape
    if n != m or not matrix.source.square:
        raise InputError(
            f"plot_block was given a matrix of {n:,} × {m:,} between two sets of items.",
            "A block is drawn of the same items in rows and columns.",
            "Give a matrix of one set.",
        )
    chosen = _some(n, random_state) if items is None else np.asarray(items, dtype=np.int64)
    if len(chosen) > _MOST_IN_BLOCK:
        raise InputError(
            f"plot_block was given {len(chosen):,} items.",
            f"More than {_MOST_IN_BLOCK:,} are finer than a picture.",
            "Give some of them, or none for 80 drawn at random.",
        )
    guess = matrix.predicted(chosen, chosen)
    true = _known(matrix, chosen) if exact is None else np.asarray(exact, dtype=float)
    if true.shape != guess.shape:
        raise InputError(
            f"exact has the shape {true.shape}, and there are {len(chosen):,} items.",
            "It holds the similarities of these items with each other.",
            "Give a square array, in the order of the items.",
        )
    order = _seriated((guess + guess.T) / 2, None if labels is None else np.asarray(labels)[chosen])
    gap = np.full((len(chosen), max(1, len(chosen) // 16)), np.nan)
    both = np.hstack([guess[np.ix_(order, order)], gap, true[np.ix_(order, order)]])
    ax = ax if ax is not None else new_axes(8, 4)
    # The largest few would otherwise leave all others in one colour.
    low, high = np.nanquantile(both, [0.01, 0.99])
    picture = ax.imshow(both, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
    ax.figure.colorbar(picture, ax=ax, fraction=0.025, pad=0.02)
    middle = len(chosen) / 2 - 0.5
    names = ["factors", "exact" if exact is not None else "evaluated"]
    ax.set_xticks([middle, middle + len(chosen) + gap.shape[1]], names)
    ax.set(title=title, yticks=[])
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _some(n: int, random_state: RandomState) -> IntArray:
    return np.sort(generator(random_state).permutation(n)[:80])


def _known(matrix: Any, chosen: IntArray) -> FloatArray:
    """Return what was evaluated of a block, NaN elsewhere."""
    rows, columns = np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen))
    found: FloatArray = matrix.known.find(rows, columns)
    return found.reshape(len(chosen), -1)


def _seriated(block: FloatArray, labels: npt.NDArray[Any] | None) -> IntArray:
    """Order items so that similar ones come one after another, within their labels."""
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 - a while to load

    if len(block) < 3:  # noqa: PLR2004 - nothing to order
        return np.arange(len(block))
    apart = np.maximum(block.max() - block, 0.0)[np.triu_indices(len(block), 1)]
    leaves = np.asarray(leaves_list(linkage(apart, "average", optimal_ordering=len(block) < 500)))  # noqa: PLR2004 - more take long
    if labels is None:
        return leaves
    number = np.unique(labels, return_inverse=True)[1].ravel()
    return np.asarray(leaves[np.argsort(number[leaves], kind="stable")])
