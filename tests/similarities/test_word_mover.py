"""Word Mover's similarity: through the oracle, the factored matrix and files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import fewpairs as fp


def table(seed: int = 0) -> fp.WordVectors:
    rng = np.random.default_rng(seed)
    return fp.WordVectors([f"w{k}" for k in range(80)], rng.normal(size=(80, 6)))


def texts(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(f"w{k}" for k in rng.integers(0, 80, rng.integers(2, 9))) for _ in range(count)
    ]


def test_it_is_the_exponential_of_the_distance():
    items, mover = texts(60), fp.WordMover(table(), gamma=0.4)
    exact = np.exp(-0.4 * fp.wmd(items, None, table()))
    oracle = fp.Oracle(items, mover)
    np.testing.assert_allclose(oracle.columns([3, 9]), exact[:, [3, 9]], atol=1e-14)
    i, j = np.random.default_rng(0).integers(0, 60, (2, 40))
    np.testing.assert_allclose(oracle.entries(i, j), exact[i, j], atol=1e-13)
    prepared = mover.prepare(fp.Oracle(items, mover).items).values
    pairs = [(prepared[int(a)], prepared[int(b)]) for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(mover.pairs(pairs), exact[i, j], atol=1e-13)


def test_a_run_with_new_items_and_a_file(tmp_path):
    items, mover = texts(150), fp.WordMover(table(), gamma=0.3)
    found = fp.approximate(items, mover, budget=0.4, n_jobs=2, random_state=0)
    exact = np.exp(-0.3 * fp.wmd(items, None, table()))
    true = np.linalg.norm(found.to_dense() - exact) / np.linalg.norm(exact)
    assert true < 0.2
    assert found.error.low <= true <= found.error.high
    assert np.diag(found.to_dense()).tolist() == [1.0] * 150  # declared, not bought
    best = found.nearest(item=items[7], k=1, rerank=20)
    assert best.indices[0] == 7
    found.save(tmp_path / "k.fewpairs")
    again = fp.load(tmp_path / "k.fewpairs", similarity=fp.WordMover(table(), gamma=0.3))
    assert again.extend(["w1 w2 w3"]).shape == (151, 151)
    with pytest.raises(fp.errors.InputError, match="word mover"):
        fp.load(tmp_path / "k.fewpairs", similarity=fp.WordMover(table(1), gamma=0.3))


def test_token_lists_and_documents_are_items_too():
    mover = fp.WordMover(table())
    tokens = [t.split() for t in texts(20)]
    one = fp.approximate(texts(20), mover, landmarks=6, random_state=0)
    two = fp.approximate(tokens, mover, landmarks=6, random_state=0)
    np.testing.assert_array_equal(one.to_dense(), two.to_dense())
    three = fp.approximate(
        fp.Documents.of(tokens, table()), fp.WordMover(table()), landmarks=6, random_state=0
    )
    np.testing.assert_array_equal(one.to_dense(), three.to_dense())


def test_bad_input_is_refused_before_the_first_evaluation():
    with pytest.raises(fp.errors.InputError, match="gamma"):
        fp.WordMover(table(), gamma=0.0)
    with pytest.raises(fp.errors.InputError, match="drop"):
        fp.WordMover(table(), empty="drop")
    # What is advised is not what is refused.
    with pytest.raises(fp.errors.InputError, match='Pass empty="far"') as refused:
        fp.score_pairs(fp.WordMover(table()), ["unknown"], ["unheard"])
    assert 'empty="drop"' not in str(refused.value)
    with pytest.raises(fp.errors.InputError, match="lies between 0 and 1"):
        fp.find_pairs(["unknown"] * 2, fp.WordMover(table(), empty="far"), above=2)
    with pytest.raises(fp.errors.InputError, match="positions 1"):
        fp.approximate(["w1", "unknown"], fp.WordMover(table()), landmarks=1)
    far = fp.approximate(
        ["w1", "unknown", "w2"], fp.WordMover(table(), empty="far"), landmarks=3, error_pairs=0
    )
    assert np.isfinite(far.to_dense()).all()


def test_stop_words_from_an_iterator_are_those_of_a_list():
    stopped = ["w3", "w1", "w2"]
    listed, drawn = (fp.WordMover(table(), stop_words=words) for words in (stopped, iter(stopped)))
    assert drawn.parameters == listed.parameters
    assert drawn.parameters["stop_words"] == ["w1", "w2", "w3"]
    one, two = (fp.Oracle(["w1 w5", "w2 w6"], mover).columns([0]) for mover in (listed, drawn))
    np.testing.assert_array_equal(two, one)
    exact = fp.wmd(["w5", "w6"], ["w5"], table())
    np.testing.assert_allclose(one, np.exp(-exact), atol=1e-14)


@pytest.mark.parametrize("power", [-1000, -530, 500, 1000])
def test_vectors_of_any_size_are_compared_without_a_warning(power):
    plain = table()
    large = fp.WordVectors(plain.words, np.ldexp(np.asarray(plain.array, dtype=float), power))
    mover = fp.WordMover(large, gamma=2.0**-power)
    assert mover.parameters["vectors"] != fp.WordMover(plain).parameters["vectors"]
    one = fp.approximate(texts(20), mover, landmarks=6, random_state=0)
    two = fp.approximate(texts(20), fp.WordMover(plain, gamma=1.0), landmarks=6, random_state=0)
    np.testing.assert_allclose(one.to_dense(), two.to_dense(), rtol=1e-9, atol=1e-12)
    far = fp.WordMover(large, gamma=1e300).aligned(
        fp.Documents.of(["w1"], large), fp.Documents.of(["w2"], large)
    )
    assert 0.0 <= far[0] <= 1.0


def test_sif_of_a_corpus_weighs_new_and_old_items_alike():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(12)]
    table = fp.WordVectors(words, rng.normal(size=(12, 4)))
    texts = [" ".join(rng.choice(words, 5, p=np.arange(12, 0, -1) / 78)) for _ in range(40)]
    similarity = fp.WordMover(table, gamma=0.5, weights="sif", corpus=texts)
    exact = np.exp(-0.5 * fp.wmd(texts, None, table, weights="sif"))
    K = fp.approximate(texts[:30], similarity, landmarks=8, random_state=0)
    larger = K.extend(texts[30:])
    np.testing.assert_allclose(
        larger[35, larger.source.left_landmarks], exact[35, larger.source.left_landmarks], rtol=1e-9
    )
    near = K.nearest(3, k=4)
    np.testing.assert_allclose(near.similarities, exact[3, near.indices], rtol=1e-9)
    assert similarity.fingerprint != fp.WordMover(table, gamma=0.5, weights="sif").fingerprint
    assert clone(similarity).fingerprint == similarity.fingerprint
