"""What the measurements at a million items share: items, peaks of memory, processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

CEILING, DIMENSIONS, GAMMA = "2 GB", 8, 0.5


def points(n: int) -> np.ndarray:
    """Points on a sphere: inner products tell how near they are, so that they guide a search."""
    rows = np.random.default_rng(0).normal(size=(n, DIMENSIONS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gaussian similarities of rows, pair by pair, in double precision."""
    return np.exp(-GAMMA * ((left.astype(float) - right) ** 2).sum(axis=1))


class Peak(threading.Thread):
    """The largest amount of anonymous memory since it was started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.first, self.most, self.over = self.now(), 0, False
        self.start()

    @staticmethod
    def now() -> int:
        """Anonymous memory of this process, in bytes."""
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

    def run(self) -> None:
        """Look every few milliseconds."""
        while not self.over:
            self.most = max(self.most, self.now() - self.first)
            time.sleep(0.005)


def in_own_process(module: str, *arguments: str) -> dict[str, float]:
    """Measure one line by the same module in a process of its own, which prints it as JSON."""
    one_thread = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=one_thread,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def number(cell: str) -> float:
    """A number as a table writes it."""
    return float(cell.replace(",", ""))


def growth(first: tuple[float, float], last: tuple[float, float]) -> float:
    """The power of the number of items with which a time grows."""
    return float(np.log(last[1] / first[1]) / np.log(last[0] / first[0]))
