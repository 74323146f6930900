"""How good word vectors are: similarity, analogies, QVEC, text classification."""

from __future__ import annotations

import gzip
import json
from functools import cache

import numpy as np
from scipy.linalg import orth
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewpairs as fp
from fewpairs import datasets

SIMILARITY = {
    "MEN": "men",
    "WS-353": "ws353",
    "MTurk": "mturk771",
    "SimLex": "simlex999",
    "RW": "rw",
}
#: The data set, and the field that is predicted.
CLASSIFICATION = {"Subj": ("subj", "label"), "WebKB": ("webkb", "label")}
CLASSIFICATION["Amazon"] = ("amazon", "sentiment")


@cache
def _pairs(name: str) -> list[tuple[str, str, float]]:
    path = datasets.benchmark_folder() / "wordsim" / f"{name}.tsv"
    lines = path.read_text("utf-8").splitlines()[1:]
    return [(a.lower(), b.lower(), float(s)) for a, b, s in (line.split("\t") for line in lines)]


def similarity(vectors: fp.WordVectors, title: str) -> tuple[float, float]:
    """Spearman's correlation of cosines with human scores, and the share of pairs covered."""
    everything = _pairs(SIMILARITY[title])
    pairs = [(a, b, s) for a, b, s in everything if a in vectors and b in vectors]
    unit = vectors.normalized()
    cosines = [float(unit[a] @ unit[b]) for a, b, _ in pairs]
    return float(spearmanr(cosines, [s for *_, s in pairs])[0]), len(pairs) / len(everything)


def half_of_men(vectors: fp.WordVectors) -> float:
    """Spearman on every second pair of MEN: the half on which defaults are chosen."""
    unit = vectors.normalized()
    pairs = [(a, b, s) for a, b, s in _pairs("men")[::2] if a in vectors and b in vectors]
    return float(spearmanr([unit[a] @ unit[b] for a, b, _ in pairs], [s for *_, s in pairs])[0])


def analogies(vectors: fp.WordVectors, most: int = 20_000) -> float:
    """Share of Google's analogies solved, among the first `most` words by frequency."""
    words = vectors.words[:most]
    place = {word: k for k, word in enumerate(words)}
    array = vectors.normalized().array[:most].astype(np.float32)
    path = datasets.benchmark_folder() / "analogy" / "questions-words.txt"
    lines = [x.lower().split() for x in path.read_text("utf-8").splitlines() if x[0] != ":"]
    asked = np.array([[place[w] for w in line] for line in lines if all(w in place for w in line)])
    right = 0
    for part in np.array_split(asked, max(1, len(asked) // 500)):
        a, b, c, d = part.T
        scores = (array[b] - array[a] + array[c]) @ array.T
        scores[np.arange(len(part))[:, None], part[:, :3]] = -np.inf
        right += int((scores.argmax(axis=1) == d).sum())
    return right / len(asked)


@cache
def _supersenses() -> tuple[list[str], np.ndarray]:
    """Words, and the share of each sense among their uses."""
    path = datasets.benchmark_folder() / "qvec" / "semcor_noun_verb.supersenses.en.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    features = [json.loads(row[1]) for row in rows]
    names = sorted({name for row in features for name in row})
    return [row[0] for row in rows], np.array([[f.get(n, 0.0) for n in names] for f in features])


def qvec(vectors: fp.WordVectors) -> tuple[float, float]:
    """Agreement with supersenses: QVEC, and the mean canonical correlation in per cent.

    QVEC sums each dimension's best correlation. The paper cites it, but what it prints for random
    vectors, 14.9, 21.8 and 27.1 for K = 100, 200 and 300, is the mean canonical correlation.
    """
    words, senses = _supersenses()
    known = [k for k, word in enumerate(words) if word in vectors]
    x = np.array([vectors[words[k]] for k in known], dtype=np.float64)
    s = senses[known]
    x, s = x - x.mean(axis=0), s - s.mean(axis=0)
    scale = np.outer(np.linalg.norm(x, axis=0), np.linalg.norm(s, axis=0))
    correlations = np.divide(x.T @ s, scale, out=np.zeros_like(scale), where=scale > 0)
    canonical = np.linalg.svd(orth(x).T @ orth(s), compute_uv=False)
    return float(correlations.max(axis=1).sum()), 100 * float(canonical.mean())


@cache
def labelled(name: str, target: str) -> tuple[list[str], np.ndarray, int | None]:
    """Texts, their labels, and how many are for training if the split is published."""
    try:
        parts = [datasets.read_records(name, "all")]
    except FileNotFoundError:
        parts = [datasets.read_records(name, split) for split in ("train", "test")]
    records = [record for part in parts for record in part]
    texts = [record["text"] for record in records]
    labels = np.array([str(record[target]) for record in records])
    return texts, labels, len(parts[0]) if len(parts) > 1 else None


def f1(vectors: fp.WordVectors, title: str) -> float:
    """Macro F1, in per cent, of a logistic regression on mean vectors."""
    texts, labels, n_train = labelled(*CLASSIFICATION[title])
    means = fp.Documents.of(texts, vectors, empty="far").centroids()
    if n_train is None:
        parts = train_test_split(means, labels, test_size=0.3, random_state=0, stratify=labels)
    else:
        parts = means[:n_train], means[n_train:], labels[:n_train], labels[n_train:]
    model = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": (0.003, 0.03, 0.3)},
        cv=3,
    ).fit(parts[0], parts[2])
    return 100 * float(f1_score(parts[3], model.predict(parts[1]), average="macro"))
