"""Inner products by tiles, on one thread or several, always in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from fewpairs.arrays import BoolArray, IntArray
from fewpairs.numerics import parts
from fewpairs.parallel import one_blas_thread

#: Pairs of which every product is computed: 100,000 items, 20 s at 128 dimensions.
EXACT_UP_TO = 5 * 10**9

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

#: Rows and columns of a tile: 8 MB of products, which are read again while they are in the cache.
#: Half or twice as many take the same time.
_ROWS, _COLUMNS = 256, 8192


class Tile(NamedTuple):
    """Rows and columns whose products are computed at a time."""

    rows: slice | IntArray
    columns: slice | IntArray


class EveryPair:
    """All tiles of a matrix; of a square one, those on and above the diagonal."""

    def __init__(self, n_rows: int, n_columns: int, *, square: bool) -> None:
        self._shape = n_rows, n_columns
        self._square = square

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles, row by row."""
        n_rows, n_columns = self._shape
        for rows in parts(n_rows, _ROWS):
            for first in range(rows.start if self._square else 0, n_columns, _COLUMNS):
                yield Tile(rows, slice(first, min(first + _COLUMNS, n_columns)))

    def wanted(self, rows: IntArray, columns: IntArray) -> BoolArray:
        """Say which pairs of a tile count: each once, none of an item with itself."""
        return columns > rows if self._square else np.ones(len(rows), dtype=bool)


def few_pairs(n_rows: int, n_columns: int, *, square: bool) -> bool:
    """Say whether every product is computed unless asked otherwise."""
    return n_rows * n_columns <= (2 if square else 1) * EXACT_UP_TO


def places(chosen: slice | IntArray) -> IntArray:
    """Return the places that a slice or an array stands for."""
    return np.arange(chosen.start, chosen.stop) if isinstance(chosen, slice) else chosen


def in_order(
    work: Callable[[_Task], _Result], tasks: Iterable[_Task], n_jobs: int
) -> Iterator[_Result]:
    """Yield the result of each task, in the order of the tasks, computed by `n_jobs` threads.

    BLAS has one thread meanwhile, so that the last bits do not depend on their number. Few tasks
    are begun before they are asked for: what waits takes memory.
    """
    with one_blas_thread():
        if n_jobs == 1:
            yield from map(work, tasks)
            return
        waiting: deque[Future[_Result]] = deque()
        with ThreadPoolExecutor(n_jobs) as pool:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
