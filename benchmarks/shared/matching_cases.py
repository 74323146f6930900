"""Items to be matched, an expensive similarity, a threshold, and which pairs truly match."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared.matrices import tweets
from fewpairs import datasets

#: Rounding of scores that lie on the threshold, in single precision.
_SLACK = 1e-6


class Known(fp.Precomputed):
    """All similarities, computed before, with what hints at them."""

    def __init__(self, matrix: np.ndarray, hints: list[tuple[str, Any]]) -> None:
        super().__init__(matrix)
        self._hints = hints

    def guides(self, items):  # noqa: ARG002 - all of them
        """Return the hints."""
        return self._hints


@dataclass(frozen=True, eq=False)
class Case:
    """A matching task of which everything is known.

    Attributes
    ----------
    name : str
    items, others : sequences
    similarity : fewpairs.Similarity
    above : float
    guide : as for `find_pairs`
    matrix : ndarray or None
        All similarities, where they are stored.
    """

    name: str
    items: Any
    similarity: Any
    above: float
    guide: Any = "auto"
    others: Any = None
    matrix: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return len(self.items), len(self.items if self.others is None else self.others)

    @cached_property
    def values(self) -> np.ndarray:
        """All similarities, in single precision; strings' are kept in a temporary file."""
        if self.matrix is not None:
            return self.matrix
        path = _kept(self.name)
        if not path.exists():
            right = self.items if self.others is None else self.others
            every = [
                self.similarity.block(self.items[k : k + 500], right).astype(np.float32)
                for k in range(0, len(self.items), 500)
            ]
            np.save(path, np.concatenate(every))
        return np.load(path)

    @cached_property
    def truth(self) -> np.ndarray:
        """Keys of the pairs that match, in order, as `Universe` has them."""
        i, j = np.nonzero(self.values >= self.above)
        if self.others is None:
            kept = j > i if self.similarity.symmetric else j != i
            i, j = i[kept], j[kept]
        return i * self.shape[1] + j

    @property
    def pairs(self) -> int:
        """Number of pairs that may match."""
        n, m = self.shape
        if self.others is not None:
            return n * m
        return n * (n - 1) // (2 if self.similarity.symmetric else 1)

    def find(self, seed: int, **options: Any) -> fp.Found:
        """Run the search of `find_pairs`, also where all pairs would be quicker."""
        given = {"guide": self.guide, "others": self.others, "random_state": seed, **options}
        given.setdefault("all_pairs", False)
        return fp.find_pairs(self.items, self.similarity, above=self.above, **given)

    def recall(self, found: fp.Found) -> float:
        """The true recall."""
        keys = found.left * self.shape[1] + found.right
        count = len(np.intersect1d(keys, self.truth))
        return count / len(self.truth) if len(self.truth) else 1.0

    def some(self, n: int, share: float) -> Case:
        """Random items of a stored matrix, of which a share of all pairs match."""
        kept = np.sort(np.random.default_rng(0).permutation(len(self.items))[:n])
        matrix = self.matrix[np.ix_(kept, kept)]
        return replace(
            self,
            items=range(n),
            similarity=fp.Precomputed(matrix),
            above=float(np.quantile(matrix[~np.eye(n, dtype=bool)], 1 - share)),
            guide=self.guide[kept],
            matrix=matrix,
        )

    def guided(self, kind: str) -> Case:
        """The same with another guide: "none", "noise", or "spoilt" (30 % of its rows noise)."""
        rng = np.random.default_rng(5)
        guide = None
        if kind != "none":
            guide = np.array(self.guide, dtype=np.float64)
            noise = rng.normal(size=guide.shape)
            noise /= np.linalg.norm(noise, axis=1, keepdims=True)
            guide = np.where(
                rng.random((len(guide), 1)) < (0.3 if kind == "spoilt" else 1), noise, guide
            )
        return replace(self, name=f"{self.name}, {_GUIDES[kind]}", guide=guide)


def _kept(name: str) -> Path:
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)
    return Path(tempfile.gettempdir()) / f"fewpairs-{plain}.npy"


_GUIDES = {"none": "no guide", "noise": "guide of noise", "spoilt": "30 % of the guide noise"}


def _cross_encoder(name: str, file: str, above: float | None, *, share: float = 0.0) -> Case:
    matrix = datasets.read_matrix(file)
    matrix = (matrix + matrix.T) / 2
    if above is None:
        above = float(np.quantile(matrix[np.triu_indices(len(matrix), 1)], 1 - share))
    guide = np.load(datasets.benchmark_folder() / "matrices" / f"{file}.minilm.npy")
    return Case(
        name,
        range(len(matrix)),
        fp.Precomputed(matrix),
        above,
        guide=guide.astype(np.float32),
        matrix=matrix,
    )


