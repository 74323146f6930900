"""A corpus as numbers: every text read once, every token one small integer."""

from __future__ import annotations

import gzip
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import IntArray
from fewpairs.errors import InputError
from fewpairs.text.tokens import Tokenizer, read_texts, read_tokens, refuse_other_than_strings

#: Tokens of one piece, which is counted at a time: 64 MB.
PIECE = 2**24
#: Encoded tokens above this many bytes, 256 MB, wait in a temporary file.
_IN_MEMORY = 2**28
#: Tokens that are held as strings at a time: some ten MB, and long enough for a fast loop.
_BATCH = 2**20
#: While texts are read, words are numbered as they come, and this stands for the end of a document.
_END = 0
#: Afterwards words are numbered by frequency, from 0 on, and these stand for the end of a document
#: and for a word that is left out.
DOCUMENT_END = -1
#: Stands behind each document while it is read: nothing that a user's tokens hold is this.
_MARK = object()
_TOO_RARE = -2


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """Words by decreasing frequency, and the texts as their numbers.

    Parameters
    ----------
    words : list of str
    frequencies : ndarray of int64
        How often each occurs.
    """

    words: list[str]
    frequencies: IntArray
    _spool: _Spool
    _codes: npt.NDArray[np.int32]  # from number at first sight to number by frequency

    @classmethod
    def of(
        cls,
        texts: Any,
        *,
        tokenizer: Tokenizer | None = None,
        min_count: int = 5,
        max_words: int | None = None,
    ) -> EncodedCorpus:
        """Read texts once; they may come from a generator or a file larger than the memory.

        Parameters
        ----------
        texts : iterable of texts or token lists, or Path
            Lines of a file are texts; a name that ends in ``.gz`` is unpacked.
        tokenizer : callable, optional
        min_count : int, default=5
            Words that occur less often are left out, as if they were not there.
        max_words : int, optional
            Keep this many, the most frequent.

        Returns
        -------
        EncodedCorpus
        """
        # Looking a new token up gives it the next number, so one loop in C encodes a batch.
        numbers: defaultdict[Any, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        numbers[_MARK] = _END
        spool = _Spool()
        seen = np.zeros(1, dtype=np.int64)
        for batch in _batches(
            _lines(texts) if isinstance(texts, Path) else read_texts(texts), tokenizer
        ):
            known = len(numbers)
            codes = np.fromiter(map(numbers.__getitem__, batch), np.int32)
            refuse_other_than_strings(islice(numbers, known, None), "the corpus")
            seen.resize(len(numbers), refcheck=False)
            seen += np.bincount(codes, minlength=len(numbers))
            spool.file.write(codes.tobytes())
        kept, codes = _by_frequency(seen, min_count, max_words)
        names = list(numbers)
        return cls([names[k] for k in kept], seen[kept], spool, codes)

    def pieces(self, size: int = PIECE) -> Iterator[npt.NDArray[np.int32]]:
        """Give the tokens piece by piece, `DOCUMENT_END` behind each document.

        A piece ends with a document, unless one document is longer than a piece.
        """
        self._spool.file.seek(0)
        rest = np.empty(0, dtype=np.int32)
        while block := self._spool.file.read(4 * size):  # four bytes for each token
            tokens = np.concatenate([rest, self._codes[np.frombuffer(block, dtype=np.int32)]])
            tokens = tokens[tokens != _TOO_RARE]
            ends = np.flatnonzero(tokens == DOCUMENT_END)
            cut = int(ends[-1]) + 1 if len(ends) else len(tokens)
            yield tokens[:cut]
            rest = tokens[cut:]
        if len(rest):
            yield rest


class _Spool:
    """A place for codes: in memory, on disk when there are many; gone with its owner."""

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed below
        weakref.finalize(self, self.file.close)


def _lines(path: Path) -> Iterator[str]:
    if not path.exists() or path.is_dir():  # a pipe is no file, and can be read
        what = "is a folder" if path.is_dir() else "is not there"
        raise InputError(
            f"there is no file {str(path)!r}: it {what}.",
            "Its lines are the texts.",
            "Check the path.",
        )
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        yield from file


def _batches(texts: Iterable[Any], tokenizer: Tokenizer | None) -> Iterator[Iterable[Any]]:
    """Chain the tokens of many texts, with a mark behind each text."""
    parts: list[Iterable[Any]] = []
    size = 0
    for position, text in enumerate(texts):
        tokens = read_tokens(text, tokenizer, position)
        parts += (tokens, (_MARK,))
        size += len(tokens)
        if size >= _BATCH:
            yield chain.from_iterable(parts)
            parts, size = [], 0
    yield chain.from_iterable(parts)


def _by_frequency(
    seen: IntArray, min_count: int, max_words: int | None
) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """Return the words that are kept, most frequent first, and the new code of each old one."""
    order = 1 + np.argsort(-seen[1:], kind="stable")
    kept = order[seen[order] >= max(1, min_count)][:max_words]
    if not len(kept):
        raise InputError(
            f"no word occurs {min_count} times in the {int(seen[1:].sum()):,} tokens.",
            "A word's vector comes from the words around its occurrences.",
            "Pass more text, or a smaller min_count.",
        )
    codes = np.full(len(seen), _TOO_RARE, dtype=np.int32)
    codes[kept] = np.arange(len(kept))
    codes[_END] = DOCUMENT_END
    return kept, codes
