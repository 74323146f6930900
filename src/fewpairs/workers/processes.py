"""Work in processes of this machine: for functions that hold the interpreter while they work."""

from __future__ import annotations

import os
import queue
import time
from concurrent.futures import Future
from typing import Any

from fewpairs import __version__
from fewpairs.errors import FewpairsError, InputError, LostWorkersError
from fewpairs.workers.dispatch import Done, Lost
from fewpairs.workers.elsewhere import Elsewhere, HiredCrew
from fewpairs.workers.home import Work
from fewpairs.workers.trip import carry_out_here, settle

#: One thread for each library in each process: there are as many processes as cores.
_ALONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


class Processes(Elsewhere):
    """Processes of joblib's loky, started for a run and ended with it.

    Parameters
    ----------
    n_jobs : int
        How many.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        super().__init__()
        self.n_jobs = n_jobs

    def __reduce__(self) -> tuple[Any, ...]:
        return Processes, (self.n_jobs,)

    def _hire(self, work: Work) -> HiredCrew:
        return _Pool(packed(work), self.n_jobs)


def packed(work: Work) -> bytes:
    """Pickle work with all that it holds; functions of a script or a notebook by their code."""
    import cloudpickle  # noqa: PLC0415 - where needed

    try:
        return bytes(cloudpickle.dumps(work))
    except Exception as error:
        raise InputError(
            f"the similarity or the items cannot be sent to another process: "
            f"{type(error).__name__}: {error}",
            "They are pickled, and sent once to each process that evaluates.",
            "Make open files, locks and models where they are used: pass a function without "
            "parameters that makes the similarity's function, and factory=True.",
        ) from error


class _Pool(HiredCrew):
    """A pool of processes; when one dies loky ends all of them, and others are started."""

    def __init__(self, work: bytes, size: int) -> None:
        super().__init__()
        self._work, self._size = work, size
        self._back: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()
        self._futures: dict[int, Future[Any]] = {}
        self._pool = self._started()

    def _started(self) -> Any:
        from joblib.externals.loky import process_executor  # noqa: PLC0415

        return process_executor.ProcessPoolExecutor(
            self._size,
            initializer=settle,
            initargs=(self._work, __version__, os.getpid()),
            env=_ALONE,
        )

    @property
    def size(self) -> int:
        return self._size

    def send(self, tasks: list[Any]) -> int:
        from joblib.externals.loky import BrokenProcessPool  # noqa: PLC0415

        key = self._next_key()
        try:
            future = self._pool.submit(carry_out_here, tasks)
        except BrokenProcessPool as broken:  # told by the futures under way, or by this one
            future = Future()
            future.set_exception(broken)
        self._futures[key] = future
        future.add_done_callback(lambda done: self._back.put((key, done)))
        return key

    def recall(self, key: int) -> None:
        future = self._futures.pop(key, None)
        if future is not None:
            future.cancel()

    def news(self, timeout: float) -> list[Done | Lost]:
        from joblib.externals.loky import BrokenProcessPool  # noqa: PLC0415

        found: list[Done | Lost] = []
        deadline = time.monotonic() + timeout
        while not (found or self._fault) or not self._back.empty():
            try:
                key, future = self._back.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if self._futures.get(key) is not future:
                continue  # recalled
            if isinstance(future.exception(), BrokenProcessPool):
                found.extend(self._mourned())
                break
            del self._futures[key]
            with self._noting_faults():
                found.append(_done(key, future))
        if not found:
            self._tell_fault()
        return found

    def _mourned(self) -> list[Done | Lost]:
        """Start other processes; say what had come all the same, and what has not."""
        from joblib.externals.loky import BrokenProcessPool  # noqa: PLC0415

        self._pool.shutdown(wait=True, kill_workers=True)
        self._pool = self._started()
        under_way, self._futures = self._futures, {}
        found: list[Done | Lost] = []
        lost = []
        for key, future in under_way.items():
            if future.done() and isinstance(future.exception(), BrokenProcessPool):
                lost.append(key)
                self._futures[key] = future
            else:
                with self._noting_faults():
                    found.append(_done(key, future))
        if self._fault is None:  # or nothing is sent again
            found.append(Lost(tuple(lost), "a process of this machine"))
        return found

    def close(self) -> None:
        self._pool.shutdown(wait=True, kill_workers=True)


def _done(key: int, future: Future[Any]) -> Done:
    fault = future.exception()
    if isinstance(fault, FewpairsError):  # other items than here, for example
        raise LostWorkersError(f"a process could not begin. {fault}") from fault
    if fault is not None:
        raise LostWorkersError(
            f"a process could not work: {type(fault).__name__}: {fault}",
            "It could not read what it was sent, or send back what it had found.",
            "Pass similarities and items that can be pickled, or workers='threads'.",
        ) from fault
    return Done(key, *future.result())
