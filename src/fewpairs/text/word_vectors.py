"""WordVectors: the table from word to vector."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import unmasked
from fewpairs.errors import InputError, UnknownWordError
from fewpairs.numerics import largest, parts
from fewpairs.text import vector_files
from fewpairs.text.vector_tables import checked, stacked

#: Vectors of which a checksum is made at a time.
_STRIP = 2**14
#: Words among which near spellings are looked for: the first of a file are the most frequent.
_COMPARED = 100_000


class WordVectors:
    """Words and their vectors.

    Parameters
    ----------
    words : sequence of str, or mapping from word to vector
    array : ndarray of shape (n_words, dimensions), optional
        Not with a mapping. Arrays of float32 and memory-mapped ones stay as they are.

    Attributes
    ----------
    words : list of str
    array : ndarray
    place : dict
        From word to row.

    Examples
    --------
    >>> table = WordVectors(["ape", "bee"], [[1.0, 0.0], [0.0, 1.0]])
    >>> table["bee"], "cow" in table, table.dimensions
    (array([0., 1.]), False, 2)
    """

    def __init__(self, words: Any, array: npt.ArrayLike | None = None) -> None:
        if isinstance(words, Mapping):
            if array is not None:
                raise InputError(
                    "an array was given beside a mapping from words to vectors.",
                    "Which of the two holds the vectors cannot be guessed.",
                    "Pass WordVectors(mapping), or WordVectors(words, array).",
                )
            words, vectors = list(words), stacked(words)
        else:
            words = list(words)
            vectors = np.asanyarray([] if array is None else unmasked(array, "the vectors"))
        self.words, self.array = checked(words, vectors)
        self.place: dict[str, int] = {word: k for k, word in enumerate(self.words)}
        if not isinstance(self.array, np.memmap):  # which would be read from end to end
            self.check_finite()

    @classmethod
    def of(cls, vectors: Any) -> WordVectors:
        """Make a table of what people have: a mapping, gensim's ``KeyedVectors``, or a table."""
        if isinstance(vectors, WordVectors):
            return vectors
        if isinstance(vectors, Mapping):
            return cls(vectors)
        inner = getattr(vectors, "wv", vectors)  # a trained gensim model holds its vectors there
        if hasattr(inner, "index_to_key") and hasattr(inner, "vectors"):
            return cls(inner.index_to_key, inner.vectors)
        raise InputError(
            f"the word vectors are a {type(vectors).__name__}.",
            "They say where each word lies.",
            "Pass fewpairs.WordVectors(words, array), a mapping from word to vector, gensim's "
            "KeyedVectors, or fewpairs.WordVectors.load(path).",
        )

    @classmethod
    def load(cls, path: str | Path, *, mmap: bool = False) -> WordVectors:
        """Read a file: word2vec text or binary, GloVe text, or ``.npz``; told by its content.

        Parameters
        ----------
        path : str or Path
            A text may be compressed by gzip.
        mmap : bool, default=False
            Leave the vectors of an uncompressed ``.npz`` on disk until they are needed; other
            files are read.

        Returns
        -------
        WordVectors
        """
        return cls(*vector_files.read(Path(path), mmap=mmap))

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file (no pickle), or word2vec text: ``.txt`` or ``.txt.gz``."""
        vector_files.write(Path(path), self.words, self.array)

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.array.shape[1])

    @cached_property
    def checksum(self) -> str:
        """Of all words and vectors, read once: vectors must not change afterwards."""
        found = hashlib.sha256("\n".join(self.words).encode("utf-8", "surrogatepass"))
        for part in parts(len(self), _STRIP):
            found.update(np.ascontiguousarray(self.array[part], dtype="<f8").view(np.uint8).data)
        return found.hexdigest()

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.place

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, word: str) -> npt.NDArray[Any]:
        """Return the vector of a word; UnknownWordError, a KeyError, if it has none."""
        if word not in self.place:  # no spellings are looked up: this may be one word of many
            raise UnknownWordError(word, len(self))
        return np.asarray(self.array[self.place[word]])

    def check_finite(self) -> None:
        """Refuse vectors that are not finite, by name.

        Done when the table is made; for memory-mapped vectors before their first distance.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            bad = np.flatnonzero(~np.isfinite(self.array.sum(axis=1)))
        # The sum of large numbers may be infinite where they are not.
        bad = bad[~np.isfinite(self.array[bad]).all(axis=1)]
        if len(bad):
            raise InputError(
                f"{len(bad)} of {len(self)} vectors are not finite, the first that of "
                f"{self.words[bad[0]]!r}.",
                "Every distance to such a word would be lost.",
                "Leave the words out, or repair their vectors.",
            )

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two words' vectors, 0 beside a zero one.

        Of a word without a vector those with nearly its spelling are named.

        Examples
        --------
        >>> round(WordVectors(["ape", "bee"], [[1.0, 0.0], [3.0, 4.0]]).similarity("ape", "bee"), 3)
        0.6
        """
        for word in (a, b):
            self._check_known(word)
        left, right = (np.asarray(self[word], dtype=np.float64) for word in (a, b))
        # Squares of 1e200 and of 1e-200 are beyond what a number can hold.
        left, right = (side / (np.abs(side).max(initial=0.0) or 1.0) for side in (left, right))
        lengths = float(np.linalg.norm(left) * np.linalg.norm(right))
        return float(left @ right) / (lengths or 1.0)

    def most_similar(self, word: str | npt.ArrayLike, k: int = 10) -> list[tuple[str, float]]:
        """Return the k words with the largest cosine, best first.

        Parameters
        ----------
        word : str or array of shape (dimensions,)
            A word, which is left out of the answer, or a vector.
        k : int, default=10

        Returns
        -------
        list of (word, cosine)

        Raises
        ------
        UnknownWordError
            The word has no vector; words that are spelled nearly so are named.
        """
        itself: list[int] = []
        if isinstance(word, str):
            self._check_known(word)
            vector, itself = self[word], [self.place[word]]
        else:
            vector = unmasked(word, "the vector")
        target = np.asarray(vector, dtype=np.float64)
        lengths = np.linalg.norm(self.array, axis=1) * np.linalg.norm(target)
        cosines = (self.array @ target) / np.maximum(lengths, np.finfo(float).tiny)
        cosines[itself] = -np.inf
        best = largest(cosines, min(k, len(self) - len(itself)))
        return [(self.words[i], float(cosines[i])) for i in best]

    def analogy(self, a: str, b: str, c: str, k: int = 1) -> list[tuple[str, float]]:
        """Return the k words that are to `c` as `b` is to `a`, best first.

        They lie nearest to b − a + c, with the three vectors scaled to length one; the three words
        are left out of the answer.
        """
        for word in (a, b, c):
            self._check_known(word)
        unit = [self[word] / max(float(np.linalg.norm(self[word])), 1e-300) for word in (a, b, c)]
        found = self.most_similar(unit[1] - unit[0] + unit[2], k + 3)
        return [pair for pair in found if pair[0] not in (a, b, c)][:k]

    def _check_known(self, word: str) -> None:
        """Refuse a word without a vector, and name those with nearly its spelling."""
        if word not in self.place:
            text = isinstance(word, str)
            near = _near_spellings(word, self.words[:_COMPARED]) if text else []
            raise UnknownWordError(word, len(self), near)

    def normalized(self) -> WordVectors:
        """Return the same words with vectors of length one; a zero vector stays zero."""
        array = np.asarray(self.array)  # no longer a map: the result is in memory
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        unit = np.divide(array, lengths, out=np.zeros_like(array), where=lengths > 0)
        return WordVectors(self.words, unit)

    def __repr__(self) -> str:
        return f"<{len(self):,} word vectors of {self.dimensions} dimensions>"


def _near_spellings(word: str, words: list[str]) -> list[str]:
    """Up to three words, nearest first, among those that begin alike and are about as long."""
    first, length = word[:1].casefold(), len(word)
    alike = [w for w in words if w[:1].casefold() == first and abs(len(w) - length) <= 2]  # noqa: PLR2004
    near = {w.casefold(): w for w in reversed(alike)}  # of two spellings the more frequent one
    found = difflib.get_close_matches(word.casefold(), near, n=3, cutoff=0.75)
    return [near[one] for one in found]
