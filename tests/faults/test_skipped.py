"""Pairs without a value: left out, counted, and never among what is stated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from examples import METHODS, Counter, asymmetric_matrix, symmetric_matrix
from faulty import FaultySimilarity

import fewpairs as fp
from fewpairs.errors import FailedCallError, NonFiniteError, SimilarityError
from fewpairs.oracle.holes import stand_ins

N = 60


def punched(matrix: np.ndarray, share: float, seed: int = 0, bad: float = np.nan) -> np.ndarray:
    """Return a matrix without some of its entries, symmetric if it is."""
    holes = np.random.default_rng(seed).random(matrix.shape) < share
    if np.array_equal(matrix, matrix.T):
        holes = np.triu(holes) | np.triu(holes).T
    return np.where(holes, bad, matrix)


def smooth(n: int = N) -> np.ndarray:
    points = np.random.default_rng(3).random((n, 2))
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("method", ["fitted", *METHODS])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_every_method_goes_on_without_pairs_that_have_no_value(method, bad, kind):
    # Promise 9.
    exact = smooth()
    counter = Counter(punched(exact, 0.03, bad=bad))
    similarity = counter.similarity(kind, block_size=32, on_nonfinite="skip")
    budget = fp.plan(range(N), similarity, landmarks=12, method=method, timed=False).evaluations
    matrix = fp.approximate(range(N), similarity, landmarks=12, method=method, random_state=0)
    assert np.isfinite(matrix.to_dense()).all()
    assert matrix.evaluations == len(counter.asked) <= budget
    asked = np.array(sorted(counter.unordered))
    without = asked[~np.isfinite(counter.matrix[tuple(asked.T)])]
    np.testing.assert_array_equal(matrix.skipped, without)
    assert len(without) > 0
    assert f"; {len(without)} skipped pairs are left out" in repr(matrix)
    # What has a value and was read in a column is right, to the last bit.
    if method == "fitted":
        there = asked[np.isfinite(counter.matrix[tuple(asked.T)])]
        shown = ~np.isnan(matrix.known.find(*there.T))
        np.testing.assert_array_equal(matrix.entries(*there[shown].T), exact[tuple(there[shown].T)])
    # The default method is hardly worse; those that invert a square of few columns may be, and the
    # stated error says so.
    there = np.isfinite(counter.matrix)
    error = np.linalg.norm((matrix.to_dense() - exact)[there]) / np.linalg.norm(exact[there])
    assert error < 0.03 or method != "fitted"
    assert matrix.error.low / 2 < error < 2 * matrix.error.high


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_error_is_that_of_all_other_pairs(symmetric):
    exact = (symmetric_matrix if symmetric else asymmetric_matrix)(80)
    holes = punched(exact, 0.05)
    counter = Counter(holes)
    matrix = fp.approximate(
        range(80),
        counter.similarity("pair", symmetric=symmetric, on_nonfinite="skip"),
        landmarks=10,
        error_pairs=10**6,  # every pair that is left judges
        random_state=0,
    )
    there = np.isfinite(holes)
    residual = np.where(there, matrix.to_dense() - exact, 0.0)
    true = np.linalg.norm(residual) / np.linalg.norm(exact[there])
    assert matrix.error.value == pytest.approx(true, rel=1e-9)


def test_all_pairs_with_some_missing_leave_no_error_of_the_others():
    exact = smooth()
    similarity = Counter(punched(exact, 0.02)).similarity("pair", on_nonfinite="skip")
    matrix = fp.approximate(range(N), similarity, landmarks=N, random_state=0)
    assert matrix.error[:3] == (0.0, 0.0, 0.0)
    there = np.isfinite(punched(exact, 0.02))
    np.testing.assert_array_equal(matrix.to_dense()[there], exact[there])
    assert np.abs(matrix.to_dense() - exact).max() < 0.1


def test_two_sets_targets_and_selections_cope_too():
    exact = smooth()
    holes = punched(exact, 0.02)
    for arguments in (
        {"target_error": 0.05},
        {"budget": 0.5},
        {"landmarks": 8, "selection": "pivoted"},
        {"landmarks": 8, "selection": "k-centre"},
        {"landmarks": 8, "known": None},
        {"landmarks": 8, "fold_error_pairs": True},
        {"landmarks": 8, "others": range(40)},
    ):
        counter = Counter(holes)
        similarity = counter.similarity("pair", symmetric="others" not in arguments)
        matrix = fp.approximate(
            range(N), similarity, on_nonfinite="skip", random_state=0, **arguments
        )
        assert np.isfinite(matrix.to_dense()).all(), arguments
        assert len(matrix.skipped) > 0, arguments
        assert matrix.evaluations == len(counter.asked), arguments
        if "budget" in arguments:
            assert matrix.evaluations <= 0.5 * N * (N + 1) / 2


def test_skipped_pairs_tune_nothing():
    exact = 5 + smooth(120)
    similarity = Counter(punched(exact, 0.1)).similarity("pair", on_nonfinite="skip")
    matrix = fp.approximate(
        range(120), similarity, landmarks=20, tuning=0.3, near=0.0, random_state=0
    )
    assert np.linalg.norm(matrix.to_dense() - exact) / np.linalg.norm(exact) < 0.002


def test_without_holes_nothing_changes(kind):
    similarity = Counter(smooth()).similarity(kind)
    plain = fp.approximate(range(N), similarity, landmarks=8, random_state=0)
    brave = fp.approximate(
        range(N), similarity, landmarks=8, random_state=0, on_nonfinite="skip", on_error="skip"
    )
    np.testing.assert_array_equal(plain.to_dense(), brave.to_dense())
    assert plain.error == brave.error
    assert not len(brave.skipped)


@pytest.mark.parametrize("later", [False, True], ids=["plain", "async"])
def test_pairs_whose_calls_fail_are_found_and_skipped(kind, later):
    # Promise 10.
    exact = smooth()
    poison = {(3, 50): ValueError("no"), (7, 8): ValueError("no"), (20, 20): ValueError("no")}
    faulty = FaultySimilarity(exact, pairs=poison)
    similarity = faulty.similarity(
        kind, later=later, on_error="skip", retry=1, block_size=64, max_in_flight=2
    )
    matrix = fp.approximate(
        range(N), similarity, landmarks=[3, 7, 20, 33], error_pairs=0, random_state=0
    )
    assert matrix.skipped.tolist() == [[3, 50], [7, 8], [20, 20]]
    alone = fp.approximate(
        range(N),
        FaultySimilarity(exact).similarity(kind, block_size=64),
        landmarks=[3, 7, 20, 33],
        error_pairs=0,
        random_state=0,
    )
    assert matrix.evaluations == alone.evaluations
    rows = np.delete(np.arange(N), [50, 8, 20])
    np.testing.assert_allclose(matrix.to_dense()[rows, 33], exact[rows, 33], rtol=1e-12)


def test_only_single_pairs_are_tried_again_while_those_that_fail_are_looked_for():
    faulty = FaultySimilarity(smooth(), pairs={(5, 15): ValueError("no")})
    similarity = faulty.similarity("pairs", on_error="skip", retry=2)
    scores = fp.score_pairs(similarity, range(8), range(10, 18))
    assert np.flatnonzero(np.isnan(scores)).tolist() == [5]
    # Three times all eight; once each half, quarter and single pair, but three times the bad one.
    assert faulty.calls == 3 + 2 + 2 + 1 + 3


def test_a_symmetric_block_with_holes_stays_symmetric():
    oracle = fp.Oracle(range(N), Counter(punched(smooth(), 0.05)).similarity("pair"))
    oracle.declare(on_nonfinite="skip")
    block = oracle.block(np.arange(25), np.arange(25))
    assert len(oracle.skipped) > 0
    assert np.isfinite(block).all()
    np.testing.assert_array_equal(block, block.T)


def test_an_outage_is_not_skipped(kind):
    faulty = FaultySimilarity(smooth(), lambda call: RuntimeError("503") if call > 3 else None)
    with pytest.raises(SimilarityError, match=r"have no value.*RuntimeError: 503") as caught:
        fp.approximate(
            range(N), faulty.similarity(kind, block_size=64), landmarks=8, on_error="skip"
        )
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.oracle.evaluations > 0


def test_what_stands_in_is_forgotten_after_the_run():
    counter = Counter(punched(smooth(), 0.03))
    oracle = fp.Oracle(range(N), counter.similarity("pair", on_nonfinite="skip"))
    first = fp.approximate(oracle, landmarks=8, random_state=0)
    again = fp.approximate(oracle, landmarks=8, random_state=0)
    np.testing.assert_array_equal(first.to_dense(), again.to_dense())
    np.testing.assert_array_equal(first.skipped, again.skipped)
    # Only pairs without a value were asked for again.
    again = {(min(pair), max(pair)) for pair in counter.asked[first.evaluations :]}
    assert again == {tuple(pair) for pair in first.skipped.tolist()}
    with pytest.raises(NonFiniteError):
        fp.approximate(oracle, landmarks=8, random_state=0, on_nonfinite="error")


def test_a_matrix_remembers_what_was_skipped(tmp_path):
    similarity = Counter(punched(smooth(), 0.03)).similarity("pair", on_nonfinite="skip")
    matrix = fp.approximate(range(N), similarity, landmarks=8, random_state=0)
    matrix.save(tmp_path / "m.fewpairs")
    read = fp.load(tmp_path / "m.fewpairs")
    np.testing.assert_array_equal(read.skipped, matrix.skipped)
    assert read.error == matrix.error
    # An item that is added to a finished matrix needs some values.
    gone = Counter(np.full((N + 1, N + 1), np.nan)).similarity("pair", on_nonfinite="skip")
    with pytest.raises(SimilarityError, match="new item 0 has no value with any of 8"):
        fp.load(tmp_path / "m.fewpairs", items=range(N), similarity=gone).extend([N])


def test_skipped_pairs_are_no_matches():
    exact = smooth()
    holes = punched(exact, 0.05)
    similarity = Counter(holes).similarity("pair", on_nonfinite="skip")
    found = fp.find_pairs(range(N), similarity, above=0.9, random_state=0, guide=None)
    truth = {(i, j) for i in range(N) for j in range(i + 1, N) if holes[i, j] >= 0.9}
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) <= truth
    assert found.recall.skipped > 0
    assert "skipped pairs count as no matches" in str(found.recall)
    stated = fp.recall_of(sorted(truth), range(N), similarity, above=0.9, random_state=0)
    assert stated.precision == 1.0
    assert stated.skipped > 0


@pytest.mark.parametrize("budget", [None, 0.6])
def test_skipped_pairs_are_no_matches_within_clusters(budget):
    # Predictions stand in for them in whole columns, and most of these would be matches.
    exact = np.where(np.eye(2, dtype=bool), 0.9, 0.1).repeat(N // 2, 0).repeat(N // 2, 1)
    matrix = punched(exact, 0.1)
    upper = np.triu_indices(N, 1)
    clusters = fp.cluster(
        range(N),
        Counter(matrix).similarity("pairs", on_nonfinite="skip"),
        threshold=0.5,
        budget=budget,
        random_state=0,
    )
    same = (clusters.labels[:, None] == clusters.labels)[upper]
    truth = np.mean(matrix[upper][same] >= 0.5)
    assert clusters.n_clusters == 2
    assert clusters.precision.low <= truth <= clusters.precision.high
    assert clusters.recall.high == 1
    if budget is None:
        assert clusters.precision == (truth,) * 3
        assert clusters.skipped == np.isnan(matrix[upper]).sum()
    assert f"{clusters.skipped} skipped pairs count as no matches" in repr(clusters)


@pytest.mark.parametrize("landmarks", [10, N])
def test_a_symmetric_matrix_with_holes_stays_symmetric(landmarks):
    matrix = punched(symmetric_matrix(N), 0.1)
    similarity = Counter(matrix).similarity("pairs", on_nonfinite="skip")
    dense = fp.approximate(range(N), similarity, landmarks=landmarks, random_state=0).to_dense()
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)


@pytest.mark.parametrize("budget", [None, 0.6])
def test_skipped_pairs_are_no_neighbours(budget):
    exact = smooth(150)
    holes = punched(exact, 0.05)
    similarity = Counter(holes).similarity("pair", on_nonfinite="skip")
    found = fp.find_nearest(range(150), similarity, k=3, random_state=0, budget=budget)
    assert np.isfinite(holes[found.left, found.right]).all()
    np.testing.assert_array_equal(found.similarities, exact[found.left, found.right])
    assert found.recall.skipped > 0
    if budget is None:
        np.fill_diagonal(holes, np.nan)
        third = np.sort(np.where(np.isnan(holes), -1, holes), axis=1)[:, -3]
        assert (found.similarities >= third[found.left]).all()


def test_an_item_with_hardly_any_value_has_fewer_neighbours():
    holes = smooth(30)
    holes[5, 2:] = holes[2:, 5] = np.nan
    similarity = Counter(holes).similarity("pair", on_nonfinite="skip")
    found = fp.find_nearest(range(30), similarity, k=4, random_state=0)
    assert found.right[found.left == 5].tolist() == sorted([0, 1], key=lambda j: -holes[5, j])
    assert (np.bincount(found.left) >= 2).all()


def test_scores_of_skipped_pairs_are_nan():
    similarity = fp.similarity(lambda a, b: 1 / b, kind="pair", symmetric=False)
    scores = fp.score_pairs(similarity, [1, 2, 3], [1, 0, 2], on_error="skip")
    np.testing.assert_array_equal(scores, [1.0, np.nan, 0.5])
    with pytest.raises(FailedCallError):
        fp.score_pairs(similarity, [1, 2, 3], [1, 0, 2])


def test_stand_ins_of_a_matrix_of_low_rank_are_nearly_right():
    rng = np.random.default_rng(0)
    exact = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 12)) + 2
    holes = np.where(rng.random(exact.shape) < 0.05, np.nan, exact)
    filled = stand_ins(holes)
    there = np.isfinite(holes)
    np.testing.assert_array_equal(filled[there], exact[there])
    assert np.abs(filled - exact)[~there].max() < 0.05
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(stand_ins(holes * scale) / scale, filled, rtol=1e-9)
    assert stand_ins(exact) is exact
    assert not np.isnan(stand_ins(np.full((4, 3), np.nan))).any()


def test_stand_ins_stay_within_what_was_seen():
    along = np.linspace(0, 1, 50)[:, None]
    values = along * [5.0, 5.0, 6.0]
    values[-1, 2] = np.nan  # 6 by all that the others say
    assert stand_ins(values)[-1, 2] == values[-2, 2] == np.nanmax(values)


def test_no_pair_is_skipped_because_the_program_is_to_end(kind):
    # As a handler of SIGTERM does it, in the middle of whatever is under way.
    counter = Counter(smooth())
    plain = counter.similarity(kind)
    asked = 0

    def ends(*args):
        nonlocal asked
        asked += 1
        if asked == 5:
            raise SystemExit(1)
        return getattr(plain, kind)(*args)

    similarity = fp.similarity(ends, kind=kind, symmetric=True, block_size=12, on_error="skip")
    with pytest.raises(FailedCallError, match="SystemExit") as fault:
        fp.approximate(range(N), similarity, landmarks=12, random_state=0)
    assert asked == 5
    resumed = fp.approximate(fault.value.oracle, landmarks=12, random_state=0)
    assert len(resumed.skipped) == 0


def matrix_with_holes(share=0.1):
    exact = smooth()
    holes = punched(exact, share)
    np.fill_diagonal(holes, 1.0)
    similarity = Counter(holes).similarity("pairs", on_nonfinite="skip")
    return holes, fp.approximate(range(N), similarity, landmarks=8, random_state=0)


@pytest.mark.parametrize("index", [0, 3, 17])
def test_skipped_pairs_are_not_among_the_nearest_of_a_matrix(index):
    holes, matrix = matrix_with_holes()
    there = ~np.isnan(holes[index])
    there[index] = False
    near = matrix.nearest(index, k=10, rerank=N)
    best = np.sort(holes[index][there])[::-1][:10]
    np.testing.assert_allclose(near.similarities, best)
    np.testing.assert_allclose(holes[index][near.indices], near.similarities)


def test_skipped_pairs_are_not_among_the_nearest_of_a_new_item():
    holes = matrix_with_holes(0.02)[0]
    gone = holes.copy()
    gone[:, 5] = gone[5] = np.nan

    def of_new(pairs):
        return [gone[a, b] if a < N else holes[a - N, b] if b != 5 else np.nan for a, b in pairs]

    similarity = fp.similarity(of_new, kind="pairs", symmetric=True, on_nonfinite="skip")
    landmarks = [k for k in range(N) if k != 5][:8]
    K = fp.approximate(
        range(N), similarity, landmarks=landmarks, method="nystrom", error_pairs=0, random_state=0
    )
    place = next(k for k in range(N) if not np.isnan(holes[k, landmarks]).any())
    near = K.nearest(item=N + place, k=5, rerank=N)
    assert 5 not in near.indices
    assert np.isfinite(near.similarities).all()


@pytest.mark.parametrize("question", [{"k": 5}, {"above": 0.7}])
def test_a_check_leaves_skipped_pairs_out(question):
    holes, matrix = matrix_with_holes()
    checked = matrix.check(**question, rows=N, random_state=0)
    dense = matrix.to_dense()
    rows = np.setdiff1d(np.arange(N), matrix.known.rows.index)
    found = wanted = holds = 0
    for row in rows:
        there = ~np.isnan(holes[row]) & (np.arange(N) != row)
        exact, guess = holes[row][there], dense[row][there]
        if "k" in question:
            truth, said = exact >= np.sort(exact)[-5], guess >= np.sort(guess)[-5]
        else:
            truth, said = exact >= 0.7, guess >= 0.7
        found, wanted = found + np.sum(truth & said), wanted + truth.sum()
        holds += N - 1 - there.sum()
    assert checked.recall.value == pytest.approx(found / wanted, abs=0.01)
    assert checked.skipped == holds
    assert f"{holds} pairs without a value are left out" in str(checked)


def test_what_has_no_value_alone_is_asked_for_again_of_blocks(tmp_path):
    n, rng = 120, np.random.default_rng(3)
    x = rng.normal(size=(n, 2))
    exact = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=-1))
    holes = np.triu(rng.random((n, n)) < 0.02, 1)
    exact[holes | holes.T] = np.nan
    asked = []

    def block(a, b):
        asked.append(len(a) * len(b))
        return exact[np.ix_(a, b)]

    similarity = fp.similarity(
        block, kind="block", symmetric=True, name="judge", version="1", on_nonfinite="skip"
    )
    found = []
    for _ in range(2):
        asked.clear()
        journal = fp.Journal(tmp_path / "j", check=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(
                fp.approximate(range(n), similarity, landmarks=30, random_state=0, journal=journal)
            )
    assert sum(asked) <= len(found[0].skipped)
    assert len(found[1].skipped) == len(found[0].skipped)
    np.testing.assert_array_equal(found[0].to_dense(), found[1].to_dense())


@pytest.mark.parametrize("wrong", ["oops", None, [1.0, 2.0]])
def test_an_answer_that_is_no_number_is_not_skipped_beside_one_without_a_value(wrong):
    exact = np.random.default_rng(0).random((20, 20)) + 1
    exact[3, 7] = np.nan

    def score(a, b):
        return wrong if (a, b) == (12, 7) else exact[a, b]

    similarity = fp.similarity(score, kind="pair", symmetric=False, on_nonfinite="skip")
    with pytest.raises(SimilarityError, match="items 12"):
        fp.approximate(range(20), similarity, landmarks=[7, 2, 4, 9], error_pairs=0, random_state=0)


def test_of_several_answers_that_are_no_numbers_the_first_is_named():
    exact = np.random.default_rng(0).random((20, 20)) + 1
    exact[3, 7] = np.nan

    def score(a, b):
        return "oops" if (a, b) in {(12, 7), (15, 7)} else exact[a, b]

    similarity = fp.similarity(score, kind="pair", symmetric=False, on_nonfinite="skip")
    with pytest.raises(SimilarityError, match="items 12"):
        fp.approximate(range(20), similarity, landmarks=[7, 2, 4, 9], error_pairs=0, random_state=0)
