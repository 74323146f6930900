"""find_pairs(): every pair above a threshold, and how many are missing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from fewpairs.arrays import RandomState
from fewpairs.error.recall import check_recall
from fewpairs.errors import RecallMissedWarning, warn
from fewpairs.guides.guides import reusable
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.provenance import Provenance
from fewpairs.parallel import max_memory as memory_below
from fewpairs.parallel import one_blas_thread
from fewpairs.run.timing import beside_all_pairs
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.tasks.matching.all_pairs import ALL_PAIRS
from fewpairs.tasks.matching.found import Found, refuse_one_set
from fewpairs.tasks.matching.plan_pairs import plan_for
from fewpairs.tasks.matching.question import Beside, Means, Question
from fewpairs.tasks.matching.running import Run
from fewpairs.tasks.matching.search import best_first
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.workers.choice import WorkersOption


def find_pairs(
    items: Any,
    similarity: Any = None,
    *,
    above: float | None = None,
    below: float | None = None,
    others: Any = None,
    ids: Any = None,
    recall: float = 0.95,
    budget: float | str | None = None,
    guide: Any = "auto",
    one_to_one: bool = False,
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
    """Find all pairs whose similarity is at least `above`, from few evaluations.

    Parameters
    ----------
    items : sequence, array, column of a data frame, or Oracle
        What is compared. An `Oracle`, such as ``error.oracle`` after a fault, brings its
        similarity and everything that was paid for.
    similarity : Similarity or str
        The expensive function; wrap your own with `fewpairs.similarity`. A name such as
        "jaro_winkler" stands for the ready one.
    above : float
        Pairs with at least this similarity match.
    below : float
        Instead, where the function is a distance: pairs with at most this distance match.
    others : sequence, optional
        Items of a second set: pairs are one item of each.
    ids : sequence, optional
        Your names of the items, in their order, for results; with others a pair of sequences. Of
        rows of a data frame and of records also the name of a column or field.
    recall : float, default=0.95
        The share of all matches to find. The search ends when the lower end of the stated
        interval is at least this. Where that takes half of all pairs or more, all are evaluated if
        they are no more than a million, or four times what was; of more, a warning says what it
        would take, and ``budget=`` as many pairs as there are lets it be spent.
    budget : int, float or str, optional
        The most to spend: evaluations, or (a float below 1) a share of all pairs, or (beside
        `cost`) money, as in "5 USD". The search then finds what it can, and states what it knows.
    guide : "auto", array, encoder, None, or list of these, default="auto"
        Something cheap that hints at the similarity: an array with a row for each item (with
        others a pair of arrays), or a function that makes one of the list of items. "auto" takes
        what the items themselves offer: of texts their characters and words, of vectors
        themselves. A poor guide costs evaluations, and never makes a statement false.
    one_to_one : bool, default=False
        Of two sets: keep only the best assignment, in which no item is matched twice.
    all_pairs : bool, optional
        Whether every pair is evaluated, and the recall exact. By default, without a budget, where
        the similarity is declared `cheap`, as those of strings and vectors are, and there are no
        more than ten million pairs: a search takes longer. False searches all the same.
    random_state : int, Generator, RandomState or None
        The same seed gives the same result, whatever `n_jobs`.
    journal : str, Path, Journal or None, default=None
        As for `approximate`.
    n_jobs : int, default=1
        Threads that call the similarity.
    workers : {"threads", "processes"}, default="threads"
        What `n_jobs` counts; processes are for similarities that hold the interpreter.
    client : dask.distributed.Client, optional
        A cluster, whose workers evaluate instead (docs/scale.md); the result is the same.
    progress : bool, callable or None, default=None
        A bar in a terminal or notebook; or ``callback(done, planned)``: False stops the run.
    retry, timeout, on_error, on_nonfinite, cost
        What is done about calls that fail and pairs without a value, and what an evaluation costs,
        where the similarity itself does not say: see `fewpairs.similarity`.
    max_memory : int or str, optional
        Bytes, or a text such as "4 GB": whatever would take more is refused before anything is
        spent on it (blind pairs once it is known how many); see `fewpairs.max_memory`.

    Returns
    -------
    Found

    Examples
    --------
    >>> import fewpairs as fp
    >>> names = ["Anna Berg", "Ana Berg", "Bob Stone", "Robert Stone", "Bob Ston", "Carl May"]
    >>> found = fp.find_pairs(names, fp.StringSimilarity("jaro_winkler"), above=0.95)
    >>> [(names[i], names[j]) for i, j in zip(found.left, found.right)]
    [('Bob Stone', 'Bob Ston'), ('Anna Berg', 'Ana Berg')]
    >>> print(found.recall)
    recall 1 (exact: every pair was evaluated), 2 matches found
    """
    begun = time.perf_counter()
    threshold = Threshold.of(above, below)
    wanted = check_recall(recall)
    means = Means(n_jobs, progress, journal, workers, client)
    beside = Beside(retry, timeout, on_error, on_nonfinite, cost)
    asked = Question.of(items, similarity, others, ids, budget, all_pairs, means, beside)
    oracle, universe = asked.oracle, asked.universe
    threshold.check(oracle)
    if one_to_one:
        refuse_one_set(oracle)
    allowed, guides = asked.allowed // asked.each, asked.guides(guide)
    rng = oracle.generator(random_state, "find_pairs")
    planned = min(allowed, universe.size)
    if budget is None and not asked.everything and universe.size:
        planned = plan_for(universe, wanted).low  # the run finds out more
    before = oracle.evaluations
    with (
        oracle.run(planned * asked.each, rng),
        one_blas_thread(),
        memory_below(max_memory),
    ):
        # Draws from the generator, whose state the oracle has noted for a call that goes on.
        run = Run(oracle, universe, threshold, allowed, wanted, rng, unasked=budget is None)
        if asked.everything:
            stated, keys = run.evaluate_all()
        else:
            with beside_all_pairs(oracle, asked.all_cost, ALL_PAIRS):
                stated, keys = run.carry_out(guides)
        rows, columns = universe.places(keys)
        values = oracle.entries(rows, columns)
        blind = run.blind_values()
        stated = replace(stated, skipped=len(oracle.skipped))
    if budget is None and not stated.reached:
        warn(RecallMissedWarning(f"the recall of {wanted:g} cannot be stated: {stated}."))
    order = best_first(values, keys, threshold)
    found = Found(
        left=rows[order],
        right=columns[order],
        similarities=values[order],
        recall=stated,
        spent=run.spent,
        shape=oracle.shape,
        ids=asked.ids,
        oracle=oracle,
        threshold=threshold,
        blind=blind,
        guide=reusable(guide),
        paid=oracle.evaluations - before,
        provenance=Provenance.since(begun, random_state),
    )
    return found.one_to_one() if one_to_one else found
