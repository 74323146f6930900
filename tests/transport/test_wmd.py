"""Word Mover's Distance in bulk: exact for every kind of document, and fast paths that agree."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.transport.ground import Ground


def vocabulary(size: int = 60, dimensions: int = 5, seed: int = 0) -> fp.WordVectors:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(size, dimensions))
    vectors[1] = vectors[0]  # two words in one place
    vectors[2] = vectors[0] + 1e-9
    return fp.WordVectors([f"w{k}" for k in range(size)], vectors)


def corpus(count: int, rng, *, longest: int = 20, words: int = 60) -> list[list[str]]:
    return [
        [f"w{k}" for k in rng.integers(0, words, rng.integers(1, longest + 1))]
        for _ in range(count)
    ]


def reference(a: fp.Documents, b: fp.Documents, metric: str = "euclidean") -> float:
    """The unreduced problem, by POT."""
    vectors = a.vectors.array
    cost = cdist(vectors[a.words], vectors[b.words], metric)
    return float(ot.emd2(a.weights, b.weights * (a.weights.sum() / b.weights.sum()), cost))


def test_blocks_agree_with_pot_on_ten_thousand_pairs():
    rng = np.random.default_rng(0)
    table = vocabulary()
    documents = fp.Documents.of(corpus(150, rng), table)
    distances = fp.wmd(documents)
    assert np.array_equal(distances, distances.T)
    for i in range(150):
        for j in range(i):
            exact = reference(documents[i], documents[j])
            assert distances[i, j] == pytest.approx(exact, rel=1e-12, abs=2e-8), (i, j)


def test_identical_permuted_and_coincident_documents_are_at_zero():
    table = vocabulary()
    texts = ["w5 w6 w6 w9", "w9 w6 w5 w6", "w0 w7", "w1 w7"]
    distances = fp.wmd(texts, None, table)
    assert distances[0, 1] == 0.0
    assert distances[2, 3] == 0.0  # other words in the same place
    assert fp.wmd(["w0"], ["w2"], table)[0, 0] == pytest.approx(np.sqrt(5) * 1e-9, rel=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("weights", ["nbow", "tfidf", "sif"])
def test_all_ways_agree(metric, normalize, weights):
    rng = np.random.default_rng(1)
    table = vocabulary()
    documents = fp.Documents.of(corpus(40, rng), table, weights=weights)
    ground = Ground.of(table, metric, normalize=normalize)
    whole = ground.triangle(documents)
    np.testing.assert_allclose(ground.block(documents, documents), whole, atol=1e-14)
    np.testing.assert_allclose(ground.block(documents[:7], documents), whole[:7], atol=1e-14)
    i, j = rng.integers(0, 40, (2, 100))
    np.testing.assert_allclose(ground.aligned(documents[i], documents[j]), whole[i, j], atol=1e-13)
    unit = fp.WordVectors(table.words, ground.vectors)
    for a, b in zip(i[:20], j[:20], strict=True):
        one, other = (
            fp.Documents(d.words, d.weights, d.starts, unit) for d in (documents[a], documents[b])
        )
        exact = reference(one, other, metric)
        assert whole[a, b] == pytest.approx(exact, rel=1e-11, abs=2e-8)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_jobs", [2, 3, 7])
def test_the_number_of_threads_changes_no_bit(metric, n_jobs):
    rng = np.random.default_rng(6)
    table = vocabulary()
    documents = corpus(40, rng)
    for others in (None, documents[:23]):
        one, many = (
            fp.wmd(documents, others, table, metric=metric, n_jobs=jobs) for jobs in (1, n_jobs)
        )
        np.testing.assert_array_equal(many, one)
        found, again = (
            fp.wmd_neighbors(documents, others, table, k=3, metric=metric, n_jobs=jobs)
            for jobs in (1, n_jobs)
        )
        np.testing.assert_array_equal(again.distances, found.distances)
        np.testing.assert_array_equal(again.indices, found.indices)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), longest=st.integers(1, 12))
def test_it_is_a_metric(seed, longest):
    rng = np.random.default_rng(seed)
    distances = fp.wmd(corpus(6, rng, longest=longest), None, vocabulary(seed=seed % 7))
    assert (distances >= 0).all()
    assert np.diag(distances).max() == 0
    through = distances[:, :, None] + distances[None, :, :]
    assert (distances[:, None, :] <= through + 1e-12).all()


def test_long_documents():
    rng = np.random.default_rng(2)
    table = fp.WordVectors([f"w{k}" for k in range(3000)], rng.normal(size=(3000, 8)))
    texts = [[f"w{k}" for k in rng.permutation(3000)[:size]] for size in (300, 301, 1, 63, 64, 65)]
    documents = fp.Documents.of(texts, table)
    distances = fp.wmd(documents)
    for i in range(6):
        for j in range(i):
            exact = reference(documents[i], documents[j])
            assert distances[i, j] == pytest.approx(exact, rel=1e-12)


def test_bounds_are_below_and_in_order():
    rng = np.random.default_rng(3)
    table = vocabulary(seed=3)
    documents = corpus(40, rng)
    exact = fp.wmd(documents, documents[:9], table)
    centroid, one, both = (
        fp.wmd_bounds(documents, documents[:9], table, kind=kind)
        for kind in ("centroid", "relaxed", "relaxed-both")
    )
    for bound in (centroid, one, both):
        assert (bound <= exact + 1e-12).all()
    assert (one <= both + 1e-15).all()
    opposite = fp.wmd_bounds(documents[:9], documents, table, kind="relaxed").T
    np.testing.assert_allclose(both, np.maximum(one, opposite), atol=1e-13)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_are_exact_and_solve_few_pairs(metric):
    rng = np.random.default_rng(4)
    table = vocabulary(200, seed=4)
    documents = corpus(150, rng, words=200)
    found = fp.wmd_neighbors(documents, vectors=table, k=5, metric=metric, n_jobs=2)
    whole = fp.wmd(documents, None, table, metric=metric)
    np.fill_diagonal(whole, np.inf)
    np.testing.assert_allclose(found.distances, np.sort(whole, axis=1)[:, :5], atol=1e-13)
    np.testing.assert_allclose(
        found.distances, np.take_along_axis(whole, found.indices, axis=1), atol=1e-13
    )
    assert found.solved < 0.7 * 150 * 149
    others = fp.wmd_neighbors(documents, documents[:3], table, k=500, metric=metric)
    assert others.indices.shape == (3, 150)
    np.testing.assert_allclose(others.distances[:, 0], 0, atol=1e-15)


def test_empty_documents_are_as_far_as_words_can_be():
    table = vocabulary()
    far = 2 * np.linalg.norm(table.array, axis=1).max()
    texts = ["w5 w6", "unknown words", "", "w7"]
    distances = fp.wmd(texts, None, table, empty="far")
    assert np.isfinite(distances).all()
    assert distances[1, 2] == 0.0
    assert distances[0, 1] == distances[2, 3] == pytest.approx(far)
    assert fp.wmd(texts, None, table, empty="drop").shape == (2, 2)
    found = fp.wmd_neighbors(texts, vectors=table, k=1, empty="far")
    assert found.indices[1, 0] == 2
    bounds = fp.wmd_bounds(texts, texts, table, kind="centroid", empty="far")
    assert bounds[0, 1] == pytest.approx(far)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"documents": []}, "no documents"),
        ({"documents": "one text"}, "letter by letter"),
        ({"documents": ["nothing known"]}, "no known word"),
        ({"documents": [["w1", 7]]}, "token 7"),
        ({"documents": [3]}, "document 0 is a int"),
        ({"documents": ["w1"], "metric": "manhattan"}, "manhattan"),
        ({"documents": ["w1"], "weights": "bm25"}, "bm25"),
        ({"documents": ["w1"], "empty": "ignore"}, "ignore"),
        ({"documents": ["w1"], "stop_words": "klingon"}, "klingon"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(fp.errors.FewpairsError, match=words):
        fp.wmd(**{"others": None, "vectors": vocabulary(), **arguments})


@pytest.mark.parametrize("function", [fp.wmd, fp.wmd_neighbors, fp.wmd_bounds])
def test_texts_without_vectors_are_refused_with_what_to_pass(function):
    with pytest.raises(fp.errors.InputError, match=r"vectors were not given.*\n.*\nPass vectors="):
        function(["w1 w2"], ["w3"])
    prepared = fp.Documents.of(["w1 w2"], vocabulary())
    assert function(prepared, prepared) is not None


def test_stop_words_from_an_iterator_hold_for_both_sides():
    documents, others = ["w1 w2", "w3 w4"], ["w1 w5", "w3 w6"]
    table, stopped = vocabulary(), ["w1", "w3"]
    np.testing.assert_array_equal(
        fp.wmd(documents, others, table, stop_words=iter(stopped)),
        fp.wmd(documents, others, table, stop_words=stopped),
    )
    assert fp.wmd(documents, ["w2"], table, stop_words=iter(stopped))[0, 0] == 0


def test_a_document_of_ten_thousand_words():
    rng = np.random.default_rng(4)
    table = fp.WordVectors([f"w{k}" for k in range(10_003)], rng.normal(size=(10_003, 4)))
    long, short = [f"w{k}" for k in range(10_000)], ["w10001", "w10002", "w10001"]
    found = fp.wmd([long], [short], table)[0, 0]
    # Two columns: who goes where is decided by the difference of the two costs.
    cost = np.linalg.norm(table.array[:10_000, None] - table.array[10_001:], axis=2)
    order = np.argsort(cost[:, 0] - cost[:, 1])
    mass = np.full(10_000, 1e-4)
    first = np.clip(2 / 3 - np.concatenate([[0], np.cumsum(mass)[:-1]]), 0, mass)
    exact = (first * cost[order, 0] + (mass - first) * cost[order, 1]).sum()
    assert found == pytest.approx(exact, rel=1e-10)


def test_a_result_that_does_not_fit_is_refused():
    texts = ["w1"] * 20_000
    with pytest.raises(fp.errors.MemoryCeilingError, match="20,000"):
        fp.wmd(texts, None, vocabulary())
    with pytest.raises(fp.errors.MemoryCeilingError, match="ceiling=<bytes>"):
        fp.wmd(texts[:2], None, vocabulary(), ceiling=31)
    assert fp.wmd(texts[:2], None, vocabulary(), ceiling=32).shape == (2, 2)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-530, 2.0**-450, 2.0**500, 2.0**1000])
def test_vectors_of_any_size_give_the_same_digits(scale):
    rng = np.random.default_rng(8)
    plain = vocabulary()
    large = fp.WordVectors(plain.words, plain.array * scale)
    documents = [*corpus(12, rng), []]
    options = {"empty": "far"}
    for others in (None, documents[:5]):
        np.testing.assert_allclose(
            fp.wmd(documents, others, large, **options) / scale,
            fp.wmd(documents, others, plain, **options),
            rtol=1e-13,
            atol=1e-15,
        )
    for kind in ("centroid", "relaxed", "relaxed-both"):
        np.testing.assert_allclose(
            fp.wmd_bounds(documents, documents[:5], large, kind=kind, **options) / scale,
            fp.wmd_bounds(documents, documents[:5], plain, kind=kind, **options),
            rtol=1e-13,
            atol=1e-15,
        )
    found, same = (
        fp.wmd_neighbors(documents, vectors=table, k=3, **options) for table in (large, plain)
    )
    np.testing.assert_allclose(found.distances / scale, same.distances, rtol=1e-13, atol=1e-15)
    for choice in ({"metric": "cosine"}, {"normalize": True}):
        np.testing.assert_array_equal(
            fp.wmd(documents, None, large, **choice, **options),
            fp.wmd(documents, None, plain, **choice, **options),
        )


def test_a_distance_that_is_no_number_is_refused_by_the_word():
    table = fp.WordVectors(["ape", "bee"], [[1.0], [1.5e308]])
    with pytest.raises(fp.errors.InputError, match="'bee' is too long"):
        fp.wmd(["ape", "bee"], None, table)
    assert fp.wmd(["ape", "bee"], None, table, normalize=True)[0, 1] == 0.0


@pytest.mark.parametrize("far", [1e12, 1e160, 1e300])
def test_a_word_that_is_far_from_all_others_spoils_none(far):
    near = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    table = fp.WordVectors(["ape", "bee", "cow", "far"], np.vstack([near, [[far, 0.0]]]))
    texts = ["ape", "bee"]
    distances = fp.wmd([*texts, "ape bee", "cow far"], None, table)
    assert distances[0, 1] == pytest.approx(5.0, rel=1e-12)
    assert distances[0, 2] == pytest.approx(2.5, rel=1e-12)
    assert distances[0, 3] == pytest.approx(far / 2, rel=1e-11)
    similar = fp.WordMover(table, gamma=0.1).aligned(*(fp.Documents.of([t], table) for t in texts))
    assert similar[0] == pytest.approx(np.exp(-0.5), rel=1e-12)


@pytest.mark.parametrize("size", [1e-8, 1e-10, 1e-13, 1e-30, 1e-200])
def test_differences_far_below_the_mean_distance_are_solved(size):
    """Most words lie together, a few far away; all of them move a little."""
    rng = np.random.default_rng(9)
    places = rng.normal(size=(18, 2)) * size
    places[[8, 17], 0] = 1.0
    table = fp.WordVectors([f"w{k}" for k in range(18)], places)
    texts = [[f"w{k}" for k in range(9)], [f"w{k}" for k in range(9, 18)]]
    near = np.hypot(*np.moveaxis((places[:8, None] - places[9:17]) / size, 2, 0))
    rows, columns = linear_sum_assignment(near)
    last = abs(places[8, 1] / size - places[17, 1] / size)
    best = (near[rows, columns].sum() + last) / 9
    assert fp.wmd(texts, None, table)[0, 1] / size == pytest.approx(best, rel=1e-9)
    assert fp.wmd_neighbors(texts, vectors=table, k=1).distances[0, 0] / size == pytest.approx(
        best, rel=1e-9
    )


def test_zero_vectors_have_one_cosine_distance_everywhere():
    table = fp.WordVectors(["none", "nil", "x", "y"], [[0.0, 0], [0, 0], [2, 0], [0, 3]])
    texts = ["none x", "nil x", "none", "nil", "x", "y"]
    whole = fp.wmd(texts, None, table, metric="cosine")
    exact = [
        [0, 0, 0.5, 0.5, 0.5, 1],
        [0, 0, 0.5, 0.5, 0.5, 1],
        [0.5, 0.5, 0, 0, 1, 1],
        [0.5, 0.5, 0, 0, 1, 1],
        [0.5, 0.5, 1, 1, 0, 1],
        [1, 1, 1, 1, 1, 0],
    ]
    np.testing.assert_allclose(whole, exact, atol=1e-15)
    np.testing.assert_allclose(fp.wmd(texts, texts, table, metric="cosine"), exact, atol=1e-15)
    documents = fp.Documents.of(texts, table)
    i, j = np.indices((6, 6)).reshape(2, -1)
    aligned = Ground.of(table, "cosine", normalize=False).aligned(documents[i], documents[j])
    np.testing.assert_allclose(aligned.reshape(6, 6), exact, atol=1e-15)
    found = fp.wmd_neighbors(texts, texts, table, k=6, metric="cosine")
    np.testing.assert_allclose(found.distances, np.sort(exact, axis=1), atol=1e-15)


def test_cosines_of_single_precision_vectors_are_at_zero_from_themselves():
    plain = vocabulary()
    table = fp.WordVectors(plain.words, plain.array.astype(np.float32))
    texts = ["w3", "w4 w5"]
    whole = fp.wmd(texts, texts, table, metric="cosine")
    np.testing.assert_allclose(np.diag(whole), 0, atol=1e-15)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([0, 99], [0.5, 0.5], [0, 2]), "between 0 and 59"),
        (([-1, 1], [0.5, 0.5], [0, 2]), "between 0 and 59"),
        (([0, 1], [0.5, np.nan], [0, 2]), "not finite"),
        (([0, 1], [-0.5, 1.5], [0, 2]), "negative"),
        (([0, 1], [3.0, 4.0], [0, 2]), "document 0 sum to 7"),
        (([0, 1], [0.5, 0.5], [0, 7]), "starts do not rise"),
        (([0, 1], [1.0], [0, 2]), "shapes"),
        (([0.0, 1.0], [0.5, 0.5], [0, 2]), "float64"),
    ],
)
def test_documents_that_would_lead_compiled_code_astray_are_refused(parts, words):
    bad = fp.Documents(*(np.array(part) for part in parts), vocabulary())
    good = fp.Documents.of(["w1 w2"], vocabulary())
    for function in (fp.wmd, fp.wmd_bounds, fp.wmd_neighbors):
        with pytest.raises(fp.errors.InputError, match=words):
            function(good, bad)
    with pytest.raises(fp.errors.InputError, match=words):
        fp.approximate(bad, fp.WordMover(vocabulary()), landmarks=1)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_pairs_are_the_diagonal_of_the_whole(metric, n_jobs, monkeypatch):
    monkeypatch.setattr("fewpairs.transport.pairs._AT_ONCE", 7)
    rng = np.random.default_rng(2)
    table, left, right = vocabulary(), corpus(40, rng), corpus(40, rng)
    found = fp.wmd_pairs(left, right, table, metric=metric, weights="sif", n_jobs=n_jobs)
    whole = fp.wmd(left, right, table, metric=metric, weights="sif")
    np.testing.assert_allclose(found, np.diag(whole), atol=1e-13)


def test_pairs_that_do_not_fit_are_refused():
    table = vocabulary()
    with pytest.raises(InputError, match="1 documents on the left and 2 on the right"):
        fp.wmd_pairs(["w1"], ["w1", "w2"], table)
    with pytest.raises(InputError, match="lose its partner"):
        fp.wmd_pairs(["w1"], ["nothing"], table, empty="drop")
    assert fp.wmd_pairs(["w1"], ["nothing"], table, empty="far").shape == (1,)
