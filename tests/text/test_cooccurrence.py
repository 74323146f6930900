"""Counting neighbours, against dense formulas of a few lines."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewpairs as fp
from fewpairs.text import corpus as corpus_module
from fewpairs.text.cooccurrence import Cooccurrences
from fewpairs.text.corpus import EncodedCorpus
from fewpairs.text.word_order import coreness

TEXTS = ["the cat sat on the mat", "the dog sat", "", "a cat and the dog sat on a mat"]


def slow_counts(documents, words, weights):
    place = {word: k for k, word in enumerate(words)}
    counts = np.zeros((len(words), len(words)))
    for document in documents:
        kept = [place[w] for w in document if w in place]
        for p, i in enumerate(kept):
            for q, j in enumerate(kept):
                if p != q and abs(p - q) <= len(weights):
                    counts[i, j] += weights[abs(p - q) - 1]
    return counts


documents = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    documents,
    st.integers(2, 6),
    st.sampled_from(["windows", "flat", "harmonic"]),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_counts_are_those_of_a_slow_loop(documents, window, weighting, min_count, n_jobs):
    if not any(len(d) for d in documents):
        return
    tokens = [t for d in documents for t in d]
    if max(tokens.count(t) for t in set(tokens)) < min_count:
        return
    corpus = EncodedCorpus.of(documents, min_count=min_count)
    found = Cooccurrences.of(corpus, window=window, weighting=weighting, n_jobs=n_jobs)
    distances = np.arange(1, window)
    weights = {"windows": window - distances, "flat": 0 * distances + 1, "harmonic": 1 / distances}
    expected = slow_counts(documents, corpus.words, weights[weighting])
    np.testing.assert_allclose(found.counts.toarray(), expected, rtol=1e-6)
    np.testing.assert_allclose(found.totals, expected.sum(axis=1), rtol=1e-6)


def test_counts_are_numbers_of_windows():
    """The paper's count: in how many windows of w consecutive tokens do both words lie?"""
    text = list("abcabdacbd" * 3)
    corpus = EncodedCorpus.of([text], min_count=1)
    found = Cooccurrences.of(corpus, window=4).counts.toarray()
    # Windows that stick out count as well, so that the ends weigh as much as the middle.
    padded = [None] * 3 + text + [None] * 3
    i, j = corpus.words.index("a"), corpus.words.index("b")
    expected = sum(
        padded[s : s + 4].count("a") * padded[s : s + 4].count("b") for s in range(len(padded) - 3)
    )
    assert found[i, j] == expected


@pytest.mark.parametrize("options", [{}, {"positive": True}, {"smoothing": 0.75, "shift": 0.5}])
def test_pmi_is_the_dense_formula(options):
    corpus = EncodedCorpus.of(TEXTS, min_count=1)
    found = Cooccurrences.of(corpus, window=4)
    c = found.counts.toarray().astype(np.float64)
    total = c.sum()
    alpha = options.get("smoothing", 1.0)
    share = c.sum(axis=1) / total
    context = share**alpha / (share**alpha).sum()
    with np.errstate(divide="ignore"):
        one = np.log(c / total / np.outer(share, context))
    expected = (one + one.T) / 2 - options.get("shift", 0.0)
    expected[c == 0] = 0
    if options.get("positive"):
        expected = np.maximum(expected, 0)
    np.testing.assert_allclose(found.pmi(**options).toarray(), expected, atol=1e-5)


def test_few_contexts_are_columns_of_all():
    corpus = EncodedCorpus.of(TEXTS, min_count=1)
    whole = Cooccurrences.of(corpus)
    few = Cooccurrences.of(corpus, contexts=3)
    np.testing.assert_array_equal(few.counts.toarray(), whole.counts.toarray()[:, :3])
    np.testing.assert_array_equal(few.totals, whole.totals)
    np.testing.assert_array_equal(few.pmi().toarray(), whole.pmi().toarray()[:, :3])


def test_reading_once_in_pieces_gives_the_same(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 30))) for _ in range(200)]
    whole = Cooccurrences.of(EncodedCorpus.of(texts))
    path = tmp_path / "texts.txt.gz"
    path.write_bytes(gzip.compress("\n".join(texts).encode()))
    monkeypatch.setattr(corpus_module, "_IN_MEMORY", 64)  # so the tokens go to a file
    monkeypatch.setattr(corpus_module, "_BATCH", 50)
    for source in ((t for t in texts), path):
        corpus = EncodedCorpus.of(source)
        pieces = list(corpus.pieces(100))
        assert len(pieces) > 10
        monkeypatch.setattr(EncodedCorpus, "pieces", lambda self, found=pieces: iter(found))
        again = Cooccurrences.of(corpus)
        monkeypatch.undo()
        assert again.words == whole.words
        np.testing.assert_array_equal(again.counts.toarray(), whole.counts.toarray())


