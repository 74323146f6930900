"""Pairs that a search has left, some drawn blindly: they say what it has missed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.lists import state_lists
from fewpairs.error.recall import Recall
from fewpairs.factored.rounds import Rounds


@dataclass(frozen=True, eq=False)
class Left:
    """What a search of some rows has not asked for.

    Parameters
    ----------
    asked : ndarray of shape (rows, c)
        Columns that it has asked for, of each row.
    width : int
        Columns that there are.
    """

    asked: IntArray
    width: int

    @property
    def each(self) -> int:
        """Pairs that are left of each row."""
        return int(self.width - self.asked.shape[1])

    @property
    def count(self) -> int:
        """Pairs that are left."""
        return len(self.asked) * self.each

    def draw(self, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw different pairs, each with the same chance; in the order of rows."""
        drawn = np.sort(rng.choice(self.count, count, replace=False, shuffle=False))
        rows, places = np.divmod(drawn, max(self.each, 1))
        columns = np.empty_like(places)
        ends = np.searchsorted(rows, np.arange(len(self.asked) + 1))
        for row in np.unique(rows).tolist():
            mine = slice(ends[row], ends[row + 1])
            # The p-th column that was not asked for has as many asked ones before it.
            held = np.sort(self.asked[row])
            before = np.searchsorted(held - np.arange(len(held)), places[mine], side="right")
            columns[mine] = places[mine] + before
        return rows, columns


def look_again(
    rounds: Rounds,
    left: Left,
    lists: tuple[IntArray, FloatArray],
    count: int,
    rng: np.random.Generator,
) -> Recall:
    """Evaluate blindly drawn pairs, put the better ones into the lists, and state the recall.

    Parameters
    ----------
    rounds : Rounds
        Which the search has asked by.
    left : Left
    lists : (ndarray, ndarray), each of shape (rows, k)
        Places and values, best first; changed in place.
    count : int
        Pairs to draw.
    rng : numpy.random.Generator

    Returns
    -------
    Recall
    """
    places, values = lists
    rows, columns = left.draw(min(count, left.count), rng)
    found = rounds.beside(rows, columns) if len(rows) else np.empty(0)
    last = np.where(np.isnan(values[:, -1]), -np.inf, values[:, -1])
    better = found > last[rows]
    placed = 0
    for row in np.unique(rows[better]).tolist():
        mine = better & (rows == row)
        every = np.concatenate([values[row], found[mine]])
        order = np.argsort(-every, kind="stable")[: len(values[row])]
        placed += int((order >= len(values[row])).sum())
        places[row] = np.concatenate([places[row], columns[mine]])[order]
        values[row] = every[order]
    return state_lists(
        places.size,
        rest=left.count,
        drawn=len(rows),
        missed=int(better.sum()),
        placed=placed,
        empty=int(np.isnan(values).sum()),
        unread=rounds.unread,
        deepest=left.each,
        pairs=len(left.asked) * left.width,
        skipped=rounds.skipped,
    )
