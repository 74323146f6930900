"""Guides of texts: what characters and words they share, and how long they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray
from fewpairs.guides.basis import DIMENSIONS
from fewpairs.items.stored import Stored

#: Characters that are counted, the most frequent ones.
_ALPHABET = 100
#: With fewer words in the mean, words say no more than characters do.
_WORDS = 2.0


def text_guides(texts: list[str] | Stored) -> list[tuple[str, Any]]:
    """Return tables of texts: runs of two to four characters, single characters, words.

    The weights are those of information retrieval (TF-IDF): what is rare tells more. Texts are
    compared in lower case.
    """
    from sklearn.feature_extraction.text import (  # noqa: PLC0415 - takes a second to load
        CountVectorizer,
        TfidfVectorizer,
    )

    lower = _Lower(texts) if isinstance(texts, Stored) else [text.lower() for text in texts]
    runs = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2, sublinear_tf=True)
    single = CountVectorizer(analyzer="char", max_features=_ALPHABET)
    words = TfidfVectorizer(tokenizer=str.split, token_pattern=None, min_df=2, sublinear_tf=True)
    wanted = [("runs of characters", runs), ("characters", single)]
    if np.mean([len(text.split()) for text in lower]) >= _WORDS:
        wanted.append(("words", words))
    tables = []
    for name, vectorizer in wanted:
        try:
            table = vectorizer.fit_transform(lower)
        except ValueError:  # no text has any, or each is in one text only
            continue
        tables.append((name, table.sqrt() if vectorizer is single else table))
    return tables


class _Lower:
    """Texts that stay on disk, in lower case: read again whenever they are gone through."""

    def __init__(self, texts: Stored) -> None:
        self._texts = texts

    def __iter__(self) -> Iterator[str]:
        return (text.lower() for text in self._texts)


def log_lengths(texts: list[str] | Stored) -> FloatArray:
    """Return the logarithms of the lengths, as a table with one column."""
    return np.log1p([[len(text)] for text in texts])


def dense(table: Any) -> FloatArray:
    """Return a sparse table as a dense one, on its leading directions if it has many columns."""
    table = sp.csr_array(table)
    if min(table.shape) <= DIMENSIONS:
        return np.asarray(table.toarray(), dtype=np.float64)
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 - takes a second to load

    # The seed is fixed: a guide is a function of the items.
    directions = TruncatedSVD(DIMENSIONS, random_state=0)
    return np.asarray(directions.fit_transform(sp.csr_matrix(table)))
