"""What counts as a match: a similarity at least, or a distance at most, as large as asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from fewpairs.arrays import BoolArray, FloatArray, is_number
from fewpairs.errors import InputError
from fewpairs.oracle.oracle import Oracle
from fewpairs.similarities.facts import check_value_range

#: How far beyond its range a value may lie by rounding, as a cosine of long vectors does.
_ROUNDING = 1e-9


class Threshold(NamedTuple):
    """Where matches begin.

    Attributes
    ----------
    at : float
        A pair with exactly this value matches.
    above : bool
        True for a similarity, False for a distance.
    """

    at: float
    above: bool

    @classmethod
    def of(cls, above: Any, below: Any) -> Threshold:
        """Read ``above=`` or ``below=``."""
        if (above is None) == (below is None):
            raise InputError(
                "find_pairs takes either above= or below=.",
                "Matches are pairs whose similarity is at least as large, or whose distance is at "
                "most as large.",
                "Pass for example above=0.9.",
            )
        given = below if above is None else above
        if not is_number(given):
            raise InputError(
                f"the threshold is {given!r}.",
                "It is what the similarity of a match is at least, or its distance at most.",
                "Pass a finite number, for example above=0.9.",
            )
        return cls(float(given), below is None)

    @property
    def sign(self) -> int:
        """1, or -1 of a distance: values times this are large if near."""
        return 1 if self.above else -1

    def check(self, oracle: Oracle) -> None:
        """Refuse a threshold that no pair reaches, or that pairs without a meaning would.

        The first is known where a similarity declares its range.
        """
        similarity = oracle.similarity
        if not self.above:
            refuse_incomparable(oracle)
        low, high = check_value_range(similarity.value_range) or (self.at, self.at)
        if not low - _ROUNDING <= self.at <= high + _ROUNDING:
            raise InputError(
                f"the threshold is {self.at:g}, and {similarity.name} lies between {low:g} and "
                f"{high:g}.",
                "All pairs would match, or none.",
                f"Pass a number between {low:g} and {high:g}.",
            )

    def holds(self, values: FloatArray) -> BoolArray:
        """Say which values are those of matches."""
        return values >= self.at if self.above else values <= self.at

    def worst_last(self, values: FloatArray) -> FloatArray:
        """Return numbers that are smaller the better a match is."""
        return -values if self.above else values


def refuse_incomparable(oracle: Oracle) -> None:
    """Refuse items with nothing to compare where small values are near: theirs would be 0."""
    pair = oracle.incomparable_pair()
    if pair is None:
        return
    left, right = oracle.items.describe(pair[0]), oracle.others.describe(pair[1])
    raise InputError(
        f"items {left} and {right} have no field in common.",
        "Small values are near here, and theirs would be 0: the nearest of all, though nothing of "
        "them was compared.",
        "Pass RecordSimilarity(…, incomparable=…) with a value that is far; or, for every field "
        "that is missing, RecordSimilarity(…, missing=…).",
    )
