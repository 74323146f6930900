"""The core with a guide: what its vectors say is taken off first, and the rest is predicted.

K ≈ Σ b_t·T_t + residual, where the terms T are the guides' inner products and their squares. The
residual is predicted by Gaussian processes and by cores of its own columns, and all of these are
weighed together on evaluated pairs; docs/guide.md has the recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.methods.fitted.cores import Cores
from fewpairs.methods.fitted.excerpt import Excerpt, Problem, Variant
from fewpairs.methods.fitted.predictors import Lines
from fewpairs.methods.fitted.weights import FOLDS, Normal, Tuning

#: Ridges of all kernels that are weighed.
_RIDGES = (1e-5, 1e-3, 1e-2, 1e-1)
#: β of one of several guides, where the others are left out of the kernel.
_ALONE = (0.1, 1.0)
#: The kernel by which the terms' coefficients are found.
_FIRST_BETA, _FIRST_RIDGES = 0.3, (1e-5, 1e-3, 1e-2)
#: Landmark folds count as much as this many tuning pairs.
_FOLD_PAIRS = 300
#: With fewer landmarks a fold predicts from next to nothing.
_FEWEST_FOR_FOLDS = 3
#: Two folds say as much as five.
_FOLDS = 2


class Effort(NamedTuple):
    """How much arithmetic a fit is worth.

    Attributes
    ----------
    rounds : int
        How often the coefficients of the terms are found: the first time with the lines as they
        are, then with what is left of them.
    kernels : tuple of (float, float)
        β of the vectors and nugget η of each kernel.
    pairs : int
        Beside so many tuning pairs no folds are needed.
    """

    rounds: int
    kernels: tuple[tuple[float, float], ...]
    pairs: int


FULL = Effort(2, ((0.1, 0.0), (0.3, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1.0)), 1000)
#: For a first look, which decides which pairs are bought.
QUICK = Effort(1, ((0.3, 0.0), (1.0, 0.0)), 300)


@dataclass(frozen=True, eq=False)
class Guided:
    """A fitted core with a guide.

    Attributes
    ----------
    b : ndarray
        What is taken off the lines, for each term.
    terms : ndarray
        What the terms themselves count in the result.
    core : ndarray
        Γ between [lines, vectors, 1] of rows and of columns.
    nugget : float
    crossed : ndarray
        What a fit without a fifth of the tuning pairs says of these, for each fifth.
    """

    b: FloatArray
    terms: FloatArray
    core: FloatArray
    nugget: float
    crossed: FloatArray


@dataclass(frozen=True, eq=False)
class PairValues:
    """The tuning pairs: what the terms say of them, their values, their weights."""

    terms: FloatArray
    values: FloatArray
    weights: FloatArray

    @property
    def share(self) -> float:
        """What they count beside the folds."""
        return len(self.values) / (len(self.values) + _FOLD_PAIRS)


def fit_guided(excerpt: Excerpt, pairs: PairValues, effort: Effort = FULL) -> Guided:
    """Find the coefficients of the terms, and weigh all predictors.

    Parameters
    ----------
    excerpt : Excerpt
    pairs : PairValues
    effort : Effort

    Returns
    -------
    Guided
    """
    few = len(pairs.values) < effort.pairs
    enough = len(excerpt.lines.crossing) >= _FEWEST_FOR_FOLDS
    folds = excerpt.folds(_FOLDS) if few and enough else []
    b = np.zeros(pairs.terms.shape[1])
    for _ in range(effort.rounds):
        b = _coefficients(excerpt, folds, pairs, b)
    return _stacked(excerpt, folds, pairs, b, effort)


def _coefficients(
    excerpt: Excerpt, folds: list[Problem], pairs: PairValues, b: FloatArray
) -> FloatArray:
    """Regress what is left of K after prediction on what is left of the terms.

    A term that the predictors find by themselves needs no coefficient, whatever it is worth alone.
    """
    lines = excerpt.residual(b)
    gap = excerpt.gap(lines)
    variant = Variant((_FIRST_BETA,) * len(excerpt.slices), 0.0, _FIRST_RIDGES)

    def gram(problem: Problem, values: FloatArray, terms: FloatArray, w: FloatArray) -> FloatArray:
        predictors, items = problem.predictors(lines, gap, variant)
        whole = [excerpt.lines, *excerpt.terms]
        left = np.stack(
            [
                truth[:, None] - problem.predicted(predictors, items, part)
                for truth, part in zip([values, *terms.T], whole, strict=True)
            ]
        )  # terms + 1, entries, predictors
        moments = np.einsum("tec,e,uec->ctu", left, w, left, optimize=True)
        return np.asarray(moments / w.sum())

    total = gram(excerpt.whole(), pairs.values, pairs.terms, pairs.weights)
    if folds:
        free = np.zeros_like(total)
        for fold in folds:
            truth, terms = _of_fold(excerpt, fold)
            free += gram(fold, truth, terms, np.ones(len(truth))) / len(folds)
        total = pairs.share * total + (1 - pairs.share) * free
    best, least = b, np.inf
    for moments in total:
        own = moments[1:, 1:] + np.diag(1e-6 * np.diag(moments)[1:] + np.finfo(float).tiny)
        found = np.linalg.lstsq(own, moments[1:, 0])[0]
        loss = float(moments[0, 0] - found @ moments[1:, 0])
        if loss < least:
            best, least = found, loss
    return best


def _of_fold(excerpt: Excerpt, fold: Problem) -> tuple[FloatArray, FloatArray]:
    terms = np.stack([fold.truth(term) for term in excerpt.terms], axis=1)
    return fold.truth(excerpt.lines), terms


def _variants(excerpt: Excerpt, gap: float, effort: Effort) -> list[Variant]:
    """Return the kernels: all guides alike, and of several guides each one alone."""
    count = len(excerpt.slices)
    made = [
        Variant((beta,) * count, eta, _RIDGES) for beta, eta in effort.kernels if gap > 0 or not eta
    ]
    if count > 1:
        alone = np.eye(count).tolist()
        made += [
            Variant(tuple(beta * x for x in one), 0.0, _RIDGES)
            for one, beta in product(alone, _ALONE)
        ]
    return made


def _stacked(
    excerpt: Excerpt, folds: list[Problem], pairs: PairValues, b: FloatArray, effort: Effort
) -> Guided:
    """Weigh terms of either sign, predictors and cores of the residual."""
    lines = excerpt.residual(b)
    gap = excerpt.gap(lines)
    variants = _variants(excerpt, gap, effort)
    whole = excerpt.whole()
    made = [whole.predictors(lines, gap, variant) for variant in variants]
    cores = Cores.of(lines.crossing, gap, symmetric=excerpt.symmetric)
    told = [pairs.terms, -pairs.terms]
    told += [whole.predicted(*one, lines) for one in made]
    told.append(whole.by_cores(cores, lines))
    free = _from_folds(excerpt, folds, lines, gap, variants) if folds else None
    tuning = Tuning(np.hstack(told), pairs.values, pairs.weights, free, pairs.share)
    everyone = np.arange(tuning.predictions.shape[1])
    weights = tuning.normal(everyone).non_negative()
    t = pairs.terms.shape[1]
    core = np.zeros((1 + len(lines.crossing) + excerpt.x_marks.shape[1],) * 2)
    start = 2 * t
    nugget = total = 0.0
    for variant, (predictors, _) in zip(variants, made, strict=True):
        mine = weights[start : start + predictors.count]
        start += predictors.count
        if not mine.any():  # most kernels are of no use beside the others
            continue
        betas = excerpt.spread(variant.betas)
        marks = excerpt.x_marks * betas, excerpt.y_marks * betas
        core += predictors.core(mine, lines.crossing, *marks)
        nugget, total = nugget + mine.sum() * predictors.nugget, total + mine.sum()
    s = len(lines.crossing)
    core[:s, :s] += cores.combined(weights[start:])
    nugget += weights[start:].sum() * cores.nugget(weights[start:])
    total += weights[start:].sum()
    if excerpt.symmetric:
        core = (core + core.T) / 2
    return Guided(
        b=b,
        terms=weights[:t] - weights[t : 2 * t],
        core=core,
        nugget=float(nugget / total) if total else 0.0,
        crossed=_crossed(tuning),
    )


def _from_folds(
    excerpt: Excerpt, folds: list[Problem], lines: Lines, gap: float, variants: list[Variant]
) -> Normal:
    total, count = Normal(np.zeros(()), np.zeros(())), 0
    for fold in folds:
        truth, terms = _of_fold(excerpt, fold)
        told = [terms, -terms]
        told += [fold.predicted(*fold.predictors(lines, gap, v), lines) for v in variants]
        cores = Cores.of(fold.part(lines).crossing, gap, symmetric=excerpt.symmetric)
        told.append(fold.by_cores(cores, lines))
        every = np.hstack(told)
        total = total.plus(every.T @ every, every.T @ truth)
        count += len(truth)
    return total.per(count)


def _crossed(tuning: Tuning) -> FloatArray:
    """Predict each fifth of the pairs by weights from the others."""
    count = len(tuning.values)
    order = np.arange(count)
    fifths = [order[k::FOLDS] for k in range(min(FOLDS, count))]
    everyone = np.arange(tuning.predictions.shape[1])
    guessed = np.zeros(count)
    if count < 2 * FOLDS:
        return guessed
    for mine, normal in zip(fifths, tuning.normals_without(fifths, everyone), strict=True):
        guessed[mine] = tuning.predictions[mine] @ normal.non_negative()
    return guessed
