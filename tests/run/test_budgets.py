"""Budgets are never exceeded, and no run spends more than all pairs cost."""

from __future__ import annotations

import itertools
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from examples import SYMMETRIC_ONLY, Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import AllPairsWarning, BudgetError, TargetMissedWarning
from fewpairs.methods.fitted.recipe import Fitted
from fewpairs.oracle.journal.recorder import Recorder

METHODS = ["fitted", "nystrom", "sms", "sms-rescaled", "skeleton", "sicur", "stacur", "optimal"]
SELECTIONS = ["uniform", "k-centre", "d2", "leverage", "pivoted"]
SIZES = [{"budget": 0.3}, {"budget": 0.9}, {"budget": 170}, {"landmarks": 8}, {}]
#: Pairs that may be asked in both orders, to see that the order does not matter.
CHECKED = 16


def spend(counter, similarity, **options):
    """Return what was spent, after checking that the result and the plan say the same."""
    if options.get("method") == "optimal":
        options = options | {"allow_all_pairs": True}
    n = len(counter.matrix)
    plan = fp.plan(range(n), similarity, timed=False, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetMissedWarning)
        found = fp.approximate(range(n), similarity, random_state=0, **options)
    assert len(counter.asked) == found.evaluations <= plan.evaluations
    return found.evaluations


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(
    ("method", "symmetric"),
    [(m, s) for m in METHODS for s in (True, False) if s or m not in SYMMETRIC_ONLY],
)
def test_every_method_and_selection_stays_within_its_budget(method, selection, symmetric, kind):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(26)
    everything = 26 * 27 // 2 if symmetric else 26**2
    for size in SIZES:
        counter = Counter(matrix)
        similarity = counter.similarity(kind, symmetric=symmetric)
        try:
            spent = spend(counter, similarity, method=method, selection=selection, **size)
        except BudgetError:
            continue
        budget = size.get("budget", everything + CHECKED)
        assert spent <= (int(budget * everything) if isinstance(budget, float) else budget)


@pytest.mark.parametrize("n", [7, 25, 60])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_target_never_costs_more_than_all_pairs(n, symmetric, kind):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(n)
    everything = n * (n + 1) // 2 if symmetric else n**2
    for target in (0.02, 0.3):
        counter = Counter(matrix)
        similarity = counter.similarity(kind, symmetric=symmetric)
        assert spend(counter, similarity, target_error=target) <= everything + CHECKED


@pytest.mark.parametrize("budget", [0.1, 0.5, 900])
def test_a_matrix_between_two_sets_stays_within_its_budget(budget, kind):
    counter = Counter(asymmetric_matrix(60))
    similarity = counter.similarity(kind, symmetric=False)
    found = fp.approximate(range(60), similarity, others=range(30), budget=budget, random_state=0)
    assert len(counter.asked) == found.evaluations
    assert found.evaluations <= (int(budget * 1800) if isinstance(budget, float) else budget)


@pytest.mark.parametrize("block_size", [1, 5, (3, 4)])
def test_no_call_is_larger_than_the_block_size(block_size, kind):
    sizes, matrix = [], symmetric_matrix(40)

    def block(left, right):
        sizes.append((len(left), len(right)))
        return matrix[np.ix_(left, right)]

    def pairs(some):
        sizes.append((1, len(some)))
        return [matrix[a, b] for a, b in some]

    def pair(a, b):
        sizes.append((1, 1))
        return matrix[a, b]

    function = {"block": block, "pairs": pairs, "pair": pair}[kind]
    similarity = fp.similarity(function, kind=kind, symmetric=True, block_size=block_size)
    fp.inspect(range(40), similarity)
    fp.plan(range(40), similarity, timed=True)
    fp.approximate(range(40), similarity, landmarks=12, random_state=0)
    if kind == "block" and isinstance(block_size, tuple):
        assert max(rows for rows, _ in sizes) <= 3
        assert max(columns for _, columns in sizes) <= 4
    else:
        most = 12 if isinstance(block_size, tuple) else block_size
        assert max(rows * columns for rows, columns in sizes) <= most


