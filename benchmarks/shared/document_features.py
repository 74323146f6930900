"""Features of all documents of a corpus by every method, from distances that are kept in files."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

import fewpairs as fp
from benchmarks.shared.corpora import Corpus
from benchmarks.shared.linear_svm import LinearSVM

METHODS = {
    "Nyström": "nystrom",
    "SMS-Nyström": "sms",
    "SiCUR": "sicur",
    "StaCUR": "stacur",
    "fitted": "fitted",
}
GAMMAS = (0.05, 0.15, 0.5, 1.5)
#: γ of random features, in units of one over the spread of distances to a random document.
SHARES = (0.05, 0.15, 0.4, 1.0)
#: Longest random documents that are tried; in cross-validation over all sets 12 are no better
#: (docs/tables/wme-defaults.md), and cost twice as much.
LENGTHS = (6,)
#: Random features: the default, and with words of length one and longer random documents.
RANDOM = {"WME": LENGTHS, "WME, length one": (12,)}
#: Costs that are tried together with γ; the final one is chosen among more of them.
COSTS = (1.0, 10.0, 100.0, 1e3)


class Features(NamedTuple):
    """Rows for the documents asked for, how many distances they took, and seconds of arithmetic."""

    rows: np.ndarray
    evaluations: int
    seconds: float


class Choice(NamedTuple):
    """What was chosen on documents that every split trains on, and how all others did there."""

    gamma: float
    max_words: int
    tried: dict[str, float]


@dataclass(eq=False)
class Distances:
    """Distances between documents of a corpus: looked up where known, else computed and kept."""

    corpus: Corpus
    count: int
    #: Processor seconds that went into distances which no column holds.
    spent: float = 0.0
    _more: dict[bytes, np.ndarray] = field(default_factory=dict)

    @cached_property
    def _known(self) -> tuple[np.ndarray, float]:
        return self.corpus.landmark_columns(self.count)

    @property
    def columns(self) -> np.ndarray:
        """Of all documents to the first ones in their order."""
        return self._known[0]

    @property
    def seconds_each(self) -> float:
        """Of one distance, in processor time."""
        return self._known[1]

    @cached_property
    def place(self) -> np.ndarray:
        """Which column each document has, or -1."""
        found = np.full(len(self.corpus.texts), -1)
        found[self.corpus.order[: self.count]] = np.arange(self.columns.shape[1])
        return found

    def block(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Distances of documents on the left to documents on the right."""
        across, down = self.place[right], self.place[left]
        if (across >= 0).all():
            return self.columns[np.ix_(left, across)].astype(float)
        if (down >= 0).all():
            return self.columns[np.ix_(right, down)].T.astype(float)
        result = np.empty((len(left), len(right)))
        new_left, new_right = np.flatnonzero(down < 0), np.flatnonzero(across < 0)
        result[:, across >= 0] = self.columns[np.ix_(left, across[across >= 0])]
        result[down >= 0] = self.columns[np.ix_(right, down[down >= 0])].T
        result[np.ix_(new_left, new_right)] = self._computed(left[new_left], right[new_right])
        return result

    def kernel(self, gamma: float, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """exp(−γ·distance) in single precision, of documents whose columns are all known."""
        result = self.columns[np.ix_(left, self.place[right])]
        result *= -gamma  # in place: of all pairs of a large set there is no room for three
        return np.exp(result, out=result)

    def _computed(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        key = left.tobytes() + b"|" + right.tobytes()
        if key not in self._more:
            documents = self.corpus.documents
            same = np.array_equal(left, right)
            other = None if same else documents[right]
            start = time.process_time()
            self._more[key] = fp.wmd(documents[left], other)
            self.spent += time.process_time() - start
        return self._more[key]


@dataclass(frozen=True)
class First:
    """Landmarks are the first items, which are in random order."""

    reads = False

    def select(self, oracle, count: int, rng) -> np.ndarray:  # noqa: ARG002
        """Return the first `count` positions."""
        return np.arange(count)


def landmark_features(
    title: str, distances: Distances, gamma: float, size: int, train: np.ndarray, test: np.ndarray
) -> Features:
    """Features of training and test documents; landmarks are the first training documents."""

    def look_up(left, right):
        return np.exp(-gamma * distances.block(np.asarray(left), np.asarray(right)))

    similarity = fp.similarity(look_up, kind="block", symmetric=True, name="word mover")
    start, before = time.process_time(), distances.spent
    model = fp.SimilarityFeatures(
        similarity, size, method=METHODS[title], selection=First(), random_state=0
    )
    rows = model.fit_transform(train.tolist())
    spent = model.evaluations_
    if len(test):
        rows = np.vstack([rows, model.transform(test.tolist())])
        spent += len(model.landmark_indices_) * len(test)
    # Distances are priced by their number, whether they were looked up or not.
    taken = time.process_time() - start - (distances.spent - before)
    return Features(rows, spent, taken)


def random_features(
    title: str, corpus: Corpus, share: float, size: int, max_words: int, which: np.ndarray
) -> Features:
    """The paper's features, of γ = share / spread; a common factor is left out."""
    columns, _ = corpus.random_columns(size, max_words, unit="length one" in title)
    start = time.process_time()
    some = columns[corpus.pool[: corpus.always]]
    # Documents without words are equally far from everything, and are not measured.
    measured = some[np.ptp(some, axis=1) > 1e-6]
    gamma = share / float(np.sqrt(measured.var(axis=0).mean()))
    rows = np.exp(gamma * (float(measured.mean()) - columns[which]))
    return Features(rows, rows.size, time.process_time() - start)


def validated(rows: np.ndarray, labels: np.ndarray) -> float:
    """Per cent right in three folds, at the best of a few costs."""
    fold = np.arange(len(rows)) % 3
    right = np.zeros(len(COSTS))
    for k in range(3):
        machine, weights = LinearSVM(rows[fold != k], labels[fold != k]), None
        for place, cost in enumerate(COSTS):
            weights = machine.fit(cost, weights)
            right[place] += machine.score(weights, rows[fold == k], labels[fold == k]) / 3
    return 100 * float(right.max())


def choose(title: str, distances: Distances, size: int) -> Choice:
    """Choose γ, and D of random documents, at the size that is used, for this method alone."""
    corpus = distances.corpus
    known = corpus.pool[: corpus.always]
    labels, tried = corpus.labels[known], {}
    if title in RANDOM:
        for max_words in RANDOM[title]:
            for share in SHARES:
                rows = random_features(title, corpus, share, size, max_words, known).rows
                tried[f"{share:g} {max_words}"] = validated(rows, labels)
    else:
        # The larger part are no landmarks, as among all documents.
        none = np.array([], dtype=int)
        for gamma in GAMMAS:
            rows = landmark_features(title, distances, gamma, size, known, none).rows
            if rows.shape[1]:
                tried[f"{gamma:g} 0"] = validated(rows, labels)
    gamma, max_words = max(tried, key=tried.get).split()
    return Choice(float(gamma), int(max_words), tried)
