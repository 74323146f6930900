"""Similarities that misbehave: a sentence of ours, nothing lost, nothing paid twice, same bits."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from examples import Counter
from fault_strategies import Faulty, Noisy, faults
from hypothesis import given
from hypothesis import strategies as st
from limits import kept
from matrix_strategies import ASYMMETRIC
from promises import budget_is_kept, only_our_warnings, run_or_refusal
from run_strategies import Problem, problems

import fewpairs as fp
from fewpairs.errors import AsymmetryError, InputError, SimilarityError, StoppedError

INTERRUPTED = "faults: what a call had evaluated before Ctrl-C is counted and kept"
ANSWERED_ROWS = "faults: what a block similarity has answered of a list of pairs is kept"
BETWEEN = "faults: what is answered between a wrong answer and an exception is kept"
#: Requests are small, so that a fault comes early in a run and another one can follow.
SMALL = 30


def go_on(problem: Problem, source: Any, **changes: Any) -> tuple[fp.FactoredMatrix, fp.Oracle]:
    """Run, and resume after each fault with the same arguments; return the oracle too."""
    arguments = {"random_state": problem.seed} | problem.arguments | changes
    oracle = fp.Oracle(**problem.items(), similarity=problem.similarity(source))
    while True:
        try:
            with only_our_warnings(problem):
                return fp.approximate(oracle, **arguments), oracle
        except (SimilarityError, KeyboardInterrupt) as error:
            fault = error
        assert not isinstance(fault, AsymmetryError)
        assert fault.oracle is oracle
        if isinstance(fault, SimilarityError):
            assert len(str(fault).splitlines()) >= 3, "what, why, what to do"


@given(problems(most=SMALL), faults, st.booleans())
def test_a_run_resumed_after_faults_is_the_uninterrupted_one(problem: Problem, planned, seeded):
    whole = Counter(problem.exact)
    expected = run_or_refusal(problem, whole)
    if expected is None:
        return
    source = Faulty(Counter(problem.exact), planned)
    found, oracle = go_on(problem, source, **({} if seeded else {"random_state": None}))
    asked = len(source.counter.asked)
    all_counted = kept(INTERRUPTED) or "Ctrl-C" not in planned.values()
    assert oracle.evaluations == asked or not all_counted
    assert np.isfinite(found.to_dense()).all()
    if problem.budget is not None and budget_is_kept(problem):
        assert found.evaluations <= problem.budget
    several = problem.kind == "pair" and len(planned) > 1
    if (
        all_counted
        and (problem.kind != "block" or kept(ANSWERED_ROWS))
        and (not several or kept(BETWEEN))
    ):
        # What was answered is never asked for again.
        assert asked <= found.evaluations + source.lost
    if seeded:
        np.testing.assert_array_equal(found.to_dense(), expected.to_dense())
        assert found.error == expected.error
        assert found.evaluations == expected.evaluations
        assert found.curve == expected.curve


@given(problems(most=SMALL), st.lists(st.integers(1, 300), min_size=1, max_size=3))
def test_a_run_that_a_callback_stops_is_resumed_for_the_rest(problem: Problem, stops):
    whole = Counter(problem.exact)
    expected = run_or_refusal(problem, whole)
    if expected is None:
        return
    counter = Counter(problem.exact)
    oracle = fp.Oracle(**problem.items(), similarity=problem.similarity(counter))
    arguments = {"random_state": problem.seed} | problem.arguments
    for stop in stops:
        with only_our_warnings(problem), suppress(StoppedError):
            fp.approximate(oracle, **arguments, progress=lambda done, _, s=stop: done < s)
    with only_our_warnings(problem):
        found = fp.approximate(oracle, **arguments, progress=False)
    np.testing.assert_array_equal(found.to_dense(), expected.to_dense())
    assert found.evaluations == expected.evaluations
    if problem.kind != "block":
        assert len(counter.asked) == len(whole.asked)


@given(problems(kinds=ASYMMETRIC, most=SMALL))
def test_what_is_asymmetric_and_declared_symmetric_is_refused_or_never_looked_at(problem: Problem):
    counter = Counter(problem.exact)
    similarity = fp.similarity(
        getattr(counter, problem.kind), kind=problem.kind, symmetric=True, name="asymmetric"
    )
    arguments = {"random_state": problem.seed} | problem.arguments
    refused: Exception | None = None
    try:
        with only_our_warnings(problem):
            fp.approximate(similarity=similarity, **problem.items(), **arguments)
    except (InputError, AsymmetryError) as error:
        refused = error
    if isinstance(refused, InputError):
        assert not counter.asked
    elif refused is not None:
        asked = len(counter.asked)
        assert refused.oracle.evaluations == asked
        with pytest.raises(AsymmetryError), only_our_warnings(problem):
            fp.approximate(refused.oracle, **arguments)
        assert len(counter.asked) == asked
    elif problem.split is None:
        seen, exact = set(counter.asked), problem.exact
        uneven = [(a, b) for a, b in seen if (b, a) in seen and exact[a, b] != exact[b, a]]
        assert not uneven, "both orders were seen, and differ"


@given(problems(most=SMALL), st.sampled_from([1e-12, 1e-6, 1e-2, 1.0]))
def test_what_does_not_repeat_itself_is_judged_or_refused_within_the_budget(problem, noise):
    source = Noisy(problem.exact, noise, problem.seed)
    try:
        with only_our_warnings(problem):
            matrix = problem.run(source)
    except AsymmetryError:
        assert problem.symmetric
        return
    except InputError:
        assert not source.counter.asked
        return
    assert matrix.evaluations == len(source.counter.asked)
    assert np.isfinite(matrix.to_dense()).all()
    if problem.budget is not None and budget_is_kept(problem):
        assert matrix.evaluations <= problem.budget
    if matrix.error is not None:
        assert np.isfinite(matrix.error.value)
        assert 0 <= matrix.error.low <= matrix.error.value <= matrix.error.high
