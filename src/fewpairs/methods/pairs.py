"""Which single pairs are worth an evaluation: importance-drawn ones, and close neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray, SingleArray
from fewpairs.factored.products import factored_entries

#: Shares of: any pair, far from the typical value, alike in their columns.
MIXTURE = (0.3, 0.35, 0.35)
_POOL = 60_000


def profiles(columns: FloatArray, rows: IntArray) -> SingleArray:
    """Return unit vectors that tell items apart by their columns: centred, softly whitened.

    With Y = UΣVᵀ the centred columns of the items `rows`, rows of UΣ/√(Σ² + 10⁻³·mean Σ²), scaled
    to length one, in single precision. The columns are read in blocks.
    """
    width = columns.shape[1]
    gram, total = np.zeros((width, width)), np.zeros(width)
    for part in parts(len(rows)):
        block = columns[rows[part]]
        gram += block.T @ block
        total += block.sum(axis=0)
    centre = total / max(1, len(rows))
    gram -= len(rows) * np.outer(centre, centre)
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    values = np.maximum(values, 0)
    soft = np.sqrt(values + 1e-3 * values.mean())
    whitening = np.divide(vectors, soft, out=np.zeros_like(vectors), where=soft > 0)
    result = np.empty((len(rows), width), dtype=np.float32)
    for part in parts(len(rows)):
        block = (columns[rows[part]] - centre) @ whitening
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        result[part] = block / np.maximum(lengths, np.finfo(float).tiny)[:, None]
    return result


def parts(length: int, step: int = 4096) -> Iterator[slice]:
    """Cut a tall array into slices of rows."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Pairs drawn with unequal probabilities; weights are inverse probabilities, mean about 1."""

    rows: IntArray
    columns: IntArray
    weights: FloatArray


def random_pairs(
    rows: IntArray,
    columns: IntArray,
    count: int,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    square: bool = True,
) -> tuple[IntArray, IntArray]:
    """Return up to `count` different random places (not items), off a square's diagonal."""
    n, m = len(rows), len(columns)
    if n * m <= 4 * count:
        a, b = np.divmod(np.arange(n * m), m)
        usable = _usable(rows[a], columns[b], symmetric=symmetric, square=square)
        chosen = rng.permutation(np.flatnonzero(usable))[:count]
        return a[chosen], b[chosen]
    a, b = rng.integers(0, n, 2 * count + 200), rng.integers(0, m, 2 * count + 200)
    usable = _usable(rows[a], columns[b], symmetric=symmetric, square=square)
    keys = np.unique(a[usable] * m + b[usable])
    keys = rng.permutation(keys)[:count]
    return keys // m, keys % m


def _usable(i: IntArray, j: IntArray, *, symmetric: bool, square: bool) -> npt.NDArray[np.bool_]:
    if not square:
        return np.ones(len(i), dtype=bool)
    return np.asarray(i < j if symmetric else i != j)


def draw(
    rows: IntArray,
    columns: IntArray,
    count: int,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    square: bool = True,
    known: IntArray,
    width: int,
    scores: Scores | None,
) -> Drawn:
    """Draw `count` different unknown pairs, those that may matter more often.

    Parameters
    ----------
    rows, columns : ndarray
        Items to draw from.
    count : int
    rng : numpy.random.Generator
    symmetric : bool
    square : bool, default=True
        Whether rows and columns are the same items.
    known : ndarray
        Keys ``row · width + column`` that are out of the question.
    width : int
    scores : Scores or None
        What is believed of pairs; None draws uniformly.

    Returns
    -------
    Drawn
    """
    pool = int(max(min(max(30 * count, 5000), _POOL), 2 * count))
    a, b = random_pairs(rows, columns, pool, rng, symmetric=symmetric, square=square)
    fresh = ~np.isin(rows[a] * width + columns[b], known)
    a, b = a[fresh], b[fresh]
    count = min(count, len(a))
    if count == 0:
        nothing = np.empty(0, dtype=np.int64)
        return Drawn(nothing, nothing, np.empty(0))
    importance = np.ones(len(a)) if scores is None else scores.importance(a, b)
    chances = inclusion(importance, count)
    taken = systematic(chances, rng)
    return Drawn(rows[a[taken]], columns[b[taken]], count / len(a) / chances[taken])


@dataclass(frozen=True, eq=False)
class Scores:
    """What is believed of pairs before they are evaluated.

    Parameters
    ----------
    left, core, right : ndarray
        Factors of the present result.
    rows, columns : ndarray
        The items that are drawn from.
    row_profiles, column_profiles : ndarray or None
        Their unit vectors, whose products say how alike two items are; None where rows and
        columns are different things.
    lowest, highest : float
        Range of the evaluated similarities; beliefs outside it are cut.
    """

    left: FloatArray
    core: FloatArray
    right: FloatArray
    rows: IntArray
    columns: IntArray
    row_profiles: SingleArray | None
    column_profiles: SingleArray | None
    lowest: float
    highest: float

    def importance(self, a: IntArray, b: IntArray) -> FloatArray:
        """Mix: every pair a little, unusual values more, look-alikes more.

        Parameters
        ----------
        a, b : ndarray
            Places in `rows` and in `columns`.

        Returns
        -------
        ndarray
        """
        i, j = self.rows[a], self.columns[b]
        believed = factored_entries(self.left, self.core, self.right, i, j)
        believed = np.clip(believed, self.lowest, self.highest)
        unusual = np.abs(believed - np.median(believed))
        close = np.maximum(self._alike(a, b), 0) ** 2
        always, by_value, by_profile = MIXTURE
        mixed = always + by_value * _relative(unusual) + by_profile * _relative(close)
        return np.asarray(mixed)

    def _alike(self, a: IntArray, b: IntArray) -> FloatArray:
        alike = np.zeros(len(a))
        if self.row_profiles is not None and self.column_profiles is not None:
            for part in parts(len(a)):
                alike[part] = np.einsum(
                    "kp,kp->k", self.row_profiles[a[part]], self.column_profiles[b[part]]
                )
        return alike


def _relative(values: FloatArray) -> FloatArray:
    mean = float(values.mean())
    return np.asarray(values / mean if mean > 0 else np.ones_like(values))


def inclusion(importance: FloatArray, count: int) -> FloatArray:
    """Return inclusion probabilities proportional to importance, at most 1, summing to count."""
    chances = np.asarray(np.minimum(1, count * importance / importance.sum()))
    for _ in range(5):
        free = chances < 1
        left = count - int((~free).sum())
        if left <= 0 or not free.any():
            break
        chances[free] = np.minimum(1, left * importance[free] / importance[free].sum())
    return chances


def systematic(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw without replacement by systematic sampling in random order."""
    order = rng.permutation(len(chances))
    steps = np.floor(np.cumsum(chances[order]) + rng.random()).astype(np.int64)
    return np.asarray(order[np.diff(steps, prepend=0) > 0])
