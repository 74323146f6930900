"""What a similarity declares: how it is written, and the facts that the oracle relies on."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError, SimilarityError
from fewpairs.items.items import Items

Pair = tuple[Any, Any]


class Similarity:
    """An expensive function of two items, with its declared facts.

    Write one, two or all of three methods; which ones are there is the declaration, nothing is
    guessed from a trial call:

    - ``pair(a, b)`` returns one number;
    - ``pairs(list of (a, b))`` returns one number for each;
    - ``block(left, right)`` returns ``len(left) × len(right)`` numbers.

    Columns go through ``block`` where there is one, scattered entries through ``pairs``. A
    similarity of prepared items may also offer ``aligned(left, right)``, one number for each
    place of two sets of the same size, which saves the list of pairs.

    Attributes
    ----------
    name : str
        With `parameters` it identifies the similarity in files.
    symmetric : bool
        Whether Δ(x, y) = Δ(y, x). There is no default: it must be declared.
    parameters : mapping
        Everything that changes the values; must be expressible in JSON.
    block_size : int, (int, int) or None
        Preferred number of entries in one call, or the largest (rows, columns).
    diagonal : float or None
        Δ(x, x) where it is the same known number for every item; it is then never evaluated.
    takes_vectors : bool
        Whether items are rows of a numeric array.
    evaluations_per_entry : int
        How many evaluations one entry costs.
    symmetry_proven : bool
        Whether symmetry needs no check at run time, because it holds by construction.

    Examples
    --------
    >>> class Overlap(Similarity):
    ...     name, symmetric = "overlap", True
    ...     def pair(self, a, b):
    ...         return len(set(a) & set(b)) / min(len(set(a)), len(set(b)))
    >>> Overlap().kinds
    ('pair',)
    >>> Overlap().fingerprint
    'overlap{}'
    """

    name: str = ""
    symmetric: bool
    parameters: Mapping[str, Any] = {}
    block_size: int | tuple[int, int] | None = None
    diagonal: float | None = None
    takes_vectors: bool = False
    evaluations_per_entry: int = 1
    symmetry_proven: bool = False

    pair: Callable[[Any, Any], float] | None = None
    pairs: Callable[[list[Pair]], npt.ArrayLike] | None = None
    block: Callable[[Any, Any], npt.ArrayLike] | None = None
    aligned: Callable[[Any, Any], npt.ArrayLike] | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways in which this similarity is written."""
        return tuple(k for k in ("pair", "pairs", "block") if callable(getattr(self, k, None)))

    @property
    def fingerprint(self) -> str:
        """Name and parameters in one line, the same on every machine."""
        name = self.name or type(self).__name__
        return name + json.dumps(dict(self.parameters), sort_keys=True, default=repr)

    def prepare(self, items: Items) -> Items:
        """Turn items into what the three methods take; done once for each set of items."""
        return items

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return Δ(x, x) of prepared items where it is known without evaluating."""
        return None if self.diagonal is None else np.full(len(items), float(self.diagonal))

    def with_diagonal(self, value: float) -> Similarity:
        """Return the same similarity with a declared diagonal."""
        declared = copy.copy(self)
        declared.known_diagonal = lambda items: np.full(len(items), value)  # type: ignore[method-assign]
        return declared

    def symmetrized(self) -> Similarity:
        """Return (Δ(x, y) + Δ(y, x)) / 2, which costs two evaluations for each entry."""
        return self if self.symmetric else Symmetrized(self)

    def __repr__(self) -> str:
        facts = "symmetric" if self.symmetric else "asymmetric"
        return f"<similarity {self.fingerprint}, {facts}, by {', '.join(self.kinds)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Declared facts do not change, and a precomputed matrix must not be copied by `clone`.
        return self


class Symmetrized(Similarity):
    """The mean of both orders of an asymmetric similarity.

    Parameters
    ----------
    base : Similarity
        Offered in the same ways as the base is written.
    """

    symmetric = True
    symmetry_proven = True

    def __init__(self, base: Similarity) -> None:
        self.base = base
        self.name = f"symmetrized {base.name}"
        self.parameters = base.parameters
        self.block_size = base.block_size
        self.takes_vectors = base.takes_vectors
        self.diagonal = base.diagonal
        self.evaluations_per_entry = 2 * base.evaluations_per_entry
        pair, pairs, block = base.pair, base.pairs, base.block
        if pair is not None:
            self.pair = lambda a, b: (pair(a, b) + pair(b, a)) / 2
        if pairs is not None:
            self.pairs = lambda both: _mean(pairs(both), pairs([(b, a) for a, b in both]))
        if block is not None:
            self.block = lambda a, b: _mean(block(a, b), np.asarray(block(b, a)).T)

    def prepare(self, items: Items) -> Items:
        """Prepare as the base does."""
        return self.base.prepare(items)

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return the base's diagonal: both orders of (x, x) are the same."""
        return self.base.known_diagonal(items)


