"""wmd_pairs(): exact Word Mover's Distances of given pairs of documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.parallel import count_jobs
from fewpairs.transport.wmd import read_documents

#: Pairs that a thread solves at a time.
_AT_ONCE = 1024


def wmd_pairs(
    left: Any,
    right: Any,
    vectors: Any = None,
    *,
    metric: str = "euclidean",
    normalize: bool = False,
    n_jobs: int = 1,
    **options: Any,
) -> FloatArray:
    """Return the Word Mover's Distance of each document to its partner, exactly.

    Parameters
    ----------
    left, right : sequence of texts or token lists, or Documents
        As many on both sides: document k on the left belongs to document k on the right.
    vectors, metric, normalize : as for `wmd`
    n_jobs : int, default=1
        Threads; results do not depend on it.
    **options
        Of `Documents.of`: tokenizer, stop_words, weights, empty ("error" or "far").

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    >>> import fewpairs as fp
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> fp.wmd_pairs(["an ape", "the ape"], ["a monkey", "a car"], table)
    array([1., 9.])
    """
    if options.get("empty") == "drop":
        raise InputError(
            'empty="drop" was given for pairs of documents.',
            "A pair would lose its partner.",
            'Pass empty="far", or drop the pairs before.',
        )
    one, other, ground = read_documents(
        left, right, vectors, metric=metric, normalize=normalize, options=options
    )
    if len(one) != len(other):
        raise InputError(
            f"there are {len(one):,} documents on the left and {len(other):,} on the right.",
            "Each has one partner.",
            "Pass as many on both sides; for all combinations use fewpairs.wmd.",
        )
    parts = [slice(k, k + _AT_ONCE) for k in range(0, len(one), _AT_ONCE)]
    with ThreadPoolExecutor(count_jobs(n_jobs)) as pool:
        found = pool.map(lambda part: ground.aligned(one[part], other[part]), parts)
        return np.concatenate([np.empty(0), *found])
