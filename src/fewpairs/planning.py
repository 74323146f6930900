"""What a run will do and cost, settled before the first evaluation is bought."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arguments import (
    check_count,
    check_draw,
    check_error_pairs,
    check_fold,
    check_rectangle,
    evaluations_of,
)
from fewpairs.errors import InputError
from fewpairs.items.items import as_items
from fewpairs.methods.base import KnownOption, Method
from fewpairs.methods.catalogue import find_method
from fewpairs.methods.fitted import Fitted
from fewpairs.methods.landmarks import Selector, as_selector, given_landmarks
from fewpairs.oracle.oracle import Oracle
from fewpairs.parallel import count_jobs, format_bytes
from fewpairs.pricing import Price, fit_budget

DEFAULT_LANDMARKS = 100
_SAMPLE_SECONDS = 0.25
_LARGEST_SAMPLE = 512


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
    allowance : int or None
        What a budget leaves for the method itself.
    share : float
        Of all pairs: n(n+1)/2 if symmetric, n² if not.
    memory : int
        Bytes of the tall arrays at their peak.
    seconds : float or None
        From a timed sample; None where none was taken.
    sampled : int
        Evaluations that the timed sample took, on top.
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
    known: KnownOption
    selector: Selector
    seconds: float | None = None
    sampled: int = 0

    def __str__(self) -> str:
        items = f"{self.n_items:,} items"
        if self.n_others is not None:
            items = f"{self.n_items:,} items and of {self.n_others:,} others"
        # The default method buys single pairs where they are worth it, which is known only later.
        most = "at most " if isinstance(self.method, Fitted) else ""
        lines = [
            f"{self.title}: {self.n_landmarks:,} landmarks of {items}",
            (
                f"  evaluations  {most}{self.evaluations:,} ({self.share:.2%} of all pairs), "
                f"{self.error_pairs:,} of them for the error estimate"
            ),
            f"  memory       {format_bytes(self.memory)}",
        ]
        if self.seconds is not None:
            lines.append(
                f"  time         about {format_seconds(self.seconds)}, judged by "
                f"{self.sampled:,} timed evaluations"
            )
        return "\n".join(lines)


def make_plan(
    oracle: Oracle,
    *,
    landmarks: int | npt.ArrayLike | None,
    budget: float | None,
    method: str,
    selection: Any,
    error_pairs: int | None,
    options: Mapping[str, Any],
) -> Plan:
    """Check every argument and settle the number of landmarks."""
    rest = dict(options)
    weighted = check_draw(rest.pop("error_draw", "weighted"))
    fold = check_fold(rest.pop("fold_error_pairs", False), error_pairs)
    chosen, known, title = find_method(
        method, rest, symmetric=oracle.symmetric, square=oracle.square
    )
    declared = getattr(chosen, "diagonal", None)
    if isinstance(declared, (int, float)) and oracle.square:
        oracle.declare_diagonal(float(declared))
    pairs = check_error_pairs(error_pairs)
    selector: Selector = as_selector(selection)
    if landmarks is not None and budget is not None:
        raise InputError(
            "both landmarks and budget were given.",
            "A budget is turned into a number of landmarks, so the two may contradict each other.",
            "Pass one of them.",
        )
    n = min(oracle.shape)
    if not oracle.square:
        check_rectangle(landmarks, selection)
    price = Price(oracle, chosen, selector, pairs)
    allowance = None
    if budget is not None:
        most = evaluations_of(budget, oracle.planner)
        count = fit_budget(price, most, n)
        allowance = most - price.beside(count)
    elif landmarks is None:
        count = min(DEFAULT_LANDMARKS, n)
    elif np.ndim(landmarks) == 0:
        count = check_count(landmarks, n)
    else:
        given = given_landmarks(landmarks, n)
        selector, count = given, len(given.indices)
    total = price.total(count)
    if allowance is not None and getattr(chosen, "uses_allowance", False):
        total = max(total, min(allowance, oracle.planner.price_of_everything) + price.beside(count))
    tall = 2 if title.startswith("sms") else 1 if oracle.symmetric else 2
    return Plan(
        n_items=oracle.shape[0],
        n_others=None if oracle.square else oracle.shape[1],
        n_landmarks=count,
        error_pairs=price.error_pairs(count),
        symmetry_pairs=price.symmetry_pairs(count),
        estimates_error=pairs != 0,
        weighted=weighted,
        fold=fold,
        allowance=allowance,
        evaluations=total,
        share=total / oracle.planner.price_of_everything,
        memory=8 * oracle.shape[0] * (n if title.startswith("optimal") else count) * tall
        if oracle.square
        else 8 * sum(oracle.shape) * count,
        title=title,
        method=chosen,
        known=known,
        selector=selector,
    )


def plan(
    items: Any,
    similarity: Any,
    *,
    others: Any = None,
    landmarks: int | npt.ArrayLike | None = None,
    budget: float | None = None,
    method: str = "auto",
    selection: Any = "uniform",
    error_pairs: int | None = None,
    n_jobs: int = 1,
    timed: bool = True,
    **options: Any,
) -> Plan:
    """Say what `approximate` would cost, before it runs.

    Parameters
    ----------
    items, similarity, others, landmarks, budget, method, selection, error_pairs, n_jobs, **options
        As for `approximate`.
    timed : bool, default=True
        Evaluate a few pairs, for at most about a quarter of a second, to tell the time.

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
      memory       400 kB
    """
    oracle = Oracle(as_items(items), similarity, others=others, progress=False)
    settled = make_plan(
        oracle,
        landmarks=landmarks,
        budget=budget,
        method=method,
        selection=selection,
        error_pairs=error_pairs,
        options=options,
    )
    jobs = count_jobs(n_jobs)
    if not timed:
        return settled
    seconds = _seconds_per_evaluation(oracle) * settled.evaluations / jobs
    facts = {**settled.__dict__, "seconds": seconds, "sampled": oracle.evaluations}
    return Plan(**facts)


def _seconds_per_evaluation(oracle: Oracle) -> float:
    """Time growing blocks until they take long enough to be measured."""
    n = min(oracle.shape)
    side = min(2, n)
    while True:
        before, start = oracle.evaluations, time.perf_counter()
        rows, columns = np.arange(min(n, 4 * side)), np.arange(n - side, n)
        oracle.block(rows, columns)
        took, asked = time.perf_counter() - start, oracle.evaluations - before
        enough = took > _SAMPLE_SECONDS or oracle.evaluations >= _LARGEST_SAMPLE
        if enough or asked == 0 or side == n:
            return took / max(asked, 1)
        side = min(2 * side, n)


def format_seconds(seconds: float) -> str:
    """Write a duration for people: ``3.2 s``, ``4 min``, ``1.5 h``."""
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.2g} s"
    if seconds < 3600:  # noqa: PLR2004 - an hour
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
