"""Items one after the other in a file without a name, and where each ends: to be read anywhere."""

from __future__ import annotations

import mmap
import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError, UnwritableError
from fewpairs.items.stored import is_missing

#: Bytes that are gathered before they are written.
_AT_A_TIME = 2**20


@dataclass(frozen=True, eq=False)
class Spool:
    """What was written.

    Attributes
    ----------
    content : mmap or bytes
        Texts as UTF-8, anything else pickled; nobody else can have written there.
    ends : ndarray of int
        8 bytes for each item.
    pickled : ndarray of bool
        Which items are no texts; empty where all are.
    missing : list of int
        Positions of None and NaN.
    checksum : str
        Of all items in their order.
    """

    content: Any
    ends: npt.NDArray[np.int64]
    pickled: npt.NDArray[np.bool_]
    missing: list[int]
    checksum: str

    def item(self, k: int) -> Any:
        """Read one item."""
        found = self.content[int(self.ends[k - 1]) if k else 0 : int(self.ends[k])]
        if len(self.pickled) and self.pickled[k]:
            return pickle.loads(found)  # noqa: S301 - from a file that has no name
        return str(found, "utf-8", "surrogatepass")


def written(items: Iterable[Any], folder: str | None) -> Spool:
    """Write items to a file that has no name, one at a time.

    Parameters
    ----------
    items : iterable
        Read once.
    folder : str or None
        Where the file is; None for where temporary files are.
    """
    with _room(folder):
        file = tempfile.TemporaryFile(prefix="fewpairs-", dir=folder)  # noqa: SIM115 - below
    try:
        return _written(items, file, folder)
    finally:
        with suppress(OSError):  # it was told when it was written
            file.close()


def _written(items: Iterable[Any], file: Any, folder: str | None) -> Spool:
    ends, pickled, missing = array("q"), bytearray(), []
    digest = blake2b(digest_size=16)
    waiting: list[bytes] = []
    here = end = 0

    def write() -> None:
        joined = b"".join(waiting)
        waiting.clear()
        digest.update(joined)
        with _room(folder):
            file.write(joined)
            file.flush()

    for k, item in enumerate(items):
        plain = isinstance(item, str)
        if not plain and is_missing(item):
            missing.append(k)
        found = item.encode("utf-8", "surrogatepass") if plain else _pickled(item)
        waiting.append(found)
        pickled.append(not plain)
        end += len(found)
        ends.append(end)
        if end - here >= _AT_A_TIME:
            write()
            here = end
    write()
    digest.update(ends.tobytes())
    digest.update(pickled)
    marks = np.frombuffer(bytes(pickled) if any(pickled) else b"", dtype=bool)
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if end else b""
    return Spool(content, np.frombuffer(ends, dtype=np.int64), marks, missing, digest.hexdigest())


@contextmanager
def _room(folder: str | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnwritableError(
            f"items cannot be copied to {folder or tempfile.gettempdir()!r}: {error.strerror}.",
            "They are kept there, in a file without a name, while they are compared.",
            "Pass folder=, a folder on a disk with more room.",
        ) from error


def _pickled(item: Any) -> bytes:
    try:
        return pickle.dumps(item, protocol=5)
    except Exception as error:
        raise InputError(
            f"an item is a {type(item).__name__}, which cannot be written to a file: {error}",
            "Items that stay on disk are written there as they come.",
            "Pass texts, numbers, or lists and mappings of these; or a list of the items.",
        ) from error
