"""Which words occur near which, and how much more often than by chance.

References
----------
Khalife, Gonçalves, Liberti, *Distance geometry for word representations and applications*,
equations 15 and 16.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray, generator
from fewpairs.errors import InputError, PairsDroppedWarning, UnknownNameError, warn
from fewpairs.parallel import COMPILED, announce
from fewpairs.text.corpus import EncodedCorpus
from fewpairs.text.counting import count_rows, occurrences

WEIGHTINGS = ("windows", "flat", "harmonic")
#: Pairs of words kept at most (eight bytes each); the rarest go first.
MAX_PAIRS = 2**27
#: Upper bound on the pairs of one task of a thread.
_TASK = 2**22


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Counts of neighbours.

    Parameters
    ----------
    words : list of str
    counts : csr_array of shape (n_words, n_contexts), float32
        How often word i had context j near it; contexts are the first words.
    totals : ndarray of float64
        How often each word had any neighbour, of all words.
    """

    words: list[str]
    counts: sp.csr_array
    totals: FloatArray

    @classmethod
    def of(
        cls,
        corpus: EncodedCorpus,
        *,
        window: int = 10,
        weighting: str = "windows",
        contexts: int | None = None,
        subsample: float | None = None,
        max_pairs: int = MAX_PAIRS,
        n_jobs: int = 1,
        random_state: RandomState = None,
    ) -> Cooccurrences:
        """Count, within documents.

        Parameters
        ----------
        corpus : EncodedCorpus
        window : int, default=10
            Tokens of a window: neighbours are at most ``window - 1`` apart.
        weighting : {"windows", "flat", "harmonic"}, default="windows"
            A pair at the distance d counts once for each window that holds both, which is
            ``window - d`` times; or once; or 1/d times.
        contexts : int, optional
            List this many contexts only, the most frequent words.
        subsample : float, optional
            Leave out occurrences of words whose share of all tokens is above this, at random.
        max_pairs : int
            When more pairs are known than this, the rarest are dropped, with a warning.
        n_jobs : int, default=1
            Threads; counts do not depend on it.
        random_state : int, Generator, RandomState or None
            For subsampling.

        Returns
        -------
        Cooccurrences
        """
        weights = _weights(window, weighting)
        n = len(corpus.words)
        listed = n if contexts is None else min(contexts, n)
        counts, totals = sp.csr_array((n, listed), dtype=np.float32), np.zeros(n)
        chances, rng = _chances(corpus, subsample), generator(random_state)
        announce(count_rows, "the counting of neighbours")
        for tokens in corpus.pieces():
            if chances is not None:
                tokens = tokens[(tokens < 0) | (rng.random(len(tokens)) < chances[tokens])]  # noqa: PLW2901
            found = _count(tokens, n, listed, weights, totals, n_jobs)
            counts = _pruned(found if counts.nnz == 0 else counts + found, max_pairs)
        return cls(corpus.words, counts, totals)

    @property
    def shares(self) -> FloatArray:
        """Share of each word in all neighbourhoods."""
        return _shares(self.totals)

    def pmi(
        self, *, positive: bool = False, smoothing: float = 1.0, shift: float = 0.0
    ) -> sp.csr_array:
        """Return log(p(i, j) / p(i)p(j)) where the count is not zero, and zero elsewhere.

        Parameters
        ----------
        positive : bool, default=False
            Set what is below zero to zero.
        smoothing : float, default=1.0
            Context probabilities are taken to this power; the result is the mean of both roles of
            a word, and so symmetric.
        shift : float, default=0.0
            Subtracted from every entry before `positive`; log k for k negative samples.

        Returns
        -------
        csr_array of shape (n_words, n_contexts), float32
        """
        powers = self.totals**smoothing
        with np.errstate(divide="ignore"):  # a word without neighbours has no entries
            log_share, log_smooth = np.log(self.shares), np.log(_shares(powers))
        halves = 0.5 * (log_share + log_smooth)
        data = np.empty(self.counts.nnz, dtype=np.float32)
        _pointwise(
            self.counts.data,
            self.counts.indices,
            self.counts.indptr,
            halves,
            float(np.log(max(self.totals.sum(), np.finfo(float).tiny))) + shift,
            -np.inf if not positive else 0.0,
            data,
        )
        return sp.csr_array((data, self.counts.indices, self.counts.indptr), self.counts.shape)


