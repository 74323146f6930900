"""approximate(): the front door."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arguments import evaluations_of
from fewpairs.arrays import RandomState, generator
from fewpairs.error.estimate import check_target
from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.methods.base import assemble
from fewpairs.methods.error import verdict
from fewpairs.methods.fitted import Fitted, Step
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.parallel import count_jobs
from fewpairs.planning import Plan, make_plan
from fewpairs.sizing import AUDIT_PAIRS, Target, grow_to


def approximate(
    items: Any,
    similarity: Any = None,
    *,
    others: Any = None,
    landmarks: int | npt.ArrayLike | None = None,
    budget: float | None = None,
    target_error: float | None = None,
    method: str = "auto",
    selection: Any = "uniform",
    error_pairs: int | None = None,
    random_state: RandomState = None,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    **options: Any,
) -> FactoredMatrix:
    """Approximate the whole similarity matrix from a few of its pairs.

    Parameters
    ----------
    items : sequence, array, column of a data frame, or Oracle
        What is compared. An `Oracle` brings its similarity and everything evaluated before.
    similarity : Similarity
        The expensive function; wrap your own with `fewpairs.similarity`.
    others : sequence, optional
        Items of the columns, where the matrix compares two sets (queries with documents).
    landmarks : int or sequence of int, optional
        Number of columns to read (by default 100), or their positions.
    budget : int or float, optional
        Instead: evaluations to spend in all, or (a float below 1) a share of all pairs.
    target_error : float, optional
        Instead: add landmarks until the upper end of the error estimate is below this. A budget
        beside it is the most that may be spent. `K.curve` holds the steps, `K.stopped_because`
        the end: the target was reached, the curve has flattened, the budget is spent.
    method : str, default="auto"
        "fitted" (which is what "auto" means), or a published one: "nystrom", "sms",
        "sms-rescaled", "skeleton", "sicur", "stacur"; "optimal" needs all pairs.
    selection : str or Selector, default="uniform"
        How landmarks are chosen: "uniform", "k-centre", "d2", "leverage", "pivoted", or your own
        object with ``select(oracle, count, rng)``; benchmarks/selection.py compares them.
    error_pairs : int, optional
        Unseen pairs for the error estimate; by default the smaller of 2,000 and a tenth of what
        is spent. 0 turns the estimate off.
    random_state : int, Generator, RandomState or None
        The same seed gives the same result, whatever `n_jobs`.
    n_jobs : int, default=1
        Threads that call the similarity.
    progress : bool, callable or None, default=None
        A bar in a terminal; or ``callback(done, planned)``, which stops the run with False.
    **options
        Of the method; ``known="exact"`` to put evaluated entries back into its result (the
        default method does, and with ``known=None`` gives a plain matrix of rank s);
        ``error_draw="uniform"`` for an estimate from uniform pairs; ``fold_error_pairs=True`` to
        use those pairs in the result afterwards, whose error is then the stated one or less.

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
    oracle = _oracle(items, similarity, others, n_jobs, progress)
    rng = generator(random_state)
    if target_error is not None:
        return _run_to_target(
            oracle, target_error, landmarks, budget, method, selection, error_pairs, options, rng
        )
    plan = make_plan(
        oracle,
        landmarks=landmarks,
        budget=budget,
        method=method,
        selection=selection,
        error_pairs=error_pairs,
        options=options,
    )
    with oracle.watch(plan.evaluations):
        return _run(oracle, plan, rng)


def _run_to_target(
    oracle: Oracle,
    target_error: float,
    landmarks: Any,
    budget: float | None,
    method: str,
    selection: Any,
    error_pairs: int | None,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> FactoredMatrix:
    wanted = check_target(target_error)
    if error_pairs == 0:
        raise InputError(
            "error_pairs=0 was given beside target_error.",
            "Without an estimate nobody can tell when the target is reached.",
            "Leave error_pairs out, or pass how many pairs should judge.",
        )
    if landmarks is not None or method not in ("auto", "fitted") or selection != "uniform":
        raise InputError(
            "target_error was given beside landmarks, another method, or another selection.",
            "It finds the number of uniform landmarks of the default method by itself.",
            "Pass target_error alone, or with a budget.",
        )
    plan = make_plan(
        oracle,
        landmarks=1,
        budget=None,
        method=method,
        selection=selection,
        error_pairs=error_pairs or None,
        options=options,
    )
    assert isinstance(plan.method, Fitted)  # noqa: S101 - by the check above
    everything = oracle.planner.price_of_everything
    most = everything * 2 if budget is None else evaluations_of(budget, oracle.planner)
    audit = min(error_pairs or AUDIT_PAIRS, max(200, max(oracle.shape) // 2))
    audit = max(10, min(audit, most // oracle.planner.per_entry // 20))
    target = Target(wanted, most, audit, plan.fold)
    with oracle.watch(min(most, everything)):
        return grow_to(oracle, plan.method, target, rng, plan.title)


def _run(oracle: Oracle, plan: Plan, rng: np.random.Generator) -> FactoredMatrix:
    landmarks = plan.selector.select(oracle, plan.n_landmarks, rng)
    if plan.symmetry_pairs and not oracle.symmetry_checked:
        strip = landmarks[: oracle.planner.strip]
        i, j = np.triu_indices(len(strip), 1)
        some = rng.permutation(len(i))[: plan.symmetry_pairs]
        oracle.check_symmetry(strip[i[some]], strip[j[some]])
    step: Step | None = None
    if isinstance(plan.method, Fitted):
        step = plan.method.grow(oracle, landmarks, rng, plan.allowance)
    factors = step.factors if step else plan.method.fit(oracle, landmarks, rng, plan.allowance)
    matrix = assemble(oracle, factors, plan.known, plan.title)
    if not plan.estimates_error:
        return matrix
    found = verdict(matrix, oracle, plan.error_pairs, rng, weighted=plan.weighted)
    if plan.fold:
        if isinstance(plan.method, Fitted) and step is not None and found.drawn is not None:
            factors = plan.method.tuned_further(step, found.drawn).factors
        matrix = assemble(oracle, factors, plan.known, plan.title)
    matrix.error = found.warned()
    matrix.evaluations = oracle.evaluations
    return matrix


def _oracle(
    items: Any, similarity: Any, others: Any, n_jobs: int, progress: ProgressOption
) -> Oracle:
    if not isinstance(items, Oracle):
        if similarity is None:
            raise InputError(
                "no similarity was given.",
                "It is what the matrix is made of.",
                "Pass fewpairs.similarity(function, kind=…, symmetric=…), or a ready one.",
            )
        return Oracle(items, similarity, others=others, n_jobs=n_jobs, progress=progress)
    if similarity is not None or others is not None:
        raise InputError(
            "a similarity or other items were given beside an oracle.",
            "The oracle has its own already, and what it remembers belongs to those.",
            "Pass the oracle alone.",
        )
    if progress is not None:
        items.progress = progress
    if n_jobs != 1:
        items.n_jobs = count_jobs(n_jobs)
    return items
