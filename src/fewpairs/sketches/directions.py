"""Leading directions: a few features that do nearly what many terms do."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from fewpairs.arrays import FloatArray
from fewpairs.numerics import fix_signs
from fewpairs.sketches.feature_map import FeatureMap, Terms
from fewpairs.sketches.polynomial import Polynomial
from fewpairs.sketches.sampling import Sampler

#: Directions are found on at least this many rows, and on this many for each term. With 1,000 rows
#: the errors of benchmarks/sketches/elementwise.py are 6 % larger; with fewer rows than terms,
#: directions would fit the sample alone.
_FEWEST_ROWS, _ROWS_PER_TERM = 2000, 2
#: Directions shorter than this share of the longest are rounding: anything from 1e-8 to 1e-15 gives
#: the same errors.
_ROUNDING = 1e-13


def leading_directions(
    polynomial: Polynomial,
    terms: Terms,
    coefficients: FloatArray,
    sampler: Sampler,
    columns: int,
    rng: np.random.Generator,
) -> FeatureMap:
    """Keep the leading directions of the matrix that all terms together stand for.

    Let A and B be the terms of a sample of rows of both sides, and c their coefficients: the matrix
    is A·diag(c)·Bᵀ. With A = Q·R, B = P·S, and orthonormal Q and P, its leading singular vectors
    (eigenvectors where A = B) are those of the small matrix R·diag(c)·Sᵀ, times Q and P.

    Parameters
    ----------
    polynomial : Polynomial
        That goes with the map.
    terms : Terms
    coefficients : ndarray
        One for each block of terms.
    sampler : Sampler
        Of the matrix, for a sample of its rows.
    columns : int
        How many directions are kept.
    rng : numpy Generator

    Returns
    -------
    FeatureMap
    """
    roots, backs = [], []
    wanted = max(_FEWEST_ROWS, _ROWS_PER_TERM * sum(terms.widths))
    for k in range(1 if sampler.symmetric else 2):
        chosen, weights = sampler.sample_rows(k, wanted, rng)
        scales = sampler.scaling[k][chosen] * np.sqrt(weights)
        sample = terms(sampler.sides[k][chosen]).astype(np.float64) * scales[:, None]
        _, lengths, directions = la.svd(sample, full_matrices=False)
        kept = lengths > _ROUNDING * max(lengths[0], 1e-300)
        roots.append(lengths[kept, None] * directions[kept])
        backs.append(directions[kept].T / lengths[kept])
    middle = (roots[0] * np.repeat(coefficients, terms.widths)) @ roots[-1].T
    if sampler.symmetric:
        values, vectors = la.eigh(middle)
        order = np.argsort(-np.abs(values), kind="stable")[:columns]
        scales = np.sqrt(np.abs(values[order]))
        left = right = fix_signs(backs[0] @ vectors[:, order]) * scales
        signs = np.where(values[order] < 0, -1.0, 1.0)
    else:
        u, values, v = la.svd(middle, full_matrices=False)
        scales = np.sqrt(values[:columns])
        left = backs[0] @ (u[:, :columns] * scales)
        right = backs[1] @ (v[:columns].T * scales)
        signs = np.ones(len(scales))
    return FeatureMap(polynomial, terms, left, right, signs)
