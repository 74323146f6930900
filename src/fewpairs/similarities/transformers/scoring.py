"""Many pairs, sorted by length into batches, read by a model, and put back in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.similarities.transformers.joining import Batch, PairTokenizer
from fewpairs.similarities.transformers.tokens import Tokens

#: A pair that is shorter than this share of the first of its batch begins the next one, unless that
#: would leave fewer than a quarter of a batch: a model takes its time for very few, too.
_SHORTER, _FEWEST = 7 / 8, 4


class Scoring:
    """Tokens of pairs → what a model says of them.

    Parameters
    ----------
    forward : callable
        A batch of inputs → pairs × labels.
    joining : PairTokenizer
    batch_size : int
        Pairs that the model reads at once, at most.
    """

    def __init__(
        self, forward: Callable[[Batch], FloatArray], joining: PairTokenizer, batch_size: int
    ) -> None:
        self.forward, self.joining, self.batch_size = forward, joining, batch_size

    def score(self, left: Tokens, right: Tokens) -> FloatArray:
        """Return pairs × labels, in the order of the pairs."""
        lengths = self.joining.lengths(left, right)
        # The longest first: should memory not suffice, it is seen at once.
        order = np.argsort(-lengths, kind="stable")
        parts = [
            self.forward(self.joining.batch(left[order[some]], right[order[some]]))
            for some in batches(lengths[order], self.batch_size)
        ]
        sorted_scores = np.concatenate(parts)
        scores = np.empty_like(sorted_scores)
        scores[order] = sorted_scores
        return scores


def batches(lengths: IntArray, most: int) -> Iterator[slice]:
    """Cut pairs, the longest first, into batches that need little padding.

    Parameters
    ----------
    lengths : ndarray of int
        Tokens of each pair, falling.
    most : int
        Pairs in a batch.

    Yields
    ------
    slice
    """
    start, fewest = 0, -(-most // _FEWEST)
    while start < len(lengths):
        shorter = int(np.searchsorted(-lengths, -_SHORTER * lengths[start], side="right"))
        stop = min(start + most, max(shorter, start + fewest), len(lengths))
        yield slice(start, stop)
        start = stop
