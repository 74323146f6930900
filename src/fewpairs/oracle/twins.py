"""Items of the same content: what is evaluated for the first of them stands for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.oracle.requests import Ordered, Rectangle, Request, Scattered


@dataclass(frozen=True, eq=False)
class Twins:
    """Which items hold the same as an earlier one.

    Parameters
    ----------
    rows, columns : ndarray of int
        For each row and each column the first that holds the same.
    """

    rows: IntArray
    columns: IntArray

    def first(self, request: Request) -> Request:
        """Return a request for the first of every item's twins."""
        return type(request)(self.rows[request.rows], self.columns[request.columns])

    def apart(self, request: Request) -> tuple[Request | None, Scattered | None]:
        """Return what is evaluated of a request, and the pairs that stand behind others."""
        if isinstance(request, Ordered):
            return request, None
        down = self.rows[request.rows] == request.rows
        along = self.columns[request.columns] == request.columns
        if isinstance(request, Scattered):
            own = down & along
            first: Request = Scattered(request.rows[own], request.columns[own])
        else:
            own = np.outer(down, along).ravel()
            first = Rectangle(request.rows[down], request.columns[along])
        if own.all():
            return request, None
        i, j = request.pairs()
        return first if first.size else None, Scattered(i[~own], j[~own])
