"""How much is sent at a time, how much waits here, and what is sent once more."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from test_dispatch import Crew

from fewpairs.workers import dispatch as dispatching
from fewpairs.workers.dispatch import Done, dispatch
from fewpairs.workers.loads import Loads, seconds_worth


class Sized(int):
    """A task of some size."""

    size = 1


# ------------------------------------------------------------------ a trip


def test_many_workers_have_longer_trips():
    assert seconds_worth(4) == 0.3
    assert seconds_worth(100) == 2.0
    loads = Loads(iter(range(10**4)))
    loads.took(1, 0.1)
    assert len(loads.next(100)) == 20


def test_a_trip_has_no_more_tasks_than_a_few_hundred_however_short_they_are():
    loads = Loads(iter(range(10**4)))
    loads.took(1, 1e-9)
    assert len(loads.next(2)) == 256


def test_a_trip_brings_back_no_more_numbers_than_a_few_megabytes_unless_one_task_does():
    class Large(Sized):
        size = 3 * 2**18

    class Huge(Sized):
        size = 2**21

    for kind, tasks in ((Large, 1), (Huge, 1), (Sized, 40)):
        loads = Loads(map(kind, range(80)))
        loads.took(10**12, 0.001)  # so fast that time is no reason to send few
        assert len(loads.next(2)) == tasks


def test_tasks_that_turn_out_larger_make_a_trip_of_fewer():
    sizes = iter([1, 1, 1, 1000, 1000, 1000, *[1] * 100])

    def task(k):
        made = Sized(k)
        made.size = next(sizes)
        return made

    loads = Loads(task(k) for k in range(106))
    loads.took(1, 0.001)
    assert [len(loads.next(1)) for _ in range(2)] == [3, 1]  # the fourth alone takes a second


# ------------------------------------------------------------------ what waits here


def test_results_that_wait_for_an_earlier_one_are_few():
    class Stuck(Crew):
        """The first trip comes back when nothing else is under way."""

        came_before = None

        def news(self, timeout):
            if len(self.waiting) == 1 and self.came_before is None:
                self.came_before = len(self.carried_out)
            self.choose = min if self.came_before is not None else max
            return super().news(timeout)

    class Slow(Sized):
        size = 10**6  # a trip of its own

    crew = Stuck(2)
    found = list(dispatch(crew, map(Slow, range(1, 100)), repeatable=False))
    assert [task for task, _ in found] == list(range(1, 100))
    assert crew.came_before == 4 * 2 - 1  # four trips for each worker, with the missing one


# ------------------------------------------------------------------ once more


class Hanging(Crew):
    """Trips with task 1 do not come back until so many looks were in vain."""

    def __init__(self, size, patience, clock, seconds=0.1, pace=0.1):
        super().__init__(size)
        self.patience, self.clock, self.seconds = patience, clock, seconds
        self.pace, self.in_vain = pace, 0
        #: For each time that task 1 is sent, how many other trips are under way.
        self.beside: list[int] = []

    def send(self, tasks):
        if 1 in tasks:
            self.beside.append(len(self._others()))
        return super().send(tasks)

    def _others(self):
        return [key for key, tasks in self.waiting.items() if 1 not in tasks]

    def news(self, timeout):
        others = self._others()
        self.clock[0] += self.pace if others else timeout
        self.in_vain += not others
        if not others and self.in_vain <= self.patience:
            return []
        self.choose = lambda keys: others[0] if others else keys[0]
        (done,) = super().news(timeout)
        return [Done(done.key, done.results, self.seconds * len(done.results))]


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""
    now = [1000.0]
    monkeypatch.setattr(dispatching, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_slow_trip_is_made_three_times_more_and_no_oftener(clock):
    crew = Hanging(5, patience=60, clock=clock)
    assert [task for task, _ in dispatch(crew, range(1, 20))] == list(range(1, 20))
    assert len(crew.beside) == 1 + 3


def test_nothing_is_made_again_while_all_workers_have_other_work(clock):
    crew = Hanging(2, patience=9, clock=clock, seconds=1.0, pace=1.5)

    class Slow(Sized):
        size = 10**6  # a trip of its own

    assert len(list(dispatch(crew, map(Slow, range(1, 60))))) == 59
    assert len(crew.beside) > 1
    assert max(crew.beside) < 2


def test_what_takes_no_longer_than_the_others_is_not_late(clock):
    crew = Hanging(5, patience=20, clock=clock, seconds=10.0)
    assert len(list(dispatch(crew, range(1, 20)))) == 19
    assert len(crew.beside) == 1  # ten seconds, of the ten that a task takes
