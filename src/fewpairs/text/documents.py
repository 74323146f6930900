"""Documents: texts as weighted bags of words, in one compact table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.text.word_vectors import WordVectors

Tokenizer = Callable[[str], Iterable[str]]
StopWords = str | Iterable[str] | None

#: Runs of letters and digits, with apostrophes inside; everything else separates.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
WEIGHTS = ("nbow", "tfidf")
EMPTY = ("error", "far", "drop")


def tokenize(text: str) -> list[str]:
    """Cut a text into lower-case words: runs of letters and digits, apostrophes inside.

    Examples
    --------
    >>> tokenize("Don't panic: it's 42.")
    ["don't", 'panic', "it's", '42']
    """
    return _WORD.findall(text.lower())


@dataclass(frozen=True, eq=False)
class Documents:
    """Weighted bags of words over one table of word vectors.

    Document i has the words ``words[starts[i]:starts[i + 1]]`` (rows of the table, increasing)
    with weights that sum to one. A sequence: an index gives one document, an array of indices a
    smaller set.

    Parameters
    ----------
    words : ndarray of int32
    weights : ndarray of float64
    starts : ndarray of int64, one longer than the number of documents
    vectors : WordVectors
    kept : ndarray of int64
        Position in the input of each document; all of them unless empty ones were dropped.
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
        weights: str = "nbow",
        empty: str = "error",
    ) -> Documents:
        """Read texts, or lists of tokens.

        Parameters
        ----------
        texts : sequence of str or of lists of str
        vectors : WordVectors, mapping, or gensim's KeyedVectors
            Words without a vector are left out.
        tokenizer : callable, optional
            From text to tokens; by default `tokenize`. Lists of tokens are taken as they are.
        stop_words : "english", "smart", iterable of str, or None
            Words to leave out: scikit-learn's English list, that of the SMART system, which the
            papers used, your own, or none.
        weights : {"nbow", "tfidf"}, default="nbow"
            Counts, or counts times log(number of documents / documents with the word) + 1; both
            scaled to sum to one.
        empty : {"error", "far", "drop"}, default="error"
            What to do with a document without any known word: refuse it; keep it, as far from
            every other as words can be (two empty ones are equal); leave it out, and tell in
            `kept` which remain.

        Returns
        -------
        Documents
        """
        _check_names(weights, empty)
        table = WordVectors.of(vectors)
        if isinstance(texts, Documents):
            return texts.over(table)
        stopped = _stop_words(stop_words)
        listed = list(as_sequence(texts))
        if listed and all(isinstance(text, Documents) for text in listed):
            return cls.joined([text.over(table) for text in listed])
        rows, counts, sizes, unknown = [], [], [], 0
        for position, text in enumerate(listed):
            tokens = _tokens(text, tokenizer, position)
            used = [t for t in tokens if t not in stopped]
            found = [table.place[t] for t in used if t in table.place]
            unknown += len(used) - len(found)
            ids, count = np.unique(np.array(found, dtype=np.int32), return_counts=True)
            rows.append(ids)
            counts.append(count.astype(np.float64))
            sizes.append(len(ids))
        if not rows:
            raise InputError(
                "there are no documents.",
                "Distances are between documents.",
                "Pass a non-empty list of texts or of token lists.",
            )
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        whole = cls(
            np.concatenate(rows), np.concatenate(counts), starts, table, np.arange(len(rows))
        )
        return whole._without_empty(empty, unknown)._weighted(weights)  # noqa: SLF001 - its own

    def over(self, table: WordVectors) -> Documents:
        """Check that the documents were made for these word vectors."""
        if self.vectors is not table and self.vectors.words != table.words:
            raise InputError(
                "the documents were made with other word vectors.",
                "Their words are rows of that table.",
                "Pass the same WordVectors, or the texts themselves.",
            )
        return self

    def _without_empty(self, policy: str, unknown: int) -> Documents:
        gone = np.flatnonzero(np.diff(self.starts) == 0)
        if not len(gone) or policy == "far":
            return self
        if policy == "error":
            places = ", ".join(map(str, gone[:5])) + (", …" if len(gone) > 5 else "")  # noqa: PLR2004
            raise InputError(
                f"{len(gone)} of {len(self)} documents have no known word (positions {places}); "
                f"{unknown:,} tokens in all are not in the vocabulary of {len(self.vectors):,}.",
                "Nothing can be moved from or to an empty document.",
                'Pass empty="far" to keep them at the largest distance, or empty="drop"; or check '
                "the tokenizer (case, language) against the vectors.",
            )
        if len(gone) == len(self):
            raise InputError(
                "no document has any known word.",
                "Dropping them all would leave nothing.",
                "Check the tokenizer (case, language) against the vectors.",
            )
        return self[np.setdiff1d(np.arange(len(self)), gone)]

    def _weighted(self, weights: str) -> Documents:
        values = self.weights
        if weights == "tfidf":
            having = np.bincount(self.words, minlength=len(self.vectors))
            values = values * (np.log(len(self) / np.maximum(having[self.words], 1)) + 1)
        document = np.repeat(np.arange(len(self)), np.diff(self.starts))
        totals = np.bincount(document, values, minlength=len(self))
        return replace(self, weights=values / totals[document])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> Documents:
        """Return one document (an integer) or several (an array, a slice), as `Documents`."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        if len(chosen) == len(self) and np.array_equal(chosen, np.arange(len(self))):
            return self
        sizes = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # Entry k of the result lies as far behind its document's start as it did before.
        source = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], sizes)
        kept = self.kept[chosen] if len(self.kept) else self.kept
        return Documents(self.words[source], self.weights[source], starts, self.vectors, kept)

    def __iter__(self) -> Iterator[Documents]:
        return (self[i] for i in range(len(self)))

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


def _check_names(weights: str, empty: str) -> None:
    if weights not in WEIGHTS:
        raise UnknownNameError("weights", weights, WEIGHTS)
    if empty not in EMPTY:
        raise UnknownNameError("empty", empty, EMPTY)


def as_sequence(texts: Any) -> Iterable[Any]:
    """Refuse one text where many are needed."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputError(
            f"documents is a {type(texts).__name__}.",
            "One text alone would be read letter by letter.",
            "Pass a list of texts, or a list of token lists.",
        )
    return texts


