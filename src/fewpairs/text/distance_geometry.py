"""Points from inner products: PMI-eigs, Geometric Build-up, Divide and Conquer.

Given a symmetric matrix G, find points in K dimensions whose inner products it holds. All three are
exact, up to a rotation, where there are such points; where there are none, they differ in how much
of G they look at.

References
----------
Khalife, Gonçalves, Liberti, *Distance geometry for word representations and applications*:
equation 8, Algorithms 1 and 2.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as la
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.errors import FewerDimensionsWarning, InputError, warn
from fewpairs.parallel import one_blas_thread
from fewpairs.text.spectral import Matrix, largest_eigenpairs, product

#: Eigenvalues below this share of the largest one are taken as zero: dividing by them would turn
#: rounding into coordinates. It is a hundred to some thousand times the precision of the type.
NO_EXTENT = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
#: Sizes of the first block and of the others in the paper (Tables 5 to 7).
FIRST_BLOCK, OTHER_BLOCKS = 20_000, 800


def from_eigenpairs(
    gram: Matrix, dimensions: int, rng: np.random.Generator, n_jobs: int = 1
) -> npt.NDArray[Any]:
    """Return U·√Λ of the top eigenpairs, without negative ones: the best fit to all of G.

    Parameters
    ----------
    gram : ndarray or csr_array of shape (n, n), symmetric
    dimensions : int
    rng : numpy Generator
    n_jobs : int, default=1

    Returns
    -------
    ndarray of shape (n, dimensions)
        Dimensions without a positive eigenvalue are zero.
    """
    values, vectors = largest_eigenpairs(gram, dimensions, rng, n_jobs)
    extent = _extents(values, vectors.dtype)
    return _widened(vectors * np.sqrt(extent).astype(vectors.dtype), dimensions)


class BuildUp:
    """Geometric Build-up: place m references by eigenpairs, then every other point among them.

    Eigenpairs place the references at the rows of A = U·√Λ. Another point v has known inner
    products b with them, and is the least-squares solution of A·v = b, which is v = √Λ⁻¹·Uᵀ·b.
    So all other points are one product.

    Parameters
    ----------
    gram : ndarray or csr_array of shape (m, m)
        Between references.
    dimensions : int
    rng : numpy Generator
    n_jobs : int, default=1

    Attributes
    ----------
    references : ndarray of shape (m, dimensions)
        Their points.
    """

    def __init__(
        self, gram: Matrix, dimensions: int, rng: np.random.Generator, n_jobs: int = 1
    ) -> None:
        values, vectors = largest_eigenpairs(gram, dimensions, rng, n_jobs)
        extent = _extents(values, vectors.dtype)
        root = np.sqrt(extent)
        inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        self._n_jobs = n_jobs
        self._solver = _widened(vectors * inverse.astype(vectors.dtype), dimensions)
        self.references = _widened(vectors * root.astype(vectors.dtype), dimensions)

    def place(self, gram: Matrix) -> npt.NDArray[Any]:
        """Return the points of others.

        Parameters
        ----------
        gram : ndarray or csr_array of shape (n, m)
            Inner products with the references.

        Returns
        -------
        ndarray of shape (n, dimensions)
        """
        with ThreadPoolExecutor(self._n_jobs) as pool:
            return np.asarray(product(gram, self._solver, pool))


def divide_and_conquer(
    gram: Matrix,
    dimensions: int,
    rng: np.random.Generator,
    n_jobs: int = 1,
    *,
    first: int = FIRST_BLOCK,
    others: int = OTHER_BLOCKS,
) -> npt.NDArray[Any]:
    """Solve overlapping diagonal blocks, and rotate and shift each onto the one before.

    Neighbouring blocks share K + 1 points, which fix a rotation and a shift (Procrustes). These
    are the last K + 1 points placed: the paper's index set ℓ − K … ℓ, with ℓ the last of them.

    Parameters
    ----------
    gram : ndarray or csr_array of shape (n, n), symmetric
    dimensions : int
    rng : numpy Generator
    n_jobs : int, default=1
    first, others : int
        Sizes of the first block and of the later ones.

    Returns
    -------
    ndarray of shape (n, dimensions)
    """
    n, shared = gram.shape[0], dimensions + 1
    if others <= shared and first < n:
        raise InputError(
            f"blocks of {others} points share {shared} with the one before.",
            "Nothing new would be placed.",
            f"Pass blocks of more than {shared} points, or fewer dimensions.",
        )
    done = min(max(first, shared), n)
    points = np.zeros((n, dimensions), dtype=gram.dtype)
    points[:done] = from_eigenpairs(gram[:done, :done], dimensions, rng, n_jobs)
    blocks = _overlapping(done, n, others, shared) if done < n else []
    # One generator for each block: with a shared one, whichever thread came first would draw first.
    generators = rng.spawn(len(blocks))

    def solve(block: slice, own_rng: np.random.Generator) -> npt.NDArray[Any]:
        inner = gram[block, block]
        dense = inner.toarray() if sp.issparse(inner) else inner
        return from_eigenpairs(dense, dimensions, own_rng)

    with one_blas_thread(), ThreadPoolExecutor(n_jobs) as pool:
        for block, found in zip(blocks, pool.map(solve, blocks, generators), strict=True):
            points[block] = _aligned(found, points[block][:shared])
    return points


def _overlapping(done: int, n: int, size: int, shared: int) -> list[slice]:
    """Return the blocks after the first `done` points; each begins with `shared` old ones."""
    starts = range(done - shared, n - shared, size - shared)
    return [slice(start, min(start + size, n)) for start in starts]


def _aligned(found: npt.NDArray[Any], known: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rotate and shift points so that the first ones come as near as possible to known ones."""
    own = found[: len(known)]
    own_centre, centre = own.mean(axis=0), known.mean(axis=0)
    left, _, right = la.svd((own - own_centre).T @ (known - centre))
    return np.asarray((found - own_centre) @ (left @ right) + centre)


def _extents(values: FloatArray, dtype: npt.DTypeLike) -> FloatArray:
    """Return eigenvalues, with zero for those that are negative or rounding."""
    smallest = NO_EXTENT[np.dtype(dtype)] * max(float(values[0]), 0.0)
    return np.where(values > smallest, values, 0.0)


def _widened(points: npt.NDArray[Any], dimensions: int) -> npt.NDArray[Any]:
    """Fill up with zeros where there are fewer eigenpairs than dimensions."""
    return np.pad(points, ((0, 0), (0, dimensions - points.shape[1])))


def warn_of_missing(points: npt.NDArray[Any]) -> None:
    """Say so if some dimensions are empty."""
    used = int(np.count_nonzero(np.any(points != 0, axis=0)))
    if used < points.shape[1]:
        warn(
            FewerDimensionsWarning(
                f"the words span {used} of {points.shape[1]} dimensions; the rest are zero. "
                "More text, or fewer dimensions, would fill them."
            )
        )
