"""What a method is: a price known beforehand, and factors made from what the oracle answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.known import Known, Lines
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.source import Source
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.requests import Planner

#: "exact" puts the evaluated entries back into the result; None leaves the method as published.
KnownOption = Literal["exact"] | None


@dataclass(frozen=True, eq=False)
class Factors:
    """``left · core · rightᵀ``, and the items that their columns belong to."""

    left: FloatArray
    core: FloatArray
    right: FloatArray | None = None
    left_landmarks: IntArray | None = None
    right_landmarks: IntArray | None = None
    #: What a landmark's similarity with itself has that its neighbours do not share.
    nugget: float = 0.0


class Method(Protocol):
    """A way from a few columns to the whole matrix. Its fields are its options."""

    needs_symmetric: ClassVar[bool]
    #: Whether rows and columns must be the same items.
    needs_square: ClassVar[bool]

    def price(self, planner: Planner, landmarks: int) -> int:
        """Count the evaluations that `landmarks` columns lead to."""
        ...

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,
        allowance: int | None = None,
    ) -> Factors:
        """Read what is needed and return the factors.

        `allowance` is what the user's budget leaves for the method; one that cannot use it all
        on its landmarks ignores it.
        """
        ...


def assemble(oracle: Oracle, factors: Factors, known: KnownOption, title: str) -> FactoredMatrix:
    """Make the result of a method's factors and, if asked for, of what was evaluated."""
    right = factors.right_landmarks
    return FactoredMatrix(
        factors.left,
        factors.core,
        factors.right,
        known=_evaluated(oracle, factors) if known == "exact" else None,
        source=Source(
            items=oracle.items,
            others=None if oracle.square else oracle.others,
            square=oracle.square,
            similarity=oracle.similarity,
            fingerprint=oracle.similarity.fingerprint,
            symmetric=bool(oracle.similarity.symmetric),
            left_landmarks=factors.left_landmarks,
            right_landmarks=factors.left_landmarks if right is None else right,
        ),
        evaluations=oracle.evaluations,
        method=title,
        nugget=factors.nugget,
    )


def _evaluated(oracle: Oracle, factors: Factors) -> Known:
    memory = oracle.memory
    n, m = oracle.shape
    index, values = memory.columns.landmarks, memory.columns.values
    shared = np.shares_memory(factors.left, values) and factors.left.shape == values.shape
    # One array in both roles is held, and saved, once.
    columns = Lines(index, factors.left if shared else values, m)
    rows = columns if oracle.symmetric else Lines(memory.rows.landmarks, memory.rows.values, n)
    everyone = np.arange(n)
    diagonal = memory.find(everyone, everyone) if oracle.square else None
    whole = diagonal is not None and not np.isnan(diagonal).any()
    known = Known(columns, rows, diagonal if whole else None)
    i, j, single = memory.scattered()
    if whole:
        off = i != j
        i, j, single = i[off], j[off], single[off]
    return known.with_entries(i, j, single, both=oracle.symmetric) if len(i) else known