def read_tokens(text: Any, tokenizer: Tokenizer | None, position: int) -> list[Any]:
    """Return the tokens of one text, or those that it is a list of."""
    if isinstance(text, str):
        return list((tokenizer or tokenize)(text))
    if isinstance(text, (list, tuple, np.ndarray)):
        return list(text)
    raise InputError(
        f"document {position} is a {type(text).__name__}.",
        "A document is a text, or the list of its tokens.",
        "Pass strings or lists of strings.",
    )


def _tokens(text: Any, tokenizer: Tokenizer | None, position: int) -> list[str]:
    tokens = read_tokens(text, tokenizer, position)
    wrong = next((t for t in tokens if not isinstance(t, str)), None)
    if wrong is not None:
        raise InputError(
            f"document {position} has the token {wrong!r}, a {type(wrong).__name__}.",
            "Tokens are looked up by their spelling.",
            "Convert tokens with str.",
        )
    return tokens


def _stop_words(stop_words: StopWords) -> frozenset[str]:
    if stop_words is None:
        return frozenset()
    if not isinstance(stop_words, str):
        return frozenset(stop_words)
    if stop_words == "smart":
        text = resources.files("fewpairs.text").joinpath("smart_stop_words.txt").read_text("utf-8")
        return frozenset(line for line in text.splitlines() if not line.startswith("#"))
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # noqa: PLC0415 - slow

        return frozenset(ENGLISH_STOP_WORDS)
    raise UnknownNameError("stop_words", stop_words, ("english", "smart"))
