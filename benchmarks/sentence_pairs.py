"""Pairs of sentences that people have scored (STS-B), read and weighted in several ways.

Word frequencies come from training sentences.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import pearsonr, spearmanr
from texts import stop_words, vectors

import fewpairs as fp
from fewpairs import datasets
from fewpairs.text.tokens import tokenize

WEIGHTS = ("nBOW", "TF-IDF", "SIF")
#: Stop words left out, and weights of words.
READINGS = tuple(product(("none", "SMART"), WEIGHTS))


class Pairs(NamedTuple):
    """Different sentences, which of them were compared by people, and how."""

    sentences: list[str]
    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray


@cache
def pairs(part: str) -> Pairs:
    """A part of STS-B; "sample" is a part of the training pairs, to choose by."""
    records = datasets.read_records("stsb", part.replace("sample", "train"))
    if part == "sample":
        records = [records[k] for k in np.random.default_rng(0).permutation(len(records))[:1000]]
    sentences = list(dict.fromkeys(r[side] for r in records for side in "ab"))
    place = {sentence: k for k, sentence in enumerate(sentences)}
    left, right = (np.array([place[r[side]] for r in records]) for side in "ab")
    return Pairs(sentences, left, right, np.array([r["score"] for r in records]))


def agreement(guesses: dict[str, np.ndarray]) -> list[float]:
    """Pearson's, then Spearman's coefficient × 100 for each part in turn."""
    return [
        100 * float(coefficient(guess, pairs(part).scores)[0])
        for part, guess in guesses.items()
        for coefficient in (pearsonr, spearmanr)
    ]


@cache
def word_weights(stop: str, weights: str) -> np.ndarray:
    """A factor for each word of the table, from training sentences."""
    train, place = weighed("train", stop, "nBOW"), vectors().place
    if weights == "TF-IDF":
        having = np.bincount(train.words, minlength=len(place))
        return np.log(len(train) / np.maximum(having, 1)) + 1
    tokens = [t for sentence in pairs("train").sentences for t in tokenize(sentence)]
    counts = np.bincount([place[t] for t in tokens if t in place], minlength=len(place))
    return 1e-3 / (1e-3 + counts / counts.sum())


@cache
def weighed(part: str, stop: str, weights: str) -> fp.Documents:
    """Bags whose weights need not sum to one."""
    stopped = stop_words() if stop == "SMART" else None
    documents = fp.Documents.of(pairs(part).sentences, vectors(), stop_words=stopped, empty="far")
    if weights == "nBOW":
        return documents
    factor = word_weights(stop, weights)[documents.words]
    return replace(documents, weights=documents.weights * factor)


@cache
def bags(part: str, *reading: str) -> fp.Documents:
    documents = weighed(part, *reading)
    sentence = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
    totals = np.bincount(sentence, documents.weights, minlength=len(documents))
    return replace(documents, weights=documents.weights / totals[sentence])


def inner(part: str, features: np.ndarray, kind: str, mean: np.ndarray | float) -> np.ndarray:
    """Inner products of the sentences of each pair; one without words has none."""
    if kind == "centred":
        features = features - mean
    if kind != "plain":
        length = np.linalg.norm(features, axis=1, keepdims=True)
        features = features / np.maximum(length, 1e-300)
    return np.einsum("ij,ij->i", features[pairs(part).left], features[pairs(part).right])
