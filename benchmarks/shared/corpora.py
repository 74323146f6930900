"""Whole document sets of the papers, and distances to landmarks and random documents, in files.

A run that was stopped goes on with the files that are there; they are named after what they were
computed from, so that other documents, vectors or options never read them.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.tasks import ALL_SETS
from benchmarks.shared.texts import stop_words, vectors
from fewpairs import datasets

#: Columns in one file.
STEP = 64
#: Documents of the pool that every split trains on: γ is chosen on these.
ALWAYS = 1500
#: Features exp(−UNIT·WMD) do not underflow, and say what the distances are.
UNIT = 0.01


@dataclass(frozen=True, eq=False)
class Corpus:
    """All documents of one set, in the order of its files, and where distances are kept."""

    name: str
    texts: list[str]
    labels: np.ndarray
    #: Training documents of a published split; None where there is none.
    published: int | None
    cache: Path
    #: None for the vectors derived from GloVe.
    trained: fp.WordVectors | None = None

    @property
    def vectors(self) -> fp.WordVectors:
        """Vectors of words."""
        return vectors() if self.trained is None else self.trained

    @cached_property
    def documents(self) -> fp.Documents:
        """Bags of words without SMART stop words."""
        return fp.Documents.of(self.texts, self.vectors, stop_words=stop_words(), empty="far")

    @cached_property
    def pool(self) -> np.ndarray:
        """Documents that may become landmarks, in random order; of training ones, if given."""
        n = len(self.texts) if self.published is None else self.published
        return np.random.default_rng(0).permutation(n)

    @cached_property
    def fingerprint(self) -> str:
        """A word for the documents and their vectors."""
        bags = self.documents
        words = np.ascontiguousarray(self.vectors.array[np.unique(bags.words)[::50]])
        parts = (bags.words, bags.weights, bags.starts, words)
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:10]

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Training and test documents; 70 % are trained on where no split is published."""
        n = len(self.texts)
        if self.published is not None:
            return np.arange(self.published), np.arange(self.published, n)
        rest = np.random.default_rng(seed).permutation(self.pool[self.always :])
        n_train = round(0.7 * n) - self.always
        return np.concatenate([self.pool[: self.always], rest[:n_train]]), rest[n_train:]

    @property
    def always(self) -> int:
        """How many documents of the pool every split trains on."""
        return min(ALWAYS, len(self.texts) // 2)

    @cached_property
    def order(self) -> np.ndarray:
        """All documents: those of the pool come first."""
        return np.concatenate([self.pool, np.arange(len(self.pool), len(self.texts))])

    def landmark_columns(self, count: int) -> tuple[np.ndarray, float]:
        """Distances of all documents to the first `count` of them, and seconds for each one."""

        def compute(begin: int, known: np.ndarray) -> tuple[np.ndarray, int]:
            chosen, rest = self.order[begin : begin + STEP], self.order[begin:]
            columns = np.empty((len(self.order), len(chosen)), dtype=np.float32)
            columns[rest] = fp.wmd(self.documents[rest], self.documents[chosen])
            columns[self.order[:begin]] = known[chosen].T  # those to earlier landmarks
            return columns, len(rest) * len(chosen)

        return self._kept("landmarks", min(count, len(self.order)), compute)

    def random_columns(
        self, count: int, max_words: int, *, unit: bool = False
    ) -> tuple[np.ndarray, float]:
        """Distances to random documents of the default drawing, and seconds for each one.

        The words of the pool's first documents, which every split trains on, say where they lie.
        With `unit`, words have length one, as in the code of the paper's authors.
        """
        some = self.documents[self.pool[: self.always]]
        like = fp.WordMoverEmbedding(self.vectors)

        def compute(begin: int, _: np.ndarray) -> tuple[np.ndarray, int]:
            model = fp.WordMoverEmbedding(
                self.vectors, STEP, max_words=max_words, normalize=unit, gamma=UNIT,
                random_state=begin,
            )  # fmt: skip
            features = model.fit(some).transform(self.documents)
            return -np.log(features * np.sqrt(STEP)) / UNIT, features.size

        title = f"random-{like.drawing}-{'unit' if unit else 'given'}-{max_words}"
        return self._kept(title, count, compute)

    def _kept(self, title: str, count: int, compute) -> tuple[np.ndarray, float]:
        self.cache.mkdir(parents=True, exist_ok=True)
        # One array that is filled: of all pairs of a large set there is no room for two.
        columns = np.empty((len(self.order), count), dtype=np.float32)
        seconds = []
        for begin in range(0, count, STEP):
            path = self.cache / f"{self.name}-{self.fingerprint}-{title}-{begin:05d}.npz"
            if not path.exists():
                start = time.process_time()
                values, computed = compute(begin, columns[:, :begin])
                taken = time.process_time() - start
                new = path.with_suffix(".new.npz")
                # As if all had been computed: readers divide by the size.
                whole = taken * values.size / computed
                np.savez(new, values=values.astype(np.float32), seconds=whole)
                new.replace(path)
                print(f"{path.name}: {taken:.1f} s", flush=True)
            with np.load(path) as file:
                values = file["values"]
                columns[:, begin : begin + STEP] = values[:, : count - begin]
                seconds.append(float(file["seconds"]) / values.size)
        return columns, float(np.median(seconds))


def corpus(name: str, cache: Path, *, most: int | None = None) -> Corpus:
    """Read a whole set; `most` cuts it to so many random documents, for a quick run."""
    data, parts, clean, _ = ALL_SETS[name]
    records = [datasets.read_records(data, part) for part in parts]
    if most is not None:
        shares = [len(part) / sum(map(len, records)) for part in records]
        rng = np.random.default_rng(0)
        records = [
            [part[i] for i in np.sort(rng.permutation(len(part))[: round(share * most)])]
            for part, share in zip(records, shares, strict=True)
        ]
    flat = [record for part in records for record in part]
    texts = [clean(record["text"]) for record in flat]
    labels = np.array([record["label"] for record in flat])
    published = len(records[0]) if len(records) > 1 else None
    return Corpus(name, texts, labels, published, cache)


def cache_folder(given: str | None) -> Path:
    """The folder of the option, of FEWPAIRS_CACHE, or one beside the benchmark data's."""
    chosen = given or os.environ.get("FEWPAIRS_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "fewpairs-benchmarks"
