"""Similarity matrices of many kinds, all from real data except where the name says random."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
from common import STORED, random_psd, stored_matrix

import fewpairs as fp
from fewpairs import datasets
from fewpairs.similarities.strings import StringSimilarity

N = 600


def word_vectors() -> tuple[list[str], np.ndarray]:
    with np.load(datasets.benchmark_folder() / "wordvectors" / "glove_wink_100d_100k.npz") as file:
        words = next(file[k] for k in file.files if file[k].dtype.kind == "U")
        vectors = next(file[k] for k in file.files if file[k].ndim == 2)
    return words.tolist(), vectors.astype(np.float64)


def tweets(n: int = N) -> tuple[fp.Documents, list[str]]:
    """Different tweets with at least two known words, and their labels."""
    labels = {r["text"]: r["label"] for r in datasets.read_records("twitter", "all")}
    texts = [str(t) for t in np.random.default_rng(0).permutation(list(labels))]
    documents = fp.Documents.of(texts, fp.WordVectors(*word_vectors()), empty="drop")
    long = np.flatnonzero(np.diff(documents.starts) >= 2)[:n]
    return documents[long], [labels[texts[i]] for i in documents.kept[long]]


def tweets_wmd(n: int = N) -> np.ndarray:
    """Exact Word Mover's Distances of different tweets."""
    return fp.wmd(tweets(n)[0])


def strings(texts: list[str], scorer: str) -> np.ndarray:
    return StringSimilarity(scorer).block(texts, texts)


def common_words(n: int = N) -> list[str]:
    words = [w for w in word_vectors()[0] if w.isalpha() and len(w) > 3]
    return [str(w) for w in np.random.default_rng(0).permutation(words[:20_000])[:n]]


def pmi(n: int = N) -> np.ndarray:
    """PMI of common words in 40,000 Wikipedia paragraphs, 0 where they never meet."""
    import gzip
    from collections import Counter

    path = datasets.benchmark_folder() / "enwiki100" / "corpus.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [re.findall(r"[a-z]+", line.lower()) for line in islice(file, 40_000)]
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
    _, vectors = word_vectors()
    some = vectors[np.random.default_rng(0).permutation(20_000)[:n]]
    dots = some @ some.T
    return np.tanh(dots / dots.std() - 1)


def all_matrices(*, quick: bool = False) -> Iterator[tuple[str, np.ndarray]]:
    """Every matrix at hand, symmetric, by name."""
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
