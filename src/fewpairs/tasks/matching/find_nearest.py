"""find_nearest(): each item's true neighbours, and how many of them are missing."""

from __future__ import annotations

from typing import Any

from fewpairs.arrays import RandomState, is_whole
from fewpairs.error.recall import check_recall
from fewpairs.errors import InputError
from fewpairs.guides.guides import as_guides
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption
from fewpairs.parallel import max_memory as memory_below
from fewpairs.parallel import one_blas_thread
from fewpairs.run.arguments import as_oracle, evaluations_of
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.tasks.matching.all_pairs import evaluates_all
from fewpairs.tasks.matching.found import Found
from fewpairs.tasks.matching.identity import read_ids
from fewpairs.tasks.matching.neighborhoods import Neighborhoods
from fewpairs.tasks.matching.plan_nearest import plan_nearest
from fewpairs.tasks.matching.symmetry import unlimited
from fewpairs.tasks.matching.universe import Universe


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
    guide, all_pairs, random_state, journal, n_jobs, progress : as for `find_pairs`
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
    wanted = check_recall(recall)
    oracle = as_oracle(
        items,
        similarity,
        others,
        n_jobs,
        progress,
        journal,
        retry=retry,
        timeout=timeout,
        on_error=on_error,
        on_nonfinite=on_nonfinite,
        cost=cost,
    )
    names = read_ids(ids, oracle)
    universe = Universe(*oracle.shape, square=oracle.square, symmetric=oracle.symmetric)
    all_cost = universe.size * oracle.planner.per_entry
    allowed = unlimited(universe) * oracle.planner.per_entry
    if budget is not None:
        allowed = evaluations_of(budget, all_cost, oracle.planner.cost)
    everything = evaluates_all(all_pairs, budget, oracle.similarity, universe)
    others_items = None if oracle.square else oracle.others
    # What nobody will follow need not be made.
    given = None if everything and isinstance(guide, str) and guide == "auto" else guide
    guides = as_guides(given, oracle.items, others_items, oracle.similarity)
    rng = oracle.generator(random_state, "find_nearest")
    planned = min(allowed, all_cost)
    if budget is None and not everything:
        n, m = oracle.shape
        plan = plan_nearest(
            n,
            k=int(k),
            recall=wanted,
            others=None if oracle.square else m,
            symmetric=oracle.symmetric,
        )
        planned = plan.least * oracle.planner.per_entry  # more, if a guide is poor
    with oracle.run(planned, rng), one_blas_thread(), memory_below(max_memory):
        run = Neighborhoods(
            oracle, int(k), allowed, wanted, rng, small_is_near=distance, everything=everything
        )
        rows, columns, values = run.carry_out(guides)
        stated = run.stated()
    return Found(
        left=rows,
        right=columns,
        similarities=values,
        recall=stated,
        spent=run.spent,
        shape=oracle.shape,
        ids=names,
        oracle=oracle,
    )
