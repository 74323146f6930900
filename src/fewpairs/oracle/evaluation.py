"""One request answered by the similarity: called as it is written, checked before it is used."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, is_masked
from fewpairs.errors import FailedCallError, NonFiniteError, SimilarityError
from fewpairs.items.items import Items
from fewpairs.numerics import parts
from fewpairs.oracle import hearing
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.hearing import Heard
from fewpairs.oracle.requests import Rectangle, Request, Scattered
from fewpairs.similarities.base import Similarity


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came back: values (NaN where nothing usable did), entries asked for, and the fault.

    `interrupt` is Ctrl-C, or what else ends a program, in the middle of the request. `skipped` says
    that pairs whose calls have failed are NaN and no fault.
    """

    values: FloatArray
    asked: int
    error: SimilarityError | None = None
    interrupt: BaseException | None = None
    skipped: bool = False


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
    if caller.patience.on_error != "skip" or not isinstance(outcome.error, FailedCallError):
        return outcome
    return _around_failures(similarity, left, right, request, caller, heard)


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
    shape = _shape(request)
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
        fault = _raised(error, left, right, request, request.size)
        return Outcome(nothing, request.size, fault)
    flat = (request.size,) if not by_block else shape
    outcome = checked(answer, flat, left, right, request)
    if heard is not None:
        heard(request, outcome.values, at_once=time.perf_counter() - begun >= hearing.SLOW)
    return outcome


def checked(
    answer: Any, expected: tuple[int, ...], left: Items, right: Items, request: Request
) -> Outcome:
    """Turn an answer into finite float64 numbers of the expected shape, or into a fault."""
    shape = _shape(request)
    try:
        filled = _filled(answer)
        array = np.asarray(filled)
        if array.dtype.kind not in "biuf":
            raise TypeError  # noqa: TRY301 - the same fault as one that cannot be converted
        values = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError):
        fault = SimilarityError(
            f"the similarity returned {_kind(answer)} for {_first(left, right, request)}.",
            "Similarities are real numbers.",
            "Return floats, or an array of them.",
        )
        return Outcome(np.full(shape, np.nan), request.size, fault)
    if values.shape != expected:
        fault = SimilarityError(
            f"the similarity returned the shape {values.shape} where {expected} was asked for, "
            f"with {_first(left, right, request)}.",
            "With a missing or an extra number, every later one would belong to the wrong pair.",
            "Return one number for each pair, or len(left) × len(right) for a block.",
        )
        return Outcome(np.full(shape, np.nan), request.size, fault)
    bad = ~np.isfinite(values)
    if not bad.any():
        return Outcome(values.reshape(shape), request.size)
    rows, columns = request.pairs()
    at = int(np.flatnonzero(bad.ravel())[0])
    pair = int(rows[at]), int(columns[at])
    found = values.ravel()[at] if filled is answer else "nan or a masked value"
    fault = NonFiniteError(
        f"the similarity returned {found} for {int(bad.sum())} of {request.size} "
        f"pairs; first: items {left.describe(pair[0])} and {right.describe(pair[1])}.",
        "Similarities must be finite: whatever rests on such a value is wrong too.",
        "Drop or fill the items that cause it, or return a finite number for them.",
        pair=pair,
    )
    return Outcome(np.where(bad, np.nan, values).reshape(shape), request.size, fault)


def declared_diagonal(similarity: Similarity, items: Items) -> FloatArray | None:
    """Return what a similarity declares of items with themselves, checked like an answer."""
    answer = similarity.known_diagonal(items)
    if answer is None:
        return None
    itself = np.arange(len(items))
    outcome = checked(answer, (len(items),), items, items, Scattered(itself, itself))
    if outcome.error is not None:
        outcome.error.add_note("It was declared, by diagonal or known_diagonal, not evaluated.")
        raise outcome.error
    return outcome.values


