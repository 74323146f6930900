"""Equal scores at the last place of a list: any will do, and none makes up for a nearer one."""

from __future__ import annotations

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.tasks.matching.judges import Judges
from fewpairs.tasks.matching.neighbor_rows import NeighborRows
from fewpairs.tasks.matching.universe import Universe


def partners(n, seed):
    """Return a similarity of 1 between the two of each couple, 0 elsewhere, and who is whose."""
    order = np.random.default_rng(seed).permutation(n)
    partner = np.empty(n, dtype=int)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    alike = fp.similarity(
        lambda a, b: (partner[np.asarray(a)][:, None] == np.asarray(b)).astype(float),
        kind="block",
        symmetric=True,
    )
    return alike, partner


def true_share(found, partner, k):
    """Share of true neighbours: of the others, all zeros, any will do."""
    held = sum(partner[i] == j for i, j in zip(found.left, found.right, strict=True))
    return (held + len(partner) * (k - 1)) / (len(partner) * k)


def test_equal_scores_do_not_make_up_for_a_nearer_one():
    above = 0
    for seed in range(6):
        alike, partner = partners(600, seed)
        guide = np.random.default_rng(100 + seed).normal(size=(600, 5))
        found = fp.find_nearest(
            list(range(600)), alike, k=2, guide=guide, budget=0.4, random_state=seed
        )
        above += found.recall.low > true_share(found, partner, 2) + 1e-12
    assert above == 0


def test_a_depth_is_that_of_the_nearer_ones_not_of_ties():
    n, m = 400, 12
    values = np.zeros((n, m))
    values[:, 9] = 1.0
    universe = Universe(n, m, square=False, symmetric=False)
    none = np.empty(0, np.int64)
    rows = NeighborRows(None, 2, small_is_near=False)
    judges = Judges(universe, rows, np.arange(n), values, none, none)
    order = np.arange(m, 0, -1, dtype=np.float32)[:, None]  # column 9 comes tenth in every list
    assert judges.promising(np.ones((n, 1), np.float32), order, 0.95) == 10


def test_a_check_of_neighbours_knows_equal_scores():
    alike, partner = partners(150, 1)
    matrix = fp.approximate(list(range(150)), alike, budget=0.1, random_state=0)
    near = [matrix.nearest(row, k=5, rerank=0).indices for row in range(150)]
    held = [(4 + (partner[row] in near[row])) / 5 for row in range(150)]
    check = matrix.check(k=5, rows=150, rerank=20, random_state=0)  # rows are known from here on
    assert check.recall.value == pytest.approx(np.mean(held), abs=0.02)
    # Of twenty candidates few are a partner; zeros would make the list perfect.
    assert check.recall.value <= check.reranked.value < 0.95
