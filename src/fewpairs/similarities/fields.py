"""Fields of records: each prepared for its own similarity, and where it is filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, IntArray
from fewpairs.errors import FewpairsError, InputError
from fewpairs.items.items import Items
from fewpairs.items.keys import encoded
from fewpairs.items.records import field_of
from fewpairs.numerics import parts
from fewpairs.similarities.function import as_similarity
from fewpairs.similarities.protocol import Similarity
from fewpairs.similarities.strings import StringSimilarity

#: Kinds of records that are compared with all others at a time: a few megabytes.
_KINDS = 256


@dataclass(frozen=True, eq=False)
class Field:
    """One field of some records: prepared items, and where they are not mere placeholders."""

    items: Items | None
    filled: BoolArray

    def take(self, indices: IntArray) -> Any:
        """Return the prepared items at these places, in the form that the similarity takes."""
        assert self.items is not None  # noqa: S101 - where nothing is filled, nothing is taken
        return self.items.take(indices)


class Records:
    """Records taken apart.

    Parameters
    ----------
    fields : list of Field
    shown : list
        The records as they were, for messages.
    """

    def __init__(self, fields: list[Field], shown: list[Any]) -> None:
        self.fields, self.shown = fields, shown

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, index: Any) -> Records:
        places = np.atleast_1d(np.asarray(index))
        fields = [
            Field(None if f.items is None else Items(f.items.take(places)), f.filled[places])
            for f in self.fields
        ]
        return Records(fields, [self.shown[place] for place in places])

    def __repr__(self) -> str:
        return repr(self.shown[0]) if len(self) == 1 else f"<{len(self)} records>"


@dataclass(frozen=True, eq=False)
class Part:
    """One field by its name, what compares it, and how much it counts."""

    name: str
    similarity: Similarity
    weight: float

    @classmethod
    def of(cls, name: str, given: Any) -> Part:
        """Read what a user says of a field: a similarity, or one with a weight."""
        pair = isinstance(given, tuple) and len(given) == 2  # noqa: PLR2004 - similarity and weight
        chosen, weight = given if pair else (given, 1.0)
        number = isinstance(weight, (int, float, np.integer, np.floating))
        if isinstance(weight, bool) or not number or not 0 < weight < np.inf:
            raise InputError(
                f"the weight of the field {name!r} is {weight!r}.",
                "It says how much the field counts beside the others.",
                "Pass a positive number.",
            )
        ready = StringSimilarity(chosen) if isinstance(chosen, str) else as_similarity(chosen)
        return cls(name, ready, float(weight))

    def content(self, field: Field, shown: Items) -> list[bytes]:
        """Return what each record holds in this field; nothing where it is not filled."""
        if field.items is None:
            return [b""] * len(shown)
        own = self.similarity.content(field.items)
        if own is None:
            what = f"the field {self.name!r} of an item"
            cells = field_of(shown, self.name)[0]
            pairs = zip(cells, field.filled, strict=True)
            return [b"+" + encoded(cell, what) if there else b"" for cell, there in pairs]
        return [b"+" + c if there else b"" for c, there in zip(own, field.filled, strict=True)]

    def prepare(self, items: Items) -> Field:
        """Take the field out of records, and prepare it for its similarity."""
        cells, filled = field_of(items, self.name)
        if not filled.any():
            return Field(None, filled)
        # Where nothing is, anything that can be prepared will do: it is never compared.
        anything = cells[int(np.argmax(filled))]
        whole = [cell if there else anything for cell, there in zip(cells, filled, strict=True)]
        try:
            prepared: Any = self.similarity.prepare(Items(whole))
        except FewpairsError as error:
            error.add_note(f"This was found in the field {self.name!r}.")
            raise
        return Field(prepared if isinstance(prepared, Items) else Items(prepared), filled)


def without_common_field(left: Records, right: Records | None) -> tuple[int, int] | None:
    """Return the positions of two records that have no field in common, or None.

    Parameters
    ----------
    left : Records
    right : Records or None
        None pairs the records on the left with each other.
    """
    first, at_first = _kinds(left)
    second, at_second = (first, at_first) if right is None else _kinds(right)
    for part in parts(len(first), _KINDS):
        apart = first[part].astype(np.int64) @ second.T.astype(np.int64) == 0
        for i, j in np.argwhere(apart).tolist():
            one, other = at_first[part.start + i], at_second[j]
            # Those of a kind that shares nothing with itself are empty; a pair takes two of them.
            if right is not None or part.start + i != j:
                return int(one[0]), int(other[0])
            if len(one) > 1:
                return int(one[0]), int(one[1])
    return None


def _kinds(records: Records) -> tuple[BoolArray, list[IntArray]]:
    """Return which fields are filled together, and the first two records of each such kind."""
    filled = np.stack([field.filled for field in records.fields], axis=1)
    kinds, of = np.unique(filled, axis=0, return_inverse=True)
    order = np.argsort(of.ravel(), kind="stable")
    ends = np.searchsorted(of.ravel()[order], np.arange(len(kinds)), side="left")
    return kinds, [some[:2] for some in np.split(order, ends[1:])]
