"""Similarity matrices of many kinds, all from real data except where the name says random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

import fewpairs as fp
from benchmarks.shared.texts import vectors, wikipedia
from fewpairs import datasets
from fewpairs.similarities.strings import StringSimilarity

#: Rows of the matrices that are computed here; the stored ones have 346 to 1,494.
N = 600
#: How the names of those matrices begin whose diagonal is 1 by definition, so that a method may be
#: told so instead of buying it.
ONE_ON_THE_DIAGONAL = ("WMD", "Levenshtein", "Jaro")


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def clip(values):
    return np.clip(values, 0, 1)


#: Stored all-pairs outputs of real sentence-pair models: the file, and the scale that it is put on.
STORED: dict[str, tuple[str, Callable]] = {
    "STS-B cross-encoder": ("stsb-dev-crossencoder", np.asarray),
    "STS-B cross-encoder, clipped": ("stsb-dev-crossencoder", clip),
    "STS-B cross-attention": ("stsb-dev-crossattn", np.asarray),
    "STS-B cross-attention, clipped": ("stsb-dev-crossattn", clip),
    "STS-B large": ("stsb-dev-large-crossattn", np.asarray),
    "STS-B large, clipped": ("stsb-dev-large-crossattn", clip),
    "MRPC logits": ("mrpc-dev-crossattn", np.asarray),
    "MRPC probabilities": ("mrpc-dev-crossattn", sigmoid),
    "RTE logits": ("rte-dev-crossattn", np.asarray),
    "RTE probabilities": ("rte-dev-crossattn", sigmoid),
}


def stored_matrix(title: str) -> np.ndarray:
    """A stored matrix on its scale, symmetrised."""
    name, scale = STORED[title]
    matrix = scale(datasets.read_matrix(name))
    return (matrix + matrix.T) / 2


def random_psd(n: int = 1000, *, normal: bool = True) -> np.ndarray:
    """ZZᵀ, the paper's control: entries of Z are N(0, 1) in its text and U[0, 1] in its code."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, n)) if normal else rng.random((n, n))
    return z @ z.T


def tweets(n: int = N) -> tuple[fp.Documents, list[str]]:
    """Different tweets with at least two known words, and their labels."""
    labels = {r["text"]: r["label"] for r in datasets.read_records("twitter", "all")}
    texts = [str(t) for t in np.random.default_rng(0).permutation(list(labels))]
    documents = fp.Documents.of(texts, vectors(), empty="drop")
    long = np.flatnonzero(np.diff(documents.starts) >= 2)[:n]
    return documents[long], [labels[texts[i]] for i in documents.kept[long]]


def tweets_wmd(n: int = N) -> np.ndarray:
    """Exact Word Mover's Distances between n of these tweets."""
    return fp.wmd(tweets(n)[0])


def strings(texts: list[str], scorer: str) -> np.ndarray:
    return StringSimilarity(scorer).block(texts, texts)


def common_words(n: int = N) -> list[str]:
    """Some of the 20,000 commonest words of more than three letters."""
    words = [w for w in vectors().words if w.isalpha() and len(w) > 3]
    return [str(w) for w in np.random.default_rng(0).permutation(words[:20_000])[:n]]


def product_names(source: str, n: int = 1000) -> list[str]:
    """Product names of one of the two catalogues, Amazon ("a") or Google ("b")."""
    records = datasets.read_records("amazon_google", "records")
    field = {"a": "title", "b": "name"}[source]
    return [r["fields"][field] for r in records if r["source"] == source][:n]


def catalogues(n: int = 1000) -> np.ndarray:
    """Jaro–Winkler similarities of two catalogues' product names."""
    return StringSimilarity("jaro_winkler").block(product_names("a", n), product_names("b", n))


def pmi(n: int = N) -> np.ndarray:
    """PMI of common words within five of each other in 40,000 paragraphs of Wikipedia.

    The 100 commonest words are left out; two words that never meet have 0.
    """
    lines = wikipedia(40_000)
    counted = Counter(word for line in lines for word in line)
    place = {w: i for i, (w, _) in enumerate(counted.most_common(n + 100)[100:])}
    counts = np.zeros((n, n))
    for line in lines:
        ids = [place.get(w, -1) for w in line]
        for k, a in enumerate(ids):
            if a >= 0:
                for b in ids[k + 1 : k + 6]:
                    if b >= 0:
                        counts[a, b] += 1
                        counts[b, a] += 1
    total, single = counts.sum(), counts.sum(axis=1)
    with np.errstate(divide="ignore"):
        values = np.log(counts * total / np.outer(single, single))
    return np.where(counts > 0, values, 0.0)


def tanh_of_words(n: int = N) -> np.ndarray:
    """Tanh of inner products of word vectors, scaled and shifted: strongly indefinite."""
    some = vectors().array[np.random.default_rng(0).permutation(20_000)[:n]]
    dots = some @ some.T
    return np.tanh(dots / dots.std() - 1)


def all_matrices(*, quick: bool = False) -> Iterator[tuple[str, np.ndarray]]:
    """Every matrix at hand, symmetric, with its name."""
    for title in STORED:
        if not (quick and title.startswith("STS-B large")):
            yield title, stored_matrix(title)
    distances = tweets_wmd()
    for gamma in (0.05, 0.2, 0.5):
        yield f"WMD γ = {gamma}", np.exp(-gamma * distances)
    words = common_words()
    yield "Levenshtein, words", strings(words, "levenshtein")
    yield "Jaro–Winkler, words", strings(words, "jaro_winkler")
    people = [r["text"] for r in datasets.read_records("febrl", "dataset1")][:N]
    yield "Levenshtein, person records", strings(people, "levenshtein")
    yield "PMI, words", pmi()
    yield "tanh, word vectors", tanh_of_words()
    yield "random PSD, N(0, 1)", random_psd(N)
    yield "random PSD, U[0, 1]", random_psd(N, normal=False)
