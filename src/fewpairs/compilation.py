"""Say so when a kernel is about to be compiled: the first call on a machine takes some seconds."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

_LOG = logging.getLogger("fewpairs")
_seen: set[int] = set()


def announce(kernel: Any, what: str) -> None:
    """Tell, once, if a compiled form of the kernel is neither in memory nor on disk.

    Parameters
    ----------
    kernel : function compiled by numba
    what : str
        What it is to the person who waits.
    """
    if id(kernel) in _seen or getattr(kernel, "signatures", True):
        return
    _seen.add(id(kernel))
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
