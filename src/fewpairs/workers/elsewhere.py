"""What homes in other processes have in common: a crew is hired for some work, and kept for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from fewpairs.errors import LostWorkersError
from fewpairs.workers.dispatch import Crew, dispatch
from fewpairs.workers.home import Arrived, Work


class HiredCrew(Crew, ABC):
    """A crew that can be sent away."""

    def __init__(self) -> None:
        self._last_key = 0
        self._fault: LostWorkersError | None = None

    def _next_key(self) -> int:
        self._last_key += 1
        return self._last_key

    @contextmanager
    def _noting_faults(self) -> Iterator[None]:
        """Keep the first fault for later: what has come beside it was paid for."""
        try:
            yield
        except LostWorkersError as fault:
            self._fault = self._fault or fault

    def _tell_fault(self) -> None:
        """Raise what was noted, once everything that had come was given."""
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""


class Elsewhere(ABC):
    """Sends work once to each process, and keeps these for as long as somebody holds them."""

    def __init__(self) -> None:
        self._depth = 0
        self._crew: HiredCrew | None = None
        self._work: Work | None = None

    @property
    def elsewhere(self) -> bool:
        """Always."""
        return True

    def run(
        self,
        tasks: Iterable[Any],
        work: Work,
        arrived: Arrived | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its result; see `Home`."""
        rest = iter(tasks)
        with self.held():
            for first in rest:  # nobody is hired for nothing
                crew = self._crew_for(work)
                repeatable = bool(getattr(work, "repeatable", True))
                every = chain([first], rest)
                yield from dispatch(crew, every, arrived, stopped, repeatable=repeatable)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the crew until the end of this context."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._dismiss()

    def _crew_for(self, work: Work) -> Crew:
        if self._crew is None or self._work is not work:
            self._dismiss()
            self._crew, self._work = self._hire(work), work
        return self._crew

    def _dismiss(self) -> None:
        crew, self._crew, self._work = self._crew, None, None
        if crew is not None:
            crew.close()

    @abstractmethod
    def _hire(self, work: Work) -> HiredCrew:
        """Find workers, and send them what they need."""
