"""Drawing pairs that were not evaluated, those that may matter more often than others.

Both the tuning of the default method and the stated error rest on such draws. Each pair comes with
the inverse of its probability, so that weighted means are those of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.numerics import parts

#: With fewer columns, similar columns say little about similar items.
FEWEST_COLUMNS = 10
#: Shares of a pair's importance: a constant one, one that grows with the distance of its value from
#: the median, one with the similarity of its items' profiles. The first keeps every probability
#: well above zero, which bounds the weights by 1/0.3; the others share the rest, because either
#: alone misses what the other finds (docs/fitted.md).
MIXTURE = (0.3, 0.35, 0.35)
#: Random pairs that a draw chooses from: 30 for each, so that the rare important ones are among
#: them, but no more than are predicted in about a tenth of a second.
_POOL_FOR_EACH, _SMALLEST_POOL, _LARGEST_POOL = 30, 5000, 60_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """Pairs drawn with unequal probabilities; weights are inverse probabilities, mean about 1."""

    rows: IntArray
    columns: IntArray
    weights: FloatArray

    def only(self, chosen: BoolArray) -> Drawn:
        """Return some of the pairs."""
        if chosen.all():
            return self
        return Drawn(self.rows[chosen], self.columns[chosen], self.weights[chosen])


def random_pairs(
    rows: IntArray,
    columns: IntArray,
    count: int,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    square: bool = True,
) -> tuple[IntArray, IntArray]:
    """Return up to `count` different random pairs, as places in `rows` and in `columns`.

    Of a square the diagonal is left out; of a symmetric one each pair comes with i < j.
    """
    n, m = len(rows), len(columns)
    if n * m <= 4 * count:  # a share so large that drawing by chance would repeat itself
        a, b = np.divmod(np.arange(n * m), m)
        usable = _usable(rows[a], columns[b], symmetric=symmetric, square=square)
        chosen = rng.permutation(np.flatnonzero(usable))[:count]
        return a[chosen], b[chosen]
    # Half of the draws have i < j; 200 more make up for repetitions where there are few.
    a, b = rng.integers(0, n, 2 * count + 200), rng.integers(0, m, 2 * count + 200)
    usable = _usable(rows[a], columns[b], symmetric=symmetric, square=square)
    keys = np.unique(a[usable] * m + b[usable])
    keys = rng.permutation(keys)[:count]
    return keys // m, keys % m


def _usable(i: IntArray, j: IntArray, *, symmetric: bool, square: bool) -> BoolArray:
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
    excluded: IntArray,
    width: int,
    beliefs: Beliefs | None,
) -> Drawn:
    """Draw `count` different pairs, those that may matter more often.

    Parameters
    ----------
    rows, columns : ndarray
        Items to draw from.
    count : int
    rng : numpy.random.Generator
    symmetric : bool
    square : bool, default=True
        Whether rows and columns are the same items.
    excluded : ndarray
        Keys ``row · width + column`` of pairs that are not drawn, because they are known.
    width : int
        Number of columns of the matrix.
    beliefs : Beliefs or None
        What is believed of pairs; None draws uniformly.

    Returns
    -------
    Drawn
    """
    pool = int(np.clip(_POOL_FOR_EACH * count, _SMALLEST_POOL, _LARGEST_POOL))
    pool = max(pool, 2 * count)
    a, b = random_pairs(rows, columns, pool, rng, symmetric=symmetric, square=square)
    fresh = ~np.isin(rows[a] * width + columns[b], excluded)
    a, b = a[fresh], b[fresh]
    count = min(count, len(a))
    if count == 0:
        nothing = np.empty(0, dtype=np.int64)
        return Drawn(nothing, nothing, np.empty(0))
    importance = np.ones(len(a)) if beliefs is None else beliefs.importance(a, b)
    chances = inclusion(importance, count)
    taken = systematic(chances, rng)
    return Drawn(rows[a[taken]], columns[b[taken]], count / len(a) / chances[taken])


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of pairs before they are evaluated.

    Parameters
    ----------
    predict : callable
        Rows and columns of entries to what the present result says of them.
    rows, columns : ndarray
        The items that are drawn from.
    row_profiles, column_profiles : ndarray or None
        Their unit vectors, whose products say how alike two items are; None where rows and
        columns are different things.
    lowest, highest : float
        Range of the evaluated similarities; beliefs outside it are cut.
    """

    predict: Callable[[IntArray, IntArray], FloatArray]
    rows: IntArray
    columns: IntArray
    row_profiles: SingleArray | None
    column_profiles: SingleArray | None
    lowest: float
    highest: float

    def importance(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return 0.3 + 0.35·|K̃ − median|/mean + 0.35·max(zᵢ·zⱼ, 0)²/mean, z the profiles.

        Parameters
        ----------
        a, b : ndarray
            Places in `rows` and in `columns`.

        Returns
        -------
        ndarray
        """
        i, j = self.rows[a], self.columns[b]
        believed = np.clip(self.predict(i, j), self.lowest, self.highest)
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
    """Return inclusion probabilities proportional to importance, at most 1, summing to count.

    Pairs that would get more than 1 get 1, and what is left over goes to the others in proportion;
    that may push further ones above 1, hence the rounds. After five the sum is off by less than
    one pair in practice, and weights are inverse to whatever the probabilities are.
    """
    chances = np.asarray(np.minimum(1, count * importance / importance.sum()))
    for _ in range(5):
        free = chances < 1
        left = count - int((~free).sum())
        if left <= 0 or not free.any():
            break
        chances[free] = np.minimum(1, left * importance[free] / importance[free].sum())
    return chances


def systematic(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw without replacement by systematic sampling in random order.

    The probabilities are laid end to end on a line, in random order, and a comb with teeth one
    apart is laid on it at a random place: each pair is hit with exactly its own probability.
    """
    order = rng.permutation(len(chances))
    steps = np.floor(np.cumsum(chances[order]) + rng.random()).astype(np.int64)
    return np.asarray(order[np.diff(steps, prepend=0) > 0])
