"""Matrices between two sets of items, and the plain rank-s result."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, relative, symmetric_matrix

import fewpairs as fp
from fewpairs.error.profiles import paired_profiles
from fewpairs.methods.fitted.cores import Cores
from fewpairs.methods.fitted.guards import OfAllPairs, SanityCheck, of_pairs
from fewpairs.methods.fitted.near_duplicates import near_between

N, M = 90, 160


def rectangle(rank: int | None = None, seed: int = 0) -> np.ndarray:
    return asymmetric_matrix(M, seed, rank)[:N]


def approximated(matrix, kind="pairs", **arguments):
    counter = Counter(matrix)
    found = fp.approximate(
        range(matrix.shape[0]),
        counter.similarity(kind, symmetric=False),
        others=range(matrix.shape[1]),
        random_state=0,
        **arguments,
    )
    assert found.evaluations == len(counter.asked)
    return found, counter


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
def test_a_budget_holds_and_evaluated_entries_are_exact(kind):
    matrix = rectangle()
    for budget in (800, 4000, 9000):
        found, counter = approximated(matrix, kind, budget=budget)
        # What is left is less than one more row and column.
        assert budget - 300 <= found.evaluations <= budget
        assert found.shape == (N, M)
        held = found.known.columns.index
        np.testing.assert_array_equal(found[:, held], matrix[:, held])
        held = found.known.rows.index
        np.testing.assert_array_equal(found[held], matrix[held])
        if kind != "block":
            assert len(set(counter.asked)) == len(counter.asked)


def test_exact_rank_is_recovered_and_error_falls():
    matrix = rectangle(rank=4)
    found, _ = approximated(matrix, landmarks=12)
    assert relative(found.to_dense(), matrix) < 1e-6
    rough = relative(approximated(rectangle(), budget=0.1)[0].to_dense(), rectangle())
    fine = relative(approximated(rectangle(), budget=0.5)[0].to_dense(), rectangle())
    assert fine < 0.7 * rough < 0.7


def test_entries_on_the_same_position_are_not_a_diagonal():
    matrix = rectangle()
    found, counter = approximated(matrix, budget=0.3)
    assert found.known.diagonal is None
    assert found.nearest(3, k=M).indices.tolist().count(3) == 1
    counts = sum(i == j for i, j in counter.asked)
    assert counts < N


def test_the_stated_error_covers():
    matrix = rectangle()
    true = []
    for seed in range(40):
        found = fp.approximate(
            range(N),
            fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=False),
            others=range(M),
            budget=0.3,
            random_state=seed,
        )
        exact = relative(found.to_dense(), matrix)
        true.append(found.error.low <= exact <= found.error.high)
    assert sum(true) >= 34  # 95 % of 40, less three standard deviations


def test_a_target_is_reached():
    matrix = rectangle()
    found, _ = approximated(matrix, target_error=0.4)
    assert found.stopped_because == "the target was reached"
    assert relative(found.to_dense(), matrix) <= 0.4


def test_products_transpose_new_rows_and_files(tmp_path):
    rng = np.random.default_rng(0)
    queries, documents = rng.normal(size=(40, 6)), rng.normal(size=(70, 6))
    rbf = fp.VectorSimilarity("rbf", gamma=0.1)
    exact = rbf.block(queries, documents)
    found = fp.approximate(queries, rbf, others=documents, landmarks=30, random_state=0)
    dense = found.to_dense()
    x, y = rng.normal(size=70), rng.normal(size=40)
    np.testing.assert_allclose(found @ x, dense @ x)
    np.testing.assert_allclose(y @ found, y @ dense)
    np.testing.assert_allclose(found.T.to_dense(), dense.T)
    new = rng.normal(size=(3, 6))
    grown = found.extend(new)
    assert grown.shape == (43, 70)
    assert grown.evaluations == found.evaluations + 3 * 30
    np.testing.assert_allclose(grown[:40], dense)
    landmarks = found.source.left_landmarks
    np.testing.assert_allclose(grown[40:][:, landmarks], rbf.block(new, documents)[:, landmarks])
    best = found.nearest(item=queries[0], k=3, rerank=20)
    assert best.indices[0] == exact[0].argmax()
    turned = found.T.extend(documents[:2])  # a symmetric similarity: rows and columns swap
    assert turned.shape == (72, 40)
    path = tmp_path / "rectangle.fewpairs"
    found.save(path)
    again = fp.load(path, similarity=rbf)
    np.testing.assert_array_equal(again.to_dense(), dense)
    assert again.extend(new).shape == (43, 70)


def test_files_without_their_items_say_so(tmp_path):
    objects = [object() for _ in range(30)]
    place = {id(o): k for k, o in enumerate(objects)}
    sim = fp.similarity(
        lambda a, b: np.cos(place[id(a)] * place[id(b)]), kind="pair", symmetric=True, name="cos"
    )
    found = fp.approximate(objects[:20], sim, others=objects[20:], landmarks=5, error_pairs=0)
    found.save(tmp_path / "k.fewpairs")
    bare = fp.load(tmp_path / "k.fewpairs", similarity=sim)
    with pytest.raises(fp.errors.NotAttachedError, match="does not hold them"):
        bare.extend(objects[:1])
    whole = fp.load(
        tmp_path / "k.fewpairs", similarity=sim, items=objects[:20], others=objects[20:]
    )
    assert whole.extend(objects[:1]).shape == (21, 10)


@pytest.mark.parametrize(
    "arguments",
    [{"landmarks": [1, 2]}, {"selection": "k-centre"}, {"method": "nystrom"}, {"method": "sicur"}],
)
def test_what_has_no_meaning_is_refused(arguments):
    with pytest.raises(fp.errors.FewpairsError) as caught:
        approximated(rectangle(), **arguments)
    assert "two" in str(caught.value)


def test_the_plan_counts_both_kinds_of_landmarks():
    sim = fp.VectorSimilarity("rbf")
    plan = fp.plan(
        np.zeros((30, 2)), sim, others=np.zeros((50, 2)), landmarks=5, error_pairs=0, timed=False
    )
    assert plan.evaluations == 30 * 5 + 50 * 5 - 25 + 41  # lines, and a tenth for tuning
    assert "30 items and of 50 others" in str(plan)


# ------------------------------------------------------------------ new items within a budget


@pytest.mark.parametrize(("budget", "anchors"), [(20, 20), (80, 40), (150, 60)])
def test_a_new_item_costs_its_budget(budget, anchors):
    rng = np.random.default_rng(0)
    vectors, query = rng.normal(size=(300, 5)), rng.normal(size=5)
    rbf = fp.VectorSimilarity("rbf", gamma=0.1)
    found = fp.approximate(vectors, rbf, landmarks=60, random_state=0)
    before = found.evaluations
    best = found.nearest(item=query, k=10, budget=budget)
    assert found.evaluations - before == budget
    exact = rbf.block(query[None], vectors)[0]
    assert np.all(np.diff(best.similarities) <= 0)
    if anchors < budget:  # what was re-ranked is exact
        np.testing.assert_allclose(best.similarities, exact[best.indices])
        truth = set(np.argsort(-exact)[:10].tolist())
        assert len(truth & set(best.indices.tolist())) >= 8


def test_a_budget_of_nothing_is_refused():
    found = fp.approximate(range(20), fp.Precomputed(np.eye(20)), landmarks=5)
    with pytest.raises(fp.errors.InputError, match="budget"):
        found.nearest(item=3, budget=0)


# ------------------------------------------------------------------ the plain result


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_plain_result_is_its_factors_alone(symmetric):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(150)
    counter = Counter(matrix)
    found = fp.approximate(
        range(150),
        counter.similarity("pair", symmetric=symmetric),
        landmarks=30,
        known=None,
        error_pairs=0,
        random_state=0,
    )
    assert found.known.empty
    assert found.nugget == 0
    np.testing.assert_allclose(found.to_dense(), found.left @ found.core @ found.right.T)
    assert np.linalg.matrix_rank(found.to_dense()) <= 30
    own = {k for k, (i, j) in enumerate(counter.asked) if i == j}
    assert len(own) <= 30  # no self-similarity was bought beside the landmarks'
    assert relative(found.to_dense(), matrix) < 1


def test_a_plain_result_beats_the_papers_methods():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 8))
    matrix = np.tanh(x @ x.T / 4) + np.diag(rng.random(400))
    errors = {
        (method, seed): relative(
            fp.approximate(
                range(400),
                fp.Precomputed(matrix),
                budget=0.15,
                method=method,
                known=None,
                error_pairs=0,
                random_state=seed,
            ).to_dense(),
            matrix,
        )
        for method in ("fitted", "nystrom", "sms", "sicur", "stacur")
        for seed in range(3)
    }
    for seed in range(3):
        ours = errors["fitted", seed]
        assert ours < min(e for (m, k), e in errors.items() if k == seed and m != "fitted")


def test_a_plain_result_of_low_rank_is_exact():
    matrix = symmetric_matrix(120, rank=6)
    found = fp.approximate(
        range(120), fp.Precomputed(matrix), landmarks=25, known=None, error_pairs=0, random_state=0
    )
    assert relative(found.to_dense(), matrix) < 1e-4


# ------------------------------------------------------------------ error pairs folded in


@pytest.mark.parametrize("method", ["fitted", "sicur"])
def test_folded_pairs_are_exact_and_the_error_is_no_larger(method):
    matrix = symmetric_matrix(200)
    results = []
    for fold in (False, True):
        counter = Counter(matrix)
        results.append(
            fp.approximate(
                range(200),
                counter.similarity("pair"),
                budget=0.2,
                method=method,
                known="exact",
                error_pairs=400,
                fold_error_pairs=fold,
                random_state=0,
            )
        )
        assert results[-1].evaluations == len(counter.asked)
    apart, folded = results
    assert folded.error == apart.error
    assert len(folded.known.keys) >= len(apart.known.keys) + 300
    assert relative(folded.to_dense(), matrix) < relative(apart.to_dense(), matrix)


def test_an_audit_can_be_folded_in():
    matrix = symmetric_matrix(200)
    oracle = fp.Oracle(range(200), fp.Precomputed(matrix))
    found = fp.approximate(oracle, target_error=0.5, fold_error_pairs=True, random_state=0)
    assert len(oracle.reserved) == 0
    assert relative(found.to_dense(), matrix) <= found.error.high


def test_nothing_to_fold_is_refused():
    for arguments in (
        {"error_pairs": 0, "fold_error_pairs": True},
        {"fold_error_pairs": 1},
        {"fold_error_pairs": True, "known": None},
        {"fold_error_pairs": True, "method": "sicur"},  # it has no place for single pairs
    ):
        with pytest.raises(fp.errors.InputError, match="fold_error_pairs"):
            fp.approximate(range(20), fp.Precomputed(np.eye(20)), **arguments)


def test_a_plain_result_is_never_empty(monkeypatch):
    """Where a few pairs hold nearly everything, a sample can miss them, and no core looks sane."""
    x = np.random.default_rng(0).normal(size=(200, 6))
    kernel = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2))
    monkeypatch.setattr(SanityCheck, "passes", lambda *_: False)
    features = fp.SimilarityFeatures(fp.Precomputed(kernel), 40, random_state=0)
    assert features.fit_transform(np.arange(200)).shape[1] > 0


def test_weights_are_shrunk_until_they_are_sane():
    predictions = np.random.default_rng(0).normal(size=(500, 3))
    check = SanityCheck([(of_pairs(predictions), 0.01), (of_pairs(predictions[:, ::-1]), 5.0)])
    everyone, weights = np.arange(3), np.array([1.0, 2.0, 0.5])
    assert not check.passes(everyone, weights)
    small = check.shrunk(everyone, weights)
    assert check.passes(everyone, 0.999 * small)
    np.testing.assert_allclose(small / small[0], weights)
    np.testing.assert_allclose(check.shrunk(everyone, 1e-3 * weights), 1e-3 * weights)


@pytest.mark.parametrize("shape", ["symmetric", "square", "two sets"])
def test_the_mean_square_of_all_predictions_is_that_of_each(shape):
    rng = np.random.default_rng(0)
    k = rng.normal(size=(30, 30 if shape != "two sets" else 20))
    if shape == "symmetric":
        k = k + k.T
    down = np.arange(6) if shape != "two sets" else np.arange(3, 9)
    left, right = k[:, :6], k[down].T
    right = left if shape == "symmetric" else right
    rows = np.setdiff1d(np.arange(len(k)), down)
    columns = rows if shape != "two sets" else np.arange(6, k.shape[1])
    cores = Cores.of(left[down], 0.5, symmetric=shape == "symmetric")
    own = rows if shape != "two sets" else rows[:0]
    mean_square = OfAllPairs(cores, left, right, rows, columns, own)
    chosen = np.arange(10, cores.count)
    weights = rng.normal(size=len(chosen))
    every = np.zeros(cores.count)
    every[chosen] = weights
    predicted = (left @ cores.combined(every) @ right.T)[np.ix_(rows, columns)]
    if len(own):
        predicted = predicted[~np.eye(len(rows), dtype=bool)]
    assert mean_square(chosen, weights) == pytest.approx((predicted**2).mean())


@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewpairsWarning")
def test_a_few_odd_items_do_not_blow_up_unnoticed():
    """Rank four and rare spikes, five landmarks: a sample of pairs never has two odd items."""
    worst = 0.0
    for seed in (5, 24, 37, 54, 55):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 4))
        spikes = np.triu(rng.random((300, 300)) < 0.005, 1) * 20 * rng.normal(size=(300, 300))
        exact = x @ x.T + spikes + spikes.T
        found = fp.approximate(
            range(300), fp.Precomputed(exact), budget=0.05, error_pairs=0, random_state=seed
        )
        worst = max(worst, relative(found.to_dense(), exact))
    assert worst < 2  # 600,000 where a sample of pairs is looked at


def twins(seed: int) -> np.ndarray:
    """A narrow kernel between two sets; every tenth row is nearly the same as a column."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(600, 30)), rng.normal(size=(400, 30))
    x[::10] = y[:60] + 0.05 * rng.normal(size=(60, 30))
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)
    return np.exp(-(squares - 2 * x @ y.T) / 20)


