"""What a table of word vectors may be made of: one row of numbers for each word, each word once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import unmasked
from fewpairs.errors import DuplicateWordsWarning, InputError, warn


def stacked(mapping: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Put the vectors of a mapping into one array; refuse the one that has another length."""
    unmasked(list(mapping.values()), "the vectors")
    lengths = {len(np.atleast_1d(vector)) for vector in mapping.values()}
    if len(lengths) > 1:
        usual = max(lengths, key=lambda n: sum(len(v) == n for v in mapping.values()))
        odd = next(word for word, vector in mapping.items() if len(vector) != usual)
        raise InputError(
            f"the vector of {odd!r} has {len(mapping[odd])} numbers and others have {usual}.",
            "Distances are between vectors of one length.",
            "Leave the word out, or train all vectors together.",
        )
    return np.array(list(mapping.values()))


def checked(words: list[Any], array: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[Any]]:
    """Refuse what is no table of numbers with one word for each row; keep one row for a word."""
    if not words or array.ndim != 2 or len(array) != len(words):  # noqa: PLR2004 - a table
        raise InputError(
            f"{len(words)} words were given with an array of shape {array.shape}.",
            "There is one row for each word.",
            "Pass a non-empty list of words and an array of shape (words, dimensions).",
        )
    wrong = next((w for w in words if not isinstance(w, str)), None)
    if wrong is not None:
        raise InputError(
            f"the word {wrong!r} is a {type(wrong).__name__}, not a string.",
            "Tokens are looked up by their spelling.",
            "Pass words as strings.",
        )
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"the vectors have the dtype {array.dtype}.",
            "Distances are between numbers.",
            "Pass an array of floats.",
        )
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        with np.errstate(over="ignore", under="ignore"):  # what becomes infinite is refused by name
            array = array.astype(np.float64 if array.dtype.kind in "iu" else np.float32)
    return _without_repeats(words, array)


def _without_repeats(
    words: Iterable[str], array: npt.NDArray[Any]
) -> tuple[list[str], npt.NDArray[Any]]:
    """Keep the first vector of each word, with a warning where there are more."""
    first: dict[str, int] = {}
    repeated = []
    for k, word in enumerate(words):
        if first.setdefault(word, k) != k:
            repeated.append(word)
    if not repeated:
        return list(first), array
    shown = ", ".join(map(repr, repeated[:5])) + (", …" if len(repeated) > 5 else "")  # noqa: PLR2004
    warn(
        DuplicateWordsWarning(
            f"{len(repeated)} words have a second vector ({shown}); the first one is used."
        )
    )
    return list(first), array[list(first.values())]
