"""What every run of `approximate` must keep, whatever the matrix; and a tally of intervals."""

from __future__ import annotations

import warnings
from collections import Counter as Tally
from contextlib import contextmanager

import numpy as np
from examples import SYMMETRIC_ONLY, Counter
from limits import kept
from run_strategies import Problem

import fewpairs as fp
from fewpairs.errors import (
    AsymmetryError,
    BudgetExceededWarning,
    FewpairsWarning,
    InputError,
    MethodError,
)

#: How often a stated interval held the truth, below and above it: by kind of matrix. A single run
#: may miss, so it is counted, not demanded; benchmarks/reliability/fuzz.py prints it.
HELD: Tally[tuple[str, str]] = Tally()
#: Rounding of a matrix that is right.
ROUNDING = 1e-9
#: Pairs that may be asked in both orders to see whether a similarity is symmetric.
SYMMETRY_PAIRS = 8


def relative_error(found: np.ndarray, exact: np.ndarray) -> float:
    """Return ‖found − exact‖ / ‖exact‖ without overflow; 0 or inf where exact is 0."""
    largest = np.abs(exact).max()
    if largest == 0:
        return 0.0 if not found.any() else np.inf
    return float(
        np.linalg.norm(found / largest - exact / largest) / np.linalg.norm(exact / largest)
    )


@contextmanager
def only_our_warnings(problem: Problem | None = None):
    """Fail for a warning that is not one of fewpairs, or that says a budget was exceeded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    foreign = [w.message for w in caught if not issubclass(w.category, FewpairsWarning)]
    assert not foreign, f"a foreign warning: {foreign[0]!r}"
    if problem is None or budget_is_kept(problem):
        assert not any(issubclass(w.category, BudgetExceededWarning) for w in caught)


def run_or_refusal(problem: Problem, counter: Counter) -> fp.FactoredMatrix | None:
    """Run; None where the arguments were refused, which must cost nothing."""
    try:
        with only_our_warnings(problem):
            return problem.run(counter)
    except InputError:
        assert not counter.asked, "refused after evaluations were bought"
    except AsymmetryError:
        assert problem.arguments.get("method") in SYMMETRIC_ONLY
        assert not counter.asked, "refused after evaluations were bought"
    except MethodError:
        lonely = "methods: sms-rescaled where landmarks have no similarities among themselves"
        if kept(lonely) or problem.arguments.get("method") != "sms-rescaled":
            raise
    return None


def check(problem: Problem, matrix: fp.FactoredMatrix, counter: Counter) -> None:
    """Compare a result, its price and its statement with the truth."""
    check_price(problem, matrix, counter)
    found = matrix.to_dense()
    assert np.isfinite(found).all(), "a result that is not finite"
    check_known(problem, matrix, found, counter)
    check_statement(problem, matrix, found, counter)


def check_price(problem: Problem, matrix: fp.FactoredMatrix, counter: Counter) -> None:
    """Everything is counted, nothing is bought twice, and no plan or budget is exceeded."""
    asked = len(counter.asked)
    assert matrix.evaluations == asked
    if problem.budget is not None and budget_is_kept(problem):
        assert asked <= problem.budget, f"{asked} evaluations for a budget of {problem.budget}"
    arguments = {k: v for k, v in problem.arguments.items() if k != "n_jobs"}
    similarity = problem.similarity(Counter(problem.exact))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run has said it already
        plan = fp.plan(similarity=similarity, timed=False, **problem.items(), **arguments)
    if plan_is_kept(problem):
        assert asked <= plan.evaluations, f"{asked} evaluations where {plan.evaluations} planned"
    if problem.kind != "block":
        repeated = asked - len(distinct(problem, counter))
        assert repeated <= (2 * SYMMETRY_PAIRS if problem.symmetric else 0)


def budget_is_kept(problem: Problem) -> bool:
    """Whether nothing that is known to be broken is part of a problem."""
    reads = problem.arguments.get("selection", "uniform") != "uniform" and not problem.symmetric
    target = "target_error" in problem.arguments
    return not (
        (reads and not kept("budget: a selection that reads columns of an asymmetric matrix"))
        or (target and not kept("budget: a target"))
    )


def plan_is_kept(problem: Problem) -> bool:
    """The same for what a plan says."""
    block = problem.kind == "block"
    target = "target_error" in problem.arguments
    return budget_is_kept(problem) and not (
        (block and not kept("plan: a similarity that is written as a block"))
        or (target and not kept("plan: a target"))
    )


def distinct(problem: Problem, counter: Counter) -> set[tuple[int, int]]:
    """Return the pairs that were evaluated, in one order where the matrix is symmetric."""
    both = problem.symmetric and problem.split is None
    return counter.unordered if both else set(counter.asked)


def check_known(
    problem: Problem, matrix: fp.FactoredMatrix, found: np.ndarray, counter: Counter
) -> None:
    """What is known is right to the last bit, and is what one reads; only evaluated pairs are."""
    i, j = np.indices(found.shape).reshape(2, -1)
    values = matrix.known.find(i, j)
    known = ~np.isnan(values)
    assert problem.puts_back or not known.any()
    truth = problem.truth[i[known], j[known]]
    np.testing.assert_array_equal(values[known], truth)
    np.testing.assert_array_equal(found[i[known], j[known]], truth)
    if problem.puts_back:
        bought = distinct(problem, counter)
        rows, columns = problem.rows[i[known]], problem.columns[j[known]]
        both = problem.symmetric and problem.split is None
        for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
            pair = (min(a, b), max(a, b)) if both else (a, b)
            declared = problem.declared_diagonal and a == b
            assert pair in bought or declared, f"{pair} is known and was never evaluated"


def check_statement(
    problem: Problem, matrix: fp.FactoredMatrix, found: np.ndarray, counter: Counter
) -> None:
    """A statement is there if it was asked for, is in order, and is sure only where it is true."""
    error = matrix.error
    if problem.arguments.get("error_pairs") == 0:
        assert error is None
        return
    assert error is not None
    assert np.isfinite(error.value)
    assert 0 <= error.low <= error.value <= error.high, error
    free = len(problem.rows) if problem.declared_diagonal else 0
    everything = len(distinct(problem, counter)) >= problem.all_pairs - free
    true = relative_error(found, problem.truth)
    twice = "statement: nothing is exact if a block similarity was asked for pairs twice"
    if "exact" in str(error) and (kept(twice) or problem.kind != "block"):
        assert everything, f"{error}, and {len(counter.asked)} of {problem.all_pairs} were"
    if problem.arguments.get("fold_error_pairs"):
        return  # it is stated for the result before
    if everything and error.n_pairs == 0 and np.isfinite(true):
        np.testing.assert_allclose(error.value, true, rtol=1e-6, atol=ROUNDING)
    few = "statement: no error in a few pairs is no error at all"
    if error.high == 0 and (everything or kept(few)):
        assert true <= ROUNDING, f"stated {error}; the true error is {true}"
    if error.n_pairs:
        slack = ROUNDING * (1 + true)
        place = "below" if true < error.low - slack else "above"
        holds = error.low - slack <= true <= error.high + slack
        HELD[problem.matrix.kind, "held" if holds else place] += 1
