"""The mean of both orders of an asymmetric similarity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import SimilarityError
from fewpairs.items.items import Items
from fewpairs.similarities.facts import is_async
from fewpairs.similarities.protocol import Pair, Similarity


class Symmetrized(Similarity):
    """(Δ(x, y) + Δ(y, x)) / 2, by the same methods as Δ itself.

    Parameters
    ----------
    base : Similarity
        Δ.

    Examples
    --------
    >>> from fewpairs import Precomputed
    >>> mean = Symmetrized(Precomputed([[1.0, 0.2], [0.4, 1.0]]))
    >>> mean.pairs([(0, 1)]).round(3), mean.evaluations_per_entry
    (array([0.3]), 2)
    """

    symmetric = True
    symmetry_proven = True

    def __init__(self, base: Similarity) -> None:
        self.base = base
        self.name = f"symmetrized {base.name or type(base).__name__}"
        self.parameters = base.parameters
        self.block_size = _for_both_orders(base.block_size)
        self.takes_vectors = base.takes_vectors
        self.takes_records = base.takes_records
        self.cheap, self.value_range = base.cheap, base.value_range
        self.diagonal = base.diagonal
        self.patience, self.cost = base.patience, base.cost
        self.evaluations_per_entry = 2 * base.evaluations_per_entry
        # A method is offered only where the base has it: the oracle chooses by what is there.
        self.pair = _offered(base.pair, self._pair, self._pair_later)
        self.pairs = _offered(base.pairs, self._pairs, self._pairs_later)
        self.block = _offered(base.block, self._block, self._block_later)
        self.aligned = _offered(base.aligned, self._aligned, self._aligned_later)

    @property
    def fingerprint(self) -> str:
        """The base's fingerprint, marked."""
        return f"symmetrized {self.base.fingerprint}"

    @property
    def identity(self) -> str | None:
        """The base's identity, marked."""
        base = self.base.identity
        return None if base is None else f"symmetrized {base}"

    def prepare(self, items: Items) -> Items:
        """Prepare as the base does."""
        return self.base.prepare(items)

    def content(self, items: Items) -> Iterable[bytes] | None:
        """Return what the base depends on."""
        return self.base.content(items)

    def known_diagonal(self, items: Items) -> FloatArray | None:
        """Return the base's diagonal: both orders of (x, x) are the same."""
        return self.base.known_diagonal(items)

    def incomparable_pair(self, left: Items, right: Items | None) -> tuple[int, int] | None:
        """Return what the base cannot compare."""
        return self.base.incomparable_pair(left, right)

    def _pair(self, a: Any, b: Any) -> float:
        assert self.base.pair is not None  # noqa: S101 - offered only then
        # Halved first: booleans and small integers would overflow.
        return self.base.pair(a, b) / 2 + self.base.pair(b, a) / 2

    def _pairs(self, pairs: list[Pair]) -> npt.NDArray[Any]:
        assert self.base.pairs is not None  # noqa: S101 - offered only then
        return _mean(self.base.pairs(pairs), self.base.pairs([(b, a) for a, b in pairs]))

    def _block(self, left: Any, right: Any) -> npt.NDArray[Any]:
        assert self.base.block is not None  # noqa: S101 - offered only then
        return _mean(self.base.block(left, right), _array(self.base.block(right, left)).T)

    def _aligned(self, left: Any, right: Any) -> npt.NDArray[Any]:
        assert self.base.aligned is not None  # noqa: S101 - offered only then
        return _mean(self.base.aligned(left, right), self.base.aligned(right, left))

    # The same of async functions.

    async def _pair_later(self, a: Any, b: Any) -> float:
        base: Any = self.base.pair
        there, back = await base(a, b), await base(b, a)
        return float(there / 2 + back / 2)

    async def _pairs_later(self, pairs: list[Pair]) -> npt.NDArray[Any]:
        base: Any = self.base.pairs
        return _mean(await base(pairs), await base([(b, a) for a, b in pairs]))

    async def _block_later(self, left: Any, right: Any) -> npt.NDArray[Any]:
        base: Any = self.base.block
        return _mean(await base(left, right), _array(await base(right, left)).T)

    async def _aligned_later(self, left: Any, right: Any) -> npt.NDArray[Any]:
        base: Any = self.base.aligned
        return _mean(await base(left, right), await base(right, left))


def _offered(base: Any, now: Any, later: Any) -> Any:
    if base is None:
        return None
    return later if is_async(base) else now


def _for_both_orders(size: int | tuple[int, int] | None) -> int | tuple[int, int] | None:
    """Return a block size that the base also accepts with rows and columns exchanged."""
    return (min(size), min(size)) if isinstance(size, tuple) else size


def _mean(one: npt.ArrayLike, other: npt.ArrayLike) -> npt.NDArray[Any]:
    first, second = _array(one), _array(other)
    if first.shape != second.shape:
        raise SimilarityError(
            f"the two orders came back with the shapes {first.shape} and {second.shape}.",
            "Symmetrizing averages them entry by entry.",
            "Return one number for each pair, and rows × columns for a block.",
        )
    # Halved first: booleans, small integers and the largest floats would overflow.
    return _array(first / 2 + second / 2)


def _array(answer: Any) -> npt.NDArray[Any]:
    # A mask must survive, for the oracle to see it.
    return answer if isinstance(answer, np.ma.MaskedArray) else np.asarray(answer)
