"""One trip, in the process to which it was sent: where work is unpacked once, and kept."""

from __future__ import annotations

import os
import pickle
import threading
import time
from typing import Any

import threadpoolctl

from fewpairs import __version__
from fewpairs.workers.home import Work


class Unpacked:
    """Work that has arrived in a process: unpacked at the first trip, by whichever thread.

    Parameters
    ----------
    packed : bytes
        By `packed`.
    version : str
        Of fewpairs where it was packed.
    """

    def __init__(self, packed: bytes, version: str) -> None:
        self._packed, self._version = packed, version
        self._work: Work | None = None
        self._limits: Any = None
        self._lock = threading.Lock()

    def carry_out(self, tasks: list[Any]) -> tuple[list[Any], float]:
        """Return the results of tasks, and how many seconds they have taken."""
        work = self._ready()
        begun = time.perf_counter()
        return [work(task) for task in tasks], time.perf_counter() - begun

    def _ready(self) -> Work:
        with self._lock:
            if self._work is None:
                if self._version != __version__:
                    message = f"this process has fewpairs {__version__}, not {self._version}"
                    raise RuntimeError(message)
                self._work = pickle.loads(self._packed)  # noqa: S301 - sent by ourselves
                self._packed = b""
                # For all threads of the process at once, and as where the results are compared.
                self._limits = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
            return self._work

    def forget(self) -> None:
        """Give back what was taken."""
        with self._lock:
            if self._limits is not None:
                self._limits.restore_original_limits()
            self._work = self._limits = None


_here: Unpacked | None = None
#: Seconds between two looks at whether whoever has started a process is still there.
_LOOK = 1.0


def settle(packed: bytes, version: str, parent: int) -> None:
    """Keep work for all trips of a process that does nothing else, and ends with its parent."""
    global _here  # noqa: PLW0603 - a process has one
    _here = Unpacked(packed, version)
    threading.Thread(target=_end_with, args=(parent,), name="fewpairs-parent", daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process after one that was killed: it would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def carry_out_here(tasks: list[Any]) -> tuple[list[Any], float]:
    """Carry out tasks by the work that is kept in this process."""
    assert _here is not None  # noqa: S101 - settled when the process was started
    return _here.carry_out(tasks)
