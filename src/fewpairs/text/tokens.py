"""From a text to its words: the tokenizer, the lists of stop words, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import resources
from typing import Any

import numpy as np

from fewpairs.errors import InputError, UnknownNameError

Tokenizer = Callable[[str], Iterable[str]]
StopWords = str | Iterable[str] | None

#: Runs of letters and digits, with apostrophes inside; everything else separates.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def tokenize(text: str) -> list[str]:
    """Cut a text into lower-case words: runs of letters and digits, apostrophes inside.

    Examples
    --------
    >>> tokenize("Don't panic: it's 42.")
    ["don't", 'panic', "it's", '42']
    """
    return _WORD.findall(text.lower())


def read_texts(texts: Any) -> Iterable[Any]:
    """Return the texts as they are; refuse one text where many are needed."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputError(
            f"documents is a {type(texts).__name__}.",
            "One text alone would be read letter by letter.",
            "Pass a list of texts, or a list of token lists.",
        )
    return texts


def read_tokens(text: Any, tokenizer: Tokenizer | None, position: int) -> list[Any]:
    """Return the tokens of one document.

    Parameters
    ----------
    text : str, or list, tuple or array of tokens
        Only a string is tokenized.
    tokenizer : callable or None
        By default `tokenize`.
    position : int
        Names the document in an error.

    Returns
    -------
    list
        Not checked: a given list may hold what is no string.
    """
    if isinstance(text, str):
        return list((tokenizer or tokenize)(text))
    if isinstance(text, (list, tuple, np.ndarray)):
        return list(text)
    raise InputError(
        f"document {position} is a {type(text).__name__}.",
        "A document is a text, or the list of its tokens.",
        "Pass strings or lists of strings.",
    )


def refuse_other_than_strings(tokens: Iterable[Any], whose: str) -> None:
    """Refuse tokens that are no strings; `whose` says where the first one was found."""
    for wrong in (token for token in tokens if not isinstance(token, str)):
        raise InputError(
            f"{whose} has the token {wrong!r}, a {type(wrong).__name__}.",
            "Words are looked up by their spelling.",
            "Convert tokens with str.",
        )


def read_stop_words(stop_words: StopWords) -> frozenset[str]:
    """Return the set of words to leave out.

    To be called once, where a user's argument comes in: an iterator is empty the second time.

    Parameters
    ----------
    stop_words : "english", "smart", iterable of str, or None
        scikit-learn's English list; the list of the SMART retrieval system; your own; none.

    Returns
    -------
    frozenset of str
    """
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
