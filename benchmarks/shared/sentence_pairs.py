"""Pairs of sentences that people have scored (STS-B), as bags of words weighted in several ways.

Word frequencies come from training sentences.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import pearsonr, spearmanr

import fewpairs as fp
from benchmarks.shared.texts import stop_words, vectors
from fewpairs import datasets
from fewpairs.text.tokens import tokenize

WEIGHTS = ("nBOW", "TF-IDF", "SIF")
#: (stop words left out, weights of words): the ways to read a sentence.
READINGS = tuple(product(("none", "SMART"), WEIGHTS))


class Pairs(NamedTuple):
    """Different sentences, the places of those that people compared, and their scores."""

    sentences: list[str]
    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray


@cache
def pairs(part: str) -> Pairs:
    """A part of STS-B; "sample" is 1,000 of the training pairs, to choose options by."""
    records = datasets.read_records("stsb", part.replace("sample", "train"))
    if part == "sample":
        records = [records[k] for k in np.random.default_rng(0).permutation(len(records))[:1000]]
    sentences = list(dict.fromkeys(r[side] for r in records for side in "ab"))
    place = {sentence: k for k, sentence in enumerate(sentences)}
    left, right = (np.array([place[r[side]] for r in records]) for side in "ab")
    return Pairs(sentences, left, right, np.array([r["score"] for r in records]))


def agreement(guesses: dict[str, np.ndarray]) -> list[float]:
    """Pearson's and Spearman's coefficient × 100 with human scores, part after part."""
    return [
        100 * float(coefficient(guess, pairs(part).scores)[0])
        for part, guess in guesses.items()
        for coefficient in (pearsonr, spearmanr)
    ]


@cache
def word_weights(stop: str, weights: str) -> np.ndarray:
    """A factor for each word that has a vector, from training sentences."""
    train, place = weighed("train", stop, "nBOW"), vectors().place
    if weights == "TF-IDF":
        having = np.bincount(train.words, minlength=len(place))
        return np.log(len(train) / np.maximum(having, 1)) + 1
    tokens = [t for sentence in pairs("train").sentences for t in tokenize(sentence)]
    counts = np.bincount([place[t] for t in tokens if t in place], minlength=len(place))
    return 1e-3 / (1e-3 + counts / counts.sum())


@cache
def weighed(part: str, stop: str, weights: str) -> fp.Documents:
    """Sentences as bags of words, whose weights need not sum to one."""
    stopped = stop_words() if stop == "SMART" else None
    documents = fp.Documents.of(pairs(part).sentences, vectors(), stop_words=stopped, empty="far")
    if weights == "nBOW":
        return documents
    factor = word_weights(stop, weights)[documents.words]
    return replace(documents, weights=documents.weights * factor)


@cache
def bags(part: str, *reading: str) -> fp.Documents:
    """Sentences as bags of words, whose weights sum to one, as transport needs them."""
    documents = weighed(part, *reading)
    sentence = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
    totals = np.bincount(sentence, documents.weights, minlength=len(documents))
    return replace(documents, weights=documents.weights / totals[sentence])


def inner(part: str, features: np.ndarray, kind: str, mean: np.ndarray | float) -> np.ndarray:
    """Inner products of the two sentences of each pair: plain, cosines, or cosines less a mean."""
    if kind == "centred":
        features = features - mean
    if kind != "plain":
        length = np.linalg.norm(features, axis=1, keepdims=True)
        features = features / np.maximum(length, 1e-300)
    return np.einsum("ij,ij->i", features[pairs(part).left], features[pairs(part).right])
