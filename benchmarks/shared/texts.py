"""Real texts: word vectors, stop words, documents of several lengths, paragraphs of Wikipedia."""

from __future__ import annotations

import gzip
import re
from functools import cache
from itertools import islice

import numpy as np

import fewpairs as fp
from fewpairs import datasets

#: Words of Wikipedia that occur less often get no vector.
MIN_COUNT = 10


@cache
def vectors() -> fp.WordVectors:
    """100,000 words in 100 dimensions, derived from GloVe."""
    with np.load(datasets.benchmark_folder() / "wordvectors" / "glove_wink_100d_100k.npz") as file:
        words = next(file[k] for k in file.files if file[k].dtype.kind == "U")
        array = next(file[k] for k in file.files if file[k].ndim == 2)
    return fp.WordVectors(words.tolist(), array.astype(np.float64))


def stop_words() -> list[str]:
    """The SMART list, as in the papers on Word Mover's Distance."""
    folder = datasets.benchmark_folder() / "stopwords"
    return (folder / "wmd_stop_words.txt").read_text(encoding="utf-8").split()


def body(message: str) -> str:
    """A newsgroup message without its headers, quotations and signature."""
    text = message.split("\n\n", 1)[-1].split("\n-- \n", maxsplit=1)[0]
    lines = [x for x in text.split("\n") if not re.match(r"\s*[>|:]|.*writes:\s*$", x)]
    return "\n".join(lines)


def wikipedia(limit: int | None = None) -> list[list[str]]:
    """Paragraphs of English Wikipedia as lower-case words, from the first `limit` lines."""
    path = datasets.benchmark_folder() / "enwiki100" / "corpus.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = [re.findall(r"[a-z]+", line.lower()) for line in islice(file, limit)]
    return [paragraph for paragraph in found if paragraph]


def by_length() -> dict[str, fp.Documents]:
    """Documents of four typical lengths; a length is a number of different words."""
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
