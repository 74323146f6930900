"""Tasks sent to workers that may die, by a crew that does what the test says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.errors import LostWorkersError
from fewpairs.workers import dispatch as dispatching
from fewpairs.workers.dispatch import Done, Lost, dispatch
from fewpairs.workers.home import Killed
from fewpairs.workers.loads import Loads


class Crew:
    """Workers that finish trips in any order; some tasks kill whoever has them."""

    def __init__(self, size=2, *, kills=(), deaths=0, choose=None, again=False):
        self.size, self.kills, self.deaths_left, self.again = size, set(kills), deaths, again
        self.choose = choose or (lambda waiting: waiting[0])
        self.waiting: dict[int, list] = {}
        self.key = self.most = self.deaths = 0
        self.carried_out: list = []

    def send(self, tasks):
        self.key += 1
        self.waiting[self.key] = tasks
        self.most = max(self.most, len(self.waiting))
        return self.key

    def recall(self, key):
        self.waiting.pop(key, None)

    def news(self, timeout):
        key = self.choose(sorted(self.waiting))
        tasks = self.waiting[key]
        if self.kills & set(tasks) or self.deaths_left > 0:
            self.deaths_left -= 1
            self.deaths += 1
            # The others that were with that worker are lost as well.
            lost = tuple(self.waiting)
            if not self.again:
                self.waiting.clear()
            return [Lost(lost, "worker 7", again=self.again)]
        del self.waiting[key]
        self.carried_out.extend(tasks)
        return [Done(key, [-task for task in tasks], 0.1 * len(tasks))]


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(0, 60),
    size=st.integers(1, 5),
    deaths=st.integers(0, 4),
    again=st.booleans(),
    draw=st.randoms(use_true_random=False),
)
def test_results_come_in_order_whoever_is_first_and_whoever_dies(count, size, deaths, again, draw):
    crew = Crew(size, deaths=deaths, choose=draw.choice, again=again)
    arrived = []
    found = list(dispatch(crew, range(1, count + 1), lambda task, _: arrived.append(task)))
    tasks = [task for task, _ in found]
    assert tasks == list(range(1, count + 1))
    assert sorted(arrived) == [task for task, result in found if not isinstance(result, Killed)]
    assert all(result == -task for task, result in found if not isinstance(result, Killed))
    assert crew.most <= 2 * size + 1
    assert not crew.waiting


@pytest.mark.parametrize("again", [False, True])
def test_the_task_that_kills_is_found_out_and_no_other(again):
    crew = Crew(3, kills={17}, again=again)
    found = dict(dispatch(crew, range(1, 40)))
    assert found.pop(17) == Killed(3, "worker 7")
    assert found == {task: -task for task in range(1, 40) if task != 17}
    assert crew.deaths == 3  # twice in company, and once alone


@pytest.mark.parametrize("again", [False, True])
def test_workers_that_are_restarted_are_no_fault_of_a_suspect(again):
    class Unlucky(Crew):
        """Loses two workers with whatever they have; with the suspect alone some are restarted."""

        restarts = 5
        restarted: frozenset[int] = frozenset()

        def news(self, timeout):
            if self.deaths == 2 and len(self.waiting) == 1 and self.restarts:
                self.restarts -= 1
                self.restarted = self.restarted | set(self.waiting)
                lost = tuple(self.waiting)
                if not self.again:
                    self.waiting.clear()
                return [Lost(lost, "worker 7", again=self.again, asked=True)]
            return super().news(timeout)

    crew = Unlucky(2, deaths=2, again=again)
    found = dict(dispatch(crew, range(1, 40)))
    assert found == {task: -task for task in range(1, 40)}
    assert (crew.deaths, crew.restarts) == (2, 0)
    # What somebody makes already is not sent a second time.
    assert len(crew.restarted) == (1 if again else 5)


def test_restarts_that_are_asked_for_never_make_a_suspect():
    class Restarted(Crew):
        restarts = 9

        def news(self, timeout):
            if self.restarts:
                self.restarts -= 1
                lost = tuple(self.waiting)
                self.waiting.clear()
                return [Lost(lost, "worker 7", asked=True)]
            return super().news(timeout)

    crew = Restarted(2)
    assert dict(dispatch(crew, range(1, 9))) == {task: -task for task in range(1, 9)}
    assert crew.most > 1  # nothing was sent alone


def test_what_has_come_is_given_before_the_end_is_told():
    class Ending(Crew):
        def news(self, timeout):
            if len(self.carried_out) == 3:
                raise LostWorkersError("gone.")
            return super().news(timeout)

    crew = Ending(2, choose=max)
    found = []
    with pytest.raises(LostWorkersError):
        found.extend(dispatch(crew, range(1, 100)))
    assert sorted(task for task, _ in found) == sorted(crew.carried_out)
    assert 1 not in dict(found)  # it came out of turn, all the same


@pytest.mark.parametrize("lost", [True, False])
def test_what_is_here_is_taken_though_nobody_can_be_sent_anything_more(lost):
    class Closed(Crew):
        """A trip comes back, or is lost, and is told of; then the others are back, and all ends."""

        closed = False

        def send(self, tasks):
            if self.closed:
                raise LostWorkersError("closed.")
            return super().send(tasks)

        def news(self, timeout):
            self.closed = True
            keys = sorted(self.waiting)
            if lost:
                return [*(Lost((key,), "worker 7") for key in keys[:1]), *map(self._done, keys[1:])]
            return [self._done(key) for key in (keys[:1] if timeout else keys)]

        def _done(self, key):
            tasks = self.waiting.pop(key)
            self.carried_out.extend(tasks)
            return Done(key, [-task for task in tasks], 0.1)

    crew = Closed(2)
    arrived, found = [], []
    with pytest.raises(LostWorkersError):
        found.extend(dispatch(crew, range(1, 100), lambda task, _: arrived.append(task)))
    assert crew.carried_out == ([2, 3, 4] if lost else [1, 2, 3, 4])
    assert arrived == [task for task, _ in found] == crew.carried_out


def test_nothing_is_drawn_that_there_is_no_room_for():
    drawn = []

    def tasks():
        for k in range(1, 1000):
            drawn.append(k)
            yield k

    crew = Crew(2)
    running = dispatch(crew, tasks())
    next(running)
    assert len(drawn) < 30
    running.close()
    assert not crew.waiting


def test_large_results_are_under_way_only_as_memory_allows():
    class Large(int):
        size = 2**20

    crew = Crew(8)
    with fp.max_memory("70 MB"):
        found = list(dispatch(crew, map(Large, range(1, 30))))
    assert [task for task, _ in found] == list(range(1, 30))
    assert crew.most == 3  # of 8 MB each: the third is sent while two take less than a quarter


def test_after_a_stop_what_was_drawn_is_not_sent():
    crew = Crew(2)
    ended = []
    found = []
    for task, _ in dispatch(crew, range(1, 1000), stopped=lambda: bool(ended)):
        found.append(task)
        if task == 30:
            ended.append(True)
    assert found[:30] == list(range(1, 31))
    assert len(found) < 60
    assert set(crew.carried_out) == set(found)


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_slow_trip_is_made_again_and_counts_once(monkeypatch, repeatable):
    monkeypatch.setattr(dispatching, "_SLOW_AT_LEAST", 0.0)
    monkeypatch.setattr(dispatching, "_SLOW", 1e-9)

    class Slow(Crew):
        looked = 0

        def news(self, timeout):
            fast = [key for key in self.waiting if key != 1]
            self.looked += 1
            if fast:
                return super().news(timeout)
            self.choose = min
            return super().news(timeout) if self.looked > 100 else []

    crew = Slow(2, choose=max)
    found = list(dispatch(crew, range(1, 20), repeatable=repeatable))
    assert found == [(k, -k) for k in range(1, 20)]
    # Key 1 hangs: only a copy of its trip can have brought task 1 before the crew gave in.
    assert (crew.looked < 100) == repeatable


def test_trips_grow_until_they_are_worth_it_and_the_last_are_shared_out():
    loads = Loads(iter(range(1000)))
    assert loads.next(4) == [0]
    loads.took(1, 0.01)
    assert len(loads.next(4)) == 30
    loads = Loads(iter(range(10)))
    loads.took(1, 0.001)
    assert [len(loads.next(4)) for _ in range(5)] == [3, 2, 2, 1, 1]
