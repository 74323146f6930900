"""Similarity of records: a weighted mean over their fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from fewpairs.arrays import FloatArray, is_number
from fewpairs.errors import InputError
from fewpairs.items.items import Items
from fewpairs.items.keys import framed
from fewpairs.items.records import field_of
from fewpairs.similarities.facts import check_value_range, is_async
from fewpairs.similarities.fields import Part, Records, without_common_field
from fewpairs.similarities.means import Mean, scaled_weights
from fewpairs.similarities.parts import aligned_values, block_values, common_block_size
from fewpairs.similarities.protocol import Pair, Similarity


class RecordSimilarity(Similarity):
    """A weighted mean of similarities, each of one field of two records.

    Parameters
    ----------
    fields : mapping
        From the name of a field to its similarity: the name of a string scorer, a ready
        similarity, or a pair of one of these and a weight, by default 1.
    missing : "skip" or float, default="skip"
        What is done with a field that is missing on either side: None, NaN, a blank text, or not
        there at all. "skip" leaves it out of the mean. A number takes the place of that field's
        similarity, and lies in its range.
    incomparable : float, optional
        The similarity of two records of which no field is left; by default 0. Of distances 0 would
        be a perfect match: wherever small values are near (``below=``, ``distance=True``), records
        with no field in common are refused unless this is given, or `missing` is a number.

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
        self,
        fields: Mapping[str, Any],
        missing: Literal["skip"] | float = "skip",
        incomparable: float | None = None,
    ) -> None:
        if not isinstance(fields, Mapping) or not fields:
            raise InputError(
                f"fields is {fields!r}.",
                "Records are compared field by field.",
                'Pass a mapping such as {"name": ("jaro_winkler", 2.0), "city": "levenshtein"}.',
            )
        self._parts = [Part.of(name, given) for name, given in fields.items()]
        self.fields, self.missing = dict(fields), _checked_missing(missing, self._parts)
        self.incomparable = _checked_incomparable(incomparable, self.missing)
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
        } | self._declared
        self.value_range = self._range()
        # Offered only where every part has it: the oracle chooses by what is there.
        self.block = self._block if all(part.block is not None for part in ready) else None

    @property
    def identity(self) -> str | None:
        """What is known of every field's similarity; None if of one nothing is."""
        parts = {part.name: [part.similarity.identity, part.weight] for part in self._parts}
        if any(identity is None for identity, _ in parts.values()):
            return None
        return self.name + json.dumps({"fields": parts, "missing": self.missing} | self._declared)

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
        mean = self._mean((n,))
        fields = zip(self._parts, self._weights, items.values.fields, strict=True)
        for part, weight, field in fields:
            places = np.flatnonzero(field.filled)
            own = None if field.items is None else part.similarity.known_diagonal(field.items)
            if own is None and len(places):
                return None
            mean.add(weight, (places,), 0.0 if own is None else np.asarray(own)[places])
        return mean.values

    def incomparable_pair(self, left: Items, right: Items | None) -> tuple[int, int] | None:
        """Return two records that have no field in common, where nobody said what that means."""
        if self.missing != "skip" or self.incomparable is not None:
            return None
        return without_common_field(left.values, None if right is None else right.values)

    def aligned(self, left: Records, right: Records) -> FloatArray:
        """Compare record k on the left with record k on the right."""
        mean = self._mean((len(left),))
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
        mean = self._mean((len(left), len(right)))
        fields = zip(self._parts, self._weights, left.fields, right.fields, strict=True)
        for part, weight, a, b in fields:
            rows, columns = np.flatnonzero(a.filled), np.flatnonzero(b.filled)
            values: Any = 0.0
            if len(rows) and len(columns):
                shape = len(rows), len(columns)
                values = block_values(part.similarity, a.take(rows), b.take(columns), shape)
            mean.add(weight, np.ix_(rows, columns), values)
        return mean.values

    def _mean(self, shape: tuple[int, ...]) -> Mean:
        return Mean(shape, self.missing, self.incomparable or 0.0)

    @property
    def _declared(self) -> dict[str, float]:
        """What changes values only where it was given."""
        return {} if self.incomparable is None else {"incomparable": self.incomparable}

    def _range(self) -> tuple[float, float] | None:
        ranges = [check_value_range(part.similarity.value_range) for part in self._parts]
        known = [ends for ends in ranges if ends is not None]
        if len(known) < len(ranges):
            return None
        alone = [self.incomparable or 0.0] if self.missing == "skip" else []
        lows, highs = zip(*known, strict=True)
        return min(*lows, *alone, lows[0]), max(*highs, *alone, highs[0])

    def _joined(self, records: list[Any]) -> Records:
        # Single records that were prepared already are prepared once more: fields are compared
        # with each other only in the form that the part's own `prepare` gives to all of them.
        shown = [r.shown[0] if isinstance(r, Records) else r for r in records]
        prepared: Records = self.prepare(Items(shown)).values
        return prepared


def _checked_missing(missing: Any, fields: list[Part]) -> str | float:
    if isinstance(missing, str) and missing == "skip":
        return "skip"
    if not is_number(missing):
        raise InputError(
            f"missing is {missing!r}.",
            "It says what a field counts that one of two records does not have.",
            'Pass "skip" to leave it out, or the similarity to put in its place, such as 0.0.',
        )
    for part in fields:
        low, high = check_value_range(part.similarity.value_range) or (-np.inf, np.inf)
        if not low <= missing <= high:
            raise InputError(
                f"missing is {missing!r}.",
                f"It takes the place of a similarity of the field {part.name!r}, which lies "
                f"between {low:g} and {high:g}.",
                f"Pass a number between {low:g} and {high:g}; {low:g} is unlike anything.",
            )
    return float(missing)


def _checked_incomparable(value: Any, missing: str | float) -> float | None:
    if value is None:
        return None
    if not is_number(value):
        raise InputError(
            f"incomparable is {value!r}.",
            "It is the similarity of two records that have no field in common.",
            "Pass a finite number, or leave it out.",
        )
    if missing != "skip":
        raise InputError(
            f"incomparable={value!r} was given beside missing={missing!r}.",
            "Where a number stands for every missing field, all records can be compared.",
            "Leave one of them out.",
        )
    return float(value)
