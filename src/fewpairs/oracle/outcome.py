"""What came back of a request: finite numbers in its shape, or a fault that names the pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, is_masked
from fewpairs.errors import FailedCallError, NonFiniteError, SimilarityError
from fewpairs.items.items import Items
from fewpairs.oracle.requests import Request, Scattered
from fewpairs.similarities.base import Similarity


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came back: values (NaN where nothing usable did), entries asked for, and the fault.

    `interrupt` is Ctrl-C, or what else ends a program, in the middle of the request. `skipped` is
    what one of the pairs has failed by that are NaN and no fault.
    """

    values: FloatArray
    asked: int
    error: SimilarityError | None = None
    interrupt: BaseException | None = None
    skipped: SimilarityError | None = None


def checked(
    answer: Any, expected: tuple[int, ...], left: Items, right: Items, request: Request
) -> Outcome:
    """Turn an answer into finite float64 numbers of the expected shape, or into a fault."""
    shape = request.shape
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


def answered(answers: list[Any], left: Items, right: Items, request: Request) -> Outcome:
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
        if fault is None or isinstance(fault, NonFiniteError):  # what may be skipped hides nothing
            fault = outcome.error or fault
    return Outcome(values.reshape(request.shape), request.size, fault)


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


def raised(error: BaseException, left: Items, right: Items, request: Request) -> SimilarityError:
    """Make the fault of a call that has raised, with the pair if there was but one."""
    named = request.size == 1
    among = "" if named else f" among {request.size} pairs, the first of them"
    notes = " ".join(getattr(error, "__notes__", ()))
    fault = FailedCallError(
        f"the similarity raised {type(error).__name__}: {error}{f' ({notes})' if notes else ''}\n"
        f"while it was evaluated{among} for {_first(left, right, request)}.",
        "A pair is not left out unasked: its place in the matrix would be made up.",
        "Mend the function or the items; if it fails at times, pass retry=…, timeout=…; "
        'on_error="skip" leaves such pairs out, and counts them.',
        pair=(int(request.rows[0]), int(request.columns[0])) if named else None,
    )
    fault.__cause__ = error
    return fault


def _filled(answer: Any) -> Any:
    """Return an answer with NaN for what is masked in it: a similarity that is missing.

    A tensor of PyTorch, on whatever device, is brought here once, as a whole.
    """
    if _is_tensor(type(answer)):
        return _brought(answer)
    if is_masked(answer):
        real = answer.dtype.kind in "biuf"
        return np.where(np.ma.getmaskarray(answer), np.nan, answer.data) if real else answer
    # Their kinds are few, however many answers there are.
    if isinstance(answer, (list, tuple)) and any(
        (issubclass(kind, np.ndarray) and kind is not np.ndarray) or _is_tensor(kind)
        for kind in set(map(type, answer))
    ):
        return [_filled(part) for part in answer]
    return answer


def _is_tensor(kind: type) -> bool:
    return all(hasattr(kind, method) for method in ("detach", "cpu", "numpy", "double"))


def _brought(tensor: Any) -> Any:
    here = tensor.detach().cpu()
    # NumPy does not have every type that a model may compute in, such as bfloat16.
    return here.double().numpy() if here.is_floating_point() else here.numpy()


def _first(left: Items, right: Items, request: Request) -> str:
    return (
        f"items {left.describe(int(request.rows[0]))} and {right.describe(int(request.columns[0]))}"
    )


def _kind(answer: Any) -> str:
    dtype = getattr(answer, "dtype", None)
    if dtype is None and isinstance(answer, (list, tuple)) and answer:
        return f"a {type(answer).__name__} of {type(answer[0]).__name__}"
    return f"{type(answer).__name__}" + (f" of {dtype}" if dtype is not None else "")
