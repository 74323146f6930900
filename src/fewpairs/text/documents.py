"""Documents: texts as weighted bags of words, in one compact table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.items.stored import Stored
from fewpairs.text.tokens import (
    StopWords,
    Tokenizer,
    read_stop_words,
    read_texts,
    read_tokens,
    refuse_other_than_strings,
)
from fewpairs.text.word_vectors import WordVectors

WEIGHTS = ("nbow", "tfidf", "sif")
EMPTY = ("error", "far", "drop")
#: How far the sum of weights may be from one: rounding in single precision.
_SUM = 1e-6
#: a of SIF: words that are rarer than this share of all are worth about the same.
_SIF = 1e-3


@dataclass(frozen=True, eq=False)
class Documents:
    """Weighted bags of words over one table of word vectors.

    Document i has the words ``words[starts[i]:starts[i + 1]]`` (rows of the table, increasing)
    with weights that sum to one. It is a sequence: an index gives one document, an array of
    indices or a slice a smaller set, both as `Documents`.

    Parameters
    ----------
    words : ndarray of int32
    weights : ndarray of float64
    starts : ndarray of int64, one longer than the number of documents
    vectors : WordVectors
    kept : ndarray of int64
        Position of each document in the texts that it was read from. They are all there, unless
        empty ones were dropped. An empty array if the documents were not read from texts.

    Examples
    --------
    >>> table = WordVectors(["ape", "bee"], [[1.0, 0.0], [0.0, 1.0]])
    >>> documents = Documents.of(["Ape, ape, bee, ape!", "no bee"], table)
    >>> documents.bag(0)
    {'ape': 0.75, 'bee': 0.25}
    """

    words: npt.NDArray[np.int32]
    weights: FloatArray
    starts: IntArray
    vectors: WordVectors
    kept: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(
        cls,
        texts: Iterable[Any],
        vectors: Any,
        *,
        tokenizer: Tokenizer | None = None,
        stop_words: StopWords = None,
        weights: str | FloatArray = "nbow",
        empty: str = "error",
    ) -> Documents:
        """Read texts, or lists of tokens.

        Parameters
        ----------
        texts : sequence of str or of lists of str
            `Documents` over the same words, one or a list of them, are taken as they are.
        vectors : WordVectors, mapping, or gensim's KeyedVectors
            Words without a vector are left out.
        tokenizer : callable, optional
            From text to tokens; by default `tokenize`. Lists of tokens are taken as they are.
        stop_words : "english", "smart", iterable of str, or None
            Words to leave out: scikit-learn's English list, that of the SMART system, which the
            papers used, your own, or none.
        weights : {"nbow", "tfidf", "sif"}, default="nbow"
            Counts; counts times log(number of documents / documents with the word) + 1; or counts
            times a / (a + share of the word among all words), a = 0.001. All are scaled to sum to
            one. The last two depend on which documents are read together; `word_weights` makes
            an array of them, which may be given instead.
        empty : {"error", "far", "drop"}, default="error"
            What to do with a document without any known word: refuse it; keep it, as far from
            every other as words can be (two empty ones are equal); or leave it out, and say in
            `kept` which remain.

        Returns
        -------
        Documents
        """
        _check_names(weights, empty)
        table = WordVectors.of(vectors)
        if isinstance(texts, Documents):
            return texts.over(table)._sound()  # noqa: SLF001 - its own
        # Texts that stay on disk are gone through, not listed.
        listed: Any = texts if isinstance(texts, Stored) else list(read_texts(texts))
        if not len(listed):
            raise InputError(
                "there are no documents.",
                "Distances are between documents.",
                "Pass a non-empty list of texts or of token lists.",
            )
        if all(isinstance(text, Documents) for text in listed):
            for one in {id(text.vectors): text for text in listed}.values():
                one.over(table)
            return cls.joined(listed)._sound()  # noqa: SLF001 - its own
        counted, n_unknown = _counted(listed, table, tokenizer, read_stop_words(stop_words))
        return counted._without_empty(empty, n_unknown)._weighted(weights)  # noqa: SLF001 - its own

    def over(self, table: WordVectors) -> Documents:
        """Return the documents, if they were made for these word vectors; refuse them if not."""
        if self.vectors is not table and self.vectors.words != table.words:
            raise InputError(
                "the documents were made with other word vectors.",
                "Their words are rows of that table.",
                "Pass the same WordVectors, or the texts themselves.",
            )
        return self

    def _sound(self) -> Documents:
        """Return the documents, which anyone may have made; refuse what compiled code would trust.

        Beyond the end of an array it would read whatever lies there.
        """
        words, weights, starts = (np.asarray(x) for x in (self.words, self.weights, self.starts))
        fault = _fault(words, weights, starts, len(self.vectors))
        if fault:
            raise InputError(
                f"{fault}.",
                "Documents are rows of the table of vectors, with weights that sum to one.",
                "Make them by fewpairs.Documents.of(texts, vectors).",
            )
        return self

    def _without_empty(self, policy: str, n_unknown: int) -> Documents:
        gone = np.flatnonzero(np.diff(self.starts) == 0)
        if not len(gone) or policy == "far":
            return self
        if policy == "error":
            places = ", ".join(map(str, gone[:5])) + (", …" if len(gone) > 5 else "")  # noqa: PLR2004
            raise InputError(
                f"{len(gone)} of {len(self)} documents have no known word (positions {places}); "
                f"{n_unknown:,} tokens in all are not in the vocabulary of {len(self.vectors):,}.",
                "Nothing can be moved from or to an empty document.",
                'Pass empty="far" to keep them at the largest distance, or leave them out '
                "before; or check the tokenizer (case, language) against the vectors.",
            )
        if len(gone) == len(self):
            raise InputError(
                "no document has any known word.",
                "Dropping them all would leave nothing.",
                "Check the tokenizer (case, language) against the vectors.",
            )
        return self[np.setdiff1d(np.arange(len(self)), gone)]

    def _weighted(self, weights: str | FloatArray) -> Documents:
        """Turn the counts, which stand in place of the weights so far, into weights."""
        worth = self._worth(weights) if isinstance(weights, str) else weights
        values = self.weights * worth[self.words]
        document = np.repeat(np.arange(len(self)), np.diff(self.starts))
        totals = np.bincount(document, values, minlength=len(self))
        return replace(self, weights=values / totals[document])

    def _worth(self, weights: str) -> FloatArray:
        """Return what one occurrence of each word of the table is worth, by these documents."""
        size = len(self.vectors)
        if weights == "tfidf":
            having = np.bincount(self.words, minlength=size)
            return np.asarray(np.log(len(self) / np.maximum(having, 1)) + 1)
        if weights == "sif":
            counts = np.bincount(self.words, self.weights, minlength=size)
            return np.asarray(_SIF / (_SIF + counts / max(float(counts.sum()), 1.0)))
        return np.ones(size)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> Documents:
        if is_whole(index):
            return self._one(range(len(self))[index])  # negative: from the end; beyond: IndexError
        chosen = np.atleast_1d(np.arange(len(self))[index])
        if len(chosen) == len(self) and np.array_equal(chosen, np.arange(len(self))):
            return self
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # Entry k of the result lies as far behind its document's start as it did before.
        source = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], sizes)
        kept = self.kept[chosen] if len(self.kept) else self.kept
        return Documents(self.words[source], self.weights[source], starts, self.vectors, kept)

    def _one(self, k: int) -> Documents:
        """Return document k as views of the whole, so that walking through all is linear."""
        part = slice(*self.starts[k : k + 2])
        starts = np.array([0, part.stop - part.start])
        kept = self.kept[k : k + 1]
        return Documents(self.words[part], self.weights[part], starts, self.vectors, kept)

    def __iter__(self) -> Iterator[Documents]:
        return map(self._one, range(len(self)))

    def bag(self, index: int) -> dict[str, float]:
        """Return the words of one document with their weights."""
        part = slice(self.starts[index], self.starts[index + 1])
        names = [self.vectors.words[w] for w in self.words[part]]
        return dict(zip(names, self.weights[part].tolist(), strict=True))

    def centroids(self) -> FloatArray:
        """Return the weighted mean of each document's vectors; zero for an empty one."""
        shape = (len(self), len(self.vectors))
        bags = sp.csr_array((self.weights, self.words, self.starts), shape)
        return np.asarray(bags @ self.vectors.array, dtype=np.float64)

    @classmethod
    def joined(cls, parts: Sequence[Documents]) -> Documents:
        """Return the documents of several sets over one table, one after the other."""
        sizes = np.concatenate([np.diff(p.starts) for p in parts])
        return cls(
            np.concatenate([p.words for p in parts]),
            np.concatenate([p.weights for p in parts]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            parts[0].vectors,
        )

    def __repr__(self) -> str:
        mean = len(self.words) / max(1, len(self))
        return f"<{len(self):,} documents of {mean:.1f} different words on average>"


def _fault(
    words: npt.NDArray[Any], weights: npt.NDArray[Any], starts: npt.NDArray[Any], n_words: int
) -> str:
    """Say what is wrong with a bag of words; nothing, if nothing is."""
    if words.dtype.kind not in "iu" or starts.dtype.kind not in "iu" or weights.dtype.kind != "f":
        return f"words, weights and starts are {words.dtype}, {weights.dtype} and {starts.dtype}"
    shapes = words.ndim == weights.ndim == starts.ndim == 1 and len(words) == len(weights)
    if not shapes or len(starts) < 2:  # noqa: PLR2004 - one document has a start and an end
        shown = f"{words.shape}, {weights.shape} and {starts.shape}"
        return f"words, weights and starts have the shapes {shown}"
    if starts[0] != 0 or starts[-1] != len(words) or (np.diff(starts) < 0).any():
        return f"starts do not rise from 0 to the number of words, {len(words)}"
    if len(words) and not 0 <= words.min() <= words.max() < n_words:
        return f"words are not between 0 and {n_words - 1}"
    if not np.isfinite(weights).all() or (weights < 0).any():
        return "weights are not finite, or negative"
    sizes = np.diff(starts)
    sums = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights, minlength=len(sizes))
    off = np.flatnonzero((np.abs(sums - 1) > _SUM) & (sizes > 0))
    return f"the weights of document {off[0]} sum to {sums[off[0]]:.9g}" if len(off) else ""


