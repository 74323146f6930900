"""Similarities of strings, by rapidfuzz."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, MissingExtraError, UnknownNameError
from fewpairs.items.items import Items
from fewpairs.items.stored import Stored
from fewpairs.similarities.protocol import Pair, Similarity


class Scorer(NamedTuple):
    """One row of the table `SCORERS`: a function of rapidfuzz, and what is true of it.

    Attributes
    ----------
    function : str
        Where rapidfuzz keeps it, for example ``"distance.Jaro.normalized_similarity"``.
    symmetric : bool
    largest : float
        What it returns for the same string twice; results are divided by it.
    empty : float
        What it returns for two empty strings, after that division.
    by_words : bool
        Whether it compares words, so that a string of spaces counts as empty.
    """

    function: str
    symmetric: bool = True
    largest: float = 1.0
    empty: float = 1.0
    by_words: bool = False


#: Every scorer that has a name. A new one is one more row, also from outside of fewpairs.
SCORERS: dict[str, Scorer] = {
    "levenshtein": Scorer("distance.Levenshtein.normalized_similarity"),
    "damerau_levenshtein": Scorer("distance.DamerauLevenshtein.normalized_similarity"),
    "osa": Scorer("distance.OSA.normalized_similarity"),
    "indel": Scorer("distance.Indel.normalized_similarity"),
    "lcs": Scorer("distance.LCSseq.normalized_similarity"),
    "hamming": Scorer("distance.Hamming.normalized_similarity"),
    "jaro": Scorer("distance.Jaro.normalized_similarity"),
    "jaro_winkler": Scorer("distance.JaroWinkler.normalized_similarity"),
    "prefix": Scorer("distance.Prefix.normalized_similarity"),
    "ratio": Scorer("fuzz.ratio", largest=100.0),
    "token_sort_ratio": Scorer("fuzz.token_sort_ratio", largest=100.0, by_words=True),
    "token_set_ratio": Scorer("fuzz.token_set_ratio", largest=100.0, empty=0.0, by_words=True),
    "partial_ratio": Scorer("fuzz.partial_ratio", symmetric=False, largest=100.0),
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

    #: Some milliseconds of work, so that progress moves and a run can be interrupted; from 2**14
    #: on, larger calls are no faster.
    block_size = 2**16
    symmetry_proven = True
    value_range = (0.0, 1.0)
    cheap = True

    def __init__(self, scorer: str = "levenshtein") -> None:
        if scorer not in SCORERS:
            raise UnknownNameError("string scorer", scorer, SCORERS)
        self.scorer = self.name = scorer
        self.symmetric = SCORERS[scorer].symmetric
        _load(SCORERS[scorer].function)  # says now, not after hours, if rapidfuzz is missing

    @property
    def identity(self) -> str | None:
        """The fingerprint with what the scorer is in rapidfuzz."""
        return f"{self.fingerprint} {SCORERS[self.scorer].function}"

    @property
    def _function(self) -> Any:
        # Looked up, not kept: pickle cannot find rapidfuzz's functions by their names.
        return _load(SCORERS[self.scorer].function)

    def prepare(self, items: Items) -> Items:
        """Check that every item is a string."""
        values = items.values
        if isinstance(values, Stored):
            if values.is_text:
                return items  # they stay where they are
        elif not isinstance(values, list):
            values = list(values)
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
        scorer = SCORERS[self.scorer]
        filled = [bool(text.split() if scorer.by_words else text) for text in items.values]
        return np.where(filled, 1.0, scorer.empty)

    def block(self, left: list[str], right: list[str]) -> FloatArray:
        """Score every string on the left with every one on the right."""
        from rapidfuzz import process  # noqa: PLC0415 - optional

        scores = process.cdist(left, right, scorer=self._function, dtype=np.float64, workers=1)
        return np.asarray(scores) / SCORERS[self.scorer].largest

    def pairs(self, pairs: list[Pair]) -> FloatArray:
        """Score single pairs of strings."""
        from rapidfuzz import process  # noqa: PLC0415 - optional

        left, right = [a for a, _ in pairs], [b for _, b in pairs]
        scores = process.cpdist(left, right, scorer=self._function, dtype=np.float64, workers=1)
        return np.asarray(scores) / SCORERS[self.scorer].largest


def _load(function: str) -> Any:
    try:
        import rapidfuzz  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("rapidfuzz", "strings", "StringSimilarity") from error
    return attrgetter(function)(rapidfuzz)
