"""Vectors whose inner products are the factored scores, and indexes of other libraries for them.

With right = Q·S·Bᵀ, the columns of Q orthonormal, left·core·rightᵀ = (left·core·B·S)·Qᵀ: items are
the rows of Q = right·B/S, queries those of left·core·B·S. So signs, asymmetry and two sets of items
need nothing of their own, and a maximum inner product search ranks as the factors do.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import scipy.linalg

from fewpairs.arrays import FloatArray, SingleArray
from fewpairs.errors import InputError, MissingExtraError
from fewpairs.factored.embedding import triangular_factor
from fewpairs.factored.extension import NewRows, squares_of_new
from fewpairs.factored.squares import ANCHORS
from fewpairs.numerics import exponent

if TYPE_CHECKING:
    from fewpairs.factored.answers import Answers

Library: TypeAlias = Literal["faiss", "usearch"]
#: Directions of the tall factor below this share of the largest carry nothing but rounding.
_RANK_TOLERANCE = 1e-12
#: Queries up to 2^±60, about 1e±18, are far from the ends of single precision, 1e±38.
_ORDINARY = 60
#: Beyond 2^±100 single precision loses small numbers beside the largest, or holds none.
_MOST = 100


@dataclass(frozen=True, eq=False)
class PairedMap:
    """Turns rows of both factors into vectors: ``rows @ queries`` and ``rows @ items``.

    Parameters
    ----------
    queries : ndarray
        For rows of the left factor, with squared products with anchors where a guide has squares.
    items : ndarray
        For rows of the right factor, likewise.
    """

    queries: FloatArray
    items: FloatArray

    @classmethod
    def of(cls, matrix: Answers) -> PairedMap:
        """Find the directions of the right factor."""
        core, right = smooth_right(matrix)
        triangle = triangular_factor(right)
        # Squares of its entries must not overflow.
        power = exponent(triangle)
        _, sizes, bt = scipy.linalg.svd(np.ldexp(triangle, -power), full_matrices=False)
        keep = sizes > _RANK_TOLERANCE * max(float(sizes.max(initial=0)), np.finfo(float).tiny)
        sizes, basis = sizes[keep], bt[keep].T
        queries = core @ (basis * sizes)
        # Items are of length one at the most, and queries as large as the scores. Where single
        # precision could not hold these, both take half of the power of two.
        of_left = queries[: matrix.left.shape[1]]
        largest = power + exponent(of_left) + exponent(matrix.left)
        half = largest // 2 if abs(largest) > _ORDINARY else 0
        return cls(np.ldexp(queries, power - half), np.ldexp(basis / sizes, half - power))


def smooth_right(matrix: Answers) -> tuple[FloatArray, FloatArray]:
    """Return core and right factor; a guide's squares, which have no low rank, by anchors."""
    if not matrix.squares:
        return matrix.core, matrix.right
    parts = [part.anchored(ANCHORS) for part in matrix.squares]
    # In the unit of the right factor: whatever is small beside the rest is cut off later.
    power = matrix.source.power
    right = np.hstack([matrix.right, *(np.ldexp(part[2], power) for part in parts)])
    cores = (np.ldexp(part[1], -power) for part in parts)
    return scipy.linalg.block_diag(matrix.core, *cores), right


def old_queries(matrix: Answers, rows: Any, paired: PairedMap) -> SingleArray:
    """Return query vectors of the matrix's own rows."""
    squares = [part.block(rows, part.anchors(ANCHORS)[1]) for part in matrix.squares]
    return _single(np.hstack([matrix.left[rows], *squares]) @ paired.queries)


def new_queries(matrix: Answers, rows: NewRows, paired: PairedMap) -> SingleArray:
    """Return query vectors of new items."""
    new = squares_of_new(matrix, matrix.source.guide, rows)
    squares = [
        part.block(slice(None), old.anchors(ANCHORS)[1])
        for part, old in zip(new, matrix.squares, strict=True)
    ]
    return _single(np.hstack([rows.left, *squares]) @ paired.queries)


def item_vectors(matrix: Answers, paired: PairedMap) -> SingleArray:
    """Return the vectors that an index holds, one for each column."""
    return _single(smooth_right(matrix)[1] @ paired.items)


def make_index(library: str, vectors: SingleArray) -> Any:
    """Return an index of a library, which finds the largest inner products."""
    if library not in ("faiss", "usearch"):
        raise InputError(
            f"there is no index of {library!r}.",
            "Only some libraries are known here; others take K.item_vectors().",
            'Pass "faiss" or "usearch".',
        )
    name = library if library == "faiss" else "usearch.index"
    try:
        with warnings.catch_warnings():  # what their bindings say of Python's own future
            warnings.simplefilter("ignore", DeprecationWarning)
            made = importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(library, library, "an index") from error
    if library == "faiss":
        index = made.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return index
    index = made.Index(ndim=vectors.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(vectors)), vectors)
    return index


def _single(vectors: FloatArray) -> SingleArray:
    if vectors.any() and abs(exponent(vectors)) > _MOST:
        raise InputError(
            f"the vectors have numbers of about {np.abs(vectors).max():.0e}.",
            "They are in single precision, as indexes take them, which holds no such numbers.",
            "Multiply the similarity by a constant, which ranks alike.",
        )
    return np.ascontiguousarray(vectors, dtype=np.float32)
