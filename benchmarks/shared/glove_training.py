"""GloVe trained on the spot, as its authors do: weighted least squares of log counts by AdaGrad.

None of the packages that train it could be installed, so it is written here after *GloVe: Global
Vectors for Word Representation*, with the settings of the authors' demonstration on a corpus of
this size: neighbours up to 15 words apart that count 1/distance, 15 passes, x_max = 10, α = 3/4.
"""

from __future__ import annotations

import numpy as np
from numba import njit

import fewpairs as fp
from fewpairs.text.cooccurrence import Cooccurrences
from fewpairs.text.corpus import EncodedCorpus

APART, PASSES, X_MAX, POWER, STEP = 15, 15, 10.0, 0.75, 0.05


def train_glove(corpus: EncodedCorpus, dimensions: int, seed: int = 0) -> fp.WordVectors:
    """Vectors of all words: the sum of a word's two vectors, as word and as neighbour."""
    counts = Cooccurrences.of(corpus, window=APART + 1, weighting="harmonic").counts.tocoo()
    rng = np.random.default_rng(seed)
    order = rng.permutation(counts.nnz)
    rows, columns = counts.row[order], counts.col[order]
    amounts = counts.data[order]
    del counts, order
    logs = np.log(amounts)
    weights = np.minimum(amounts / X_MAX, 1) ** POWER
    # One row a word: the vector, and its bias in the last place.
    shape = 2, len(corpus.words), dimensions + 1
    vectors = ((rng.random(shape) - 0.5) / dimensions).astype(np.float32)
    squares = np.ones(shape, dtype=np.float32)
    for _ in range(PASSES):
        one_pass(rows, columns, logs, weights, vectors, squares, np.float32(STEP))
    return fp.WordVectors(corpus.words, vectors.sum(axis=0)[:, :-1])


@njit(fastmath=True)
def one_pass(rows, columns, logs, weights, vectors, squares, step):
    """Move both vectors of every pair along their gradients, each coordinate at its own rate."""
    last = vectors.shape[2] - 1
    for k in range(len(rows)):
        word, neighbour = vectors[0, rows[k]], vectors[1, columns[k]]
        word_squares, neighbour_squares = squares[0, rows[k]], squares[1, columns[k]]
        gap = word[last] + neighbour[last] - logs[k]
        for d in range(last):
            gap += word[d] * neighbour[d]
        pull = step * weights[k] * gap
        for d in range(last):
            by_word, by_neighbour = pull * neighbour[d], pull * word[d]
            word[d] -= by_word / np.sqrt(word_squares[d])
            neighbour[d] -= by_neighbour / np.sqrt(neighbour_squares[d])
            word_squares[d] += by_word * by_word
            neighbour_squares[d] += by_neighbour * by_neighbour
        # A bias stands beside a constant one.
        word[last] -= pull / np.sqrt(word_squares[last])
        neighbour[last] -= pull / np.sqrt(neighbour_squares[last])
        word_squares[last] += pull * pull
        neighbour_squares[last] += pull * pull
