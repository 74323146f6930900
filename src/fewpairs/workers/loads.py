"""How many tasks make one trip to another process: as many as are worth it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from math import ceil
from statistics import median
from typing import Any

#: A trip should take this long, in seconds. It costs a few milliseconds here and on a scheduler, so
#: that shorter ones would be noticed; and at the end somebody waits for the last. All are sent from
#: one place: the more workers there are, the longer each must be away.
_WORTH_IT, _FOR_EACH_WORKER = 0.3, 0.02
#: A trip holds no more tasks, and no more numbers come back (of 8 bytes), unless one task has more.
_MOST_TASKS, MOST_NUMBERS = 256, 2**20
#: Trips that say how long the next will take.
_LATELY = 9


class Loads:
    """Takes tasks from a list in their order, so many at a time that a trip is worth it.

    Parameters
    ----------
    tasks : iterator
        A task may have a `size`, to which the time that it takes is taken to be proportional.
    """

    def __init__(self, tasks: Iterator[Any]) -> None:
        self._tasks = tasks
        self._drawn: deque[Any] = deque()
        self._rates: deque[float] = deque(maxlen=_LATELY)

    def next(self, workers: int) -> list[Any]:
        """Return the tasks of the next trip, of which `workers` are made at a time; [] at the end.

        Before anything is known, one. At the end, what is left is divided among all workers.
        """
        worth = seconds_worth(workers)
        per_trip = self._worth(worth)
        self._drawn.extend(islice(self._tasks, max(0, workers * per_trip - len(self._drawn))))
        share = max(1, ceil(len(self._drawn) / max(workers, 1)))
        load: list[Any] = []
        numbers = 0
        while self._drawn and len(load) < min(per_trip, share):
            numbers += size_of(self._drawn[0])
            if load and (numbers > MOST_NUMBERS or self.expected(numbers) > 2 * worth):
                break
            load.append(self._drawn.popleft())
        return load

    def drop(self) -> None:
        """Give out nothing more."""
        self._drawn.clear()
        self._tasks = iter(())

    def took(self, size: int, seconds: float) -> None:
        """Learn how long a trip has taken."""
        self._rates.append(seconds / max(size, 1))

    def expected(self, size: int) -> float:
        """Return the seconds that a trip of this size should take; 0 if nobody knows."""
        return median(self._rates) * size if self._rates else 0.0

    def _worth(self, seconds: float) -> int:
        if not self._rates:
            return 1
        each = self.expected(size_of(self._drawn[0]) if self._drawn else 1)
        return int(min(_MOST_TASKS, max(1.0, seconds / each if each > 0 else _MOST_TASKS)))


def seconds_worth(workers: int) -> float:
    """Return how long a trip should take, of so many workers."""
    return max(_WORTH_IT, _FOR_EACH_WORKER * workers)


def size_of(task: Any) -> int:
    """Return how large a task is, in whatever unit its kind is measured."""
    return int(getattr(task, "size", 1))
