"""approximate(): the front door."""

from __future__ import annotations

import copy
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import RandomState
from fewpairs.error.audit import draw_audit, judge
from fewpairs.errors import AllPairsWarning, BudgetExceededWarning, warn
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.files.scratch import ScratchOption, scratch_in
from fewpairs.guides.guides import reusable
from fewpairs.items.ids import read_ids
from fewpairs.methods.base import Method, assemble
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.provenance import Provenance
from fewpairs.oracle.scale import OutgrownError, Scale
from fewpairs.parallel import max_memory as memory_below
from fewpairs.run.arguments import as_oracle, check_selected, guides_of
from fewpairs.run.plan import Plan
from fewpairs.run.planning import make_plan
from fewpairs.run.target import grow_to_target
from fewpairs.run.timing import beside_all_pairs
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.workers.choice import WorkersOption

#: Of fewer pairs than this it does not matter whether all of them were evaluated.
_WORTH_A_WORD = 10_000


def approximate(
    items: Any,
    similarity: Any = None,
    *,
    others: Any = None,
    ids: Any = None,
    landmarks: int | npt.ArrayLike | None = None,
    budget: float | str | None = None,
    target_error: float | None = None,
    method: str | Method = "auto",
    selection: Any = "uniform",
    guide: Any = None,
    error_pairs: int | None = None,
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
    scratch: ScratchOption = None,
    **options: Any,
) -> FactoredMatrix:
    """Approximate the whole similarity matrix from a few of its pairs.

    Parameters
    ----------
    items : sequence, array, column of a data frame, or Oracle
        What is compared. An `Oracle`, such as ``error.oracle`` after a fault, brings its
        similarity and everything that was paid for.
    similarity : Similarity
        The expensive function; wrap your own with `fewpairs.similarity`. Beside an oracle: a mended
        one of the same name and parameters.
    others : sequence, optional
        Items of the columns, where the matrix compares two sets (queries with documents).
    ids : sequence, optional
        Your names of the items; with others a pair of sequences. By default the index of a pandas
        object. Texts among them stand for their items: ``K["sku-17"]``, ``K.nearest("sku-17")``;
        integers are always positions. Of records also the name of a field.
    landmarks : int or sequence of int, optional
        Number of columns to read (by default 100), or their positions.
    budget : int, float or str, optional
        Instead: evaluations to spend in all, or (a float below 1) a share of all pairs, or (beside
        `cost`) money, as in "5 USD".
    target_error : float, optional
        Instead: add landmarks until the upper end of the error estimate is below this. A budget
        beside it is the most that may be spent. `K.curve` holds the steps, `K.stopped_because`
        the end: the target was reached, the curve has flattened, the budget is spent.
    method : str or Method, default="auto"
        "fitted" (which is what "auto" means), or a published one: "nystrom", "sms",
        "sms-rescaled", "skeleton", "sicur", "stacur"; "optimal" needs all pairs; or a `Method`
        of your own.
    selection : str or Selector, default="uniform"
        How landmarks are chosen: "uniform", "k-centre", "d2", "leverage", "pivoted", or your own
        object with ``select(oracle, count, rng)``; docs/tables/selection.md compares them.
    guide : array, encoder, "auto", None, or list of these, default=None
        Something cheap that hints at the similarity, as for `find_pairs`: embeddings with a row for
        each item (with others a pair of arrays), or a function or encoder that makes them. The
        default method follows it where evaluated pairs say that it is worth it; a guide that is
        not changes next to nothing (docs/guide.md).
    error_pairs : int, optional
        Unseen pairs for the error estimate; by default the smaller of 2,000 and a tenth of what
        is spent. 0 turns the estimate off.
    random_state : int, Generator, RandomState or None
        The same seed gives the same result, whatever `n_jobs`.
    journal : str, Path, Journal or None, default=None
        A folder in which everything evaluated is written down as it comes. What is there is not
        paid for again, by this call or another one, in this process or a later one.
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
        spent; see `fewpairs.max_memory`.
    scratch : str, Path or None, default=None
        A folder for columns that take more than a quarter of that, or with all that is made of
        them more than that: memory-mapped, in single precision, gone when the result is. For the
        default method without a guide, "nystrom", "skeleton" and "sicur" (docs/scale.md).
    **options
        Of the method; ``known="exact"`` to put evaluated entries back into its result (the
        default method does, and with ``known=None`` gives a plain matrix of rank s);
        ``error_draw="uniform"`` for an estimate from uniform pairs; ``error_interval`` for a rule
        of your own that turns it into an interval; ``fold_error_pairs=True`` to use those pairs
        in the result afterwards, whose error is then the stated one or less.

    Returns
    -------
    FactoredMatrix

    Examples
    --------
    >>> import fewpairs as fp
    >>> X = np.random.default_rng(0).random((500, 3))
    >>> K = fp.approximate(X, fp.VectorSimilarity("rbf"), budget=0.1, random_state=0)
    >>> K.evaluations <= 0.1 * 500 * 501 / 2, K.error.value < 0.001
    (True, True)
    """
    begun = time.perf_counter()
    oracle = as_oracle(
        items,
        similarity,
        others,
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
    names = read_ids(ids, oracle.items, None if oracle.square else oracle.others)
    rng = oracle.generator(random_state, "approximate")
    guides = guides_of(oracle, guide)
    with memory_below(max_memory), scratch_in(scratch):
        plan = make_plan(
            oracle,
            landmarks=landmarks,
            budget=budget,
            target_error=target_error,
            method=method,
            selection=selection,
            error_pairs=error_pairs,
            options=options,
            guides=guides,
        )
        oracle = oracle.declaring(plan.method.declared_diagonal)
        matrix = run_at_scale(oracle, plan, rng).guided_by(reusable(guide))
        matrix.source = replace(matrix.source, ids=names)
        matrix.provenance = Provenance.since(begun, random_state)
    if budget is not None and oracle.spent > plan.evaluations:
        warn(
            BudgetExceededWarning(
                f"{oracle.spent:,} evaluations were spent where {plan.evaluations:,} were planned: "
                "a method or a selector has read more than its price says."
            )
        )
    stated = matrix.error is not None and matrix.error.high > 0
    if plan.put_back and stated and matrix.evaluations >= plan.all_pairs >= _WORTH_A_WORD:
        warn(
            AllPairsWarning(
                f"{matrix.evaluations:,} evaluations were spent, and all {plan.all_pairs:,} pairs "
                f"leave no error: landmarks={min(oracle.shape)}."
            )
        )
    return matrix


def run_at_scale(oracle: Oracle, plan: Plan, rng: np.random.Generator) -> FactoredMatrix:
    """Carry the plan out on values of ordinary size, and give the result its own size back.

    The power of two is found from what is read first. Should values come that are more than 1e40
    times as large, the run starts again with a better one; what it has paid for is looked up.
    """
    begun = copy.deepcopy(dict(rng.bit_generator.state))
    scale = Scale(near_one=plan.method.follows_guides)
    before, again = oracle.evaluations, False
    while True:
        view = oracle.scaled(scale)
        try:
            with view.run(plan.evaluations, rng), _beside(view, plan):
                matrix = carry_out(view, plan, rng)
        except OutgrownError as outgrown:
            scale, again = outgrown.scale, True
            rng.bit_generator.state = begun
            continue
        if again:  # the first attempt may have read what the second did not
            matrix.evaluations = max(matrix.evaluations, oracle.evaluations - before)
        matrix = matrix.without(view.skipped)
        if scale.power == 0:
            return matrix
        return matrix.in_own_numbers(scale.power, view.in_own_numbers(matrix.known))


def _beside(oracle: Oracle, plan: Plan) -> AbstractContextManager[None]:
    """Say at the end if all pairs would have been quicker, unless they are what was asked for."""
    if plan.exact:
        return nullcontext()
    return beside_all_pairs(oracle, plan.all_pairs, f"leave no error: {plan.call_for_all_pairs}")


def carry_out(oracle: Oracle, plan: Plan, rng: np.random.Generator) -> FactoredMatrix:
    """Choose landmarks, check symmetry, and take one step, or as many as a target needs."""
    most = plan.n_landmarks if plan.target is None else min(oracle.shape)
    landmarks = check_selected(plan.selector.select(oracle, most, rng), most, oracle.shape[1])
    if plan.symmetry_pairs:
        strip = landmarks[: min(plan.n_landmarks, oracle.planner.first_landmarks)]
        i, j = np.triu_indices(len(strip), 1)
        some = rng.permutation(len(i))[: plan.symmetry_pairs]
        oracle.check_symmetry(strip[i[some]], strip[j[some]])
    if plan.target is not None:
        return grow_to_target(oracle, plan, plan.target, landmarks, rng)
    fit = plan.method.fit(oracle, landmarks, rng, plan.allowance)
    matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
    if not plan.estimates_error:
        return matrix
    audit = draw_audit(
        matrix, oracle, plan.error_pairs, rng, weighted=plan.weighted, ready=fit.profiles
    )
    error = judge(matrix, oracle, audit, plan.interval).warned()
    if plan.fold:
        audit.reveal(oracle)
        fit = plan.method.refit(fit, audit.pairs, audit.values)
        matrix = assemble(oracle, fit, plan.title, put_back=plan.put_back)
    return matrix.judged(error, oracle.spent)
