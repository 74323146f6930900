"""The items with the largest inner products, for each item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, SingleArray
from fewpairs.candidates.nearby import nearest_by_cells
from fewpairs.candidates.rows import GROUP, largest_of_rows
from fewpairs.candidates.tiles import in_order
from fewpairs.numerics import parts
from fewpairs.parallel import at_a_time, count_jobs, require_memory

#: Pairs of which every product is computed: 50,000 items on both sides, 15 s at 128 dimensions.
EXACT_UP_TO = 5 * 10**9 // 2
#: Products that are held at a time by a thread: 32 MB.
_HELD = 2**23
#: Bytes of each of them, with the copies that sorting makes.
_WHILE_SORTED = 24


class Nearest(NamedTuple):
    """For each item of the left side, items of the right side, best first."""

    columns: IntArray
    products: SingleArray


def most_similar(
    left: npt.NDArray[np.floating],
    right: npt.NDArray[np.floating],
    per_item: int,
    rng: np.random.Generator,
    *,
    square: bool,
    exact: bool | None = None,
    n_jobs: int | None = 1,
) -> Nearest:
    """Find, for each row of `left`, the rows of `right` with the largest inner products.

    Up to 2.5·10⁹ pairs (50,000 × 50,000) every product is computed, and the answer is exact up to
    the rounding of single precision. Beyond, `right` is divided into cells, and each row is
    compared with the 32 most promising of them. Memory is that of the answer, of the vectors, and
    some 100 MB for each thread.

    Parameters
    ----------
    left : ndarray of shape (n, d)
    right : ndarray of shape (m, d)
        Finite numbers, used in single precision.
    per_item : int
        How many; all of them where there are fewer.
    rng : numpy.random.Generator
        Draws the first means of cells. An exact answer does not depend on it.
    square : bool
        Both sides stand for the same items: none is its own neighbour.
    exact : bool, optional
        Whether to compute every product; by default the number of pairs decides.
    n_jobs : int or None, default=1
        Threads. They change the time, and no bit of the answer.

    Returns
    -------
    Nearest
        Arrays of shape (n, per_item).

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 2.0]])
    >>> found = most_similar(points, points, 1, np.random.default_rng(0), square=True)
    >>> found.columns.ravel().tolist()
    [1, 0, 1]
    """
    left = np.ascontiguousarray(left, dtype=np.float32)
    right = np.ascontiguousarray(right, dtype=np.float32)
    n, m = len(left), len(right)
    per_item = max(0, min(per_item, m - 1 if square else m))
    if n == 0 or per_item == 0:
        empty = np.empty((n, per_item))
        return Nearest(empty.astype(np.int64), empty.astype(np.float32))
    require_memory(
        (8 + 4) * n * per_item,
        f"{per_item:,} neighbours of each of {n:,} items",
        "Ask for fewer of them",
    )
    threads = count_jobs(n_jobs)
    if n * m <= EXACT_UP_TO if exact is None else exact:
        return Nearest(*_among_all(left, right, per_item, square=square, n_jobs=threads))
    return Nearest(*nearest_by_cells(left, right, per_item, rng, square=square, n_jobs=threads))


def products_at_a_time() -> int:
    """Count the bytes of the products that a thread holds now, without the copies of a few."""
    return 5 * at_a_time(_HELD, _WHILE_SORTED)


def _among_all(
    left: SingleArray, right: SingleArray, per_item: int, *, square: bool, n_jobs: int
) -> tuple[IntArray, SingleArray]:
    n, m = len(left), len(right)
    columns = np.empty((n, per_item), dtype=np.int64)
    products = np.empty((n, per_item), dtype=np.float32)
    across = np.ascontiguousarray(right.T)
    groups = -(-m // GROUP)

    def fill(rows: slice) -> None:
        here = np.arange(rows.start, rows.stop)
        block = np.full((len(here), groups * GROUP), -np.inf, dtype=np.float32)
        np.matmul(left[rows], across, out=block[:, :m])
        if square:
            block[here - rows.start, here] = -np.inf
        found = np.sort(largest_of_rows(block, groups, per_item), axis=1)
        values = np.take_along_axis(block, found, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        columns[rows] = np.take_along_axis(found, order, axis=1)
        products[rows] = np.take_along_axis(values, order, axis=1)

    held = at_a_time(_HELD, _WHILE_SORTED * n_jobs)
    for _ in in_order(fill, parts(n, max(1, held // (groups * GROUP))), n_jobs):
        pass
    return columns, products
