"""What a similarity is: the methods it may have, and the facts that it declares."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import UnknownNameError
from fewpairs.items.items import Items
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.similarities.facts import check_diagonal
from fewpairs.similarities.patience import NO_PATIENCE, Patience, WhenMissing, changed

Pair = tuple[Any, Any]
#: The ways to write a similarity, from the slowest to the fastest.
KINDS = ("pair", "pairs", "block")


class Similarity:
    """An expensive function of two items, with its declared facts.

    Write one or more of three methods. fewpairs looks at which ones are there, and never makes a
    trial call:

    - ``pair(a, b)`` returns one number;
    - ``pairs(list of (a, b))`` returns one number for each pair;
    - ``block(left, right)`` returns ``len(left) × len(right)`` numbers.

    Whole columns are evaluated by ``block`` where there is one, scattered entries by ``pairs``.
    Two more methods are optional:

    - ``prepare(items)`` is called once for each set of items. What it returns, as `Items`, is what
      the other methods then get: texts cut into words, vectors scaled to length one.
    - ``aligned(left, right)`` takes two sets of equal size and compares the first with the first,
      the second with the second, and so on. It is preferred to ``pairs``, because no Python list
      of pairs must be made.

    An object of any other class will do too, if it has these methods and attributes; only
    `symmetric` and one of the three methods are required.

    Attributes
    ----------
    name : str
        Identifies the similarity in files, together with `parameters`.
    symmetric : bool
        Whether Δ(x, y) = Δ(y, x). There is no default: it must be declared.
    version : str
        Of the code that computes the values; changed whenever they change. A journal needs it.
    parameters : mapping
        Everything that changes the values, in types that JSON can hold.
    block_size : int, (int, int) or None
        Preferred number of entries in one call, or the largest (rows, columns).
    diagonal : float or None
        Δ(x, x), if it is the same known number for every item; it is then never evaluated.
    takes_vectors : bool
        Whether items are rows of a numeric array.
    takes_records : bool
        Whether items have named fields, so that the rows of a data frame are items.
    evaluations_per_entry : int
        How many evaluations one entry costs.
    symmetry_proven : bool
        Whether the similarity is symmetric by construction, so that no check is needed.
    value_range : (float, float) or None
        The smallest and the largest value that it can have, if they are known.
    cheap : bool
        Whether a million pairs take seconds: `find_pairs` then evaluates all pairs of a few
        thousand items rather than search among them.
    patience : Patience
        What is done about calls that fail, hang or come too fast; see `with_patience`.
    cost : Cost or None
        What one evaluation costs; see `with_cost`.

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
    version: str = ""
    parameters: Mapping[str, Any] = {}
    block_size: int | tuple[int, int] | None = None
    diagonal: float | None = None
    takes_vectors: bool = False
    takes_records: bool = False
    evaluations_per_entry: int = 1
    symmetry_proven: bool = False
    value_range: tuple[float, float] | None = None
    cheap: bool = False
    patience: Patience = NO_PATIENCE
    cost: Cost | None = None

    pair: Callable[[Any, Any], float] | None = None
    pairs: Callable[[list[Pair]], npt.ArrayLike] | None = None
    block: Callable[[Any, Any], npt.ArrayLike] | None = None
    aligned: Callable[[Any, Any], npt.ArrayLike] | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of ``pair``, ``pairs`` and ``block`` this similarity has."""
        return tuple(kind for kind in KINDS if callable(getattr(self, kind, None)))

    @property
    def fingerprint(self) -> str:
        """Name, parameters and version in one line, the same on every machine."""
        name = self.name or type(self).__name__
        version = f" version {self.version}" if self.version else ""
        return name + json.dumps(dict(self.parameters), sort_keys=True, default=repr) + version

    @property
    def identity(self) -> str | None:
        """What a journal knows the similarity by: all that its values depend on, but the items.

        None where that cannot be told, because name or version are not declared.
        """
        return self.fingerprint if self.name and self.version else None

    def content(self, items: Items) -> Iterable[bytes] | None:  # noqa: ARG002 - as others need it
        """Return what of each prepared item its similarities depend on, for a journal's keys.

        None stands for the items as the user has given them.
        """
        return None

    @property
    def underlying(self) -> Similarity:
        """What a journal keeps in place of this: something that this is a plain function of."""
        return self

    def from_underlying(self, values: FloatArray) -> FloatArray:
        """Return the similarities that belong to values of `underlying`."""
        return values

    def prepare(self, items: Items) -> Items:
        """Turn items into what the other methods take; called once for each set of items."""
        return items

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return Δ(x, x) of each prepared item, or None where it must be evaluated."""
        return (
            None if self.diagonal is None else _same_for_all(items, check_diagonal(self.diagonal))
        )

    def incomparable_pair(
        self,
        left: Items,  # noqa: ARG002 - as records need them
        right: Items | None,  # noqa: ARG002
    ) -> tuple[int, int] | None:
        """Return two prepared items with nothing to compare, whose value is a mere convention.

        That convention is 0, unlike; of distances it would be a perfect match. None where there is
        no such pair. With None on the right, pairs are those of the items on the left.
        """
        return None

    def with_diagonal(self, value: float) -> Similarity:
        """Return a copy of this similarity that declares Δ(x, x) to be `value` for every item."""
        declared = copy.copy(self)
        # Not `diagonal`, which means nothing to a class that has its own `known_diagonal`.
        declared.known_diagonal = partial(_same_for_all, value=value)  # type: ignore[method-assign]
        return declared

    def symmetrized(self) -> Similarity:
        """Return (Δ(x, y) + Δ(y, x)) / 2, which costs two evaluations for each entry."""
        # Symmetrized is a Similarity itself, so its module imports this one.
        from fewpairs.similarities.symmetrized import Symmetrized  # noqa: PLC0415

        return self if self.symmetric else Symmetrized(self)

    def with_patience(
        self,
        *,
        retry: int | None = None,
        timeout: float | None = None,
        backoff: float | None = None,
        per_second: float | None = None,
        max_in_flight: int | None = None,
        on_error: WhenMissing | None = None,
        on_nonfinite: WhenMissing | None = None,
    ) -> Similarity:
        """Return a copy that is forgiven failing, hanging or hurried calls.

        Parameters
        ----------
        retry, timeout, backoff, per_second, max_in_flight, on_error, on_nonfinite
            As for `fewpairs.similarity`; what is None stays as it is.

        Returns
        -------
        Similarity
            Of the same values: how long a run takes may change, its result does not.
        """
        patience = changed(
            self.patience,
            retry=retry,
            timeout=timeout,
            backoff=backoff,
            per_second=per_second,
            max_in_flight=max_in_flight,
            on_error=on_error,
            on_nonfinite=on_nonfinite,
        )
        if patience == self.patience:
            return self
        patient = copy.copy(self)
        patient.patience = patience
        return patient

    def with_cost(self, cost: CostOption) -> Similarity:
        """Return a copy that declares what one evaluation costs: 0.002, or "0.002 USD"."""
        priced = copy.copy(self)
        priced.cost = Cost.of(cost)
        return priced

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's
        """Return what the similarity was made with, as scikit-learn's estimators do."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name in vars(self)}

    def set_params(self, **params: Any) -> Self:
        """Make the similarity anew with some other parameters, such as ``gamma`` in a search."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise UnknownNameError("parameter", name, known, where=f"of {self!r}")
        if params:
            type(self).__init__(self, **(known | params))
        return self

    def __sklearn_clone__(self) -> Self:
        # A search sets parameters of the copy; matrices and vectors are shared.
        return copy.copy(self)

    def __repr__(self) -> str:
        facts = "symmetric" if self.symmetric else "asymmetric"
        return f"<similarity {self.fingerprint}, {facts}, by {', '.join(self.kinds)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # scikit-learn's `clone` copies parameters deeply. Declared facts do not change, and a
        # precomputed matrix may be larger than the memory that is left.
        return self


def _same_for_all(items: Items, value: float) -> FloatArray:
    return np.full(len(items), value)
