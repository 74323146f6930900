"""Orders in which others would evaluate pairs, and how far each must go for a recall."""

from __future__ import annotations

import warnings

import numpy as np

import fewpairs as fp
from benchmarks.shared.matching_cases import Case
from fewpairs.guides.guides import as_guides
from fewpairs.oracle.oracle import Oracle

RECALLS = (0.9, 0.95, 0.99)
#: Shares of all pairs until each of these recalls.
Shares = tuple[float, ...]


class Pairs:
    """All pairs of a case: which match, and how far an order must go.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        n, m = case.shape
        self.mask = (
            np.triu(np.ones((n, m), bool), 1) if case.others is None else np.ones((n, m), bool)
        )
        matching = np.zeros(n * m, dtype=bool)
        matching[case.truth] = True
        self.matching = matching.reshape(n, m)

    def until(self, scores: np.ndarray, known: np.ndarray | None = None) -> Shares:
        """Shares until each recall, if pairs are evaluated from the largest score down.

        Parameters
        ----------
        scores : ndarray of shape (n, m)
        known : ndarray of bool, optional
            Pairs that were evaluated before.
        """
        fresh = self.mask if known is None else self.mask & ~known
        spent = 0 if known is None else int((self.mask & known).sum())
        had = 0 if known is None else int((self.matching & known).sum())
        ranked, wanted = scores[fresh], scores[fresh & self.matching]
        wanted = -np.sort(-wanted)
        shares = []
        for recall in RECALLS:
            more = int(np.ceil(recall * len(self.case.truth))) - had
            count = spent + (int((ranked >= wanted[more - 1]).sum()) if more > 0 else 0)
            shares.append(count / self.case.pairs)
        return tuple(shares)


def guides_of(case: Case) -> list[np.ndarray]:
    """What each guide alone says of every pair."""
    oracle = Oracle(case.items, case.similarity, others=case.others)
    others = None if case.others is None else oracle.others
    guides = as_guides(case.guide, oracle.items, others, oracle.similarity)
    return [guide.left @ guide.right.T for guide in guides]


def places_of_each(scores: np.ndarray, *, square: bool) -> np.ndarray:
    """Minus the place of each pair in the list of one of its items, whichever is the better."""
    if square:
        scores = scores.copy()
        np.fill_diagonal(scores, -np.inf)
    ranks = []
    for table in (scores, scores.T):
        order = np.argsort(-table, axis=1, kind="stable")
        place = np.empty(table.shape, dtype=np.int32)
        np.put_along_axis(place, order, np.arange(table.shape[1], dtype=np.int32)[None], axis=1)
        ranks.append(place)
    return -np.minimum(ranks[0], ranks[1].T)


def anchors(pairs: Pairs, count: int, seed: int) -> Shares:
    """As ANNCUR: whole columns and rows of a few items predict the rest."""
    rng, values = np.random.default_rng(seed), pairs.case.values
    n, m = values.shape
    rows = rng.permutation(n)[:count]
    columns = rows if pairs.case.others is None else rng.permutation(m)[:count]
    core = np.linalg.pinv(values[np.ix_(rows, columns)].astype(float), rcond=1e-6)
    guess = (values[:, columns] @ core) @ values[rows]
    known = np.zeros((n, m), dtype=bool)
    known[rows], known[:, columns] = True, True
    return pairs.until(guess.astype(np.float32), known)


def matrix(pairs: Pairs, budget: float, seed: int) -> Shares:
    """`approximate` with its defaults predicts the rest."""
    case = pairs.case
    oracle = Oracle(case.items, case.similarity, others=case.others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        guess = fp.approximate(oracle, budget=budget, random_state=seed).to_dense()
    seen, (n, m) = oracle.known(), case.shape
    known = np.zeros((n, m), dtype=bool)
    known[:, seen.columns.index] = True
    lines = seen.columns.index if case.others is None else seen.rows.index
    known[lines] = True
    known[seen.places_of(seen.keys)] = True
    known[np.divmod(oracle.reserved, m)] = True
    if case.others is None:
        known |= known.T
    return pairs.until(guess.astype(np.float32), known)
