"""find_nearest(): each item's true neighbours, and how many of them are missing."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

from fewpairs.arrays import RandomState, is_whole
from fewpairs.error.recall import check_recall
from fewpairs.errors import InputError, NeighborsCutWarning, warn
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.provenance import Provenance
from fewpairs.parallel import max_memory as memory_below
from fewpairs.parallel import one_blas_thread
from fewpairs.run.timing import beside_all_pairs
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.tasks.matching.all_pairs import ALL_PAIRS
from fewpairs.tasks.matching.found import Found
from fewpairs.tasks.matching.neighborhoods import Neighborhoods
from fewpairs.tasks.matching.plan_nearest import plan_nearest
from fewpairs.tasks.matching.question import Beside, Means, Question
from fewpairs.tasks.matching.threshold import refuse_incomparable
from fewpairs.workers.choice import WorkersOption


def find_nearest(
    items: Any,
    similarity: Any = None,
    *,
    k: int = 10,
    others: Any = None,
    ids: Any = None,
    distance: bool = False,
    recall: float = 0.95,
    budget: float | str | None = None,
    guide: Any = "auto",
    all_pairs: bool | None = None,
    random_state: RandomState = None,
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
    max_memory: int | str | None = None,
) -> Found:
    """Find the k most similar items of each item, with exact similarities, from few evaluations.

    Some random rows are read whole and kept from the search. Of their true neighbours, those that
    it would have missed tell how many of all it misses.

    Parameters
    ----------
    items, similarity, others, ids : as for `find_pairs`
        With others, the neighbours of each item are among the others.
    k : int, default=10
    distance : bool, default=False
        Whether the function is a distance: the nearest have the smallest values.
    recall : float, default=0.95
        The share of all true neighbours to find: the lower end of the stated interval.
    budget : int, float or str, optional
        The most to spend: evaluations, or (a float below 1) a share of all pairs, or money.
    guide, all_pairs, random_state, journal, n_jobs, workers, client, progress : as for `find_pairs`
    retry, timeout, on_error, on_nonfinite, cost, max_memory : as for `find_pairs`

    Returns
    -------
    Found
        Pairs (item, neighbour), item by item, the best first.

    Examples
    --------
    >>> import fewpairs as fp
    >>> points = [[0.0], [1.0], [10.0], [12.0]]
    >>> found = fp.find_nearest(points, fp.VectorSimilarity("rbf", gamma=0.1), k=1)
    >>> list(zip(found.left.tolist(), found.right.tolist()))
    [(0, 1), (1, 0), (2, 3), (3, 2)]
    """
    if not is_whole(k) or k < 1:
        raise InputError(
            f"k is {k!r}.", "It is a number of neighbours.", "Pass a positive integer."
        )
    begun = time.perf_counter()
    wanted = check_recall(recall)
    means = Means(n_jobs, progress, journal, workers, client)
    beside = Beside(retry, timeout, on_error, on_nonfinite, cost)
    asked = Question.of(items, similarity, others, ids, budget, all_pairs, means, beside)
    oracle = asked.oracle
    if distance:
        refuse_incomparable(oracle)
    _say_if_cut(int(k), oracle)
    allowed, everything, guides = asked.allowed, asked.everything, asked.guides(guide)
    rng = oracle.generator(random_state, "find_nearest")
    planned = min(allowed, asked.all_cost)
    if budget is None and not everything:
        n, m = oracle.shape
        plan = plan_nearest(
            n,
            k=int(k),
            recall=wanted,
            others=None if oracle.square else m,
            symmetric=oracle.symmetric,
        )
        planned = plan.least * asked.each  # more, if a guide is poor
    before = oracle.evaluations
    with oracle.run(planned, rng), one_blas_thread(), memory_below(max_memory):
        run = Neighborhoods(
            oracle, int(k), allowed, wanted, rng, small_is_near=distance, everything=everything
        )
        with nullcontext() if everything else beside_all_pairs(oracle, asked.all_cost, ALL_PAIRS):
            rows, columns, values = run.carry_out(guides)
        stated = run.stated()
    return Found(
        left=rows,
        right=columns,
        similarities=values,
        recall=stated,
        spent=run.spent,
        shape=oracle.shape,
        small_is_near=distance,
        ids=asked.ids,
        oracle=oracle,
        paid=oracle.evaluations - before,
        provenance=Provenance.since(begun, random_state),
    )


def _say_if_cut(k: int, oracle: Oracle) -> None:
    """Say that an item has fewer others than were asked for."""
    others = oracle.shape[1] - 1 if oracle.square else oracle.shape[1]
    if k > others:
        warn(
            NeighborsCutWarning(
                f"k={k} is more than the {others:,} others of an item: all of them are listed."
            )
        )
