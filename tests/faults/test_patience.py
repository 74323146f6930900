"""Retries, time-outs, rates, async functions: they change how long a run takes, not its result."""

from __future__ import annotations

import asyncio
import datetime as dt
import email.utils
import pickle
import random
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from examples import symmetric_matrix
from faulty import FaultySimilarity, OverloadedError

import fewpairs as fp
from fewpairs.errors import (
    FailedCallError,
    FewpairsError,
    HungCallsWarning,
    InputError,
    SimilarityError,
)
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.waiting import LONGEST_WAIT, Pace, asked_for, backoff
from fewpairs.similarities.patience import Patience

N = 40
MATRIX = symmetric_matrix(N)


def approximated(similarity, **arguments):
    return fp.approximate(range(N), similarity, landmarks=6, random_state=0, **arguments)


def dense(similarity, **arguments):
    return approximated(similarity, **arguments).to_dense()


@pytest.fixture(params=[False, True], ids=["plain", "async"])
def later(request):
    return request.param


def test_a_call_that_fails_now_and_then_is_made_again_and_changes_nothing(kind, later):
    # Promise 20.
    quiet = dense(FaultySimilarity(MATRIX).similarity(kind, block_size=16))
    faulty = FaultySimilarity(MATRIX, lambda call: RuntimeError("500") if call % 3 == 1 else None)
    # With several under way a call may fail several times in a row.
    similarity = faulty.similarity(kind, later=later, block_size=16, retry=40, backoff=1e-6)
    state = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    matrix = approximated(similarity)
    np.testing.assert_array_equal(matrix.to_dense(), quiet)
    assert random.getstate() == state[0]
    np.testing.assert_array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
    assert faulty.calls > 1


def test_failed_attempts_are_not_evaluations(kind):
    faulty = FaultySimilarity(MATRIX, {0: RuntimeError("500"), 3: RuntimeError("500")})
    oracle = fp.Oracle(range(N), faulty.similarity(kind, retry=1, block_size=16))
    matrix = fp.approximate(oracle, landmarks=6, random_state=0)
    assert oracle.retried == 2
    alone = approximated(FaultySimilarity(MATRIX).similarity(kind, block_size=16))
    assert matrix.evaluations == alone.evaluations
    assert len(faulty.asked) > matrix.evaluations


def test_attempts_are_bounded_and_the_run_can_be_resumed(later):
    # Promise 20: bounded retry, then a resumable stop.
    down = FaultySimilarity(MATRIX, lambda call: RuntimeError("503") if call >= 50 else None)
    similarity = down.similarity("pair", later=later, retry=2, max_in_flight=1)
    with pytest.raises(FailedCallError, match=r" \(It was tried 3 times\.\)") as caught:
        approximated(similarity)
    assert down.calls == 53
    assert caught.value.pair is not None
    up = FaultySimilarity(MATRIX)
    again = fp.approximate(caught.value.oracle, up.similarity("pair"), landmarks=6, random_state=0)
    assert len(up.asked) + 50 == again.evaluations
    np.testing.assert_array_equal(again.to_dense(), dense(up.similarity("pair")))


@pytest.mark.parametrize("error", [NameError("x"), MemoryError(), ImportError("y")])
def test_what_no_attempt_mends_is_not_tried_again(error):
    faulty = FaultySimilarity(MATRIX, lambda call: error)
    with pytest.raises(SimilarityError):
        approximated(faulty.similarity("pair", retry=5))
    assert faulty.calls == 1


def test_a_call_that_hangs_is_left_to_itself(kind):
    # Promise 20: a time-out for each call.
    release = threading.Event()
    hang = FaultySimilarity(MATRIX, {2: lambda answer: (release.wait(30), answer)[1]})
    with pytest.warns(HungCallsWarning, match="1 calls"):
        matrix = approximated(hang.similarity(kind, timeout=0.2, retry=1, block_size=16))
    release.set()
    quiet = dense(FaultySimilarity(MATRIX).similarity(kind, block_size=16))
    np.testing.assert_array_equal(matrix.to_dense(), quiet)


def test_a_hanging_async_call_is_cancelled():
    cancelled = threading.Event()

    async def score(a, b):
        if (a, b) == (1, 2):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise
        return 1.0

    similarity = fp.similarity(score, kind="pair", symmetric=True, timeout=0.1)
    with pytest.raises(FailedCallError, match=r"did not end within 0\.1 s") as caught:
        fp.score_pairs(similarity, [0, 1, 3], [1, 2, 4])
    assert caught.value.pair == (1, 1)
    assert cancelled.wait(30)


def test_an_async_function_that_blocks_its_loop_is_given_up():
    release = threading.Event()

    async def score(a, b):
        if a == 1:
            release.wait(60)
        return float(a + b)

    similarity = fp.similarity(score, kind="pair", symmetric=True, timeout=0.1, max_in_flight=1)
    for on_error in ("error", "skip"):  # what was not asked for must not count as skipped
        with pytest.raises(FailedCallError, match="left to itself"):
            fp.score_pairs(similarity, [0, 1, 3], [1, 2, 4], on_error=on_error)
    # The next call has a loop of its own.
    assert fp.score_pairs(similarity, [3], [4]).tolist() == [7.0]
    release.set()


