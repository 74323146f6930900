"""Places on a map: neighbours near each other, others apart; no evaluations."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray

#: Rounds of pulling and pushing, and items that each is pushed away from in one of them. On 1,000
#: and 2,900 docstrings 0.32 and 0.31 of the ten nearest are among the ten nearest on the map,
#: within 0.6 and 1.4 s; scikit-learn's t-SNE of the embedding has 0.30 of 1,000, within 8 s; the
#: two leading directions 0.08. With 120 rounds, or a push of 1 or 12, fewer are.
_ROUNDS, _PUSHED, _PUSH = 200, 6, 3.0
#: Half the width of the map at the start, and how near two items push as if they were no nearer.
_START, _NEAREST = 10.0, 0.05
#: Steps of a walk that tell slow directions from fast ones.
_STEPS = 40
#: What keeps parts without a link together.
_GRAVITY = 0.01
#: How hard the two items of a found pair pull each other, where neighbours pull with 1.
_LINKED = 5.0


def neighbor_map(
    places: IntArray,
    start: FloatArray,
    *,
    links: tuple[IntArray, IntArray] | None = None,
    random_state: int = 0,
) -> FloatArray:
    """Lay items out so that each lies beside its neighbours.

    Neighbours pull each other with force d/(1 + d²), and everybody pushes some others away, drawn
    anew in each round, with force 1/(d·(1 + d²)): the gradient of the layouts of LargeVis and UMAP,
    in whole rounds.

    Parameters
    ----------
    places : ndarray of shape (n, k)
        Neighbours of each item; -1 for none.
    start : ndarray of shape (n, 2)
        Where they begin, such as their two leading directions.
    links : (ndarray, ndarray), optional
        Further pairs, which pull five times as hard.
    random_state : int
        Who is pushed away from whom.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    n = len(places)
    rng = np.random.default_rng(random_state)
    pull = _pulls(places, links)
    i, j = pull.nonzero()  # in the order of the data
    at = _spread(start) + rng.normal(scale=1e-3, size=(n, 2))
    strength = np.asarray(pull.sum(axis=1)).ravel()
    strength[strength == 0] = 1.0
    for round_ in range(_ROUNDS):
        step = 1.0 - round_ / _ROUNDS
        gap = at[j] - at[i]
        force = pull.data / (1.0 + np.einsum("kd,kd->k", gap, gap))
        to = np.stack([np.bincount(i, force * gap[:, d], n) for d in (0, 1)], axis=1)
        away = np.zeros((n, 2))
        for other in rng.integers(n, size=(_PUSHED, n)):
            gap = at - at[other]
            square = np.einsum("kd,kd->k", gap, gap)[:, None]
            away += gap / ((_NEAREST + square) * (1.0 + square))
        at -= step * _GRAVITY * at
        at += step * (to / strength[:, None] + _PUSH / _PUSHED * np.clip(away, -4, 4))
    return at


def linked_map(left: IntArray, right: IntArray, n: int, *, random_state: int = 0) -> FloatArray:
    """Lay items out by their links alone, such as those of neighbours.

    They begin at the slowest directions of a walk along the links.
    """
    graph = _graph(left, right, n)
    graph.setdiag(1.0)
    walk = sp.diags_array(1 / np.asarray(graph.sum(axis=1)).ravel()) @ graph
    at = np.random.default_rng(random_state).normal(size=(n, 3))
    at[:, 0] = 1.0  # the slowest of all, which says nothing
    for _ in range(_STEPS):
        at = np.linalg.qr(walk @ at)[0]
    nobody = np.empty((n, 0), dtype=np.int64)
    return neighbor_map(nobody, at[:, 1:], links=(left, right), random_state=random_state)


def _pulls(places: IntArray, links: tuple[IntArray, IntArray] | None) -> sp.csr_array:
    """Return who pulls whom, and how hard: neighbours of either order, once."""
    n, k = places.shape
    rows = np.repeat(np.arange(n), k)
    there = places.ravel() >= 0
    near = _graph(rows[there], places.ravel()[there], n)
    return near if links is None else sp.csr_array(near + (_LINKED - 1) * _graph(*links, n))


def _graph(left: IntArray, right: IntArray, n: int) -> sp.csr_array:
    one_way = sp.coo_array((np.ones(len(left)), (left, right)), (n, n))
    both = sp.csr_array(one_way + one_way.T)
    both.data = np.minimum(both.data, 1.0)
    return both


def _spread(start: FloatArray) -> FloatArray:
    """Return the start in units of the map, without a mean."""
    centred = start - start.mean(axis=0)
    size = np.abs(centred).max(axis=0)
    return np.asarray(_START * centred / np.where(size > 0, size, 1.0))


def group_map(groups: IntArray) -> FloatArray:
    """Lay groups out on a spiral, the largest in the middle, their items in a ring.

    Parameters
    ----------
    groups : ndarray of int
        A number for each item.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    sizes = np.bincount(groups)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[order] = np.arange(len(sizes))
    # Each group takes an area like its size; the golden angle fills the plane evenly.
    area = np.cumsum(sizes[order]) - sizes[order] / 2
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(len(sizes))
    middle = np.sqrt(area)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    by_group = np.argsort(groups, kind="stable")
    first = np.cumsum(sizes) - sizes
    within = np.empty(len(groups), dtype=np.int64)
    within[by_group] = np.arange(len(groups)) - first[groups[by_group]]
    angle = 2 * np.pi * within / sizes[groups]
    radius = np.where(sizes[groups] > 1, 0.35 * np.sqrt(sizes[groups]), 0.0)
    ring = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(middle[rank[groups]] + ring)
