"""How much each candidate core counts: least squares on evaluated pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import nnls

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.methods.fitted.cores import Cores
from fewpairs.methods.fitted.guards import SanityCheck

#: Parts of a cross-validation, of landmarks or of pairs.
FOLDS = 5
#: Fewer pairs than this agree with each other by chance too easily to prove anything, unless they
#: agree to rounding, as in a constant matrix; two may do even that.
_HANDFUL, _FEWEST, _ROUNDING = 10, 3, 1e-8
#: Damping of the step towards negative weights, as shares of the mean eigenvalue.
_STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
#: Directions of the equations below this share of the largest are rounding: Gram matrices have
#: half of the digits of the predictions.
_RANK_TOLERANCE = 1e-11


#: Candidates that invert nearly nothing predict what no number can hold; `Normal` leaves them out.
_QUIET = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal equations of the candidates' predictions: Gw = q."""

    gram: FloatArray
    target: FloatArray

    @classmethod
    def of(cls, predictions: FloatArray, values: FloatArray, weights: FloatArray) -> Normal:
        """Weighted means of products over pairs."""
        return cls.sums(predictions, values, weights / (float(weights.sum()) or 1.0))

    @classmethod
    @_QUIET
    def sums(cls, predictions: FloatArray, values: FloatArray, weights: FloatArray) -> Normal:
        """Weighted sums of products over pairs."""
        weighted = predictions * weights[:, None]
        return cls(weighted.T @ predictions, weighted.T @ values)

    @cached_property
    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        values, vectors = np.linalg.eigh((self.gram + self.gram.T) / 2)
        return values, vectors

    @cached_property
    def _tame(self) -> Normal:
        """The same without candidates that predict what no number can hold.

        They invert nearly nothing; where all of a crossing is near zero there are such.
        """
        wild = ~(np.isfinite(self.gram).all(axis=0) & np.isfinite(self.target))
        if not wild.any():
            return self
        # One wild candidate spoils its products with all others.
        wild = ~(np.isfinite(np.diagonal(self.gram)) & np.isfinite(self.target))
        gram, target = self.gram.copy(), self.target.copy()
        gram[wild, :] = gram[:, wild] = target[wild] = 0.0
        return Normal(np.nan_to_num(gram, posinf=0.0, neginf=0.0), target)

    @_QUIET
    def plus(self, gram: FloatArray, target: FloatArray) -> Normal:
        """Add the sums over further pairs."""
        return Normal(self.gram + gram, self.target + target)

    @_QUIET
    def per(self, count: float) -> Normal:
        """Turn sums into means."""
        return Normal(self.gram / count, self.target / count)

    @_QUIET
    def blended(self, other: Normal, share: float) -> Normal:
        """Mix with other equations; `share` is what these count."""
        return Normal(
            share * self.gram + (1 - share) * other.gram,
            share * self.target + (1 - share) * other.target,
        )

    @_QUIET
    def plus_share_of(self, other: Normal, share: float) -> Normal:
        """Add a share of other equations."""
        return Normal(self.gram + share * other.gram, self.target + share * other.target)

    def of_some(self, chosen: IntArray) -> Normal:
        """Keep some candidates."""
        return Normal(self.gram[np.ix_(chosen, chosen)], self.target[chosen])

    def non_negative(self) -> FloatArray:
        """Solve with weights of at least 0, on the directions that carry anything."""
        if self._tame is not self:
            return self._tame.non_negative()
        values, vectors = self._eigen
        keep = values > _RANK_TOLERANCE * max(float(values[-1]), 0.0)
        if not keep.any() or values[-1] <= 0:
            return np.zeros(len(self.target))
        roots = np.sqrt(values[keep])
        matrix = (vectors[:, keep] * roots).T
        right = (vectors[:, keep].T @ self.target) / roots
        return np.asarray(nnls(matrix, right, maxiter=50 * len(self.target))[0])

    def moved(self, start: FloatArray, strength: float) -> FloatArray:
        """Go from `start` towards the unconstrained solution, signs allowed, ridge-damped."""
        if self._tame is not self:
            return self._tame.moved(start, strength)
        size = float(np.trace(self.gram)) / len(start)
        if size <= 0:
            return start
        # By eigenvectors: candidates differ by twenty orders of magnitude where K has low rank.
        values, vectors = self._eigen
        damped = np.maximum(values, 0) + strength * size
        return np.asarray(
            start + vectors @ ((vectors.T @ (self.target - self.gram @ start)) / damped)
        )


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

    def normal(self, chosen: IntArray) -> Normal:
        """Return the blended equations of some candidates."""
        own = Normal.of(self.predictions[:, chosen], self.values, self.weights)
        return self._blended(own, chosen)

    def normals_without(self, folds: list[IntArray], chosen: IntArray) -> list[Normal]:
        """Return the same on all pairs but those of one fold, for each of the folds."""
        shares = [
            Normal.sums(self.predictions[mine][:, chosen], self.values[mine], self.weights[mine])
            for mine in folds
        ]
        weights = [float(self.weights[mine].sum()) for mine in folds]
        normals = []
        for left_out in range(len(folds)):
            rest = [k for k in range(len(folds)) if k != left_out]
            own = shares[rest[0]]
            for k in rest[1:]:
                own = own.plus(shares[k].gram, shares[k].target)
            normals.append(self._blended(own.per(sum(weights[k] for k in rest) or 1.0), chosen))
        return normals

    def _blended(self, own: Normal, chosen: IntArray) -> Normal:
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
    if np.trace(whole.gram) <= 0 or len(tuning.values) < 2 * FOLDS:
        return start
    folds = _folds(len(tuning.values), rng)
    normals = tuning.normals_without(folds, chosen)
    return Crossed(tuning, chosen, folds, normals).signed(whole, start)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Weights from all pairs but those of one fold, for each of the folds.

    Parameters
    ----------
    tuning : Tuning
    chosen : ndarray
        Candidates in use.
    folds : list of ndarray
        Which pairs are in each.
    normals : list of Normal
        The equations without them.
    """

    tuning: Tuning
    chosen: IntArray
    folds: list[IntArray]
    normals: list[Normal]

    @cached_property
    def _bases(self) -> list[FloatArray]:
        return [normal.non_negative() for normal in self.normals]

    def guesses(self) -> FloatArray:
        """Return what non-negative weights from the other folds say of each pair."""
        guessed = np.zeros(len(self.tuning.values))
        for mine, base in zip(self.folds, self._bases, strict=True):
            guessed[mine] = self.tuning.predictions[mine][:, self.chosen] @ base
        return guessed

    def signed(self, whole: Normal, start: FloatArray) -> FloatArray:
        """Go from non-negative weights towards signed ones, if that gains by more than chance.

        Parameters
        ----------
        whole : Normal
            The equations of all pairs.
        start : ndarray
            Their non-negative weights.
        """
        tuning, chosen = self.tuning, self.chosen
        gains = np.zeros((len(_STRENGTHS), len(self.folds)))
        each = zip(self.folds, self.normals, self._bases, strict=True)
        for fold, (outside, normal, base) in enumerate(each):
            w = tuning.weights[outside] / tuning.weights[outside].sum()
            guesses, values = tuning.predictions[outside][:, chosen], tuning.values[outside]
            before = float(w @ (guesses @ base - values) ** 2)
            for k, strength in enumerate(_STRENGTHS):
                after = float(w @ (guesses @ normal.moved(base, strength) - values) ** 2)
                gains[k, fold] = before - after
        best = int(gains.mean(axis=1).argmax())
        error = float(gains[best].std(ddof=1)) / np.sqrt(len(self.folds))
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
    """Return a factor from 0 to 1 by which weights are shrunk where there are no folds.

    Each fifth of the pairs is predicted from the others, by guesses g of the values y. The factor
    that suits the guesses best is b = Σw·g·y / Σw·g²; taken are b less two of its standard errors,
    because a few pairs may agree by chance. Of a handful all must be predicted to rounding.
    """
    count = len(tuning.values)
    if count < _FEWEST:
        return 0.0
    everyone = np.arange(tuning.predictions.shape[1])
    folds = _folds(count, rng)
    guesses = np.zeros(count)
    for mine, normal in zip(folds, tuning.normals_without(folds, everyone), strict=True):
        guesses[mine] = tuning.predictions[mine] @ normal.non_negative()
    if count < _HANDFUL:
        allowed = _ROUNDING * float(np.abs(tuning.values).max())
        return float(np.abs(guesses - tuning.values).max() <= allowed)
    size = float(tuning.weights @ guesses**2)
    if size == 0:
        return 0.0
    best = float(tuning.weights @ (guesses * tuning.values)) / size
    moves = tuning.weights * guesses * (tuning.values - best * guesses)
    return float(np.clip(best - 2 * np.sqrt(moves @ moves) / size, 0, 1))


def _folds(count: int, rng: np.random.Generator) -> list[IntArray]:
    """Cut so many pairs into random folds."""
    fold_of = rng.permutation(count) % FOLDS
    return [np.flatnonzero(fold_of == fold) for fold in range(FOLDS)]
