"""Items of the same content: what is evaluated for the first of them stands for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
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

    def alike(self, request: Request, values: FloatArray) -> FloatArray:
        """Return the values of pairs in both orders with one for all pairs of the same content.

        These are asked for of any twin. Company may change the last bits of a pair, and by content
        only one value can be found again: that of the pair which is evaluated first, and blocks
        serve them row by row.
        """
        if not isinstance(request, Ordered):
            return values
        order = np.argsort(request.rows, kind="stable")
        first = self.first(request)
        same = (first.rows * (1 + int(self.columns.max(initial=0))) + first.columns)[order]
        _, place, which = np.unique(same, return_index=True, return_inverse=True)
        found = np.empty_like(values)
        found[order] = values[order][place][which]
        return np.where(np.isnan(found), values, found)
