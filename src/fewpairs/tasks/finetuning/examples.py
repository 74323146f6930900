"""Labelled pairs of texts, checked, on a scale from 0 to 1, and divided for validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray, is_number, unmasked
from fewpairs.errors import InputError


@dataclass(frozen=True, eq=False)
class Examples:
    """Pairs of texts and what is to be said of them.

    Parameters
    ----------
    left, right : list of str
    targets : ndarray of float64
        Between 0 and 1.
    """

    left: list[str]
    right: list[str]
    targets: FloatArray

    def __len__(self) -> int:
        return len(self.left)

    @property
    def labelled(self) -> bool:
        """Whether every target is 0 or 1: decisions, not degrees."""
        return bool(np.isin(self.targets, (0, 1)).all())

    def some(self, places: IntArray) -> Examples:
        """Return the examples at these places."""
        left, right = ([side[k] for k in places] for side in (self.left, self.right))
        return Examples(left, right, self.targets[places])


def read_examples(
    pairs: Any, scores: Any, score_range: tuple[float, float], name: str = "pairs"
) -> Examples:
    """Check pairs and scores, and bring the scores to a scale from 0 to 1."""
    texts = [_two_texts(pair, k, name) for k, pair in enumerate(pairs)]
    values = numbers(scores)
    if len(texts) != len(values) or not texts:
        raise InputError(
            f"{name}: there are {len(texts):,} pairs and {len(values):,} scores.",
            "Score k belongs to pair k.",
            "Pass as many of one as of the other, and at least one.",
        )
    low, high = score_range
    if values.min() < low or values.max() > high:
        raise InputError(
            f"{name}: the scores lie between {values.min():g} and {values.max():g}, and "
            f"score_range is ({low:g}, {high:g}).",
            "The ends of the range become 0 and 1, between which the model answers.",
            "Pass score_range=(least, most) that holds all scores.",
        )
    left, right = ([pair[side] for pair in texts] for side in (0, 1))
    return Examples(left, right, (values - low) / (high - low))


def range_of(scores: Any, given: Any) -> tuple[float, float]:
    """Return the scores that become 0 and 1: those given, or the least and the largest."""
    if given is None:
        values = numbers(scores)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        if low == high:
            raise InputError(
                f"all {len(values):,} scores are {low:g}.",
                "From one score alone a model learns to say it of everything.",
                "Pass pairs that are alike and pairs that are not.",
            )
        # A few labels of a scale from 0 to 1 may all be 0.2 and 0.8, and mean that.
        return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
    if not isinstance(given, Sequence) or len(given) != 2 or not all(map(is_number, given)):  # noqa: PLR2004 - two ends
        low = high = float("nan")
    else:
        low, high = map(float, given)
    if not low < high:
        raise InputError(
            f"score_range is {given!r}.",
            "It holds the scores that become 0 and 1.",
            "Pass two numbers, the smaller one first, or None.",
        )
    return low, high


def numbers(scores: Any) -> FloatArray:
    """Return scores as finite numbers."""
    values = np.asarray(unmasked(scores, "scores"))
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise InputError(
            f"scores has the shape {values.shape} and the type {values.dtype}.",
            "There is one number for each pair.",
            "Pass a sequence of numbers.",
        )
    values = values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        raise InputError(
            f"{int((~finite).sum()):,} scores are not finite; first: {first} ({values[first]}).",
            "Nothing can be learned from them, and one spoils every weight.",
            "Drop these pairs.",
        )
    return values


def divided(examples: Examples, share: Any, rng: np.random.Generator) -> tuple[Examples, Examples]:
    """Put a share of the pairs aside; a pair that occurs twice, in any order, stays together."""
    if not is_number(share) or not 0 < share < 1:
        raise InputError(
            f"validation is {share!r}.",
            "It is the share of the pairs that are not trained on and judge every epoch.",
            "Pass a number between 0 and 1, (pairs, scores), or None.",
        )
    group: dict[tuple[str, ...], int] = {}
    groups = np.array(
        [
            group.setdefault(tuple(sorted(pair)), len(group))
            for pair in zip(examples.left, examples.right, strict=True)
        ]
    )
    place = rng.permutation(len(group))[groups]
    aside = place < max(2, round(share * len(group)))
    if examples.labelled:
        aside = _of_both(examples.targets, groups, place, aside)
    train, validation = (examples.some(np.flatnonzero(part)) for part in (~aside, aside))
    check_varied(train, f"{len(train):,} of {len(examples):,} pairs that are left to train on")
    return train, validation


def _of_both(targets: FloatArray, groups: IntArray, place: IntArray, aside: BoolArray) -> BoolArray:
    """Put pairs of the missing label aside too, the first in the order that was drawn."""
    if np.ptp(targets[aside]) > 0:
        return aside
    others = np.flatnonzero(targets != targets[aside][0])
    if len(np.unique(groups[others])) < 2:  # noqa: PLR2004 - one to train on, one to judge by
        raise InputError(
            f"the labels {targets[others[0]]:g} are of {len(others)} of {len(targets):,} pairs.",
            "That is too few to train on some of them and to judge by others.",
            "Pass more such pairs, validation=(pairs, labels) of both labels, or None.",
        )
    first = others[np.argmin(place[others])]
    return np.asarray(aside | (place == place[first]))


def check_judges(validation: Examples, train: Examples) -> None:
    """Refuse pairs by which no epoch is better than another: labels that are all the same."""
    labelled = validation.labelled and train.labelled
    if labelled and np.ptp(validation.targets) == 0:
        raise InputError(
            f"validation: the labels of all {len(validation):,} pairs are the same.",
            "F1 cannot tell a good epoch from a bad one by them.",
            "Pass pairs of both labels, a share, or None.",
        )


def check_varied(examples: Examples, what: str) -> None:
    """Refuse examples from which nothing can be learned."""
    if not len(examples) or np.ptp(examples.targets) == 0:
        raise InputError(
            f"the {what} have no two different scores.",
            "From one score alone a model learns to say it of everything.",
            "Pass more pairs, some that are alike and some that are not; or a smaller validation.",
        )


def _two_texts(pair: Any, k: int, name: str) -> tuple[str, str]:
    iterable = hasattr(pair, "__iter__") and not isinstance(pair, str)
    texts = tuple(pair) if iterable else None
    if texts is None or len(texts) != 2 or not all(isinstance(text, str) for text in texts):  # noqa: PLR2004 - a pair
        raise InputError(
            f"{name}: pair {k} is {str(pair)[:60]!r}.",
            "A cross-encoder reads two texts.",
            "Pass a sequence of (text, text).",
        )
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{name}: pair {k} holds half a character: {text[:60]!r}.",
                "Tokenizers read UTF-8, which has no single surrogates.",
                'Mend it: text.encode("utf-8", "replace").decode().',
            ) from error
    return texts
