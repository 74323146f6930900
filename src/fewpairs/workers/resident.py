"""What lives on a Dask worker for as long as a run needs it; imports Dask."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from distributed import WorkerPlugin, get_worker

from fewpairs.workers.trip import Unpacked

#: Seconds that a worker which has just started may take to receive what it needs.
_ARRIVES = 60.0
#: Runs that have ended; a worker that was cut off meanwhile may still have tasks of theirs.
_ended: deque[str] = deque(maxlen=1000)


class Resident(WorkerPlugin):  # type: ignore[misc]  # Dask has no annotations where it is skipped
    """Work on a worker: every worker gets it when it joins, also one that is started again.

    Parameters
    ----------
    name : str
    packed : bytes
    version : str
    """

    def __init__(self, name: str, packed: bytes, version: str) -> None:
        self.name = name
        self._packed, self._version = packed, version
        self.unpacked: Unpacked | None = None

    def setup(self, worker: Any) -> None:  # noqa: ARG002 - Dask's
        """Keep it packed: to unpack a model takes its time, and the worker must go on talking."""
        self.unpacked = Unpacked(self._packed, self._version)
        self._packed = b""

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - Dask's
        """Forget it."""
        _ended.append(self.name)
        if self.unpacked is not None:
            self.unpacked.forget()
        self.unpacked = None


def carry_out_there(name: str, tasks: list[Any]) -> tuple[list[Any], float]:
    """Carry out tasks by the work of that name, on the worker on which this is called."""
    plugins = get_worker().plugins
    deadline = time.monotonic() + _ARRIVES
    while getattr(plugins.get(name), "unpacked", None) is None:
        if time.monotonic() > deadline or name in _ended:
            message = f"the worker does not have what {name} needs"
            raise RuntimeError(message)
        time.sleep(0.01)
    results: tuple[list[Any], float] = plugins[name].unpacked.carry_out(tasks)
    return results
