"""Documents: tokens, weights, empty ones."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.text.documents import word_weights
from fewpairs.text.tokens import tokenize

TABLE = fp.WordVectors(["ape", "bee", "cow", "the"], np.eye(4))


def test_the_default_tokenizer():
    assert tokenize("The ape's BEE-hive, naïve_42!") == [
        "the",
        "ape's",
        "bee",
        "hive",
        "naïve",
        "42",
    ]


def test_weights_sum_to_one_and_repeat_words():
    documents = fp.Documents.of(["The ape, the bee", "cow"], TABLE)
    assert documents.bag(0) == {"ape": 0.25, "bee": 0.25, "the": 0.5}
    assert documents.bag(1) == {"cow": 1.0}
    assert repr(documents) == "<2 documents of 2.0 different words on average>"


def test_tfidf_prefers_rare_words():
    documents = fp.Documents.of(["the ape", "the bee", "the cow"], TABLE, weights="tfidf")
    bag = documents.bag(0)
    assert sum(bag.values()) == pytest.approx(1)
    assert bag["ape"] / bag["the"] == pytest.approx(np.log(3) + 1)


def test_sif_makes_little_of_frequent_words():
    documents = fp.Documents.of(["the ape", "the bee", "the the cow"], TABLE, weights="sif")
    share = {"the": 4 / 7, "ape": 1 / 7}
    worth = {word: 1e-3 / (1e-3 + p) for word, p in share.items()}
    total = sum(worth.values())
    assert documents.bag(0) == pytest.approx({word: w / total for word, w in worth.items()})


@pytest.mark.parametrize("weights", ["tfidf", "sif"])
def test_weights_of_a_whole_corpus_serve_some_of_its_texts(weights):
    texts = ["the ape", "the bee", "the the cow", "ape bee bee"]
    whole = fp.Documents.of(texts, TABLE, weights=weights)
    worth = word_weights(texts, TABLE, weights)
    for k, text in enumerate(texts):
        assert fp.Documents.of([text], TABLE, weights=worth).bag(0) == pytest.approx(whole.bag(k))


def test_stop_words_and_tokenizers():
    assert fp.Documents.of(["the ape"], TABLE, stop_words="english").bag(0) == {"ape": 1.0}
    assert fp.Documents.of(["the ape"], TABLE, stop_words="smart").bag(0) == {"ape": 1.0}
    assert fp.Documents.of(["the ape"], TABLE, stop_words=["ape"]).bag(0) == {"the": 1.0}
    letters = {"a": [1.0], "b": [2.0]}
    assert fp.Documents.of(["ab"], letters, tokenizer=list).bag(0) == {"a": 0.5, "b": 0.5}
    assert fp.Documents.of([["Ape", "ape"]], TABLE).bag(0) == {"ape": 1.0}  # lists as they are


def test_subsets_and_joins_keep_their_words():
    documents = fp.Documents.of(["ape bee", "cow", "the bee bee"], TABLE)
    some = documents[[2, 0]]
    assert [some.bag(k) for k in range(2)] == [documents.bag(2), documents.bag(0)]
    assert [d.bag(0) for d in documents] == [documents.bag(k) for k in range(3)]
    joined = fp.Documents.joined([documents[1], documents[[0]]])
    assert joined.bag(1) == documents.bag(0)
    np.testing.assert_allclose(documents.centroids()[1], TABLE["cow"])


def test_one_document_is_found_from_both_ends():
    documents = fp.Documents.of(["zebra", "ape bee", "cow"], TABLE, empty="drop")
    assert documents[-1].bag(0) == documents[np.int64(1)].bag(0) == {"cow": 1.0}
    assert documents[-1].kept.tolist() == [2]
    assert len(documents[[True, False]]) == len(documents[:1]) == 1
    with pytest.raises(IndexError):
        documents[2]


def test_walking_through_documents_takes_linear_time():
    documents = fp.Documents.of(["ape bee", "cow"] * 20_000, TABLE)
    start = time.process_time()
    last = list(documents)[-1]
    joined = fp.Documents.of(list(documents), fp.WordVectors(TABLE.words, TABLE.array))
    assert time.process_time() - start < 3  # under a second; ten, if each looked at all others
    assert last.bag(0) == {"cow": 1.0}
    np.testing.assert_array_equal(joined.words, documents.words)
    np.testing.assert_array_equal(joined.starts, documents.starts)


def test_empty_documents():
    texts = ["ape", "zebra", "bee"]
    with pytest.raises(fp.errors.InputError, match="positions 1"):
        fp.Documents.of(texts, TABLE)
    kept = fp.Documents.of(texts, TABLE, empty="drop")
    assert kept.kept.tolist() == [0, 2]
    far = fp.Documents.of(texts, TABLE, empty="far")
    assert len(far) == 3
    assert np.isfinite(far.weights).all()
    with pytest.raises(fp.errors.InputError, match="no document has any known word"):
        fp.Documents.of(["zebra"], TABLE, empty="drop")


def test_documents_of_another_table_are_refused():
    documents = fp.Documents.of(["ape"], TABLE)
    other = fp.WordVectors(["x"], [[1.0]])
    with pytest.raises(fp.errors.InputError, match="other word vectors"):
        fp.Documents.of(documents, other)
