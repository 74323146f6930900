"""Similarity of records: a weighted mean over their fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import FewpairsError, InputError
from fewpairs.items.items import Items
from fewpairs.items.keys import encoded, framed
from fewpairs.items.records import field_of
from fewpairs.similarities.facts import is_async
from fewpairs.similarities.function import as_similarity
from fewpairs.similarities.means import Mean, scaled_weights
from fewpairs.similarities.parts import aligned_values, block_values, common_block_size
from fewpairs.similarities.protocol import Pair, Similarity
from fewpairs.similarities.strings import StringSimilarity


class RecordSimilarity(Similarity):
    """A weighted mean of similarities, each of one field of two records.

    Parameters
    ----------
    fields : mapping
        From the name of a field to its similarity: the name of a string scorer, a ready
        similarity, or a pair of one of these and a weight, by default 1.
    missing : "skip" or float, default="skip"
        What is done with a field that is missing on either side: None, NaN, a blank text, or not
        there at all. "skip" leaves it out of the mean; if no field is left, the similarity is 0.
        A number takes the place of that field's similarity.

    Notes
    -----
    Items are mappings, rows of a data frame, named tuples or dataclasses. The mean is symmetric if
    every part is. Whole blocks are evaluated where every part can; otherwise pair by pair, so that
    no part is asked twice.

    Examples
    --------
    >>> people = [
    ...     {"name": "Anna Smith", "city": "Oslo"},
    ...     {"name": "Anna Smyth", "city": "Oslo"},
    ...     {"name": "Anna Smith", "city": None},
    ... ]
    >>> alike = RecordSimilarity({"name": ("jaro_winkler", 2.0), "city": "levenshtein"})
    >>> alike.pairs([(people[0], people[1]), (people[0], people[2])]).round(3)
    array([0.973, 1.   ])
    """

    name = "record"
    takes_records = True

    def __init__(
        self, fields: Mapping[str, Any], missing: Literal["skip"] | float = "skip"
    ) -> None:
        if not isinstance(fields, Mapping) or not fields:
            raise InputError(
                f"fields is {fields!r}.",
                "Records are compared field by field.",
                'Pass a mapping such as {"name": ("jaro_winkler", 2.0), "city": "levenshtein"}.',
            )
        self.fields, self.missing = dict(fields), _checked_missing(missing)
        self._parts = [_Part.of(name, given) for name, given in fields.items()]
        self._weights = scaled_weights([part.weight for part in self._parts])
        ready = [part.similarity for part in self._parts]
        if any(is_async(getattr(part, kind)) for part in ready for kind in part.kinds):
            raise InputError(
                "the similarity of a field is an async function.",
                "Fields are compared one after the other, within one call.",
                "Write the whole comparison as one async function of two records.",
            )
        self.symmetric = all(part.symmetric for part in ready)
        self.symmetry_proven = all(part.symmetry_proven for part in ready)
        self.cheap = all(part.cheap for part in ready)
        self.evaluations_per_entry = max(part.evaluations_per_entry for part in ready)
        self.block_size = common_block_size(ready)
        self.parameters = {
            "fields": {p.name: [p.similarity.fingerprint, p.weight] for p in self._parts},
            "missing": self.missing,
        }
        # Offered only where every part has it: the oracle chooses by what is there.
        self.block = self._block if all(part.block is not None for part in ready) else None

    @property
    def identity(self) -> str | None:
        """What is known of every field's similarity; None if of one nothing is."""
        parts = {part.name: [part.similarity.identity, part.weight] for part in self._parts}
        if any(identity is None for identity, _ in parts.values()):
            return None
        return self.name + json.dumps({"fields": parts, "missing": self.missing})

    def content(self, items: Items) -> Iterable[bytes]:
        """Return the fields that are compared; records may have others."""
        records: Records = items.values
        shown = Items(records.shown)
        columns = [p.content(f, shown) for p, f in zip(self._parts, records.fields, strict=True)]
        return (framed(b"R", row) for row in zip(*columns, strict=True))

    def prepare(self, items: Items) -> Items:
        """Take the records apart, and prepare each field for its similarity."""
        return Items(Records([part.prepare(items) for part in self._parts], list(items.values)))

    def guides(self, items: Items) -> list[tuple[str, list[str]]]:
        """Return what hints at the similarity: records as texts, field after field."""
        fields = [
            [str(value) if there else "" for value, there in zip(*field, strict=True)]
            for field in (field_of(items, part.name) for part in self._parts)
        ]
        return [("records", [" ".join(values) for values in zip(*fields, strict=True)])]

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return the mean of the fields' diagonals, where all of them are declared."""
        n = len(items)
        mean = Mean((n,), self.missing)
        fields = zip(self._parts, self._weights, items.values.fields, strict=True)
        for part, weight, field in fields:
            places = np.flatnonzero(field.filled)
            own = None if field.items is None else part.similarity.known_diagonal(field.items)
            if own is None and len(places):
                return None
            mean.add(weight, (places,), 0.0 if own is None else np.asarray(own)[places])
        return mean.values

    def aligned(self, left: Records, right: Records) -> FloatArray:
        """Compare record k on the left with record k on the right."""
        mean = Mean((len(left),), self.missing)
        fields = zip(self._parts, self._weights, left.fields, right.fields, strict=True)
        for part, weight, a, b in fields:
            both = np.flatnonzero(a.filled & b.filled)
            values: Any = 0.0
            if len(both):
                values = aligned_values(part.similarity, a.take(both), b.take(both), len(both))
            mean.add(weight, (both,), values)
        return mean.values

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Compare single pairs of records."""
        sides = ([pair[side] for pair in pairs] for side in (0, 1))
        left, right = (self._joined(records) for records in sides)
        return self.aligned(left, right)

    def _block(self, left: Records, right: Records) -> FloatArray:
        mean = Mean((len(left), len(right)), self.missing)
        fields = zip(self._parts, self._weights, left.fields, right.fields, strict=True)
        for part, weight, a, b in fields:
            rows, columns = np.flatnonzero(a.filled), np.flatnonzero(b.filled)
            values: Any = 0.0
            if len(rows) and len(columns):
                shape = len(rows), len(columns)
                values = block_values(part.similarity, a.take(rows), b.take(columns), shape)
            mean.add(weight, np.ix_(rows, columns), values)
        return mean.values

    def _joined(self, records: list[Any]) -> Records:
        # Single records that were prepared already are prepared once more: fields are compared
        # with each other only in the form that the part's own `prepare` gives to all of them.
        shown = [r.shown[0] if isinstance(r, Records) else r for r in records]
        prepared: Records = self.prepare(Items(shown)).values
        return prepared


@dataclass(frozen=True, eq=False)
class Field:
    """One field of some records: prepared items, and where they are not mere placeholders."""

    items: Items | None
    filled: npt.NDArray[np.bool_]

    def take(self, indices: npt.ArrayLike) -> Any:
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
class _Part:
    name: str
    similarity: Similarity
    weight: float

    @classmethod
    def of(cls, name: str, given: Any) -> _Part:
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


def _checked_missing(missing: Any) -> str | float:
    number = isinstance(missing, (int, float, np.integer, np.floating))
    if missing == "skip":
        return "skip"
    if number and not isinstance(missing, bool) and np.isfinite(missing):
        return float(missing)
    raise InputError(
        f"missing is {missing!r}.",
        "It says what a field counts that one of two records does not have.",
        'Pass "skip" to leave it out, or the similarity to put in its place, such as 0.0.',
    )
