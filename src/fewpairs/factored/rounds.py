"""What a search asks for, round by round, within what it may cost in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.items.items import Items

if TYPE_CHECKING:
    from fewpairs.factored.source import Source
    from fewpairs.oracle.oracle import Oracle


class Rounds:
    """Evaluates items against columns, a few in each round.

    A journal is opened, and some of its values are compared, once and not in each round; that
    counts within what all of it may cost. Without a journal only columns that are asked for are
    prepared.

    Parameters
    ----------
    source : Source
    items : Items
        Of the rows.
    columns : ndarray of int64
        That may be asked for, in ascending order.
    most : int
        What all of it may cost.
    n_jobs, progress : as for `Oracle`

    Attributes
    ----------
    answers : list of (places, values)
        Everything that was answered, also before a fault.
    unread, skipped : int
        Pairs that there was nothing left to pay with, and those without a value.
    """

    def __init__(
        self,
        source: Source,
        items: Items,
        columns: IntArray,
        most: int,
        *,
        n_jobs: int = 1,
        progress: Any = None,
    ) -> None:
        self._source, self._items, self._columns, self._most = source, items, columns, most
        self._how = {"n_jobs": n_jobs, "progress": progress}
        self._before = 0
        self._oracle: Oracle | None = None
        self.answers: list[tuple[IntArray, FloatArray]] = []
        self.unread = self.skipped = 0

    @property
    def evaluations(self) -> int:
        """What all of it has cost so far."""
        return self._before + (0 if self._oracle is None else self._oracle.evaluations)

    def evaluate(self, rows: IntArray, places: IntArray) -> FloatArray:
        """Evaluate rows, each against places of its own.

        Parameters
        ----------
        rows : ndarray of shape (r,)
        places : ndarray of shape (r, c)
            Columns, the most promising first.

        Returns
        -------
        ndarray of shape (r, c)
            NaN for what was skipped, and for what there is nothing left to pay with.
        """
        # The most promising of each row come first, should there not be enough for all.
        values = self._asked(np.tile(rows, places.shape[1]), places.T.ravel(), within=True)
        return values.reshape(places.shape[::-1]).T

    def beside(self, rows: IntArray, places: IntArray) -> FloatArray:
        """Evaluate single pairs, beside what all of it may cost; NaN for what was skipped."""
        return self._asked(rows, places, within=False)

    def _asked(self, rows: IntArray, places: IntArray, *, within: bool) -> FloatArray:
        oracle, columns = self._opened(places)
        j = np.searchsorted(columns, places)
        values = np.full(len(rows), np.nan)
        some = self._affordable(oracle, rows, j) if within else np.arange(len(rows))
        try:
            values[some] = oracle.entries(rows[some], j[some])
        finally:
            told = oracle.answered(rows, j)
            known = ~np.isnan(told)
            self.answers.append((places[known], told[known]))
        self.unread += len(rows) - len(some)
        self.skipped += int(np.isnan(values[some]).sum())
        return values

    def _opened(self, places: IntArray) -> tuple[Oracle, IntArray]:
        """Return an oracle that has these columns, and which columns it has."""
        across = self._source.across("an exact score")
        if self._source.journal is None:
            columns = np.unique(places)
            self._before = self.evaluations
        elif self._oracle is None:
            columns = self._columns
        else:
            return self._oracle, self._columns
        others = across.subset(columns)
        self._oracle = self._source.asking(self._items, others, skips=True, **self._how)
        return self._oracle, columns

    def _affordable(self, oracle: Oracle, rows: IntArray, columns: IntArray) -> IntArray:
        """Return which entries can be paid for; those that a journal has cost nothing."""
        if oracle.journal is None:
            return np.arange(len(rows))
        costs = np.where(oracle.paid(rows, columns), 0, self._source.price_of_entry)
        return np.flatnonzero(self.evaluations + np.cumsum(costs) <= self._most)
