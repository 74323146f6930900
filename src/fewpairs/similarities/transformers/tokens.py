"""Texts as tokens, each different text tokenised once, however many pairs it is in."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray, is_whole
from fewpairs.errors import InputError

#: Many tokenizers keep the state of a call in themselves, and fail where two threads call them.
ONE_AT_A_TIME = threading.Lock()
#: Texts in one call of a tokenizer.
_TOGETHER = 4096


@dataclass(frozen=True, eq=False)
class Table:
    """Different texts and their tokens.

    Parameters
    ----------
    texts : list of str
    ids : ndarray of int64
        Tokens of all texts, one text after the other; of a long one, as many as a model can read.
    starts : ndarray of int64, one longer than the number of texts
    lengths : ndarray of int64
        Tokens of the whole text, also of a long one.
    """

    texts: list[str]
    ids: IntArray
    starts: IntArray
    lengths: IntArray


@dataclass(frozen=True, eq=False)
class Tokens:
    """A sequence of texts: places in a table. Subsets share the table.

    Parameters
    ----------
    table : Table
    places : ndarray of int64
    """

    table: Table
    places: IntArray

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Tokens:
        chosen = range(len(self))[index] if is_whole(index) else index
        return Tokens(self.table, np.atleast_1d(self.places[chosen]))

    def texts(self) -> list[str]:
        """Return the texts themselves."""
        return [self.table.texts[place] for place in self.places]

    @property
    def lengths(self) -> IntArray:
        """How many tokens each whole text has."""
        return self.table.lengths[self.places]

    @property
    def starts(self) -> IntArray:
        """Where the kept tokens of each text begin in ``table.ids``."""
        return self.table.starts[self.places]

    @property
    def kept(self) -> IntArray:
        """How many tokens of each text are kept."""
        return self.table.starts[self.places + 1] - self.starts

    def __repr__(self) -> str:
        return repr(self.texts()[0]) if len(self) == 1 else f"<{len(self):,} tokenised texts>"


def tokenised(texts: Sequence[Any], tokenizer: Any, most: int | None) -> Tokens:
    """Tokenise texts, each different one once.

    Parameters
    ----------
    texts : sequence of str
    tokenizer : tokenizer of Hugging Face
    most : int or None
        Tokens of one text that a model can read; the others are counted, and dropped.

    Returns
    -------
    Tokens
    """
    place: dict[str, int] = {}
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"item {i} is a {type(text).__name__}, not a text.",
                "A cross-encoder reads texts.",
                "Convert the items with str, or write the part of them that is to be compared.",
            )
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise InputError(
                f"item {i} is no text that can be written: {text[:60]!r} holds half a character.",
                "Tokenizers read UTF-8, which has no single surrogates.",
                'Mend it: text.encode("utf-8", "replace").decode().',
            )
        place.setdefault(text, len(place))
    different = list(place)
    from_left = getattr(tokenizer, "truncation_side", "right") == "left"
    kept: list[npt.NDArray[np.int64]] = []
    lengths: list[int] = []
    for start in range(0, len(different), _TOGETHER):
        for ids in plain_ids(tokenizer, different[start : start + _TOGETHER]):
            lengths.append(len(ids))
            if most is not None and len(ids) > most:
                ids = ids[-most:] if from_left else ids[:most]  # noqa: PLW2901 - the same, shorter
            kept.append(np.asarray(ids, dtype=np.int64))
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in kept])]).astype(np.int64)
    flat = np.concatenate([np.empty(0, dtype=np.int64), *kept])
    table = Table(different, flat, starts, np.asarray(lengths, dtype=np.int64))
    return Tokens(table, np.asarray([place[text] for text in texts], dtype=np.int64))


def plain_ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Return the tokens of each text alone, without special ones and however many."""
    with ONE_AT_A_TIME:
        answer = tokenizer(
            texts,
            add_special_tokens=False,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
    ids: list[list[int]] = answer["input_ids"]
    return ids
