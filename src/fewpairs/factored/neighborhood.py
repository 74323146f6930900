"""Neighbors: the most similar items, with their ids and texts."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.recall import Recall
from fewpairs.files.results import Tabular
from fewpairs.items.ids import Names
from fewpairs.items.items import Items
from fewpairs.notebook.card import card

#: Neighbours, and characters of an item, that a notebook shows.
_SHOWN, _TEXT = 10, 80
#: Neighbours of several items that are printed one by one.
_PRINTED = 100
#: What is said of scores that no similarity has seen.
_PREDICTED = "predicted, not evaluated"


class _Neighbors(NamedTuple):
    indices: IntArray
    similarities: FloatArray


class Neighbors(_Neighbors, Tabular):
    """The most similar items, best first.

    `to_pandas` and `to_polars` give the columns id and similarity, and text where items are texts;
    for many items at once, query comes first.

    Attributes
    ----------
    indices, similarities : ndarray
        It unpacks into these two.
    evaluations : int
        What it took to find them.
    predicted : bool
        Whether some of the similarities are the matrix's own, neither evaluated now nor known.
    recall : Recall or None
        The share of the true neighbours among them, where `search` was asked to state it.

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees"]
    >>> K = fp.approximate(words, fp.StringSimilarity(), landmarks=4, ids=["a", "b", "c", "d"])
    >>> K.nearest("c", k=1).ids
    ['d']
    """

    _with_texts: ClassVar[bool] = True
    evaluations: int = 0
    predicted: bool = False
    recall: Recall | None = None
    _names: Names | None = None
    _items: Items | None = None
    _queries: Names | None = None

    def __new__(
        cls,
        indices: IntArray,
        similarities: FloatArray,
        evaluations: int = 0,
        *,
        names: Names | None = None,
        items: Items | None = None,
        queries: Names | None = None,
        recall: Recall | None = None,
    ) -> Self:
        """Make a pair that knows its price, and what its indices stand for."""
        self = super().__new__(cls, indices, similarities)
        self.evaluations, self.recall = evaluations, recall
        self._names, self._items, self._queries = names, items, queries
        return self

    def __repr__(self) -> str:
        stated = "" if self.recall is None else f"; {self.recall}"
        stated += f"; {_PREDICTED}" if self.predicted else ""
        if self.indices.ndim > 1 and self.indices.size > _PRINTED:
            shape = "{:,} × {:,}".format(*self.indices.shape)
            return f"<neighbours {shape}, {self.evaluations:,} evaluations{stated}>"
        return f"{super().__repr__()[:-1]}, evaluations={self.evaluations}){stated}"

    @property
    def ids(self) -> list[Any]:
        """Your names of the neighbours, or their positions; None where there are fewer than k."""
        return self._nested(self._named(self.indices.ravel()))

    @property
    def texts(self) -> list[Any] | None:
        """The neighbours themselves, where the items are texts."""
        found = self._texts(self.indices.ravel())
        return None if found is None else self._nested(found)

    def _nested(self, flat: list[Any]) -> list[Any]:
        if self.indices.ndim == 1:
            return flat
        k = self.indices.shape[1]
        return [flat[row * k : (row + 1) * k] for row in range(len(self.indices))]

    def _named(self, places: IntArray) -> list[Any]:
        if self._names is not None:
            return self._names.at(places)
        return [k if k >= 0 else None for k in places.tolist()]

    def _texts(self, places: IntArray) -> list[Any] | None:
        if self._items is None or self._items.kind != "text":
            return None
        return [self._items.values[k] if k >= 0 else None for k in places.tolist()]

    def _columns(self, *, texts: bool) -> dict[str, Any]:
        there = self.indices >= 0
        places = self.indices[there]
        columns: dict[str, Any] = {}
        if self.indices.ndim > 1:
            rows = np.nonzero(there)[0]
            columns["query"] = rows if self._queries is None else self._queries.at(rows)
        columns |= {"id": self._named(places), "similarity": self.similarities[there]}
        written = self._texts(places) if texts else None
        return columns if written is None else columns | {"text": written}

    def _repr_html_(self) -> str:
        table = self._columns(texts=True)
        said = [
            f"{name} {text[:_TEXT]}{'…' * (len(text) > _TEXT)}"
            for name, text in zip(
                table["id"], table.get("text", [""] * len(table["id"])), strict=True
            )
        ]
        if "query" in table:
            said = [f"{query}  ~  {name}" for query, name in zip(table["query"], said, strict=True)]
        rows = [(f"{s:.3f}", name) for s, name in zip(table["similarity"], said, strict=True)]
        more = len(rows) - _SHOWN
        note = f"and {more:,} more: .to_pandas()" if more > 0 else ""
        recall = "" if self.recall is None else str(self.recall)
        note = "; ".join(filter(None, [note, recall, _PREDICTED if self.predicted else ""]))
        spent = f"{self.evaluations:,} evaluations" if self.evaluations else "no evaluations"
        return card(f"{len(rows):,} neighbours, {spent}", rows[:_SHOWN], note=note)
