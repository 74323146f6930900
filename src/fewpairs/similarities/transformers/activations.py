"""From what a model says to a similarity: which of its numbers, and on which scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, softmax

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import InputError, UnknownNameError

#: A name of `ACTIVATIONS`, or a function of an array pairs × labels.
Activation: TypeAlias = str | Callable[[FloatArray], Any]


def _identity(logits: FloatArray) -> FloatArray:
    return logits


def _probabilities(logits: FloatArray) -> FloatArray:
    return np.asarray(softmax(logits, axis=1))


#: Each takes pairs × labels.
ACTIVATIONS: dict[str, Callable[[FloatArray], Any]] = {
    "identity": _identity,
    "sigmoid": expit,
    "softmax": _probabilities,
}
#: Those whose values lie between 0 and 1.
BOUNDED = ("sigmoid", "softmax")


def activation_of(given: Any) -> Callable[[FloatArray], Any]:
    """Return an activation by its name, or a user's own."""
    if callable(given):
        own: Callable[[FloatArray], Any] = given
        return own
    if given not in ACTIVATIONS:
        raise UnknownNameError("activation", given, ACTIVATIONS)
    return ACTIVATIONS[given]


def label_of(label: Any, names: Mapping[int, str], count: int) -> int:
    """Return which output is the similarity; of several, somebody must have said it."""
    listed = ", ".join(f"{k} ({names[k]})" if k in names else str(k) for k in range(count))
    by_name = {name: k for k, name in names.items()}
    if label is None and count == 1:
        return 0
    place = by_name.get(label) if isinstance(label, str) else label
    if is_whole(place) and 0 <= place < count:
        return int(place)
    raise InputError(
        f"the model returns {count} numbers for a pair, and label is {label!r}.",
        "A similarity is one number.",
        f"Pass label=…, one of: {listed}.",
    )
