"""Which columns are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.methods.selectors import (
    FarthestPoint,
    Leverage,
    RandomlyPivoted,
    SquaredDistance,
)
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.requests import Planner


class Selector(Protocol):
    """Chooses landmarks. Anything with this method can be passed as ``selection=``.

    A selector that evaluates more than its landmarks' columns says so by a second method,
    ``price(planner, count)``, so that budgets hold.
    """

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return `count` different positions of items, in the order in which they are used."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Every item is equally likely, without replacement."""

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:
        """Return the first `count` of a random permutation."""
        return rng.permutation(oracle.shape[1])[:count]


@dataclass(frozen=True, eq=False)
class Given:
    """Landmarks that the user chose."""

    indices: IntArray

    def select(self, oracle: Oracle, count: int, rng: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Return the given landmarks, in the given order."""
        return self.indices[:count]


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


def given_landmarks(landmarks: npt.ArrayLike, n: int) -> Given:
    """Check landmarks that the user chose."""
    indices = np.asarray(landmarks)
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
