"""Which words occur near which, and how much more often than by chance.

References
----------
Khalife, Gonçalves, Liberti, *Distance geometry for word representations and applications*,
equations 15 and 16.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray, generator
from fewpairs.errors import InputError, PairsDroppedWarning, UnknownNameError, warn
from fewpairs.parallel import COMPILED
from fewpairs.text.corpus import EncodedCorpus
from fewpairs.text.counting import count_neighbours

WEIGHTINGS = ("windows", "flat", "harmonic")
#: Pairs of words kept at most: 1 GB, eight bytes each. 16 million tokens of Wikipedia have three
#: tenths of that.
MAX_PAIRS = 2**27


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Counts of neighbours.

    Parameters
    ----------
    words : list of str
    counts : csr_array of shape (n_words, n_contexts), float32
        How often word i had word j near it. Only the first words, the contexts, have a column.
    totals : ndarray of float64
        How often each word had any word near it.
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
            Leave out, at random, occurrences of words whose share of all tokens is above this.
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
        n_words = len(corpus.words)
        n_contexts = n_words if contexts is None else min(contexts, n_words)
        counts, totals = sp.csr_array((n_words, n_contexts), dtype=np.float32), np.zeros(n_words)
        chances, rng = _chances(corpus, subsample), generator(random_state)
        n_dropped, largest_dropped = 0, 0.0
        for piece in corpus.pieces():
            tokens = piece if chances is None else _thinned(piece, chances, rng)
            found = count_neighbours(tokens, n_words, n_contexts, weights, totals, n_jobs)
            counts = found if counts.nnz == 0 else counts + found
            if counts.nnz > max_pairs:
                gone, limit = _drop_rarest(counts, max_pairs)
                n_dropped, largest_dropped = n_dropped + gone, max(largest_dropped, limit)
        if n_dropped:
            warn(
                PairsDroppedWarning(
                    f"{n_dropped:,} pairs of words were dropped, the rarest, with counts up to "
                    f"{largest_dropped:g}, to stay within max_pairs={max_pairs:,}; {counts.nnz:,} "
                    "remain. Raise it if there is memory: each pair takes 8 bytes."
                )
            )
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
        # log p(i)p̃(j) averaged over both roles is a sum of one number for i and one for j.
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
        Of the corpus in which the words occur.
    rows : ndarray of int64
        Which of its words.
    references : list of str
    shares : ndarray of float64
        Of the references, in the other corpus.
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
    """Divide by the sum; all zero where the sum is."""
    return np.asarray(amounts / max(float(amounts.sum()), np.finfo(float).tiny))


def _weights(window: int, weighting: str) -> SingleArray:
    """Return what a neighbour counts at the distances 1, 2, …, window − 1."""
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
    """Return how likely an occurrence of each word is kept: word2vec's √(subsample / share)."""
    if subsample is None:
        return None
    shares = corpus.frequencies / corpus.frequencies.sum()
    return np.asarray(np.minimum(1.0, np.sqrt(subsample / shares)))


def _thinned(
    tokens: npt.NDArray[np.int32], chances: FloatArray, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Leave out occurrences at random; the ends of documents, which are negative, stay."""
    return tokens[(tokens < 0) | (rng.random(len(tokens)) < chances[tokens])]


def _drop_rarest(counts: sp.csr_array, max_pairs: int) -> tuple[int, float]:
    """Drop entries in place; return how many, and the largest count among them."""
    before = counts.nnz
    largest = before - max_pairs - 1  # those that are equal go together: both orders of a pair
    limit = np.partition(counts.data, largest)[largest]
    counts.data[counts.data <= limit] = 0
    counts.eliminate_zeros()
    return before - counts.nnz, float(limit)


@njit(**COMPILED)
def _pointwise(
    counts: SingleArray,
    contexts: npt.NDArray[Any],
    pointers: npt.NDArray[Any],
    halves: FloatArray,
    log_total: float,
    lowest: float,
    result: SingleArray,
) -> None:
    """Write log p(i, j) − halves[i] − halves[j], at least `lowest`, for every count."""
    for i in range(len(pointers) - 1):
        for k in range(pointers[i], pointers[i + 1]):
            value = np.log(counts[k]) - log_total - halves[i] - halves[contexts[k]]
            result[k] = max(value, lowest)
