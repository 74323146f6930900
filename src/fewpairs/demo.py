"""fewpairs demo: from texts alone to a matrix, matches, clusters and a page, in under a minute."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.kernel_approximation import Nystroem

from fewpairs.arrays import FloatArray
from fewpairs.datasets import docstrings
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.files.writing import refuse_unwritable
from fewpairs.oracle.oracle import Oracle
from fewpairs.run.approximate import approximate
from fewpairs.run.inspect import inspect
from fewpairs.run.planning import plan
from fewpairs.similarities.base import Pair, Similarity
from fewpairs.similarities.word_mover import WordMover
from fewpairs.tasks.clustering.cluster import cluster
from fewpairs.tasks.clustering.clusters import Clusters
from fewpairs.tasks.matching.find_pairs import find_pairs
from fewpairs.text.training import train_word_vectors
from fewpairs.transport.wmd import wmd

#: The demo must end within a minute on two cores: 150 columns take some ten seconds, and give an
#: error of a few per cent.
_LANDMARKS = 150
#: Enough rows for two digits of the true error, in a few seconds.
_ROWS = 100
#: Items of the comparison with scikit-learn, which calls a kernel once for each pair, in Python.
_SUBSET = 400
_SEED = 0
#: Texts count as alike from here on, and clusters are merged: what differs is a word or two.
_ALIKE, _MERGED = 0.6, 0.5
#: The most that is spent on matches, so that the demo ends in time.
_FOR_MATCHES = 150_000
#: Matches and clusters that are shown, and members of one.
_SHOWN, _MEMBERS = 4, 4
#: Distances between these texts lie around 2.8, so exp(−WMD/2) lies around 0.25, where near and far
#: texts differ well; with γ = 1 nearly all similarities would be below 0.1.
_GAMMA = 0.5
#: Longer texts cost more time without showing more: a quarter of the introductions are cut here.
_LONGEST = 60
_WORD = re.compile(r"[a-z]{3,}")
_SECTION = re.compile(r"\n\s*(?:Parameters|Returns|Attributes|Notes|Examples|See Also)\s*\n")


class WordOverlap(Similarity):
    """The words that two texts share, as a share of the words of the smaller text.

    Words are added up by weight: the fewer texts have a word, the more it weighs. The similarity is
    symmetric, between 0 and 1, and indefinite: an ordinary one that kernel methods were not made
    for. Items are positions in `texts`.
    """

    name, symmetric, diagonal, block_size = "word overlap", True, 1.0, 2**17

    def __init__(self, texts: list[str]) -> None:
        vocabulary: dict[str, int] = {}
        bags = [{vocabulary.setdefault(w, len(vocabulary)) for w in _words(t)} for t in texts]
        ends = np.cumsum([0, *(len(bag) for bag in bags)])
        words = np.concatenate([np.fromiter(sorted(bag), dtype=np.int64) for bag in bags])
        has = sp.csr_array((np.ones(len(words)), words, ends), (len(texts), len(vocabulary)))
        rarity = np.log(len(texts) / has.sum(axis=0))
        # The square root, because a shared word is multiplied by itself.
        self._weighted = sp.csr_array(has @ sp.diags_array(np.sqrt(rarity)))
        self._weight = np.maximum(has @ rarity, np.finfo(float).tiny)

    def block(self, left: Any, right: Any) -> FloatArray:
        """Compare every text on the left with every one on the right."""
        shared = (self._weighted[left] @ self._weighted[right].T).toarray()
        return np.asarray(shared / np.minimum.outer(self._weight[left], self._weight[right]))

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Compare single pairs."""
        left, right = np.array(pairs).T
        shared = self._weighted[left].multiply(self._weighted[right]).sum(axis=1)
        return np.asarray(shared / np.minimum(self._weight[left], self._weight[right]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def introductions(texts: list[str]) -> list[str]:
    """Return what docstrings say before their first section, at most 60 words."""
    return [" ".join(_SECTION.split(text)[0].split()[:_LONGEST]) for text in texts]


def run_demo(console: Console | None = None, *, report: Path | None = None) -> None:
    """Show everything once, on texts that came with the libraries that fewpairs needs.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to print; by default the terminal.
    report : Path, optional
        A page to write at the end.
    """
    if report is not None:
        refuse_unwritable(report)
    out = console or Console()

    def say(text: str) -> None:
        out.print(text, highlight=False, soft_wrap=True)

    corpus = docstrings()
    n = len(corpus.texts)
    out.rule("[bold]fewpairs: the whole similarity matrix from a few pairs")
    say(
        f"\nItems: the first sentences of {n:,} docstrings of numpy, scipy and scikit-learn, found "
        "on this machine.\nSimilarity: exp(−WMD/2); WMD is how far the words of one text must "
        "travel to become those of the other.\n"
    )
    say("[bold]1. Train word vectors on the spot[/]   vectors = fp.train_word_vectors(docstrings)")
    start = time.perf_counter()
    vectors = train_word_vectors(corpus.texts, dimensions=100, n_jobs=-1)
    near = ", ".join(word for word, _ in vectors.most_similar("fourier", k=4))
    say(f"{vectors!r} in {time.perf_counter() - start:.1f} s; fourier → {near}\n")

    similarity = WordMover(vectors, gamma=_GAMMA, stop_words="english", empty="far")
    items = introductions(corpus.texts)
    oracle = Oracle(items, similarity, n_jobs=-1)  # what one step has evaluated, the next looks up
    say("[bold]2. Inspect the similarity[/]   fp.inspect(items, fp.WordMover(vectors))")
    say(f"{inspect(items, similarity, random_state=_SEED)}\n")
    say(f"[bold]3. Plan[/]   fp.plan(items, similarity, landmarks={_LANDMARKS}, timed=True)")
    say(f"{plan(items, similarity, landmarks=_LANDMARKS, timed=True)}\n")
    say(f"[bold]4. Run[/]   K = fp.approximate(items, similarity, landmarks={_LANDMARKS})")
    matrix = approximate(oracle, landmarks=_LANDMARKS, random_state=_SEED)
    say(f"{matrix!r}\n")

    say(f"[bold]5. Is the stated error true?[/]   {_ROWS} whole rows, evaluated exactly")
    # Another seed than the run's, which would draw the landmarks again: their rows are exact.
    shuffled = np.random.default_rng(_SEED + 1).permutation(n)
    rows = shuffled[:_ROWS]
    some = [items[i] for i in rows]
    distances = wmd(some, items, vectors, stop_words="english", empty="far", n_jobs=-1)
    exact = np.exp(-_GAMMA * distances)
    say(
        f"stated, of the whole matrix   {matrix.error}\n"
        f"true, on those rows           {_relative(matrix[rows, :], exact):.3f}\n"
    )
    say("[bold]6. Neighbours[/]   K.nearest(index, k=3)")
    for name in ("sklearn.cluster.KMeans", "scipy.linalg.solve", "numpy.fft.rfft"):
        index = next((i for i, full in enumerate(corpus.names) if full == name), 0)
        found = matrix.nearest(index, k=3)
        listed = ", ".join(f"{corpus.names[i]} ({s:.2f})" for i, s in zip(*found, strict=True))
        say(f"{corpus.names[index]}  →  {listed}")
    say(f"\n[bold]7. Matches[/]   fp.find_pairs(items, similarity, above={_ALIKE})")
    _show_matches(oracle, corpus.names, say)
    say(f"\n[bold]8. Clusters[/]   clusters = fp.cluster(K, threshold={_MERGED})")
    clusters = _show_clusters(matrix, corpus.names, say)
    say("\n[bold]9. An indefinite similarity[/]   the share of rare words that two texts share")
    out.print(_beside_nystroem(shuffled[:_SUBSET], WordOverlap(corpus.texts)), "\n")
    if report is not None:
        clusters.report(report, ids=corpus.names, title=f"{n:,} docstrings in clusters")
        say(f"[bold]10. Look at it[/]   clusters.report({str(report)!r})")
        say(f"written to {report}: a map of all texts, their nearest, the clusters\n")
    out.print("Next: fewpairs match --help, with tables of your own")


def _show_clusters(
    matrix: FactoredMatrix, names: list[str], say: Callable[[str], None]
) -> Clusters:
    """Put the texts into clusters, without any evaluation, and name the largest."""
    clusters = cluster(matrix, threshold=_MERGED)
    say(f"{clusters!r}")
    for group in clusters.groups()[:_SHOWN]:
        more = f", and {len(group) - _MEMBERS} more" if len(group) > _MEMBERS else ""
        say(f"  {', '.join(names[k] for k in group[:_MEMBERS])}{more}")
    return clusters


def _show_matches(oracle: Oracle, names: list[str], say: Callable[[str], None]) -> None:
    """Find texts that are nearly the same, and say how many may be missing."""
    found = find_pairs(
        oracle, above=_ALIKE, recall=0.9, budget=_FOR_MATCHES, random_state=_SEED, progress=False
    )
    say(f"{len(found):,} pairs, {found.evaluations:,} evaluations; {found.recall}")
    libraries = np.array([name.split(".")[0] for name in names])
    across = np.flatnonzero(libraries[found.left] != libraries[found.right])
    say(f"the best of {len(across):,} between two libraries:")
    for k in across[:_SHOWN]:
        left, right = names[found.left[k]], names[found.right[k]]
        say(f"  {found.similarities[k]:.2f}  {left}  ~  {right}")


def _beside_nystroem(subset: Any, overlap: WordOverlap) -> Table:
    """Compare with scikit-learn's Nystroem on the same similarity and the same pairs."""
    n, exact = len(subset), overlap.block(subset, subset)
    table = Table(title=f"Beside scikit-learn's Nystroem, on {n} items", min_width=70)
    for heading in ("landmarks", "pairs evaluated", "Nystroem", "fewpairs"):
        table.add_column(heading, justify="right")
    for count in (n // 10, n // 4, n // 2, n):
        features = Nystroem(
            kernel=lambda a, b: exact[int(a[0]), int(b[0])],
            n_components=count,
            random_state=_SEED,
        ).fit_transform(np.arange(n)[:, None])
        ours = approximate(
            subset, overlap, landmarks=count, error_pairs=0, random_state=_SEED, progress=False
        )
        table.add_row(
            f"{count}",
            f"{ours.evaluations / (n * (n + 1) / 2):.0%}",
            f"{_relative(features @ features.T, exact):.3f}",
            f"{_relative(ours.to_dense(), exact):.3f}",
        )
    table.caption = (
        "Relative error. Nystroem replaces K by |K|: on an indefinite\n"
        "similarity it is wrong even with every item as a landmark."
    )
    return table


def _relative(guess: FloatArray, exact: FloatArray) -> float:
    return float(np.linalg.norm(guess - exact) / np.linalg.norm(exact))
