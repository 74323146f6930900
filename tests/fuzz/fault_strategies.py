"""Similarities that misbehave at one call, or all the time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from examples import Counter
from hypothesis import strategies as st
from limits import kept


class UserError(Exception):
    """What a user's own function raises."""


#: What an answer, a float or an array of them, is turned into. Each must be refused.
WRONG: dict[str, Any] = {
    "nan": lambda good: _changed(good, np.nan),
    "inf": lambda good: _changed(good, -np.inf),
    "None": lambda _: None,
    "a string": lambda _: "high",
    "a list of strings": lambda good: np.asarray(good).astype(str),
    "complex": lambda good: np.asarray(good) * 1j,
    "an object": lambda _: object(),
    "ragged": lambda _: [1.0, [2.0, 3.0]],
    "too many": lambda good: np.append(np.asarray(good).ravel(), [1.0, 2.0]),
    "empty": lambda _: [],
}
if kept("faults: a masked answer is refused"):
    # What is under a mask is anything.
    WRONG["masked"] = lambda good: np.ma.masked_array(
        np.asarray(good) + 1, np.ones(np.shape(good), dtype=bool)
    )
#: What is raised in place of an answer.
RAISED: dict[str, type[BaseException]] = {
    "a fault of the user": UserError,
    "out of memory": MemoryError,
    "Ctrl-C": KeyboardInterrupt,
}


def _changed(good: Any, bad: float) -> Any:
    values = np.array(good, dtype=float)
    values.reshape(-1)[-1] = bad
    return values if values.ndim else float(values)


@dataclass
class Faulty:
    """A counter whose calls of the given numbers go wrong, each once."""

    counter: Counter
    faults: dict[int, str]

    def __post_init__(self) -> None:
        self.calls = 0
        #: Entries of the calls that went wrong: they must be asked for again.
        self.lost = 0
        self._lock = threading.Lock()

    def _answer(self, good: Any) -> Any:
        with self._lock:
            self.calls += 1
            fault = self.faults.get(self.calls)
            if fault is not None:
                self.lost += np.size(good)
        if fault in RAISED:
            raise RAISED[fault]("as asked for")
        return good if fault is None else WRONG[fault](good)

    def pair(self, a: int, b: int) -> Any:
        return self._answer(self.counter.pair(a, b))

    def pairs(self, pairs: list[tuple[int, int]]) -> Any:
        return self._answer(self.counter.pairs(pairs))

    def block(self, left: Any, right: Any) -> Any:
        return self._answer(self.counter.block(left, right))


class Noisy:
    """A matrix that never gives the same number twice."""

    def __init__(self, matrix: np.ndarray, noise: float, seed: int) -> None:
        self.counter, self.noise = Counter(matrix), noise
        self._rng = np.random.default_rng(seed)
        self._lock = threading.Lock()

    def _answer(self, good: Any) -> Any:
        with self._lock:
            return np.asarray(good) * (1 + self.noise * self._rng.normal(size=np.shape(good)))

    def pair(self, a: int, b: int) -> Any:
        return float(self._answer(self.counter.pair(a, b)))

    def pairs(self, pairs: list[tuple[int, int]]) -> Any:
        return self._answer(self.counter.pairs(pairs))

    def block(self, left: Any, right: Any) -> Any:
        return self._answer(self.counter.block(left, right))


#: Calls counted from 1, and what goes wrong at each; most runs have a few dozen calls.
faults = st.dictionaries(
    st.one_of(st.integers(1, 5), st.integers(1, 400)),
    st.sampled_from([*WRONG, *RAISED]),
    min_size=1,
    max_size=3,
)
