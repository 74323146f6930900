"""What is asked of a matrix item by item: neighbours, and how far its own scores can be trusted."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray
from fewpairs.error.recall import Recall
from fewpairs.errors import InputError
from fewpairs.factored.buying import Buying
from fewpairs.factored.check import Check, check
from fewpairs.factored.extension import landmarks_for, rows_of_new
from fewpairs.factored.index import (
    Library,
    PairedMap,
    item_vectors,
    make_index,
    new_queries,
    old_queries,
)
from fewpairs.factored.indexing import one_position, positions
from fewpairs.factored.neighborhood import Neighbors
from fewpairs.factored.neighbors import nearest
from fewpairs.factored.search import ROUNDS, search
from fewpairs.items.ids import Names, read_ids
from fewpairs.items.items import as_items
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption


class Answers(Buying):
    """A matrix that is asked item by item."""

    def nearest(
        self,
        index: int | str | None = None,
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
        index : int or str, optional
            Position of an item, or its id; it is left out of its own neighbours.
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
            what it took, ``predicted`` whether scores are the factored ones, ``ids`` and ``texts``
            what the indices stand for; `to_pandas` and `to_polars` give all of it as a table.
        """
        own = None if index is None else one_position(index, self.shape[0], self.source.ids.left)
        before = self.evaluations
        with self._recording(journal) as matrix:
            indices, similarities, spent, predicted = nearest(
                matrix, own, k, item=item, rerank=rerank, budget=budget
            )
            matrix.evaluations += spent
        found = self._found(indices, similarities, self.evaluations - before)
        found.predicted = predicted
        return found

    def search(
        self,
        queries: Any,
        k: int = 10,
        *,
        budget: int | str,
        rounds: int = ROUNDS,
        blind: int = 0,
        random_state: RandomState = None,
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
        blind : int, default=0
            Pairs of all queries together, drawn uniformly among those that the search has left,
            and evaluated beside its budget (money pays for them, too). From them ``recall`` is
            stated, and better ones take their place in the answer.
        random_state : int, Generator or None
            Of that draw.
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
            ``recall`` says which share of the true k nearest is there, with a 95 % interval, if
            `blind` pairs were drawn.

        Examples
        --------
        >>> import fewpairs as fp
        >>> X = np.random.default_rng(0).normal(size=(500, 8))
        >>> rbf = fp.VectorSimilarity("rbf", gamma=0.1)
        >>> K = fp.approximate(X[:480], rbf, budget=0.1, random_state=0)
        >>> near = K.search(X[480:], k=5, budget=40)
        >>> near.indices.shape, near.evaluations
        ((20, 5), 800)
        >>> print(K.search(X[480:], k=5, budget=100, blind=3000, random_state=0).recall)
        recall 0.980 (95 % interval 0.910 to 1); 1 neighbour among 3,000 pairs drawn ... missed
        """
        before = self.evaluations
        records = bool(getattr(self.source.similarity, "takes_records", False))
        asked = as_items(queries, records=records)
        with self._recording(journal) as matrix:
            indices, similarities, spent, recall = search(
                matrix,
                asked,
                k,
                budget,
                rounds=rounds,
                blind=blind,
                random_state=random_state,
                guide=guide,
                n_jobs=n_jobs,
                progress=progress,
            )
            matrix.evaluations += spent
        named = read_ids(None, asked).left
        return self._found(indices, similarities, self.evaluations - before, named, recall)

    def _found(
        self,
        indices: IntArray,
        similarities: FloatArray,
        evaluations: int,
        queries: Names | None = None,
        recall: Recall | None = None,
    ) -> Neighbors:
        source = self.source
        items = source.items if source.square else source.others
        return Neighbors(
            indices,
            similarities,
            evaluations,
            names=source.ids.right,
            items=items,
            queries=queries,
            recall=recall,
        )

    @property
    def ids(self) -> list[Any] | None:
        """Your ids of the items (of two sets, those of the rows); None where there are none."""
        return None if self.source.ids.left is None else list(self.source.ids.left.values)

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
        rows : int, str, or sequence of these, optional
            Positions of rows, or their ids; all by default.
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
            if rows is None:
                return old_queries(self, slice(None), self._paired)
            places = positions(rows, self.shape[0], self.source.ids.left)
            return old_queries(self, np.atleast_1d(places), self._paired)
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
