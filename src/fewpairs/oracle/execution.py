"""Where a request is answered: here, or in threads. Results come back in the order of asking."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from fewpairs.oracle.outcome import Outcome
from fewpairs.oracle.requests import Request
from fewpairs.parallel import one_blas_thread

Work = Callable[[Request], Outcome]


def run(requests: Iterable[Request], work: Work, n_jobs: int) -> Iterator[tuple[Request, Outcome]]:
    """Answer requests; `requests` may end early to stop the run, and what is under way is kept.

    So it is on Ctrl-C, which is raised when the threads have answered what they had begun.

    Parameters
    ----------
    requests : iterable of Request
        Drawn as workers become free, so that only a few answers are in memory at a time.
    work : callable
        Request to Outcome; never raises for a fault of the similarity.
    n_jobs : int
        Number of threads.

    Yields
    ------
    request, outcome
    """
    with one_blas_thread():
        if n_jobs == 1:
            for request in requests:
                yield request, work(request)
            return
        with ThreadPoolExecutor(n_jobs, thread_name_prefix="fewpairs") as pool:
            under_way: deque[tuple[Request, Future[Outcome]]] = deque()
            try:
                for request in requests:
                    under_way.append((request, pool.submit(work, request)))
                    if len(under_way) > 2 * n_jobs:
                        yield _oldest(under_way)
                while under_way:
                    yield _oldest(under_way)
            except KeyboardInterrupt:
                begun = [(request, future) for request, future in under_way if not future.cancel()]
                yield from ((request, future.result()) for request, future in begun)
                raise


def _oldest(under_way: deque[tuple[Request, Future[Outcome]]]) -> tuple[Request, Outcome]:
    """Wait for the oldest answer, which stays in the list until it is there."""
    request, future = under_way[0]
    outcome = future.result()
    under_way.popleft()
    return request, outcome
