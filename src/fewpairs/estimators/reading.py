"""What estimators take: arrays as scikit-learn checks them, or any other items."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from fewpairs.arrays import unmasked
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.journal.journal import Journal, JournalOption
from fewpairs.similarities.base import as_similarity

#: Seconds for which a fit waits for others that write to the same journal: as long as one may take.
_TURN = 3600.0


def read_items(estimator: Any, X: Any, *, reset: bool, fewest: int = 1) -> Items:
    """Return the items that an estimator is given, checked.

    Parameters
    ----------
    estimator : BaseEstimator
        With a `similarity`; one that takes vectors has arrays checked by scikit-learn.
    X : sequence of items, or array of shape (n_samples, n_features)
    reset : bool
        Whether the number of features is learned, or compared with what was learned.
    fewest : int, default=1
        Rows of an array.

    Returns
    -------
    Items
    """
    ready = as_similarity(estimator.similarity)
    if not ready.takes_vectors:
        return as_items(X, records=bool(ready.takes_records))
    array = validate_data(
        estimator,
        unmasked(X, "X"),  # scikit-learn would show what is under a mask
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_min_samples=fewest,
    )
    return as_items(array)


def tag_input(tags: Any, similarity: Any) -> Any:
    """Say in scikit-learn's tags what the similarity compares."""
    vectors = bool(getattr(similarity, "takes_vectors", False))
    tags.input_tags.two_d_array = vectors
    tags.input_tags.sparse = vectors
    tags.input_tags.string = not vectors
    return tags


def patient(journal: JournalOption) -> JournalOption:
    """Return a journal whose writers take turns, where only its folder was named."""
    if journal is None or isinstance(journal, Journal):
        return journal
    return Journal(journal, wait=_TURN)
