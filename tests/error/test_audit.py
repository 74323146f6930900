"""The error estimate: right on average, covering as often as it says."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, relative, symmetric_matrix

import fewpairs as fp
from fewpairs.error.audit import draw_audit, judge


def text_like(n: int, seed: int = 0) -> np.ndarray:
    """Positive, unit diagonal, indefinite: a tanh of inner products of clustered vectors."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)) + 2 * rng.normal(size=(6, 8))[rng.integers(0, 6, n)]
    k = np.tanh(0.1 * x @ x.T)
    np.fill_diagonal(k, 1.0)
    return k


@pytest.mark.parametrize("method", ["nystrom", "sms", "sicur", "auto"])
@pytest.mark.parametrize("matrix", ["text", "spread", "asymmetric"])
def test_interval_covers_at_its_rate(method, matrix):
    k = {"text": text_like, "spread": symmetric_matrix, "asymmetric": asymmetric_matrix}[matrix](
        150
    )
    if matrix == "asymmetric" and method in ("nystrom", "sms"):
        method = "stacur"
    covered, ratios = 0, []
    trials = 150
    for seed in range(trials):
        found = fp.approximate(
            range(150),
            fp.Precomputed(k),
            landmarks=15,
            method=method,
            error_pairs=300,
            random_state=seed,
        )
        true = relative(found.to_dense(), k)
        covered += found.error.low <= true <= found.error.high
        ratios.append(found.error.value / true)
        assert found.error.n_pairs == 300
    # 95 % of 150, less four standard deviations of a binomial count.
    assert covered >= 0.95 * trials - 4 * np.sqrt(trials * 0.95 * 0.05)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)


def test_exhaustive_sample_is_exact():
    k = symmetric_matrix(20)
    found = fp.approximate(
        range(20), fp.Precomputed(k), landmarks=5, method="sms", error_pairs=10_000, random_state=0
    )
    true = relative(found.to_dense(), k)
    assert found.error.value == pytest.approx(true, rel=1e-9)
    assert found.error.low == found.error.high == found.error.value
    assert found.evaluations == 20 * 21 // 2


def test_zero_pairs_turn_it_off():
    found = fp.approximate(
        range(20), fp.Precomputed(symmetric_matrix(20)), landmarks=5, error_pairs=0
    )
    assert found.error is None


def test_default_number_of_pairs():
    k = symmetric_matrix(100)
    found = fp.approximate(
        range(100), fp.Precomputed(k), landmarks=10, method="nystrom", random_state=0
    )
    assert found.error.n_pairs == (100 * 10 - 45) // 10
    big = fp.Precomputed(symmetric_matrix(700))
    found = fp.approximate(range(700), big, landmarks=60, random_state=0)
    assert found.error.n_pairs == 2000


def test_pairs_are_unseen_and_different(kind):
    counter = Counter(symmetric_matrix(60))
    found = fp.approximate(
        range(60), counter.similarity(kind), landmarks=8, error_pairs=100, random_state=0
    )
    landmarks = set(found.source.left_landmarks.tolist())
    drawn = counter.asked[-100:]
    assert len({(min(p), max(p)) for p in drawn}) == 100
    assert not [p for p in drawn if landmarks & set(p)]


def test_the_same_seed_gives_the_same_estimate():
    k = text_like(80)
    one, two, other = (
        fp.approximate(range(80), fp.Precomputed(k), landmarks=9, random_state=s).error
        for s in (1, 1, 2)
    )
    assert one == two != other


def test_few_carrying_pairs_are_warned_about():
    k = np.zeros((200, 200))
    k[np.arange(0, 200, 40), np.arange(0, 200, 40)] = 1.0
    k[5, 77] = k[77, 5] = 3.0
    with pytest.warns(fp.errors.ErrorEstimateWarning, match="too narrow"):
        for seed in range(200):
            fp.approximate(
                range(200), fp.Precomputed(k), landmarks=3, error_pairs=600, random_state=seed
            )


def test_it_prints_as_a_sentence():
    text = str(fp.ErrorEstimate(0.123, 0.1, 0.15, 2000))
    assert text == "relative error 0.123 (95 % interval 0.1 to 0.15, from 2,000 unseen pairs)"