def new_pmi(
    counts: Cooccurrences,
    rows: IntArray,
    references: list[str],
    shares: FloatArray,
    *,
    shift: float,
    positive: bool,
) -> sp.csr_array:
    """Return the PMI of some words with references that were counted in another corpus.

    Parameters
    ----------
    counts : Cooccurrences
    rows : ndarray of int64
        Which words.
    references : list of str
    shares : ndarray of float64
        Theirs, in the other corpus.
    shift, positive : as for `Cooccurrences.pmi`

    Returns
    -------
    csr_array of shape (n_rows, n_references), float32
    """
    place = {word: k for k, word in enumerate(counts.words)}
    here = np.array([place.get(word, -1) for word in references])
    known = np.flatnonzero(here >= 0)
    found = counts.counts[rows][:, here[known]].tocoo()
    i, j = found.coords[0], known[found.coords[1]]
    data = np.log(found.data / counts.totals[rows][i] / shares[j]) - shift
    data = np.maximum(data, 0) if positive else data
    return sp.csr_array((data.astype(np.float32), (i, j)), shape=(len(rows), len(references)))


def _shares(amounts: FloatArray) -> FloatArray:
    return np.asarray(amounts / max(float(amounts.sum()), np.finfo(float).tiny))


def _weights(window: int, weighting: str) -> SingleArray:
    if weighting not in WEIGHTINGS:
        raise UnknownNameError("weighting", weighting, WEIGHTINGS)
    if window < 2:  # noqa: PLR2004 - a pair
        raise InputError(
            f"window is {window}.",
            "Two words are neighbours when one window holds both.",
            "Pass at least 2.",
        )
    distances = np.arange(1, window)
    if weighting == "windows":
        return (window - distances).astype(np.float32)
    return (np.ones(window - 1) if weighting == "flat" else 1 / distances).astype(np.float32)


def _chances(corpus: EncodedCorpus, subsample: float | None) -> FloatArray | None:
    if subsample is None:
        return None
    shares = corpus.frequencies / corpus.frequencies.sum()
    return np.asarray(np.minimum(1.0, np.sqrt(subsample / shares)))


def _count(
    tokens: npt.NDArray[np.int32],
    n: int,
    listed: int,
    weights: SingleArray,
    totals: FloatArray,
    n_jobs: int,
) -> sp.csr_array:
    starts, positions = occurrences(tokens, n)
    most = np.minimum(listed, 2 * len(weights) * np.diff(starts))

    def work(part: tuple[int, int]) -> Any:
        return count_rows(tokens, starts, positions, *part, weights, listed, totals)

    with ThreadPoolExecutor(n_jobs) as pool:
        parts = list(pool.map(work, _parts(most)))
    sizes, contexts, counts = (np.concatenate(x) for x in zip(*parts, strict=True))
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    return sp.csr_array((counts, contexts, pointers), (n, listed))


def _parts(most: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Cut the words into tasks of about equal size, the same for any number of threads."""
    ends = np.cumsum(most)
    cuts = np.searchsorted(ends, np.arange(_TASK, ends[-1] + _TASK, _TASK))
    edges = np.unique(np.concatenate([[0], cuts + 1, [len(most)]]).clip(0, len(most)))
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _pruned(counts: sp.csr_array, max_pairs: int) -> sp.csr_array:
    if counts.nnz <= max_pairs:
        return counts
    limit = np.partition(counts.data, counts.nnz - max_pairs)[counts.nnz - max_pairs]
    before = counts.nnz
    counts.data[counts.data <= limit] = 0
    counts.eliminate_zeros()
    warn(
        PairsDroppedWarning(
            f"{before - counts.nnz:,} of {before:,} pairs of words were dropped, those that count "
            f"{limit:g} or less so far, to stay within max_pairs={max_pairs:,}."
        )
    )
    return counts


@njit(**COMPILED)
def _pointwise(counts, contexts, pointers, halves, log_total, lowest, result):
    for i in range(len(pointers) - 1):
        for k in range(pointers[i], pointers[i + 1]):
            value = np.log(counts[k]) - log_total - halves[i] - halves[contexts[k]]
            result[k] = max(value, lowest)
