"""left · core · rightᵀ, and squares of a guide, overridden by what is known; never the whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray, unmasked
from fewpairs.errors import InputError, PositionError
from fewpairs.factored.indexing import broadcast, positions, whole_key
from fewpairs.factored.squares import Squares
from fewpairs.items.ids import NO_IDS, Ids, Names
from fewpairs.numerics import parts, tall_times, times_tall
from fewpairs.oracle.known import Known
from fewpairs.parallel import require_memory


class Factors:
    """Three factors and what overrides them, read like an array.

    Parameters
    ----------
    left, core, right, known, squares : as for `FactoredMatrix`
    """

    dtype = np.dtype(np.float64)
    # NumPy must leave `array @ K` to __rmatmul__.
    __array_ufunc__ = None

    def __init__(
        self,
        left: FloatArray,
        core: FloatArray,
        right: FloatArray | None = None,
        known: Known | None = None,
        squares: Sequence[Squares] = (),
    ) -> None:
        self.left, self.core = left, core
        self.right = left if right is None else right
        if core.shape != (left.shape[1], self.right.shape[1]):
            raise InputError(
                f"the factors have the shapes {left.shape}, {core.shape}, {self.right.shape}.",
                "left · core · rightᵀ must be defined.",
                "Give a core of (columns of left) × (columns of right).",
            )
        self.shape: tuple[int, int] = (len(left), len(self.right))
        self.squares = tuple(squares)
        same = self.right is left and all(part.symmetric for part in self.squares)
        self.symmetric = same and np.array_equal(core, core.T)
        self.known = Known.nothing(*self.shape) if known is None else known

    def __len__(self) -> int:
        return self.shape[0]

    def entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return single entries ``rows[k], columns[k]``; the two are broadcast."""
        of_rows, of_columns = self._names
        i, j = broadcast(
            positions(rows, self.shape[0], of_rows), positions(columns, self.shape[1], of_columns)
        )
        shape = i.shape
        i, j = i.ravel(), j.ravel()
        if self.known.empty:
            return self.from_factors(i, j).reshape(shape)
        found = self.known.find(i, j)
        unknown = np.isnan(found)
        found[unknown] = self.from_factors(i[unknown], j[unknown])
        return found.reshape(shape)

    def from_factors(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return single entries as if nothing were known."""
        values = factored_entries(self.left, self.core, self.right, rows, columns)
        for part in self.squares:
            values += part.entries(rows, columns)
        return values

    @property
    def low_rank(self) -> bool:
        """Whether the factors say everything, or a guide's squares come on top."""
        return not self.squares

    def predicted(self, rows: IntArray | slice, columns: IntArray | slice) -> FloatArray:
        """Return a block of entries as if nothing were known."""
        values = _times_right(np.asarray(self.left[rows] @ self.core), self.right, columns)
        for part in self.squares:
            values += part.block(rows, columns)
        return values

    def __getitem__(self, key: Any) -> Any:
        """Read as from an array: ``K[i, j]``, ``K[i]``, ``K[[1, 2]]``, ``K[[1, 2], [3, 4]]``.

        Where items have ids, texts are these: ``K["sku-17", "sku-4"]``.
        """
        rows, columns = whole_key(key, self.shape)
        slices = isinstance(rows, slice) or isinstance(columns, slice)
        of_rows, of_columns = self._names
        i = _resolve(rows, self.shape[0], of_rows)
        j = _resolve(columns, self.shape[1], of_columns)
        if not slices:
            value = self.entries(i, j)
            return float(value) if value.ndim == 0 else value
        return self._block(i.ravel(), j.ravel()).reshape(i.shape + j.shape)

    @property
    def _names(self) -> Ids:
        """Ids by which rows and columns are read; factors alone have none."""
        return NO_IDS

    def _block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        _require_dense(len(rows), len(columns), "Read fewer rows at a time")
        guess = self.predicted(rows, columns)
        if self.known.empty:
            return guess
        i = np.repeat(rows, len(columns))
        j = np.tile(columns, len(rows))
        return self.known.override(i, j, guess.ravel()).reshape(guess.shape)

    def to_dense(self, ceiling: float | None = None) -> FloatArray:
        """Return the whole matrix as an array; refused above `ceiling` bytes.

        By default that is 2 GiB, or what `fewpairs.max_memory` says.
        """
        _require_dense(*self.shape, "Use K[i], K.entries or K @ X", ceiling)
        strips = np.array_split(np.arange(self.shape[0]), max(1, self.shape[0] // 256))
        columns = np.arange(self.shape[1])
        return np.vstack([self._block(rows, columns) for rows in strips])

    def __matmul__(self, other: Any) -> FloatArray:
        """Multiply by a vector or a matrix, never forming this one."""
        other = unmasked(other, "what the matrix is multiplied by")
        plain = other.toarray() if sp.issparse(other) else np.asarray(other)
        if np.iscomplexobj(plain):
            raise InputError(
                "a factored matrix was multiplied by complex numbers.",
                "Similarities are real; the imaginary part would be lost.",
                "Multiply the real and the imaginary part one after the other.",
            )
        x = np.asarray(plain, dtype=np.float64)
        if x.ndim not in (1, 2) or len(x) != self.shape[1]:
            raise InputError(
                f"a matrix of shape {self.shape} was multiplied by one of shape {x.shape}.",
                "The inner dimensions must agree.",
                f"Pass {self.shape[1]} rows.",
            )
        columns, rows = self.known.columns, self.known.rows
        inner = x
        if len(columns.index):
            inner = x.copy()
            inner[columns.index] = 0
        result = tall_times(self.left, self.core @ times_tall(self.right, inner))
        for part in self.squares:
            result += part @ inner
        if len(columns.index):
            result += tall_times(columns.values, x[columns.index])
        if self.corrections is not None:
            result += self.corrections @ x
        if len(rows.index):
            result[rows.index] = times_tall(rows.values, x)
        return result

    @cached_property
    def corrections(self) -> sp.csr_array | None:
        """What to add to the factors so that single known entries are exact in products."""
        # In both orders, because the factors need not be symmetric where what is known is.
        rows, columns, values = self.known.in_both_orders().outside_lines()
        if not len(rows):
            return None
        by = values - self.from_factors(rows, columns)
        return sp.csr_array((by, (rows, columns)), shape=self.shape)


def _times_right(rows: FloatArray, right: FloatArray, columns: IntArray | slice) -> FloatArray:
    """Return rows · rightᵀ at some columns; a factor on disk is read in parts."""
    if right.dtype == np.float64:
        # All of them are not copied, which would take longer than the product.
        whole = right.flags.c_contiguous and _is_everything(columns, len(right))
        return np.asarray(rows @ (right if whole else right[columns]).T)
    wanted = np.arange(len(right))[columns]
    result = np.empty((len(rows), len(wanted)))
    for part in parts(len(wanted)):
        result[:, part] = rows @ right[wanted[part]].astype(np.float64).T
    return result


def _is_everything(index: IntArray | slice, length: int) -> bool:
    if isinstance(index, slice):
        return index == slice(None)
    return len(index) == length and np.array_equal(index, np.arange(length))


def _require_dense(n_rows: int, n_columns: int, instead: str, ceiling: float | None = None) -> None:
    require_memory(
        8 * n_rows * n_columns,
        f"the entries of a dense {n_rows:,} × {n_columns:,} array",
        instead,
        ceiling=ceiling,
        convenience=True,
    )


def _resolve(index: Any, length: int, names: Names | None) -> IntArray:
    if isinstance(index, slice):
        try:
            return np.arange(*index.indices(length))
        except (TypeError, ValueError) as error:
            raise PositionError(
                f"{index!r:.100} was given as a slice: {error}.",
                "The ends of a slice are positions: ids have no order.",
                "Pass whole numbers, or a list of ids.",
            ) from error
    return positions(index, length, names)


def factored_entries(
    left: FloatArray, core: FloatArray, right: FloatArray, rows: IntArray, columns: IntArray
) -> FloatArray:
    """Return the entries ``rows[k], columns[k]`` of left · core · rightᵀ."""
    values = np.empty(len(rows))
    # In order of the rows, so that each is multiplied by the core once, however many of its entries
    # are asked for; a thousand at a time, so that what is gathered fits the cache.
    order = np.argsort(rows, kind="stable")
    for part in parts(len(rows), 1024):
        mine = order[part]
        ordered = rows[mine]
        first = np.append(True, ordered[1:] != ordered[:-1])
        products = left[ordered[first]] @ core
        gathered = products[np.cumsum(first) - 1]
        values[mine] = np.einsum("kp,kp->k", gathered, right[columns[mine]])
    return values