def test_a_hanging_call_does_not_keep_the_interpreter_from_ending():
    code = """
import threading, fewpairs as fp
def score(a, b):
    threading.Event().wait()
s = fp.similarity(score, kind="pair", symmetric=True, timeout=0.1)
try:
    fp.score_pairs(s, [1], [2])
except fp.errors.FailedCallError:
    print("over")
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "over\n"


def test_too_many_hanging_calls_are_an_end(monkeypatch):
    monkeypatch.setattr("fewpairs.oracle.calls._MOST_HUNG", 3)
    release = threading.Event()
    faulty = FaultySimilarity(MATRIX, lambda call: lambda answer: (release.wait(30), answer)[1])
    with pytest.raises(SimilarityError, match="earlier calls have not come back"):
        approximated(faulty.similarity("pair", timeout=0.01, retry=50))
    assert faulty.calls == 3
    release.set()


def test_calls_that_come_back_late_count_no_longer(monkeypatch):
    monkeypatch.setattr("fewpairs.oracle.calls._MOST_HUNG", 1)
    release = threading.Event()
    caller = Caller(Patience(timeout=0.05))
    with pytest.raises(TimeoutError):
        caller.call(release.wait, 30)
    with pytest.raises(FewpairsError, match="have not come back"):
        caller.call(min, 1, 2)
    release.set()
    for attempt in range(500):
        try:
            assert caller.call(min, 1, 2) == 1
            break
        except FewpairsError:
            assert attempt < 499
            time.sleep(0.01)


def test_what_an_exception_asks_for_is_waited_for(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr("fewpairs.oracle.calls._sleep", sleep)
    monkeypatch.setattr("fewpairs.oracle.waiting.time.monotonic", lambda: 0.0)
    faulty = FaultySimilarity(MATRIX, {0: OverloadedError(retry_after=17)})
    caller = Caller(Patience(retry=1))
    assert caller.call(faulty.pair, 0, 1) == MATRIX[0, 1]
    assert waits[0] == 17
    assert waits[1:] == [17]  # time stands still here, and so does everybody else's next call
    waits.clear()
    hasty = FaultySimilarity(MATRIX, {0: OverloadedError(retry_after=0.001)})
    Caller(Patience(retry=1, backoff=8)).call(hasty.pair, 0, 1)
    assert 4 <= waits[0] <= 8  # the longer of both


def test_who_asks_to_come_back_much_later_is_not_waited_for():
    faulty = FaultySimilarity(MATRIX, {0: OverloadedError(retry_after=2 * LONGEST_WAIT)})
    with pytest.raises(FailedCallError, match="asks to wait for 1,200 s"):
        approximated(faulty.similarity("pair", retry=5))
    assert faulty.calls == 1


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (3, 3.0),
        ("2.5", 2.5),
        (dt.timedelta(minutes=1), 60.0),
        (-4, 0.0),
        (float("inf"), 0.0),
        ("soon", 0.0),
        (None, 0.0),
        (object(), 0.0),
    ],
)
def test_retry_after_is_read_in_any_form(asked, seconds):
    assert asked_for(OverloadedError(asked)) == seconds
    error = RuntimeError()
    error.response = SimpleNamespace(headers={"Retry-After": asked})
    assert asked_for(error) == seconds


def test_retry_after_may_be_a_date_and_may_be_in_the_cause():
    error = RuntimeError()
    error.headers = {"retry-after": email.utils.formatdate(time.time() + 100)}
    assert 90 < asked_for(error) <= 100
    outer = ValueError("wrapped")
    outer.__cause__ = error
    assert asked_for(outer) > 90
    error.__cause__, error.headers = outer, None  # a circle ends too
    assert asked_for(outer) == 0


def test_back_off_doubles_up_to_a_minute_less_a_part():
    for attempt, longest in ((0, 0.5), (1, 1.0), (3, 4.0), (20, 60.0), (10_000, 60.0)):
        waits = [backoff(0.5, attempt) for _ in range(50)]
        assert longest / 2 <= min(waits) < max(waits) <= longest


def test_calls_begin_no_faster_than_allowed():
    faulty = FaultySimilarity(MATRIX)
    similarity = faulty.similarity("pair", per_second=200)
    fp.score_pairs(similarity, range(20), range(20), n_jobs=2)
    assert faulty.begun[-1] - faulty.begun[0] >= 19 / 200 * 0.99


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now, time=time.time)
        monkeypatch.setattr("fewpairs.oracle.waiting.time", clock)
        monkeypatch.setattr("fewpairs.oracle.calls._sleep", self.sleep)

    async def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize("again", ["the same", "made anew", "declared by the run"])
def test_a_pace_is_kept_across_calls(monkeypatch, again):
    clock, begun = Clock(monkeypatch), []

    def judge(a, b):
        begun.append(clock.now)
        return 1.0

    def made(**more):
        return fp.similarity(judge, kind="pair", symmetric=True, name=f"paced {again}", **more)

    similarity = made(per_second=4)
    for _ in range(5):
        if again == "declared by the run":
            fp.Oracle([1, 2], made().with_patience(per_second=4)).entries([0], [1])
        else:
            fp.score_pairs(similarity if again == "the same" else made(per_second=4), [1], [2])
    assert begun == [0.0, 0.25, 0.5, 0.75, 1.0]
    # Another one has its own, and so has the same at another rate.
    other = fp.similarity(judge, kind="pair", symmetric=True, name=f"other {again}", per_second=4)
    fp.score_pairs(other, [1], [2])
    fp.score_pairs(made(per_second=5), [1], [2])
    assert begun[5:] == [1.0, 1.0]


def test_a_rest_is_for_everybody():
    pace = Pace(None)
    assert pace.turn() == 0
    pace.rest(5)
    assert 4 < pace.turn() <= 5


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_async_calls_are_side_by_side_and_no_more_than_allowed(n_jobs, kind):
    faulty = FaultySimilarity(MATRIX)
    similarity = faulty.similarity(kind, later=True, max_in_flight=3, block_size=16)
    quiet = dense(FaultySimilarity(MATRIX).similarity(kind, block_size=16))
    np.testing.assert_array_equal(dense(similarity, n_jobs=n_jobs), quiet)
    assert faulty.most_under_way == 3


def test_an_async_failure_keeps_what_was_under_way():
    faulty = FaultySimilarity(MATRIX, pairs={(0, 5): RuntimeError("no")})
    similarity = faulty.similarity("pair", later=True, max_in_flight=4)
    with pytest.raises(FailedCallError) as caught:
        fp.approximate(range(N), similarity, landmarks=[0], error_pairs=0, method="nystrom")
    assert sorted(caught.value.pair) == [0, 5]
    assert caught.value.oracle.evaluations == len(faulty.asked)
    known = caught.value.oracle.known()
    asked = np.array([pair for pair in faulty.asked if sorted(pair) != [0, 5]])
    np.testing.assert_array_equal(known.find(*asked.T), MATRIX[tuple(asked.T)])


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
def test_an_async_similarity_can_be_symmetrized(kind):
    matrix = np.random.default_rng(0).normal(size=(N, N))
    both = FaultySimilarity(matrix).similarity(kind, later=True, symmetric=False).symmetrized()
    plain = FaultySimilarity(matrix).similarity(kind, symmetric=False).symmetrized()
    np.testing.assert_array_equal(dense(both), dense(plain))


def test_an_async_function_may_end_the_program_without_ending_the_loop():
    async def score(a, b):
        raise SystemExit(3)

    similarity = fp.similarity(score, kind="pair", symmetric=True)
    with pytest.raises(FailedCallError, match="SystemExit"):
        fp.score_pairs(similarity, [1], [2])
    test_an_async_similarity_can_be_symmetrized("pair")


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_function_that_raises_cancelled_has_failed_like_any_other(kind, later, timeout):
    # Of a client's own task, say: not a sign that anybody wants to end the run.
    faulty = FaultySimilarity(MATRIX, {1: asyncio.CancelledError()})
    similarity = faulty.similarity(kind, later=later, retry=1, timeout=timeout, block_size=16)
    quiet = dense(FaultySimilarity(MATRIX).similarity(kind, block_size=16))
    np.testing.assert_array_equal(dense(similarity), quiet)
    down = FaultySimilarity(MATRIX, pairs={(0, 5): asyncio.CancelledError()})
    failing = down.similarity(kind, later=later, timeout=timeout, block_size=16)
    with pytest.raises(FailedCallError, match="CancelledError") as caught:
        fp.score_pairs(failing, [0], [5])
    assert caught.value.pair == (0, 0)
    scores = fp.score_pairs(failing.with_patience(on_error="skip"), range(1, 7), [5] * 6)
    np.testing.assert_array_equal(scores, MATRIX[1:7, 5])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retry", -1),
        ("retry", 1.5),
        ("retry", True),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("timeout", "1 s"),
        ("timeout", 1e10),
        ("per_second", 1e-320),
        ("backoff", -1),
        ("per_second", 0),
        ("max_in_flight", 0),
        ("on_error", "ignore"),
        ("on_nonfinite", "drop"),
    ],
)
def test_patience_is_checked_when_it_is_declared(name, value):
    with pytest.raises(InputError, match=name):
        fp.similarity(min, kind="pair", symmetric=True, **{name: value})


def test_any_similarity_can_be_given_patience():
    words = fp.StringSimilarity("levenshtein")
    patient = words.with_patience(retry=2, timeout=5)
    assert patient.patience == Patience(retry=2, timeout=5.0)
    assert words.patience == Patience()
    assert patient.fingerprint == words.fingerprint
    assert words.with_patience() is words
    assert patient.with_patience(retry=0).patience == Patience(timeout=5.0)


def test_a_fault_can_be_sent_to_another_process():
    with pytest.raises(FailedCallError) as caught:
        fp.score_pairs(fp.similarity(_fails, kind="pair", symmetric=True, timeout=1), [1], [2])
    sent = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert sent.oracle is not None
    assert sent.oracle.similarity.patience.timeout == 1


def _fails(a, b):
    raise ValueError("no")
