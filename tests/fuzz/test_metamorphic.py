"""The same question asked in another way.

What must hold exactly: multiplying a matrix by a power of two multiplies the result and changes no
statement; what is known stays exact in any order of the items; a string similarity that does not
look at a common suffix gives the same matrix with one.

What must hold to rounding: the published methods with given landmarks, for permuted items, for an
item that is there twice, for a transposed matrix, for any other factor.

What holds only statistically: the default method draws pairs by position, so that another order of
the same items is another sample; its errors are compared in the mean.
"""

from __future__ import annotations

import string
from dataclasses import replace

import numpy as np
from examples import Counter, relative
from hypothesis import assume, given
from hypothesis import strategies as st
from matrix_strategies import ASYMMETRIC, SYMMETRIC, Matrix, matrices, smooth
from promises import only_our_warnings, run_or_refusal
from run_strategies import Problem, problems

import fewpairs as fp

SMALL = 30
#: Matrices whose squares of landmarks are far from singular: rounding stays rounding.
TAME = {k: v for k, v in (SYMMETRIC | ASYMMETRIC).items() if "noise" in k}
PUBLISHED = ("nystrom", "sms", "skeleton", "sicur", "stacur")


def times(problem: Problem, factor: float) -> Problem:
    """Return the problem with its matrix multiplied."""
    other = replace(problem)
    object.__setattr__(other, "exact", problem.exact * factor)
    return other


@given(problems(most=SMALL, scaled=False), st.integers(-60, 60))
def test_a_power_of_two_changes_nothing_but_the_scale(problem: Problem, power: int):
    one = run_or_refusal(problem, Counter(problem.exact))
    if one is None:
        return
    factor = 2.0**power
    with only_our_warnings(problem):
        two = times(problem, factor).run()
    # Where nothing can be said of a matrix, its result is a number next to nothing.
    nothing = 1e-100 * np.abs(problem.exact).max()
    np.testing.assert_allclose(
        two.to_dense() / factor, one.to_dense(), rtol=0, atol=nothing, strict=True
    )
    assert two.error == one.error
    assert two.evaluations == one.evaluations
    assert two.curve == one.curve


def published(matrix: np.ndarray, landmarks: list[int], method: str) -> np.ndarray:
    """Run a published method on given landmarks, without an error estimate."""
    source = fp.Precomputed(matrix)
    found = fp.approximate(
        range(len(matrix)),
        source,
        landmarks=landmarks,
        method=method,
        error_pairs=0,
        random_state=0,
        **({"oversampling": 1.0} if method == "sms" else {}),
    )
    return found.to_dense()


@st.composite
def tame(draw: st.DrawFn, kinds=TAME) -> tuple[np.ndarray, list[int], str]:
    """Draw a matrix, landmarks, and a method that takes them."""
    recipe: Matrix = draw(matrices(kinds, least=2, most=SMALL, scaled=False))
    symmetric = recipe.kind in SYMMETRIC
    method = draw(st.sampled_from(PUBLISHED if symmetric else PUBLISHED[2:]))
    count = draw(st.integers(1, recipe.n))
    order = np.random.default_rng(recipe.seed).permutation(recipe.n)
    matrix = recipe.make()
    # Rounding grows with the condition of what is inverted.
    square = matrix[np.ix_(order[:count], order[:count])]
    half = count // 2
    for inverted in (square, square[half:, : max(1, half)]):
        assume(np.linalg.cond(inverted) < 1e4)
    return matrix, order[:count].tolist(), method


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-6 * (1 + np.abs(expected).max()))


@given(tame(), st.integers(0, 2**32 - 1))
def test_published_methods_do_not_look_at_the_order_of_items(case, seed):
    matrix, landmarks, method = case
    order = np.random.default_rng(seed).permutation(len(matrix))
    place = np.argsort(order)
    found = published(matrix[np.ix_(order, order)], place[landmarks].tolist(), method)
    close(found, published(matrix, landmarks, method)[np.ix_(order, order)])


@given(tame(), st.floats(1e-3, 1e3))
def test_any_factor_changes_published_methods_by_rounding_alone(case, factor):
    matrix, landmarks, method = case
    close(published(matrix * factor, landmarks, method) / factor, published(*case))


@given(tame(), st.integers(0, 2**32 - 1))
def test_an_item_that_is_there_twice_gets_the_same_row_twice(case, seed):
    matrix, landmarks, method = case
    # The constant n/s of "stacur" knows how many items there are; "sms" shifts a landmark's own
    # entry, which its twin does not have.
    assume(method not in ("stacur", "sms"))
    n = len(matrix)
    twin = int(np.random.default_rng(seed).integers(n))
    items = [*range(n), twin]
    found = published(matrix[np.ix_(items, items)], landmarks, method)
    close(found, published(*case)[np.ix_(items, items)])


@given(tame(ASYMMETRIC))
def test_a_transposed_matrix_gives_the_transposed_skeleton(case):
    matrix, landmarks, _ = case
    # Columns are read of the first half of the landmarks, rows of the second.
    middle = len(landmarks) // 2
    assume(len(landmarks) % 2 == 0)
    swapped = landmarks[middle:] + landmarks[:middle]
    close(published(matrix.T, swapped, "skeleton"), published(matrix, landmarks, "skeleton").T)


@given(
    st.lists(st.text(string.ascii_lowercase, max_size=8), min_size=1, max_size=20),
    st.text(string.ascii_lowercase + " ", max_size=6),
    st.integers(1, 20),
)
def test_a_suffix_that_all_strings_share_changes_no_edit_distance(words, suffix, count):
    longer = [word + suffix for word in words]

    def distances(texts: list[str], scorer: str) -> fp.FactoredMatrix:
        similarity = fp.StringSimilarity(scorer)
        length = max if scorer == "levenshtein" else sum

        def distance(a: str, b: str) -> float:
            return float(round((1 - similarity.pairs([(a, b)])[0]) * length((len(a), len(b)))))

        wrapped = fp.similarity(distance, kind="pair", symmetric=True)
        landmarks = min(count, len(texts))
        return fp.approximate(texts, wrapped, landmarks=landmarks, random_state=0)

    for scorer in ("levenshtein", "indel"):
        with only_our_warnings():
            one, two = distances(words, scorer), distances(longer, scorer)
        np.testing.assert_array_equal(one.to_dense(), two.to_dense())
        assert one.error == two.error
        assert one.evaluations == two.evaluations


def test_the_default_method_errs_as_much_in_any_order_twice_and_transposed():
    rng = np.random.default_rng(0)
    symmetric = smooth(60, rng)
    asymmetric = symmetric @ np.diag(rng.uniform(0.5, 2, 60))
    order = rng.permutation(60)
    twice = np.concatenate([np.arange(60), order[:6]])

    def mean_error(matrix: np.ndarray) -> float:
        return float(
            np.mean(
                [
                    relative(
                        fp.approximate(
                            range(len(matrix)),
                            fp.Precomputed(matrix),
                            budget=0.4,
                            error_pairs=0,
                            random_state=seed,
                        ).to_dense(),
                        matrix,
                    )
                    for seed in range(12)
                ]
            )
        )

    # Twelve runs agree to about a tenth; a third is far outside.
    expected = mean_error(symmetric)
    assert abs(np.log(mean_error(symmetric[np.ix_(order, order)]) / expected)) < 1 / 3
    # An item that is there twice is easier to predict, never harder.
    assert mean_error(symmetric[np.ix_(twice, twice)]) < 4 / 3 * expected
    assert abs(np.log(mean_error(asymmetric.T) / mean_error(asymmetric))) < 1 / 3
