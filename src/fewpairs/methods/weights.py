"""How much each candidate core counts: least squares on evaluated pairs, guarded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.cores import Cores

_FOLDS = 5
_ROWS = 300
_HANDFUL = 10
_STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal equations of the candidates' predictions: Gw = q."""

    gram: FloatArray
    target: FloatArray

    @classmethod
    def of(cls, predictions: FloatArray, values: FloatArray, weights: FloatArray) -> Normal:
        """Weighted means of products over pairs."""
        total = float(weights.sum()) or 1.0
        weighted = predictions * (weights / total)[:, None]
        return cls(weighted.T @ predictions, weighted.T @ values)

    def plus(self, predictions: FloatArray, values: FloatArray) -> Normal:
        """Add the sums over further pairs; candidates lie along the rows of `predictions`."""
        return Normal(self.gram + predictions @ predictions.T, self.target + predictions @ values)

    def per(self, count: int) -> Normal:
        """Turn sums into means."""
        return Normal(self.gram / count, self.target / count)

    def blended(self, other: Normal, share: float) -> Normal:
        """Mix with other equations; `share` is what these count."""
        return Normal(
            share * self.gram + (1 - share) * other.gram,
            share * self.target + (1 - share) * other.target,
        )

    def of_some(self, chosen: IntArray) -> Normal:
        """Keep some candidates."""
        return Normal(self.gram[np.ix_(chosen, chosen)], self.target[chosen])

    def non_negative(self) -> FloatArray:
        """Solve with weights of at least 0, on the directions that carry anything."""
        values, vectors = np.linalg.eigh((self.gram + self.gram.T) / 2)
        keep = values > 1e-11 * max(float(values[-1]), 0.0)
        if not keep.any() or values[-1] <= 0:
            return np.zeros(len(self.target))
        roots = np.sqrt(values[keep])
        matrix = (vectors[:, keep] * roots).T
        right = (vectors[:, keep].T @ self.target) / roots
        return np.asarray(nnls(matrix, right, maxiter=50 * len(self.target))[0])

    def moved(self, start: FloatArray, strength: float) -> FloatArray:
        """Go from `start` towards the unconstrained solution, signs allowed, ridge-damped."""
        size = float(np.trace(self.gram)) / len(start)
        if size <= 0:
            return start
        # By eigenvectors: candidates differ by twenty orders of magnitude where K has low rank.
        values, vectors = np.linalg.eigh((self.gram + self.gram.T) / 2)
        damped = np.maximum(values, 0) + strength * size
        return np.asarray(
            start + vectors @ ((vectors.T @ (self.target - self.gram @ start)) / damped)
        )


@dataclass(frozen=True, eq=False)
class Folds:
    """What held-out landmarks say: of unseen pairs, and of self-similarities (square only)."""

    unseen: Normal
    own: Normal | None


def landmark_folds(
    left: FloatArray,
    crossing: FloatArray,
    rows: IntArray,
    gap: float,
    rng: np.random.Generator,
    *,
    symmetric: bool,
    square: bool = True,
) -> Folds:
    """Predict the columns of held-out landmarks from the others: costs no evaluations.

    Parameters
    ----------
    left : ndarray of shape (n, s)
        Columns of the landmarks.
    crossing : ndarray of shape (s, s)
    rows : ndarray
        Items that are no landmarks.
    gap : float
    rng : numpy.random.Generator
    symmetric : bool
    square : bool, default=True
        Whether row and column k of the crossing belong to the same item.

    Returns
    -------
    Folds
    """
    some = rng.permutation(rows)[:_ROWS]
    across = rng.permutation(crossing.shape[1])
    down = across if square else rng.permutation(crossing.shape[0])
    none = Normal(np.zeros(()), np.zeros(()))  # adding to it takes on the shape of the sum
    unseen = own = none
    for fold in range(_FOLDS):
        held = across[fold::_FOLDS]
        kept = np.setdiff1d(across, held)
        kept_rows = kept if square else np.setdiff1d(down, down[fold::_FOLDS])
        cores = Cores.of(crossing[np.ix_(kept_rows, kept)], gap, symmetric=symmetric)
        to_held = crossing[np.ix_(kept_rows, held)].T
        guessed = cores.block_predictions(left[np.ix_(some, kept)], to_held)
        unseen = unseen.plus(guessed, left[np.ix_(some, held)].ravel())
        if square:
            guessed = cores.predictions(crossing[np.ix_(held, kept)], to_held)
            own = own.plus(guessed.T, np.diag(crossing)[held])
    s = len(across)
    return Folds(unseen.per(len(some) * s), own.per(s) if square else None)


@dataclass(frozen=True, eq=False)
class Tuning:
    """Evaluated pairs, what the candidates say of them, and the folds' equations.

    Parameters
    ----------
    predictions : ndarray of shape (pairs, candidates)
    values, weights : ndarray of shape (pairs,)
    folds : Normal or None
        None where there are too few landmarks.
    share : float
        What the pairs count beside the folds.
    """

    predictions: FloatArray
    values: FloatArray
    weights: FloatArray
    folds: Normal | None
    share: float

    def normal(self, chosen: IntArray, pairs: IntArray | slice = slice(None)) -> Normal:
        """Return the blended equations of some candidates on some of the pairs."""
        own = Normal.of(self.predictions[pairs][:, chosen], self.values[pairs], self.weights[pairs])
        return own if self.folds is None else own.blended(self.folds.of_some(chosen), self.share)


