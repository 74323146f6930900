"""score_pairs(): one number for each given pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.similarities.base import declared
from fewpairs.similarities.patience import WhenMissing


def score_pairs(
    similarity: Any,
    left: Any,
    right: Any,
    *,
    journal: JournalOption = None,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    retry: int | None = None,
    timeout: float | None = None,
    on_error: WhenMissing | None = None,
    on_nonfinite: WhenMissing | None = None,
) -> FloatArray:
    """Evaluate given pairs: the first item on the left with the first on the right, and so on.

    Parameters
    ----------
    similarity : Similarity
    left, right : sequence, array, or column of a data frame
        As many on the left as on the right.
    journal : str, Path, Journal or None, default=None
        As for `approximate`.
    n_jobs : int, default=1
        Threads that call the similarity.
    progress : bool, callable or None, default=None
        A bar in a terminal; or ``callback(done, planned)``, which stops the run with False.
    retry, timeout, on_error, on_nonfinite
        As for `fewpairs.similarity`. A pair that is skipped has NaN.

    Returns
    -------
    ndarray
        One similarity for each pair.

    Raises
    ------
    SimilarityError
        What was evaluated before is kept in ``error.oracle``, whose ``entries(range(n), range(n))``
        pays for the rest.

    Examples
    --------
    >>> import fewpairs as fp
    >>> fp.score_pairs(fp.StringSimilarity("levenshtein"), ["kitten", "ape"], ["sitting", "ape"])
    array([0.57142857, 1.        ])
    """
    given = declared(
        similarity, retry=retry, timeout=timeout, on_error=on_error, on_nonfinite=on_nonfinite
    )
    oracle = Oracle(left, given, others=right, n_jobs=n_jobs, progress=progress, journal=journal)
    n, m = oracle.shape
    if n != m:
        raise InputError(
            f"there are {n:,} items on the left and {m:,} on the right.",
            "Pair k is item k of both sides.",
            "Pass two sequences of the same length.",
        )
    return oracle.entries(np.arange(n), np.arange(n))
