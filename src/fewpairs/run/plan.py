"""What a run will do and cost, settled before the first evaluation is bought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.error.estimate import check_target
from fewpairs.error.interval import Interval, as_interval, relative_error
from fewpairs.errors import InputError
from fewpairs.methods.base import Method
from fewpairs.methods.catalogue import Chosen, find_method
from fewpairs.methods.landmarks import Selector, as_selector, given_landmarks
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import count_jobs, format_bytes, require_memory
from fewpairs.parallel import max_memory as memory_below
from fewpairs.run.arguments import (
    OPTIONS,
    as_oracle,
    check_count,
    check_draw,
    check_error_pairs,
    check_fold,
    check_rectangle,
    check_target_run,
    evaluations_of,
    refuse_idle_fold,
)
from fewpairs.run.pricing import Price, Target, audit_size, first_count, fit_budget, peak_memory
from fewpairs.run.timing import format_seconds, seconds_per_evaluation
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.similarities.patience import WhenMissing

#: Enough for a first look at any matrix; a budget or a target is the better way to choose.
DEFAULT_LANDMARKS = 100
#: A plan that costs this share of all pairs might as well have all of them; and so might one of a
#: similarity that is through with all pairs in so many seconds.
_HARDLY_LESS, _NEXT_TO_NOTHING = 0.9, 5.0
#: Up to this many landmarks are decomposed within about a second.
_DECOMPOSED = 2000
#: A first step to a target that costs more than this share of all pairs is not worth taking.
_WORTH_A_START = 1 / 2


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked run: how many landmarks, what they cost, what they take.

    Attributes
    ----------
    n_items, n_landmarks, error_pairs : int
    n_others : int or None
        Items of the columns, where they are others than those of the rows.
    evaluations : int
        Everything that the run will spend, at the most.
    target : Target or None
        An error to reach; `n_landmarks` are then those of the first step.
    first_step : int
        Evaluations of the first step to a target; without a target, all of them.
    allowance : int or None
        What a budget leaves for the method itself.
    share : float
        Of all pairs: n(n+1)/2 if symmetric, n² if not.
    memory : int
        Bytes that the run holds at its peak, beside the items.
    seconds : float or None
        From a timed sample; None where none was taken.
    sampled : int
        Evaluations that the timed sample took, on top.
    all_pairs : int
        Evaluations of all pairs, which would leave no error.
    cost : Cost or None
        Of one evaluation.
    """

    n_items: int
    n_others: int | None
    n_landmarks: int
    error_pairs: int
    symmetry_pairs: int
    estimates_error: bool
    weighted: bool
    fold: bool
    allowance: int | None
    evaluations: int
    share: float
    memory: int
    title: str
    method: Method
    put_back: bool
    selector: Selector
    interval: Interval = relative_error
    target: Target | None = None
    seconds: float | None = None
    sampled: int = 0
    all_pairs: int = 0
    first_step: int = 0
    cost: Cost | None = None

    @property
    def price(self) -> float | None:
        """What all evaluations cost in money; None where nobody said what one does."""
        return None if self.cost is None else self.cost.price(self.evaluations)

    @property
    def most_landmarks(self) -> int:
        """How many landmarks evaluate every pair."""
        return min(self.n_items, self.n_others or self.n_items)

    @property
    def exact(self) -> bool:
        """Whether the run will evaluate every pair."""
        return self.n_landmarks == self.most_landmarks

    @property
    def seconds_for_all_pairs(self) -> float | None:
        """What all pairs would take, from the timed sample; None where none was taken."""
        if self.seconds is None or not self.evaluations:
            return None
        return self.seconds * self.all_pairs / self.evaluations

    @property
    def call_for_all_pairs(self) -> str:
        """How to ask for all pairs."""
        if self.most_landmarks <= _DECOMPOSED:
            return f"landmarks={self.most_landmarks}"
        # Their factors would take longer than the pairs.
        columns = self.n_others or self.n_items
        return f"fewpairs.Oracle(items, similarity).columns(range({columns}))"

    def __str__(self) -> str:
        return self.described(self.call_for_all_pairs)

    def described(self, call: str) -> str:
        """Write the plan for people; `call` is how they would ask for all pairs."""
        items = f"{self.n_items:,} items"
        if self.n_others is not None:
            items = f"{self.n_items:,} items and of {self.n_others:,} others"
        landmarks = f"{self.n_landmarks:,} landmarks"
        most = "at most " if self.method.price_is_most else ""
        judging = f", {self.error_pairs:,} of them for the error estimate"
        start = about = ""
        if self.exact or not self.error_pairs:
            judging = ""
        if self.target is not None and not self.exact:
            landmarks = f"from {landmarks} on, until the error is below {self.target.error:g},"
            most = f"from {self.first_step:,} on, at most "
            judging = f", at least {2 * self.target.audit:,} of them for judging"
            start, about = " at the start", "at most "
        lines = [
            f"{self.title}: {landmarks} of {items}",
            f"  evaluations  {most}{self.evaluations:,} ({self.share:.2%} of all pairs){judging}",
            f"  memory       {format_bytes(self.memory)}{start}",
        ]
        if self.cost is not None:
            price, everything = (
                self.cost.written(count) for count in (self.evaluations, self.all_pairs)
            )
            least = "at most " if self.method.price_is_most or self.target is not None else ""
            lines.insert(2, f"  cost         {least}{price}, where all pairs cost {everything}")
        if self.seconds is not None:
            lines.append(
                f"  time         {about}about {format_seconds(self.seconds)}, judged by "
                f"{self.sampled:,} timed evaluations"
            )
        return "\n".join([*lines, *self._offer(call)])

    def _offer(self, call: str) -> list[str]:
        """Say how to have all pairs, where they cost hardly more, or next to nothing."""
        seconds = self.seconds_for_all_pairs
        quick = seconds is not None and seconds <= _NEXT_TO_NOTHING
        # The most that a target may cost is all pairs, and says nothing of what it will cost.
        hardly_less = self.target is None and self.evaluations >= _HARDLY_LESS * self.all_pairs
        if self.exact or self.method.reads_all or not (quick or hardly_less):
            return []
        time = "" if seconds is None else f" in about {format_seconds(seconds)}"
        return [f"  all pairs    {self.all_pairs:,} evaluations{time} leave no error: {call}"]


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
) -> Plan:
    """Check every argument and settle the number of landmarks."""
    rest = dict(options)
    weighted = check_draw(rest.pop("error_draw", "weighted"))
    fold = check_fold(rest.pop("fold_error_pairs", False), error_pairs)
    interval = as_interval(rest.pop("error_interval", "log-t"))
    chosen = find_method(
        method, rest, symmetric=oracle.symmetric, square=oracle.square, also=OPTIONS
    )
    refuse_idle_fold(chosen.title, fold=fold, put_back=chosen.put_back)
    oracle = oracle.declaring(chosen.method.declared_diagonal)
    pairs = check_error_pairs(error_pairs)
    if not oracle.square:
        check_rectangle(landmarks, selection)
    price = Price(oracle, chosen.method, as_selector(selection), pairs)
    if target_error is not None:
        check_target_run(chosen.method, chosen.title, landmarks, selection, pairs)
        size = _size_for_target(price, check_target(target_error), budget, put_back=chosen.put_back)
    else:
        size = _size(price, landmarks, budget, put_back=chosen.put_back)
    settled = _plan(oracle, chosen, size, weighted=weighted, fold=fold)
    require_memory(
        settled.memory,
        f"the arrays of a run with {settled.n_landmarks:,} landmarks",
        "Ask for fewer landmarks or a smaller budget",
    )
    return replace(settled, interval=interval)


