"""Similarities for workers in other processes: they leave traces in a folder, and may kill."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

import fewpairs as fp

#: How a file begins that tells of a process which has what has killed others; its seconds there.
LINGERS, LINGER = "lingers", 3.0


class Traced(fp.Similarity):
    """exp(−|a − b|), block by block; every block leaves a file that tells who has made it."""

    name, symmetric, version = "traced", True, "1"

    def __init__(self, folder, *, seconds=0.0, block_size=(50, 10), poison=None, shots=None):
        self.folder, self.seconds, self.block_size = Path(folder), seconds, block_size
        self.poison, self.shots = poison, shots  # None: it kills for ever
        self.made_in = os.getpid()  # which is not killed

    def block(self, left, right):
        started = self.folder / f"{os.getpid()}-{time.monotonic_ns()}-{len(left) * len(right)}"
        started.touch()
        if self.poison is not None and self.poison in left and os.getpid() != self.made_in:
            if self._armed():
                os.kill(os.getpid(), signal.SIGKILL)
            self._linger()
        time.sleep(self.seconds)
        return np.exp(-np.abs(np.subtract.outer(left, right)))

    def _armed(self):
        return self.shots is None or any(self._first(f"shot{k}") for k in range(self.shots))

    def _linger(self):
        """The first time that nobody is killed, say so, and take long enough for a test to act."""
        if self._first(f"{LINGERS}{os.getpid()}"):
            time.sleep(LINGER if len(list(self.folder.glob(f"{LINGERS}*"))) == 1 else 0)

    def _first(self, name):
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def traces(folder):
    """Process and number of pairs of every block that was begun, in the order of beginning."""
    names = [path.name.split("-") for path in Path(folder).iterdir() if "-" in path.name]
    return [(int(who), int(pairs)) for who, _, pairs in sorted(names, key=lambda n: int(n[1]))]


def items(n=400, seed=0):
    return np.random.default_rng(seed).random(n)


def same(matrix, other):
    """Whether two results are the same to the last bit, and have cost the same."""
    return (
        np.array_equal(matrix.to_dense(), other.to_dense())
        and matrix.evaluations == other.evaluations
        and str(matrix.error) == str(other.error)
    )


def set_variable(name, value):
    os.environ[name] = value


def makes_model():
    """A factory: says in a file, named by a variable, that it was called."""
    folder = Path(os.environ["FEWPAIRS_TEST_MADE"])
    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return lambda left, right: np.exp(-np.abs(np.subtract.outer(left, right)))
