"""Texts to be matched, the vectors that guide a search among them, and which pairs match."""

from __future__ import annotations

import numpy as np

from fewpairs import datasets

FIELDS = ("given_name", "surname", "street_number", "address_1", "suburb", "postcode", "state")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def places() -> list[str]:
    """45,747 names of places."""
    return [r["text"].lower() for r in datasets.read_records("place_aliases", "records")]


def publications() -> list[str]:
    """4,910 records of DBLP and ACM."""
    return [r["text"].lower() for r in datasets.read_records("dblp_acm", "records")]


def persons(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Made persons, of Febrl's names and addresses; 5 % are others with one to three typos.

    Also returns the pairs, as i·n + j with i < j.
    """
    rng = np.random.default_rng(seed)
    files = ("dataset1", "dataset2", "dataset3", "dataset4a", "dataset4b")
    known = [r["fields"] for name in files for r in datasets.read_records("febrl", name)]
    originals = n - n // 20
    drawn = [
        np.array([r.get(field) or "" for r in known])[rng.integers(0, len(known), originals)]
        for field in FIELDS
    ]
    texts = [" ".join(filter(None, row)) for row in zip(*drawn, strict=True)]
    source = rng.choice(originals, n // 20, replace=False)
    texts += [with_typos(texts[i], rng) for i in source]
    order = rng.permutation(n)
    place = np.argsort(order)
    one, other = place[source], place[originals:]
    return [texts[i] for i in order], np.minimum(one, other) * n + np.maximum(one, other)


def with_typos(text: str, rng: np.random.Generator) -> str:
    """One to three letters lost, changed, put in or swapped with the next."""
    for _ in range(rng.integers(1, 4)):
        k, kind = int(rng.integers(0, len(text))), int(rng.integers(0, 4))
        letter = LETTERS[rng.integers(0, 26)]
        changed = ("", letter, letter + text[k], text[k + 1 : k + 2] + text[k])
        text = text[:k] + changed[kind] + text[k + 1 + (kind == 3) :]
    return text


def character_grams(texts: list[str]):
    """TF-IDF of two to four characters: sparse unit rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), dtype=np.float32)
    return grams.fit_transform(texts)


def reduced(grams, dimensions: int) -> np.ndarray:
    """The same in few dimensions: dense unit rows, float32."""
    from sklearn.decomposition import TruncatedSVD

    rows = TruncatedSVD(dimensions, random_state=0).fit_transform(grams).astype(np.float32)
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + np.float32(1e-12))


def largest_sparse(grams, count: int) -> np.ndarray:
    """The pairs i < j with the largest products of sparse rows, by blocks: keys, largest first."""
    n = len(some := np.random.default_rng(0).permutation(grams.shape[0]))
    few = (grams[some[:2000]] @ grams[some[-2000:]].T).toarray()
    cut = np.quantile(few, 1 - 3 * count / n**2)
    keys, products, across = [], [], grams.T.tocsr()
    for start in range(0, n, 500):
        block = (grams[start : start + 500] @ across).tocoo()
        high = (block.data >= cut) & (block.col > block.row + start)
        keys.append((block.row[high].astype(np.int64) + start) * n + block.col[high])
        products.append(block.data[high])
    return np.concatenate(keys)[np.argsort(-np.concatenate(products), kind="stable")[:count]]


def jaro_winkler_pairs(texts: list[str], above: float) -> np.ndarray:
    """All pairs i < j whose Jaro–Winkler similarity is above the threshold, as keys i·n + j."""
    from rapidfuzz.distance import JaroWinkler
    from rapidfuzz.process import cdist

    n, keys = len(texts), []
    for start in range(0, n, 1000):
        block = cdist(
            texts[start : start + 1000],
            texts[start:],
            scorer=JaroWinkler.similarity,
            score_cutoff=above,
            dtype=np.float64,
        )
        i, j = np.nonzero(block > above)
        keys.append(((i + start) * n + j + start)[j > i])
    return np.concatenate(keys)
