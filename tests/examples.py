"""Matrices and similarities that many tests share."""

from __future__ import annotations

import threading

import numpy as np

import fewpairs as fp

METHODS = ("nystrom", "sms", "sms-rescaled", "skeleton", "sicur", "stacur")
SYMMETRIC_ONLY = ("nystrom", "sms", "sms-rescaled")


def symmetric_matrix(n: int, seed: int = 0, rank: int | None = None) -> np.ndarray:
    """A symmetric indefinite matrix with a decaying spectrum, or of exact rank."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.choice([-1.0, 1.0], n) / np.arange(1, n + 1)
    if rank is not None:
        values[rank:] = 0
    matrix = (basis * values) @ basis.T
    return (matrix + matrix.T) / 2


def asymmetric_matrix(n: int, seed: int = 0, rank: int | None = None) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rank = n if rank is None else rank
    scale = 1.0 / np.arange(1, rank + 1)
    return (rng.normal(size=(n, rank)) * scale) @ rng.normal(size=(rank, n))


class Counter:
    """A matrix behind a similarity that records every pair it is asked for."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.asked: list[tuple[int, int]] = []
        self._lock = threading.Lock()

    def pair(self, a, b):
        with self._lock:
            self.asked.append((int(a), int(b)))
        return self.matrix[a, b]

    def pairs(self, pairs):
        with self._lock:
            self.asked.extend((int(a), int(b)) for a, b in pairs)
        return [self.matrix[a, b] for a, b in pairs]

    def block(self, left, right):
        with self._lock:
            self.asked.extend((int(a), int(b)) for a in left for b in right)
        return self.matrix[np.ix_(left, right)]

    def similarity(self, kind: str, *, symmetric: bool = True, **facts) -> fp.Similarity:
        return fp.similarity(
            getattr(self, kind), kind=kind, symmetric=symmetric, name="counter", **facts
        )

    @property
    def unordered(self) -> set[tuple[int, int]]:
        return {(min(p), max(p)) for p in self.asked}


def relative(guess: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(guess - exact) / np.linalg.norm(exact))
