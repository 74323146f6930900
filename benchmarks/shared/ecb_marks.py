"""Facts about pairs of mentions as parts of their vectors, so that a cosine tells them.

Of the same sentence or document, the same pronoun, the same last word of the first phrase: those
share a direction, all others have directions of their own, at random. And for pronouns, names and
numbers: whether both mentions are such, and whether neither is.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from functools import cache

import numpy as np

from benchmarks.shared import ecb

#: Numbers of a part: random directions of so many have cosines of about ±0.1.
WIDTH = 96
PRONOUNS = {
    word: number
    for number, words in enumerate(
        (
            "he his him himself",
            "she her hers herself",
            "it its itself",
            "they their them themselves",
            "we our us ourselves",
            "i my me myself",
            "you your yours",
            "who whom whose",
            "which that",
            "this these those",
        )
    )
    for word in words.split()
}


def _tokens(mention: ecb.Mention) -> list[str]:
    return mention.window[mention.start : mention.end]


FLAGS = {
    "pronoun": lambda m: m.text.lower() in PRONOUNS,
    "name": lambda m: any(token[:1].isupper() for token in _tokens(m)),
    "number": lambda m: any(sign.isdigit() for sign in m.text),
}


def _directions(keys: list[Hashable | None], own: list[Hashable], fact: int) -> np.ndarray:
    """A direction for each key, the same among whatever mentions; for None that of the mention."""
    both = zip(keys, own, strict=True)
    return np.array([_direction(mine if key is None else key, fact) for key, mine in both])


@cache
def _direction(key: Hashable, fact: int) -> np.ndarray:
    rng = np.random.default_rng([fact, zlib.crc32(repr(key).encode())])
    return rng.choice(np.float32([-1, 1]), size=WIDTH)


def marks(mentions: list[ecb.Mention]) -> list[np.ndarray]:
    """All such parts of each mention."""
    facts: list[list[Hashable | None]] = [
        [m.document for m in mentions],
        [(m.document, m.sentence) for m in mentions],
        [m.phrase for m in mentions],
        [PRONOUNS.get(m.text.lower()) for m in mentions],
    ]
    for flag in FLAGS.values():
        has = [bool(flag(m)) for m in mentions]
        facts += [[True if h else None for h in has], [None if h else True for h in has]]
    own: list[Hashable] = [("alone", k, m.document, m.start) for k, m in enumerate(mentions)]
    return [_directions(keys, own, fact) for fact, keys in enumerate(facts)]


PARTS = (WIDTH,) * (4 + 2 * len(FLAGS))
