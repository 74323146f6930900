"""suggest_threshold(): where matches begin, from pairs that a person has labelled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, unmasked
from fewpairs.errors import InputError


class Suggestion(NamedTuple):
    """A threshold, and how well it tells the labelled pairs apart.

    Attributes
    ----------
    threshold : float
        Halfway between the last pair above and the first below.
    precision, recall, f1 : float
        Of the labelled pairs; others may differ.
    n_pairs : int
    """

    threshold: float
    precision: float
    recall: float
    f1: float
    n_pairs: int

    def __str__(self) -> str:
        return (
            f"threshold {self.threshold:.4g}: of {self.n_pairs:,} labelled pairs precision "
            f"{self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"
        )


def suggest_threshold(scores: Any, labels: Any, *, distance: bool = False) -> Suggestion:
    """Find the threshold with the largest F1 on labelled pairs.

    Parameters
    ----------
    scores : array
        Similarities of the pairs, for example from `score_pairs`.
    labels : array of bool
        Whether each is a match.
    distance : bool, default=False
        Whether small scores are those of matches.

    Returns
    -------
    Suggestion
        Pass its `threshold` to `find_pairs`, as ``above=`` (of a distance ``below=``).

    Examples
    --------
    >>> import fewpairs as fp
    >>> fp.suggest_threshold([0.9, 0.8, 0.7, 0.2], [True, True, False, False]).threshold
    0.75
    """
    values, matching = _checked(scores, labels)
    signed = -values if distance else values
    order = np.argsort(-signed, kind="stable")
    ranked, hits = signed[order], np.cumsum(matching[order])
    # Pairs with equal scores are on the same side of any threshold.
    ends = np.flatnonzero(np.append(np.diff(ranked) != 0, True))
    found, taken, all_matches = hits[ends], ends + 1, int(matching.sum())
    f1 = 2 * found / (taken + all_matches)
    best = int(np.argmax(f1))
    last = ranked[ends[best]]
    # Halves first: the sum of two large numbers may be infinite.
    after = ends[best] + 1
    between = last if after == len(ranked) else last / 2 + ranked[after] / 2
    if after < len(ranked) and between <= ranked[after]:
        between = last  # neighbouring numbers have none between them
    return Suggestion(
        float(-between if distance else between),
        float(found[best] / taken[best]),
        float(found[best] / all_matches),
        float(f1[best]),
        len(values),
    )


def _checked(scores: Any, labels: Any) -> tuple[FloatArray, FloatArray]:
    values = np.asarray(unmasked(scores, "scores"))
    matching = np.asarray(unmasked(labels, "labels"))
    plain = values.ndim == 1 and values.shape == matching.shape and values.dtype.kind in "biuf"
    if not plain or not np.isfinite(values).all():
        raise InputError(
            f"scores have the shape {values.shape} and the dtype {values.dtype}, labels the shape "
            f"{matching.shape}.",
            "Each pair has one finite score and one label.",
            "Pass two sequences of the same length.",
        )
    if matching.dtype.kind not in "biuf" or not np.isin(matching, (0, 1)).all():
        raise InputError(
            "labels are not True and False.",
            "They say whether each pair is a match.",
            "Pass booleans, or 0 and 1.",
        )
    if not matching.any():
        raise InputError(
            "no labelled pair is a match.",
            "Where matches begin cannot be told from others alone.",
            "Label some matches too.",
        )
    return values.astype(np.float64), matching.astype(np.float64)