def refined(
    tuning: Tuning, chosen: IntArray, start: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Allow negative weights, if cross-validation on the pairs gains more than one standard error.

    Parameters
    ----------
    tuning : Tuning
    chosen : ndarray
        Candidates in use.
    start : ndarray
        Their non-negative weights.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray
        `start`, or the refined weights.
    """
    whole = tuning.normal(chosen)
    if np.trace(whole.gram) <= 0 or len(tuning.values) < 2 * _FOLDS:
        return start
    fold_of = rng.permutation(len(tuning.values)) % _FOLDS
    gains = np.zeros((len(_STRENGTHS), _FOLDS))
    for fold in range(_FOLDS):
        inside, outside = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        normal = tuning.normal(chosen, inside)
        base = normal.non_negative()
        w = tuning.weights[outside] / tuning.weights[outside].sum()
        guesses, values = tuning.predictions[outside][:, chosen], tuning.values[outside]
        before = float(w @ (guesses @ base - values) ** 2)
        for k, strength in enumerate(_STRENGTHS):
            after = float(w @ (guesses @ normal.moved(base, strength) - values) ** 2)
            gains[k, fold] = before - after
    best = int(gains.mean(axis=1).argmax())
    error = float(gains[best].std(ddof=1)) / np.sqrt(_FOLDS)
    return whole.moved(start, _STRENGTHS[best]) if gains[best].mean() > error else start


def weigh(
    cores: Cores,
    tuning: Tuning,
    sane: SanityCheck,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the candidates' weights; the smallest ridges are dropped until the result is sane."""
    ridge = cores.ridge_index
    weights = np.zeros(cores.count)
    # Without folds a few pairs decide alone: what they say of each other tells how far to go.
    trust = 1.0 if tuning.folds is not None else _trust(tuning, rng)
    for smallest in range(int(ridge.max()) + 1):
        chosen = np.flatnonzero(ridge >= smallest)
        start = trust * tuning.normal(chosen).non_negative()
        refinement = refined(tuning, chosen, start, rng) if tuning.folds is not None else start
        accepted = next((w for w in (refinement, start) if sane.passes(chosen, w)), None)
        if accepted is not None:
            weights[chosen] = accepted
            break
    return weights


def _trust(tuning: Tuning, rng: np.random.Generator) -> float:
    """Return the factor, from 0 to 1, that suits predictions of pairs from the other pairs.

    The best factor less two standard errors: a few pairs may agree by chance, a handful proves
    nothing at all.
    """
    count = len(tuning.values)
    if count < _HANDFUL:
        return 0.0
    everyone = np.arange(tuning.predictions.shape[1])
    fold_of = rng.permutation(count) % _FOLDS
    guesses = np.zeros(count)
    for fold in range(_FOLDS):
        inside, outside = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        solved = tuning.normal(everyone, inside).non_negative()
        guesses[outside] = tuning.predictions[outside] @ solved
    size = float(tuning.weights @ guesses**2)
    if size == 0:
        return 0.0
    best = float(tuning.weights @ (guesses * tuning.values)) / size
    off = tuning.weights * guesses * (tuning.values - best * guesses)
    return float(np.clip(best - 2 * np.sqrt(off @ off) / size, 0, 1))


@dataclass(frozen=True, eq=False)
class SanityCheck:
    """On pairs that nobody evaluated, the result must not carry more energy than the data do.

    Parameters
    ----------
    checks : list of (predictions, largest mean square)
    """

    checks: list[tuple[FloatArray, float]]

    def passes(self, chosen: IntArray, weights: FloatArray) -> bool:
        """Whether mean(K̃²) is within bounds on every set of pairs."""
        return all(
            float(((p[:, chosen] @ weights) ** 2).mean()) <= largest
            for p, largest in self.checks
            if len(p)
        )

    def shrunk(self, chosen: IntArray, weights: FloatArray) -> FloatArray:
        """Return the weights, made as small as it takes to pass."""
        energies = [(float(((p[:, chosen] @ weights) ** 2).mean()), largest)
            for p, largest in self.checks if len(p)]  # fmt: skip
        shares = [largest / energy for energy, largest in energies if energy > largest]
        return np.asarray(weights * np.sqrt(min(shares, default=1.0)))


def largest_mean_square(values: FloatArray, weights: FloatArray) -> float:
    """Return what a mean square can be at most: 1.5 times that of a sample, and its spread."""
    share = weights / max(float(weights.sum()), np.finfo(float).tiny)
    squares = values**2
    mean = float(share @ squares)
    spread = float(np.sqrt(share**2 @ (squares - mean) ** 2))
    return 1.5 * max(mean + 2 * spread, 1e-300)