def test_rare_pairs_go_when_there_are_too_many(monkeypatch):
    corpus = EncodedCorpus.of(TEXTS, min_count=1)
    pieces = list(corpus.pieces())
    with pytest.warns(fp.errors.PairsDroppedWarning, match="max_pairs=20"):
        few = Cooccurrences.of(corpus, max_pairs=20)
    whole = Cooccurrences.of(corpus)
    assert few.counts.nnz <= 20
    with pytest.warns(fp.errors.PairsDroppedWarning) as caught:
        monkeypatch.setattr(EncodedCorpus, "pieces", lambda _: iter([*pieces, *pieces, *pieces]))
        Cooccurrences.of(corpus, max_pairs=20)
    assert len(caught) == 1  # for all pieces together
    monkeypatch.undo()
    kept = few.counts.toarray()
    assert kept[kept > 0].min() > whole.counts.data.min()


def test_no_more_pairs_go_than_have_to():
    texts = [["a", "b"]] * 4 + [["c", "d"]] * 3 + [["e", "f"]] * 2 + [["g", "h"]]
    corpus = EncodedCorpus.of(texts, min_count=1)
    with pytest.warns(fp.errors.PairsDroppedWarning, match="up to 9,.*; 6 remain"):
        few = Cooccurrences.of(corpus, max_pairs=6)
    assert sorted(few.counts.data.tolist()) == [18, 18, 27, 27, 36, 36]
    with pytest.warns(fp.errors.PairsDroppedWarning, match="4 remain"):
        fewer = Cooccurrences.of(corpus, max_pairs=5)  # both orders of a pair go together
    assert fewer.counts.nnz == 4


def test_subsampling_leaves_frequent_words_out_more_often():
    texts = [["a"] * 50 + ["b", "c"]] * 200
    corpus = EncodedCorpus.of(texts)
    plain = Cooccurrences.of(corpus).totals
    found = Cooccurrences.of(corpus, subsample=0.02, random_state=0).totals
    assert found[0] / plain[0] < 0.5 * found[1] / plain[1]


def test_vocabulary_is_by_frequency_and_limited():
    corpus = EncodedCorpus.of([["é", "x", "é", "日本", "é", "x"]], min_count=1, max_words=2)
    assert corpus.words == ["é", "x"]
    assert corpus.frequencies.tolist() == [3, 2]
    assert np.concatenate(list(corpus.pieces())).tolist() == [0, 1, 0, 0, 1, -1]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([], "no word occurs"),
        (["one two"], "no word occurs 5 times"),
        ("a single text", "read letter by letter"),
        ([3], "document 0 is a int"),
        ([["a", 3]], "token 3, a int"),
        ([["a", None]], "token None, a NoneType"),
    ],
)
def test_bad_corpora_are_named(texts, words):
    with pytest.raises(fp.errors.InputError, match=words):
        EncodedCorpus.of(texts)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(fp.errors.InputError, match=r"no file .*none\.txt"):
        EncodedCorpus.of(tmp_path / "none.txt")
    with pytest.raises(fp.errors.InputError, match="is a folder"):
        EncodedCorpus.of(tmp_path)


def test_bad_options_are_named():
    corpus = EncodedCorpus.of(TEXTS, min_count=1)
    with pytest.raises(fp.errors.InputError, match="window is 1"):
        Cooccurrences.of(corpus, window=1)
    with pytest.raises(fp.errors.UnknownNameError, match="harmonic"):
        Cooccurrences.of(corpus, weighting="harmonics")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10_000))
def test_coreness_is_that_of_peeling(n, seed):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((n, n)) < 0.4)
    graph |= graph.T
    import scipy.sparse as sp

    matrix = sp.csr_array(graph)
    np.fill_diagonal(graph, val=False)
    expected = np.zeros(n, dtype=int)
    for k in range(n + 1):
        alive = np.ones(n, dtype=bool)
        while True:
            weak = alive & ((graph & alive).sum(axis=1) < k)
            if not weak.any():
                break
            alive &= ~weak
        expected[alive] = k
    np.testing.assert_array_equal(coreness(matrix.indptr, matrix.indices), expected)
