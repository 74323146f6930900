"""WordVectors: the table from word to vector."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import unmasked
from fewpairs.errors import DuplicateWordsWarning, InputError, warn
from fewpairs.numerics import largest, parts
from fewpairs.text import vector_files

#: Vectors of which a checksum is made at a time.
_STRIP = 2**14


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
            words, vectors = list(words), _stacked(words)
        else:
            words = list(words)
            vectors = np.asanyarray([] if array is None else unmasked(array, "the vectors"))
        self.words, self.array = _checked(words, vectors)
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
        """Return the vector of a word; KeyError if it has none."""
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
        """Return the cosine of two words' vectors, 0 beside a zero one; KeyError if one has none.

        Examples
        --------
        >>> round(WordVectors(["ape", "bee"], [[1.0, 0.0], [3.0, 4.0]]).similarity("ape", "bee"), 3)
        0.6
        """
        left, right = (np.asarray(self[word], dtype=np.float64) for word in (a, b))
        lengths = float(np.linalg.norm(left) * np.linalg.norm(right))
        return float(left @ right) / max(lengths, float(np.finfo(float).tiny))

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
        """
        known = isinstance(word, str)
        vector = self[word] if isinstance(word, str) else unmasked(word, "the vector")
        target = np.asarray(vector, dtype=np.float64)
        lengths = np.linalg.norm(self.array, axis=1) * np.linalg.norm(target)
        cosines = (self.array @ target) / np.maximum(lengths, np.finfo(float).tiny)
        if isinstance(word, str):
            cosines[self.place[word]] = -np.inf
        best = largest(cosines, min(k, len(self) - known))
        return [(self.words[i], float(cosines[i])) for i in best]

    def analogy(self, a: str, b: str, c: str, k: int = 1) -> list[tuple[str, float]]:
        """Return the k words that are to `c` as `b` is to `a`, best first.

        They lie nearest to b − a + c, with the three vectors scaled to length one; the three words
        are left out of the answer.
        """
        unit = [self[word] / max(float(np.linalg.norm(self[word])), 1e-300) for word in (a, b, c)]
        found = self.most_similar(unit[1] - unit[0] + unit[2], k + 3)
        return [pair for pair in found if pair[0] not in (a, b, c)][:k]

    def normalized(self) -> WordVectors:
        """Return the same words with vectors of length one; a zero vector stays zero."""
        array = np.asarray(self.array)  # no longer a map: the result is in memory
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        unit = np.divide(array, lengths, out=np.zeros_like(array), where=lengths > 0)
        return WordVectors(self.words, unit)

    def __repr__(self) -> str:
        return f"<{len(self):,} word vectors of {self.dimensions} dimensions>"


def _stacked(mapping: Mapping[str, Any]) -> npt.NDArray[Any]:
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


def _checked(words: list[Any], array: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[Any]]:
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
