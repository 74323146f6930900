"""Precision and recall of clusters, pair by pair, from pairs that are drawn blindly at the end.

A pair matches if its similarity is at least the threshold. Precision is the share of matches among
all pairs within clusters, recall the share of all matches that lie within clusters. What was
evaluated on the way is counted as it is; the rest of both kinds of pairs is drawn from uniformly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.error.rows import Share
from fewpairs.error.unreached import fewest_unreached, most_unreached
from fewpairs.numerics import PAIRS_AT_A_TIME, distinct, parts
from fewpairs.tasks.clustering.pairs import Pairs

#: From numbers to the pairs that they stand for; some numbers may stand for none.
_Places: TypeAlias = Callable[[IntArray], tuple[IntArray, IntArray]]
#: Of the blind pairs, so many are drawn within clusters.
_WITHIN = 0.4
#: A share is wrong with this chance on either side; recall needs two bounds at once.
_TAIL = 0.025
#: More pairs within clusters than these are drawn from without a list of them.
_LISTED = 2_000_000
#: Draws, for each pair that is wanted, before one gives up: nearly all pairs are known then.
_PATIENCE = 200


class _Kind(NamedTuple):
    """Pairs within clusters, or between them: how many, known ones, matches among these."""

    total: int
    known: int
    matches: int

    @property
    def rest(self) -> int:
        return self.total - self.known


class Stated(NamedTuple):
    """What is stated."""

    precision: Share
    recall: Share


def state(
    pairs: Pairs, labels: IntArray, threshold: float, count: int, rng: np.random.Generator
) -> Stated:
    """Draw blind pairs within clusters and between them, and state precision and recall.

    Parameters
    ----------
    pairs : Pairs
        What was evaluated; nothing that is drawn here is kept.
    labels : ndarray of int
        Final.
    threshold : float
    count : int
        Pairs that may be drawn.
    rng : numpy.random.Generator

    Returns
    -------
    Stated
    """
    inside, outside = _count_known(pairs, labels, threshold)
    inner = min(inside.rest, max(int(_WITHIN * count), count - outside.rest))
    drawn = [_draw_within(pairs, labels, inner, rng)]
    outer = min(outside.rest, count - len(drawn[0][0]))
    drawn.append(_draw_between(pairs, labels, outer, rng))
    met = [int(np.sum(pairs.exact(*some) >= threshold)) for some in drawn]
    sizes = [len(some[0]) for some in drawn]
    precision = _share_of(inside, sizes[0], met[0])
    low, value, high = _matches(inside, sizes[0], met[0], _TAIL / 2)
    few, middle, many = _matches(outside, sizes[1], met[1], _TAIL / 2)
    # Where no match was met, nobody knows whether there is one: a median of few is no finding.
    met_none = not (inside.matches + outside.matches + sum(met)) and few < many
    about = float("nan") if met_none else _ratio(value, middle)
    return Stated(precision, Share(about, _ratio(low, many), _ratio(high, few)))


def _ratio(found: float, missing: float) -> float:
    return 1.0 if missing == 0 else found / (found + missing)


def _matches(kind: _Kind, drawn: int, met: int, tail: float) -> tuple[float, float, float]:
    """Return how many matches there are: at least, about, at most."""
    if kind.rest == 0:
        return (float(kind.matches),) * 3
    if not drawn:
        return kind.matches, kind.matches + kind.rest / 2, kind.total
    fewest = fewest_unreached(met, kind.rest, drawn, tail)
    most = most_unreached(met, kind.rest, drawn, tail)
    about = min(max(most_unreached(met, kind.rest, drawn, 0.5), fewest), most)
    return kind.matches + fewest, kind.matches + about, kind.matches + most


def _share_of(kind: _Kind, drawn: int, met: int) -> Share:
    if kind.total == 0:
        return Share(float("nan"), 0.0, 1.0)
    low, _, high = _matches(kind, drawn, met, _TAIL)
    about = kind.matches + (kind.rest * met / drawn if drawn else kind.rest / 2)
    return Share(about / kind.total, low / kind.total, high / kind.total)


def _count_known(pairs: Pairs, labels: IntArray, threshold: float) -> tuple[_Kind, _Kind]:
    """Count what was evaluated, or asked for in vain, each pair once."""
    known, sign, n = pairs.known, pairs.sign, len(labels)
    counts = np.zeros((2, 2), dtype=np.int64)  # known and matching; within and between

    def count(same: BoolArray, values: FloatArray) -> None:
        matching = sign * values >= threshold
        for place, kind in enumerate((same, ~same)):
            counts[0, place] += kind.sum()
            counts[1, place] += (kind & matching).sum()

    # What was skipped is nobody's match, whatever stands in for it in a whole line.
    left, right = known.places_of(pairs.skipped)
    lines = known.columns
    for place, item in enumerate(lines.index):
        others = lines.place < 0
        others[lines.index[:place]] = True
        values = lines.values[:, place].copy()
        values[np.concatenate([left[right == item], right[left == item]])] = np.nan
        count(labels[others] == labels[item], values[others])
    rows, columns, values = known.outside_lines()
    apart = rows != columns
    rows, columns, values = rows[apart], columns[apart], values[apart]
    count(labels[rows] == labels[columns], values)
    alone = ~known.in_lines(left, right)
    count((labels[left] == labels[right])[alone], np.full(int(alone.sum()), np.nan))
    sizes = np.bincount(labels)
    within = int((sizes * (sizes - 1) // 2).sum())
    totals = within, n * (n - 1) // 2 - within
    inside, outside = (_Kind(totals[k], int(counts[0, k]), int(counts[1, k])) for k in (0, 1))
    return inside, outside


def _draw_within(
    pairs: Pairs, labels: IntArray, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw pairs within clusters that were not evaluated, uniformly, none twice."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    total = int(ends[-1]) if len(ends) else 0

    def places(which: IntArray) -> tuple[IntArray, IntArray]:
        cluster = np.searchsorted(ends, which, side="right")
        within = which - (ends[cluster] - sizes[cluster] * (sizes[cluster] - 1) // 2)
        # The pairs of a cluster in order: (0, 1), (0, 2), (1, 2), (0, 3), …
        upper = ((1 + np.sqrt(1 + 8 * within.astype(np.float64))) / 2).astype(np.int64)
        upper -= upper * (upper - 1) // 2 > within
        upper += (upper + 1) * upper // 2 <= within
        lower = within - upper * (upper - 1) // 2
        return order[starts[cluster] + lower], order[starts[cluster] + upper]

    return _draw(pairs, places, total, count, rng)


def _draw_between(
    pairs: Pairs, labels: IntArray, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw pairs of different clusters that were not evaluated, uniformly, none twice."""
    n = len(labels)

    def places(which: IntArray) -> tuple[IntArray, IntArray]:
        rows, columns = which // n, which % n
        apart = (rows < columns) & (labels[rows] != labels[columns])
        return rows[apart], columns[apart]

    return _draw(pairs, places, n * n, count, rng)


def _draw(
    pairs: Pairs, places: _Places, total: int, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw some of the pairs that numbers below `total` stand for, of those not evaluated yet."""
    if total <= _LISTED:
        i, j = places(np.arange(total))
        unknown = np.flatnonzero(~pairs.is_known(i, j))
        chosen = np.sort(rng.choice(unknown, min(count, len(unknown)), replace=False))
        return i[chosen], j[chosen]
    n = pairs.known.shape[1]
    keys: IntArray = np.empty(0, dtype=np.int64)
    tried = 0
    while len(keys) < count and tried < _PATIENCE * count:
        more = rng.integers(total, size=4 * count + 100)
        tried += len(more)
        for part in parts(len(more), PAIRS_AT_A_TIME):
            i, j = places(more[part])
            new = ~pairs.is_known(i, j)
            keys = distinct(keys, i[new] * n + j[new])
    chosen = np.sort(rng.permutation(keys)[:count])
    return chosen // n, chosen % n
