"""Near-duplicates are bought, most similar first, until a further column would pay more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.factored.factors import factored_entries
from fewpairs.methods.fitted.gate import Entries, follow
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.guided import QUICK
from fewpairs.methods.fitted.stage import Sample, Stage
from fewpairs.numerics import parts

#: The squared error outside the columns is taken to fall like s^-1.5, as it does at 100 landmarks;
#: this only decides when near-duplicates stop. Half or twice as much changes the error of the
#: result by at most 2 % (docs/tables/constants.md).
_DECAY = 1.5
#: In batches of half a pair for each item: enough to see what a batch gains, little to overshoot
#: by. Of two queues each has half of that.
_BATCH, _FEWEST = 2, 20


@dataclass(eq=False)
class Queue:
    """Pairs, most similar first.

    Attributes
    ----------
    rows, columns : ndarray
    vectors : tuple of ndarray
        Unit vectors of the items that are no landmarks, of rows and of columns.
    alive : bool
        Whether the last batch was worth it.
    last : int
        Place of the last pair that was bought; -1 for none.
    expected : ndarray
        What was believed of the first pairs.
    """

    rows: IntArray
    columns: IntArray
    vectors: tuple[SingleArray, SingleArray]
    alive: bool = True
    last: int = -1
    expected: FloatArray = field(default_factory=lambda: np.empty(0))

    def believed_at(self, places: IntArray, believed: Entries) -> FloatArray:
        """Return what is believed of some pairs, places in order.

        It is worked out for twice as many pairs each time, so that an item with many of them is
        multiplied by the core a few times, not in every batch.
        """
        start, end = len(self.expected), int(places[-1]) + 1
        if end > start:
            more = slice(start, min(max(end, 2 * start), len(self.rows)))
            found = believed(self.rows[more], self.columns[more])
            self.expected = np.concatenate([self.expected, found])
        return self.expected[places]


def buy_near_pairs(
    stage: Stage, sample: Sample, per_item: int, room: int, terms: GuideTerms | None
) -> Sample:
    """Evaluate pairs of items with similar lines; with a guide that is worth it, those it proposes.

    Parameters
    ----------
    stage : Stage
    sample : Sample
    per_item : int
        Similar items considered for each item.
    room : int
        Pairs that may be bought.
    terms : GuideTerms or None
        Of the guides, if there are any.

    Returns
    -------
    Sample
    """
    n = stage.oracle.shape[0]
    core, squared_error = stage.preliminary(sample)
    vectors = stage.near_vectors()
    queues = [Queue(*stage.near_pairs(vectors, per_item), vectors)]

    def by_core(rows: IntArray, columns: IntArray) -> FloatArray:
        return factored_entries(stage.left, core, stage.right, rows, columns)

    believed: Entries = by_core
    followed = None if terms is None else follow(stage, sample, terms, by_core, QUICK)
    if followed is not None:
        believed = followed.entries
        squared_error = followed.loss * len(stage.rows) * len(stage.columns)
        both = _side_by_side(vectors, followed.terms, stage)
        queues.append(Queue(*stage.near_pairs(both, per_item), both))
    batch = max(_FEWEST // len(queues), n // (_BATCH * len(queues)))
    bought, idle = _buy(stage, queues, believed, squared_error, room, batch)
    near_keys = np.concatenate([sample.near_keys, bought])
    return replace(
        sample,
        near_keys=near_keys,
        idle_since=idle,
        near_like=_stood_for(stage, sample, queues) if followed is not None else None,
    )


def _buy(
    stage: Stage,
    queues: list[Queue],
    believed: Entries,
    squared_error: float,
    room: int,
    batch: int,
) -> tuple[IntArray, int]:
    """Take a batch of each queue in turn; return the keys, and where the last was not worth it."""
    n, m = stage.oracle.shape
    s = len(stage.landmarks)
    # Of two sets a landmark is a column and a row, and a pair is one entry of the matrix.
    price, orders = (n, 2) if stage.oracle.square else (n + m, 1)
    known = stage.oracle.known()
    bought = np.empty(0, dtype=np.int64)
    idle = 0
    while any(queue.alive for queue in queues):
        for queue in queues:
            if not queue.alive:
                continue
            rest = np.arange(queue.last + 1, len(queue.rows))
            if len(queues) > 1:
                keys = known.keys_of(queue.rows[rest], queue.columns[rest])
                rest = rest[~np.isin(keys, bought)]
            mine = rest[:batch]
            if len(mine) < batch or len(bought) + batch > room:
                queue.alive = False
                continue
            i, j = queue.rows[mine], queue.columns[mine]
            exact = stage.oracle.entries(i, j)
            # Those that judge are bought like the others, or what is left to judge by would be
            # pairs of a kind that is unseen no longer.
            stage.oracle.reveal(i, j)
            # NaN where one was skipped.
            gain = orders * float(np.nansum((exact - queue.believed_at(mine, believed)) ** 2))
            bought = np.concatenate([bought, known.keys_of(i, j)])
            queue.last = int(mine[-1])
            if gain * price / batch < gain_of_a_column(s, n, m) * squared_error:
                queue.alive, idle = False, s
                continue
            squared_error = max(squared_error - gain, np.finfo(float).tiny)
    return bought, idle


def gain_of_a_column(s: int, n: int, m: int) -> float:
    """Return the share of the squared error that one more landmark takes away.

    The error elsewhere falls with s, and the landmark's column and row become exact.
    """
    return _DECAY / s + 1.0 / n + 1.0 / m


def _side_by_side(
    vectors: tuple[SingleArray, SingleArray], terms: GuideTerms, stage: Stage
) -> tuple[SingleArray, SingleArray]:
    """Return unit vectors that count similar lines and similar guides alike."""
    root = np.float32(np.sqrt(1 + len(terms.guides)))
    left = np.hstack([vectors[0], terms.left[stage.rows]]) / root
    if vectors[1] is vectors[0] and terms.right is terms.left:
        return left, left
    return left, np.hstack([vectors[1], terms.right[stage.columns]]) / root


def _stood_for(stage: Stage, sample: Sample, queues: list[Queue]) -> BoolArray:
    """Say which tuning pairs are at least as similar as the last that were bought.

    Others like them are known exactly, so that they stand for nothing that is left.
    """
    drawn = sample.drawn
    like = np.zeros(len(drawn.rows), dtype=bool)
    for queue in queues:
        if queue.last < 0:
            continue
        last = queue.rows[[queue.last]], queue.columns[[queue.last]]
        like |= _alike(stage, queue, drawn.rows, drawn.columns) >= _alike(stage, queue, *last)[0]
    return like


def _alike(stage: Stage, queue: Queue, rows: IntArray, columns: IntArray) -> FloatArray:
    i, j = np.searchsorted(stage.rows, rows), np.searchsorted(stage.columns, columns)
    result = np.empty(len(rows))
    for part in parts(len(rows)):
        left, right = queue.vectors[0][i[part]], queue.vectors[1][j[part]]
        result[part] = np.einsum("kp,kp->k", left, right)
    return result
