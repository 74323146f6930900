"""Every pair evaluated: where that is quicker than any search, or where it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError
from fewpairs.numerics import PAIRS_AT_A_TIME, parts
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import at_a_time
from fewpairs.similarities.protocol import Similarity
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe

#: Of a cheap similarity, up to this many pairs are all evaluated unasked: seconds for names, and
#: some 160 MB at most while it runs. The search takes longer from a thousandth of that on.
MANY = 10_000_000
#: Where a statement needs half of what is left, or more, all is evaluated if it is no more than
#: this, or than four times what was; of more, that is the user's decision.
_FEW, _TIMES = 1_000_000, 4
#: What they give, and how to ask for them in Python and on the command line.
ALL_PAIRS = "miss none: all_pairs=True, or --all-pairs"
#: Bytes of an entry while it is asked for.
_PER_ENTRY = 150


def evaluates_all(
    asked: Any, budget: float | str | None, similarity: Similarity, universe: Universe
) -> bool:
    """Decide whether all pairs are evaluated, by declared facts and counts alone.

    Parameters
    ----------
    asked : bool or None
        What the user said; None leaves it open.
    budget : int, float, str or None
    similarity : Similarity
    universe : Universe

    Returns
    -------
    bool
    """
    if asked is None:
        return budget is None and bool(similarity.cheap) and 0 < universe.size <= MANY
    if not isinstance(asked, (bool, np.bool_)):
        raise InputError(
            f"all_pairs is {asked!r}.",
            "It says whether every pair is evaluated.",
            "Pass True or False, or leave it out: a cheap similarity of few items is.",
        )
    if asked and budget is not None:
        raise InputError(
            f"all_pairs=True was given beside budget={budget!r}.",
            "All pairs are evaluated whatever that costs.",
            "Leave one of them out.",
        )
    return bool(asked) and universe.size > 0


def better_all(blind: int, left: int, evaluated: int) -> bool:
    """Say whether a statement that takes so many blind pairs is better made from all that are left.

    Parameters
    ----------
    blind : int
    left, evaluated : int
        Pairs that are not evaluated, and that are.

    Returns
    -------
    bool
    """
    return 2 * blind >= left and left <= max(_FEW, _TIMES * evaluated)


def whole_rows(oracle: Oracle) -> Iterator[tuple[IntArray, FloatArray]]:
    """Evaluate all pairs; give some rows at a time, with their similarities to everything.

    Where whole blocks would ask for an item with itself, and that costs something, pairs are asked
    for one by one; it then reads as NaN.
    """
    n, m = oracle.shape
    planner = oracle.planner
    apart = not oracle.square or (oracle.symmetric and planner.diagonal_known)
    blocks = oracle.similarity.cheap or (apart and not planner.by_pairs_only)
    lines = oracle.columns(np.arange(m)) if blocks else None
    for part in parts(n, max(1, PAIRS_AT_A_TIME // m)):
        rows: IntArray = np.arange(part.start, part.stop)
        if lines is None:
            yield rows, pair_by_pair(oracle, rows)
        else:
            yield rows, _with_gaps(oracle, rows, np.arange(m), lines[rows])


def all_matches(oracle: Oracle, universe: Universe, threshold: Threshold) -> IntArray:
    """Evaluate all pairs; return the keys of those that match, in order."""
    keys = [np.empty(0, dtype=np.int64)]
    for rows, columns, values in _everywhere(oracle, universe):
        i, j = np.nonzero(threshold.holds(values))
        i, j = rows[i], columns[j]
        pairs = universe.holds(i, j)
        keys.append(universe.keys(i[pairs], j[pairs]))
    return np.sort(np.concatenate(keys))


def _everywhere(
    oracle: Oracle, universe: Universe
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Give rows, columns and similarities of everything but pairs of two old items."""
    if not any(universe.old):
        for some, values in whole_rows(oracle):
            yield some, np.arange(universe.m), values
        return
    for block in universe.blocks:
        rows, columns = (np.arange(side.start, side.stop) for side in block)
        if block[1].start == universe.old[1]:
            values = oracle.columns(columns)[rows]
        else:  # new rows in what is left, the old columns
            values = oracle.rows(rows)[:, columns]
        yield rows, columns, _with_gaps(oracle, rows, columns, values)


def _with_gaps(oracle: Oracle, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray:
    """Take back what stands in for skipped pairs in whole lines: in an answer they have no value.

    Rows and columns are runs of consecutive ones.
    """
    skipped = oracle.skipped
    if not len(skipped):
        return values
    i, j = (np.concatenate([skipped, skipped[:, ::-1]]) if oracle.symmetric else skipped).T
    inside = (rows[0] <= i) & (i <= rows[-1]) & (columns[0] <= j) & (j <= columns[-1])
    answered = np.array(values)
    answered[i[inside] - rows[0], j[inside] - columns[0]] = np.nan
    return answered


def pair_by_pair(oracle: Oracle, rows: IntArray) -> FloatArray:
    """Return whole rows without asking for an item with itself, which reads as NaN."""
    m = oracle.shape[1]
    values = np.full((len(rows), m), np.nan)
    for part in parts(len(rows), max(1, at_a_time(PAIRS_AT_A_TIME, _PER_ENTRY) // m)):
        down, across = np.repeat(rows[part], m), np.tile(np.arange(m), len(rows[part]))
        apart = down != across if oracle.square else np.ones(len(down), dtype=bool)
        values[part][apart.reshape(-1, m)] = oracle.entries(down[apart], across[apart])
    return values
