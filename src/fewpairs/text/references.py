"""The references of build-up: the words by which all others are placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import is_whole
from fewpairs.errors import InputError, UnknownNameError

#: References for each dimension in the paper.
PAPERS_REFERENCES = 4
#: Ours. 4, 20, 40 and 80 were tried on every second pair of MEN (K = 200: correlations of 0.43,
#: 0.60, 0.66 and 0.69); all of 45,534 words give 0.70, in twice the time.
DEFAULT_REFERENCES = 80
#: In few dimensions more are needed: 8,000 instead of 16,000 cost 0.02 to 0.03 at K = 50 and 100.
FEWEST_REFERENCES = 16_000


def check_references(references: Any) -> None:
    """Refuse an unknown name, and what is no number of words."""
    if isinstance(references, str) and references != "paper":
        raise UnknownNameError("references", references, ("paper",))
    given = references is None or isinstance(references, str)
    given = given or (are_named(references) and len(references) > 0)
    if not given and not (is_whole(references) and references >= 1):
        raise InputError(
            f"references is {references!r}.",
            "All other words are placed by them.",
            'Pass a positive integer, a list of some words, "paper", or None.',
        )


def are_named(references: Any) -> bool:
    """Say whether the references are given as words."""
    return isinstance(references, (list, tuple, np.ndarray))


def count_references(references: Any, dimensions: int, n: int) -> int:
    """Return how many of n words are references.

    Parameters
    ----------
    references : int, "paper", sequence of str, or None
        By default 80 for each dimension, at least 16,000; "paper" is 4 for each.
    dimensions : int
    n : int

    Returns
    -------
    int
    """
    if are_named(references):
        return min(len(references), n)
    if references is None:
        return min(max(DEFAULT_REFERENCES * dimensions, FEWEST_REFERENCES), n)
    if isinstance(references, str):
        return min(PAPERS_REFERENCES * dimensions, n)
    return min(int(references), n)
