"""What docs/extending.md says can be added from outside takes part in a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from examples import relative, symmetric_matrix
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.error.interval import INTERVALS, Verdict
from fewpairs.errors import InputError
from fewpairs.items.readers import READERS, read_items
from fewpairs.items.rows import ROWS
from fewpairs.items.sources import Source
from fewpairs.items.tables import read_table
from fewpairs.methods.base import Fit, Method
from fewpairs.methods.catalogue import METHODS
from fewpairs.methods.fitted.recipe import Fitted
from fewpairs.methods.landmarks import SELECTORS
from fewpairs.methods.options import COUNT, option
from fewpairs.sketches.coefficients import RULES

MATRIX = symmetric_matrix(60)


@dataclass(frozen=True)
class Mean(Method):
    """Every entry is the mean of the landmarks' columns, times a factor."""

    times: int = option(1, COUNT)
    grows = True

    def price(self, planner, landmarks):
        return planner.price_of_columns(landmarks)

    def fit(self, oracle, landmarks, rng, allowance=None, last=None):
        columns = oracle.columns(landmarks)
        core = np.full((1, 1), self.times * columns.mean())
        return Fit(np.ones((oracle.shape[0], 1)), core)


def test_a_method_of_ones_own():
    found = fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, method=Mean(times=2))
    assert np.ptp(found.to_dense()) == 0
    assert found.method == "Mean, times=2"
    with pytest.raises(InputError, match="Make the method with them"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), method=Mean(), times=3)


def test_a_method_by_name(monkeypatch):
    monkeypatch.setitem(METHODS, "mean", Mean)
    found = fp.approximate(
        range(60), fp.Precomputed(MATRIX), budget=500, method="mean", times=3, known="exact"
    )
    assert found.method == "mean, known=exact, times=3"
    assert found.evaluations <= 500
    with pytest.raises(InputError, match="times is 0"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), method="mean", times=0)
    with pytest.warns(fp.errors.TargetMissedWarning):
        stopped = fp.approximate(
            range(60), fp.Precomputed(MATRIX), method="mean", target_error=0.5, random_state=0
        )
    assert stopped.stopped_because == "every item is a landmark"  # few, and none helps


def test_a_selector_of_ones_own(monkeypatch):
    class Last:
        reads = False

        def select(self, oracle, count, rng):
            return np.arange(oracle.shape[1] - count, oracle.shape[1])

    for selection in (Last(), "last"):
        monkeypatch.setitem(SELECTORS, "last", Last())
        found = fp.approximate(
            range(60), fp.Precomputed(MATRIX), landmarks=5, selection=selection, random_state=0
        )
        assert found.source.left_landmarks.tolist() == [55, 56, 57, 58, 59]


def test_a_similarity_of_any_class():
    class Absolute:
        symmetric, name = True, "absolute"

        def pair(self, a, b):
            return -abs(a - b)

    found = fp.approximate(list(range(60)), Absolute(), landmarks=20, random_state=0)
    exact = -np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    assert relative(found.to_dense(), exact) < 0.2


def test_an_interval_of_ones_own(monkeypatch):
    def certain(A, B, zeta, n_pairs):
        value = float(np.sqrt(A / B))
        return Verdict(fp.ErrorEstimate(value, value, value, n_pairs), np.inf)

    monkeypatch.setitem(INTERVALS, "certain", certain)
    for rule in (certain, "certain"):
        for run in ({"landmarks": 10}, {"target_error": 0.4}):
            found = fp.approximate(
                range(60), fp.Precomputed(MATRIX), error_interval=rule, random_state=0, **run
            )
            assert found.error.low == found.error.value == found.error.high
    with pytest.raises(InputError, match="log-t"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), error_interval="log-z")


def test_a_coefficient_rule_of_ones_own(monkeypatch):
    u = np.random.default_rng(0).normal(size=(40, 3)) / 3
    monkeypatch.setitem(RULES, "short", lambda wanted: np.array([2.0]))
    with pytest.raises(InputError, match="11 of them"):
        fp.elementwise(np.exp, u, coefficients="short", random_state=0)
    monkeypatch.setitem(RULES, "mean", lambda wanted: 2 * np.eye(1, wanted.degree + 1)[0])
    found = fp.elementwise(np.exp, u, coefficients="mean", error_pairs=0, random_state=0)
    np.testing.assert_allclose(found.to_dense(), 2.0)
    assert "mean" in found.method


