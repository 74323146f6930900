"""inspect() and plan(): facts and price before the run."""

from __future__ import annotations

import time

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, SimilarityError


def test_inspection_states_the_facts(kind):
    counter = Counter(asymmetric_matrix(80))
    report = fp.inspect(range(80), counter.similarity(kind, symmetric=False), sample=80)
    k = counter.matrix
    assert report.asymmetry == pytest.approx(np.linalg.norm(k - k.T) / np.linalg.norm(k))
    assert report.diagonal == (np.diag(k).min(), np.diag(k).max())
    off = k[~np.eye(80, dtype=bool)]
    assert report.range == (off.min(), off.max())
    values = np.linalg.eigvalsh((k + k.T) / 2)
    assert report.negative_share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert report.repeatability == 0
    assert report.evaluations == len(counter.asked) == 80 * 80 + 20
    assert "indefinite" in str(report)
    assert "asymmetric" in str(report)


def test_inspection_reports_what_is_not_finite():
    k = symmetric_matrix(30)
    k[3, 4] = np.nan
    report = fp.inspect(range(30), Counter(k).similarity("block"), sample=30)
    assert report.non_finite == 1
    assert "1 not finite" in str(report)


def test_inspection_reports_noise():
    rng = np.random.default_rng(0)
    noisy = fp.similarity(lambda a, b: rng.normal(), kind="pair", symmetric=True)
    assert fp.inspect(range(30), noisy).repeatability > 0.1


def test_a_first_call_that_loads_or_compiles_is_not_timed(kind, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def loading():
        counter = Counter(symmetric_matrix(80))
        answer = getattr(counter, kind)

        def answered(*asked):
            before = len(counter.asked)
            found = answer(*asked)
            clock[0] += 1e-3 * (len(counter.asked) - before) + (0 if before else 100)
            return found

        return fp.similarity(answered, kind=kind, symmetric=True, name="loading")

    report = fp.inspect(range(80), loading())
    assert report.seconds_per_evaluation == pytest.approx(1e-3)
    plan = fp.plan(range(80), loading(), landmarks=20, timed=True)
    assert plan.seconds == pytest.approx(1e-3 * plan.evaluations)


def test_inspection_passes_on_what_the_similarity_raises():
    def pair(a, b):
        raise KeyError("model not loaded")

    with pytest.raises(SimilarityError, match="model not loaded"):
        fp.inspect(range(3), fp.similarity(pair, kind="pair", symmetric=True))


def test_inspection_of_one_item():
    report = fp.inspect([1], fp.Precomputed(np.eye(3)))
    assert report.diagonal == (1.0, 1.0)
    assert "positive semidefinite" in str(report)
    with pytest.raises(InputError):
        fp.inspect([1], fp.Precomputed(np.eye(3)), sample=0)


def test_plan_says_what_it_will_cost_and_how_long():
    def slow(a, b):
        time.sleep(0.002)
        return float(a == b)

    sim = fp.similarity(slow, kind="pair", symmetric=True)
    plan = fp.plan(range(1000), sim, landmarks=20, method="nystrom", error_pairs=100, timed=True)
    assert plan.evaluations == 1000 * 20 - 190 + 100 + plan.symmetry_pairs
    assert plan.share == pytest.approx(plan.evaluations / (1000 * 1001 / 2))
    # Columns, profiles to judge by, and pools of pairs.
    assert plan.memory == (8 + 4) * 1000 * 20 + 36_000_000 + 120 * 1000
    assert 0.002 * plan.evaluations < plan.seconds < 0.2 * plan.evaluations
    assert 0 < plan.sampled < 1000
    for part in ("20 landmarks", "of all pairs", "36.4 MB", "timed"):
        assert part in str(plan)


def test_plan_of_one_item():
    assert fp.plan([0], fp.Precomputed(np.eye(1)), landmarks=1).evaluations == 1
    timed = fp.plan([0], fp.Precomputed(np.eye(1)), landmarks=1, timed=True)
    assert "unknown, after 1 timed evaluations" in str(timed)
