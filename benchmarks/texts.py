"""Real documents for the transport benchmarks, with the word vectors at hand."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from matrices import word_vectors

import fewpairs as fp
from fewpairs import datasets


@cache
def vectors() -> fp.WordVectors:
    """GloVe-like vectors of 100 dimensions."""
    return fp.WordVectors(*word_vectors())


def stop_words() -> list[str]:
    folder = datasets.benchmark_folder() / "stopwords"
    return (folder / "wmd_stop_words.txt").read_text(encoding="utf-8").split()


def body(message: str) -> str:
    """A newsgroup message without its headers, quotations and signature."""
    text = message.split("\n\n", 1)[-1].split("\n-- \n", maxsplit=1)[0]
    lines = [x for x in text.split("\n") if not re.match(r"\s*[>|:]|.*writes:\s*$", x)]
    return "\n".join(lines)


def by_length() -> dict[str, fp.Documents]:
    """Documents of four typical lengths (different words in each)."""
    tweets = list(dict.fromkeys(r["text"] for r in datasets.read_records("twitter", "all")))
    news = [body(r["text"]) for r in datasets.read_records("20news", "train")]
    whole = fp.Documents.of(news, vectors(), empty="drop")
    length = np.diff(whole.starts)
    return {
        "tweets, SMART stop words removed": fp.Documents.of(
            tweets, vectors(), empty="drop", stop_words=stop_words()
        ),
        "tweets": fp.Documents.of(tweets, vectors(), empty="drop"),
        "newsgroups, 25–55 words": whole[np.flatnonzero((length >= 25) & (length <= 55))],
        "newsgroups, 45–100 words": whole[np.flatnonzero((length >= 45) & (length <= 100))],
    }