def test_near_duplicates_between_two_sets_are_bought():
    errors, bought = {0.0: [], 0.25: []}, []
    for seed in range(3):
        matrix = twins(seed)
        between = fp.similarity(
            lambda a, b, of=matrix: of[np.ix_(a, b)], kind="block", symmetric=False, name="twins"
        )
        for near, found_errors in errors.items():
            oracle = fp.Oracle(range(600), between, others=range(400))
            found = fp.approximate(oracle, budget=0.25, near=near, error_pairs=0, random_state=seed)
            found_errors.append(relative(found.to_dense(), matrix))
            known = oracle.known()
            large = np.argwhere(matrix > 0.6)
            free = large[~known.in_lines(*large.T)]
            if near:
                bought.append(np.isfinite(known.find(*free.T)).mean())
    assert np.mean(bought) > 0.8
    assert np.mean(errors[0.25]) < 0.9 * np.mean(errors[0.0])


def test_profiles_of_two_sets_can_be_compared():
    matrix = twins(0)
    rows, columns = np.arange(80, 600), np.arange(80, 400)
    ours, theirs = paired_profiles(matrix[:, :80], rows, matrix[:80].T, columns, matrix[:80, :80])
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, rtol=1e-5)
    i, j = near_between(ours, theirs, 3, np.random.default_rng(0))
    assert len(i) == 3 * 520
    scores = np.einsum("kp,kp->k", ours[i], theirs[j])
    assert (np.diff(scores) <= 1e-6).all()
    best = np.sort((ours @ theirs.T), axis=1)[:, -3:]
    assert scores.sum() == pytest.approx(best.sum(), rel=1e-5)
    # The same pairs, whichever set comes first, as long as each item of the larger one asks.
    second, first = near_between(theirs, ours, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(first, i)
    np.testing.assert_array_equal(second, j)


def test_few_lines_are_not_trusted_to_find_near_duplicates_across_two_sets():
    matrix = twins(0)
    between = fp.similarity(
        lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=False, name="twins"
    )
    same = [
        fp.approximate(
            range(600), between, others=range(400), budget=0.06, near=near, random_state=0
        ).to_dense()
        for near in (0.0, 0.25)
    ]
    # Else the tuning pairs would be drawn with the few landmarks that are left beside them.
    np.testing.assert_array_equal(*same)
