"""Random documents of Word Mover's Embedding: where their words lie, and how many are needed."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import InputError, UnknownNameError
from fewpairs.text.documents import Documents
from fewpairs.text.word_vectors import WordVectors

#: Ways to draw a random word.
DRAWINGS = ("box", "centred-box", "words")
#: A pilot is trusted where the kernel is not this much fainter than its size allows; with the
#: default γ the ratio is 14 to 29 of 128 on seven sets (docs/tables/wme-defaults.md).
_SURE = 2
#: Nor where one of its features makes more than one part in this many of the variance: another
#: pilot would lack it, or have two.
_SURELY_MANY = 4
#: More features than this are a typing error.
_MOST = 2.0**40


def draw_words(
    drawing: str,
    vectors: FloatArray,
    words: npt.NDArray[Any],
    count: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw random words as vectors.

    Parameters
    ----------
    drawing : {"box", "centred-box", "words"}
        Uniform between the smallest and the largest coordinate of the words that occur, as in the
        paper's Algorithm 1; the same box around the mean of these words, as in its experiments; or
        words that occur, each as often as
        documents have it.
    vectors : ndarray of shape (n_words, dimensions)
        Of the whole table.
    words : ndarray of int
        The words of the training documents, each once a document.
    count : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (count, dimensions)
    """
    drawn: FloatArray
    if drawing == "words":
        drawn = vectors[words[rng.integers(0, len(words), count)]]
        return drawn
    used = vectors[np.unique(words)]
    low, high = float(used.min()), float(used.max())
    drawn = rng.uniform(low, high, (count, vectors.shape[1]))
    if drawing == "centred-box":
        drawn += used.mean(axis=0) - (low + high) / 2
    return drawn


def check_drawing(drawing: Any) -> None:
    """Refuse a way to draw that there is not."""
    if drawing not in DRAWINGS:
        raise UnknownNameError("drawing", drawing, DRAWINGS)


def make_documents(vectors: FloatArray, sizes: IntArray) -> Documents:
    """Make documents of the given numbers of words, each word a vector of its own."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    table = WordVectors([f"random {k}" for k in range(len(vectors))], vectors)
    weights = np.repeat(1 / sizes, sizes)
    return Documents(np.arange(len(vectors), dtype=np.int32), weights, starts, table)


def features_needed(pilot: FloatArray, error: float) -> int:
    """Return the number R of features whose kernel has this relative Frobenius error.

    The kernel of R features is a mean of R independent matrices φφᵀ, so its expected squared error
    is their variance over R. Both that and the squared norm of the exact kernel come from a pilot
    of other features without bias: E‖φφᵀ‖² is the mean of ‖φ‖⁴, and ‖K‖² that of (φ·ψ)² over
    different features φ, ψ.

    Parameters
    ----------
    pilot : ndarray of shape (n_documents, n_pilot)
        Features of some documents, not divided by √R.
    error : float
        Root mean square of ‖K_R − K‖_F / ‖K‖_F.

    Returns
    -------
    int

    Raises
    ------
    InputError
        Where the kernel is too faint beside its variance for a pilot of this size to measure, or
        one feature makes most of that: the number that comes out would be a guess.
    """
    products = pilot.T @ pilot
    size = float(np.abs(products).max())
    if size == 0:
        raise InputError(
            "all features of the pilot are 0.",
            "Their kernel has no relative error.",
            "Pass n_components as a whole number, and check that documents and vectors differ.",
        )
    squares = (products / size) ** 2
    n_pilot = len(products)
    own = float(np.trace(squares)) / n_pilot
    exact = (float(squares.sum()) - n_pilot * own) / (n_pilot * (n_pilot - 1))
    largest = float(np.square(np.diagonal(products) / size).max())
    wanted = (own - exact) / (exact * error) / error if exact > 0 and error > 0 else np.inf
    if own > n_pilot / _SURE * exact or largest > n_pilot / _SURELY_MANY * own or wanted > _MOST:
        raise InputError(
            f"how many random documents have an error of {error:g} cannot be told from {n_pilot}.",
            "Nearly all of the kernel comes from a few of them, as where gamma is large.",
            "Pass n_components as a whole number, or a smaller gamma, or a larger error.",
        )
    return max(1, ceil(wanted))
