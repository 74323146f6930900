"""Which columns are read: uniformly drawn ones, unless another rule is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray, unmasked
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner

#: Ridge of the leverage scores, as a share of the mean eigenvalue of the columns' Gram matrix:
#: directions below it are noise.
_RIDGE = 1e-3
#: Times the smallest eigenvalue of a small square: the shift that SMS-Nyström uses (alpha = 1.5).
_SHIFT = 1.5


class Selector(Protocol):
    """Chooses landmarks. Anything with this method can be passed as ``selection=``.

    A selector that evaluates more than its landmarks' columns says so by a second method,
    ``price(planner, count)``, so that budgets hold; one that evaluates nothing may say so by an
    attribute ``reads = False``.
    """

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return `count` different positions of items, in the order in which they are used."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Every item is equally likely, without replacement."""

    reads: ClassVar[bool] = False

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return the first `count` of a random permutation."""
        return rng.permutation(oracle.shape[1])[:count]


@dataclass(frozen=True, eq=False)
class Given:
    """Landmarks that the user chose."""

    indices: IntArray
    reads: ClassVar[bool] = False

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Return the given landmarks, in the given order."""
        return self.indices[:count]


@dataclass(frozen=True)
class FarthestPoint:
    """Greedy k-centre: next comes the item least similar to its most similar landmark.

    Each landmark's column is read as it is chosen, so that nothing is spent beyond columns.
    """

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return landmarks that cover the items."""
        chosen = [int(rng.integers(oracle.shape[1]))]
        nearest = oracle.columns(chosen[:1])[:, 0].copy()
        while len(chosen) < count:
            nearest[chosen] = np.inf
            chosen.append(int(nearest.argmin()))
            nearest = np.maximum(nearest, oracle.columns(chosen[-1:])[:, 0])
        return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True)
class SquaredDistance:
    """D² sampling, as k-means++ starts: chance grows with the distance to the landmarks so far.

    Distances are d²(i, j) = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ, cut at 0; the diagonal is evaluated.
    """

    def price(self, planner: Planner, count: int) -> int:
        """Count the diagonal, beside the landmarks' own columns."""
        return _price_of_diagonal(planner, count)

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return landmarks, each drawn given those before it."""
        own = oracle.diagonal()
        chosen = [int(rng.integers(oracle.shape[1]))]
        far = np.full(oracle.shape[0], np.inf)
        while len(chosen) < count:
            last = chosen[-1]
            apart = own + own[last] - 2 * oracle.columns([last])[:, 0]
            far = np.minimum(far, np.maximum(apart, 0))
            far[chosen] = 0
            chosen.append(_draw(far, chosen, rng))
        return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True)
class Leverage:
    """Half of the landmarks uniformly; the rest by ridge leverage scores of those columns."""

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return landmarks whose second half fills in what the first does not span."""
        order = rng.permutation(oracle.shape[1])
        first = order[: max(1, count // 2)]
        columns = oracle.columns(first)
        gram = columns.T @ columns
        ridge = _RIDGE * float(np.trace(gram)) / len(first) + np.finfo(float).tiny
        solved = np.linalg.solve(gram + ridge * np.eye(len(first)), columns.T)
        scores = np.maximum(np.einsum("ij,ji->i", columns, solved), 0)
        scores[first] = 0
        chosen = first.tolist()
        while len(chosen) < count:
            chosen.append(_draw(scores, chosen, rng))
            scores[chosen[-1]] = 0
        return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True)
class RandomlyPivoted:
    """Randomly pivoted Cholesky of K + shift·I: chance grows with the residual diagonal.

    The shift, −1.5·λmin of a small random square, makes an indefinite matrix nearly positive.
    """

    #: Side of the square whose smallest eigenvalue is looked at, at most a quarter of the items; it
    #: costs about a column.
    square: int = 50

    def price(self, planner: Planner, count: int) -> int:
        """Count the diagonal and the square, beside the landmarks' own columns."""
        own = _price_of_diagonal(planner, count)
        return own + planner.price_of_square(self._side(planner.n))

    def _side(self, n: int) -> int:
        return min(self.square, -(-n // 4))

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return pivots in the order in which they were drawn."""
        n = oracle.shape[0]
        sample = rng.permutation(n)[: self._side(n)]
        shift = max(0.0, -_SHIFT * float(np.linalg.eigvalsh(oracle.block(sample, sample))[0]))
        residual = oracle.diagonal() + shift
        # Columns and pivots apart, without square roots: a power of two changes no rounding.
        lines, pivots = np.zeros((n, count)), np.ones(count)
        chosen: list[int] = []
        while len(chosen) < count:
            pivot = _draw(np.maximum(residual, 0), chosen, rng)
            column = oracle.columns([pivot])[:, 0].copy()
            column[pivot] += shift
            step = len(chosen)
            column -= lines[:, :step] @ (lines[pivot, :step] / pivots[:step])
            if column[pivot] > 0:
                lines[:, step], pivots[step] = column, column[pivot]
            residual = residual - lines[:, step] ** 2 / pivots[step]
            chosen.append(pivot)
        return np.array(chosen, dtype=np.int64)


def _price_of_diagonal(planner: Planner, count: int) -> int:
    """Count the diagonal, beside columns that are read later."""
    if planner.diagonal_known:
        return 0
    # A column of an asymmetric matrix is read as one block, and asks for its own entry again.
    again = not planner.symmetric and not planner.by_pairs_only
    return (planner.n - (0 if again else count)) * planner.per_entry


def _draw(weights: FloatArray, chosen: list[int], rng: np.random.Generator) -> int:
    """Draw one item by weight; uniformly among the rest where no weight is left."""
    free = weights.copy()
    free[chosen] = 0
    total = float(free.sum())
    if total <= 0:
        rest = np.setdiff1d(np.arange(len(weights)), chosen)
        return int(rng.choice(rest))
    return int(rng.choice(len(free), p=free / total))


SELECTORS: dict[str, Selector] = {
    "uniform": Uniform(),
    "k-centre": FarthestPoint(),
    "d2": SquaredDistance(),
    "leverage": Leverage(),
    "pivoted": RandomlyPivoted(),
}


def as_selector(selection: Any) -> Selector:
    """Look a selector up by name, or take the user's own."""
    if isinstance(selection, str):
        if selection not in SELECTORS:
            raise UnknownNameError("selection", selection, SELECTORS)
        return SELECTORS[selection]
    if not callable(getattr(selection, "select", None)):
        raise InputError(
            f"selection is a {type(selection).__name__}.",
            "It chooses the columns that are read.",
            f"Pass a name ({', '.join(SELECTORS)}) or an object with select(oracle, count, rng).",
        )
    return selection  # type: ignore[no-any-return]


def price_of_selection(selector: Selector, planner: Planner, count: int) -> int:
    """Count what a selector evaluates beside its landmarks' columns."""
    price = getattr(selector, "price", None)
    return 0 if price is None else int(price(planner, count))


def given_landmarks(landmarks: npt.ArrayLike, n: int, count: int | None = None) -> Given:
    """Check landmarks that the user chose, or `count` of them that a selector did."""
    indices = np.asarray(unmasked(landmarks, "landmarks"))
    if count is not None and indices.shape != (count,):
        raise InputError(f"{indices.size} landmarks came where {count} were asked for.")
    whole = indices.ndim == 1 and indices.dtype.kind in "iu" and indices.size > 0
    if not whole or indices.min() < 0 or indices.max() >= n:
        raise InputError(
            f"landmarks are not a list of positions between 0 and {n - 1}.",
            "They name the items whose columns are read.",
            "Pass a number of landmarks, or a non-empty list of different positions.",
        )
    if len(np.unique(indices)) < len(indices):
        raise InputError(
            f"{len(indices) - len(np.unique(indices))} of {len(indices)} landmarks are repeated.",
            "A column that is read twice adds nothing.",
            "Pass each position once.",
        )
    return Given(indices.astype(np.int64))