def _mean(one: npt.ArrayLike, other: npt.ArrayLike) -> npt.NDArray[Any]:
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape:
        raise SimilarityError(
            f"the two orders came back with the shapes {first.shape} and {second.shape}.",
            "Symmetrizing averages them entry by entry.",
            "Return one number for each pair, and rows × columns for a block.",
        )
    return np.asarray((first + second) / 2)


class FunctionSimilarity(Similarity):
    """A user's functions with their declared facts; made by `similarity`."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], **facts: Any) -> None:
        for kind, function in functions.items():
            setattr(self, kind, function)
        for fact, value in facts.items():
            setattr(self, fact, value)


def similarity(
    function: Callable[..., Any],
    *,
    kind: str,
    symmetric: bool,
    name: str | None = None,
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
        Whether the order of the two items does not matter. A sample is checked.
    name : str, optional
        What files call it; by default the function's own name.
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
    if kind not in ("pair", "pairs", "block"):
        raise InputError(
            f"kind is {kind!r}.",
            "How a function takes its items cannot be seen from outside.",
            'Pass kind="pair" for f(a, b), "pairs" for f(list of pairs), '
            '"block" for f(left, right).',
        )
    if not callable(function):
        raise InputError(
            f"the similarity is a {type(function).__name__}, not a function.",
            "It is called for every pair that is bought.",
            "Pass a function; for a matrix use fewpairs.Precomputed(matrix).",
        )
    if not isinstance(symmetric, (bool, np.bool_)):
        raise InputError(
            f"symmetric is {symmetric!r}.",
            "A symmetric similarity costs half as much, but only if it really is symmetric.",
            "Pass symmetric=True or symmetric=False.",
        )
    return FunctionSimilarity(
        {kind: function},
        symmetric=bool(symmetric),
        name=name or getattr(function, "__qualname__", type(function).__name__),
        parameters=dict(parameters or {}),
        block_size=check_block_size(block_size),
        diagonal=None if diagonal is None else float(diagonal),
    )


def check_block_size(size: Any) -> int | tuple[int, int] | None:
    """Check a preferred block size: None, a number of entries, or (rows, columns)."""
    parts: Sequence[Any] = size if isinstance(size, tuple) else (size,)
    whole = all(is_whole(p) and p > 0 for p in parts)
    if size is None or (whole and len(parts) in (1, 2)):
        checked: int | tuple[int, int] | None = size
        return checked
    raise InputError(
        f"block_size is {size!r}.",
        "It is the number of entries that one call of the similarity gets.",
        "Pass a positive integer, or a pair (rows, columns).",
    )


def as_similarity(candidate: Any) -> Similarity:
    """Check that something is a similarity; objects with the right methods are wrapped.

    Parameters
    ----------
    candidate : Similarity or object
        Any object with one of ``pair``, ``pairs``, ``block`` and a declared ``symmetric``.

    Returns
    -------
    Similarity

    Raises
    ------
    InputError
        A bare function, an array, or an object that does not declare what is needed.
    """
    given: Similarity
    if isinstance(candidate, Similarity):
        given = candidate
    else:
        names = [k for k in ("pair", "pairs", "block") if callable(getattr(candidate, k, None))]
        if not names:
            raise InputError(
                f"the similarity is a {type(candidate).__name__}.",
                "How it takes its items, and whether it is symmetric, must be declared.",
                "Wrap a function with fewpairs.similarity(function, kind=…, symmetric=…), "
                "a matrix with fewpairs.Precomputed(matrix).",
            )
        facts = ("symmetric", "name", "parameters", "block_size", "diagonal", "takes_vectors")
        given = FunctionSimilarity(
            {k: getattr(candidate, k) for k in names},
            **{fact: getattr(candidate, fact) for fact in facts if hasattr(candidate, fact)},
        )
        given.name = given.name or type(candidate).__name__
    if not given.kinds or not isinstance(getattr(given, "symmetric", None), (bool, np.bool_)):
        raise InputError(
            f"{type(candidate).__name__} does not declare "
            + ("symmetric." if given.kinds else "pair, pairs or block."),
            "Both are needed before the first evaluation is bought.",
            "Set symmetric = True or False, and define at least one of pair, pairs, block.",
        )
    return given