@pytest.mark.parametrize(
    "options", [{"diagonal": None}, {"method": "nystrom"}], ids=["fitted", "nystrom"]
)
def test_a_target_that_is_missed_states_an_error_with_the_diagonal(options):
    x = np.random.default_rng(0).normal(size=(200, 4))
    k = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2) / 8)
    np.fill_diagonal(k, 15.0)
    held = 0
    for seed in range(10):
        with pytest.warns(fp.errors.TargetMissedWarning):
            found = fp.approximate(
                range(200),
                Counter(k).similarity("pair"),
                target_error=0.02,
                budget=0.3,
                random_state=seed,
                **options,
            )
        held += found.error.low <= relative(found.to_dense(), k) <= found.error.high
    assert held >= 7


def near_duplicates(seed):
    """Sixty groups of items that are alike, in a kernel that is small between them."""
    rng = np.random.default_rng(seed)
    x = np.repeat(3 * rng.normal(size=(60, 4)), 4, axis=0) + 0.4 * rng.normal(size=(240, 4))
    return np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2) / 4)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.ErrorEstimateWarning")
def test_one_sample_that_judges_every_step_flatters_none():
    ratios, held = [], 0
    for seed in range(16):
        k = near_duplicates(seed)
        found = fp.approximate(range(240), fp.Precomputed(k), target_error=0.2, random_state=seed)
        true = relative(found.to_dense(), k)
        assert found.stopped_because == "the target was reached"
        if found.error.n_pairs:  # not everything was evaluated in the end
            ratios.append(found.error.value / true)
        held += found.error.low <= true <= found.error.high and true <= 0.2
    assert held >= 14
    # Pairs that judge are bought like others when they are near-duplicates; if they were not, those
    # that are left would be of a kind that is unseen no longer, and the error would look too large.
    assert 0.92 < np.mean(ratios) < 1.05


def test_judging_pairs_of_two_draws_are_one_sample():
    k = symmetric_matrix(200)
    oracle = fp.Oracle(range(200), fp.Precomputed(k))
    found = fp.approximate(oracle, landmarks=20, error_pairs=0, random_state=0)
    true = relative(found.to_dense(), k)
    rng = np.random.default_rng(0)
    values, held = [], 0
    for _ in range(60):
        again = copy.deepcopy(oracle)
        parts = [draw_audit(found, again, count, rng, weighted=count > 100) for count in (300, 90)]
        estimate = judge(found, again, parts[0].joined(parts[1])).estimate
        assert estimate.n_pairs == 390
        values.append(estimate.value / true)
        held += estimate.low <= true <= estimate.high
    assert held >= 54
    assert np.mean(values) == pytest.approx(1, abs=0.02)


def test_two_draws_that_leave_nothing_state_the_truth():
    k = symmetric_matrix(40)
    oracle = fp.Oracle(range(40), fp.Precomputed(k))
    found = fp.approximate(oracle, landmarks=12, error_pairs=0, random_state=0)
    rng = np.random.default_rng(0)
    drawn = draw_audit(found, oracle, 150, rng).joined(draw_audit(found, oracle, 10_000, rng))
    estimate = judge(found, oracle, drawn).estimate
    # The weights of the two draws differ, and count no longer.
    assert estimate.low == estimate.high == estimate.value
    assert estimate.value == pytest.approx(relative(found.to_dense(), k), rel=1e-9)


def test_the_interval_is_its_formula():
    from scipy import stats

    from fewpairs.error.interval import relative_error

    zeta = np.array([0.3, -0.2, 0.1, 0.05, -0.15, 0.02])
    estimate, carrying = relative_error(2.0, 8.0, zeta, 6)
    effective = (zeta**2).sum() ** 2 / (zeta**4).sum()
    t = stats.t.ppf(0.975, max(effective - 1, 2))
    factor = np.exp(t * np.sqrt((zeta**2).sum()) / 2)
    assert carrying == pytest.approx(effective)
    # Near 1 errors reach further down than up: the odds of ε² scatter on a log scale.
    odds = 0.25 / 0.75 * factor ** (-2 / 0.75)
    assert estimate == pytest.approx((0.5, np.sqrt(odds / (1 + odds)), 0.5 * factor, 6))
    small, _ = relative_error(2e-6, 8.0, zeta, 6)
    assert small == pytest.approx((0.0005, 0.0005 / factor, 0.0005 * factor, 6), rel=1e-5)
    large, _ = relative_error(32.0, 8.0, zeta, 6)
    assert large == pytest.approx((2.0, 2 / factor, 2 * factor, 6))
