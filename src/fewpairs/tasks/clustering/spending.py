"""Evaluations for the decisions that need them: merges whose average is near the threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewpairs.arrays import BoolArray, FloatArray, IntArray
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.numerics import exponent
from fewpairs.oracle.known import Known
from fewpairs.tasks.clustering.decisions import (
    Decisions,
    Noise,
    decisions_of,
    pairs_between,
)
from fewpairs.tasks.clustering.linkage import Merges, average_linkage
from fewpairs.tasks.clustering.pairs import Pairs
from fewpairs.tasks.clustering.sums import Signed, factored_part, sums_of
from fewpairs.tasks.clustering.tree import Tree

#: Into so many rounds what is there to spend is divided.
_ROUNDS = 8
#: Pairs that a decision gets in one round, at most: the next round knows better who needs more.
_FOR_EACH = 8
#: Fewer pairs than these are not worth a round.
_FEWEST = 32
#: The first guess of the noise counts as much as so many pairs.
_GUESS = 20
#: What entries between the same clusters have in common, of their noise, before anybody knows.
COMMON = 0.3
#: Decisions that are counted as undecided at the end, at most, and entries that tell how large
#: those of a matrix are.
_COUNTED, _SHOWN = 20_000, 4096


class Spent(NamedTuple):
    """Where spending has led: the tree, the decisions that are left, and the noise."""

    tree: Tree
    decisions: Decisions
    noise: Noise


def spend(
    pairs: Pairs,
    threshold: float,
    guess: float,
    money: int,
    rng: np.random.Generator,
) -> Spent:
    """Buy pairs between clusters whose merging is undecided, in rounds, while there is money.

    Parameters
    ----------
    pairs : Pairs
    threshold : float
        Times the sign of the pairs.
    guess : float
        What an entry that was not evaluated is off by, before any of these is bought.
    money : int
        Evaluations.
    rng : numpy.random.Generator

    Returns
    -------
    Spent
    """
    noise, left = Noise(guess, COMMON), money
    factored = factored_part(pairs.matrix(noise))  # what is bought changes what is known alone
    while True:
        tree, merges = tree_of(pairs.matrix(noise), threshold, pairs.sign, factored)
        most = min(left, max(money // _ROUNDS, _FEWEST * pairs.each)) // pairs.each
        counted = max(2 * most, _COUNTED)
        decisions = decisions_of(tree, merges, pairs.known, threshold, noise, counted, rng)
        rows, columns, groups = _choose(decisions, pairs, most, rng)
        if not len(rows):
            return Spent(tree, decisions, noise)
        pairs.buy(rows, columns, groups, tree.labels(tree.above(threshold + noise.size)))
        left -= len(rows) * pairs.each
        noise = _noise(pairs.values - pairs.predicted, pairs.groups, guess)


def tree_of(
    matrix: FactoredMatrix, least: float, sign: int, factored: Signed | None = None
) -> tuple[Tree, Merges]:
    """Return the tree of all merges with an average of at least `least`, and near misses."""
    merges = average_linkage(sums_of(matrix, sign=sign, factored=factored), least, apart=True)
    return Tree.of(matrix.shape[0], merges), merges


def count_undecided(
    tree: Tree,
    merges: Merges,
    known: Known,
    threshold: float,
    noise: Noise,
    rng: np.random.Generator,
) -> int:
    """Count the decisions that noise may have made."""
    decisions = decisions_of(tree, merges, known, threshold, noise, _COUNTED, rng)
    return int(decisions.open_at(threshold).sum())


def _choose(
    decisions: Decisions, pairs: Pairs, most: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Return pairs that were not evaluated, of decisions nearest to the threshold first."""
    some = np.flatnonzero(decisions.deviation > 0)[:most]
    left, right = decisions.left[some], decisions.right[some]
    which, i, j = pairs_between(decisions.order, left, right, 4 * _FOR_EACH, rng)
    # In random order within each decision, each pair once, and no more than it gets.
    mixed = np.lexsort((rng.random(len(which)), which))
    which, i, j = which[mixed], i[mixed], j[mixed]
    new = ~pairs.is_known(i, j)
    new &= _first_of_equal(pairs.known.keys_of(i, j))
    which, i, j = which[new], i[new], j[new]
    start = np.flatnonzero(np.append(True, which[1:] != which[:-1])[: len(which)])
    rank = np.arange(len(which)) - np.repeat(start, np.diff(np.append(start, len(which))))
    chosen = np.flatnonzero(rank < _FOR_EACH)[:most]
    return i[chosen], j[chosen], which[chosen]


def _first_of_equal(keys: IntArray) -> BoolArray:
    first = np.zeros(len(keys), dtype=bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first


def _noise(off: FloatArray, groups: IntArray, guess: float) -> Noise:
    """Estimate the noise from what predictions were off by, together and within groups."""
    power = exponent(np.append(off, guess))  # to the size of 1: squares neither over- nor underflow
    off, guess = np.ldexp(off, -power), float(np.ldexp(guess, -power))
    squares = float(off @ off)
    size = np.sqrt((squares + _GUESS * guess**2) / (len(off) + _GUESS))
    sums, counts = np.bincount(groups, off), np.bincount(groups)
    together = float(sums @ sums) - squares  # products of two of the same group
    products = float(counts @ counts) - len(off)
    variance = max(squares / max(len(off), 1), np.finfo(float).tiny)
    share = (together / variance + _GUESS * COMMON) / (products + _GUESS)
    return Noise(float(np.ldexp(size, power)), float(np.clip(share, 0.0, 0.95)))


def noise_of(matrix: FactoredMatrix, rng: np.random.Generator) -> float | None:
    """Return what an entry that was not evaluated is off by, as the matrix states its error."""
    if matrix.error is None:
        return None
    n = matrix.shape[0]
    i, j = rng.integers(n, size=(2, _SHOWN))
    values: FloatArray = matrix.entries(i, j)
    unseen = float(np.mean(np.isnan(matrix.known.find(i, j)))) if not matrix.known.empty else 1.0
    if unseen == 0:
        return 0.0
    power = exponent(values)  # squares of the size of 1 neither over- nor underflow
    typical = np.sqrt(np.mean(np.ldexp(values, -power) ** 2) / unseen)
    return float(np.ldexp(matrix.error.value * typical, power))
