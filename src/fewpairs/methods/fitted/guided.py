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
from fewpairs.methods.fitted.excerpt import Excerpt
from fewpairs.methods.fitted.guided_core import Weighed, core_of
from fewpairs.methods.fitted.predictors import Items, Lines, Predictors
from fewpairs.methods.fitted.problems import Problem
from fewpairs.methods.fitted.weights import FOLDS, Crossed, Normal, Tuning

#: Ridges of all kernels that are weighed.
_RIDGES = np.array([1e-5, 1e-3, 1e-2, 1e-1])
#: β of one of several guides, where the others are left out of the kernel.
_ALONE = (0.1, 1.0)
#: The kernel by which the terms' coefficients are found.
_FIRST_BETA, _FIRST_RIDGES = 0.3, np.array([1e-5, 1e-3, 1e-2])
#: Two coefficients of each guide need no more pairs than this (twice as many at most).
_COEFFICIENT_PAIRS = 1000
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
    kernels : tuple of (float, float)
        β of the vectors and nugget η of each kernel.
    pairs : int
        Beside so many tuning pairs no folds are needed.
    signed : bool
        Whether weights may become negative where that gains.
    """

    kernels: tuple[tuple[float, float], ...]
    pairs: int
    signed: bool


#: Further β and nuggets change the error by less than 0.5 %.
FULL = Effort(((0.1, 0.0), (1.0, 0.0), (1.0, 1.0)), 1000, signed=True)
#: For a first look, which decides which pairs are bought.
QUICK = Effort(((1.0, 0.0),), 300, signed=False)


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

    def every(self, step: int) -> PairValues:
        """Return the first of so many pairs, again and again."""
        return PairValues(self.terms[::step], self.values[::step], self.weights[::step])


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
    step = max(1, len(pairs.values) // _COEFFICIENT_PAIRS)
    b = _coefficients(excerpt.every(step), folds, pairs.every(step))
    return _stacked(excerpt, folds, pairs, b, effort)


def _coefficients(excerpt: Excerpt, folds: list[Problem], pairs: PairValues) -> FloatArray:
    """Regress what is left of K after prediction on what is left of the terms.

    A term that the predictors find by themselves needs no coefficient, whatever it is worth alone.
    """
    betas = (_FIRST_BETA,) * len(excerpt.slices)

    def gram(problem: Problem, values: FloatArray, terms: FloatArray, w: FloatArray) -> FloatArray:
        predictors, items = problem.prepared(excerpt.lines, 0.0).predictors(betas, _FIRST_RIDGES)
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
    best, least = np.zeros(pairs.terms.shape[1]), np.inf
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


class Variant(NamedTuple):
    """One kernel: β of each guide's vectors, the nugget as a share of the gap."""

    betas: tuple[float, ...]
    eta: float


def _variants(excerpt: Excerpt, gap: float, effort: Effort) -> list[Variant]:
    """Return the kernels: all guides alike, and of several guides each one alone."""
    count = len(excerpt.slices)
    made = [Variant((beta,) * count, eta) for beta, eta in effort.kernels if gap or not eta]
    if count > 1:
        alone = np.eye(count).tolist()
        made += [Variant(tuple(beta * x for x in one), 0.0) for one, beta in product(alone, _ALONE)]
    return made


def _kernels(
    problem: Problem, lines: Lines, gap: float, variants: list[Variant]
) -> list[tuple[Predictors, Items]]:
    """Make all kernels of a problem; those of one nugget share what lines say."""
    prepared = {eta: problem.prepared(lines, eta * gap) for eta in {v.eta for v in variants}}
    return [prepared[eta].predictors(betas, _RIDGES) for betas, eta in variants]


def _stacked(
    excerpt: Excerpt, folds: list[Problem], pairs: PairValues, b: FloatArray, effort: Effort
) -> Guided:
    """Weigh terms of either sign, predictors and cores of the residual."""
    lines = excerpt.residual(b)
    gap = excerpt.gap(lines)
    variants = _variants(excerpt, gap, effort)
    whole = excerpt.whole()
    made = _kernels(whole, lines, gap, variants)
    cores = Cores.of(lines.crossing, gap, symmetric=excerpt.symmetric)
    told = [pairs.terms, -pairs.terms]
    told += [whole.predicted(*one, lines) for one in made]
    told.append(whole.by_cores(cores, lines))
    free = _from_folds(excerpt, folds, lines, gap, variants) if folds else None
    tuning = Tuning(np.hstack(told), pairs.values, pairs.weights, free, pairs.share)
    weights, crossed = _weighed(tuning, signed=effort.signed)
    t = pairs.terms.shape[1]
    start = 2 * t
    nugget = total = 0.0
    used = []
    for variant, (predictors, _) in zip(variants, made, strict=True):
        mine = weights[start : start + predictors.count]
        start += predictors.count
        if not mine.any():  # a kernel may be of no use beside the others
            continue
        used.append(Weighed(predictors, variant.betas, mine))
        nugget, total = nugget + mine.sum() * predictors.nugget, total + mine.sum()
    core = core_of(used, lines.crossing, excerpt.x_marks, excerpt.y_marks, excerpt.slices)
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
        crossed=crossed,
    )


def _from_folds(
    excerpt: Excerpt, folds: list[Problem], lines: Lines, gap: float, variants: list[Variant]
) -> Normal:
    total, count = Normal(np.zeros(()), np.zeros(())), 0
    for fold in folds:
        truth, terms = _of_fold(excerpt, fold)
        told = [terms, -terms]
        told += [fold.predicted(*one, lines) for one in _kernels(fold, lines, gap, variants)]
        cores = Cores.of(fold.part(lines).crossing, gap, symmetric=excerpt.symmetric)
        told.append(fold.by_cores(cores, lines))
        every = np.hstack(told)
        total = total.plus(every.T @ every, every.T @ truth)
        count += len(truth)
    return total.per(count)


def _weighed(tuning: Tuning, *, signed: bool) -> tuple[FloatArray, FloatArray]:
    """Return weights, and what non-negative ones from four fifths of the pairs say of the fifth."""
    everyone, count = np.arange(tuning.predictions.shape[1]), len(tuning.values)
    whole = tuning.normal(everyone)
    weights = whole.non_negative()
    if count < 2 * FOLDS:
        return weights, np.zeros(count)
    fifths = [np.arange(k, count, FOLDS) for k in range(FOLDS)]
    crossed = Crossed(tuning, everyone, fifths, tuning.normals_without(fifths, everyone))
    return crossed.signed(whole, weights) if signed else weights, crossed.guesses()
