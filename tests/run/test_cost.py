"""Money: plans, results and budgets in a currency."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examples import Counter, symmetric_matrix
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.errors import BudgetError, InputError
from fewpairs.oracle.progress import Progress
from fewpairs.similarities.cost import Cost, evaluations_for

N = 60
MATRIX = symmetric_matrix(N)


@pytest.mark.parametrize(
    ("given", "cost"),
    [
        (0.002, Cost(0.002)),
        (1, Cost(1.0)),
        (np.float64(0.5), Cost(0.5)),
        ("0.002 USD", Cost(0.002, "USD")),
        ("$0.002", Cost(0.002, "$")),
        ("2e-3EUR", Cost(0.002, "EUR")),
        (".5 ct", Cost(0.5, "ct")),
    ],
)
def test_a_cost_is_a_number_or_an_amount(given, cost):
    assert Cost.of(given) == cost


@pytest.mark.parametrize(
    "given",
    [0, -1, np.nan, np.inf, True, "", "USD", "$ 1 USD", "1 2", None, "1e-400 USD", "1e400", "5%"],
)
def test_what_is_no_cost_is_refused(given):
    with pytest.raises(InputError, match="cost"):
        Cost.of(given)


def test_an_amount_buys_as_many_as_it_pays_for():
    assert evaluations_for("5 USD", Cost(0.002, "USD")) == 2500
    assert evaluations_for("0.3 USD", Cost(0.1)) == 3  # not 2, as floats would have it
    assert evaluations_for("$1_000", Cost(0.003, "$")) == 333_333


@pytest.mark.parametrize(
    ("budget", "cost", "hint"),
    [
        ("5 USD", None, "what an evaluation costs"),
        ("5 EUR", Cost(0.1, "USD"), "not converted"),
        ("5", Cost(0.1), "currency"),
        ("lots", Cost(0.1), "amount"),
        ("5 %", Cost(0.1), "amount"),
        ("0.05 USD", Cost(0.1), "single one"),
    ],
)
def test_money_that_says_nothing_is_refused_before_anything_is_bought(budget, cost, hint):
    counter = Counter(MATRIX)
    with pytest.raises(BudgetError, match=hint):
        evaluations_for(budget, cost)
    each = None if cost is None else f"{cost.each} {cost.currency}".strip()
    for run in (fp.approximate, fp.find_nearest):
        with pytest.raises(BudgetError):
            run(range(N), counter.similarity("pair"), budget=budget, cost=each)
    assert counter.asked == []


def test_a_budget_in_money_holds_and_everything_speaks_of_it():
    counter = Counter(MATRIX)
    similarity = counter.similarity("pair", cost="0.01 USD")
    matrix = fp.approximate(range(N), similarity, budget="6 USD", random_state=0)
    assert 500 < matrix.evaluations == len(counter.asked) <= 600
    assert matrix.price == pytest.approx(0.01 * matrix.evaluations)
    assert f"evaluations for {matrix.price:.2f} USD" in repr(matrix)
    plan = fp.plan(range(N), similarity, budget="6 USD", timed=False)
    assert plan.price <= 6
    assert "cost         at most 6.00 USD, where all pairs cost 18.30 USD" in str(plan)
    found = fp.find_pairs(range(N), similarity, above=0.5, budget="4 USD", random_state=0)
    assert found.price <= 4
    assert f" for {found.price:.2f} USD" in repr(found)
    near = fp.find_nearest(range(N), similarity, k=2, budget="4 USD", random_state=0)
    assert near.price <= 4
    assert (
        fp.recall_of(
            [(0, 1)], range(N), similarity, above=0.5, budget="2 USD", random_state=0
        ).evaluations
        <= 200
    )


def test_without_a_cost_nobody_speaks_of_money():
    matrix = fp.approximate(range(N), fp.Precomputed(MATRIX), landmarks=5, random_state=0)
    assert matrix.price is None
    plan = fp.plan(range(N), fp.Precomputed(MATRIX), landmarks=5, timed=False)
    assert plan.price is None
    assert "cost" not in str(plan)
    assert Cost(0.0001).written(3) == "0.0003"


def test_both_orders_are_paid_for():
    similarity = Counter(MATRIX).similarity("pair", symmetric=False, cost=2.0).symmetrized()
    matrix = fp.approximate(range(N), similarity, landmarks=3, method="nystrom", error_pairs=0)
    assert matrix.price == 2.0 * matrix.evaluations == 2.0 * 2 * (3 * N - 3)


def test_progress_speaks_of_money():
    assert Progress(200, False, Cost(0.5, "EUR"))._money(10, 200) == "5.00 EUR of 100.00 EUR"
    assert Progress(200, False)._money(10, 200) == ""


def test_the_command_takes_money(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("\n".join(f"name {i}" for i in range(40)))
    typed = ["plan", "names.txt", "--cost", "0.01 USD", "--budget", "4 USD"]
    told = CliRunner().invoke(app, typed)
    assert told.exit_code == 0, told.output
    assert "at most 4.00 USD" in told.output
    refused = CliRunner().invoke(app, ["plan", "names.txt", "--budget", "4 USD"])
    assert refused.exit_code != 0


def test_all_pairs_are_not_offered_for_being_quick_where_they_cost_money():
    matrix = fp.Precomputed(symmetric_matrix(200))

    def told(**options):
        return str(replace(fp.plan(range(200), matrix, timed=False, **options), seconds=1e-3))

    assert "leave no error" in told(landmarks=5)
    paid = told(landmarks=5, cost="0.002 USD")
    assert "where all pairs cost 40.20 USD" in paid
    assert "leave no error" not in paid
    # Where they cost hardly more than the plan, they are.
    assert "leave no error" in told(landmarks=190, cost="0.002 USD")


def test_a_look_tells_what_it_has_cost():
    priced = Counter(MATRIX).similarity("pairs", cost="0.01 USD")
    report = fp.inspect(range(N), priced)
    assert f"({report.evaluations:,} evaluations for {report.evaluations / 100:.2f} USD)" in str(
        report
    )
    assert " for " not in str(fp.inspect(range(N), fp.Precomputed(MATRIX))).splitlines()[0]
