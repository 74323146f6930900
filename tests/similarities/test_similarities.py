"""Ready similarities against independent references."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from examples import asymmetric_matrix, symmetric_matrix
from rapidfuzz.distance import Levenshtein
from sklearn.metrics.pairwise import pairwise_kernels

import fewpairs as fp
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.items import as_items
from fewpairs.similarities.metrics import CITY_BLOCK, METRICS, Metric
from fewpairs.similarities.strings import SCORERS, Scorer

X = np.random.default_rng(0).normal(size=(12, 4))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("metric", "name", "facts"),
    [
        ("cosine", "cosine", {}),
        ("dot", "linear", {}),
        ("rbf", "rbf", {"gamma": 0.3}),
        ("rbf", "rbf", {}),
        ("laplacian", "laplacian", {"gamma": 0.3}),
        ("sigmoid", "sigmoid", {"gamma": 0.3, "coef0": 0.5}),
        ("polynomial", "polynomial", {"gamma": 0.3, "degree": 2}),
    ],
)
def test_vector_similarities_are_scikit_learns(metric, name, facts, sparse):
    items = sp.csr_array(X) if sparse else X
    oracle = fp.Oracle(items, fp.VectorSimilarity(metric, **facts))
    expected = pairwise_kernels(X, metric=name, **facts)
    everyone = range(12)
    assert np.allclose(oracle.columns([3, 5]), expected[:, [3, 5]])
    assert np.allclose(oracle.entries(everyone, [0] * 12), expected[:, 0])
    assert np.allclose(oracle.block(everyone, everyone), expected)
    assert np.allclose(oracle.diagonal(), np.diag(expected))


def test_any_function_of_a_dot_product():
    oracle = fp.Oracle(X, fp.VectorSimilarity(np.tanh))
    assert np.allclose(oracle.columns([1]), np.tanh(X @ X[[1]].T))
    assert fp.VectorSimilarity(np.tanh).fingerprint == 'tanh{"of": "dot"}'


def test_cosine_of_a_zero_vector_is_zero():
    oracle = fp.Oracle(np.array([[0.0, 0.0], [1.0, 2.0]]), fp.VectorSimilarity())
    assert np.array_equal(oracle.block([0, 1], [0, 1]), [[0, 0], [0, 1]])


@pytest.mark.parametrize(
    "vectors",
    [
        np.array([[1.0, np.nan]]),
        [[1.0], [1.0, 2.0]],
        ["a", "b"],
        np.ones((2, 2, 2)),
        np.ones((3, 0)),
    ],
)
def test_what_is_no_vector_is_refused(vectors):
    with pytest.raises(InputError):
        fp.Oracle(vectors, fp.VectorSimilarity())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, ">f8", bool])
def test_every_layout_gives_the_same_and_is_not_modified(dtype):
    plain = np.round(X * 3).astype(dtype)
    layouts = [plain, np.asfortranarray(plain), plain[::-1][::-1], plain.tolist()]
    expected = fp.Oracle(plain.astype(float), fp.VectorSimilarity("rbf")).columns([2])
    for items in layouts:
        before = np.array(items)
        assert np.allclose(fp.Oracle(items, fp.VectorSimilarity("rbf")).columns([2]), expected)
        assert np.array_equal(before, np.array(items))


@pytest.mark.parametrize("scorer", SCORERS)
def test_string_scorers_declare_the_truth(scorer):
    rng = np.random.default_rng(0)
    words = ["", " ", "a"] + [
        "".join(rng.choice(list("ab c"), rng.integers(1, 9))) for _ in range(60)
    ]
    sim = fp.StringSimilarity(scorer)
    block = sim.block(words, words)
    assert block.min() >= 0
    assert block.max() <= 1
    if sim.symmetric:
        assert np.array_equal(block, block.T)
    assert np.array_equal(np.diag(block), sim.known_diagonal(as_items(words)))
    pairs = list(zip(words, words[::-1], strict=True))
    assert np.array_equal(
        sim.pairs(pairs), block[np.arange(len(words)), np.arange(len(words))[::-1]]
    )


def test_levenshtein_is_levenshtein():
    assert fp.StringSimilarity().pairs([("kitten", "sitting")])[0] == pytest.approx(1 - 3 / 7)
    assert Levenshtein.distance("kitten", "sitting") == 3


def test_names_are_checked_with_a_hint():
    with pytest.raises(UnknownNameError, match='Did you mean "levenshtein"'):
        fp.StringSimilarity("levenstein")
    with pytest.raises(UnknownNameError, match='Did you mean "cosine"'):
        fp.VectorSimilarity("cosin")
    with pytest.raises(InputError, match="not a string"):
        fp.Oracle(["a", 3], fp.StringSimilarity())


def test_precomputed_finds_its_symmetry():
    k = symmetric_matrix(600)
    assert fp.Precomputed(k).symmetric
    assert fp.Precomputed(k * (1 + 1e-12 * asymmetric_matrix(600))).symmetric
    k[599, 3] *= 1 + 1e-8
    assert not fp.Precomputed(k).symmetric
    assert not fp.Precomputed(k, symmetric=False).symmetric


def test_precomputed_reads_a_memmap(tmp_path):
    k = symmetric_matrix(50).astype(np.float32)
    np.save(tmp_path / "k.npy", k)
    stored = np.load(tmp_path / "k.npy", mmap_mode="r")
    found = fp.approximate(range(50), fp.Precomputed(stored), landmarks=50, error_pairs=0)
    assert np.array_equal(found.to_dense(), k.astype(float))


@pytest.mark.parametrize(
    "matrix", [np.ones(3), np.ones((2, 3)), np.array([["a"]]), np.ones((1, 1), complex)]
)
def test_precomputed_refuses_what_is_no_matrix(matrix):
    with pytest.raises(InputError):
        fp.Precomputed(matrix)


def test_precomputed_refuses_items_that_are_no_positions():
    for items in (["a", "b"], [0, 7], [0.0, 1.0]):
        with pytest.raises(InputError, match=r"range\(3\)"):
            fp.Oracle(items, fp.Precomputed(np.eye(3)))


@pytest.mark.parametrize("gamma", [-1, 0, np.nan, np.inf, True, "1", [1.0]])
def test_a_gamma_that_is_no_positive_number_is_refused(gamma):
    with pytest.raises(InputError, match="gamma"):
        fp.VectorSimilarity("rbf", gamma=gamma)


def test_equal_gammas_are_one_similarity_in_files():
    prints = {fp.VectorSimilarity("rbf", gamma=g).fingerprint for g in (1, 1.0, np.float32(1))}
    assert prints == {'rbf{"gamma": 1.0}'}


def test_a_metric_is_added_by_one_row(monkeypatch):
    far = Metric(CITY_BLOCK, lambda d, c: 1 / (1 + c.gamma * d), ("gamma",))
    monkeypatch.setitem(METRICS, "rational", far)
    oracle = fp.Oracle(X, fp.VectorSimilarity("rational", gamma=0.5))
    expected = 1 / (1 + 0.5 * np.abs(X[:, None] - X).sum(axis=2))
    assert np.allclose(oracle.columns([4]), expected[:, [4]])
    assert np.allclose(oracle.entries([0, 1], [2, 3]), expected[[0, 1], [2, 3]])
    assert oracle.diagonal().tolist() == [1.0] * 12
    assert oracle.similarity.fingerprint == 'rational{"gamma": 0.5}'


def test_a_scorer_is_added_by_one_row(monkeypatch):
    monkeypatch.setitem(SCORERS, "postfix", Scorer("distance.Postfix.normalized_similarity"))
    assert fp.StringSimilarity("postfix").pairs([("ending", "bending")])[0] == pytest.approx(6 / 7)


@pytest.mark.parametrize(
    "ready",
    [
        *(fp.VectorSimilarity(metric) for metric in METRICS),
        fp.VectorSimilarity(np.tanh),
        *(fp.StringSimilarity(scorer) for scorer in SCORERS),
        fp.Precomputed(np.eye(2)),
    ],
    ids=lambda ready: ready.name,
)
def test_ready_similarities_can_be_sent_to_another_process(ready):
    items = X if ready.takes_vectors else range(2) if ready.name == "precomputed" else ["a", "ab"]
    again = pickle.loads(pickle.dumps(ready))  # noqa: S301
    assert again.fingerprint == ready.fingerprint
    expected = fp.Oracle(items, ready).entries([0, 0], [1, 0])
    assert np.array_equal(fp.Oracle(items, again).entries([0, 0], [1, 0]), expected)


def peak_of(function) -> int:
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("metric", ["cosine", "rbf", "sigmoid"])
def test_scattered_pairs_of_sparse_vectors_are_never_made_dense(metric):
    # Dense, 1,000 pairs of 20,000 numbers each would take 320 MB.
    wide = sp.random_array((1000, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    oracle = fp.Oracle(wide, fp.VectorSimilarity(metric))
    assert peak_of(lambda: oracle.entries(range(1000), range(999, -1, -1))) < 20e6


def test_precomputed_blocks_do_not_copy_whole_rows():
    # The block takes 80 kB, its whole rows 16 MB.
    stored = fp.Precomputed(np.eye(2000), symmetric=False)
    assert peak_of(lambda: stored.block(np.arange(1000), np.arange(10))) < 1e6


# ------------------------------------------------------------------ vectors of any size and place


def exact_rbf(left, right, gamma):
    left, right = left.astype(np.longdouble), right.astype(np.longdouble)
    return np.exp(-gamma * ((left[:, None] - right) ** 2).sum(-1)).astype(float)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("sparse", [False, True])
def test_rbf_does_not_depend_on_where_the_origin_is(offset, sparse):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(60, 5)) + offset, rng.normal(size=(40, 5)) + offset
    right[:5] = left[:5]
    right[5:10] = left[5:10] + 1e-3
    rbf = fp.VectorSimilarity("rbf", gamma=0.3)
    form = sp.csr_array if sparse else np.asarray
    expected = exact_rbf(left, right, 0.3)
    np.testing.assert_allclose(rbf.block(form(left), form(right)), expected, rtol=0, atol=1e-9)
    same = rbf.aligned(form(left[:40]), form(right))
    np.testing.assert_allclose(same, np.diag(expected[:40]), rtol=0, atol=1e-12)


def test_rbf_of_clusters_that_lie_far_apart():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 1e8])
    found = fp.VectorSimilarity("rbf", gamma=0.3).block(x, x)
    np.testing.assert_allclose(found, exact_rbf(x, x, 0.3), rtol=0, atol=1e-9)


@pytest.mark.parametrize("c", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("sparse", [False, True])
def test_cosine_does_not_depend_on_the_length_of_vectors(c, sparse):
    x = np.random.default_rng(0).normal(size=(40, 4))
    x[7] = 0
    form = sp.csr_array if sparse else np.asarray
    plain = fp.Oracle(form(x), fp.VectorSimilarity("cosine")).columns(range(40))
    scaled = fp.Oracle(form(c * x), fp.VectorSimilarity("cosine")).columns(range(40))
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-14)
    mixed = x * 10.0 ** np.linspace(-300, 300, 40)[:, None]
    found = fp.Oracle(form(mixed), fp.VectorSimilarity("cosine")).columns(range(40))
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-14)


@pytest.mark.parametrize("metric", ["rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("sparse", [False, True])
def test_metrics_of_huge_vectors_take_their_limits(metric, sparse):
    x = 1e300 * np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 4.0]])
    form = sp.csr_array if sparse else np.asarray
    found = fp.Oracle(form(x), fp.VectorSimilarity(metric)).columns(range(3))
    limit = np.eye(3) if metric != "sigmoid" else np.sign(x / 1e300 @ (x / 1e300).T)
    np.testing.assert_array_equal(found, limit)


def test_products_that_overflow_keep_their_sign():
    left = np.array([[1e200, 1e200]])
    right = np.array([[1e150, -5e149], [5e199, -1e200], [2.0, 1.0]])
    dot = fp.VectorSimilarity("dot")
    np.testing.assert_array_equal(dot.block(left, right), [[np.inf, -np.inf, 3e200]])
    aligned = dot.aligned(np.repeat(left, 3, axis=0), right)
    np.testing.assert_array_equal(aligned, [np.inf, -np.inf, 3e200])


def test_a_dot_product_that_is_too_large_is_refused_with_its_pair():
    with pytest.raises(fp.errors.NonFiniteError, match="returned inf"):
        fp.Oracle(1e200 * np.eye(3), fp.VectorSimilarity("dot")).columns([0])


def test_precomputed_numbers_of_any_size_are_compared_without_warnings():
    huge = np.array([[1.0, 1e308], [-1e308, 1.0]])
    assert not fp.Precomputed(huge).symmetric
    assert fp.Precomputed(1e-300 * np.eye(3)).symmetric


@pytest.mark.parametrize(
    ("metric", "ends"),
    [
        ("cosine", (-1.0, 1.0)),
        ("rbf", (0.0, 1.0)),
        ("laplacian", (0.0, 1.0)),
        ("sigmoid", (-1.0, 1.0)),
        ("dot", None),
        ("polynomial", None),
        (np.cos, None),
    ],
)
def test_thresholds_that_no_vectors_reach_are_refused(metric, ends):
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1e-3, -2.0]])
    similarity = fp.VectorSimilarity(metric)
    assert similarity.value_range == ends
    if ends is None:
        assert len(fp.find_pairs(vectors, similarity, above=90)) == 0
        return
    low, high = ends
    for outside in (90, low - 0.1):
        with pytest.raises(fp.errors.InputError, match=f"lies between {low:g} and {high:g}"):
            fp.find_pairs(vectors, similarity, above=outside)
    values = fp.Oracle(vectors, similarity).block(range(3), range(3))
    assert low <= values.min() <= values.max() <= high + 1e-12
    assert len(fp.find_pairs(vectors, similarity, above=low)) == 3
    # A threshold may be a value that was computed, and a little too large by rounding.
    assert len(fp.find_pairs(vectors, similarity, above=high + 1e-15)) == 0


def test_who_computes_something_else_has_no_range_of_vectors():
    class Percent(fp.VectorSimilarity):
        def block(self, left, right):
            return 100 * super().block(left, right)

        def aligned(self, left, right):
            return 100 * super().aligned(left, right)

    found = fp.find_pairs([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], Percent("cosine"), above=90)
    assert found.left.tolist() == [0]
    assert fp.VectorSimilarity("cosine").value_range == (-1.0, 1.0)