def sts_b(share: float) -> Case:
    """1,494 sentences; the given share of all pairs matches."""
    name = f"STS-B, {100 * share:g} % match"
    return _cross_encoder(name, "stsb-dev-large-crossattn", None, share=share)


def sts_b_small() -> Case:
    """634 sentences; 1 % of all pairs match."""
    return _cross_encoder("STS-B, n = 634", "stsb-dev-crossattn", None, share=0.01)


def rte() -> Case:
    """539 sentences of RTE: entailment, by a weak model."""
    return _cross_encoder("RTE", "rte-dev-crossattn", 0.0)


def mrpc() -> Case:
    """405 sentences of MRPC: paraphrases."""
    return _cross_encoder("MRPC", "mrpc-dev-crossattn", 0.0)


def asymmetric() -> Case:
    """The same sentences by a model that depends on the order."""
    case = sts_b_small()
    matrix = datasets.read_matrix("stsb-dev-crossattn")
    above = float(np.quantile(matrix[~np.eye(len(matrix), dtype=bool)], 0.99))
    similarity = fp.Precomputed(matrix)
    return Case("STS-B, both orders", case.items, similarity, above, case.guide, matrix=matrix)


def _strings(name: str, texts: list[str], scorer: str, above: float, others=None) -> Case:
    return Case(name, texts, fp.StringSimilarity(scorer), above - _SLACK, others=others)


def _texts(name: str, split: str = "records", source: str | None = None) -> list[str]:
    records = datasets.read_records(name, split)
    return [r["text"].lower() for r in records if source is None or r["source"] == source]


def amazon_google() -> Case:
    """4,589 products, each against each."""
    return _strings("Amazon–Google", _texts("amazon_google"), "token_set_ratio", 0.9)


def amazon_and_google() -> Case:
    """1,363 products of one shop against 3,226 of another."""
    one, other = (_texts("amazon_google", source=source) for source in "ab")
    return _strings("Amazon–Google, two sets", one, "token_set_ratio", 0.9, other)


def dblp_acm() -> Case:
    """4,910 publications."""
    return _strings("DBLP–ACM", _texts("dblp_acm"), "token_sort_ratio", 0.8)


def febrl(n: int = 5000) -> Case:
    """Made persons, 5,000 or the first of them."""
    name = "Febrl 3" if n == 5000 else f"Febrl 3, n = {n}"
    return _strings(name, _texts("febrl", "dataset3")[:n], "ratio", 0.75)


def places(n: int = 4003) -> Case:
    """Names of whole cities in random order."""
    names = [name for name, _ in named_places(n)]
    return _strings(f"places, n = {len(names):,}", names, "jaro_winkler", 0.9)


def named_places(n: int) -> list[tuple[str, str]]:
    """The same names, each with its city."""
    by_city: dict[str, list[str]] = {}
    for record in datasets.read_records("place_aliases", "records"):
        by_city.setdefault(record["cluster"], []).append(record["text"])
    cities = sorted(by_city)
    np.random.default_rng(0).shuffle(cities)
    named: list[tuple[str, str]] = []
    for city in cities:
        named += [(name, str(city)) for name in by_city[city]]
        if len(named) >= n:
            break
    return named


def two_sets_of_places(n: int) -> Case:
    """Every second name of a place against the others."""
    names = places(2 * n).items
    name = f"places, two sets of {n}"
    return _strings(name, names[::2], "jaro_winkler", 0.9, names[1::2])


def word_mover(n: int = 2000) -> Case:
    """Tweets by Word Mover's similarity, of which 0.1 % of all pairs match."""
    documents = tweets(n)[0]
    path = _kept(f"wmd-{n}")
    if not path.exists():
        distances = fp.wmd(documents)
        np.save(path, np.exp(-0.2 * (distances + distances.T) / 2))
    matrix = np.load(path)
    above = float(np.quantile(matrix[np.triu_indices(n, 1)], 0.999))
    hints = [("centroids", documents.centroids())]
    name = f"Word Mover's, {n:,} tweets"
    return Case(name, range(n), Known(matrix, hints), above, matrix=matrix)


#: Makes each case of the tables about finding and stating.
CASES: dict[str, Callable[[], Case]] = {
    "sts995": lambda: sts_b(0.005),
    "sts999": lambda: sts_b(0.001),
    "sts634": sts_b_small,
    "rte": rte,
    "mrpc": mrpc,
    "wmd": word_mover,
    "places": places,
    "amazon2": amazon_and_google,
    "dblp": dblp_acm,
    "febrl": febrl,
    "amazon": amazon_google,
}
