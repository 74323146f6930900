"""One request put to the similarity, which is called as it is written."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from fewpairs.errors import FailedCallError, NonFiniteError, SimilarityError
from fewpairs.items.items import Items
from fewpairs.numerics import parts
from fewpairs.oracle import hearing
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.hearing import Heard, Single
from fewpairs.oracle.outcome import Outcome, answered, checked, raised
from fewpairs.oracle.requests import Rectangle, Request, Scattered
from fewpairs.similarities.base import Similarity


def evaluate(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    *,
    patient: bool = True,
    heard: Heard | None = None,
) -> Outcome:
    """Ask the similarity for one request, in the way in which it is written.

    Parameters
    ----------
    similarity : Similarity
    left, right : Items
        Prepared items of the rows and of the columns.
    request : Rectangle or Scattered
    caller : Caller
        Makes the calls.
    patient : bool, default=True
        Whether a call that has failed is made again.
    heard : callable, optional
        Is told of answers as they come.

    Returns
    -------
    Outcome
        A fault is returned, not raised, so that what was evaluated before it can be kept.
    """
    outcome = _evaluated(similarity, left, right, request, caller, patient=patient, heard=heard)
    fault = outcome.error
    if caller.patience.on_error != "skip" or not isinstance(fault, FailedCallError):
        return outcome
    by_pair = fault.pair is not None and request.size > 1  # those have skipped what they could
    if by_pair or _exits(fault.__cause__):
        return outcome
    return _around_failures(similarity, left, right, request, caller, heard, fault)


def _evaluated(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    *,
    patient: bool,
    heard: Heard | None,
) -> Outcome:
    begun = time.perf_counter()
    by_block = isinstance(request, Rectangle) and similarity.block is not None
    shape = request.shape
    try:
        if by_block:
            assert similarity.block is not None  # noqa: S101 - just looked
            sides = left.take(request.rows), right.take(request.columns)
            answer = caller.call(similarity.block, *sides, patient=patient)
        elif similarity.aligned is not None:
            rows, columns = request.pairs()
            sides = left.take(rows), right.take(columns)
            answer = caller.call(similarity.aligned, *sides, patient=patient)
        elif similarity.pairs is not None:
            rows, columns = request.pairs()
            pairs = list(zip(left.take(rows), right.take(columns), strict=True))
            answer = caller.call(similarity.pairs, pairs, patient=patient)
        elif similarity.pair is not None:
            return _pair_by_pair(similarity, left, right, request, caller, heard)
        else:
            return _row_by_row(similarity, left, right, request, caller, heard)
    except BaseException as error:  # noqa: BLE001 - whatever the function raises, or Ctrl-C
        nothing = np.full(shape, np.nan)
        if not isinstance(error, (Exception, SystemExit)):
            return Outcome(nothing, request.size, interrupt=error)
        fault = raised(error, left, right, request)
        return Outcome(nothing, request.size, fault)
    flat = (request.size,) if not by_block else shape
    outcome = checked(answer, flat, left, right, request)
    if heard is not None:
        heard(request, outcome.values, at_once=time.perf_counter() - begun >= hearing.SLOW)
    return outcome


def _pair_by_pair(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    heard: Heard | None,
) -> Outcome:
    assert similarity.pair is not None  # noqa: S101 - the caller looked
    rows, columns = request.pairs()
    pairs = list(zip(left.take(rows), right.take(columns), strict=True))
    kind = type(request) if isinstance(request, Scattered) else Scattered

    told = None if heard is None else _Told(heard, left, right, kind(rows, columns))
    gathered = caller.each(similarity.pair, pairs, told)
    there = gathered.places
    if len(there) == len(pairs):
        outcome = answered(gathered.answers, left, right, request)
        return replace(outcome, interrupt=gathered.interrupt)  # it may come with the last answer
    answers = [gathered.answers[k] for k in there]
    outcome = answered(answers, left, right, Scattered(rows[there], columns[there]))
    values = np.full(request.size, np.nan)
    values[there] = outcome.values
    values = values.reshape(request.shape)
    interrupt, failed = gathered.interrupt, gathered.failures
    asked = len(there) + len(failed) + (interrupt is not None)
    error: SimilarityError | None = outcome.error
    skipped: SimilarityError | None = None
    exits = [k for k, fault in failed.items() if _exits(fault)]
    # To skip a pair is to go on with the others; what keeps these from being asked for is a fault.
    unasked = asked < request.size and interrupt is None
    if failed:
        at = min(exits or failed)
        single = Scattered(rows[at : at + 1], columns[at : at + 1])
        fault = raised(failed[at], left, right, single)
        if exits or unasked or caller.patience.on_error != "skip":
            error = fault
        else:
            skipped = fault
    return Outcome(values, asked, None if interrupt else error, interrupt, skipped)


@dataclass(frozen=True, slots=True)
class _Told:
    """Tells of answers to a list of pairs as they come."""

    heard: Heard
    left: Items
    right: Items
    pairs: Scattered

    def __call__(self, places: list[int], answers: list[Any], *, at_once: bool) -> None:
        some = type(self.pairs)(self.pairs.rows[places], self.pairs.columns[places])
        plain = all(type(answer) is float and isfinite(answer) for answer in answers)
        values = (
            np.array(answers) if plain else answered(answers, self.left, self.right, some).values
        )
        self.heard(some, values, at_once=at_once)

    def singly(self) -> Single:
        return self.heard.singly(type(self.pairs), self.pairs.rows, self.pairs.columns)


def _around_failures(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    heard: Heard | None,
    fault: SimilarityError,
) -> Outcome:
    """Halve a request whose call has failed until the pairs are found that fail by themselves.

    What has failed has cost nothing. Halves get one attempt each, single pairs as many as declared.
    """
    if request.size == 1:
        return Outcome(np.full(request.shape, np.nan), 1, skipped=fault)
    shape = request.shape
    along = 1 if len(shape) > 1 and shape[0] == 1 else 0
    middle = shape[along] // 2
    outcomes = []
    for part in (slice(None, middle), slice(middle, None)):
        if isinstance(request, Rectangle):
            sides = (
                (request.rows, request.columns[part])
                if along
                else (request.rows[part], request.columns)
            )
            half: Request = Rectangle(*sides)
        else:
            half = type(request)(request.rows[part], request.columns[part])
        single = half.size == 1
        outcomes.append(
            evaluate(similarity, left, right, half, caller, patient=single, heard=heard)
        )
        if _ends(outcomes[-1], caller):
            break
    values = np.full(shape, np.nan)
    found = np.concatenate([outcome.values for outcome in outcomes], axis=along)
    values[tuple(slice(length) for length in found.shape)] = found
    return Outcome(
        values,
        sum(outcome.asked for outcome in outcomes),
        outcomes[-1].error or outcomes[0].error,
        outcomes[-1].interrupt,
        next((outcome.skipped for outcome in outcomes if outcome.skipped), None),
    )


def _row_by_row(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    heard: Heard | None,
) -> Outcome:
    """Serve scattered pairs of a block-only similarity, row by row, as wide as it allows."""
    rows, columns = request.pairs()
    values = np.full(request.size, np.nan)
    asked = 0
    skipped: SimilarityError | None = None
    missing: SimilarityError | None = None
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order])) + 1
    size = similarity.block_size
    width = size[1] if isinstance(size, tuple) else request.size
    lines = np.split(order, starts)
    for mine in (line[part] for line in lines for part in parts(len(line), width)):
        line = Rectangle(rows[mine[:1]], columns[mine])
        begun = time.perf_counter()
        outcome = evaluate(similarity, left, right, line, caller)
        values[mine] = outcome.values.ravel()
        if heard is not None:  # as pairs: whether their order is on record is known only here
            part = type(request)(rows[mine], columns[mine])
            at_once = time.perf_counter() - begun >= hearing.SLOW
            heard(part, values[mine], at_once=at_once)
        asked, skipped = asked + outcome.asked, skipped or outcome.skipped
        missing = outcome.error or missing
        if _ends(outcome, caller):
            found = values.reshape(request.shape)
            return Outcome(found, asked, outcome.error, outcome.interrupt, skipped)
    return Outcome(values.reshape(request.shape), asked, missing, skipped=skipped)


def _ends(outcome: Outcome, caller: Caller) -> bool:
    """Whether a part of a request keeps the other parts from being asked for."""
    skips = caller.patience.on_nonfinite == "skip" and isinstance(outcome.error, NonFiniteError)
    return outcome.interrupt is not None or (outcome.error is not None and not skips)


def _exits(fault: BaseException | None) -> bool:
    """Whether a call has failed because the program is to end: no pair is skipped for that."""
    return isinstance(fault, SystemExit)
