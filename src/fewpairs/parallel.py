"""What a run may take of the machine: threads, BLAS threads, memory, time to compile."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

import threadpoolctl

from fewpairs.arrays import is_number
from fewpairs.errors import InputError, MemoryCeilingError

#: Largest array, in bytes, that a convenience such as `to_dense` will allocate unasked. What a run
#: needs for its work may be as large as the machine's memory. A ceiling that the user has set holds
#: for both.
_CONVENIENT = 2 * 2**30
#: The variable of the environment that sets it for a whole process.
MEMORY_VARIABLE = "FEWPAIRS_MAX_MEMORY"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*")
_ceiling: ContextVar[int | None] = ContextVar("fewpairs_memory_ceiling", default=None)
#: How every kernel is compiled: kept on disk, run beside other threads, indices not checked.
COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "boundscheck": False}

_LOG = logging.getLogger("fewpairs")
_announced: set[int] = set()


def count_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's `n_jobs` into a number of threads; -1 means all cores that it may use."""
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
    # It counts the cores that this process may use: those of a container, or of its affinity.
    import joblib  # noqa: PLC0415 - a tenth of a second, which most calls need not wait for

    return max(1, int(joblib.cpu_count()) + 1 + int(n_jobs))


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


def parse_bytes(size: Any, name: str = "max_memory") -> int:
    """Return a number of bytes: an integer, or a text such as "4 GB" or "512 MiB"."""
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    count = 0.0
    if match is not None:
        count = float(match[1]) * _UNITS.get(match[2].upper(), 0)
    elif isinstance(size, (int, float)) and not isinstance(size, bool):
        count = float(size)
    if not 1 <= count < float("inf"):
        raise InputError(
            f"{name} is {size!r}.",
            "It is the most memory that an array may take.",
            'Pass a number of bytes, or a text such as "4 GB".',
        )
    return int(count)


@contextmanager
def max_memory(size: int | str | None) -> Iterator[None]:
    """Refuse, within this context, whatever would take more memory than this.

    Outside of any, the variable FEWPAIRS_MAX_MEMORY of the environment counts; without it, the
    memory of the machine, and 2 GiB for arrays that are a convenience, such as `K.to_dense()`.

    Parameters
    ----------
    size : int, str or None
        Bytes, or a text such as "4 GB". None changes nothing.

    Examples
    --------
    >>> import fewpairs as fp
    >>> smaller = fp.similarity(min, kind="pair", symmetric=True)
    >>> with fp.max_memory("4 GB"):
    ...     K = fp.approximate(range(500), smaller, landmarks=20)
    """
    token = None if size is None else _ceiling.set(parse_bytes(size))
    try:
        yield
    finally:
        if token is not None:
            _ceiling.reset(token)


def memory_ceiling(*, convenience: bool = False) -> int:
    """Return the most bytes that an array may take now."""
    chosen = _ceiling.get()
    if chosen is None and (given := os.environ.get(MEMORY_VARIABLE)):
        chosen = parse_bytes(given, MEMORY_VARIABLE)
    if chosen is not None:
        return chosen
    return min(_CONVENIENT, _machine_memory()) if convenience else _machine_memory()


@lru_cache(maxsize=1)
def _machine_memory() -> int:
    """Return the memory of the machine, or of the container that this process may use of it."""
    sizes = [sys.maxsize]
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            sizes.append(int(Path(limit).read_text(encoding="ascii")))
    return min(size for size in sizes if size > 0)


def require_memory(
    size: float, what: str, instead: str, *, ceiling: float | None = None, convenience: bool = False
) -> None:
    """Refuse to allocate more than the ceiling; every large array is asked for here first.

    Parameters
    ----------
    size : float
        Bytes.
    what : str
        That takes them, in the plural.
    instead : str
        What to do.
    ceiling : float, optional
        Other than the one that counts now.
    convenience : bool, default=False
        Whether there is always a way without this array.
    """
    most = memory_ceiling(convenience=convenience) if ceiling is None else ceiling
    if size > most:
        raise MemoryCeilingError(
            f"{what} take {format_bytes(size)}; the ceiling is {format_bytes(most)}.",
            "What does not fit is refused before anything is spent on it.",
            f"{instead}, or raise the ceiling: "
            + ("ceiling=<bytes>" if convenience else "max_memory=<bytes>")
            + f", fewpairs.max_memory(<bytes>), or the variable {MEMORY_VARIABLE}.",
        )


def at_a_time(most: int, each: float) -> int:
    """Return how many things of a long list are worked on at once: under a low ceiling, fewer.

    Parameters
    ----------
    most : int
    each : float
        Bytes that one of them takes meanwhile; all may take a quarter of the ceiling.
    """
    return int(max(1, min(most, memory_ceiling() // (4 * each))))


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
