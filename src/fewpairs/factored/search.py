"""New items' neighbours from a few evaluations each: those of the most promising, round by round.

Rows of old items are known at the columns, so that two columns are alike which many rows agree
about. What is evaluated of a new row tells, by that likeness, what the rest of it may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator, is_whole
from fewpairs.error.recall import Recall
from fewpairs.errors import InputError
from fewpairs.factored.blind import Left, look_again
from fewpairs.factored.extension import NewRows, rows_of_new, squares_of_new
from fewpairs.factored.rounds import Rounds
from fewpairs.numerics import largest, parts
from fewpairs.similarities.cost import evaluations_for

if TYPE_CHECKING:
    from fewpairs.factored.answers import Answers

#: Rounds of a search, unless asked otherwise. Ten find a little more (recall@10 + 0.00 to 0.03),
#: two a little less; each waits for the one before.
ROUNDS = 5
#: λ beside the mean of the kernel's diagonal. From 0.01 to 0.1 recall@10 is the same to 0.01.
_NOISE = 0.05
#: What all columns share, squared, beside a mean squared line of 1.
_SHARED = 0.1
#: Numbers of a block of scores, and the most rows of one.
_BLOCK, _MOST_ROWS = 2**23, 256


def check_search(k: Any, budget: Any, rounds: Any) -> None:
    """Refuse what is no number of neighbours, evaluations or rounds."""
    if not all(is_whole(value) and value >= 1 for value in (k, budget, rounds)):
        raise InputError(
            f"k is {k!r}, budget is {budget!r} and rounds is {rounds!r}.",
            "They are numbers of neighbours, of evaluations of each item, and of rounds.",
            "Pass whole numbers from 1 on.",
        )


def check_blind(blind: Any) -> None:
    """Refuse what is no number of pairs."""
    if not is_whole(blind) or blind < 0:
        raise InputError(
            f"blind is {blind!r}.",
            "It is the number of pairs that are drawn to state the recall by, of all queries.",
            "Pass a whole number; 0 states nothing.",
        )


def search(
    matrix: Answers,
    queries: Any,
    k: int,
    budget: int | str,
    *,
    rounds: int = ROUNDS,
    blind: int = 0,
    random_state: RandomState = None,
    guide: Any = None,
    n_jobs: int = 1,
    progress: Any = None,
) -> tuple[IntArray, FloatArray, int, Recall | None]:
    """Find the best columns of new rows; see `FactoredMatrix.search`.

    Returns
    -------
    indices, similarities : ndarray of shape (queries, k)
        Best first; -1 and NaN where fewer than k have a value.
    evaluations : int
    recall : Recall or None
    """
    source = matrix.source
    grown = None
    check_blind(blind)
    if isinstance(budget, str):  # of all of them together
        check_search(k, 1, rounds)
        grown = source.compare(queries, most=0)
        room = in_evaluations(matrix, budget) - int(blind) * source.price_of_entry
        budget = max(room, 0) // max(len(grown.new), 1)
    else:
        check_search(k, budget, rounds)
    source.refuse_without_landmarks()
    price, width = source.price_of_entry, matrix.shape[1]
    count, k = min(int(budget) // price, width), min(int(k), width)
    if count < k:
        raise InputError(
            f"a budget of {budget:,} evaluations of each item pays for fewer than k={k} scores, "
            f"at {price} for each.",
            "Only what was evaluated can be a neighbour.",
            f"Pass a budget of at least {k * price}.",
        )
    grown = source.compare(queries, most=0) if grown is None else grown
    everything = int(budget) * len(grown.new)
    asked = Rounds(
        source, grown.new, np.arange(width), everything, n_jobs=n_jobs, progress=progress
    )
    rows = None if source.guide is None else rows_of_new(matrix, grown, guide)
    likeness = Likeness.of(matrix)
    places = np.empty((len(grown.new), k), dtype=np.int64)
    values = np.empty((len(grown.new), k))
    every = np.empty((len(grown.new), count if blind else 0), dtype=np.int64)
    for part in parts(len(grown.new), max(1, min(_MOST_ROWS, _BLOCK // max(width, 1)))):
        some = np.arange(part.start, part.stop)
        # Without a guide a new row is expected to be as the known ones are in the mean.
        prior = likeness.prior(len(some)) if rows is None else predicted(matrix, rows, part)
        nothing = Seen(np.empty((len(some), 0), dtype=np.int64), np.empty((len(some), 0)))
        found = _by_rounds(prior, likeness, count, rounds, partial(asked.evaluate, some), nothing)
        places[part], values[part] = found.best(k)
        every[part] = found.places[:, : every.shape[1]]
    recall = None
    if blind and len(grown.new):
        rng = generator(random_state)
        recall = look_again(asked, Left(every, width), (places, values), int(blind), rng)
    return places, values, asked.evaluations, recall


def in_evaluations(matrix: Answers, budget: int | str) -> int:
    """Return a budget as a number of evaluations, where it is money."""
    if not isinstance(budget, str):
        return budget
    similarity = matrix.source.similarity
    return evaluations_for(budget, None if similarity is None else similarity.cost)


def search_row(
    matrix: Answers, index: int, k: int, budget: int | str
) -> tuple[IntArray, FloatArray]:
    """Find the best columns of one of the matrix's own rows, from what is known of it already."""
    budget = in_evaluations(matrix, budget)
    check_search(k, budget, ROUNDS)
    matrix.source.refuse_without_landmarks()
    everyone = np.arange(matrix.shape[1])
    prior = matrix.predicted(np.array([index]), slice(None))
    paid = matrix.paid_in_row(index, everyone)
    if matrix.source.square:
        prior[0, index], paid[index] = -np.inf, np.nan
    known = np.flatnonzero(~np.isnan(paid))
    free = int(np.isfinite(prior).sum()) - len(known)
    count = min(int(budget) // matrix.source.price_of_entry, free)
    likeness, before = Likeness.of(matrix), Seen(known[None], paid[None, known])
    new = np.flatnonzero(np.isnan(paid) & np.isfinite(prior[0]))
    with matrix.buying(index, new, int(budget)) as evaluate:
        found = _by_rounds(prior, likeness, count, ROUNDS, evaluate, before)
    places, values = found.best(k)
    there = places[0] >= 0
    return places[0, there], values[0, there]


class Seen(NamedTuple):
    """What is known of some rows: places, and values there."""

    places: IntArray
    values: FloatArray

    def best(self, k: int) -> Seen:
        """Return the k largest of each row, best first; -1 and NaN where fewer have a value."""
        ranked = np.argsort(-self.values, axis=1, kind="stable")[:, :k]
        places = np.take_along_axis(self.places, ranked, axis=1)
        values = np.take_along_axis(self.values, ranked, axis=1)
        return Seen(np.where(np.isnan(values), -1, places), values)


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike columns are: by their lines less their means, their guides' vectors, and 1.

    Parameters
    ----------
    lines : ndarray of shape (m, s)
        A view of the right factor.
    means : ndarray of shape (m,)
        Of each column's line.
    scale : float
        Root of the mean squared length of what is left of the lines.
    vectors : ndarray of shape (m, d) or None
    unit : float
        Of the factors.
    """

    lines: FloatArray
    means: FloatArray
    scale: float
    vectors: FloatArray | None
    unit: float

    @classmethod
    def of(cls, matrix: Answers) -> Likeness:
        """Read it from the right factor."""
        source = matrix.source
        own = source.right_landmarks
        assert own is not None  # noqa: S101 - the source has looked
        lines = matrix.right[:, : len(own)]
        unit = float(np.ldexp(1.0, -source.power))
        means = lines.mean(axis=1)
        total = float(np.einsum("ij,ij->", lines, lines) - len(own) * (means @ means))
        scale = float(np.sqrt(max(total, 0.0) / len(lines)))
        vectors = None if source.guide is None else matrix.right[:, len(own) : -1]
        return cls(lines, means, scale or 1.0, vectors, unit)

    def prior(self, count: int) -> FloatArray:
        """Return the mean of the rows that are known, for each of so many new ones."""
        return np.tile(self.unit * self.means, (count, 1))

    def at(self, places: IntArray) -> FloatArray:
        """Return features of columns, whose inner products say how alike they are."""
        mine = (self.lines[places] - self.means[places, None]) / self.scale
        beside = [] if self.vectors is None else [self.vectors[places] / self.unit]
        return np.hstack([mine, *beside, np.full((len(places), 1), np.sqrt(_SHARED))])

    @property
    def width(self) -> int:
        """How many features a column has."""
        beside = 0 if self.vectors is None else self.vectors.shape[1]
        return int(self.lines.shape[1] + beside + 1)

    def along(self, direction: FloatArray) -> FloatArray:
        """Return all features times some directions, without making the features."""
        s = self.lines.shape[1]
        mine = direction[:s] / self.scale
        result = self.lines @ mine - np.outer(self.means, mine.sum(axis=0))
        if self.vectors is not None:
            result += self.vectors @ (direction[s:-1] / self.unit)
        return np.asarray(result + np.sqrt(_SHARED) * direction[-1])


def predicted(matrix: Answers, rows: NewRows, part: slice = slice(None)) -> FloatArray:
    """Return what the factors say of (some of) new items' rows."""
    scores = np.asarray(rows.left[part] @ matrix.core @ matrix.right.T)
    for square in squares_of_new(matrix, matrix.source.guide, rows):
        scores += square.block(part, slice(None))
    return scores


def _by_rounds(
    prior: FloatArray,
    likeness: Likeness,
    count: int,
    rounds: int,
    evaluate: Callable[[IntArray], FloatArray],
    seen: Seen,
) -> Seen:
    """Evaluate the most promising of each row, learn from them, and go on."""
    for step in np.array_split(np.arange(count), max(min(rounds, count), 1)):
        scores = _updated(prior, seen, likeness) if seen.places.size else prior.copy()
        np.put_along_axis(scores, seen.places, -np.inf, axis=1)
        best = np.stack([largest(row, len(step)) for row in scores])
        if best.size:
            values = np.hstack([seen.values, evaluate(best)])
            seen = Seen(np.hstack([seen.places, best]), values)
    return seen


def _updated(prior: FloatArray, seen: Seen, likeness: Likeness) -> FloatArray:
    """Return prior + F·Fₐᵀ·(FₐFₐᵀ + λ)⁻¹·(values − prior): what is expected of each row."""
    directions = []
    for believed, places, values in zip(prior, *seen, strict=True):
        there = ~np.isnan(values)
        if not there.any():
            directions.append(np.zeros(likeness.width))
            continue
        places, values = places[there], values[there]  # noqa: PLW2901 - those with a value
        mine = likeness.at(places)
        gram = mine @ mine.T
        gram[np.diag_indices_from(gram)] += _NOISE * float(np.trace(gram)) / len(mine)
        directions.append(mine.T @ np.linalg.solve(gram, values - believed[places]))
    return prior + likeness.along(np.stack(directions, axis=1)).T