@pytest.mark.parametrize("n", [10, 30, 50, 64])
def test_inspection_costs_no_more_than_a_quarter_of_all_pairs(n, kind):
    counter = Counter(symmetric_matrix(n))
    report = fp.inspect(range(n), counter.similarity(kind))
    assert len(counter.asked) == report.evaluations
    # Ten items are looked at in any case, and a few pairs of them twice.
    assert report.evaluations <= max(n * (n + 1) // 8, 70)


def test_a_plan_offers_all_pairs_where_they_cost_hardly_more():
    matrix = fp.Precomputed(symmetric_matrix(200))
    offered = str(fp.plan(range(200), matrix, budget=0.95, timed=False))
    assert "20,100 evaluations leave no error: landmarks=200" in offered
    assert "leave no error" not in str(fp.plan(range(200), matrix, budget=0.3, timed=False))
    assert "leave no error" not in str(fp.plan(range(200), matrix, landmarks=200, timed=True))
    quick = str(fp.plan(range(200), matrix, budget=0.3, timed=True))
    assert "leave no error: landmarks=200" in quick
    large = str(fp.plan(range(3000), fp.Precomputed(np.eye(3000)), budget=0.05, timed=True))
    assert "fewpairs.Oracle(items, similarity).columns(range(3000))" in large


def test_a_plan_for_a_target_offers_all_pairs_only_where_they_are_quick(monkeypatch):
    kernel = np.exp(-np.abs(np.subtract.outer(np.arange(400), np.arange(400))) / 300)
    matrix = fp.Precomputed(kernel)
    untimed = fp.plan(range(400), matrix, target_error=0.2, timed=False)
    assert "leave no error" not in str(untimed)
    assert f"from {untimed.first_step:,} on, at most 80,200 (100.00% of all" in str(untimed)
    monkeypatch.setattr("fewpairs.run.planning.seconds_per_evaluation", lambda oracle: 1e-8)
    assert "leave no error" in str(fp.plan(range(400), matrix, target_error=0.2, timed=True))
    monkeypatch.setattr("fewpairs.run.planning.seconds_per_evaluation", lambda oracle: 1.0)
    assert "leave no error" not in str(fp.plan(range(400), matrix, target_error=0.2, timed=True))
    found = fp.approximate(range(400), matrix, target_error=0.2, random_state=0)
    assert 0.5 * untimed.first_step <= found.evaluations <= 2 * untimed.first_step


@pytest.mark.parametrize("options", [{"landmarks": 50}, {"landmarks": 5, "error_pairs": 0}])
def test_a_plan_says_nothing_of_an_estimate_that_is_not_made(options):
    plan = fp.plan(range(50), fp.Precomputed(symmetric_matrix(50)), timed=False, **options)
    assert "estimate" not in str(plan)
    assert str(plan).splitlines()[1].endswith("of all pairs)")


def test_a_target_begins_with_few_columns_of_however_many_items():
    nothing = fp.similarity(lambda a, b: 0.0, kind="pair", symmetric=True, name="nothing")
    for n in (2000, 50_000):
        plan = fp.plan(range(n), nothing, target_error=0.05, timed=False)
        assert plan.n_landmarks == 10
        assert plan.first_step <= 17 * n  # with a diagonal, near-duplicates, tuning and judges


@pytest.mark.parametrize(("n", "least", "most"), [(300, 400, 1000), (3000, 2000, 20_000)])
def test_a_quick_similarity_is_timed_by_a_few_in_a_hundred_pairs(n, least, most):
    plan = fp.plan(range(n), fp.Precomputed(np.eye(n)), landmarks=20, timed=True)
    assert least <= plan.sampled <= most


def test_a_plan_asks_for_no_pair_twice(kind):
    counter = Counter(symmetric_matrix(200))
    plan = fp.plan(range(200), counter.similarity(kind), landmarks=20, timed=True)
    assert plan.sampled == len(counter.asked) == len(set(counter.asked))


def test_a_plan_buys_nothing_unasked_of_what_is_not_cheap():
    counter = Counter(symmetric_matrix(64))
    for cost in (None, "0.5 USD"):
        plan = fp.plan(range(64), counter.similarity("pair"), budget=0.5, cost=cost)
        assert counter.asked == []
        assert plan.sampled == 0
        paying = "" if cost is None else ", 256.00 USD"
        assert f"timed=True makes up to 512 evaluations{paying}" in str(plan)
    asked = fp.plan(range(64), counter.similarity("pair"), budget=0.5, cost="0.5 USD", timed=True)
    bought = len(counter.asked)
    assert 0 < bought <= 512
    assert f"{bought:,} timed evaluations, bought here for {bought / 2:,.2f} USD" in str(asked)


def test_a_plan_times_what_is_cheap_unless_somebody_has_priced_it():
    names = [f"name {k * k}" for k in range(60)]
    alike = fp.StringSimilarity("jaro_winkler")
    assert "timed evaluations" in str(fp.plan(names, alike, landmarks=5))
    assert fp.plan(names, alike, landmarks=5, timed=False).sampled == 0
    assert fp.plan(names, alike, landmarks=5, cost=0.1).sampled == 0


def test_where_every_pair_is_known_a_plan_tells_no_time():
    oracle = fp.Oracle(range(9), fp.Precomputed(np.eye(9)))
    oracle.columns(range(9))
    assert fp.plan(oracle, landmarks=3, timed=True).seconds is None


def test_what_a_plan_offers_is_exact_at_its_price():
    counter = Counter(symmetric_matrix(200))
    found = fp.approximate(range(200), counter.similarity("pairs"), landmarks=200, random_state=0)
    assert found.error[:3] == (0, 0, 0)
    np.testing.assert_array_equal(found.to_dense(), counter.matrix)
    assert len(counter.asked) <= 20_100 + CHECKED
    counter = Counter(symmetric_matrix(200))
    array = fp.Oracle(range(200), counter.similarity("pairs")).columns(range(200))
    np.testing.assert_array_equal(array, counter.matrix)
    assert len(counter.asked) == 20_100


def test_the_default_takes_all_pairs_where_they_cost_the_same():
    x = np.random.default_rng(0).normal(size=(150, 20))
    matrix = np.tanh(x @ x.T / 5)
    found = fp.approximate(range(150), fp.Precomputed(matrix), random_state=0)
    assert found.evaluations == 150 * 151 // 2
    np.testing.assert_array_equal(found.to_dense(), matrix)


def test_a_run_that_spends_all_pairs_and_is_not_exact_says_so():
    counter = Counter(symmetric_matrix(160))
    with pytest.warns(AllPairsWarning, match="landmarks=160"):
        fp.approximate(
            range(160),
            counter.similarity("pair"),
            landmarks=150,
            selection="pivoted",
            random_state=0,
        )


@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewpairsWarning")
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_target_stays_inside_its_budget(share):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = np.repeat(3 * rng.normal(size=(25, 4)), 4, axis=0) + 0.4 * rng.normal(size=(100, 4))
        alike = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2) / 4)
        for matrix in (alike, np.tanh(x @ x.T), np.tanh(x @ rng.normal(size=(4, 100)))):
            found = fp.approximate(
                range(100),
                fp.Precomputed(matrix),
                target_error=0.02,
                budget=share,
                random_state=seed,
            )
            everything = 5050 if np.array_equal(matrix, matrix.T) else 10_000
            assert found.evaluations <= share * everything


