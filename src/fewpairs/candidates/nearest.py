"""The items with the largest inner products, for each item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.tiles import in_order
from fewpairs.numerics import parts
from fewpairs.parallel import count_jobs

#: Products of which the maximum is taken first: groups of 32 leave a hundredth of 50,000 products
#: to look at.
_GROUP = 32
#: Products that are held at a time by a thread: 32 MB.
_HELD = 2**23


class Nearest(NamedTuple):
    """For each item of the left side, items of the right side, best first."""

    columns: IntArray
    products: SingleArray


def most_similar(
    left: npt.NDArray[np.floating],
    right: npt.NDArray[np.floating],
    per_item: int,
    *,
    square: bool,
    n_jobs: int | None = 1,
) -> Nearest:
    """Find, for each row of `left`, the rows of `right` with the largest inner products.

    The answer is exact, up to the rounding of single precision. Memory is that of the answer, of
    the vectors, and 32 MB for each thread.

    Parameters
    ----------
    left : ndarray of shape (n, d)
    right : ndarray of shape (m, d)
        Finite numbers, used in single precision.
    per_item : int
        How many; all of them where there are fewer.
    square : bool
        Both sides stand for the same items: none is its own neighbour.
    n_jobs : int or None, default=1
        Threads, for the time only.

    Returns
    -------
    Nearest
        Arrays of shape (n, per_item). Of equal products the earlier column comes first.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 2.0]])
    >>> most_similar(points, points, 1, square=True).columns.ravel().tolist()
    [1, 0, 1]
    """
    left = np.ascontiguousarray(left, dtype=np.float32)
    n, m = len(left), len(right)
    per_item = max(0, min(per_item, m - 1 if square else m))
    columns = np.empty((n, per_item), dtype=np.int64)
    products = np.empty((n, per_item), dtype=np.float32)
    if columns.size == 0:
        return Nearest(columns, products)
    across = np.ascontiguousarray(np.asarray(right, dtype=np.float32).T)
    groups = -(-m // _GROUP)

    def best_of(rows: slice) -> None:
        here = np.arange(rows.start, rows.stop)
        block = np.full((len(here), groups * _GROUP), -np.inf, dtype=np.float32)
        np.matmul(left[rows], across, out=block[:, :m])
        if square:
            block[here - rows.start, here] = -np.inf
        found = np.sort(_largest(block, groups, per_item), axis=1)
        values = np.take_along_axis(block, found, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        columns[rows] = np.take_along_axis(found, order, axis=1)
        products[rows] = np.take_along_axis(values, order, axis=1)

    for _ in in_order(best_of, parts(n, max(1, _HELD // (groups * _GROUP))), count_jobs(n_jobs)):
        pass
    return Nearest(columns, products)


def _largest(block: SingleArray, groups: int, count: int) -> IntArray:
    """Return the places of the `count` largest of each row.

    They lie in the `count` groups with the largest maxima, and a maximum is much cheaper than a
    partial sort of the whole row.
    """
    if groups <= 2 * count:
        return _partitioned(block, count)
    # A group is every so-many-th product: maxima of whole rows are then taken at a time.
    maxima = block.reshape(len(block), _GROUP, groups).max(axis=1)
    best = _partitioned(maxima, count)
    places = (best[:, None, :] + groups * np.arange(_GROUP)[:, None]).reshape(len(block), -1)
    inside = _partitioned(np.take_along_axis(block, places, axis=1), count)
    return np.take_along_axis(places, inside, axis=1)


def _partitioned(values: SingleArray, count: int) -> IntArray:
    """Return the places of the `count` largest of each row, in any order.

    Values are partitioned several times faster than places, and tell the places unless the last
    one has equals.
    """
    least = np.partition(values, -count, axis=1)[:, -count]
    chosen = values >= least[:, None]
    if np.count_nonzero(chosen) > count * len(values):
        return np.argpartition(-values, count - 1, axis=1)[:, :count]
    return np.nonzero(chosen)[1].reshape(len(values), count)
