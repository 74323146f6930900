"""A similarity that misbehaves: a clear sentence, both items named, nothing evaluated lost."""

from __future__ import annotations

import re
import signal
import threading

import numpy as np
import pytest
from examples import Counter, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import AsymmetryError, InputError, SimilarityError

WORDS = [f"word {i}" for i in range(40)]


def four_parts(error: Exception) -> bool:
    """What and where, why, what to do, on lines of their own; a wrong name needs no reason."""
    return len(str(error).splitlines()) >= (
        2 if isinstance(error, fp.errors.UnknownNameError) else 3
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_non_finite_names_both_items_and_keeps_the_rest(bad, n_jobs):
    calls = []

    def pair(a, b):
        calls.append((a, b))
        return bad if "word 7" in (a, b) and "word 31" in (a, b) else 1.0

    sim = fp.similarity(pair, kind="pair", symmetric=True, block_size=16)
    with pytest.raises(SimilarityError, match="items") as caught:
        fp.approximate(WORDS, sim, landmarks=[3, 7], error_pairs=0, n_jobs=n_jobs)
    message = str(caught.value)
    assert "'word 7'" in message
    assert "'word 31'" in message
    assert four_parts(caught.value)
    assert sorted(caught.value.pair) == [7, 31]
    kept = caught.value.oracle
    assert kept.evaluations == len(calls)
    known = kept.known()
    pairs = {(min(p), max(p)) for p in ((WORDS.index(a), WORDS.index(b)) for a, b in calls)}
    i, j = np.array(sorted(pairs - {(7, 31)})).T
    np.testing.assert_array_equal(known.find(i, j), 1.0)
    assert np.isnan(known.find(np.array([7]), np.array([31]))).all()


def test_a_raise_names_the_pair_chains_the_cause_and_the_run_goes_on():
    asked = []
    broken = True

    def pair(a, b):
        asked.append((a, b))
        if broken and "word 20" in (a, b):
            raise ZeroDivisionError("nothing to compare")
        return float(len(a) == len(b))

    sim = fp.similarity(pair, kind="pair", symmetric=True)
    with pytest.raises(SimilarityError, match="nothing to compare") as caught:
        fp.approximate(WORDS, sim, landmarks=[1, 2, 3], method="nystrom", error_pairs=0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "'word 20'" in str(caught.value)
    assert 20 in caught.value.pair
    before = len(asked)
    broken = False
    matrix = fp.approximate(
        caught.value.oracle, landmarks=[1, 2, 3], method="nystrom", error_pairs=0
    )
    # The failed pair is the only one that is asked for a second time.
    assert len(asked) == 3 * 40 - 3 + 1
    assert caught.value.oracle.evaluations == len(asked) > before
    assert matrix.evaluations == 3 * 40 - 3  # what it takes without faults


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("pair", "high"),
        ("pair", None),
        ("pair", 1j),
        ("pair", [1.0, 2.0]),
        ("pairs", [1.0]),
        ("pairs", [["a"]]),
        ("block", np.ones((2, 2))),
        ("block", 1.0),
        ("block", np.ones((3, 3), dtype=complex)),
    ],
)
def test_wrong_answers_are_refused(kind, answer):
    sim = fp.similarity(lambda *_: answer, kind=kind, symmetric=True)
    with pytest.raises(SimilarityError) as caught:
        fp.approximate(WORDS, sim, landmarks=5, random_state=0)
    assert four_parts(caught.value)


@pytest.mark.parametrize("convert", [list, tuple, np.float32, np.asarray])
def test_convertible_answers_are_converted(convert):
    sim = fp.similarity(lambda pairs: convert([1.0 for _ in pairs]), kind="pairs", symmetric=True)
    assert fp.approximate(WORDS, sim, landmarks=3, random_state=0)[0, 1] == pytest.approx(1.0)


