"""A factored matrix whose tall factors lie on the workers of a Dask cluster, rows by rows.

They travel there once. Afterwards a product or a Gram matrix moves what is small: s numbers for
each column of what is multiplied, or s × s for each block of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.numerics import parts
from fewpairs.workers.cluster import check_client

if TYPE_CHECKING:
    from fewpairs.factored.matrix import FactoredMatrix

#: Bytes of a block of rows: a fraction of a second on the way, and many for each worker.
_BLOCK = 2**25


@dataclass(frozen=True, eq=False)
class Spread:
    """Tall factors as Dask arrays in double precision, and products with what is known put back.

    Attributes
    ----------
    left, right : dask.array.Array
        One array in both roles where the factors are one.
    core : ndarray
    columns, rows : dask.array.Array
        Whole known columns, and rows as columns of the transpose.
    """

    left: Any
    core: FloatArray
    right: Any
    columns: Any
    rows: Any
    _matrix: FactoredMatrix
    _client: Any

    def gram(self) -> FloatArray:
        """Return leftᵀ·left: every worker adds up its own rows."""
        return np.asarray(self._compute(self.left.T @ self.left)[0])

    def __matmul__(self, other: npt.ArrayLike) -> FloatArray:
        """Multiply by a vector or a matrix; to rounding what the matrix itself gives."""
        known, corrections = self._matrix.known, self._matrix.corrections
        x = np.asarray(other, dtype=np.float64)
        if x.ndim not in (1, 2) or len(x) != self._matrix.shape[1]:
            raise InputError(
                f"a matrix of shape {self._matrix.shape} was multiplied by one of shape {x.shape}.",
                "The inner dimensions must agree.",
                f"Pass {self._matrix.shape[1]} rows.",
            )
        across = known.columns.index
        inner = x.copy()
        inner[across] = 0

        def beside(tall: Any, small: FloatArray) -> Any:
            """Return tallᵀ · small, cut into the same rows."""
            cut = tall.chunks[0], *small.shape[1:]
            return tall.T @ _imported("dask.array").from_array(small, chunks=cut)

        projected, of_rows = self._compute(beside(self.right, inner), beside(self.rows, x))
        product = self.left @ (self.core @ projected)
        if len(across):
            product = product + self.columns @ x[across]
        result: FloatArray = self._compute(product)[0]
        if corrections is not None:
            result += corrections @ x
        if len(known.rows.index):
            result[known.rows.index] = of_rows
        return result

    def _compute(self, *wanted: Any) -> Any:
        return self._client.gather(self._client.compute(list(wanted)))


def spread(matrix: FactoredMatrix, client: Any) -> Spread:
    """Send the tall factors of a matrix to the workers of a client; they stay while it is held.

    Parameters
    ----------
    matrix : FactoredMatrix
    client : dask.distributed.Client

    Returns
    -------
    Spread
    """
    check_client(client)
    if not matrix.low_rank:
        raise InputError(
            "a matrix with a guide was to be spread over a cluster.",
            "Squares of the guide's products are beside its factors, and stay here.",
            "Make the matrix without a guide, or multiply here.",
        )
    sent: dict[int, Any] = {}

    def send(tall: npt.NDArray[Any]) -> Any:
        if id(tall) not in sent:
            sent[id(tall)] = _sent(tall, client)
        return sent[id(tall)]

    known = matrix.known
    talls = (matrix.left, matrix.right, known.columns.values, known.rows.values)
    left, right, columns, rows = map(send, talls)
    return Spread(left, matrix.core, right, columns, rows, matrix, client)


def _sent(tall: npt.NDArray[Any], client: Any) -> Any:
    """Return a Dask array whose blocks lie on the workers, read and sent one after the other."""
    da, delayed = _imported("dask.array"), _imported("dask").delayed
    width = tall.shape[1]
    height = max(1, _BLOCK // max(1, width * tall.itemsize))
    blocks = []
    for part in parts(len(tall), height):
        # By a name of its own: to name a block by what it holds would read it once more.
        there = client.scatter(np.ascontiguousarray(tall[part]), hash=False)
        shape = part.stop - part.start, width
        blocks.append(da.from_delayed(delayed(there), shape, dtype=tall.dtype))
    # As kept, and in double precision only while it is computed with.
    return da.concatenate(blocks, axis=0).astype(np.float64)


def _imported(name: str) -> Any:
    """Return a module of Dask, which is there: there is a client."""
    return import_module(name)
