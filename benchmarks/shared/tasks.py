"""Document classification tasks, with all their Word Mover's Distances, computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import fewpairs as fp
from benchmarks.shared.texts import body, stop_words, vectors
from fewpairs import datasets

#: name → (data set, splits, text cleaner, train and test size as published)
SETS = {
    "TWITTER": ("twitter", ("all",), str, (2176, 932)),
    "RECIPE_L": ("recipe_cuisine", ("all",), str, (27841, 11933)),
    "OHSUMED": ("ohsumed10", ("train", "test"), str, (3999, 5153)),
    "20NEWS": ("20news", ("train", "test"), body, (11314, 7532)),
    "R8": ("r8", ("train", "test"), str, (5485, 2189)),
    "CLASSIC": ("classic4", ("all",), str, (4965, 2128)),
    "AMAZON": ("amazon", ("all",), str, (5600, 2400)),
}
#: The same, and newsgroups as they are, with headers, quotations and signatures.
ALL_SETS = SETS | {"20NEWS with headers": ("20news", ("train", "test"), str, (11314, 7532))}


@dataclass(frozen=True, eq=False)
class Task:
    """Documents with the training ones first, their distances, and the seed of all draws."""

    documents: fp.Documents
    texts: list[str]
    labels: np.ndarray
    n_train: int
    seed: int
    distances: np.ndarray

    @property
    def train(self) -> slice:
        """Where the training part lies."""
        return slice(0, self.n_train)

    @property
    def test(self) -> slice:
        """Where the test part lies."""
        return slice(self.n_train, None)

    def shuffled(self, seed: int, *, split: bool) -> Task:
        """The task of another seed: another split, unless the split is published."""
        rng = np.random.default_rng(seed)
        n = len(self.labels)
        order = rng.permutation(n) if split else np.arange(n)
        return Task(
            self.documents[order],
            [self.texts[i] for i in order],
            self.labels[order],
            self.n_train,
            seed,
            self.distances[np.ix_(order, order)] if split else self.distances,
        )


def load(name: str, most: int | None) -> Task:
    """Read a data set, cut to `most` documents, and compute all its distances."""
    data, parts, clean, sizes = SETS[name]
    rng = np.random.default_rng(0)
    shrink = 1.0 if most is None else min(1.0, most / sum(sizes))
    n_train, n_test = (round(shrink * size) for size in sizes)
    records = [datasets.read_records(data, part) for part in parts]
    counts = (n_train + n_test,) if len(records) == 1 else (n_train, n_test)
    chosen = [
        record[i]
        for record, count in zip(records, counts, strict=True)
        for i in rng.permutation(len(record))[:count]
    ]
    texts = [clean(record["text"]) for record in chosen]
    documents = fp.Documents.of(texts, vectors(), stop_words=stop_words(), empty="far")
    labels = np.array([record["label"] for record in chosen])
    distances = fp.wmd(documents, n_jobs=2)
    return Task(documents, texts, labels, min(n_train, len(documents)), 0, distances)
