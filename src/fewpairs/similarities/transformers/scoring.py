"""Many pairs, sorted by length into batches, read by a model, and put back in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.similarities.transformers.joining import Batch, PairTokenizer
from fewpairs.similarities.transformers.tokens import Tokens


class Scoring:
    """Tokens of pairs → what a model says of them.

    Parameters
    ----------
    forward : callable
        A batch of inputs → pairs × labels.
    joining : PairTokenizer
    batch_size : int
        Pairs that the model reads at once.
    """

    def __init__(
        self, forward: Callable[[Batch], FloatArray], joining: PairTokenizer, batch_size: int
    ) -> None:
        self.forward, self.joining, self.batch_size = forward, joining, batch_size

    def score(self, left: Tokens, right: Tokens) -> FloatArray:
        """Return pairs × labels, in the order of the pairs."""
        # The longest first: should memory not suffice, it is seen at once.
        order = np.argsort(-self.joining.lengths(left, right), kind="stable")
        parts = [
            self.forward(self.joining.batch(left[some], right[some]))
            for some in np.split(order, range(self.batch_size, len(order), self.batch_size))
        ]
        sorted_scores = np.concatenate(parts)
        scores = np.empty_like(sorted_scores)
        scores[order] = sorted_scores
        return scores
