"""pair_scores(): how well similarities agree with what people say of labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from fewpairs.arrays import FloatArray, is_number, unmasked
from fewpairs.errors import InputError
from fewpairs.notebook.card import card


@dataclass(frozen=True)
class PairScores:
    """How well similarities agree with labels.

    Attributes
    ----------
    pearson, spearman : float
        Correlations with the labels, of values and of ranks; NaN where either is constant.
    accuracy, f1 : float or None
        Of the decision "at least the threshold", for labels that are 0 or 1 and a threshold.
    threshold : float or None
    n_pairs : int
    """

    pearson: float
    spearman: float
    accuracy: float | None
    f1: float | None
    threshold: float | None
    n_pairs: int

    def _repr_html_(self) -> str:
        shown = {
            "Pearson": self.pearson,
            "Spearman": self.spearman,
            "accuracy": self.accuracy,
            "F1": self.f1,
        }
        rows = [(name, "" if value is None else f"{value:.3f}") for name, value in shown.items()]
        return card(f"{self.n_pairs:,} labelled pairs", rows)

    def __str__(self) -> str:
        told = f"Pearson {self.pearson:.3f}, Spearman {self.spearman:.3f}"
        if self.accuracy is not None:
            told += f", accuracy {self.accuracy:.3f}, F1 {self.f1:.3f} at {self.threshold:.4g}"
        return f"{told} on {self.n_pairs:,} pairs"


def pair_scores(truth: Any, scores: Any, *, threshold: float | str | None = None) -> PairScores:
    """Compare similarities of labelled pairs with their labels.

    Parameters
    ----------
    truth : sequence of numbers
        A label for each pair: a human score, or 1 for pairs that belong together and 0 for others.
    scores : sequence of numbers
        The similarity of each pair, exact or approximated: ``K.entries(left, right)``.
    threshold : float, "best" or None, default=None
        From which similarity on a pair is said to belong together: for a model of probabilities
        0.5, of logits 0. "best" takes the one with the largest F1 on these very pairs, which
        flatters every similarity. None leaves out accuracy and F1.

    Returns
    -------
    PairScores

    Examples
    --------
    >>> import fewpairs as fp
    >>> print(fp.pair_scores([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9], threshold=0.5))
    Pearson 0.763, Spearman 0.894, accuracy 0.750, F1 0.800 at 0.5 on 4 pairs
    """
    labels, values = _numbers(truth, "truth"), _numbers(scores, "scores")
    if len(labels) != len(values) or not len(labels):
        raise InputError(
            f"there are {len(labels)} labels and {len(values)} similarities.",
            "Label k belongs to similarity k.",
            "Pass as many of one as of the other, and at least one.",
        )
    correlations = _correlation(labels, values), _correlation(rankdata(labels), rankdata(values))
    if threshold is None:
        return PairScores(*correlations, None, None, None, len(labels))
    if not np.isin(labels, (0, 1)).all():
        raise InputError(
            f"threshold={threshold!r} was given for labels from {labels.min():g} to "
            f"{labels.max():g}.",
            "Accuracy and F1 are those of decisions between two labels.",
            "Pass labels that are 0 or 1, or no threshold.",
        )
    at = _best(labels, values) if threshold == "best" else _given(threshold)
    said, true = values >= at, labels == 1
    both = int((said & true).sum())
    positives = int(said.sum() + true.sum())
    f1 = 2 * both / positives if positives else 0.0
    return PairScores(*correlations, float((said == true).mean()), f1, at, len(labels))


def _numbers(given: Any, name: str) -> FloatArray:
    listed = given if hasattr(given, "__len__") or not hasattr(given, "__iter__") else list(given)
    try:
        array = np.asarray(unmasked(listed, name))
        if array.dtype.kind not in "biufO":  # texts and complex numbers would be converted
            raise TypeError(array.dtype)  # noqa: TRY301 - told with the others
        values = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} does not hold one real number for each pair ({error}).",
            "There is one number for each pair.",
            "Pass a sequence of finite numbers; texts and rows are converted by you.",
        ) from error
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(
            f"{name} has the shape {values.shape}"
            + ("." if values.ndim != 1 else ", and not all of it is finite."),
            "There is one number for each pair.",
            "Pass a sequence of finite numbers; drop pairs without one from both sides.",
        )
    return values


def _given(threshold: Any) -> float:
    if not is_number(threshold):
        raise InputError(
            f"threshold is {threshold!r}.",
            "It is a similarity.",
            'Pass a number, "best", or None.',
        )
    return float(threshold)


def _correlation(one: FloatArray, other: FloatArray) -> float:
    # Times a power of two, which changes no digit: sums of huge numbers would be infinite.
    one, other = (np.ldexp(v, -int(np.frexp(np.abs(v).max())[1])) for v in (one, other))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    a, b = one - one.mean(), other - other.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # squares of any size
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _best(labels: FloatArray, values: FloatArray) -> float:
    """Return the similarity from which on F1 is largest; of equal ones the largest."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(labels[order])
    f1 = 2 * hits / (np.arange(1, len(labels) + 1) + labels.sum())
    # A threshold cannot part equal similarities: it counts where the last of them stands.
    last = np.append(np.diff(values[order]) != 0, True)
    return float(values[order][np.argmax(np.where(last, f1, -1.0))])
