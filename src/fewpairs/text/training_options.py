"""What the options of training may be: told before a text is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import InputError


def _are_sizes(blocks: Any) -> bool:
    pair = isinstance(blocks, (tuple, list, np.ndarray)) and len(blocks) == 2  # noqa: PLR2004
    return pair and all(is_whole(size) and size >= 1 for size in blocks)


#: What options may be, and how that is said.
ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_components": (lambda x: is_whole(x) and x >= 1, "a positive integer"),
    "window": (lambda x: is_whole(x) and x > 1, "an integer of at least 2"),
    "subsample": (lambda x: x is None or (is_number(x) and x > 0), "a positive number, or None"),
    "max_pairs": (lambda x: is_whole(x) and x >= 1, "a positive integer"),
    "min_count": (lambda x: is_whole(x) and x >= 0, "an integer of at least 0"),
    "max_words": (lambda x: x is None or (is_whole(x) and x >= 1), "a positive integer, or None"),
    "smoothing": (lambda x: is_number(x) and 0 <= x <= 1, "a number between 0 and 1"),
    "shift": (is_number, "a finite number"),
    "blocks": (_are_sizes, "two positive integers"),
}


def check_option(name: str, value: Any) -> None:
    """Refuse what cannot be used, before a text is read."""
    fits, what = ALLOWED[name]
    if not fits(value):
        told = "the number of dimensions" if name == "n_components" else name
        raise InputError(f"{told} is {value!r}.", "No text was read.", f"Pass {what}.")
