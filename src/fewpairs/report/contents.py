"""What a page holds, whatever result it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray


class Fact(NamedTuple):
    """A number in the headline, what it is called, and a few words on it."""

    name: str
    value: str
    note: str = ""
    picture: str = ""


class Chart(NamedTuple):
    """A picture as SVG, with its title and a sentence."""

    title: str
    picture: str
    note: str = ""


class Labels(NamedTuple):
    """A colour for each item: 0 is grey, or has the name that comes first.

    Attributes
    ----------
    of : ndarray of int
        Not negative.
    names : sequence of str
        Of the numbers, as far as they have names.
    kind : str
        What a number is called that has none: "group", "cluster".
    """

    of: IntArray
    names: Sequence[str] = ()
    kind: str = "group"

    @classmethod
    def given(cls, values: Any, rows: IntArray, rest: str = "") -> Labels:
        """Return the colours that a user gives for all items, of some of these; `rest` is grey."""
        names, numbers = np.unique(np.asarray(values), return_inverse=True)
        return cls(numbers.ravel()[rows] + 1, [rest, *map(str, names.tolist())], "label")

    @classmethod
    def largest_first(cls, groups: IntArray, alone: str, kind: str) -> Labels:
        """Return a colour for each group of several items; items alone are grey.

        The first colours differ most, and go to the largest groups.
        """
        sizes = np.bincount(groups)
        several = np.flatnonzero(sizes > 1)
        number = np.zeros(len(sizes), dtype=np.int64)
        number[several[np.argsort(-sizes[several], kind="stable")]] = np.arange(1, len(several) + 1)
        return cls(number[groups], [alone], kind)


class Links(NamedTuple):
    """Pairs of items on the page, best first for each item on the left.

    Attributes
    ----------
    left, right : ndarray of int
        Places on the page.
    approximate, exact : ndarray or None
        Similarities; NaN where there is none.
    both : bool
        Whether a pair is one of its right item, too.
    """

    left: IntArray
    right: IntArray
    approximate: FloatArray | None
    exact: FloatArray | None
    both: bool


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything that a page shows.

    Attributes
    ----------
    title, lead : str
        A heading, and one sentence.
    facts : sequence of Fact
    findings : sequence of str
        What was seen, in sentences.
    charts : sequence of Chart
    provenance : sequence of (str, str)
    texts : sequence of str
        Of the items on the page.
    names : sequence of str
        Their ids, or positions.
    second : int
        Where the items of a second set begin; as many as there are items where there is none.
    places : ndarray of shape (n, 2)
        Where they lie on the map.
    links : Links
    labels : Labels or None
    small_is_near : bool
        Whether similarities are distances.
    pairs_title, neighbors_title, map_note : str
    """

    title: str
    lead: str
    facts: Sequence[Fact]
    findings: Sequence[str]
    charts: Sequence[Chart]
    provenance: Sequence[tuple[str, str]]
    texts: Sequence[str]
    names: Sequence[str]
    second: int
    places: FloatArray
    links: Links
    labels: Labels | None = None
    small_is_near: bool = False
    pairs_title: str = "Pairs"
    neighbors_title: str = "Nearest"
    map_note: str = ""
