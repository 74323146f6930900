"""Matrices of the kinds that similarities have when they are unkind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from limits import LARGEST_EXPONENT, MOST_ITEMS

Maker = Callable[[int, np.random.Generator], np.ndarray]


def both_ways(matrix: np.ndarray) -> np.ndarray:
    """Return the mean of both orders."""
    return (matrix + matrix.T) / 2


def mirrored(matrix: np.ndarray) -> np.ndarray:
    """Return the upper triangle in both halves."""
    return np.triu(matrix) + np.triu(matrix, 1).T


def with_pairs(matrix: np.ndarray, value: float, share: int, rng: np.random.Generator):
    """Give one pair in `share` items another value; no item is in two of them."""
    changed = matrix.copy()
    count = max(1, len(matrix) // share)
    i, j = rng.permutation(len(matrix))[: len(matrix) // 2 * 2].reshape(2, -1)[:, :count]
    changed[i, j] = changed[j, i] = value
    return changed


def smooth(n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=(n, 5))
    return np.tanh(x @ x.T / 3)


def gaussian(n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=(n, 3))
    return np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2))


def duplicates(n: int, rng: np.random.Generator) -> np.ndarray:
    """Every item several times, to the last bit."""
    same = rng.integers(0, max(1, n // 3), n)
    return smooth(n, rng)[np.ix_(same, same)]


def labels(n: int, rng: np.random.Generator) -> np.ndarray:
    group = rng.integers(0, max(2, n // 8), n)
    return (group[:, None] == group[None]).astype(float)


def sparse(n: int, rng: np.random.Generator) -> np.ndarray:
    return mirrored(rng.random((n, n)) < 3 / max(n, 3)).astype(float)


def heavy_rows(n: int, rng: np.random.Generator) -> np.ndarray:
    weight = np.where(rng.random(n) < 0.05, 1e3, 1.0)
    return smooth(n, rng) * weight * weight[:, None]


def lonely(n: int, rng: np.random.Generator) -> np.ndarray:
    """Some items without any similarity, not even with themselves."""
    there = (rng.random(n) < 0.6).astype(float)
    return smooth(n, rng) * there * there[:, None]


def negative(n: int, rng: np.random.Generator) -> np.ndarray:
    """Minus a squared distance, and with a diagonal that makes it negative definite."""
    x = rng.normal(size=(n, 3))
    return -((x[:, None] - x[None]) ** 2).sum(axis=2) - n * np.eye(n)


def near_diagonal(n: int, _: np.random.Generator) -> np.ndarray:
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.exp(-steps / 1.5)


def rank_one(n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=n)
    return np.outer(x, x)


def many_sizes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Entries from 1e-8 to 1e8, of both signs."""
    return mirrored(rng.choice([-1, 1], (n, n)) * 10.0 ** rng.uniform(-8, 8, (n, n)))


SYMMETRIC: dict[str, Maker] = {
    "zero": lambda n, _: np.zeros((n, n)),
    "constant": lambda n, rng: np.full((n, n), rng.normal()),
    "diagonal": lambda n, rng: np.diag(rng.normal(size=n)),
    "identity": lambda n, _: np.eye(n),
    "identity and a few pairs": lambda n, rng: with_pairs(np.eye(n), 1.0, 5, rng),
    "block labels": labels,
    "sparse 0/1": sparse,
    "rank one": rank_one,
    "negative definite": negative,
    "smooth": smooth,
    "Gaussian kernel": gaussian,
    "noise": lambda n, rng: both_ways(rng.normal(size=(n, n))),
    "small integers": lambda n, rng: mirrored(rng.integers(-3, 4, (n, n))).astype(float),
    "lognormal": lambda n, rng: both_ways(np.exp(2 * rng.normal(size=(n, n)))),
    "Cauchy": lambda n, rng: both_ways(rng.standard_cauchy((n, n))),
    "heavy rows": heavy_rows,
    "outlier pairs": lambda n, rng: with_pairs(0.1 * smooth(n, rng), 5.0, 10, rng),
    "duplicates": duplicates,
    "near-diagonal": near_diagonal,
    "items without similarities": lonely,
    "entries of many sizes": many_sizes,
}
ASYMMETRIC: dict[str, Maker] = {
    "two factors": lambda n, rng: rng.normal(size=(n, 4)) @ rng.normal(size=(4, n)),
    "asymmetric noise": lambda n, rng: rng.normal(size=(n, n)),
    "asymmetric lognormal": lambda n, rng: np.exp(2 * rng.normal(size=(n, n))),
    "asymmetric 0/1": lambda n, rng: (rng.random((n, n)) < 3 / max(n, 3)).astype(float),
    "triangle": lambda n, rng: np.triu(rng.normal(size=(n, n))),
    "skew": lambda n, rng: np.subtract.outer(*2 * (rng.normal(size=n),)),
    "heavy columns": lambda n, rng: rng.normal(size=(n, n)) * np.exp(3 * rng.normal(size=n)),
}
MAKERS = SYMMETRIC | ASYMMETRIC


@dataclass(frozen=True)
class Matrix:
    """A recipe: it prints as a line that makes the matrix again."""

    kind: str
    n: int
    seed: int = 0
    exponent: int = 0

    def make(self) -> np.ndarray:
        """Return the matrix, n × n."""
        values = MAKERS[self.kind](self.n, np.random.default_rng(self.seed))
        return np.asarray(values, dtype=float) * 10.0**self.exponent


def matrices(
    kinds: dict[str, Maker] = MAKERS, *, least: int = 1, most: int = MOST_ITEMS, scaled: bool = True
) -> st.SearchStrategy[Matrix]:
    """Draw recipes: tiny, small and larger ones, most of them of ordinary scale."""
    # Hypothesis likes the ends of a range: one item is legal, and soon tried often enough.
    sizes = st.one_of(
        st.integers(least, max(4, least)),
        st.integers(max(5, least), max(14, least)),
        st.integers(max(8, least), most),
        st.integers(max(8, least), most),
    )
    scales = st.one_of(st.just(0), st.integers(-LARGEST_EXPONENT, LARGEST_EXPONENT))
    return st.builds(
        Matrix,
        kind=st.sampled_from(sorted(kinds)),
        n=sizes,
        seed=st.integers(0, 2**32 - 1),
        exponent=scales if scaled else st.just(0),
    )
