"""What counts as a match: a similarity at least, or a distance at most, as large as asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from fewpairs.arrays import BoolArray, FloatArray, is_number
from fewpairs.errors import InputError


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

    def holds(self, values: FloatArray) -> BoolArray:
        """Say which values are those of matches."""
        return values >= self.at if self.above else values <= self.at

    def worst_last(self, values: FloatArray) -> FloatArray:
        """Return numbers that are smaller the better a match is."""
        return -values if self.above else values
