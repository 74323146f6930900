"""A similarity that misbehaves on a schedule, and a disk that is nearly full."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

import numpy as np
import pytest

import fewpairs as fp


class OverloadedError(RuntimeError):
    """What a service says that is asked too often."""

    def __init__(self, retry_after: object = None) -> None:
        super().__init__("429 Too Many Requests")
        self.retry_after = retry_after


class FaultySimilarity:
    """Answers from a matrix, but for the calls that a schedule has something else for.

    Parameters
    ----------
    matrix : ndarray
    schedule : mapping or callable
        Number of the call (from 0) → what happens then: an exception is raised, a number of
        seconds is slept, anything else is called with the right answer and gives the wrong one.
    pairs : mapping
        The same for single pairs, in either order, whenever they are asked for.
    """

    def __init__(
        self,
        matrix: np.ndarray,
        schedule: Mapping[int, object] | Callable[[int], object] = MappingProxyType({}),
        pairs: Mapping[tuple[int, int], object] = MappingProxyType({}),
    ) -> None:
        self.matrix = matrix
        self.calls = 0
        self.asked: list[tuple[int, int]] = []
        self.begun: list[float] = []
        self.under_way = self.most_under_way = 0
        self._schedule = (
            schedule.get if isinstance(schedule, (dict, MappingProxyType)) else schedule
        )
        self._pairs = {tuple(sorted(pair)): fault for pair, fault in pairs.items()}
        self._lock = threading.Lock()

    def similarity(self, kind: str, *, symmetric: bool = True, later: bool = False, **facts):
        function = getattr(self, ("async_" if later else "") + kind)
        facts.setdefault("backoff", 0.001)
        return fp.similarity(function, kind=kind, symmetric=symmetric, name="faulty", **facts)

    def pair(self, a, b):
        return self._answer([(int(a), int(b))], partial(float, self.matrix[a, b]))

    def pairs(self, pairs):
        places = [(int(a), int(b)) for a, b in pairs]
        return self._answer(places, lambda: np.array([self.matrix[p] for p in places]))

    def block(self, left, right):
        places = [(int(a), int(b)) for a in left for b in right]
        return self._answer(places, self.matrix[np.ix_(left, right)].copy)

    async def async_pair(self, a, b):
        return await self._later(self.pair, a, b)

    async def async_pairs(self, pairs):
        return await self._later(self.pairs, pairs)

    async def async_block(self, left, right):
        return await self._later(self.block, left, right)

    async def _later(self, function, *args):
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(0.0005)
            return function(*args)
        finally:
            self.under_way -= 1

    def _answer(self, places, right):
        with self._lock:
            call, self.calls = self.calls, self.calls + 1
            self.asked += places
            self.begun.append(time.monotonic())
        faults = [self._schedule(call)]
        faults += [self._pairs.get(tuple(sorted(place))) for place in places if self._pairs]
        answer = right()
        for fault in faults:
            if isinstance(fault, BaseException):
                raise fault
            if isinstance(fault, (int, float)):
                time.sleep(fault)
            elif fault is not None:
                answer = fault(answer)
        return answer


@contextmanager
def small_files(size: int) -> Iterator[None]:
    """Files cannot grow beyond a size, as on a disk that is nearly full.

    Not a fixture: pytest itself writes between a test and the end of its fixtures.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
