"""Inner products by tiles, on one thread or several, always in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from fewpairs.parallel import one_blas_thread

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

#: Rows and columns of a tile: 8 MB of products, which are read again while they are in the cache.
#: Half or twice as many take the same time.
_ROWS, _COLUMNS = 256, 8192


class Tile(NamedTuple):
    """Rows and columns whose products are computed at a time."""

    top: int
    bottom: int
    first: int
    last: int


def tiles(n_rows: int, n_columns: int, *, square: bool) -> Iterator[Tile]:
    """Cut a matrix into tiles; of a square one, those on and above the diagonal."""
    for top in range(0, n_rows, _ROWS):
        for first in range(top if square else 0, n_columns, _COLUMNS):
            yield Tile(top, min(top + _ROWS, n_rows), first, min(first + _COLUMNS, n_columns))


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