class _Size(NamedTuple):
    """How many landmarks, chosen how, what the method may spend, and what all of it costs."""

    price: Price
    landmarks: int
    allowance: int | None
    total: int
    first_step: int
    target: Target | None = None


def _size(
    price: Price,
    landmarks: int | npt.ArrayLike | None,
    budget: float | str | None,
    *,
    put_back: bool,
) -> _Size:
    """Settle the number of landmarks of a single step."""
    if landmarks is not None and budget is not None:
        raise InputError(
            "both landmarks and budget were given.",
            "A budget is turned into a number of landmarks, so the two may contradict each other.",
            "Pass one of them.",
        )
    planner = price.oracle.planner
    n = min(price.oracle.shape)
    allowance = None
    if budget is not None:
        most = evaluations_of(budget, planner.price_of_everything, planner.cost)
        count = fit_budget(price, most, n)
        allowance = most - price.beside(count)
    elif landmarks is None:
        count = min(DEFAULT_LANDMARKS, n)
        everything = planner.price_of_everything
        if put_back and not price.method.reads_all and price.total(count) >= everything:
            count = n  # no error for the same price
    elif np.ndim(landmarks) == 0:
        count = check_count(landmarks, n)
    else:
        given = given_landmarks(landmarks, n)
        price, count = replace(price, selector=given), len(given.indices)
    if count == n and getattr(price.selector, "reads", True):
        # Nothing is left to choose, and choosing would cost more than all pairs.
        price = replace(price, selector=as_selector("uniform"))
    total = price.total(count)
    if allowance is not None and price.method.spends_allowance:
        total = max(total, min(allowance, planner.price_of_everything) + price.beside(count))
    return _Size(price, count, allowance, total, total)


