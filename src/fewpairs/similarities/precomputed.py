"""A matrix that is already there, as a similarity."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import unmasked
from fewpairs.errors import AsymmetryError, InputError
from fewpairs.items.items import Items
from fewpairs.numerics import parts
from fewpairs.similarities.protocol import Pair, Similarity

#: Rows compared at a time when symmetry is checked, so that a memmap is never held as a whole.
_STRIP = 512
#: Relative difference that still counts as symmetric. Summing in another order changes a float64
#: by some 1e-13; a model in single precision that depends on the order differs by 1e-7 or more.
_TOLERANCE = 1e-10


class Precomputed(Similarity):
    """Similarities that are looked up in a square array or memmap; the items are ``range(n)``.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
        Read in blocks, never copied as a whole.
    symmetric : bool or None, default=None
        None finds out, by comparing the matrix with its transpose to a relative 1e-10.
    name : str, default="precomputed"
        Files know the matrix by its name and size alone: give each its own.

    Examples
    --------
    >>> Precomputed([[1.0, 0.5], [0.5, 1.0]]).symmetric
    True
    """

    #: 8 MB of float64 at a time. From 2**14 to 2**22 the time is about the same.
    block_size = 2**20
    symmetry_proven = True

    def __init__(
        self, matrix: npt.ArrayLike, symmetric: bool | None = None, name: str = "precomputed"
    ) -> None:
        plain = unmasked(matrix, "the matrix")
        self.matrix = plain if isinstance(plain, np.ndarray) else np.asarray(plain)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:  # noqa: PLR2004
            raise InputError(
                f"the matrix has the shape {self.matrix.shape}.",
                "Entry (i, j) is the similarity of items i and j, so it must be square.",
                "Pass an n × n array.",
            )
        if self.matrix.dtype.kind not in "biuf":
            raise InputError(
                f"the matrix has the dtype {self.matrix.dtype}.",
                "Similarities are real numbers.",
                "Convert it to float64 or float32.",
            )
        self.name = name
        self.parameters = {"n": len(self.matrix)}
        self.symmetric = _is_symmetric(self.matrix) if symmetric is None else bool(symmetric)
        if symmetric and not _is_symmetric(self.matrix):
            raise AsymmetryError(
                "the matrix was declared symmetric and differs from its transpose.",
                "One half of it would silently stand for the other.",
                "Pass symmetric=None, or Precomputed(matrix).symmetrized() for the mean of both.",
            )

    @property
    def identity(self) -> str | None:
        """The fingerprint with a checksum of the whole matrix."""
        found = hashlib.sha256(f"{self.matrix.dtype.name} {self.matrix.shape}".encode())
        for strip in parts(len(self.matrix), _STRIP):
            found.update(np.ascontiguousarray(self.matrix[strip]).reshape(-1).view(np.uint8).data)
        return f"{self.fingerprint} {found.hexdigest()}"

    def prepare(self, items: Items) -> Items:
        """Check that the items are positions in the matrix."""
        values = np.asarray(items.values)
        whole = values.ndim == 1 and values.dtype.kind in "iu"
        if not whole or (values.size and not 0 <= values.min() <= values.max() < len(self.matrix)):
            raise InputError(
                f"the items are not positions in the {len(self.matrix)} × {len(self.matrix)} "
                "matrix.",
                "A precomputed similarity knows its items only by their row.",
                f"Pass items=range({len(self.matrix)}).",
            )
        return Items(values)

    def pairs(self, pairs: list[Pair]) -> npt.NDArray[Any]:
        """Look scattered entries up."""
        index: npt.NDArray[Any] = np.asarray(pairs)
        return np.asarray(self.matrix[index[:, 0], index[:, 1]])

    def block(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Look a block up, without a copy of its whole rows."""
        return np.asarray(self.matrix[np.ix_(np.asarray(left), np.asarray(right))])


def _is_symmetric(matrix: npt.NDArray[Any]) -> bool:
    for strip in parts(len(matrix), _STRIP):
        rows = np.asarray(matrix[strip], dtype=float)
        columns = np.asarray(matrix[:, strip], dtype=float).T
        # Infinities are refused when they are looked up, with their place.
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.abs(rows - columns)
        scale = np.maximum(np.abs(rows), np.abs(columns))
        if np.any(difference > _TOLERANCE * scale):
            return False
    return True
