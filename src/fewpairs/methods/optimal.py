"""The floor: the best rank-s approximation, from all of K. For comparison only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from fewpairs.arrays import IntArray
from fewpairs.errors import BudgetError
from fewpairs.methods.base import Fit, Method
from fewpairs.methods.options import FLAG, option
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner


@dataclass(frozen=True)
class Optimal(Method):
    """The s largest eigenpairs (or singular triplets) of the whole matrix.

    Parameters
    ----------
    allow_all_pairs : bool, default=False
        Must be True: this method evaluates every pair.
    """

    allow_all_pairs: bool = option(False, FLAG)
    reads_all: ClassVar[bool] = True

    def price(self, planner: Planner, landmarks: int) -> int:  # noqa: ARG002 - whatever the rank
        """Count all pairs."""
        if not self.allow_all_pairs:
            raise BudgetError(
                f'method="optimal" evaluates all {planner.price_of_everything:,} pairs.',
                "It exists to compare with, and saves nothing.",
                "Pass allow_all_pairs=True if that is what you want.",
            )
        return planner.price_of_columns(planner.n)

    def fit(
        self,
        oracle: Oracle,
        landmarks: IntArray,
        rng: np.random.Generator,  # noqa: ARG002
        allowance: int | None = None,  # noqa: ARG002
        last: Fit | None = None,  # noqa: ARG002
    ) -> Fit:
        """Evaluate everything and keep the largest part."""
        rank = len(landmarks)
        everything = oracle.columns(np.arange(oracle.shape[1]))
        if oracle.symmetric:
            values, vectors = np.linalg.eigh(everything)
            top = np.argsort(-np.abs(values), kind="stable")[:rank]
            return Fit(np.ascontiguousarray(vectors[:, top]), np.diag(values[top]))
        left, sizes, right = scipy.linalg.svd(everything, full_matrices=False)
        return Fit(
            np.ascontiguousarray(left[:, :rank]),
            np.diag(sizes[:rank]),
            np.ascontiguousarray(right[:rank].T),
        )

    def memory(self, planner: Planner, landmarks: int) -> int:  # noqa: ARG002 - whatever the rank
        """Count the whole matrix."""
        return super().memory(planner, planner.n)
