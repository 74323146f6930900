"""What every home of work can do; and what stands for a result that never came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

#: From a task to its result, both plain data. What is sent elsewhere is sent with everything that
#: it holds, once to each process. It never raises for what a user's function does.
Work: TypeAlias = Callable[[Any], Any]
#: Is told of a result as soon as it is there, whenever its turn comes.
Arrived: TypeAlias = Callable[[Any, Any], None]


@dataclass(frozen=True)
class Killed:
    """Stands for the result of a task that has ended the process in which it was carried out.

    Attributes
    ----------
    deaths : int
        How many processes have died with it, the last one with nothing else to do.
    where : str
        The last of them.
    """

    deaths: int
    where: str


class Home(Protocol):
    """Carries out tasks, and gives their results in the order of the tasks."""

    @property
    def elsewhere(self) -> bool:
        """Whether work must be sent, because it is done in other processes."""

    def run(
        self,
        tasks: Iterable[Any],
        work: Work,
        arrived: Arrived | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its result, or with `Killed`.

        Parameters
        ----------
        tasks : iterable
            Drawn as workers become free; it may end early.
        work : callable
            The same object as in the last call need not be sent again.
        arrived : callable, optional
            For homes elsewhere: is told of results before their turn.
        stopped : callable, optional
            Whether what was drawn and not begun is to be dropped.
        """

    def held(self) -> AbstractContextManager[None]:
        """Keep what was sent until the end of this context, for further calls."""
