"""Matrices made from a factored matrix: what changes, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import unmasked
from fewpairs.errors import InputError
from fewpairs.factored.source import Source
from fewpairs.factored.squares import Squares
from fewpairs.oracle.known import Known, Lines

if TYPE_CHECKING:
    from fewpairs.factored.matrix import FactoredMatrix


def scaled(matrix: FactoredMatrix, rows: npt.ArrayLike, columns: npt.ArrayLike) -> dict[str, Any]:
    """Return the parts of diag(rows)·K·diag(columns)."""
    r = np.asarray(unmasked(rows, "rows"), dtype=np.float64)
    c = r if columns is rows else np.asarray(unmasked(columns, "columns"), dtype=np.float64)
    if (len(r), len(c)) != matrix.shape:
        raise InputError(
            f"{len(r)} and {len(c)} factors for the shape {matrix.shape}.",
            "There is one for each row and each column.",
            "Pass arrays of those lengths.",
        )
    left = r[:, None] * matrix.left
    same = matrix.right is matrix.left and c is r
    right = None if same else c[:, None] * matrix.right
    known = None if matrix.known.empty else matrix.known.scaled(r, c)
    return {
        "left": left,
        "core": matrix.core,
        "right": right,
        "squares": [part.scaled(r, c) for part in matrix.squares],
        "known": known,
        "source": Source(ids=matrix.source.ids),
        "error": None,
        "method": f"{matrix.method}, scaled",
    }


def in_own_numbers(matrix: FactoredMatrix, power: int, known: Known) -> dict[str, Any]:
    """Return the parts of K, of a matrix made for 2^power·K.

    Each tall factor takes half of an even power, and the core, an inverse, none: so nothing over-
    or underflows on the way to an entry. What is known is not computed, but taken as it was.
    """
    half = power // 2
    left = np.ldexp(matrix.left, -half)
    return {
        "left": left,
        "core": matrix.core,
        "right": None if matrix.right is matrix.left else np.ldexp(matrix.right, -half),
        "squares": [part.times(float(np.ldexp(1.0, -2 * half))) for part in matrix.squares],
        "known": known,
        "source": replace(matrix.source, power=half),
        "nugget": float(np.ldexp(matrix.nugget, -half)),
    }


def symmetrized(matrix: FactoredMatrix) -> dict[str, Any]:
    """Return the parts of (K + Kᵀ) / 2.

    Whatever overrides the factors in one order overrides the mean of both.
    """
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"a matrix of shape {matrix.shape} cannot be symmetrized.",
            "It compares two different sets of items.",
            "Use K and K.T as they are.",
        )
    zero_left = np.zeros((matrix.core.shape[0],) * 2)
    zero_right = np.zeros((matrix.core.shape[1],) * 2)
    core = np.block([[zero_left, matrix.core / 2], [matrix.core.T / 2, zero_right]])
    n = matrix.shape[0]
    lines = np.union1d(matrix.known.columns.index, matrix.known.rows.index)
    mean = (matrix[:, lines] + matrix[lines].T) / 2 if len(lines) else np.empty((n, 0))
    held = Lines.of(lines, mean, n)
    known = Known(held, held)
    i, j, _ = matrix.known.outside_lines()
    if len(i):
        values = (matrix.entries(i, j) + matrix.entries(j, i)) / 2
        known = known.with_entries(i, j, values)
    return {
        "left": np.hstack([matrix.left, matrix.right]),
        "core": core,
        "right": None,
        "squares": _symmetrized(matrix.squares),
        "nugget": 0.0 if matrix.source.guide is not None else matrix.nugget,
        "known": known,
        "source": matrix.source.symmetrized(),
        "error": None,  # what was stated is relative to another matrix
    }


def _symmetrized(squares: Sequence[Squares]) -> list[Squares]:
    parts: list[Squares] = []
    for part in squares:
        parts += [part] if part.symmetric else [part.times(0.5), part.T.times(0.5)]
    return parts
