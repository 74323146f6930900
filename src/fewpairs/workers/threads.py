"""Work in threads of this process: for functions that let go of the interpreter while they wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from fewpairs.parallel import one_blas_thread
from fewpairs.workers.home import Arrived, Work

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Threads:
    """Threads of this process."""

    n_jobs: int = 1

    @property
    def elsewhere(self) -> bool:
        """Never."""
        return False

    def run(
        self,
        tasks: Iterable[Any],
        work: Work,
        arrived: Arrived | None = None,  # noqa: ARG002 - work can tell itself
        stopped: Callable[[], bool] | None = None,  # noqa: ARG002 - nothing is drawn early
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its result."""
        return in_threads(tasks, work, self.n_jobs)

    def held(self) -> AbstractContextManager[None]:
        """Do nothing: nothing is sent."""
        return nullcontext()


def in_threads(
    tasks: Iterable[_Task], work: Callable[[_Task], _Result], n_jobs: int
) -> Iterator[tuple[_Task, _Result]]:
    """Carry out tasks; they may end early to stop the run, and what is under way is kept.

    So it is on Ctrl-C, which is raised when the threads have done what they had begun.

    Parameters
    ----------
    tasks : iterable
        Drawn as workers become free, so that only a few results are in memory at a time.
    work : callable
        Task to result.
    n_jobs : int
        Number of threads.

    Yields
    ------
    task, result
    """
    with one_blas_thread():
        if n_jobs == 1:
            for task in tasks:
                yield task, work(task)
            return
        with ThreadPoolExecutor(n_jobs, thread_name_prefix="fewpairs") as pool:
            under_way: deque[tuple[_Task, Future[_Result]]] = deque()
            try:
                for task in tasks:
                    under_way.append((task, pool.submit(work, task)))
                    if len(under_way) > 2 * n_jobs:
                        yield _oldest(under_way)
                while under_way:
                    yield _oldest(under_way)
            except KeyboardInterrupt:
                begun = [(task, future) for task, future in under_way if not future.cancel()]
                yield from ((task, future.result()) for task, future in begun)
                raise


def _oldest(under_way: deque[tuple[_Task, Future[_Result]]]) -> tuple[_Task, _Result]:
    """Wait for the oldest result, which stays in the list until it is there."""
    task, future = under_way[0]
    result = future.result()
    under_way.popleft()
    return task, result
