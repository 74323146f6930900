"""A user's own similarity: a function with declared facts, or an object with the right methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.similarities.facts import check_block_size, check_diagonal, check_value_range
from fewpairs.similarities.made import Made
from fewpairs.similarities.patience import Patience, WhenMissing
from fewpairs.similarities.protocol import KINDS, Similarity

#: What an object of another class may bring along: all that `Similarity` declares.
METHODS = (*KINDS, "aligned", "prepare", "known_diagonal")
FACTS = (*(name for name in Similarity.__annotations__ if name not in METHODS), "fingerprint")


class FunctionSimilarity(Similarity):
    """Functions and facts from elsewhere, as a similarity; made by `similarity`.

    Parameters
    ----------
    **declared
        Any of `METHODS` and `FACTS`.
    """

    def __init__(self, **declared: Any) -> None:
        self._fingerprint: str = declared.pop("fingerprint", "")
        #: Whether the user has named it, and not only its function.
        self._named: bool = declared.pop("named", True)
        for name, value in declared.items():
            setattr(self, name, value)

    @property
    def fingerprint(self) -> str:
        """The declared fingerprint, or name and parameters in one line."""
        return self._fingerprint or super().fingerprint

    @property
    def identity(self) -> str | None:
        """The fingerprint, if it was declared, or made of a declared name and version."""
        declared = bool(self._fingerprint) or (self._named and bool(self.version))
        return self.fingerprint if declared else None


def similarity(
    function: Callable[..., Any],
    *,
    kind: str,
    symmetric: bool,
    name: str | None = None,
    version: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    block_size: int | tuple[int, int] | None = None,
    diagonal: float | None = None,
    factory: bool = False,
    retry: int | None = None,
    timeout: float | None = None,
    backoff: float | None = None,
    per_second: float | None = None,
    max_in_flight: int | None = None,
    on_error: WhenMissing | None = None,
    on_nonfinite: WhenMissing | None = None,
    cost: CostOption | None = None,
) -> Similarity:
    """Make a similarity of your own function.

    Parameters
    ----------
    function : callable
        ``f(a, b)``, ``f(list of (a, b))`` or ``f(left, right)``, as `kind` says; an ``async def``
        too.
    kind : {"pair", "pairs", "block"}
        How the function is written. It is declared, never guessed.
    symmetric : bool
        Whether f(a, b) = f(b, a) for all items. If True, a few pairs are checked in both orders.
    name : str, optional
        What files call it; by default the function's own name.
    version : str, optional
        Of the function: change it whenever its values change. With a name of your own, it lets a
        journal find again what was evaluated.
    parameters : mapping, optional
        Whatever else changes the values, such as the version of a model.
    block_size : int or (int, int), optional
        Preferred number of entries in one call, or the largest (rows, columns).
    diagonal : float, optional
        The similarity of every item with itself, if you know it.
    factory : bool, default=False
        Whether `function` has no parameters, and makes the function that `kind` speaks of: a model
        is then loaded where it is used, once in each process. It needs a `name`.
    retry : int, optional
        Further attempts after a call that raised or took too long; by default none.
    timeout : float, optional
        Seconds that one call may take. One that takes longer is left to itself, in a thread.
    backoff : float, optional
        Seconds before the second attempt, by default 0.5; each later wait is twice as long, up to
        a minute, less a random part. What an exception asks for (its ``retry_after``, or the
        Retry-After header of its ``response``) counts instead where it is longer.
    per_second : float, optional
        Calls that may begin in one second, over all threads.
    max_in_flight : int, optional
        Calls of an ``async def`` that may be under way at the same time; by default 8.
    on_error : {"error", "skip"}, optional
        Whether a pair whose last attempt has failed ends the run, which it does by default.
    on_nonfinite : {"error", "skip"}, optional
        Whether NaN or infinity for a pair ends the run, which it does by default.
    cost : float or str, optional
        What one evaluation costs, as 0.002 or "0.002 USD": plans, progress and results then speak
        of money too, and ``budget="5 USD"`` holds.

    Returns
    -------
    Similarity

    Examples
    --------
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b))
    >>> similarity(shared_letters, kind="pair", symmetric=True)
    <similarity shared_letters{}, symmetric, by pair>
    """
    if kind not in KINDS:
        raise InputError(
            f"kind is {kind!r}.",
            "How a function takes its items cannot be seen from outside.",
            'Pass kind="pair" for f(a, b), "pairs" for f(list of pairs), '
            '"block" for f(left, right).',
        )
    if not callable(function):
        raise InputError(
            f"the similarity is a {type(function).__name__}, not a function.",
            "It is called for every pair that is evaluated.",
            "Pass a function; for a matrix use fewpairs.Precomputed(matrix).",
        )
    if not isinstance(symmetric, (bool, np.bool_)):
        raise InputError(
            f"symmetric is {symmetric!r}.",
            "A symmetric similarity costs half as much, but only if it really is symmetric.",
            "Pass symmetric=True or symmetric=False.",
        )
    if factory:
        if name is None:
            raise InputError(
                "a factory was given without a name.",
                "Files know a similarity by its name, and what a factory makes is made later.",
                'Pass name="my model".',
            )
        function = Made(function)
    own = FunctionSimilarity(
        **{kind: function},
        symmetric=bool(symmetric),
        name=name or getattr(function, "__qualname__", type(function).__name__),
        named=name is not None,
        version="" if version is None else str(version),
        parameters=dict(parameters or {}),
        block_size=check_block_size(block_size),
        diagonal=None if diagonal is None else check_diagonal(diagonal),
    )
    patient = own.with_patience(
        retry=retry,
        timeout=timeout,
        backoff=backoff,
        per_second=per_second,
        max_in_flight=max_in_flight,
        on_error=on_error,
        on_nonfinite=on_nonfinite,
    )
    return patient if cost is None else patient.with_cost(cost)


def declared(candidate: Any, *, cost: CostOption | None = None, **patience: Any) -> Similarity:
    """Return a similarity with what a run declares of it beside: patience, and a cost."""
    given = as_similarity(candidate).with_patience(**patience)
    return given if cost is None else given.with_cost(cost)


def as_similarity(candidate: Any) -> Similarity:
    """Check that something is a similarity, and make it a `Similarity` if it is another object.

    Parameters
    ----------
    candidate : Similarity, str or object
        The name of a string scorer or of a vector metric, such as "jaro_winkler" or "cosine"; or
        any object with one of ``pair``, ``pairs``, ``block`` and a declared ``symmetric``. All
        else that `Similarity` declares is taken over if the object has it.

    Returns
    -------
    Similarity

    Raises
    ------
    InputError
        A bare function, an array, a class, or an object that does not declare what is needed.
    """
    if isinstance(candidate, str):
        return _by_name(candidate)
    if isinstance(candidate, type):
        raise InputError(
            f"the similarity is the class {candidate.__name__} itself.",
            "Its methods belong to an object of the class.",
            f"Pass {candidate.__name__}(…).",
        )
    given = candidate if isinstance(candidate, Similarity) else _taken_over(candidate)
    if not given.kinds or not isinstance(getattr(given, "symmetric", None), (bool, np.bool_)):
        raise InputError(
            f"{type(candidate).__name__} does not declare "
            + ("symmetric." if given.kinds else "pair, pairs or block."),
            "Both are needed before the first pair is evaluated.",
            "Set symmetric = True or False, and define at least one of pair, pairs, block.",
        )
    check_block_size(given.block_size)
    check_value_range(given.value_range)
    _check_parameters(given)
    if given.cost is not None and not isinstance(given.cost, Cost):
        given = given.with_cost(given.cost)
    if not isinstance(given.patience, Patience):
        raise InputError(
            f"{type(candidate).__name__} declares {given.patience!r} as its patience.",
            "It says what is done about calls that fail.",
            "Use its method with_patience(retry=…, timeout=…), or pass both to the run.",
        )
    return given


def _check_parameters(given: Similarity) -> None:
    try:
        _ = given.fingerprint
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the parameters of {type(given).__name__} {given.name!r} cannot be written as JSON: "
            f"{error}.",
            "Files and journals know a similarity by its name and its parameters.",
            "Pass a mapping from texts to numbers and texts.",
        ) from error


def _by_name(name: str) -> Similarity:
    # The ready ones are similarities themselves, so their modules import this one's protocol.
    from fewpairs.similarities.metrics import METRICS  # noqa: PLC0415
    from fewpairs.similarities.strings import SCORERS, StringSimilarity  # noqa: PLC0415
    from fewpairs.similarities.vectors import VectorSimilarity  # noqa: PLC0415

    if name in METRICS:
        return VectorSimilarity(name)
    if name in SCORERS:
        return StringSimilarity(name)
    raise UnknownNameError("similarity", name, [*SCORERS, *METRICS])


def _taken_over(candidate: Any) -> Similarity:
    methods = {name: getattr(candidate, name, None) for name in METHODS}
    methods = {name: method for name, method in methods.items() if callable(method)}
    if not methods.keys() & set(KINDS):
        if callable(getattr(candidate, "predict", None)):
            raise InputError(
                f"the similarity is a {type(candidate).__name__}, a model that predicts.",
                "Whether the order of two items matters to it must be declared.",
                "Wrap it: fewpairs.CrossEncoder(model).",
            )
        raise InputError(
            f"the similarity is a {type(candidate).__name__}.",
            "How it takes its items, and whether it is symmetric, must be declared.",
            "Wrap a function with fewpairs.similarity(function, kind=…, symmetric=…), "
            "a matrix with fewpairs.Precomputed(matrix).",
        )
    facts = {name: getattr(candidate, name) for name in FACTS if hasattr(candidate, name)}
    # Facts are data. A PyTorch module, for one, has a method called `parameters`.
    facts = {name: fact for name, fact in facts.items() if not callable(fact)}
    facts["name"] = facts.get("name") or type(candidate).__name__
    return FunctionSimilarity(**methods, **facts)
