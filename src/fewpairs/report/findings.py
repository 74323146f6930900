"""What a matrix shows, in sentences: its signs, its symmetry, its near-duplicates."""

from __future__ import annotations

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.spectrum import Spectrum
from fewpairs.tasks.maps.neighbors import Neighbors
from fewpairs.tasks.maps.places import is_one_set

#: Near-duplicates have at least this share of the smaller of their self-similarities.
_DUPLICATE = 0.95
#: Eigenvalues whose squares are this share of all.
_MOST = 0.9
#: Items whose square shows how far both orders differ.
_ORDERS = 300
#: Below these shares of the mass, or of the norm, nothing is said to be there.
_NO_NEGATIVE, _NO_DIFFERENCE = 1e-6, 1e-8


def findings_of(matrix: FactoredMatrix, spectrum: Spectrum, near: Neighbors) -> list[str]:
    """Say what a matrix is like; nothing is evaluated."""
    told = [_signs(spectrum), _rank(spectrum), _orders(matrix), _range(matrix)]
    if is_one_set(matrix):
        told.append(_duplicates(matrix, near))
    if len(matrix.skipped):
        told.append(
            f"{len(matrix.skipped):,} pairs were asked for and have no value; their entries are "
            "predictions, and the stated error is that of all others."
        )
    if matrix.error is not None and matrix.error.high > 0:
        told.append(
            "The error is that of the whole matrix. Its few largest entries, the nearest of each "
            "item, may be further off: K.check() reads some rows whole and says how far."
        )
    return [sentence for sentence in told if sentence]


def _signs(spectrum: Spectrum) -> str:
    if not spectrum.signed:
        return ""
    share = spectrum.negative_share
    if share < _NO_NEGATIVE:
        return "The spectrum has no negative part: the similarity acts like a kernel."
    return (
        f"The similarity is indefinite: {share:.1%} of the spectrum's mass is negative. Methods "
        "that take it for a kernel lose that part."
    )


def _rank(spectrum: Spectrum) -> str:
    squares = spectrum.values**2
    total = float(squares.sum())
    if not total:
        return ""
    count = int(np.searchsorted(np.cumsum(squares), _MOST * total)) + 1
    direction = "direction holds" if count == 1 else "directions hold"
    return f"{count:,} {direction} {_MOST:.0%} of the squared mass of the factored part."


def _orders(matrix: FactoredMatrix) -> str:
    if not is_one_set(matrix):
        return "Rows and columns are two sets of items."
    if matrix.source.symmetric and matrix.symmetric:
        return "Both orders of a pair are the same: the similarity is declared symmetric."
    some = np.linspace(0, len(matrix) - 1, min(_ORDERS, len(matrix))).astype(np.int64)
    square = matrix.entries(some[:, None], some[None])
    norm = float(np.linalg.norm(square))
    share = float(np.linalg.norm(square - square.T)) / norm if norm else 0.0
    if share < _NO_DIFFERENCE:
        return f"Both orders of a pair are the same, among {len(some):,} items."
    return (
        f"The similarity is asymmetric: both orders of a pair differ by {share:.1%} of the norm, "
        f"among {len(some):,} items."
    )


def _range(matrix: FactoredMatrix) -> str:
    values = evaluated(matrix)
    if not len(values):
        return ""
    low, middle, high = np.quantile(values, [0, 0.5, 1])
    return (
        f"Evaluated similarities lie between {low:.4g} and {high:.4g}; half of them are below "
        f"{middle:.4g}."
    )


def evaluated(matrix: FactoredMatrix) -> FloatArray:
    """Return evaluated similarities of two different items, in the order of the lines."""
    known = matrix.known
    everyone = np.arange(len(matrix))
    there = np.ones(known.columns.values.shape, dtype=bool)
    if is_one_set(matrix):
        there = everyone[:, None] != known.columns.index[None]
    rows, columns = known.places_of(known.keys)
    apart = rows != columns if is_one_set(matrix) else np.ones(len(rows), dtype=bool)
    return np.concatenate([known.columns.values[there], known.values[apart]])


def _duplicates(matrix: FactoredMatrix, near: Neighbors) -> str:
    everyone = np.arange(len(near.places))
    if not near.places.size:
        return ""
    own = matrix.entries(everyone, everyone) if len(everyone) == len(matrix) else None
    if own is None or not (own > 0).all():
        return ""
    alike = near.scores >= _DUPLICATE * np.minimum(own[:, None], own[near.places])
    pairs = _once(np.broadcast_to(everyone[:, None], alike.shape)[alike], near.places[alike])
    if not len(pairs):
        return f"No two items are near-duplicates (at least {_DUPLICATE:.0%} of self-similarity)."
    sure = alike & ~np.isnan(near.exact)
    exact = _once(np.broadcast_to(everyone[:, None], alike.shape)[sure], near.places[sure])
    verb = "pair of items is a near-duplicate" if len(pairs) == 1 else "pairs are near-duplicates"
    return (
        f"{len(pairs):,} {verb} (at least {_DUPLICATE:.0%} of self-similarity); {len(exact):,} of "
        "them were evaluated, the others are predicted."
    )


def _once(left: IntArray, right: IntArray) -> IntArray:
    """Return one number for each pair, whatever its order."""
    size = max(int(left.max(initial=0)), int(right.max(initial=0))) + 1
    return np.unique(np.minimum(left, right) * size + np.maximum(left, right))
