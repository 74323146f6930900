"""Arguments are checked in one place, in the same way for every kind of run."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from examples import Counter, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, LandmarksCutWarning, UnknownNameError


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("fold_error_pair", "fold_error_pairs"),
        ("error_drawn", "error_draw"),
        ("error_intervall", "error_interval"),
        ("knwon", "known"),
        ("neighbours", "neighbors"),
        ("eror_pairs", "error_pairs"),
        ("selecton", "selection"),
        ("random_sate", "random_state"),
    ],
)
@pytest.mark.parametrize("run", [{"landmarks": 5}, {"budget": 0.5}, {"target_error": 0.2}])
def test_a_misspelt_option_is_answered_with_the_nearest_of_all(typo, meant, run):
    counter = Counter(np.eye(20))
    for call in (fp.approximate, fp.plan):
        with pytest.raises(UnknownNameError, match=f'Did you mean "{meant}"'):
            call(range(20), counter.similarity("pair"), **run, **{typo: True})
    assert counter.asked == []


@pytest.mark.parametrize(
    ("method", "option"),
    [("sms", {"alpha": -1.0}), ("stacur", {"same": 2}), ("sms", {"oversampling": 0.5})],
)
def test_options_of_published_methods_are_checked(method, option):
    with pytest.raises(InputError, match=next(iter(option))):
        fp.approximate(range(20), fp.Precomputed(np.eye(20)), method=method, **option)


def test_a_target_does_what_its_title_says():
    matrix = symmetric_matrix(200)
    plain = fp.approximate(
        range(200), fp.Precomputed(matrix), target_error=0.4, known=None, random_state=0
    )
    assert "known=None" in plain.method
    assert plain.known.empty
    draws = [
        fp.approximate(
            range(200), fp.Precomputed(matrix), target_error=0.4, error_draw=draw, random_state=0
        )
        for draw in ("weighted", "uniform")
    ]
    assert draws[0].error != draws[1].error


def test_a_published_method_can_grow_to_a_target():
    x = np.random.default_rng(0).normal(size=(200, 5))
    kernel = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2) / 20)
    found = fp.approximate(
        range(200), fp.Precomputed(kernel), method="nystrom", target_error=0.05, random_state=0
    )
    assert found.stopped_because == "the target was reached"
    assert np.linalg.norm(found.to_dense() - kernel) <= 0.05 * np.linalg.norm(kernel)


def test_a_target_is_planned_before_it_runs():
    plan = fp.plan(range(300), fp.Precomputed(np.eye(300)), target_error=0.1, timed=False)
    assert plan.evaluations <= 300 * 301 // 2
    assert "until the error is below 0.1" in str(plan)
    capped = fp.plan(
        range(300), fp.Precomputed(np.eye(300)), target_error=0.1, budget=9000, timed=False
    )
    assert capped.evaluations == 9000


def test_warnings_name_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fp.approximate(range(20), fp.Precomputed(np.eye(20)), landmarks=30)
        fp.SimilarityFeatures(fp.Precomputed(np.eye(20)), 30).fit(np.arange(20))
    assert {w.filename for w in caught if w.category is LandmarksCutWarning} == {__file__}


def test_profiles_are_worked_out_once(monkeypatch):
    calls = []
    from fewpairs.error import unseen
    from fewpairs.methods.fitted import stage

    for room in (unseen, stage):
        original = room.profiles
        monkeypatch.setattr(
            room, "profiles", lambda *a, original=original: calls.append(1) or original(*a)
        )
    fp.approximate(range(200), fp.Precomputed(symmetric_matrix(200)), landmarks=20, random_state=0)
    assert len(calls) == 1


def test_misspelt_sizes_are_suggested():
    for typo, meant in (
        ("landmark", "landmarks"),
        ("budgt", "budget"),
        ("target_eror", "target_error"),
    ):
        with pytest.raises(UnknownNameError, match=f'Did you mean "{meant}"'):
            fp.approximate(range(20), fp.Precomputed(np.eye(20)), **{typo: 5})


def test_an_oracle_in_the_wrong_place_is_named():
    oracle = fp.Oracle(range(20), fp.Precomputed(np.eye(20)))
    with pytest.raises(InputError, match="Pass it first"):
        fp.approximate(range(20), oracle)
    with pytest.raises(InputError, match="two sets"):
        fp.inspect(fp.Oracle(range(5), fp.Precomputed(np.eye(20)), others=range(9)))


@pytest.mark.parametrize("jobs", ["two", 0, 1.5, True, [2], float("nan"), float("inf")])
def test_threads_that_are_no_number_are_refused(jobs):
    with pytest.raises(fp.errors.InputError, match="number of threads"):
        fp.approximate(range(4), fp.Precomputed(np.eye(4)), n_jobs=jobs)


def test_a_budget_of_all_is_told_how_to_have_all_pairs():
    matrix = symmetric_matrix(40)
    similarity = fp.similarity(lambda a, b: matrix[a, b], kind="pair", symmetric=True)
    runs = {
        "landmarks=40 instead": fp.approximate,
        "pass budget=820": partial(fp.cluster, threshold=0.9),  # with the diagonal
        "pass budget=780": partial(fp.find_pairs, above=0.9),
    }
    for advised, run in runs.items():
        with pytest.raises(fp.errors.BudgetError, match=f"For all pairs .*{advised}"):
            run(range(40), similarity, budget=1.0)
    for too_little in (0.0, -1.0):
        with pytest.raises(fp.errors.BudgetError) as refused:
            fp.find_pairs(range(40), similarity, above=0.9, budget=too_little)
        assert "For all pairs" not in str(refused.value)
    # What is advised does it.
    assert fp.approximate(range(40), similarity, landmarks=40).error.value == 0
    clusters = fp.cluster(range(40), similarity, threshold=0.9, budget=820)
    assert clusters.evaluations == 820
    assert clusters.recall.low == clusters.recall.high  # nothing is left to guess
    assert fp.find_pairs(range(40), similarity, above=0.9, budget=780).recall.low == 1