def test_asymmetric_declared_symmetric_is_found(kind):
    counter = Counter(np.random.default_rng(0).normal(size=(40, 40)))
    with pytest.raises(AsymmetryError, match="symmetrized") as caught:
        fp.approximate(range(40), counter.similarity(kind), landmarks=12, random_state=0)
    assert four_parts(caught.value)
    assert caught.value.oracle.evaluations == len(counter.asked)


def test_asymmetric_precomputed_is_refused_where_it_is_declared():
    with pytest.raises(AsymmetryError):
        fp.Precomputed(np.arange(9.0).reshape(3, 3), symmetric=True)


def test_rounding_is_not_asymmetry(kind):
    matrix = symmetric_matrix(30)
    counter = Counter(matrix + 1e-9 * np.random.default_rng(0).normal(size=matrix.shape))
    fp.approximate(range(30), counter.similarity(kind), landmarks=9, random_state=0)


@pytest.mark.parametrize(
    "items", ["a string", {1, 2}, {"a": 1}, 5, [], (), np.empty((0, 3)), ["a", None], [1.0, np.nan]]
)
def test_unusable_items_are_refused_before_anything_is_bought(items):
    counter = Counter(np.eye(3))
    with pytest.raises(InputError) as caught:
        fp.approximate(items, counter.similarity("pair"), landmarks=2)
    assert four_parts(caught.value)
    assert counter.asked == []


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"method": "nistrom"}, '"nystrom"'),
        ({"method": "sms", "alfa": 2.0}, '"alpha"'),
        ({"method": "nystrom", "alpha": 2.0}, "unknown option"),
        ({"landmarks": 3, "budget": 100}, "both"),
        ({"budget": 3}, "one landmark costs"),
        ({"budget": 1.0}, "share"),
        ({"budget": 0}, "budget"),
        ({"budget": -0.1}, "budget"),
        ({"landmarks": 0}, "landmarks"),
        ({"landmarks": -2}, "landmarks"),
        ({"landmarks": True}, "landmarks"),
        ({"landmarks": 2.5}, "landmarks"),
        ({"landmarks": [1, 1]}, "repeated"),
        ({"landmarks": [99]}, "positions"),
        ({"landmarks": "ten"}, "landmarks"),
        ({"error_pairs": -1}, "error_pairs"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": "seed"}, "random_state"),
        ({"random_state": -1}, "random_state"),
        ({"selection": "unifrom"}, '"uniform"'),
        ({"selection": 3}, "selection"),
        ({"method": "optimal"}, "allow_all_pairs"),
        ({"method": "sms", "alpha": -1.0}, "alpha"),
        ({"method": "sms", "oversampling": 0.5}, "oversampling"),
        ({"method": "sms", "shift_columns": "yes"}, "shift_columns"),
        ({"known": "all"}, "known"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_bought(arguments, hint):
    counter = Counter(np.eye(20))
    with pytest.raises(InputError, match=hint) as caught:
        fp.approximate(range(20), counter.similarity("pair"), **arguments)
    assert four_parts(caught.value)
    assert counter.asked == []


@pytest.mark.parametrize("thing", [lambda a, b: 1.0, np.eye(3), None, 5, "levenshtein", object()])
def test_what_is_no_similarity_is_refused(thing):
    with pytest.raises(InputError):
        fp.approximate(range(3), thing)


def test_a_class_that_does_not_declare_symmetry_is_refused():
    class Forgot(fp.Similarity):
        def pair(self, a, b):
            return 1.0

    with pytest.raises(InputError, match="symmetric"):
        fp.approximate(range(3), Forgot())


def test_a_plain_object_with_the_right_methods_will_do():
    class Plain:
        symmetric = True

        def pair(self, a, b):
            return float(a == b)

    assert fp.approximate(range(4), Plain(), landmarks=4, random_state=0)[2, 2] == 1.0


@pytest.mark.parametrize("at", [1, 2, 255, 256, 257, 700])
def test_ctrl_c_inside_a_call_costs_only_the_pair_under_way(at):
    calls = []

    def pair(a, b):
        calls.append(frozenset((a, b)))
        if len(calls) == at:
            raise KeyboardInterrupt
        return float(abs(a - b))

    sim = fp.similarity(pair, kind="pair", symmetric=True)
    run = {"landmarks": 10, "method": "nystrom", "error_pairs": 0, "random_state": 0}
    with pytest.raises(KeyboardInterrupt) as caught:
        fp.approximate(range(100), sim, **run)
    assert caught.value.oracle.evaluations == at
    assert "goes on from there" in caught.value.__notes__[0]
    matrix = fp.approximate(caught.value.oracle, **run)
    assert len(calls) == len(set(calls)) + 1
    whole = fp.approximate(range(100), sim, **run)
    np.testing.assert_array_equal(matrix.to_dense(), whole.to_dense())


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_given_pairs_that_were_scored_are_not_scored_again_after_a_fault(fault):
    calls = []

    def pair(a, b):
        calls.append((a, b))
        if len(calls) == 30:
            raise fault
        return float(a - b)

    sim = fp.similarity(pair, kind="pair", symmetric=False)
    left, right = range(50), range(50, 0, -1)
    with pytest.raises((fp.errors.SimilarityError, KeyboardInterrupt)) as caught:
        fp.score_pairs(sim, left, right)
    assert "goes on from there" in caught.value.__notes__[0]
    scores = fp.score_pairs(sim, caught.value.oracle)
    assert scores.tolist() == [a - b for a, b in zip(left, right, strict=True)]
    assert len(calls) == 51


@pytest.mark.parametrize(
    "call",
    [
        lambda items, sim: fp.Oracle(items, sim).columns([3, 5]),
        lambda items, sim: fp.plan(items, sim, landmarks=5, timed=True),
        fp.inspect,
    ],
)
def test_ctrl_c_outside_of_a_run_loses_nothing_either(call):
    calls = []

    def pair(a, b):
        calls.append((a, b))
        if len(calls) == 40:
            raise KeyboardInterrupt
        return float(a - b)

    sim = fp.similarity(pair, kind="pair", symmetric=False)
    with pytest.raises(KeyboardInterrupt) as caught:
        call(range(60), sim)
    before = len(calls)
    fp.approximate(caught.value.oracle, landmarks=60)
    assert len(calls) <= before + 1 + 60 * 60 - 20  # what was evaluated is looked up


@pytest.fixture
def _interruptible():
    """Jobs in the background ignore the signal, and so would a test that is run in one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_while_threads_work_keeps_what_they_had_begun():
    calls = []
    lock = threading.Lock()

    def pair(a, b):
        with lock:
            calls.append(frozenset((a, b)))
        if len(calls) == 300:
            signal.raise_signal(signal.SIGINT)  # Python runs the handler in the main thread
        return float(abs(a - b))

    sim = fp.similarity(pair, kind="pair", symmetric=True, block_size=16)
    run = {"landmarks": 10, "method": "nystrom", "error_pairs": 0, "random_state": 0}
    with pytest.raises(KeyboardInterrupt) as caught:
        fp.approximate(range(100), sim, n_jobs=2, **run)
    assert caught.value.oracle.evaluations == len(calls)
    fp.approximate(caught.value.oracle, **run)
    assert len(calls) == len(set(calls))


def test_global_random_state_is_neither_read_nor_changed():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = fp.approximate(
        range(30), fp.Precomputed(symmetric_matrix(30)), landmarks=5, random_state=1
    )
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    np.random.seed(4)  # noqa: NPY002
    two = fp.approximate(
        range(30), fp.Precomputed(symmetric_matrix(30)), landmarks=5, random_state=1
    )
    assert np.array_equal(one.to_dense(), two.to_dense())


def test_a_stopped_run_goes_on_and_asks_for_nothing_twice():
    counter = Counter(symmetric_matrix(80))
    with pytest.raises(fp.errors.StoppedError) as stop:
        fp.approximate(
            range(80),
            counter.similarity("pair"),
            landmarks=20,
            random_state=0,
            progress=lambda done, planned: done < 400,
        )
    found = fp.approximate(stop.value.oracle, landmarks=20, random_state=0)
    assert found.evaluations == len(counter.asked)
    assert len(set(counter.asked)) == len(counter.asked)  # not even the symmetry check


def test_progress_and_threads_can_be_given_anew():
    oracle = fp.Oracle(range(30), fp.Precomputed(symmetric_matrix(30)))
    seen = []
    fp.approximate(oracle, landmarks=5, n_jobs=2, progress=lambda done, planned: seen.append(done))
    assert seen
    assert oracle.n_jobs == 2


def test_a_pair_that_is_no_number_costs_only_itself():
    asked = []

    def pair(a, b):
        asked.append((a, b))
        return None if len(asked) == 50 else 1.0

    sim = fp.similarity(pair, kind="pair", symmetric=True)
    with pytest.raises(SimilarityError, match="NoneType") as caught:
        fp.approximate(WORDS, sim, landmarks=5, method="nystrom", error_pairs=0, random_state=0)
    first = len(asked)
    fp.approximate(
        caught.value.oracle, landmarks=5, method="nystrom", error_pairs=0, random_state=0
    )
    assert len(asked) == len({frozenset(p) for p in asked}) + 1
    assert len(asked) > first


def test_a_mended_function_goes_on_where_the_broken_one_stopped():
    asked = []

    def score(a, b):
        if len(asked) == 60:
            raise TimeoutError
        asked.append((a, b))
        return 1.0

    broken = fp.similarity(score, kind="pair", symmetric=True, name="score")
    with pytest.raises(SimilarityError, match="a mended function") as caught:
        fp.approximate(WORDS, broken, landmarks=5, method="nystrom", error_pairs=0)
    mended = fp.similarity(
        lambda a, b: asked.append((a, b)) or 1.0, kind="pair", symmetric=True, name="score"
    )
    fp.approximate(caught.value.oracle, mended, landmarks=5, method="nystrom", error_pairs=0)
    assert len(asked) == len(set(asked))
    other = fp.similarity(lambda a, b: 2.0, kind="pair", symmetric=True, name="other")
    with pytest.raises(InputError, match="belongs to its own similarity"):
        fp.approximate(caught.value.oracle, other, landmarks=5)


def test_a_fault_while_a_matrix_is_extended_says_what_to_do_there():
    def score(a, b):
        if "new" in (a, b):
            raise ZeroDivisionError
        return float(a[-1] == b[-1])

    sim = fp.similarity(score, kind="pair", symmetric=True)
    matrix = fp.approximate(WORDS, sim, landmarks=10, random_state=0)
    with pytest.raises(SimilarityError, match="call again; the matrix is as it was") as caught:
        matrix.extend(["new"])
    # The landmark is named by its place among the user's items.
    position = int(re.search(r" and (\d+) \(", str(caught.value))[1])
    assert f"({WORDS[position]!r})" in str(caught.value)


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_whatever_ends_a_run_carries_the_oracle(fault):
    class Selector:
        def select(self, oracle, count, rng):
            oracle.columns([0, 1])
            raise fault

    sim = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True)
    with pytest.raises(fault) as caught:
        fp.approximate(WORDS, sim, landmarks=5, selection=Selector())
    assert caught.value.oracle.evaluations == 2 * 40 - 1


def test_a_callback_may_stop_with_numpys_false():
    sim = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, block_size=10)
    with pytest.raises(fp.errors.StoppedError):
        fp.approximate(WORDS, sim, landmarks=5, progress=lambda done, _: np.less(done, 50))
