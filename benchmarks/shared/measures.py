"""What benchmarks measure: the error of a matrix, and memory."""

from __future__ import annotations

import math
import resource
import sys
from pathlib import Path

import numpy as np


def relative(guess: np.ndarray, exact: np.ndarray) -> float:
    """The relative Frobenius error: |guess − exact| / |exact|."""
    return float(np.linalg.norm(guess - exact) / np.linalg.norm(exact))


def free_memory() -> float:
    """Bytes that programs can still get, as the kernel says; where it says nothing, any number."""
    file = Path("/proc/meminfo")
    lines = file.read_text().splitlines() if file.exists() else []
    found = [float(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    return 1024 * found[0] if found else math.inf


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes.

    Linux's own high-water mark starts anew with each program; getrusage inherits the parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts in bytes, others in kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
