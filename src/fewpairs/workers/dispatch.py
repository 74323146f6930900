"""Tasks sent to workers that may die: in order, few at a time, and whoever kills is found out.

Trips are sent while workers are free, and results given in the order of the tasks. A trip that was
lost with its worker is made again. One that was lost twice is suspect: all others are waited for,
and then its tasks are sent one by one with nothing else under way. If a worker dies then, that task
has killed it, whatever else had happened before. One that has left in order, because it was
restarted or told to go, has not died.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from fewpairs.errors import LostWorkersError
from fewpairs.parallel import memory_ceiling
from fewpairs.workers.home import Arrived, Killed
from fewpairs.workers.loads import Loads, size_of

#: Trips under way for each worker: one that it makes, one that waits for it.
_UNDER_WAY = 2
#: Trips whose results are not given yet: so many again may be here, out of turn, while an earlier
#: one is waited for.
HELD = 2 * _UNDER_WAY
#: Results that are under way, or wait for their turn, take no more than this share of the memory.
_SHARE = 1 / 4
#: A trip that was lost this often with its worker is suspect.
_SUSPECT = 2
#: A trip is slow that takes this many times what it should, and these seconds at least.
_SLOW, _SLOW_AT_LEAST = 5.0, 2.0
#: It is made once more, and again if that is late as well, so many times.
_MOST_COPIES = 3
#: Seconds between two looks at what is under way.
_LOOK = 0.5
_NOTHING: Any = object()


@dataclass(frozen=True)
class Done:
    """A trip is back."""

    key: int
    results: list[Any]
    seconds: float


@dataclass(frozen=True)
class Lost:
    """A worker is gone that had these trips.

    Attributes
    ----------
    keys : tuple of int
    where : str
    again : bool
        Somebody makes them already.
    asked : bool
        It was restarted or told to go, whatever it had to do.
    """

    keys: tuple[int, ...]
    where: str
    again: bool = False
    asked: bool = False


class Crew(Protocol):
    """Workers somewhere else, who have been sent what they need to work."""

    @property
    def size(self) -> int:
        """How many trips are made at the same time."""

    def send(self, tasks: list[Any]) -> int:
        """Have a trip made; return its key, which no other trip ever has."""

    def recall(self, key: int) -> None:
        """Forget a trip: nobody waits for it any more."""

    def news(self, timeout: float) -> list[Done | Lost]:
        """Return what has happened, after at most `timeout` seconds.

        Raises
        ------
        LostWorkersError
            Nothing more can be expected.
        """


@dataclass(eq=False)
class _Trip:
    tasks: list[Any]
    results: list[Any] = field(default_factory=list)
    deaths: int = 0
    since: float = 0.0
    #: Attempts under way: key → places of their tasks.
    attempts: dict[int, list[int]] = field(default_factory=dict)
    copies: int = 0
    #: Results that were given already.
    given: int = 0

    def __post_init__(self) -> None:
        self.results = [_NOTHING] * len(self.tasks)

    @property
    def size(self) -> int:
        return sum(map(size_of, self.tasks))

    @property
    def missing(self) -> list[int]:
        return [k for k, result in enumerate(self.results) if result is _NOTHING]


def dispatch(
    crew: Crew,
    tasks: Iterable[Any],
    arrived: Arrived | None = None,
    stopped: Callable[[], bool] | None = None,
    *,
    repeatable: bool = True,
) -> Iterator[tuple[Any, Any]]:
    """Yield each task with its result, or `Killed`, in the order of the tasks.

    Parameters
    ----------
    crew : Crew
    tasks, arrived, stopped : as for `Home.run`
    repeatable : bool, default=True
        Whether a trip that takes suspiciously long may be made a second time beside it.
    """
    board = _Board(crew, Loads(iter(tasks)), arrived, repeatable=repeatable)
    try:
        while True:
            board.fill(stopped is not None and stopped())
            yield from board.in_turn()
            if board.trips:
                board.learn(crew.news(_LOOK))
            elif board.ended:
                return
    except (LostWorkersError, KeyboardInterrupt):
        # What has come is kept, also out of turn, and if nobody has looked at it yet.
        board.take_what_is_here()
        yield from board.whatever_came()
        raise
    finally:
        board.recall_all()


class _Board:
    """What is under way, and what has come of it."""

    def __init__(
        self, crew: Crew, loads: Loads, arrived: Arrived | None, *, repeatable: bool
    ) -> None:
        self._crew, self._loads, self._arrived = crew, loads, arrived
        self._repeatable = repeatable
        self.trips: deque[_Trip] = deque()
        self.ended = False
        self._by_key: dict[int, _Trip] = {}
        self._suspects: deque[_Trip] = deque()

    # ------------------------------------------------------------------ sending

    def fill(self, stopped: bool) -> None:
        """Send what there is room for; suspects only when nothing else is under way."""
        if stopped:
            self._loads.drop()
        if self._suspects:
            self._send_suspect()
        if self._suspects:
            return
        workers = max(1, self._crew.size)
        most = memory_ceiling() * _SHARE // 8
        while (
            len(self._by_key) < _UNDER_WAY * workers
            and len(self.trips) < HELD * workers
            and (not self.trips or sum(trip.size for trip in self.trips) < most)
        ):
            load = self._loads.next(workers)
            if not load:
                self.ended = True
                break
            trip = _Trip(load)
            self.trips.append(trip)
            self._send(trip, trip.missing)
        self._send_slow(workers)

    def _send(self, trip: _Trip, places: list[int]) -> None:
        key = self._crew.send([trip.tasks[k] for k in places])
        trip.attempts[key] = places
        trip.since = time.monotonic()
        self._by_key[key] = trip

    def _send_suspect(self) -> None:
        while self._suspects and not self._suspects[0].missing:
            self._suspects.popleft()
        if self._suspects and not self._by_key:
            trip = self._suspects[0]
            self._send(trip, trip.missing[:1])

    def _send_slow(self, workers: int) -> None:
        """Make late trips once more, if somebody has nothing else to do."""
        if not self._repeatable:
            return
        late = [trip for trip in self.trips if self._is_late(trip)]
        prompt = len(self._by_key) - sum(len(trip.attempts) for trip in late)
        for trip in late[: max(0, workers - prompt)]:
            if trip.copies < _MOST_COPIES:
                trip.copies += 1
                self._send(trip, trip.missing)

    def _is_late(self, trip: _Trip) -> bool:
        expected = self._loads.expected(trip.size)
        late = time.monotonic() - trip.since > max(_SLOW * expected, _SLOW_AT_LEAST)
        return bool(trip.attempts) and expected > 0 and late

    # ------------------------------------------------------------------ what has happened

    def learn(self, news: list[Done | Lost]) -> None:
        """Take what has come, and then send again what was lost: there may be nobody to send to."""
        for one in news:
            if isinstance(one, Done):
                self._take(one)
        for one in news:
            if isinstance(one, Lost):
                self._bury(one)

    def take_what_is_here(self) -> None:
        """Take results that have come by now, and expect no more of the crew."""
        with suppress(LostWorkersError):
            for one in self._crew.news(0.0):
                if isinstance(one, Done):
                    self._take(one)

    def _take(self, done: Done) -> None:
        trip = self._by_key.pop(done.key, None)
        if trip is None:
            return  # of a trip that was made twice
        places = trip.attempts.pop(done.key)
        for place, result in zip(places, done.results, strict=True):
            if trip.results[place] is _NOTHING:
                trip.results[place] = result
                if self._arrived is not None:
                    self._arrived(trip.tasks[place], result)
        self._loads.took(sum(size_of(trip.tasks[k]) for k in places), done.seconds)
        if not trip.missing:
            self._recall(trip)

    def _bury(self, lost: Lost) -> None:
        alone = len(self._by_key) == 1
        for key in lost.keys:
            trip = self._by_key.get(key)
            if trip is None:
                continue
            trip.deaths += not lost.asked
            if trip in self._suspects:
                if alone and not lost.asked:
                    trip.results[trip.attempts[key][0]] = Killed(trip.deaths, lost.where)
                    self._recall(trip)
                elif not lost.again:
                    self._recall(trip)  # it is sent again in its turn
            elif trip.deaths >= _SUSPECT:
                self._recall(trip)
                self._suspects.append(trip)
            elif not lost.again:
                self._recall(trip)
                self._send(trip, trip.missing)

    def _recall(self, trip: _Trip) -> None:
        for key in list(trip.attempts):
            self._crew.recall(key)
            del trip.attempts[key]
            self._by_key.pop(key, None)

    def recall_all(self) -> None:
        """Forget all that is under way."""
        for trip in self.trips:
            self._recall(trip)

    # ------------------------------------------------------------------ giving

    def in_turn(self) -> Iterator[tuple[Any, Any]]:
        """Yield what has come, as far as nothing before it is missing."""
        while self.trips and not self.trips[0].missing:
            yield from self._given(self.trips[0])
            self.trips.popleft()

    def whatever_came(self) -> Iterator[tuple[Any, Any]]:
        """Yield all that has come, whatever is missing before it."""
        for trip in self.trips:
            yield from self._given(trip)

    @staticmethod
    def _given(trip: _Trip) -> Iterator[tuple[Any, Any]]:
        while trip.given < len(trip.tasks):
            k = trip.given
            trip.given += 1
            if trip.results[k] is not _NOTHING:
                yield trip.tasks[k], trip.results[k]
