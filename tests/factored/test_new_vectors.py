"""Vectors of new items are measured along what those of the old ones were."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fewpairs as fp
from fewpairs.errors import InputError

N, NEW = 260, 180


def sparse_setting():
    """More columns than a guide keeps, and a matrix that follows from their cosines."""
    rng = np.random.default_rng(0)
    total = N + NEW
    table = sp.random(total, 300, density=0.03, random_state=0, format="csr")
    groups = sp.csr_array(
        (np.full(total, 2.0), (np.arange(total), rng.integers(0, 12, total))), table.shape
    )
    table = sp.csr_array(table + groups)
    dense = table.toarray()
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    return table, 1 / (1 + np.exp(2 - 5 * dense @ dense.T))


def similarity_of(matrix):
    return fp.similarity(lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=True)


def made(matrix, guide, **options):
    options = {"budget": 0.15, "error_pairs": 0, "random_state": 0} | options
    return fp.approximate(np.arange(N), similarity_of(matrix), guide=guide, **options)


def off(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


OLD, LATER = np.arange(N), np.arange(N, N + NEW)


@pytest.mark.parametrize("encoder", [True, False])
def test_new_rows_of_a_wide_sparse_guide_speak_of_the_same_directions(encoder):
    table, matrix = sparse_setting()
    K = made(matrix, (lambda ids: table[np.asarray(ids)]) if encoder else table[:N])
    assert K.source.guide.widths == (128,)
    guide = None if encoder else table[N:]
    larger = K.extend(LATER, evaluations=0, guide=guide)
    assert off(larger.to_dense()[N:, :N], matrix[N:, :N]) < 0.15
    # Few new items have the same coordinates as many.
    few = K.extend(LATER[:5], evaluations=0, guide=None if encoder else table[N : N + 5])
    np.testing.assert_allclose(
        few.to_dense()[N:, :N], larger.to_dense()[N : N + 5, :N], rtol=1e-5, atol=1e-6
    )


def test_a_file_keeps_the_directions(tmp_path):
    table, matrix = sparse_setting()
    K = made(matrix, table[:N])
    K.save(tmp_path / "k.fewpairs")
    again = fp.load(tmp_path / "k.fewpairs", similarity=similarity_of(matrix))
    one, two = (x.extend(LATER, evaluations=0, guide=table[N:]).to_dense() for x in (K, again))
    np.testing.assert_array_equal(one, two)


def test_two_sets_have_sparse_guides_along_the_same_directions():
    table, matrix = sparse_setting()
    across = matrix[:N, N:]
    similarity = fp.similarity(lambda a, b: across[np.ix_(a, b)], kind="block", symmetric=False)

    def run(guide):
        return fp.approximate(
            range(N),
            similarity,
            others=range(NEW),
            budget=0.15,
            guide=guide,
            error_pairs=0,
            random_state=0,
        )

    sparse = off(run((table[:N], table[N:])).to_dense(), across)
    dense = off(run((table[:N].toarray(), table[N:].toarray())).to_dense(), across)
    assert sparse < 2 * dense < 0.2


def test_other_columns_are_refused():
    table, matrix = sparse_setting()
    K = made(matrix, table[:N])
    with pytest.raises(InputError, match="columns"):
        K.extend(LATER, evaluations=0, guide=table[N:, :200])


@pytest.mark.parametrize(
    "nothing", [sp.csr_array((N, 300)), np.zeros((N, 3)), np.empty((N, 0)), lambda _: [[0]] * N]
)
def test_a_guide_of_zeros_is_refused_before_anything_is_evaluated(nothing):
    def untouched(a, b):
        raise AssertionError

    similarity = fp.similarity(untouched, kind="pair", symmetric=True)
    for call in (
        lambda: fp.approximate(OLD, similarity, guide=nothing, budget=0.1),
        lambda: fp.approximate(OLD, similarity, guide=[nothing], budget=0.1),
        lambda: fp.cluster(OLD, similarity, guide=nothing, threshold=0.5, budget=0.2),
    ):
        with pytest.raises(InputError, match="guide 1 has nothing but zeros: 260 rows"):
            call()


def cheap_setting():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N + NEW, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    noise = 0.02 * rng.normal(size=(len(X), len(X)))
    cheap = fp.similarity(lambda a, b: X[a] @ X[b].T, kind="block", symmetric=True)
    return X, cheap, 1 / (1 + np.exp(-5 * X @ X.T)) + noise + noise.T


def test_a_cheap_similarity_compares_new_items_with_the_same_old_ones(tmp_path):
    X, cheap, matrix = cheap_setting()
    by_vectors = made(matrix, X[:N]).extend(LATER, evaluations=0, guide=X[N:])
    K = made(matrix, cheap)
    larger = K.extend(LATER, evaluations=0, guide=cheap)
    exact = matrix[N:, :N]
    wanted = off(by_vectors.to_dense()[N:, :N], exact)
    assert off(larger.to_dense()[N:, :N], exact) < 1.05 * wanted < 0.2
    # In two steps, of which the second has more items before it, the rows are nearly the same.
    half = NEW // 2
    steps = K.extend(LATER[:half], evaluations=0, guide=cheap)
    steps = steps.extend(LATER[half:], evaluations=0, guide=cheap)
    assert off(steps.to_dense(), larger.to_dense()) < 1e-3
    K.save(tmp_path / "k.fewpairs")
    again = fp.load(tmp_path / "k.fewpairs", similarity=similarity_of(matrix))
    again = again.extend(LATER, evaluations=0, guide=cheap)
    np.testing.assert_array_equal(again.to_dense(), larger.to_dense())


def test_a_similarity_and_vectors_do_not_stand_for_each_other():
    X, cheap, matrix = cheap_setting()
    with pytest.raises(InputError, match="was a similarity"):
        made(matrix, cheap).extend(LATER, evaluations=0, guide=X[N:])
    with pytest.raises(InputError, match="was vectors"):
        made(matrix, X[:N]).extend(LATER, evaluations=0, guide=cheap)


def test_a_cheap_similarity_of_two_sets_is_refused_for_new_items():
    _, cheap, matrix = cheap_setting()
    K = fp.approximate(
        OLD,
        similarity_of(matrix),
        others=LATER,
        budget=0.2,
        guide=cheap,
        error_pairs=0,
        random_state=0,
    )
    assert K.source.guide is not None
    with pytest.raises(InputError, match="not at hand"):
        K.extend(OLD[:3], evaluations=0, guide=cheap)
