"""A factored matrix in a form that can be added up: sums over two clusters from one row of each.

With F = [Z, lines], the sum of all entries between two clusters is an inner product of their summed
rows of Z, plus what whole known lines and single known entries say instead. Only entries of
different items count: the diagonal is nobody's similarity with another.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.errors import InputError
from fewpairs.factored.embedding import symmetric_map
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.squares import ANCHORS, Squares
from fewpairs.files.scratch import is_on_disk, tall_beside
from fewpairs.numerics import exponent, parts, tall_times

#: A guide's squares are added up exactly, as products of two coordinates, up to so many products.
_MOST_PRODUCTS = 1000


class Sums(NamedTuple):
    """What is added up when clusters merge; all of it times 2^-power, so that nothing overflows.

    Attributes
    ----------
    vectors : ndarray of shape (n, r)
        Zero where all of an item's entries are known.
    n_positive : int
        So many directions count positively, and come first; the others negatively.
    lines : ndarray of shape (n, h)
        Whole known lines. Where two of them cross there is half of the entry: it is read twice.
    line_of : ndarray of shape (n,)
        For each item its place among these lines, or -1.
    starts, others, corrections : ndarray
        What single known entries add to the vectors' products: a sparse matrix in CSR form, in both
        orders.
    power : int
    """

    vectors: FloatArray
    n_positive: int
    lines: FloatArray
    line_of: IntArray
    starts: IntArray
    others: IntArray
    corrections: FloatArray
    power: int


#: Z and ±1 with Z·diag(±1)·Zᵀ = the factored part of a matrix.
Signed: TypeAlias = tuple[FloatArray, FloatArray]


def sums_of(matrix: FactoredMatrix, *, sign: int = 1, factored: Signed | None = None) -> Sums:
    """Return a square matrix in this form; one that is not symmetric, as the mean of both orders.

    Parameters
    ----------
    matrix : FactoredMatrix
    sign : int, default=1
        -1 for the negative of the matrix: small distances are then large similarities.
    factored : pair of ndarray, optional
        `factored_part` of this matrix, or of one that differs only in what it knows: it takes the
        longest.
    """
    if matrix.shape[0] != matrix.shape[1] or not matrix.source.square:
        raise InputError(
            f"clusters were asked for of a matrix of {matrix.shape[0]:,} items with "
            f"{matrix.shape[1]:,} others.",
            "A cluster holds items of one set, and needs their similarities with each other.",
            "Approximate the matrix of one set of items, or of both joined.",
        )
    _refuse_holes(matrix)
    matrix = matrix.symmetrized()
    held = matrix.known.columns
    vectors, signature = factored_part(matrix) if factored is None else factored
    order = np.argsort(-sign * signature, kind="stable")  # the positive ones first
    vectors = _copied(matrix, vectors, order)
    n_positive = int((sign * signature > 0).sum())
    vectors[held.index] = 0
    lines = _copied(matrix, held.values, slice(None))
    lines *= sign
    lines[held.index, np.arange(len(held.index))] = 0  # the diagonal, which nobody reads
    rows, columns, values = matrix.known.in_both_orders().outside_lines()
    apart = rows != columns
    rows, columns, values = rows[apart], columns[apart], sign * values[apart]
    # All of it brought to the size of 1, digit by digit.
    sizes = [(2, vectors), (1, lines), (1, values)]
    power = max((times * exponent(some) for times, some in sizes if some.any()), default=0)
    power += power % 2
    np.ldexp(vectors, -power // 2, out=vectors)
    np.ldexp(lines, -power, out=lines)
    values = np.ldexp(values, -power)
    lines[held.index] /= 2
    signs = np.where(np.arange(vectors.shape[1]) < n_positive, 1.0, -1.0)
    for part in parts(len(rows), 2**16):
        left = vectors[rows[part]] * signs
        values[part] -= np.einsum("ij,ij->i", left, vectors[columns[part]])
    sparse = sp.csr_array((values, (rows, columns)), shape=matrix.shape)
    return Sums(
        vectors=vectors,
        n_positive=n_positive,
        lines=lines,
        line_of=held.place.astype(np.int64),
        starts=sparse.indptr.astype(np.int64),
        others=sparse.indices.astype(np.int64),
        corrections=sparse.data,
        power=power,
    )


def _copied(matrix: FactoredMatrix, tall: FloatArray, columns: IntArray | slice) -> FloatArray:
    """Return columns of a tall array in double precision, on disk if the factors are there."""
    width = len(np.arange(tall.shape[1])[columns])
    copy = tall_beside(matrix.left, len(tall), width, np.float64)
    for part in parts(len(tall)):
        copy[part] = tall[part][:, columns]
    return copy


def adds_up_exactly(matrix: FactoredMatrix) -> bool:
    """Whether nothing is lost: no guide's squares go through anchors that stand for other items."""
    return all(_few(part) or len(part.left) <= ANCHORS for part in matrix.squares)


def factored_part(matrix: FactoredMatrix) -> Signed:
    """Return Z and ±1 with Z·diag(±1)·Zᵀ = the factored part, as the mean of both orders."""
    matrix = matrix.symmetrized()
    held = matrix.known.columns
    if len(held.index) == len(held.place):  # the factors have nothing to say
        return np.zeros((len(held.place), 1)), np.ones(1)
    tall, cores = [matrix.left], [matrix.core]
    for part in matrix.squares:
        left, core, right = _products(part) if _few(part) else part.anchored(ANCHORS)
        if right is not left:  # a part and its transpose come together: the mean of both orders
            none_left, none_right = (np.zeros((size, size)) for size in core.shape)
            left = np.hstack([left, right])
            core = np.block([[none_left, core / 2], [core.T / 2, none_right]])
        tall.append(left)
        cores.append(core)
    left, core = np.hstack(tall) if len(tall) > 1 else tall[0], block_diag(*cores)
    ready = symmetric_map(left, core)
    out = None
    if is_on_disk(left):
        out = tall_beside(left, len(left), ready.matrix.shape[1], np.float64)
    return tall_times(left, ready.matrix, out), ready.signature


def _few(part: Squares) -> bool:
    d = part.left.shape[1]
    return bool(d * (d + 1) // 2 <= _MOST_PRODUCTS)


def _products(part: Squares) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return factors of squared inner products: (x·y)² = <xxᵀ, yyᵀ>, each product once."""
    i, j = np.triu_indices(part.left.shape[1])
    twice = np.where(i == j, 1.0, np.sqrt(2.0))

    def side(vectors: SingleArray, scale: FloatArray | None) -> FloatArray:
        rows = vectors.astype(np.float64)
        products = rows[:, i] * rows[:, j] * twice
        return products if scale is None else products * scale[:, None]

    left = side(part.left, part.rows)
    right = left if part.symmetric else side(part.right, part.columns)
    return left, part.weight * np.eye(len(i)), right


def _refuse_holes(matrix: FactoredMatrix) -> None:
    factors = {"left factor": matrix.left, "core": matrix.core, "right factor": matrix.right}
    for name, array in factors.items():
        bad = sum(int((~np.isfinite(array[part])).sum()) for part in parts(len(array), 2**16))
        if bad:
            raise InputError(
                f"the {name} has {bad:,} entries that are no finite numbers.",
                "One of them would spread to every average.",
                "Make the matrix anew, with on_nonfinite='skip' where the similarity has holes.",
            )