def _size_for_target(
    price: Price, error: float, budget: float | str | None, *, put_back: bool
) -> _Size:
    """Settle where a run with a target starts, and the most that it may spend."""
    oracle, planner = price.oracle, price.oracle.planner
    n = min(oracle.shape)
    beside = 2 * price.symmetry_pairs(n) * planner.per_entry
    all_pairs = planner.price_of_everything + beside
    # Single pairs that are known are not asked for again, unless they lie in a block: only then do
    # steps cost what they are priced at.
    most = 2 * all_pairs
    if budget is not None:
        most = evaluations_of(budget, planner.price_of_everything, planner.cost)
    audit = audit_size(price.pairs, oracle.shape, most // planner.per_entry)
    target = Target(error, most, audit)
    count = first_count(oracle, price.method, target, beside)
    start = price.method.price(planner, count) + 2 * audit * planner.per_entry
    if put_back and start > _WORTH_A_START * all_pairs and most >= all_pairs:
        # A few such steps would cost as much as all pairs, which leave no error.
        count, start = n, all_pairs
    return _Size(price, count, None, min(most, all_pairs), start, target)


def _plan(oracle: Oracle, chosen: Chosen, size: _Size, *, weighted: bool, fold: bool) -> Plan:
    price, count = size.price, size.landmarks
    return Plan(
        n_items=oracle.shape[0],
        n_others=None if oracle.square else oracle.shape[1],
        n_landmarks=count,
        error_pairs=price.error_pairs(count),
        symmetry_pairs=price.symmetry_pairs(count),
        estimates_error=price.pairs != 0,
        weighted=weighted,
        fold=fold,
        allowance=size.allowance,
        evaluations=size.total,
        share=size.total / oracle.planner.price_of_everything,
        memory=peak_memory(chosen.method, oracle.planner, count, judged=price.pairs != 0),
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
    error_pairs: int | None = None,
    journal: JournalOption = None,
    n_jobs: int = 1,
    timed: bool = True,
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
    items, similarity, others, landmarks, budget, target_error, method, selection, error_pairs, \
    journal, n_jobs, retry, timeout, on_error, on_nonfinite, cost, max_memory, **options
        As for `approximate`; with an `Oracle`, what the timed sample buys is not paid for again.
    timed : bool, default=True
        Evaluate a few pairs, for about a tenth of a second, to tell the time.

    Returns
    -------
    Plan
        Prints as a few lines.

    Examples
    --------
    >>> import fewpairs as fp
    >>> identity = fp.Precomputed(np.eye(1000))
    >>> print(fp.plan(range(1000), identity, landmarks=50, method="nystrom", timed=False))
    nystrom: 50 landmarks of 1,000 items
      evaluations  50,775 (10.14% of all pairs), 2,000 of them for the error estimate
      memory       36.7 MB
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
        )
    jobs = count_jobs(n_jobs)
    if not timed:
        return settled
    before = oracle.evaluations
    each = seconds_per_evaluation(oracle)
    seconds = None if each is None else each * settled.evaluations / jobs
    return replace(settled, seconds=seconds, sampled=oracle.evaluations - before)
