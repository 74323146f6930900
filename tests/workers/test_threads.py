"""Work in threads: in order, and nothing that was begun is lost."""

from __future__ import annotations

import threading
import time

import pytest

from fewpairs.workers.threads import in_threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_answers_come_in_the_order_of_asking(n_jobs):
    def work(request):
        time.sleep(0.001 * (request % 3))
        return -request

    assert list(in_threads(iter(range(20)), work, n_jobs)) == [(k, -k) for k in range(20)]


def test_after_ctrl_c_what_was_begun_is_waited_for():
    begun, release = [], threading.Event()

    def work(request):
        begun.append(request)
        release.wait(30)
        return -request

    def requests():
        yield from range(4)
        while len(begun) < 2:
            time.sleep(0.001)
        release.set()
        raise KeyboardInterrupt

    answered = []
    with pytest.raises(KeyboardInterrupt):
        answered.extend(in_threads(requests(), work, 2))
    assert answered == [(k, -k) for k in sorted(begun)]
    assert len(answered) >= 2


def test_no_more_requests_are_drawn_than_there_is_work_for():
    drawn = []

    def requests():
        for k in range(100):
            drawn.append(k)
            yield k

    first = in_threads(requests(), lambda request: request, 2)
    next(first)
    assert len(drawn) == 5
    first.close()
