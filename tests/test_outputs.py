"""Commands on tables: what they spend, what they say it would cost, and where it goes."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from fewpairs.cli.app import app
from fewpairs.errors import BudgetError

COUNTED = """
import fewpairs as fp

asked = []


def alike(a, b):
    asked.append((a, b))
    return 1.0 if a[0] == b[0] else 0.0


both = fp.similarity(alike, kind="pair", symmetric=False, name="alike", version="1").symmetrized()
"""


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "counted.py").write_text(COUNTED, encoding="utf-8")
    names = [f"{letter}{k}" for letter in "abcdef" for k in range(10)]
    (tmp_path / "names.csv").write_text("\n".join(["name", *names]), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "counted", raising=False)

    def run(*arguments):
        command = [str(word) for word in (arguments[0], "names.csv", *arguments[1:])]
        return CliRunner().invoke(app, command)

    return run


OWN = ("--similarity", "counted:alike", "--above", 0.5)


def test_two_outputs_of_one_name_are_named(typed):
    ended = typed("dedupe", "--above", 0.5, "-o", "a.csv", "--groups", "b.csv", "--report", "b.csv")
    assert "two outputs are called 'b.csv'" in str(ended.exception)
    ended = typed("dedupe", "--above", 0.5, "-o", "a.csv", "--groups", "./a.csv")
    assert "two outputs are called 'a.csv'" in str(ended.exception)


def test_groups_by_average_are_made_of_what_is_left_of_a_budget(typed):
    average = ("--groups", "g.csv", "--groups-by", "average")
    ended = typed("dedupe", *OWN, "--budget", 200, "--search", "-o", "p.csv", *average)
    import counted

    assert isinstance(ended.exception, BudgetError)  # 270 pairs are within the groups
    assert len(counted.asked) <= 200


def test_a_plan_never_exceeds_all_pairs(typed):
    ended = typed("dedupe", *OWN, "--budget", 10**6, "--plan", "--json")
    assert json.loads(ended.output)["evaluations"] == [{"least": 0, "most": 60 * 59 // 2}]


def test_the_mean_of_both_orders_costs_two_evaluations_in_a_plan(typed):
    own = ("--similarity", "counted:both", "--above", 0.5)
    ended = typed("dedupe", *own, "--all-pairs", "--plan", "--json")
    (expected,) = json.loads(ended.output)["evaluations"]
    assert expected == {"least": 60 * 59, "most": 60 * 59}
