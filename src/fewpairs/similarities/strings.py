"""Similarities of strings, by rapidfuzz."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, MissingExtraError, UnknownNameError
from fewpairs.items.items import Items
from fewpairs.similarities.base import Pair, Similarity


class _Scorer(NamedTuple):
    module: str  # where rapidfuzz keeps it
    symmetric: bool
    scale: float  # what rapidfuzz returns for the same string twice
    empty: float  # what it returns, scaled, for two empty strings


SCORERS = {
    "levenshtein": _Scorer("Levenshtein", True, 1.0, 1.0),
    "damerau_levenshtein": _Scorer("DamerauLevenshtein", True, 1.0, 1.0),
    "osa": _Scorer("OSA", True, 1.0, 1.0),
    "indel": _Scorer("Indel", True, 1.0, 1.0),
    "lcs": _Scorer("LCSseq", True, 1.0, 1.0),
    "hamming": _Scorer("Hamming", True, 1.0, 1.0),
    "jaro": _Scorer("Jaro", True, 1.0, 1.0),
    "jaro_winkler": _Scorer("JaroWinkler", True, 1.0, 1.0),
    "prefix": _Scorer("Prefix", True, 1.0, 1.0),
    "ratio": _Scorer("fuzz", True, 100.0, 1.0),
    "token_sort_ratio": _Scorer("fuzz", True, 100.0, 1.0),
    "token_set_ratio": _Scorer("fuzz", True, 100.0, 0.0),
    "partial_ratio": _Scorer("fuzz", False, 100.0, 1.0),
}


class StringSimilarity(Similarity):
    """A normalised string similarity between 0 and 1.

    Parameters
    ----------
    scorer : str, default="levenshtein"
        "levenshtein", "damerau_levenshtein", "osa", "indel", "lcs", "hamming", "jaro",
        "jaro_winkler", "prefix", "ratio", "token_sort_ratio", "token_set_ratio", or
        "partial_ratio" (the only asymmetric one).

    Examples
    --------
    >>> StringSimilarity("levenshtein").pairs([("kitten", "sitting")]).round(3)
    array([0.571])
    """

    block_size = 2**16
    symmetry_proven = True

    def __init__(self, scorer: str = "levenshtein") -> None:
        if scorer not in SCORERS:
            raise UnknownNameError("string scorer", scorer, SCORERS)
        self.scorer = self.name = scorer
        self.symmetric = SCORERS[scorer].symmetric
        self._function = _load(scorer)

    def prepare(self, items: Items) -> Items:
        """Check that every item is a string."""
        values = items.values if isinstance(items.values, list) else list(items.values)
        wrong = next((i for i, v in enumerate(values) if not isinstance(v, str)), None)
        if wrong is not None:
            raise InputError(
                f"item {items.describe(wrong)} is a {type(values[wrong]).__name__}, not a string.",
                "A string similarity compares characters.",
                "Convert the items with str, or choose another similarity.",
            )
        return Items(values)

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return 1, or what the scorer says of two empty strings."""
        empty = SCORERS[self.scorer].empty
        if self.scorer == "token_set_ratio":
            return np.array([1.0 if text.split() else empty for text in items.values])
        return np.array([1.0 if text else empty for text in items.values])

    def block(self, left: list[str], right: list[str]) -> npt.NDArray[Any]:
        """Score every string on the left with every one on the right."""
        from rapidfuzz import process  # noqa: PLC0415 - optional

        scores = process.cdist(left, right, scorer=self._function, dtype=np.float64, workers=1)
        return np.asarray(scores) / SCORERS[self.scorer].scale

    def pairs(self, pairs: list[Pair]) -> npt.NDArray[Any]:
        """Score scattered pairs."""
        from rapidfuzz import process  # noqa: PLC0415 - optional

        left, right = [a for a, _ in pairs], [b for _, b in pairs]
        scores = process.cpdist(left, right, scorer=self._function, dtype=np.float64, workers=1)
        return np.asarray(scores) / SCORERS[self.scorer].scale


def _load(scorer: str) -> Any:
    try:
        from rapidfuzz import distance, fuzz  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("rapidfuzz", "strings", "StringSimilarity") from error
    module = SCORERS[scorer].module
    if module == "fuzz":
        return getattr(fuzz, scorer)
    return getattr(distance, module).normalized_similarity
