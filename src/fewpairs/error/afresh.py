"""The error of a matrix that is there already, such as one with new items: from fresh pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewpairs.error.audit import Audit, verdict_of
from fewpairs.error.interval import Verdict
from fewpairs.error.unseen import Approximation, Unseen, evaluated_sums
from fewpairs.oracle.oracle import Oracle

#: Share of the pairs that judges the diagonal, where it is not known; and the fewest, for a spread.
_DIAGONAL_SHARE, _FEWEST_OWN = 0.1, 2


def judge_afresh(
    matrix: Approximation, oracle: Oracle, n_pairs: int, rng: np.random.Generator
) -> Verdict:
    """Evaluate uniform pairs among those that a matrix does not know, and state its error.

    Parameters
    ----------
    matrix : FactoredMatrix
        What it knows is right.
    oracle : Oracle
        Of the same items; it only answers.
    n_pairs : int
    rng : numpy.random.Generator

    Returns
    -------
    Verdict
    """
    known = matrix.known
    unseen = Unseen.of(oracle, known)
    on = min(len(unseen.own), max(_FEWEST_OWN, round(_DIAGONAL_SHARE * n_pairs)), n_pairs)
    pairs = unseen.draw(oracle, min(unseen.population, n_pairs - on), rng, None)
    own = rng.permutation(unseen.own)[:on]
    values = oracle.entries(pairs.rows, pairs.columns)
    stands_for = pairs.weights * unseen.population / max(len(values), 1)
    audit = Audit(pairs, values, own, oracle.entries(own, own), stands_for, 1 / stands_for)
    rest = replace(
        unseen,
        own=np.setdiff1d(unseen.own, own),
        population=unseen.population - len(values),
    )
    return verdict_of(matrix, known, rest, audit, evaluated_sums(matrix, known))
