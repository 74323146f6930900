"""The core of a weighted sum of predictors: Γ such that [l, x, 1]·Γ·[r, y, 1]ᵀ is that sum.

An item as a kernel sees it is k = T·[l, x, 1]ᵀ with T = [W/scale, β·x_S, 1] of the landmarks, and
the predictors are l·P·k + k·Q·r − k·R·k. Kernels of one nugget differ in β alone, so that sums of
P, Q and R over kernels, weighted by powers of β, meet the wide T once and not once for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.methods.fitted.predictors import Kernel, Predictors


class Weighed(NamedTuple):
    """A kernel's predictors, β of each guide in it, and what each predictor counts."""

    predictors: Predictors
    betas: tuple[float, ...]
    weights: FloatArray


def core_of(
    some: list[Weighed],
    crossing: FloatArray,
    x_marks: FloatArray,
    y_marks: FloatArray,
    slices: list[slice],
) -> FloatArray:
    """Return Γ.

    Parameters
    ----------
    some : list of Weighed
    crossing : ndarray of shape (s, s)
        Of the residual lines.
    x_marks, y_marks : ndarray of shape (s, d)
        Guides' vectors of the rows' landmarks and of the columns' landmarks.
    slices : list of slice
        Which coordinates belong to each guide.

    Returns
    -------
    ndarray of shape (s + d + 1, s + d + 1)
    """
    s = len(crossing)
    size = s + x_marks.shape[1] + 1
    places = [slice(0, s), *(slice(s + m.start, s + m.stop) for m in slices), slice(size - 1, size)]
    total = np.zeros((size, size))
    for nugget in dict.fromkeys(one.predictors.nugget for one in some):
        alike = [one for one in some if one.predictors.nugget == nugget]
        rows = _parts(alike[0].predictors.left, x_marks, slices)
        columns = _parts(alike[0].predictors.right, y_marks, slices)
        made = [one.predictors.between(one.weights, crossing) for one in alike]
        powers = [(1.0, *one.betas, 1.0) for one in alike]
        for a, down in enumerate(places):
            of_a = [power[a] for power in powers]
            total[:s, down] += _sum(of_a, [p for p, _, _ in made]) @ columns[a].T
            total[down, :s] += rows[a] @ _sum(of_a, [q for _, q, _ in made])
            for b, across in enumerate(places):
                of_both = [w * power[b] for w, power in zip(of_a, powers, strict=True)]
                middle = _sum(of_both, [r for _, _, r in made])
                total[down, across] -= rows[a] @ middle @ columns[b].T
    return total


def _parts(kernel: Kernel, marks: FloatArray, slices: list[slice]) -> list[FloatArray]:
    """Return T by its parts: of lines, of each guide's vectors, of 1."""
    vectors = [marks[:, mine].T for mine in slices]
    return [kernel.lines.to_lines.T, *vectors, np.ones((1, len(marks)))]


def _sum(weights: list[float], parts: list[FloatArray]) -> FloatArray:
    return np.asarray(sum(w * part for w, part in zip(weights, parts, strict=True)))
