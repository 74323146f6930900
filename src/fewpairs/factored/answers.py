"""What is asked of a matrix item by item: neighbours, and how far its own scores can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray
from fewpairs.errors import InputError
from fewpairs.factored.bought import Bought, Tally
from fewpairs.factored.check import Check, check
from fewpairs.factored.extension import landmarks_for, rows_of_new
from fewpairs.factored.factors import Factors
from fewpairs.factored.index import (
    Library,
    PairedMap,
    item_vectors,
    make_index,
    new_queries,
    old_queries,
)
from fewpairs.factored.indexing import one_position, positions
from fewpairs.factored.neighbors import Neighbors, nearest
from fewpairs.factored.rounds import Rounds
from fewpairs.factored.search import ROUNDS, search
from fewpairs.factored.source import Source, only_row
from fewpairs.oracle.journal.journal import JournalOption, as_journal
from fewpairs.oracle.progress import ProgressOption


class Answers(Factors):
    """Factors that know where they came from, so that entries can be evaluated exactly.

    Attributes
    ----------
    source : Source
    evaluations : int
        What all of it took so far.
    skipped : ndarray of shape (n_skipped, 2)
        Pairs without a value.
    """

    source: Source
    evaluations: int
    skipped: IntArray

    def nearest(
        self,
        index: int | None = None,
        k: int = 10,
        *,
        item: Any = None,
        rerank: int | None = None,
        budget: int | str | None = None,
        journal: JournalOption = None,
    ) -> Neighbors:
        """Return the k most similar items.

        The factored scores choose candidates, and the similarity ranks them, if it is there. What
        is known of the item's row takes part with its exact value, and is not paid for again.

        Parameters
        ----------
        index : int, optional
            Position of an item; it is left out of its own neighbours.
        k : int, default=10
        item : object, optional
            A new item instead; costs its similarities with the landmarks.
        rerank : int, optional
            How many of the best candidates are evaluated exactly (at least k), and counted. By
            default max(50, 10·k) where the matrix holds items and similarity, else none; 0 leaves
            it at the factored scores.
        budget : int or str, optional
            What it may cost in all, instead, in evaluations or as money ("0.05 USD"): the most
            promising are evaluated, round by round, as `search` does for many new items. A new item
            is then not compared with landmarks.
        journal : str, Path or Journal, optional
            Folder in which evaluations are looked up and written down.

        Returns
        -------
        Neighbors
            Named tuple ``(indices, similarities)``, best first; its attribute ``evaluations`` says
            what it took.
        """
        own = None if index is None else one_position(index, self.shape[0])
        before = self.evaluations
        with self._recording(journal) as matrix:
            indices, similarities, spent = nearest(
                matrix, own, k, item=item, rerank=rerank, budget=budget
            )
            matrix.evaluations += spent
        return Neighbors(indices, similarities, self.evaluations - before)

    def search(
        self,
        queries: Any,
        k: int = 10,
        *,
        budget: int | str,
        rounds: int = ROUNDS,
        guide: Any = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
        journal: JournalOption = None,
    ) -> Neighbors:
        """Return the k most similar items of each of many new ones, by a few evaluations of each.

        The most promising are evaluated; what they are found to be says which others are
        promising, and so on. Before anything is known of a new item, that is what the guide
        says; without one, what is similar to most. Landmarks are not evaluated as such.

        Parameters
        ----------
        queries : sequence
            New items.
        k : int, default=10
        budget : int or str
            Evaluations of each of them; or money for all of them together, as in "5 USD", where the
            similarity has a `cost`. What is compared with a journal counts among them.
        rounds : int, default=5
            More find a little more, but each waits for the one before.
        guide : array, encoder, or list of these, optional
            Of the queries, where the matrix was made with a guide that is no encoder.
        n_jobs : int, default=1
        progress : bool, callable or None
        journal : str, Path or Journal, optional
            Folder in which evaluations are looked up and written down.

        Returns
        -------
        Neighbors
            ``indices`` and ``similarities`` (exact) have a row for each query, best first. Where
            fewer than k have a value, since others were skipped, -1 and NaN stand behind them.

        Examples
        --------
        >>> import fewpairs as fp
        >>> X = np.random.default_rng(0).normal(size=(500, 8))
        >>> rbf = fp.VectorSimilarity("rbf", gamma=0.1)
        >>> K = fp.approximate(X[:480], rbf, budget=0.1, random_state=0)
        >>> near = K.search(X[480:], k=5, budget=40)
        >>> near.indices.shape, near.evaluations
        ((20, 5), 800)
        """
        before = self.evaluations
        with self._recording(journal) as matrix:
            indices, similarities, spent = search(
                matrix,
                queries,
                k,
                budget,
                rounds=rounds,
                guide=guide,
                n_jobs=n_jobs,
                progress=progress,
            )
            matrix.evaluations += spent
        return Neighbors(indices, similarities, self.evaluations - before)

    def check(
        self,
        k: int | None = None,
        *,
        above: float | None = None,
        below: float | None = None,
        rows: int = 20,
        rerank: int | None = None,
        random_state: RandomState = None,
        n_jobs: int = 1,
        progress: ProgressOption = None,
        journal: JournalOption = None,
    ) -> Check:
        """Read a few random rows whole, and say how good the largest entries are.

        `error` speaks of the whole matrix; its few largest entries may still be wrong. This asks
        for neighbours, or for entries above (below) a threshold. Rows are drawn among those that
        the matrix does not hold exactly, and cost one evaluation for each entry that is not known;
        `nearest` uses them later on, and the matrix itself stays as it is.

        Parameters
        ----------
        k : int, optional
            Check each item's k nearest; 10 unless a threshold is given.
        above, below : float, optional
            Check instead which entries are at least (at most) this.
        rows : int, default=20
            How many to read. The interval narrows with their number.
        rerank : int, optional
            Candidates for exact ranking, as for `nearest`.
        random_state : int, Generator or None
        n_jobs : int, default=1
        progress : bool, callable or None
        journal : str, Path or Journal, optional
            Folder in which evaluations are looked up and written down.

        Returns
        -------
        Check
            Recall and precision with 95 % intervals; prints as a sentence.

        Examples
        --------
        >>> import fewpairs as fp
        >>> X = np.random.default_rng(0).normal(size=(300, 20))
        >>> rbf = fp.VectorSimilarity("rbf", gamma=0.05)
        >>> K = fp.approximate(X, rbf, budget=0.2, random_state=0)
        >>> found = K.check(k=10, random_state=0)
        >>> found.recall.value < found.reranked.value
        True
        """
        with self._recording(journal) as matrix:
            return check(
                matrix,
                k,
                above=above,
                below=below,
                rows=rows,
                rerank=rerank,
                random_state=random_state,
                n_jobs=n_jobs,
                progress=progress,
            )

    # ------------------------------------------------------------------ other libraries' indexes

    def to_index(self, library: Library) -> Any:
        """Return an index of faiss or usearch, which ranks items as the factored scores do.

        It holds `item_vectors`, and is asked with `query_vectors`. Known entries are not in it: an
        item's own and its evaluated ones are predictions, as all others.

        Parameters
        ----------
        library : {"faiss", "usearch"}
            ``faiss.IndexFlatIP``, which is exact, or ``usearch.index.Index`` by inner product,
            which is exact on request (``exact=True``).

        Returns
        -------
        faiss.IndexFlatIP or usearch.index.Index
        """
        return make_index(library, self.item_vectors())

    def item_vectors(self) -> SingleArray:
        """Return a vector for each column, for an index of one's own.

        Inner products with `query_vectors` are the factored scores, in single precision; with a
        guide, up to what its squared products lose through 500 anchors.
        """
        return item_vectors(self, self._paired)

    def query_vectors(
        self,
        rows: Any = None,
        *,
        items: Any = None,
        evaluations: int | None = None,
        guide: Any = None,
    ) -> SingleArray:
        """Return vectors by which `item_vectors` are searched.

        Parameters
        ----------
        rows : int or sequence of int, optional
            Of the matrix; all by default.
        items : sequence, optional
            New items instead.
        evaluations, guide : as for `extend`
            What each new item may cost, and where its guide's vectors come from.

        Returns
        -------
        ndarray of shape (rows, coordinates), float32

        Examples
        --------
        >>> import fewpairs as fp
        >>> X = np.random.default_rng(0).normal(size=(100, 5))
        >>> rbf = fp.VectorSimilarity("rbf", gamma=0.1)
        >>> K = fp.approximate(X, rbf, landmarks=20, method="nystrom")
        >>> scores = K.query_vectors([3]) @ K.item_vectors().T
        >>> bool(np.allclose(scores, K.left[[3]] @ K.core @ K.right.T, atol=1e-5))
        True
        """
        if rows is not None and items is not None:
            raise InputError(
                "query_vectors got rows and items=….",
                "Vectors are of rows of the matrix, or of new items.",
                "Call it once for each.",
            )
        if items is None:
            places = slice(None) if rows is None else np.atleast_1d(positions(rows, self.shape[0]))
            return old_queries(self, places, self._paired)
        self.source.refuse_without_landmarks()
        most = landmarks_for(self.source, evaluations)
        with self._recording(None) as matrix:
            grown = matrix.source.compare(items, most=most)
            made = rows_of_new(matrix, grown, guide)
            matrix.evaluations += grown.evaluations
        return new_queries(self, made, self._paired)

    @cached_property
    def _paired(self) -> PairedMap:
        return PairedMap.of(self)

    # ------------------------------------------------------------------ what is known

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