def _filled(answer: Any) -> Any:
    """Return an answer with NaN for what is masked in it: a similarity that is missing."""
    if is_masked(answer):
        real = answer.dtype.kind in "biuf"
        return np.where(np.ma.getmaskarray(answer), np.nan, answer.data) if real else answer
    # Their kinds are few, however many answers there are.
    if isinstance(answer, (list, tuple)) and any(
        issubclass(kind, np.ndarray) and kind is not np.ndarray for kind in set(map(type, answer))
    ):
        return [_filled(part) for part in answer]
    return answer


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

    def told(places: list[int], answers: list[Any], at_once: bool) -> None:
        assert heard is not None  # noqa: S101 - or nothing is told
        first = answers[0]
        if len(places) == 1 and at_once and type(first) is float and isfinite(first):
            heard.one(kind, int(rows[places[0]]), int(columns[places[0]]), first)
            return
        at = places if len(places) > 1 else slice(places[0], places[0] + 1)
        some = kind(rows[at], columns[at])
        plain = all(type(answer) is float and isfinite(answer) for answer in answers)
        values = np.array(answers) if plain else _answered(answers, left, right, some).values
        heard(some, values, at_once=at_once)

    gathered = caller.each(similarity.pair, pairs, None if heard is None else told)
    there = gathered.places
    if len(there) == len(pairs):
        outcome = _answered(gathered.answers, left, right, request)
        return replace(outcome, interrupt=gathered.interrupt)  # it may come with the last answer
    answers = [gathered.answers[k] for k in there]
    outcome = _answered(answers, left, right, Scattered(rows[there], columns[there]))
    values = np.full(request.size, np.nan)
    values[there] = outcome.values
    values = values.reshape(_shape(request))
    interrupt, failed = gathered.interrupt, gathered.failures
    asked = len(there) + len(failed) + (interrupt is not None)
    error, skipped = outcome.error, bool(failed)
    if failed and caller.patience.on_error != "skip":
        at = min(failed)
        single = Scattered(rows[at : at + 1], columns[at : at + 1])
        error, skipped = _raised(failed[at], left, right, single, 1), False
    return Outcome(values, asked, None if interrupt else error, interrupt, skipped)


def _around_failures(
    similarity: Similarity,
    left: Items,
    right: Items,
    request: Request,
    caller: Caller,
    heard: Heard | None,
) -> Outcome:
    """Halve a request whose call has failed until the pairs are found that fail by themselves.

    What has failed has cost nothing. Halves get one attempt each, single pairs as many as declared.
    """
    if request.size == 1:
        return Outcome(np.full(_shape(request), np.nan), 1, skipped=True)
    shape = _shape(request)
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
        any(outcome.skipped for outcome in outcomes),
    )


def _answered(answers: list[Any], left: Items, right: Items, request: Request) -> Outcome:
    """Keep what is a number of answers among which something else is, and name the first such."""
    outcome = checked(answers, (request.size,), left, right, request)
    if outcome.error is None or isinstance(outcome.error, NonFiniteError):
        return outcome
    rows, columns = request.pairs()
    values = np.full(request.size, np.nan)
    fault: SimilarityError | None = None
    for k, answer in enumerate(answers):
        single = Scattered(rows[k : k + 1], columns[k : k + 1])
        outcome = checked([answer], (1,), left, right, single)
        values[k] = outcome.values[0]
        fault = fault or outcome.error
    return Outcome(values.reshape(_shape(request)), request.size, fault)


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
    asked, skipped = 0, False
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
            found = values.reshape(_shape(request))
            return Outcome(found, asked, outcome.error, outcome.interrupt, skipped)
    return Outcome(values.reshape(_shape(request)), asked, missing, skipped=skipped)


def _ends(outcome: Outcome, caller: Caller) -> bool:
    """Whether a part of a request keeps the other parts from being asked for."""
    skips = caller.patience.on_nonfinite == "skip" and isinstance(outcome.error, NonFiniteError)
    return outcome.interrupt is not None or (outcome.error is not None and not skips)


def _shape(request: Request) -> tuple[int, ...]:
    if isinstance(request, Rectangle):
        return len(request.rows), len(request.columns)
    return (request.size,)


def _first(left: Items, right: Items, request: Request) -> str:
    return (
        f"items {left.describe(int(request.rows[0]))} and {right.describe(int(request.columns[0]))}"
    )


def _kind(answer: Any) -> str:
    dtype = getattr(answer, "dtype", None)
    if dtype is None and isinstance(answer, (list, tuple)) and answer:
        return f"a {type(answer).__name__} of {type(answer[0]).__name__}"
    return f"{type(answer).__name__}" + (f" of {dtype}" if dtype is not None else "")


def _raised(
    error: BaseException, left: Items, right: Items, request: Request, size: int
) -> SimilarityError:
    named = size == 1
    among = "" if named else f" among {size} pairs, the first of them"
    notes = " ".join(getattr(error, "__notes__", ()))
    fault = FailedCallError(
        f"the similarity raised {type(error).__name__}: {error}{' ' + notes if notes else ''}\n"
        f"while it was evaluated{among} for {_first(left, right, request)}.",
        "A pair that fails cannot be left out: its place in the matrix would be made up.",
        "Mend the function or the items; if it fails at times, pass retry=…, timeout=…",
        pair=(int(request.rows[0]), int(request.columns[0])) if named else None,
    )
    fault.__cause__ = error
    return fault
