"""The largest eigenvalues of a symmetric matrix, dense or sparse, in a few passes over it."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.linalg as la
import scipy.sparse as sp
from numba import njit

from fewpairs.arrays import FloatArray
from fewpairs.numerics import parts, row_squares
from fewpairs.parallel import COMPILED, announce, one_blas_thread

#: An ndarray or a csr_array; scipy.sparse has no types.
Matrix: TypeAlias = Any
#: Up to this size LAPACK's dense solver is used, which is exact and takes 0.3 s at most.
_DENSE = 1500
#: Basis vectors of the search space for each eigenvector wanted. With 3.2 the last eigenvectors are
#: not exact, which word vectors do not feel (Wikipedia, K = 100: with 5 the correlation with MEN is
#: the same, in 1.6 times the time; with 2 it falls by 0.013).
_SPACE = 3.2
#: A block has the wanted number of vectors divided by this. In the same test, 1 costs 0.01 to 0.03
#: of correlation, as the space then holds few powers of the matrix; 10 takes 1.6 times as long, as
#: narrow blocks make poor use of each pass over the matrix.
_BLOCK = 5
#: Rows of a dense product that a thread takes at a time. Sums over rows are added part by part, so
#: that this number, and not that of threads, decides their last bits.
_ROWS = 8192
#: Parts of a sparse product: enough that threads finish together, up to a dozen of them.
_SPARSE_PARTS = 32
#: Directions below this multiple of the precision are rounding.
_ROUNDING = 100


def largest_eigenpairs(
    matrix: Matrix, count: int, rng: np.random.Generator, n_jobs: int = 1
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Return the algebraically largest eigenvalues, decreasing, and their eigenvectors.

    Small matrices go to LAPACK. For large ones a block Krylov space is built: the matrix multiplies
    a block of vectors, the result is made orthogonal to all blocks before and is the next block,
    and so on. The answer is the best approximation within the space that the blocks span. The same
    generator gives the same result, whatever `n_jobs`.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (n, n), symmetric
    count : int
    rng : numpy Generator
        Draws the first block.
    n_jobs : int, default=1

    Returns
    -------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n, count), of the matrix's precision
    """
    n = matrix.shape[0]
    count = min(count, n)
    with one_blas_thread():
        if n <= max(_DENSE, 4 * count):
            dense = matrix.toarray() if sp.issparse(matrix) else matrix
            values, vectors = la.eigh(
                np.asarray(dense, dtype=np.float64), subset_by_index=[n - count, n - 1]
            )
            return values[::-1], vectors[:, ::-1].astype(dense.dtype)
        with ThreadPoolExecutor(n_jobs) as pool:
            return _krylov(matrix, count, rng, pool)


def _krylov(
    matrix: Matrix, count: int, rng: np.random.Generator, pool: ThreadPoolExecutor
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Search a block Krylov space; see `largest_eigenpairs`."""
    n, width = matrix.shape[0], -(-count // _BLOCK)
    basis = np.empty((n, 0), dtype=matrix.dtype)
    images = np.empty((n, 0), dtype=matrix.dtype)
    block = _orthonormal(rng.normal(size=(n, width)).astype(matrix.dtype), pool)
    while True:
        image = product(matrix, block, pool)
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        if basis.shape[1] >= _SPACE * count:
            break
        longest = float(np.sqrt(row_squares(image.T).max()))
        # Twice: once leaves rounding of the size of what was subtracted.
        for _ in range(2):
            image -= _times(basis, _inner(basis, image, pool), pool)
        block = _orthonormal(image, pool, longest)
        if not block.shape[1]:  # the space is invariant: nothing is left to find
            break
    small = _inner(basis, images, pool).astype(np.float64)
    values, turns = la.eigh((small + small.T) / 2)
    chosen = np.argsort(-values)[:count]
    return values[chosen], _times(basis, turns[:, chosen].astype(matrix.dtype), pool)


def product(matrix: Matrix, block: npt.NDArray[Any], pool: ThreadPoolExecutor) -> Any:
    """Return matrix @ block, rows shared among threads.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (n, m)
    block : ndarray of shape (m, k)
    pool : ThreadPoolExecutor

    Returns
    -------
    ndarray of shape (n, k)
    """
    block = np.ascontiguousarray(block, dtype=matrix.dtype)
    if not sp.issparse(matrix):
        return _times(matrix, block, pool)
    announce(_sparse_times, "the sparse product")
    result = np.empty((matrix.shape[0], block.shape[1]), dtype=matrix.dtype)

    def work(part: slice) -> None:
        pointers = matrix.indptr[part.start : part.stop + 1]
        _sparse_times(matrix.data, matrix.indices, pointers, block, result[part])

    _each(pool, work, _even(matrix.indptr))
    return result


@njit(**(COMPILED | {"fastmath": True}))
def _sparse_times(
    data: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    pointers: npt.NDArray[Any],
    block: npt.NDArray[Any],
    result: npt.NDArray[Any],
) -> None:
    """Write some rows of a CSR matrix times a block.

    A row of the result stays in the cache while the rows of the block stream through.
    """
    for i in range(len(result)):
        row = result[i]
        row[:] = 0
        for k in range(pointers[i], pointers[i + 1]):
            value, source = data[k], block[columns[k]]
            for c in range(len(row)):
                row[c] += value * source[c]


def _even(pointers: npt.NDArray[Any]) -> list[slice]:
    """Cut rows so that all parts have about the same number of entries."""
    cuts = np.searchsorted(pointers, np.linspace(0, pointers[-1], _SPARSE_PARTS + 1))
    edges = np.unique(np.concatenate([[0], cuts, [len(pointers) - 1]]).clip(0, len(pointers) - 1))
    return [slice(a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]


def _orthonormal(
    block: npt.NDArray[Any], pool: ThreadPoolExecutor, length_before: float = 0.0
) -> npt.NDArray[Any]:
    """Return an orthonormal basis of the columns' span, without what is only rounding.

    Through the Gram matrix, twice: four times cheaper than QR of a tall matrix, and as exact.
    `length_before` is the length that columns had before something was subtracted from them: what
    is left of them cannot be more exact than that length was.
    """
    rounding = _ROUNDING * float(np.finfo(block.dtype).eps)
    for _ in range(2):
        values, turns = la.eigh(_inner(block, block, pool).astype(np.float64))
        kept = values > max(values[-1] * rounding, (length_before * rounding) ** 2)
        kept &= values > 0
        block = _times(block, (turns[:, kept] / np.sqrt(values[kept])).astype(block.dtype), pool)
        length_before = 0.0
        if not block.shape[1]:
            break
    return block


def _inner(left: npt.NDArray[Any], right: npt.NDArray[Any], pool: ThreadPoolExecutor) -> Any:
    """Return leftᵀ·right: rows in parts of a fixed size, added in a fixed order."""
    return sum(pool.map(lambda part: left[part].T @ right[part], parts(len(left), _ROWS)))


def _times(left: npt.NDArray[Any], right: npt.NDArray[Any], pool: ThreadPoolExecutor) -> Any:
    """Return left·right, rows shared among threads."""
    result = np.empty((len(left), right.shape[1]), dtype=left.dtype)
    _each(
        pool,
        lambda part: np.matmul(left[part], right, out=result[part]),
        parts(len(left), _ROWS),
    )
    return result


def _each(pool: ThreadPoolExecutor, work: Callable[[slice], Any], tasks: Iterable[slice]) -> None:
    """Run all tasks, and raise what they raise."""
    for _ in pool.map(work, tasks):
        pass
