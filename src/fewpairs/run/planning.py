"""From arguments to a plan: all of them checked before the first evaluation is bought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from fewpairs.error.estimate import check_target
from fewpairs.error.interval import as_interval
from fewpairs.errors import InputError
from fewpairs.files.scratch import goes_to_disk, has_scratch, require_room, send_all_to_disk
from fewpairs.guides.guides import Guide
from fewpairs.methods.base import Method
from fewpairs.methods.catalogue import Chosen, find_method
from fewpairs.methods.landmarks import as_selector
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import count_jobs, memory_ceiling, require_memory
from fewpairs.parallel import max_memory as memory_below
from fewpairs.run.arguments import (
    OPTIONS,
    as_oracle,
    check_draw,
    check_error_pairs,
    check_fold,
    check_rectangle,
    check_target_run,
    guides_of,
    refuse_idle_fold,
)
from fewpairs.run.plan import Plan
from fewpairs.run.pricing import Price, peak_memory, peak_memory_beside_disk, room_on_disk
from fewpairs.run.sizing import Size, size_for_one_step, size_for_target
from fewpairs.run.timing import seconds_per_evaluation
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing


def make_plan(
    oracle: Oracle,
    *,
    landmarks: int | npt.ArrayLike | None,
    budget: float | str | None,
    target_error: float | None = None,
    method: str | Method,
    selection: Any,
    error_pairs: int | None,
    options: Mapping[str, Any],
    guides: Sequence[Guide] = (),
) -> Plan:
    """Check every argument and settle the number of landmarks."""
    rest = dict(options)
    weighted = check_draw(rest.pop("error_draw", "weighted"))
    fold = check_fold(rest.pop("fold_error_pairs", False), error_pairs)
    interval = as_interval(rest.pop("error_interval", "log-t"))
    chosen = find_method(
        method, rest, symmetric=oracle.symmetric, square=oracle.square, also=OPTIONS
    )
    if guides:
        chosen = chosen._replace(method=chosen.method.guided_by(guides))
    refuse_idle_fold(chosen.title, fold=fold, put_back=chosen.put_back)
    oracle = oracle.declaring(chosen.method.declared_diagonal)
    pairs = check_error_pairs(error_pairs)
    if not oracle.square:
        check_rectangle(landmarks, selection)
    price = Price(oracle, chosen.method, as_selector(selection), pairs)
    if target_error is not None:
        check_target_run(chosen.method, chosen.title, landmarks, selection, pairs)
        size = size_for_target(price, check_target(target_error), budget, put_back=chosen.put_back)
    else:
        size = size_for_one_step(price, landmarks, budget, put_back=chosen.put_back)
    large = goes_to_disk(oracle.planner.sides, size.landmarks)
    streams = chosen.method.streams and not guides
    if large and not streams:
        raise InputError(
            f"{size.landmarks:,} columns of {oracle.planner.sides:,} items go to the folder of "
            f"scratch=, and {'there is a guide' if guides else f'the method is {chosen.title}'}.",
            "It needs several arrays of that size in memory.",
            'Use the default method without a guide, "nystrom", "skeleton" or "sicur", or leave '
            "scratch= out.",
        )
    settled = _plan(oracle, chosen, size, weighted=weighted, fold=fold)
    # Columns that take less than their share may still be too much together with what is made of
    # them: a larger ceiling must not refuse what a smaller one sends to the disk.
    if large or (streams and has_scratch() and settled.memory > memory_ceiling()):
        send_all_to_disk()
        settled = _plan(oracle, chosen, size, weighted=weighted, fold=fold)
    require_memory(
        settled.memory,
        f"the arrays of a run with {settled.n_landmarks:,} landmarks",
        "Ask for fewer landmarks or a smaller budget"
        + (", or for no near-duplicates (near=0)" if getattr(chosen.method, "near", 0) else ""),
    )
    if goes_to_disk(oracle.planner.sides, settled.n_landmarks):
        drawn = settled.estimates_error and weighted
        require_room(
            room_on_disk(chosen.method, oracle, settled.n_landmarks, drawn=drawn),
            f"the files of a run with {settled.n_landmarks:,} landmarks",
        )
    return replace(settled, interval=interval)


def _plan(oracle: Oracle, chosen: Chosen, size: Size, *, weighted: bool, fold: bool) -> Plan:
    price, count = size.price, size.landmarks
    judged = price.pairs != 0
    memory = peak_memory(chosen.method, oracle.planner, count, judged=judged)
    if goes_to_disk(oracle.planner.sides, count):
        memory = peak_memory_beside_disk(chosen.method, oracle.planner, count, judged=judged)
    return Plan(
        n_items=oracle.shape[0],
        n_others=None if oracle.square else oracle.shape[1],
        n_landmarks=count,
        error_pairs=price.error_pairs(count),
        symmetry_pairs=price.symmetry_pairs(count),
        estimates_error=judged,
        weighted=weighted,
        fold=fold,
        allowance=size.allowance,
        evaluations=size.total,
        share=size.total / oracle.planner.price_of_everything,
        memory=memory,
        title=chosen.title,
        method=chosen.method,
        put_back=chosen.put_back,
        selector=price.selector,
        target=size.target,
        all_pairs=oracle.planner.price_of_everything,
        first_step=size.first_step,
        cost=oracle.planner.cost,
    )


def plan(
    items: Any,
    similarity: Any = None,
    *,
    others: Any = None,
    landmarks: int | npt.ArrayLike | None = None,
    budget: float | str | None = None,
    target_error: float | None = None,
    method: str | Method = "auto",
    selection: Any = "uniform",
    guide: Any = None,
    error_pairs: int | None = None,
    journal: JournalOption = None,
    n_jobs: int = 1,
    timed: bool | None = None,
    retry: int | None = None,
    timeout: float | None = None,
    on_error: WhenMissing | None = None,
    on_nonfinite: WhenMissing | None = None,
    cost: CostOption | None = None,
    max_memory: int | str | None = None,
    **options: Any,
) -> Plan:
    """Say what `approximate` would cost, before it runs.

    Parameters
    ----------
    items, similarity, others, landmarks, budget, target_error, method, selection, guide, \
    error_pairs, journal, n_jobs, retry, timeout, on_error, on_nonfinite, cost, max_memory, \
    **options
        As for `approximate`; with an `Oracle`, what the timed sample buys is not paid for again.
    timed : bool, optional
        Evaluate a few pairs, for about a tenth of a second and never more than 20,000, to tell the
        time. By default only where the similarity is declared `cheap` and no cost is known: of any
        other nothing is evaluated unasked.

    Returns
    -------
    Plan
        Prints as a few lines.

    Examples
    --------
    >>> import numpy as np
    >>> import fewpairs as fp
    >>> identity = fp.Precomputed(np.eye(1000))
    >>> print(fp.plan(range(1000), identity, landmarks=50, method="nystrom"))
    nystrom: 50 landmarks of 1,000 items
      evaluations  50,775 (10.14% of all pairs), 2,000 of them for the error estimate
      memory       36.7 MB
      time         unknown: nothing was evaluated; timed=True makes up to 10,010 evaluations
    """
    oracle = as_oracle(
        items,
        similarity,
        others,
        progress=False,
        journal=journal,
        retry=retry,
        timeout=timeout,
        on_error=on_error,
        on_nonfinite=on_nonfinite,
        cost=cost,
    )
    with memory_below(max_memory):
        settled = make_plan(
            oracle,
            landmarks=landmarks,
            budget=budget,
            target_error=target_error,
            method=method,
            selection=selection,
            error_pairs=error_pairs,
            options=options,
            guides=guides_of(oracle, guide),
        )
    jobs = count_jobs(n_jobs)
    if timed is not None and not isinstance(timed, bool):
        raise InputError(
            f"timed is {timed!r}.",
            "It says whether evaluations are made to time them.",
            "Pass True or False, or leave it out.",
        )
    if timed is None:
        timed = oracle.similarity.cheap and oracle.planner.cost is None
    if not timed:
        return settled
    before = oracle.evaluations
    each = seconds_per_evaluation(oracle)
    seconds = None if each is None else each * settled.evaluations / jobs
    return replace(settled, seconds=seconds, sampled=oracle.evaluations - before)
