"""A user's own similarity: a function with declared facts, or an object with the right methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fewpairs.arrays import is_whole
from fewpairs.errors import InputError
from fewpairs.similarities.protocol import KINDS, Similarity, check_diagonal

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
) -> Similarity:
    """Make a similarity of your own function.

    Parameters
    ----------
    function : callable
        ``f(a, b)``, ``f(list of (a, b))`` or ``f(left, right)``, as `kind` says.
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
    return FunctionSimilarity(
        **{kind: function},
        symmetric=bool(symmetric),
        name=name or getattr(function, "__qualname__", type(function).__name__),
        named=name is not None,
        version="" if version is None else str(version),
        parameters=dict(parameters or {}),
        block_size=check_block_size(block_size),
        diagonal=None if diagonal is None else check_diagonal(diagonal),
    )


def as_similarity(candidate: Any) -> Similarity:
    """Check that something is a similarity, and make it a `Similarity` if it is another object.

    Parameters
    ----------
    candidate : Similarity or object
        Any object with one of ``pair``, ``pairs``, ``block`` and a declared ``symmetric``. All
        else that `Similarity` declares is taken over if the object has it.

    Returns
    -------
    Similarity

    Raises
    ------
    InputError
        A bare function, an array, a class, or an object that does not declare what is needed.
    """
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
    return given


def _taken_over(candidate: Any) -> Similarity:
    methods = {name: getattr(candidate, name, None) for name in METHODS}
    methods = {name: method for name, method in methods.items() if callable(method)}
    if not methods.keys() & set(KINDS):
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


def check_block_size(size: Any) -> int | tuple[int, int] | None:
    """Check a preferred block size: None, a number of entries, or (rows, columns)."""
    pair = isinstance(size, tuple) and len(size) == 2  # noqa: PLR2004 - rows and columns
    parts: Sequence[Any] = size if pair else (size,)
    if size is None or all(is_whole(part) and part > 0 for part in parts):
        checked: int | tuple[int, int] | None = size
        return checked
    raise InputError(
        f"block_size is {size!r}.",
        "It is the number of entries that one call of the similarity gets.",
        "Pass a positive integer, or a pair (rows, columns).",
    )