def test_a_file_format_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.setitem(READERS, ".lst", lambda path, column: path.read_text().split(";"))
    (tmp_path / "names.lst").write_text(";".join(f"name {i}" for i in range(30)))
    assert len(list(read_items(tmp_path / "names.lst"))) == 30
    target = tmp_path / "names.fewpairs"
    arguments = [str(tmp_path / "names.lst"), "--landmarks", "5", "-o", str(target)]
    outcome = CliRunner().invoke(app, ["approximate", *arguments])
    assert outcome.exit_code == 0, outcome.output
    assert fp.load(target).shape == (30, 30)


def test_a_format_of_tables_of_ones_own(monkeypatch, tmp_path):
    def words(source, choose):
        chosen = choose(["key", "word"])
        with source.open_text() as file:
            for number, line in enumerate(file, start=1):
                row = dict(zip(("key", "word"), line.split(), strict=True))
                yield number, tuple(row[name] for name in chosen)

    monkeypatch.setitem(ROWS, ".words", words)
    path = tmp_path / "x.words"
    path.write_text("k1 Ann\nk2 Bob\n")
    table = read_table(Source.of(path), ["word"], "key")
    assert (table.ids, table.columns) == (["k1", "k2"], {"word": ["Ann", "Bob"]})
    assert read_items(path, "word") == ["Ann", "Bob"]
    path.write_text("k1 Ann too many\n")
    with pytest.raises(InputError, match=r"x\.words cannot be read"):
        read_table(Source.of(path), ["word"], "key")


def test_a_task_of_ones_own():
    found = fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=20, random_state=0)
    central = np.argsort(-(found @ np.ones(60)), kind="stable")
    exact = np.argsort(-found.to_dense().sum(axis=1), kind="stable")
    np.testing.assert_array_equal(central, exact)


# ------------------------------------------------------------------ what misbehaves is refused


@pytest.mark.parametrize(
    "answer", [None, [0, 0, 1, 2, 3], [0, 1], [0, 1, 2, 3, 60], "abcde", np.zeros((5, 2), int)]
)
def test_a_selector_that_returns_nonsense_is_named(answer):
    class Wrong:
        def select(self, oracle, count, rng):
            return answer

    with pytest.raises(fp.errors.MethodError, match="the selector returned") as caught:
        fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, selection=Wrong())
    assert caught.value.oracle is not None


def test_a_selector_may_return_a_list():
    class First:
        def select(self, oracle, count, rng):
            return list(range(count))

    found = fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, selection=First())
    assert found.source.left_landmarks.tolist() == [0, 1, 2, 3, 4]


def test_a_method_that_returns_nan_is_named():
    class Broken(Mean):
        def fit(self, oracle, landmarks, rng, allowance=None, last=None):
            oracle.columns(landmarks)
            return Fit(np.ones((60, 1)), np.full((1, 1), np.nan))

    with pytest.raises(fp.errors.MethodError, match="not finite") as caught:
        fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, method=Broken())
    assert caught.value.oracle.evaluations > 0


def test_a_method_that_reads_more_than_its_price_is_reported():
    class Greedy(Mean):
        def fit(self, oracle, landmarks, rng, allowance=None, last=None):
            oracle.columns(np.arange(60))
            return super().fit(oracle, landmarks, rng)

    with pytest.warns(fp.errors.BudgetExceededWarning, match="more than its price"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), budget=500, method=Greedy())


def test_options_of_a_method_of_ones_own_are_checked_and_shown():
    with pytest.raises(InputError, match="times is 0"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, method=Mean(times=0))
    with pytest.raises(InputError, match="near is 7"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, method=Fitted(near=7.0))
    with pytest.raises(InputError, match=r"Pass an instance: method=Mean\(\)"):
        fp.approximate(range(60), fp.Precomputed(MATRIX), landmarks=5, method=Mean)
    for method, options in ((Fitted(known=None), {}), (Fitted(), {"known": None})):
        found = fp.approximate(
            range(60), fp.Precomputed(MATRIX), landmarks=12, method=method, **options
        )
        assert found.known.empty
        assert "known=None" in found.method


@pytest.mark.parametrize(
    "answer",
    [3, None, fp.ErrorEstimate(0.1, 0.1, 0.1, 5), Verdict(fp.ErrorEstimate(-1, -1, -1, 5), 1.0)],
)
def test_an_interval_that_is_none_is_refused(answer):
    with pytest.raises(fp.errors.MethodError, match="the error interval returned") as caught:
        fp.approximate(
            range(60), fp.Precomputed(MATRIX), landmarks=5, error_interval=lambda *_: answer
        )
    assert caught.value.oracle.evaluations > 0
