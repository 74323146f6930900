"""The default method: within budget, never worse than nothing, exact where it should be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, relative, symmetric_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.error.profiles import profiles
from fewpairs.error.sampling import draw, inclusion, systematic
from fewpairs.methods.fitted.cores import RIDGES, Cores, gap_of
from fewpairs.methods.fitted.near_duplicates import near_duplicates


def within(matrix, budget, *, seed=0, symmetric=True, kind="pairs", **arguments):
    counter = Counter(matrix)
    sim = counter.similarity(kind, symmetric=symmetric)
    found = fp.approximate(
        range(len(matrix)), sim, budget=budget, error_pairs=0, random_state=seed, **arguments
    )
    assert found.evaluations == len(counter.asked) <= budget
    return found


def unseen_floor(matrix: np.ndarray, found: fp.FactoredMatrix) -> float:
    """Error of predicting zero for everything that was not evaluated."""
    known = found.known
    i, j = np.divmod(np.arange(matrix.size), len(matrix))
    marked = known.override(i, j, np.full(matrix.size, np.nan)).reshape(matrix.shape)
    return float(np.linalg.norm(matrix[np.isnan(marked)]) / np.linalg.norm(matrix))


# ------------------------------------------------------------------ budget


@pytest.mark.parametrize("kind", ["pair", "pairs", "block"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_budget_is_used_and_not_exceeded(kind, symmetric):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(120)
    everything = 120 * 121 // 2 if symmetric else 120 * 120
    for share in (0.1, 0.3, 0.7):
        budget = int(share * everything)
        found = within(matrix, budget, symmetric=symmetric, kind=kind)
        assert found.evaluations >= 0.9 * budget - 120


def test_given_landmarks_are_read_and_no_others():
    matrix = symmetric_matrix(100)
    counter = Counter(matrix)
    found = fp.approximate(
        range(100), counter.similarity("pair"), landmarks=[5, 50, *range(20, 35)], error_pairs=0
    )
    assert found.source.left_landmarks.tolist() == [5, 50, *range(20, 35)]
    plan = fp.plan(range(100), counter.similarity("pair"), landmarks=17, error_pairs=0, timed=False)
    assert found.evaluations == len(set(counter.asked)) <= plan.evaluations


def test_pairs_are_never_asked_twice():
    counter = Counter(symmetric_matrix(80))
    fp.approximate(
        range(80), counter.similarity("pair"), budget=1500, random_state=0, error_pairs=0
    )
    assert len(counter.unordered) == len(counter.asked)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11, 40, 300])
def test_any_size_works(n):
    matrix = symmetric_matrix(n)
    for share in (0.3, 0.6, 0.95):
        budget = max(3 * n, int(share * n * (n + 1) / 2))
        found = fp.approximate(
            range(n), fp.Precomputed(matrix), budget=budget, error_pairs=0, random_state=0
        )
        assert found.evaluations <= budget
        assert np.isfinite(found.to_dense()).all()
        assert relative(found.to_dense(), matrix) <= 1.3 * unseen_floor(matrix, found) + 1e-12


# ------------------------------------------------------------------ exact and degenerate


def test_evaluated_entries_and_the_diagonal_are_exact():
    counter = Counter(symmetric_matrix(70))
    found = fp.approximate(
        range(70), counter.similarity("pair"), budget=900, error_pairs=0, random_state=0
    )
    i, j = np.array(counter.asked).T
    assert np.array_equal(found.entries(i, j), counter.matrix[i, j])
    assert np.array_equal(found.entries(range(70), range(70)), np.diag(counter.matrix))


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_low_rank_is_recovered(rank):
    matrix = symmetric_matrix(120, rank=rank)
    assert relative(within(matrix, 3000).to_dense(), matrix) < 1e-6
    other = asymmetric_matrix(120, rank=rank)
    assert relative(within(other, 6000, symmetric=False).to_dense(), other) < 1e-6


DEGENERATE = {
    "zero": np.zeros((90, 90)),
    "constant": np.full((90, 90), 3.0),
    "identity": np.eye(90),
    "minus identity": -np.eye(90),
    "spike": np.diag(np.arange(90) == 7).astype(float),
    "duplicates": np.kron(symmetric_matrix(9), np.ones((10, 10))),
    "tiny": 1e-9 * symmetric_matrix(90),
    "huge": 1e9 * symmetric_matrix(90),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("budget", [500, 1500, 3500])
def test_degenerate_matrices(name, budget):
    matrix = DEGENERATE[name]
    found = within(matrix, budget)
    dense = found.to_dense()
    assert np.isfinite(dense).all()
    if name in ("zero", "constant", "identity", "minus identity", "spike"):
        assert np.allclose(dense, matrix, atol=1e-9)
    else:
        assert relative(dense, matrix) <= 1.3 * unseen_floor(matrix, found) + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(20, 90),
    decay=st.floats(0.0, 3.0),
    positive=st.floats(0.0, 1.0),
    share=st.floats(0.1, 0.8),
    seed=st.integers(0, 10**6),
)
def test_any_spectrum_is_finite_in_budget_and_no_worse_than_zero(n, decay, positive, share, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.arange(1, n + 1.0) ** -decay * np.where(rng.random(n) < positive, 1, -1)
    matrix = (basis * values) @ basis.T
    matrix = (matrix + matrix.T) / 2
    budget = max(3 * n, int(share * n * (n + 1) / 2))
    found = within(matrix, budget, seed=seed)
    dense = found.to_dense()
    assert np.isfinite(dense).all()
    assert relative(dense, matrix) <= 1.3 * unseen_floor(matrix, found) + 1e-12


def test_it_beats_the_papers_methods_at_equal_cost():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 15)) + 2 * rng.normal(size=(12, 15))[rng.integers(0, 12, 300)]
    matrix = np.tanh(x @ x.T / 20 - 0.5)
    sim = fp.Precomputed(matrix)
    budget = 300 * 45 - 45 * 22

    def mean_error(method):
        return np.mean(
            [
                relative(
                    fp.approximate(
                        range(300),
                        sim,
                        budget=budget,
                        method=method,
                        error_pairs=0,
                        random_state=seed,
                    ).to_dense(),
                    matrix,
                )
                for seed in range(3)
            ]
        )

    ours = mean_error("fitted")
    for method in ("nystrom", "sms", "sms-rescaled", "skeleton", "sicur", "stacur"):
        assert ours < mean_error(method)


# ------------------------------------------------------------------ options


def test_a_stated_diagonal_is_not_bought():
    matrix = symmetric_matrix(60)
    np.fill_diagonal(matrix, 1.0)
    counter = Counter(matrix)
    found = fp.approximate(
        range(60),
        counter.similarity("pair"),
        budget=800,
        diagonal=1.0,
        error_pairs=0,
        random_state=0,
    )
    assert not [p for p in counter.asked if p[0] == p[1]]
    assert np.array_equal(found.entries(range(60), range(60)), np.ones(60))


def test_without_a_diagonal_the_core_guesses_it():
    counter = Counter(symmetric_matrix(60))
    found = fp.approximate(
        range(60),
        counter.similarity("pair"),
        budget=800,
        diagonal=None,
        error_pairs=0,
        random_state=0,
    )
    assert len([p for p in counter.asked if p[0] == p[1]]) == len(found.source.left_landmarks)
    assert np.isfinite(found.to_dense()).all()


@pytest.mark.parametrize(
    "options",
    [{"near": 1.0}, {"near": -0.1}, {"tuning": 2}, {"neighbors": 0}, {"neighbors": 2.5},
     {"diagonal": "yes"}, {"error_draw": "unifrom"}],
)  # fmt: skip
def test_bad_options_are_refused(options):
    with pytest.raises(fp.errors.InputError):
        fp.approximate(range(20), fp.Precomputed(np.eye(20)), **options)


# ------------------------------------------------------------------ a target error


def test_a_target_is_reached_and_confirmed():
    matrix = symmetric_matrix(300)
    counter = Counter(matrix)
    found = fp.approximate(
        range(300), counter.similarity("pairs"), target_error=0.3, random_state=0
    )
    assert found.stopped_because == "the target was reached"
    assert relative(found.to_dense(), matrix) <= found.error.high <= 0.3
    # Up to eight pairs were asked in both orders, to see that the order does not matter.
    assert found.evaluations == len(counter.asked) == len(counter.unordered) + 8
    spent = [point.evaluations for point in found.curve]
    assert spent == sorted(spent)
    assert [point.landmarks for point in found.curve] == sorted(
        {point.landmarks for point in found.curve}
    )


def test_audit_pairs_are_not_known_to_the_method():
    matrix = symmetric_matrix(200)
    oracle = fp.Oracle(range(200), fp.Precomputed(matrix))
    found = fp.approximate(oracle, target_error=0.5, random_state=0)
    i, j = np.divmod(oracle.reserved, 200)
    hidden = ~np.isin(i, found.known.columns.index) & ~np.isin(j, found.known.columns.index)
    assert hidden.any()
    assert not np.isin(i[hidden] * 200 + j[hidden], found.known.keys).any()


def test_a_budget_limits_a_target():
    matrix = symmetric_matrix(300)
    with pytest.warns(fp.errors.TargetMissedWarning, match="the budget is spent"):
        found = fp.approximate(
            range(300), fp.Precomputed(matrix), target_error=0.01, budget=15_000, random_state=0
        )
    assert found.stopped_because == "the budget is spent"
    assert "the budget is spent" in repr(found)
    assert found.evaluations <= 15_000


def test_a_flat_curve_is_given_up():
    noise = np.random.default_rng(0).normal(size=(1000, 1000))
    matrix = noise + noise.T
    np.fill_diagonal(matrix, 0)
    with pytest.warns(fp.errors.TargetMissedWarning, match="flattened"):
        found = fp.approximate(
            range(1000), fp.Precomputed(matrix), target_error=0.05, random_state=0
        )
    assert found.stopped_because == "the curve has flattened"
    assert found.evaluations < 0.3 * 1000 * 1001 / 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"target_error": 0.0},
        {"target_error": 1.5},
        {"target_error": True},
        {"target_error": "small"},
        {"target_error": 0.1, "landmarks": 5},
        {"target_error": 0.1, "method": "sms"},
    ],
)
def test_bad_targets_are_refused(arguments):
    counter = Counter(np.eye(30))
    with pytest.raises(fp.errors.InputError):
        fp.approximate(range(30), counter.similarity("pair"), **arguments)
    assert counter.asked == []


# ------------------------------------------------------------------ pieces


def test_cores_are_their_formula():
    square = symmetric_matrix(8)
    cores = Cores.of(square, gap_of(square), symmetric=True)
    top = np.abs(np.linalg.eigvalsh(square)).max()
    for f, family in enumerate(cores.families):
        reduced = square - family.eta * cores.gap * np.eye(8)
        for r, ridge in enumerate(RIDGES[5:], start=5):
            weights = np.zeros(cores.count)
            weights[f * len(RIDGES) + r] = 1.0
            expected = reduced @ np.linalg.inv(reduced @ reduced + (ridge * top) ** 2 * np.eye(8))
            assert np.allclose(cores.combined(weights), expected, rtol=1e-6, atol=1e-6 / ridge)


def test_candidates_predictions_are_those_of_their_cores():
    rng = np.random.default_rng(0)
    for symmetric in (True, False):
        square = (symmetric_matrix if symmetric else asymmetric_matrix)(6)
        cores = Cores.of(square, gap_of(square), symmetric=symmetric)
        left, right = rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
        weights = np.where(np.tile(RIDGES > 1e-3, len(cores.families)), rng.random(cores.count), 0)
        core = cores.combined(weights)
        assert np.allclose(cores.predictions(left, right) @ weights, np.sum(left @ core * right, 1))
        rows, columns = rng.integers(0, 5, (2, 30))
        for other in (right, left):
            many = cores.pair_predictions(left, other, rows, columns)
            assert np.allclose(many @ weights, np.sum(left[rows] @ core * other[columns], 1))


@pytest.mark.parametrize("symmetric", [True, False])
def test_sums_over_a_block_are_those_of_its_predictions(symmetric):
    rng = np.random.default_rng(0)
    square = (symmetric_matrix if symmetric else asymmetric_matrix)(6)
    cores = Cores.of(square, gap_of(square), symmetric=symmetric)
    left, right, values = (rng.normal(size=shape) for shape in ((5, 6), (4, 6), (5, 4)))
    i, j = np.repeat(np.arange(5), 4), np.tile(np.arange(4), 5)
    guessed = cores.predictions(left[i], right[j])
    gram, target = cores.block_sums(left, right, values)
    sizes = np.sqrt((guessed**2).sum(axis=0))
    assert np.allclose(gram / np.outer(sizes, sizes), guessed.T @ guessed / np.outer(sizes, sizes))
    assert np.allclose(target / sizes, guessed.T @ values.ravel() / sizes)


def test_look_alikes_are_the_nearest_profiles():
    rng = np.random.default_rng(0)
    z = profiles(rng.normal(size=(900, 10)), np.arange(900))
    assert np.allclose(np.linalg.norm(z, axis=1), 1, atol=1e-5)
    i, j = near_duplicates(z, 5, rng)
    dots = z @ z.T
    np.fill_diagonal(dots, -2)
    nearest = np.argsort(-dots, axis=1)[:, :5]
    expected = {(min(a, b), max(a, b)) for a in range(900) for b in nearest[a]}
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected
    assert np.all(np.diff(dots[i, j]) <= 1e-6)


def test_near_duplicates_of_many_items_are_found(monkeypatch):
    rng = np.random.default_rng(0)
    base = rng.normal(size=(3000, 20))
    z = profiles(np.vstack([base, base + 0.01 * rng.normal(size=base.shape)]), np.arange(6000))
    monkeypatch.setattr("fewpairs.candidates.nearest.EXACT_UP_TO", 100)
    i, j = near_duplicates(z, 3, rng)
    found = {(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if b == a + 3000}
    assert len(found) > 0.97 * 3000
    assert len({*zip(i.tolist(), j.tolist(), strict=True)}) == len(i)


def test_systematic_draws_have_the_stated_probabilities():
    rng = np.random.default_rng(0)
    importance = rng.random(50) ** 3 + 0.01
    chances = inclusion(importance, 12)
    assert chances.sum() == pytest.approx(12)
    counts = np.zeros(50)
    for _ in range(4000):
        counts[systematic(chances, rng)] += 1
    # Four standard deviations of a binomial count.
    assert np.all(np.abs(counts / 4000 - chances) < 4 * np.sqrt(0.25 / 4000) + 1e-9)


def test_drawn_pairs_are_different_unknown_and_off_the_diagonal():
    rng = np.random.default_rng(0)
    rows = np.arange(5, 40)
    for symmetric in (True, False):
        known = np.array([5 * 50 + 6, 7 * 50 + 9])
        drawn = draw(
            rows, rows, 10_000, rng, symmetric=symmetric, excluded=known, width=50, beliefs=None
        )
        keys = drawn.rows * 50 + drawn.columns
        assert len(np.unique(keys)) == len(keys) == (35 * 34 // (2 if symmetric else 1)) - 2
        assert not np.isin(keys, known).any()
        assert np.all(drawn.rows != drawn.columns)
        assert np.allclose(drawn.weights, 1.0)


@pytest.mark.parametrize("budget", [400, 900, 0.2])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_target_never_spends_more_than_its_budget(budget, symmetric):
    counter = Counter((symmetric_matrix if symmetric else asymmetric_matrix)(100))
    everything = 5050 if symmetric else 10_000
    limit = budget if isinstance(budget, int) else budget * everything
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fp.errors.TargetMissedWarning)
            found = fp.approximate(
                range(100),
                counter.similarity("pairs", symmetric=symmetric),
                target_error=0.05,
                budget=budget,
                random_state=0,
            )
    except fp.errors.BudgetError:
        assert counter.asked == []
        return
    assert found.evaluations == len(counter.asked) <= limit


def test_a_budget_too_small_for_a_target_is_refused():
    counter = Counter(symmetric_matrix(100))
    with pytest.raises(fp.errors.BudgetError, match="first step"):
        fp.approximate(range(100), counter.similarity("pair"), target_error=0.1, budget=50)
    assert counter.asked == []
    with pytest.raises(fp.errors.InputError, match="error_pairs=0"):
        fp.approximate(range(100), counter.similarity("pair"), target_error=0.1, error_pairs=0)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.ErrorEstimateWarning")
def test_a_confirmed_target_covers_the_truth():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 6))
    matrix = np.tanh(x @ x.T / 4)
    covered = ratio = 0.0
    for seed in range(40):
        found = fp.approximate(
            range(150), fp.Precomputed(matrix), target_error=0.35, random_state=seed
        )
        true = relative(found.to_dense(), matrix)
        covered += found.error.low <= true <= found.error.high
        ratio += found.error.value / true / 40
    assert covered >= 34  # 95 % of 40, less three standard deviations
    # A run ends when the estimate is small, so it is a little low on average.
    assert 0.92 < ratio < 1.04


@pytest.mark.parametrize("budget", [0.3, 2500])
@pytest.mark.parametrize("symmetric", [True, False])
def test_plan_states_the_most_that_is_spent(budget, symmetric, kind):
    counter = Counter((symmetric_matrix if symmetric else asymmetric_matrix)(120))
    sim = counter.similarity(kind, symmetric=symmetric)
    plan = fp.plan(range(120), sim, budget=budget, timed=False)
    found = fp.approximate(range(120), sim, budget=budget, random_state=0)
    assert found.evaluations <= plan.evaluations


def test_a_stated_diagonal_holds_for_new_items():
    counter = Counter(symmetric_matrix(60))
    found = fp.approximate(
        range(50), counter.similarity("pair"), landmarks=12, diagonal=1.0, error_pairs=0
    )
    assert found.extend(range(50, 60))[55, 55] == 1.0
    assert not [p for p in counter.asked if p[0] == p[1]]
