"""Where a factored matrix came from: items, similarity, landmarks, by which it asks for more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import NotAttachedError
from fewpairs.factored.bought import Tally
from fewpairs.factored.grown import Grown
from fewpairs.factored.line_guide import LineGuide
from fewpairs.items.ids import NO_IDS, Ids
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.journal.journal import Journal
from fewpairs.oracle.known import Lines
from fewpairs.oracle.oracle import Oracle
from fewpairs.similarities.base import Similarity


@dataclass(frozen=True, eq=False)
class Source:
    """What the factors were made of.

    Parameters
    ----------
    items : Items or None
        Of the rows, and of the columns unless there are others.
    others : Items or None
        Of the columns, where they are other items than those of the rows.
    square : bool
        Whether they are the same.
    similarity : Similarity or None
    fingerprint : str
        Of the similarity; kept in files, where the similarity itself is not.
    left_landmarks, right_landmarks : ndarray or None
        Column k of the left (right) factor holds the similarities to (of) this item, times
        2^power.
    symmetric : bool
        Whether the similarity is; if not, the transpose of its matrix is another matrix.
    derived : str
        What was done to the matrix of an asymmetric similarity; nothing further can then be
        evaluated for it.
    power : int
        0 for similarities of ordinary size.
    journal : Journal or None
        Where what is evaluated here is written down, for the time of a call.
    guide : LineGuide or None
        Where a guide was followed, the first columns of both factors hold the similarities less
        what the guide says of them.
    tally : Tally or None
        Counts what is evaluated here, for the time of a call.
    ids : Ids
        The user's names of rows and columns.
    """

    items: Items | None = None
    others: Items | None = None
    square: bool = True
    similarity: Similarity | None = None
    fingerprint: str = ""
    left_landmarks: IntArray | None = None
    right_landmarks: IntArray | None = None
    symmetric: bool = True
    derived: str = ""
    power: int = 0
    journal: Journal | None = None
    guide: LineGuide | None = None
    tally: Tally | None = None
    ids: Ids = NO_IDS

    def transposed(self) -> Source:
        """Return the source of the transpose."""
        ids = Ids(self.ids.right, self.ids.left)
        if not self.symmetric:
            return replace(self, derived="the transpose", ids=ids)
        both = (self.items, self.others)
        items, others = both if self.square else both[::-1]
        return replace(
            self,
            items=items,
            others=others,
            left_landmarks=self.right_landmarks,
            right_landmarks=self.left_landmarks,
            ids=ids,
        )

    def symmetrized(self) -> Source:
        """Return the source of (K + Kᵀ) / 2, whose one factor is both factors side by side."""
        derived = self.derived if self.symmetric else "the symmetrized form"
        if self.left_landmarks is None or self.right_landmarks is None:
            return replace(self, derived=derived)
        if self.guide is not None:  # lines and vectors are no longer in their places
            return replace(
                self, left_landmarks=None, right_landmarks=None, guide=None, derived=derived
            )
        both = np.concatenate([self.left_landmarks, self.right_landmarks])
        return replace(self, left_landmarks=both, right_landmarks=both, derived=derived)

    def at(self, index: int) -> Items:
        """Return one of the items, as items."""
        return self._items("an exact score").subset([index])

    def compare(
        self, new_items: Any, *, most: int | None = None, n_jobs: int = 1, progress: Any = None
    ) -> Grown:
        """Evaluate new items against the landmarks (the first `most`), and nothing else."""
        if most == 0:
            return self._unasked(new_items)
        items = self._items("a new item")
        similarity = self._similarity("a new item")
        self.refuse_without_landmarks()
        assert self.left_landmarks is not None  # noqa: S101 - just looked
        assert self.right_landmarks is not None  # noqa: S101 - just looked
        new = as_items(new_items, records=bool(similarity.takes_records))
        if not self.square:
            return self._compare_row(items, new, most, n_jobs, progress)
        of_left, of_right = self.left_landmarks[:most], self.right_landmarks[:most]
        landmarks = np.union1d(of_left, of_right)
        ask = partial(self.asking, n_jobs=n_jobs, progress=progress, skips=True)
        if similarity.symmetric:
            oracle = ask(new, others=items.subset(landmarks))
            forth = back = oracle.columns(np.arange(len(landmarks)))
            spent = oracle.evaluations
            forth_at = back_at = landmarks
            gone = back_gone = oracle.skipped
        else:
            forth_at, back_at = np.unique(of_left), np.unique(of_right)
            to, of = items.subset(forth_at), items.subset(back_at)
            there = ask(new, others=to)
            forth = there.columns(np.arange(len(forth_at)))
            again = ask(of, others=new)
            back = again.rows(np.arange(len(back_at))).T
            spent = there.evaluations + again.evaluations
            gone, back_gone = there.skipped, again.skipped[:, ::-1]
        return Grown(
            source=replace(self, items=items.joined(new)),
            forth=Lines.of(forth_at, without(forth, gone), len(items)),
            back=Lines.of(back_at, without(back, back_gone), len(items)),
            new=new,
            evaluations=spent,
        )

    def _unasked(self, new_items: Any) -> Grown:
        """Return new items of which nothing is evaluated."""
        new = as_items(new_items, records=bool(getattr(self.similarity, "takes_records", False)))
        items = self._items("a new item")
        width = len(items if self.square else self.across("a new row"))
        nothing = Lines.none(len(new), width)
        back = Lines.none(len(new), len(items)) if self.square else None
        return Grown(replace(self, items=items.joined(new)), nothing, back, new, 0)

    def refuse_without_landmarks(self) -> None:
        """Refuse new items where nothing is there to compare them with."""
        if self.left_landmarks is None or self.right_landmarks is None:
            raise NotAttachedError(
                "this matrix has no landmarks to compare new items with.",
                "Its factors were not made of columns of the similarity matrix.",
                "Extend the matrix that fewpairs.approximate returned, by a landmark method.",
            )

    @property
    def price_of_entry(self) -> int:
        """Evaluations that an entry takes."""
        return 1 if self.similarity is None else self.similarity.evaluations_per_entry

    def _compare_row(
        self,
        items: Items,
        new: Items,
        most: int | None,
        n_jobs: int,
        progress: Any,
    ) -> Grown:
        """Evaluate a new row of a matrix between two sets against the columns' landmarks."""
        others = self.across("a new row")
        assert self.left_landmarks is not None  # noqa: S101 - the caller looked
        landmarks = self.left_landmarks[:most]
        to = others.subset(landmarks)
        oracle = self.asking(new, to, n_jobs=n_jobs, progress=progress, skips=True)
        forth = without(oracle.columns(np.arange(len(landmarks))), oracle.skipped)
        return Grown(
            source=replace(self, items=items.joined(new)),
            forth=Lines.of(landmarks, forth, len(others)),
            back=None,
            new=new,
            evaluations=oracle.evaluations,
        )

    def oracle(self, *, n_jobs: int = 1) -> Oracle:
        """Return an oracle of all items, which remembers nothing."""
        others = None if self.square else self.across("an error")
        return self.asking(self._items("an error"), others, n_jobs=n_jobs, skips=True)

    def asking(
        self,
        items: Items,
        others: Items | None = None,
        *,
        n_jobs: int = 1,
        progress: Any = None,
        skips: bool = False,
    ) -> Oracle:
        """Return an oracle of some items, whose evaluations count."""
        oracle = Oracle(
            items,
            self._similarity("an exact score"),
            others=others,
            n_jobs=n_jobs,
            progress=progress,
            resumable=False,
            skips=skips,
            journal=self.journal,
        )
        if self.tally is not None:
            self.tally.follow(oracle)
        return oracle

    @property
    def evaluates(self) -> bool:
        """Whether entries of the matrix can be evaluated: items and similarity are there."""
        across = self.items if self.square else self.others
        there = self.items is not None and across is not None and self.similarity is not None
        return there and not self.derived

    def evaluate_exactly(
        self, query: Items, candidates: IntArray, *, n_jobs: int = 1
    ) -> tuple[FloatArray, int]:
        """Evaluate one item against some others; return the values and what they cost.

        NaN for those that were skipped.
        """
        oracle = self.ask_for(query, candidates, n_jobs=n_jobs)
        return only_row(oracle), oracle.evaluations

    def ask_for(self, query: Items, candidates: IntArray, *, n_jobs: int = 1) -> Oracle:
        """Return an oracle of one item and some columns."""
        others = self.across("an exact score").subset(candidates)
        return self.asking(query, others, n_jobs=n_jobs, skips=True)

    def _items(self, purpose: str) -> Items:
        return self._attached(self.items, purpose)

    def across(self, purpose: str) -> Items:
        """Return the items of the columns."""
        return self._attached(self.items if self.square else self.others, purpose)

    @staticmethod
    def _attached(items: Items | None, purpose: str) -> Items:
        if items is None:
            raise NotAttachedError(
                f"{purpose} needs the items, and this matrix does not hold them.",
                "Only texts and numbers are stored in files.",
                "Load it with fewpairs.load(path, items=…, similarity=…).",
            )
        return items

    def _similarity(self, purpose: str) -> Similarity:
        if self.derived:
            raise NotAttachedError(
                f"{purpose} was asked of {self.derived} of an asymmetric similarity's matrix.",
                "The similarity would answer for the matrix itself, not for this one.",
                "Ask the matrix itself first, then transpose or symmetrize the result.",
            )
        if self.similarity is None:
            raise NotAttachedError(
                f"{purpose} needs the similarity ({self.fingerprint or 'unknown'}), and this "
                "matrix does not hold it.",
                "A file stores its name, never its code.",
                "Load it with fewpairs.load(path, similarity=…).",
            )
        return self.similarity


def only_row(oracle: Oracle) -> FloatArray:
    """Return the row of an oracle of one item; NaN where nothing but a stand-in is known."""
    values = oracle.rows([0]).flatten()
    values[oracle.skipped[:, 1]] = np.nan
    return values


def without(values: FloatArray, skipped: IntArray) -> FloatArray:
    """Return values with NaN where only a stand-in is known."""
    if not len(skipped):
        return values
    result = values.copy()
    result[skipped[:, 0], skipped[:, 1]] = np.nan
    return result


def one_item(item: Any) -> Items:
    """Return a single new item, as items."""
    return Items(sp.csr_array(item)) if sp.issparse(item) else as_items([item])
