"""Exact entries of a matrix that is there: bought when they are asked for, kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.bought import Bought, Tally
from fewpairs.factored.factors import Factors
from fewpairs.factored.rounds import Rounds
from fewpairs.factored.source import Source, only_row
from fewpairs.items.ids import Ids
from fewpairs.oracle.journal.journal import JournalOption, as_journal


class Buying(Factors):
    """Factors that know where they came from, so that entries can be evaluated exactly.

    Attributes
    ----------
    source : Source
    evaluations : int
        What all of it took so far.
    skipped : ndarray of int64
        Pairs that have no value.
    """

    source: Source
    evaluations: int
    skipped: IntArray

    @property
    def _names(self) -> Ids:
        return self.source.ids

    def known_in_row(self, row: int, columns: IntArray) -> FloatArray:
        """Return what the matrix knows exactly of a row's entries; NaN for the rest."""
        if self.known.empty:
            return np.full(len(columns), np.nan)
        found = self.known.find(np.full(len(columns), row, dtype=np.int64), columns)
        if len(self.skipped):  # what stands in for them is no exact score
            i, j = self.skipped.T
            both = np.append(j[i == row], i[j == row] if self.known.symmetric else [])
            found[np.isin(columns, both)] = np.nan
        return found

    def paid_in_row(self, row: int, columns: IntArray) -> FloatArray:
        """Return the same, with what was evaluated since the matrix was made."""
        found = self.known_in_row(row, columns)
        return np.where(np.isnan(found), self._bought.find(row, columns), found)

    def exactly(self, row: int, columns: IntArray, *, n_jobs: int = 1) -> FloatArray:
        """Return entries of a row as the similarity answers them; pay only for what is new.

        NaN for what was skipped.
        """
        found = self.paid_in_row(row, columns)
        new = np.isnan(found)
        if new.any():
            oracle = self.source.ask_for(self.source.at(row), columns[new], n_jobs=n_jobs)
            try:
                found[new] = only_row(oracle)
            finally:  # also of what a fault has ended
                places = np.arange(int(new.sum()))
                values = oracle.answered(np.zeros_like(places), places)
                known = ~np.isnan(values)
                known[oracle.skipped[:, 1]] = False
                self._bought.keep(row, columns[new][known], values[known])
            self.evaluations += oracle.evaluations
        return found

    @contextmanager
    def buying(
        self, row: int, columns: IntArray, most: int
    ) -> Iterator[Callable[[IntArray], FloatArray]]:
        """Give what evaluates columns of a row in rounds; keep all answers, whatever ends it.

        Parameters
        ----------
        row : int
        columns : ndarray of int64
            That may be asked for.
        most : int
            What all of it may cost.
        """
        rounds = Rounds(self.source, self.source.at(row), columns, most)
        first = np.zeros(1, dtype=np.int64)
        try:
            yield lambda places: rounds.evaluate(first, places)
        finally:
            for places, values in rounds.answers:
                self._bought.keep(row, places, values)
        self.evaluations += rounds.evaluations

    @contextmanager
    def _recording(self, journal: JournalOption) -> Iterator[Self]:
        """Give a matrix that shares everything with this one, and counts and writes down."""
        view, tally = copy(self), Tally()
        view._bought = self._bought  # noqa: SLF001 - its own
        view.source = replace(self.source, journal=as_journal(journal), tally=tally)
        try:
            yield view
        except BaseException:  # whatever it is: what was paid for counts
            self.evaluations += tally.evaluations
            raise
        self.evaluations = view.evaluations

    @cached_property
    def _bought(self) -> Bought:
        similarity = self.source.similarity
        both = self.source.square and similarity is not None and bool(similarity.symmetric)
        return Bought(self.shape[1], symmetric=both)
