"""Whether a guide is worth following: the same pairs judge the result with it and without it.

The result without a guide is there anyway. It stays, to the last bit, unless a guide's is better by
more than chance on evaluated pairs that took no part in its weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, SingleArray
from fewpairs.factored.factors import factored_entries
from fewpairs.methods.base import Fit, GuidedLines
from fewpairs.methods.fitted.excerpt import Excerpt
from fewpairs.methods.fitted.guards import largest_mean_square
from fewpairs.methods.fitted.guide_terms import GuideTerms
from fewpairs.methods.fitted.guided import FULL, QUICK, Effort, Guided, PairValues, fit_guided
from fewpairs.methods.fitted.stage import Sample, Stage
from fewpairs.numerics import parts

#: The gain over the result without a guide, in standard errors, and the largest share of its loss,
#: at which the gate opens.
_STANDARD_ERRORS, _LARGEST_SHARE = 1.0, 0.9
#: Fewer pairs than this agree by chance too easily.
_FEWEST_PAIRS = 40
#: Rows of the landmarks' columns that stand for all of them.
_LINE_ROWS = 100
#: Items of both sides whose predicted entries must not be larger than the data are.
_SANITY_ITEMS = 64


#: Rows and columns of entries, to what a result says of them.
Entries: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


class Followed(NamedTuple):
    """A guide that passed the gate: what the result is made of, and its entries."""

    guided: Guided
    terms: GuideTerms  # of the guides that are of use
    entries: Entries
    loss: float  # mean squared error of pairs that took no part


def follow(
    stage: Stage,
    sample: Sample,
    terms: GuideTerms,
    entries: Entries,
    effort: Effort = FULL,
    *,
    plain: bool = False,
) -> Followed | None:
    """Fit with the guides; None if the result without them is as good.

    Parameters
    ----------
    stage : Stage
    sample : Sample
    terms : GuideTerms
    entries : callable
        What the result without a guide says of entries.
    effort : Effort
        As for `fit_guided`.
    plain : bool, default=False
        Whether the factors must answer for the landmarks' lines, too.

    Returns
    -------
    Followed or None
    """
    known, drawn = stage.oracle.known(), sample.drawn
    taken = ~known.in_lines(drawn.rows, drawn.columns)
    taken &= ~np.isin(known.keys_of(drawn.rows, drawn.columns), sample.near_keys)
    if taken.sum() < _FEWEST_PAIRS:
        return None
    i, j = drawn.rows[taken], drawn.columns[taken]
    drawn_pairs = DrawnPairs(i, j, sample.values[taken], drawn.weights[taken])
    terms = useful(stage, terms, drawn_pairs)
    excerpt, pairs = drawn_pairs.seen_by(stage, terms)
    guided = fit_guided(excerpt, pairs, effort)
    before, after = entries(i, j) - pairs.values, guided.crossed - pairs.values
    # Pairs that bought near-duplicates stand for are exact in the result.
    open_pairs = ~sample.stands_for_near[taken]
    if not is_better(before[open_pairs], after[open_pairs], pairs.weights[open_pairs]):
        return None
    made = _entries_of(stage, terms, guided)
    if not _sane(stage, made, pairs):
        return None
    total = float(pairs.weights.sum())
    loss, earlier = (float(pairs.weights @ r**2) / total for r in (after, before))
    if plain and _whole(stage, made, loss) > _LARGEST_SHARE * _whole(stage, entries, earlier):
        return None
    return Followed(guided, terms, made, loss)


class DrawnPairs(NamedTuple):
    """Tuning pairs that lie in no known line."""

    rows: IntArray
    columns: IntArray
    values: FloatArray
    weights: FloatArray

    def seen_by(self, stage: Stage, terms: GuideTerms) -> tuple[Excerpt, PairValues]:
        """Return what some guides say of them, and of what concerns them."""
        said = terms.at(self.rows, self.columns)
        excerpt = Excerpt.of(stage, terms, self.rows, self.columns)
        return excerpt, PairValues(said, self.values, self.weights)


def useful(stage: Stage, terms: GuideTerms, pairs: DrawnPairs) -> GuideTerms:
    """Return all guides, or the one of them that is better alone: a useless one does harm."""
    if len(terms.guides) == 1:
        return terms
    losses = []
    choices = [terms, *(GuideTerms([guide], (k,)) for k, guide in enumerate(terms.guides))]
    for choice in choices:
        guided = fit_guided(*pairs.seen_by(stage, choice), QUICK)
        losses.append(float(pairs.weights @ (guided.crossed - pairs.values) ** 2))
    return choices[int(np.argmin(losses))]


def _whole(stage: Stage, entries: Entries, loss: float) -> float:
    """Return the squared error of all entries, those in landmarks' columns and rows included."""
    n, m, s = len(stage.rows), len(stage.columns), len(stage.landmarks)
    some = stage.rows[:: max(1, n // _LINE_ROWS)]
    i, j = np.repeat(some, s), np.tile(stage.landmarks, len(some))
    residuals = entries(i, j) - stage.left[some].ravel()
    return loss * n * m + float((residuals**2).mean()) * s * (n + m)


def is_better(before: FloatArray, after: FloatArray, weights: FloatArray) -> bool:
    """Whether squared residuals have become less by more than chance, and by enough to matter."""
    if len(before) < _FEWEST_PAIRS:
        return False
    gains = weights * (before**2 - after**2)
    gain, error = float(gains.sum()), float(np.sqrt(gains @ gains))
    lost = float(weights @ before**2)
    return gain > _STANDARD_ERRORS * error and gain >= (1 - _LARGEST_SHARE) * lost


def lines_with(stage: Stage, terms: GuideTerms, guided: Guided) -> tuple[FloatArray, FloatArray]:
    """Return the tall factors [residual lines, vectors, 1] of rows and of columns."""
    left = _tall(stage.left, terms.left)
    for part in parts(len(left)):
        rows = np.arange(part.start, part.stop)
        left[part, : len(stage.landmarks)] -= terms.combined(guided.b, rows, stage.landmarks)
    if stage.right is stage.left:
        return left, left
    right = _tall(stage.right, terms.right)
    for part in parts(len(right)):
        columns = np.arange(part.start, part.stop)
        said = terms.combined(guided.b, stage.row_landmarks, columns)
        right[part, : len(stage.row_landmarks)] -= said.T
    return left, right


def _tall(lines: FloatArray, vectors: SingleArray) -> FloatArray:
    s, width = lines.shape[1], vectors.shape[1]
    tall = np.empty((len(lines), s + width + 1))
    tall[:, :s], tall[:, s : s + width], tall[:, -1] = lines, vectors, 1.0
    return tall


def as_fit(stage: Stage, terms: GuideTerms, guided: Guided) -> Fit:
    """Return the factors of a result with a guide."""
    left, right = lines_with(stage, terms, guided)
    core = guided.core.copy()
    count, s = len(terms.guides), len(stage.landmarks)
    for weight, mine in zip(guided.terms[:count], terms.slices, strict=True):
        places = np.arange(s + mine.start, s + mine.stop)
        core[places, places] += weight  # the products themselves are of low rank
    return Fit(
        left,
        core,
        None if right is left else right,
        stage.landmarks,
        stage.row_landmarks,
        guided.nugget,
        guide=GuidedLines(guided.b, guided.terms[count:], tuple(terms.guides), terms.which),
    )


def _entries_of(stage: Stage, terms: GuideTerms, guided: Guided) -> Entries:
    """Return what the result says of entries, without making its factors."""

    def entries(rows: IntArray, columns: IntArray) -> FloatArray:
        first, i = np.unique(rows, return_inverse=True)
        second, j = np.unique(columns, return_inverse=True)
        left = _tall(stage.left[first], terms.left[first])
        left[:, : len(stage.landmarks)] -= terms.combined(guided.b, first, stage.landmarks)
        right = _tall(stage.right[second], terms.right[second])
        said = terms.combined(guided.b, stage.row_landmarks, second)
        right[:, : len(stage.row_landmarks)] -= said.T
        low_rank = factored_entries(left, guided.core, right, i, j)
        return np.asarray(low_rank + terms.at(rows, columns) @ guided.terms)

    return entries


def _sane(stage: Stage, entries: Entries, pairs: PairValues) -> bool:
    """On pairs that nobody evaluated, the result must not be larger than the data are."""
    down, across = (
        items[:: max(1, len(items) // _SANITY_ITEMS)][:_SANITY_ITEMS]
        for items in (stage.rows, stage.columns[::-1])
    )
    i, j = np.repeat(down, len(across)), np.tile(across, len(down))
    apart: BoolArray = i != j if stage.oracle.square else np.ones(len(i), dtype=bool)
    guessed = entries(i[apart], j[apart])
    largest = largest_mean_square(pairs.values, pairs.weights)
    return bool(len(guessed) == 0 or float((guessed**2).mean()) <= largest)