def word_weights(texts: Iterable[Any], vectors: Any, weights: str, **reading: Any) -> FloatArray:
    """Return what one occurrence of each word of a table is worth, by a whole corpus.

    Parameters
    ----------
    texts : sequence of str or of lists of str
    vectors : WordVectors, mapping, or gensim's KeyedVectors
    weights : {"nbow", "tfidf", "sif"}
    **reading
        ``tokenizer`` and ``stop_words`` of `Documents.of`.

    Returns
    -------
    ndarray of shape (n_words,)
    """
    _check_names(weights, "far")
    table = WordVectors.of(vectors)
    stopped = read_stop_words(reading.get("stop_words"))
    counted, _ = _counted(list(read_texts(texts)), table, reading.get("tokenizer"), stopped)
    return counted._worth(weights)  # noqa: SLF001 - its own


def _check_names(weights: str | FloatArray, empty: str) -> None:
    if isinstance(weights, str) and weights not in WEIGHTS:
        raise UnknownNameError("weights", weights, WEIGHTS)
    if empty not in EMPTY:
        raise UnknownNameError("empty", empty, EMPTY)


def _counted(
    texts: list[Any] | Stored,
    table: WordVectors,
    tokenizer: Tokenizer | None,
    stopped: frozenset[str],
) -> tuple[Documents, int]:
    """Count the words of each text, and the tokens in all that have no vector."""
    rows, counts, n_unknown = [], [], 0
    for position, text in enumerate(texts):
        tokens = read_tokens(text, tokenizer, position)
        refuse_other_than_strings(tokens, f"document {position}")
        used = [token for token in tokens if token not in stopped]
        found = [table.place[token] for token in used if token in table.place]
        n_unknown += len(used) - len(found)
        words, count = np.unique(np.array(found, dtype=np.int32), return_counts=True)
        rows.append(words)
        counts.append(count.astype(np.float64))
    starts = np.concatenate([[0], np.cumsum([len(words) for words in rows])]).astype(np.int64)
    everything = np.arange(len(texts))
    return (
        Documents(np.concatenate(rows), np.concatenate(counts), starts, table, everything),
        n_unknown,
    )
