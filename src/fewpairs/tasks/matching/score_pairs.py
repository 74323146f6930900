"""score_pairs(): one number for each given pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.run.arguments import as_oracle
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.workers.choice import WorkersOption


def score_pairs(
    similarity: Any,
    left: Any,
    right: Any = None,
    *,
    journal: JournalOption = None,
    n_jobs: int = 1,
    workers: WorkersOption = "threads",
    client: Any = None,
    progress: ProgressOption = None,
    retry: int | None = None,
    timeout: float | None = None,
    on_error: WhenMissing | None = None,
    on_nonfinite: WhenMissing | None = None,
    cost: CostOption | None = None,
) -> FloatArray:
    """Evaluate given pairs: the first item on the left with the first on the right, and so on.

    Parameters
    ----------
    similarity : Similarity or str
        A name such as "jaro_winkler" stands for the ready one.
    left, right : sequence, array, or column of a data frame
        As many on the left as on the right. After a fault, or Ctrl-C, ``error.oracle`` in place of
        both pays only for the rest.
    journal : str, Path, Journal or None, default=None
        As for `approximate`.
    n_jobs : int, default=1
        Threads that call the similarity.
    workers, client
        As for `approximate`.
    progress : bool, callable or None, default=None
        A bar in a terminal or notebook; or ``callback(done, planned)``: False stops the run.
    retry, timeout, on_error, on_nonfinite, cost
        As for `fewpairs.similarity`. A pair that is skipped has NaN.

    Returns
    -------
    ndarray
        One similarity for each pair.

    Raises
    ------
    SimilarityError
        What was evaluated before is kept in ``error.oracle``:
        ``score_pairs(similarity, error.oracle)`` goes on from there.

    Examples
    --------
    >>> import fewpairs as fp
    >>> fp.score_pairs(fp.StringSimilarity("levenshtein"), ["kitten", "ape"], ["sitting", "ape"])
    array([0.57142857, 1.        ])
    """
    going_on = isinstance(left, Oracle) and not left.square
    if right is None and not going_on:
        raise InputError(
            "there is nothing on the right.",
            "Pair k is item k of both sides.",
            "Pass two sequences: score_pairs(similarity, left, right); of a list of pairs, "
            "[a for a, b in pairs] and [b for a, b in pairs].",
        )
    oracle = as_oracle(
        left,
        similarity,
        right,
        n_jobs,
        progress,
        journal,
        workers=workers,
        client=client,
        retry=retry,
        timeout=timeout,
        on_error=on_error,
        on_nonfinite=on_nonfinite,
        cost=cost,
    )
    n, m = oracle.shape
    if n != m:
        raise InputError(
            f"there are {n:,} items on the left and {m:,} on the right.",
            "Pair k is item k of both sides.",
            "Pass two sequences of the same length.",
        )
    return oracle.entries(np.arange(n), np.arange(n))
