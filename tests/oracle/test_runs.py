"""A run knows only what it has asked for: whatever was bought before, the result is the same."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import AsymmetryError, SimilarityError


class FailsAt:
    """A similarity of one matrix that raises (or returns NaN) at one call, once."""

    def __init__(self, matrix: np.ndarray, call: int, *, nan: bool = False) -> None:
        self.counter, self.call, self.nan = Counter(matrix), call, nan
        self.calls = 0

    def fails(self) -> bool:
        self.calls += 1
        return self.calls == self.call

    def pair(self, a, b):
        if self.fails():
            if self.nan:
                return float("nan")
            raise RuntimeError
        return self.counter.pair(a, b)

    def pairs(self, pairs):
        values = np.array(self.counter.pairs(pairs), dtype=float)
        if self.fails():
            if not self.nan:
                raise RuntimeError
            values[-1] = np.nan
        return values

    def block(self, left, right):
        values = self.counter.block(left, right).copy()
        if self.fails():
            if not self.nan:
                raise RuntimeError
            values[-1, -1] = np.nan
        return values

    def similarity(self, kind: str, *, symmetric: bool) -> fp.Similarity:
        return fp.similarity(
            getattr(self, kind), kind=kind, symmetric=symmetric, name="x", block_size=64
        )


MATRICES = {True: symmetric_matrix(40), False: asymmetric_matrix(40)}
RUNS = {
    "landmarks": {"landmarks": 12},
    "budget": {"budget": 0.6},
    "target": {"target_error": 0.2},
    "sicur": {"landmarks": 12, "method": "sicur"},
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_resuming_at_any_call_gives_the_matrix_of_an_uninterrupted_run(kind, symmetric, run):
    matrix, options = MATRICES[symmetric], RUNS[run]
    whole = FailsAt(matrix, 0)
    expected = fp.approximate(
        range(40), whole.similarity(kind, symmetric=symmetric), random_state=3, **options
    )
    step = max(1, whole.calls // 12)
    for call in range(1, whole.calls + 1, step):
        broken = FailsAt(matrix, call, nan=bool(call % 2))
        with pytest.raises(SimilarityError) as caught:
            fp.approximate(
                range(40), broken.similarity(kind, symmetric=symmetric), random_state=3, **options
            )
        found = fp.approximate(caught.value.oracle, random_state=3, **options)
        np.testing.assert_array_equal(found.to_dense(), expected.to_dense())
        assert found.error == expected.error
        assert found.evaluations == expected.evaluations
        assert found.curve == expected.curve
        if kind == "pair":  # what was evaluated is never asked for again, but for the failed pair
            assert caught.value.oracle.evaluations <= expected.evaluations + 1


def test_resuming_without_a_seed_pays_only_for_the_rest():
    counter = Counter(symmetric_matrix(60))
    for call in range(5, 400, 35):
        broken = FailsAt(counter.matrix, call)
        with pytest.raises(SimilarityError) as caught:
            fp.approximate(range(60), broken.similarity("pair", symmetric=True), landmarks=10)
        found = fp.approximate(caught.value.oracle, landmarks=10)
        assert np.isfinite(found.to_dense()).all()
        assert len(broken.counter.asked) == len(set(broken.counter.asked))
        assert np.isfinite(found.error.value)


def test_a_second_run_does_not_know_what_the_first_has_bought(kind):
    counter = Counter(symmetric_matrix(60))
    oracle = fp.Oracle(range(60), counter.similarity(kind))
    fp.approximate(oracle, landmarks=25, random_state=1)
    paid = oracle.evaluations
    again = fp.approximate(oracle, landmarks=10, random_state=2)
    fresh = fp.approximate(range(60), counter.similarity(kind), landmarks=10, random_state=2)
    np.testing.assert_array_equal(again.to_dense(), fresh.to_dense())
    assert len(again.known.columns.index) == 10
    assert oracle.evaluations - paid < fresh.evaluations == again.evaluations


def test_the_same_run_twice_costs_nothing(kind):
    oracle = fp.Oracle(range(60), Counter(symmetric_matrix(60)).similarity(kind))
    first = fp.approximate(oracle, landmarks=10, random_state=2)
    second = fp.approximate(oracle, landmarks=10, random_state=2)
    assert second.evaluations == first.evaluations == oracle.evaluations
    np.testing.assert_array_equal(first.to_dense(), second.to_dense())


def test_extending_after_a_larger_run_gives_exact_entries_that_are_exact():
    matrix = symmetric_matrix(80)
    similarity = fp.similarity(lambda a, b: matrix[a, b], kind="pair", symmetric=True, name="x")
    oracle = fp.Oracle(range(70), similarity)
    fp.approximate(oracle, landmarks=40, random_state=0)
    small = fp.approximate(oracle, landmarks=15, random_state=0)
    grown = small.extend(range(70, 80))
    landmarks = grown.known.columns.index
    np.testing.assert_allclose(grown[70:, landmarks], matrix[70:80, landmarks])
    near = small.nearest(item=75, k=70)
    exact = np.isin(near.indices, landmarks)
    np.testing.assert_allclose(near.similarities[exact], matrix[75, near.indices[exact]])


def test_known_holds_only_complete_lines_after_a_fault():
    broken = FailsAt(symmetric_matrix(60), 130)
    oracle = fp.Oracle(range(60), broken.similarity("pair", symmetric=True))
    with pytest.raises(SimilarityError):
        oracle.columns(np.arange(10))
    known = oracle.known()
    assert len(known.columns.index) < 10
    assert not np.isnan(known.columns.values).any()
    # What was read of a half-read column is still known, entry by entry.
    i, j = np.array(sorted(broken.counter.unordered)).T
    np.testing.assert_array_equal(known.find(i, j), broken.counter.matrix[i, j])


def test_what_inspect_and_plan_buy_is_not_paid_for_again():
    counter = Counter(symmetric_matrix(60))
    oracle = fp.Oracle(range(60), counter.similarity("pair"))
    fp.inspect(oracle)
    fp.plan(oracle, landmarks=20, timed=True)
    found = fp.approximate(oracle, landmarks=20, random_state=0)
    # Inspect asks for 20 pairs twice, and for 100 in an order that it can be sure of; so does the
    # run, for eight.
    assert len(counter.asked) - len(set(counter.asked)) <= 20 + 100 + 8
    fresh = fp.approximate(range(60), counter.similarity("pair"), landmarks=20, random_state=0)
    np.testing.assert_array_equal(found.to_dense(), fresh.to_dense())


@pytest.mark.parametrize("options", [{"landmarks": 8}, {"target_error": 0.3}])
def test_a_similarity_that_depends_on_the_order_is_refused_every_time(kind, options):
    counter = Counter(asymmetric_matrix(40))
    with pytest.raises(AsymmetryError) as caught:
        fp.approximate(range(40), counter.similarity(kind, symmetric=True), **options)
    asked = len(counter.asked)
    with pytest.raises(AsymmetryError):
        fp.approximate(caught.value.oracle, **options)
    assert len(counter.asked) == asked


@pytest.mark.parametrize("kind", ["pair", "block"])
def test_a_result_never_changes_when_its_oracle_is_used_again(kind):
    rng = np.random.default_rng(0)
    counter = Counter(symmetric_matrix(200))

    def pair(a, b):  # repeats itself only to nine digits
        return counter.pair(a, b) + 1e-9 * rng.random()

    def block(left, right):  # what is known of a block is asked for again with the rest
        return counter.block(left, right) + 1e-9 * rng.random((len(left), len(right)))

    function = pair if kind == "pair" else block
    similarity = fp.similarity(function, kind=kind, symmetric=True, name="noisy")
    oracle = fp.Oracle(range(200), similarity)
    first = fp.approximate(oracle, budget=0.3, random_state=0)
    before = first.to_dense()
    # So few that they fit into the room that the first run had made for its columns.
    for landmarks in (1, 2, 3):
        fp.approximate(oracle, landmarks=landmarks, error_pairs=0, random_state=landmarks)
        np.testing.assert_array_equal(first.to_dense(), before)
    fp.approximate(oracle, landmarks=5, random_state=1, diagonal=7.0)
    oracle.block(np.arange(60), np.arange(20, 40))
    fp.approximate(oracle, landmarks=5, random_state=2)
    np.testing.assert_array_equal(first.to_dense(), before)


def test_a_declared_diagonal_belongs_to_its_run_alone():
    matrix = symmetric_matrix(60)
    counter = Counter(matrix)
    oracle = fp.Oracle(range(60), counter.similarity("pair"))
    fp.plan(oracle, landmarks=10, diagonal=5.0, timed=False)
    with pytest.raises(fp.errors.InputError):
        fp.approximate(oracle, landmarks=10, budget=0.3, diagonal=5.0)
    declared = fp.approximate(oracle, landmarks=10, diagonal=5.0, random_state=0)
    np.testing.assert_array_equal(np.diag(declared.to_dense()), 5.0)
    for seed in (0, 1):
        plain = fp.approximate(oracle, landmarks=10, random_state=seed)
        np.testing.assert_array_equal(np.diag(plain.to_dense()), np.diag(matrix))
    fresh = fp.approximate(range(60), counter.similarity("pair"), landmarks=10, random_state=1)
    np.testing.assert_array_equal(plain.to_dense(), fresh.to_dense())


def test_inspecting_does_not_hide_asymmetry_from_the_run():
    counter = Counter(asymmetric_matrix(60))
    oracle = fp.Oracle(range(60), counter.similarity("block", symmetric=True))
    assert fp.inspect(oracle, sample=60).asymmetry > 0.1
    with pytest.raises(AsymmetryError) as caught:
        fp.approximate(oracle, landmarks=20, random_state=0)
    assert fp.inspect(caught.value.oracle).asymmetry > 0.1


def test_a_column_that_is_asked_for_twice_is_paid_for_once(kind):
    counter = Counter(asymmetric_matrix(30))
    oracle = fp.Oracle(range(30), counter.similarity(kind, symmetric=False))
    columns = oracle.columns([3, 3, 5, 3])
    np.testing.assert_array_equal(columns, counter.matrix[:, [3, 3, 5, 3]])
    np.testing.assert_array_equal(oracle.rows([2, 2]), counter.matrix[[2, 2]])
    assert oracle.known().columns.index.tolist() == [3, 5]
    assert len(counter.asked) == len(set(counter.asked)) == 60 + 28


@pytest.mark.parametrize("state", [np.random.default_rng, np.random.RandomState])
def test_resuming_with_the_same_generator_pays_only_for_the_rest(state):
    broken = FailsAt(symmetric_matrix(60), 200)
    random_state = state(0)
    with pytest.raises(SimilarityError) as caught:
        fp.approximate(
            range(60),
            broken.similarity("pair", symmetric=True),
            landmarks=10,
            random_state=random_state,
        )
    fp.approximate(caught.value.oracle, landmarks=10, random_state=random_state)
    assert len(broken.counter.asked) == len(set(broken.counter.asked))


def test_a_resumed_block_similarity_gives_the_same_bits():
    x = np.random.default_rng(0).normal(size=(90, 37))

    class Products:
        calls, fails = 0, 0

        def block(self, left, right):
            self.calls += 1
            if self.calls == self.fails:
                raise RuntimeError
            return x[left] @ x[right].T  # its last bits depend on the shape of the block

    whole = Products()
    similarity = fp.similarity(whole.block, kind="block", symmetric=True, name="products")
    expected = fp.approximate(range(90), similarity, budget=0.4, random_state=0)
    for call in range(1, whole.calls, 3):
        broken = Products()
        broken.fails = call
        similarity = fp.similarity(broken.block, kind="block", symmetric=True, name="products")
        with pytest.raises(SimilarityError) as caught:
            fp.approximate(range(90), similarity, budget=0.4, random_state=0)
        found = fp.approximate(caught.value.oracle, budget=0.4, random_state=0)
        np.testing.assert_array_equal(found.to_dense(), expected.to_dense())
