"""Items as arrays, for files: texts and numbers come back exactly as they were, or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.items.items import Items
from fewpairs.items.on_disk import ItemsOnDisk
from fewpairs.items.stored import Stored

Arrays = dict[str, npt.NDArray[Any]]
#: What is written for items that are not stored.
NONE = "none"
#: Larger numbers than this many bytes have no place in a file.
_LARGEST_NUMBER = 8


def pack_texts(texts: Iterable[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the UTF-8 of texts, one after the other, and where each ends."""
    if isinstance(texts, ItemsOnDisk):
        return texts.packed()
    # Lone surrogates are legal in Python strings, so they must survive.
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def unpack_texts(content: npt.NDArray[Any], ends: npt.NDArray[Any]) -> list[str]:
    """Return the texts that `pack_texts` packed; ValueError if these are none."""
    starts = np.concatenate([[0], ends[:-1]])
    whole = content.dtype == np.uint8 and ends.dtype == np.int64 and content.ndim == ends.ndim == 1
    if not whole or np.any(ends < starts) or (len(ends) and ends[-1] != len(content)):
        message = "the ends of its texts do not fit them"
        raise ValueError(message)
    joined = content.tobytes()
    pieces = zip(starts, ends, strict=True)
    return [joined[a:b].decode("utf-8", "surrogatepass") for a, b in pieces]


def pack_items(items: Items | None, role: str) -> tuple[Arrays, str]:
    """Return the arrays that hold items, and of which kind they are.

    Parameters
    ----------
    items : Items or None
    role : str
        Begins the names of the arrays.

    Returns
    -------
    arrays : dict
        Empty where the items would not come back as they are: objects, integers of more than 64
        bits, integers among floats that no float equals.
    kind : str
    """
    kind = "objects" if items is None else items.kind
    if items is None or kind == "objects":
        return {}, NONE
    if kind == "text":
        content, ends = pack_texts(items.values)
        return {f"{role}.text": content, f"{role}.ends": ends}, kind
    if kind == "sparse":
        matrix = sp.csr_array(items.values)
        if not _storable(matrix.data):
            return {}, NONE
        return {
            f"{role}.data": matrix.data,
            f"{role}.indices": matrix.indices.astype(np.int64),
            f"{role}.indptr": matrix.indptr.astype(np.int64),
            f"{role}.shape": np.array(matrix.shape, dtype=np.int64),
        }, kind
    values = list(items.values) if isinstance(items.values, Stored) else items.values
    array = np.asarray(values)
    same = isinstance(values, np.ndarray) or array.tolist() == values
    return ({f"{role}.numbers": array}, kind) if same and _storable(array) else ({}, NONE)


def unpack_items(arrays: Arrays, kind: str, role: str, counts: Collection[int]) -> Items | None:
    """Return what `pack_items` packed; what are no items, or not so many, raises ValueError."""
    if kind == NONE:
        return None
    if kind == "text":
        items = Items(unpack_texts(arrays[f"{role}.text"], arrays[f"{role}.ends"]))
    elif kind == "sparse":
        parts = (arrays[f"{role}.data"], arrays[f"{role}.indices"], arrays[f"{role}.indptr"])
        rows, columns = arrays[f"{role}.shape"].tolist()
        matrix = sp.csr_array(parts, shape=(rows, columns))
        matrix.check_format(full_check=True)
        items = Items(matrix)
    else:
        numbers = arrays[f"{role}.numbers"]
        items = Items(numbers)
        if numbers.ndim < 1 or items.kind != kind:
            message = f"its {role} are no {kind}"
            raise ValueError(message)
    if len(items) not in counts:
        message = f"it holds {len(items)} {role} for {counts}"
        raise ValueError(message)
    return items


def digest(items: Items) -> str:
    """Return a checksum of the items' content, the same in every process."""
    arrays, kind = pack_items(items, "items")
    found = hashlib.sha256(kind.encode())
    if kind == NONE:
        for item in items:
            found.update(repr(item).encode("utf-8", "surrogatepass") + b"\0")
    for array in arrays.values():
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _storable(array: npt.NDArray[Any]) -> bool:
    return array.dtype.kind in "biuf" and array.dtype.itemsize <= _LARGEST_NUMBER
