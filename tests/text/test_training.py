"""Word vectors trained on the spot."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs import datasets
from fewpairs.text import spectral

TOPICS = {
    "sea": "ship sail harbour wave captain anchor deck storm".split(),
    "kitchen": "pan oven salt butter knife boil recipe soup".split(),
    "court": "judge law trial jury witness appeal verdict lawyer".split(),
}


def texts(seed=0, n=600):
    """Documents about one topic each, with words that all share."""
    rng = np.random.default_rng(seed)
    common = "the a of and to in".split()
    result = []
    for _ in range(n):
        topic = list(TOPICS.values())[rng.integers(len(TOPICS))]
        result.append(list(rng.choice(topic + common, 30)))
    return result


def separation(vectors: fp.WordVectors) -> float:
    """Mean cosine within topics minus that between topics."""
    unit = vectors.normalized()
    rows = {t: np.array([unit[w] for w in words]) for t, words in TOPICS.items()}
    same = np.mean([(r @ r.T)[~np.eye(8, dtype=bool)].mean() for r in rows.values()])
    other = np.mean([(rows[a] @ rows[b].T).mean() for a in rows for b in rows if a < b])
    return float(same - other)


OPTIONS = [
    {"method": "build-up"},
    {"method": "build-up", "references": "paper"},
    {"method": "build-up", "references": 12},
    {"method": "build-up", "references": ["the", "ship", "pan", "law", "judge", "salt", "wave"]},
    {"method": "build-up", "order": "coreness"},
    {"method": "build-up", "order": ["soup", "jury", "deck"]},
    {"method": "divide", "blocks": (16, 12)},
    {"method": "divide", "order": "coreness"},
    {"method": "eigs"},
    {"method": "eigs", "positive": True, "smoothing": 0.75, "weighting": "harmonic"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_of_a_topic_lie_together(options):
    vectors = fp.train_word_vectors(texts(), dimensions=3, **options)
    assert vectors.array.shape == (30, 3)
    assert np.isfinite(vectors.array).all()
    assert vectors.words[:6] == sorted(vectors.words[:6], key=vectors.words.index)
    assert separation(vectors) > 0.5


def test_all_words_as_references_is_eigs():
    corpus = texts()
    whole = fp.train_word_vectors(corpus, 4, references=30)
    eigs = fp.train_word_vectors(corpus, 4, "eigs")
    assert whole.words == eigs.words
    np.testing.assert_allclose(whole.array @ whole.array.T, eigs.array @ eigs.array.T, atol=1e-4)


@pytest.mark.parametrize(
    "options", [{}, {"method": "divide", "blocks": (16, 12)}, {"method": "eigs"}], ids=str
)
def test_threads_and_order_of_calls_change_nothing(options, monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 1)  # so random blocks are drawn wherever they may be
    one = fp.train_word_vectors(texts(), 2, n_jobs=1, **options)
    two = fp.train_word_vectors(iter(texts()), 2, n_jobs=2, **options)
    assert one.words == two.words
    np.testing.assert_array_equal(one.array, two.array)


def test_a_new_word_lies_among_its_neighbours():
    model = fp.DistanceGeometryVectors(4, min_count=5).fit(texts())
    rng = np.random.default_rng(1)
    fresh = [["mast", *rng.choice(TOPICS["sea"], 6)] for _ in range(30)]
    new = model.new_words(fresh)
    assert new.words == ["mast"]
    near = [word for word, _ in model.vectors_.most_similar(new["mast"], k=8)]
    assert len(set(near) & set(TOPICS["sea"])) >= 7
    with pytest.raises(fp.errors.InputError, match="no new word"):
        model.new_words(texts(1, 5))
    with pytest.raises(fp.errors.InputError, match="build-up"):
        fp.DistanceGeometryVectors(4, method="eigs").fit(texts()).new_words(fresh)


def test_a_known_word_placed_anew_stays_where_it_was():
    """Build-up of a word from the training texts themselves gives its training vector."""
    corpus = texts()
    model = fp.DistanceGeometryVectors(4, references=20).fit(corpus)
    word = model.vectors_.words[25]
    renamed = [["neu" if t == word else t for t in document] for document in corpus]
    placed = model.new_words(renamed)["neu"]
    np.testing.assert_allclose(placed, model.vectors_[word], rtol=1e-3, atol=1e-3)


def test_transform_gives_means():
    model = fp.DistanceGeometryVectors(4).fit(texts())
    found = model.transform([["ship", "wave"], ["unknown"]])
    expected = (model.vectors_["ship"] + model.vectors_["wave"]) / 2
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    assert (found[1] == 0).all()
    assert list(model.get_feature_names_out()) == [f"distancegeometryvectors{k}" for k in range(4)]


def test_saved_vectors_come_back_and_gensim_s_format_is_text(tmp_path):
    vectors = fp.train_word_vectors(texts(), 4)
    for name in ("vectors.npz", "vectors.txt"):
        vectors.save(tmp_path / name)
        again = fp.WordVectors.load(tmp_path / name)
        assert again.words == vectors.words
        np.testing.assert_allclose(again.array, vectors.array, rtol=1e-6)
    assert (tmp_path / "vectors.txt").read_text().startswith("30 4\n")


def test_analogy():
    table = fp.WordVectors(
        {"man": [1.0, 0, 1], "woman": [1.0, 0, -1], "king": [0, 1.0, 1], "queen": [0, 1.0, -1]}
    )
    assert table.analogy("man", "woman", "king")[0][0] == "queen"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "builtup"}, "build-up"),
        ({"order": "corenes"}, "coreness"),
        ({"references": "papers"}, "paper"),
        ({"references": 0}, "references is 0"),
        ({"references": 2.5}, "references is 2.5"),
        ({"references": ["ship", "yacht"]}, "'yacht'"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"dimension": 3}, "dimensions"),
        ({"min_count": 10**9}, "no word occurs"),
        ({"order": {"ship", "boat"}}, "order is a set"),
        ({"order": 3}, "order is a int"),
        ({"order": iter(["ship"])}, "order is a list_iterator"),
        ({"weighting": "window"}, "windows"),
        ({"order": ["ship", "wave", "ship"]}, "'ship'"),
        ({"references": ["ship", "ship"]}, "'ship'"),
        ({"references": []}, "references is"),
        ({"window": 2.5}, "window is 2.5"),
        ({"subsample": 0}, "subsample is 0"),
        ({"max_pairs": None}, "max_pairs is None"),
        ({"min_count": "2"}, "min_count is '2'"),
        ({"max_words": -1}, "max_words is -1"),
        ({"smoothing": float("nan")}, "smoothing is nan"),
        ({"shift": float("inf")}, "shift is inf"),
        ({"blocks": (20,), "method": "divide"}, "blocks is"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(fp.errors.InputError, match=words):
        fp.train_word_vectors(texts(n=20), **options)


@pytest.mark.parametrize("named", [list, tuple, np.array, dict.fromkeys])
def test_words_that_come_first_may_be_any_sequence(named):
    first = ["ship", "pan", "law", "judge", "salt", "wave", "deck"]
    model = fp.DistanceGeometryVectors(3, order=named(first), references=len(first))
    assert model.fit(texts()).reference_words_ == first


@pytest.mark.parametrize(
    "options",
    [
        {"min_count": 0},
        {"smoothing": 0},
        {"smoothing": np.float32(0.75)},
        {"blocks": None},
        {"blocks": np.array([16, 12]), "method": "divide"},
        {"order": None, "references": ["ship", "pan", "law", "salt"]},
    ],
)
def test_options_at_the_edge_of_what_is_allowed(options):
    assert np.isfinite(fp.train_word_vectors(texts(), 3, **options).array).all()


def test_a_first_block_that_holds_all_words_leaves_no_others():
    with pytest.warns(fp.errors.FewerDimensionsWarning):
        found = fp.train_word_vectors([["a", "b", "c"]] * 5, 7, method="divide", blocks=(9, 8))
    assert found.array.shape == (3, 7)


def test_dropped_pairs_are_told_where_training_was_called():
    with pytest.warns(fp.errors.PairsDroppedWarning, match="max_pairs=500") as caught:
        fp.train_word_vectors(texts(), 3, max_pairs=500)
    assert caught[0].filename == __file__


def test_small_corpora_warn_that_dimensions_are_empty():
    with pytest.warns(fp.errors.FewerDimensionsWarning, match="of 50 dimensions") as caught:
        vectors = fp.train_word_vectors([["a", "b", "c", "d"]] * 5, 50)
    assert caught[0].filename == __file__
    assert vectors.array.shape == (4, 50)
    assert np.isfinite(vectors.array).all()
    with pytest.warns(fp.errors.FewerDimensionsWarning, match="span 0"):
        alone = fp.train_word_vectors([["a"]] * 9, 2)  # a word without neighbours
    assert (alone.array == 0).all()


def test_kmers_are_shifted_lists():
    assert fp.kmers("ABCDE", 2) == [["AB", "CD"], ["BC", "DE"]]
    assert fp.kmers("AB", 3) == [[], [], []]
    assert list(fp.kmer_documents(["ABC", "AB"])) == [["ABC"]]
    for k in (0, 1.5, True):
        with pytest.raises(fp.errors.InputError, match=f"k is {k}"):
            fp.kmers("AB", k)


def test_sequences_are_means_of_their_lists():
    table = fp.WordVectors({"AB": [1.0, 0.0], "CD": [3.0, 0.0], "BC": [0.0, 4.0]})
    found = fp.embed_sequences(["ABCDX", "ZZ"], table, k=2)
    np.testing.assert_allclose(found, [[1.0, 2.0], [0.0, 0.0]])


def test_fasta(tmp_path):
    path = tmp_path / "some.fasta"
    path.write_text(">one protein\nABC\nDEF\n\n>two\nGH\n")
    assert list(fp.read_fasta(path)) == [("one protein", "ABCDEF"), ("two", "GH")]
    path.write_text("ABC\n")
    with pytest.raises(fp.errors.FileFormatError, match="line 1"):
        list(fp.read_fasta(path))


def test_real_text_finds_relatives():
    corpus = datasets.docstrings().texts
    vectors = fp.train_word_vectors(corpus, dimensions=50)
    assert {"columns", "column"} & {w for w, _ in vectors.most_similar("rows", k=5)}
