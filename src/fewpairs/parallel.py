"""What a run may take of the machine: threads, BLAS threads, memory, time to compile."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import threadpoolctl

from fewpairs.arrays import is_number
from fewpairs.errors import InputError, MemoryCeilingError

#: Largest array, in bytes, that a convenience such as `to_dense` will allocate unasked.
MEMORY_CEILING = 2 * 2**30
#: How every kernel is compiled: kept on disk, run beside other threads, indices not checked.
COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "boundscheck": False}

_LOG = logging.getLogger("fewpairs")
_announced: set[int] = set()


def count_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's `n_jobs` into a number of threads; -1 means all cores."""
    if n_jobs is None:
        return 1
    if not is_number(n_jobs) or int(n_jobs) != n_jobs or n_jobs == 0:
        raise InputError(
            f"n_jobs is {n_jobs!r}.",
            "It is the number of threads that evaluate the similarity.",
            "Pass a positive integer, or -1 for all cores.",
        )
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread.

    Threads of ours that each start BLAS threads are ten times slower than either alone, and the
    number of BLAS threads changes the last bits: with one, `n_jobs` cannot change a result.
    """
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> threadpoolctl.ThreadpoolController:  # noqa: ARG001 - the key
    """Return the libraries with threads; looked for anew, in milliseconds, after any import."""
    return threadpoolctl.ThreadpoolController()


def format_bytes(size: float) -> str:
    """Write a number of bytes for people: ``3.2 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004 - decimal units
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def refuse_above(ceiling: float, n_rows: int, n_columns: int, instead: str) -> None:
    """Refuse to allocate an n_rows × n_columns float64 array larger than `ceiling` bytes."""
    size = 8 * n_rows * n_columns
    if size > ceiling:
        raise MemoryCeilingError(
            f"a dense {n_rows:,} × {n_columns:,} array takes {format_bytes(size)}; "
            f"the ceiling is {format_bytes(ceiling)}.",
            "The factored form exists so that this array need not.",
            f"{instead} or raise the ceiling with ceiling=<bytes>.",
        )


def announce(kernel: Any, what: str) -> None:
    """Tell, once, that a kernel is about to be compiled, which takes some seconds.

    Nothing is said if its compiled form is in memory or on disk already.

    Parameters
    ----------
    kernel : function compiled by numba
    what : str
        What it is to the person who waits.
    """
    if id(kernel) in _announced or getattr(kernel, "signatures", True):
        return
    _announced.add(id(kernel))
    if not _on_disk(kernel):
        message = f"fewpairs: compiling {what} for this processor, once; some seconds."
        _LOG.info(message)
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(message + "\n")


def _on_disk(kernel: Any) -> bool:
    # numba keeps one index file for each function, named after it, in the cache's folder.
    folder = getattr(getattr(kernel, "_cache", None), "cache_path", None)
    name = getattr(kernel, "__name__", "")
    return folder is not None and any(Path(folder).glob(f"*{name}*.nbi"))