def test_a_run_that_takes_longer_than_all_pairs_says_so_beside_its_bar(monkeypatch, capsys):
    matrix = symmetric_matrix(120)
    options = {"landmarks": 10, "random_state": 0}
    quick = fp.Precomputed(matrix)

    def run_of(seconds, similarity=quick, **more):
        clock = SimpleNamespace(perf_counter=itertools.count(step=seconds).__next__)
        monkeypatch.setattr("fewpairs.run.timing.time", clock)
        fp.approximate(range(120), similarity, progress=True, **options, **more)

    run_of(1)
    assert "leave no error" not in capsys.readouterr().err  # not worth a word
    run_of(1000)
    said = capsys.readouterr().err
    assert "all 7,260 pairs would take about" in said
    assert "landmarks=120" in said
    fp.approximate(range(120), quick, progress=False, **options)
    assert capsys.readouterr().err == ""

    def slow(a, b):
        time.sleep(1e-3)
        return matrix[a, b]

    run_of(1000, cost="0.002 USD")  # time is not all that counts
    assert "leave no error" not in capsys.readouterr().err
    costly = fp.similarity(slow, kind="pair", symmetric=True, name="slow")
    run_of(6, costly, method="nystrom")  # all pairs sleep for more than seven seconds
    assert "leave no error" not in capsys.readouterr().err


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_missed_target_gives_the_best_step_with_all_that_was_evaluated(monkeypatch, symmetric):
    x = np.random.default_rng(0).normal(size=(200, 20))
    matrix = np.tanh(x @ x.T / 5)
    if not symmetric:
        matrix = matrix + 0.3 * np.tanh(x @ np.random.default_rng(1).normal(size=(20, 200)))
    sound = Fitted.fit

    def wild_later(self, oracle, landmarks, rng, allowance=None, last=None):
        fit = sound(self, oracle, landmarks, rng, allowance, last)
        return replace(fit, core=50 * fit.core) if len(landmarks) > 30 else fit

    monkeypatch.setattr(Fitted, "fit", wild_later)
    oracle = fp.Oracle(range(200), fp.Precomputed(matrix))
    with pytest.warns(TargetMissedWarning) as caught:
        found = fp.approximate(oracle, target_error=0.05, budget=0.5, random_state=0)
    last = found.curve[-1]
    assert last.error.value > 1 > found.error.value
    assert f"{found.error.value:.3g}" in str(caught[0].message)
    true = np.linalg.norm(found.to_dense() - matrix) / np.linalg.norm(matrix)
    assert found.error.low <= true <= found.error.high
    # The columns of all steps are exact.
    read = oracle.known().columns.index
    assert len(read) == last.landmarks > 30
    np.testing.assert_array_equal(found.to_dense()[:, read], matrix[:, read])


def test_a_plan_does_not_take_the_journal_for_the_similarity(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr("fewpairs.oracle.asking.time", clock)

    def slow_disk(sound):
        def wait(self, *args, **options):
            clock.now += 1000
            return sound(self, *args, **options)

        return wait

    for name in ("_open", "flush"):
        monkeypatch.setattr(Recorder, name, slow_disk(getattr(Recorder, name)))

    def second(a, b):
        clock.now += 1
        return float(a == b)

    similarity = fp.similarity(second, kind="pair", symmetric=False, name="second", version="1")
    paid = fp.Journal(tmp_path / "paid", check=0)
    plan = fp.plan(range(60), similarity, landmarks=10, journal=paid, timed=True)
    assert plan.seconds == plan.evaluations
    report = fp.inspect(range(60), similarity, sample=10, journal=paid)
    assert report.seconds_per_evaluation == 1
