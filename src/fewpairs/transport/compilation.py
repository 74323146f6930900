"""Say so when a kernel is about to be compiled: the first call on a machine takes some seconds."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

_LOG = logging.getLogger("fewpairs")
_MESSAGE = (
    "fewpairs: compiling the transport solver for this processor; this happens once and takes "
    "about ten seconds."
)
_seen: set[int] = set()


def announce(kernel: Any) -> None:
    """Tell, once, if a compiled form of the kernel is neither in memory nor on disk."""
    if id(kernel) in _seen or getattr(kernel, "signatures", True):
        return
    _seen.add(id(kernel))
    if not _on_disk(kernel):
        _LOG.info(_MESSAGE)
        if sys.stderr is not None and sys.stderr.isatty():
            print(_MESSAGE, file=sys.stderr)  # noqa: T201 - for the person who waits


def _on_disk(kernel: Any) -> bool:
    # numba keeps one index file for each function, named after it, in the cache's folder.
    folder = getattr(getattr(kernel, "_cache", None), "cache_path", None)
    name = getattr(kernel, "__name__", "")
    return folder is not None and any(Path(folder).glob(f"*{name}*.nbi"))
