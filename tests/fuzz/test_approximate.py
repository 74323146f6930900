"""Any matrix, any legal call: what is stated is true, what is spent is counted, nothing breaks."""

from __future__ import annotations

import numpy as np
from examples import Counter
from hypothesis import given
from hypothesis import strategies as st
from matrix_strategies import Matrix, matrices
from promises import check, only_our_warnings, run_or_refusal
from run_strategies import Problem, block_sizes, problems


@given(problems())
def test_a_run_keeps_its_promises(problem: Problem):
    before = problem.exact.copy()
    counter = Counter(problem.exact)
    matrix = run_or_refusal(problem, counter)
    if matrix is not None:
        check(problem, matrix, counter)
    np.testing.assert_array_equal(problem.exact, before)


@given(matrices(least=15), st.floats(0.35, 0.8), st.integers(0, 2**32 - 1))
def test_a_run_that_leaves_pairs_out_is_judged(matrix: Matrix, share: float, seed: int):
    # Larger than most of the above, and all defaults: what the tally of intervals rests on.
    problem = Problem(matrix, kind="pairs", arguments={"budget": share}, seed=seed)
    counter = Counter(problem.exact)
    found = run_or_refusal(problem, counter)
    assert found is not None
    check(problem, found, counter)


@given(problems(), st.data())
def test_threads_and_the_size_of_requests_change_nothing(problem: Problem, data: st.DataObject):
    one = run_or_refusal(problem, Counter(problem.exact))
    if one is None:
        return
    # A block that is partly known is asked for as a whole: there its size has a price.
    sizes = st.sampled_from(block_sizes(problem.matrix.n))
    sized = {} if problem.kind == "block" else {"block_size": data.draw(sizes)}
    with only_our_warnings(problem):
        two = problem.run(n_jobs=3 - problem.arguments.get("n_jobs", 1), **sized)
    np.testing.assert_array_equal(one.to_dense(), two.to_dense())
    assert one.error == two.error
    assert one.evaluations == two.evaluations
    assert one.curve == two.curve


@given(problems(), st.integers(0, 2**32 - 1))
def test_whatever_is_read_of_a_result_agrees_with_the_whole(problem: Problem, seed: int):
    matrix = run_or_refusal(problem, Counter(problem.exact))
    if matrix is None:
        return
    rng = np.random.default_rng(seed)
    whole = matrix.to_dense()
    n, m = whole.shape
    size = np.abs(whole).max()
    i, j = rng.integers(0, n, 5), rng.integers(0, m, 5)
    known = ~np.isnan(matrix.known.find(i, j))
    entries = matrix.entries(i, j)
    np.testing.assert_array_equal(entries[known], whole[i[known], j[known]])
    # A core may be large where factors cancel: six digits are left of sixteen.
    near = {"rtol": 1e-6, "atol": 1e-6 * size}
    np.testing.assert_allclose(entries, whole[i, j], **near)
    np.testing.assert_allclose(matrix[int(i[0])], whole[i[0]], **near)
    np.testing.assert_allclose(matrix[i][:, j], whole[np.ix_(i, j)], **near)
    np.testing.assert_allclose(matrix.T.to_dense(), whole.T, **near)
    x = rng.normal(size=m)
    np.testing.assert_allclose(matrix @ x, whole @ x, rtol=1e-6, atol=1e-6 * m * size)
    y = rng.normal(size=n)
    np.testing.assert_allclose(y @ matrix, y @ whole, rtol=1e-6, atol=1e-6 * n * size)
