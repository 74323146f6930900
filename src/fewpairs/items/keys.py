"""Keys of items: 128 bits of what an item holds, the same wherever and whenever it is met."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs.errors import InputError, JournalWarning, warn
from fewpairs.items.items import Items
from fewpairs.items.stored import is_missing

#: One key has so many bytes: among a billion items, two share theirs with a chance of 1e-21.
SIZE = 16
Keys = npt.NDArray[np.bytes_]
#: What the user calls items: a function of one, or one key for each.
KeyOption = Callable[[Any], Any] | Iterable[Any] | None

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_WRITTEN = (date, time, timedelta, Decimal, UUID, complex)


def item_keys(items: Items, key: KeyOption = None) -> Keys:
    """Return one key for each item.

    Texts, numbers, vectors, and lists, mappings, tuples and dataclasses of these are known by what
    they hold: neither their position nor the layout of an array matters. Single numbers are known
    by their kind too: a function that writes them down sees 1, 1.0 and True as three things.

    Parameters
    ----------
    items : Items
    key : callable, sequence or None, default=None
        Instead: a function from an item to something of these kinds, or one such thing for each.

    Returns
    -------
    ndarray of 16-byte strings
    """
    if key is None:
        return content_keys(_contents(items))
    if not callable(key) and not isinstance(key, Iterable):
        raise InputError(
            f"the keys of the items are a {type(key).__name__}.",
            "They are what the journal calls the items.",
            "Pass one key for each item, or a function that makes it.",
        )
    given = [key(item) for item in items] if callable(key) else list(key)
    if len(given) != len(items):
        raise InputError(
            f"there are {len(given):,} keys for {len(items):,} items.",
            "Key k is what the journal calls item k.",
            "Pass one key for each item, or a function that makes it.",
        )
    missing = next((k for k, name in enumerate(given) if is_missing(name)), None)
    if missing is not None:
        raise InputError(
            f"the key of item {items.describe(missing)} is {given[missing]!r}.",
            "All items without a key would be one to the journal.",
            "Give each item a key that no other item has.",
        )
    keys = content_keys(encoded(name, "the key of an item") for name in given)
    _warn_of_shared(keys, items, given)
    return keys


def _warn_of_shared(keys: Keys, items: Items, given: list[Any]) -> None:
    """Warn of a key that belongs to items of different content, where that can be told."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    own = first[inverse.reshape(-1)].tolist()
    shared = [k for k, other in enumerate(own) if k != other and _differ(items, k, other)]
    if shared:
        k = shared[0]
        warn(
            JournalWarning(
                f"{len(shared):,} items have the key of another one that holds something else, the "
                f"first of them {items.describe(k)}, with the key {given[k]!r:.100} of item "
                f"{items.describe(own[k])}. To the journal they are the same item: what is "
                "evaluated for one stands for all."
            )
        )


def _differ(items: Items, k: int, other: int) -> bool:
    one, another = (items.take([at])[0] for at in (k, other))
    try:
        return encoded(one, "an item") != encoded(another, "an item")
    except InputError:
        return False  # they have no content that could be told, which is what keys are for


def content_keys(contents: Iterable[bytes]) -> Keys:
    """Return the keys of what items hold."""
    return np.frombuffer(b"".join(map(_hash, contents)), dtype=f"S{SIZE}")


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=SIZE).digest()


def _contents(items: Items) -> Iterator[bytes]:
    values = items.values
    if sp.issparse(values):
        yield from _sparse_rows(sp.csr_array(values, copy=True))
    elif isinstance(values, np.ndarray) and (plain := _as_floats(values)) is not None:
        if values.ndim == 1 and values.dtype.kind != "f":
            yield from map(_number, values.tolist())
            return
        mark = b"n" if values.ndim == 1 else _vector_mark(values.shape[1:])
        rows = np.ascontiguousarray(plain).reshape(len(plain), -1)
        yield from (mark + row.tobytes() for row in rows)
    else:
        yield from (encoded(item, "an item") for item in items)


def _sparse_rows(matrix: Any) -> Iterator[bytes]:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    data, at = matrix.data.astype("<f8"), matrix.indices.astype("<i8")
    mark = b"p" + struct.pack("<q", matrix.shape[1])
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        yield mark + at[start:end].tobytes() + data[start:end].tobytes()


def _as_floats(array: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return numbers as float64 if none of them changes by it."""
    if array.dtype.kind not in "biuf":
        return None
    with np.errstate(over="ignore"):
        plain = array.astype("<f8")
        back = plain.astype(array.dtype) if array.dtype.kind == "f" else plain
    return plain if np.array_equal(back, array, equal_nan=True) and _exact(array) else None


def _exact(array: npt.NDArray[Any]) -> bool:
    """Say whether whole numbers are small enough for a float to hold each of them."""
    most = 2**53
    return (
        array.dtype.kind not in "iu"
        or not array.size
        or bool(-most <= int(array.min()) and int(array.max()) <= most)
    )


def _vector_mark(shape: tuple[int, ...]) -> bytes:
    return b"v" + struct.pack(f"<{len(shape) + 1}q", len(shape), *shape)


def framed(mark: bytes, parts: Iterable[bytes]) -> bytes:
    """Join parts of an item's content so that no other parts give the same bytes."""
    listed = list(parts)
    lengths = struct.pack(f"<{len(listed) + 1}q", len(listed), *map(len, listed))
    return b"".join([mark, lengths, *listed])


def encoded(value: Any, what: str) -> bytes:
    """Return what a value holds as bytes, the same in every process.

    Parameters
    ----------
    value : str, number, None, array, date, or lists, mappings, dataclasses of these
    what : str
        What it is, for the message of a value that is nothing of these.
    """
    if isinstance(value, str):
        return b"s" + str(value).encode("utf-8", "surrogatepass")
    if isinstance(value, _NUMBERS):
        return _number(value)
    found = _single(value)
    return _composed(value, what) if found is None else found


def _single(value: Any) -> bytes | None:
    if isinstance(value, (bytes, bytearray)):
        return b"b" + bytes(value)
    if value is None:
        return b"0"
    if isinstance(value, _WRITTEN):
        return b"r" + f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, np.ndarray) and (plain := _as_floats(value)) is not None:
        return _vector_mark(value.shape) + np.ascontiguousarray(plain).tobytes()
    return None


def _composed(value: Any, what: str) -> bytes:
    if isinstance(value, Mapping):
        pairs = ((encoded(k, what), encoded(v, what)) for k, v in value.items())
        return framed(b"d", sorted(framed(b"e", pair) for pair in pairs))
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # named: order is not all of it
        pairs_of = zip(value._fields, value, strict=True)
        return framed(b"k", (encoded(part, what) for pair in pairs_of for part in pair))
    if isinstance(value, (list, tuple, np.ndarray)):
        return framed(b"l", (encoded(part, what) for part in value))
    if isinstance(value, AbstractSet):
        return framed(b"u", sorted(encoded(part, what) for part in value))
    if is_dataclass(value) and not isinstance(value, type):
        named = (encoded(getattr(value, field.name), what) for field in fields(value))
        return framed(b"o" + type(value).__qualname__.encode() + b" ", named)
    raise InputError(
        f"{what} is a {type(value).__name__}, which has no content that a journal could know it "
        "by.",
        "What was evaluated is found again by what items hold, whatever their order.",
        "Pass journal=fewpairs.Journal(folder, key=…): a function from an item to a text that "
        "no other item has, or one such text for each item.",
    )


def _number(value: Any) -> bytes:
    """Return a number's kind and value: true or false, whole, or real."""
    if isinstance(value, (bool, np.bool_)):
        return b"t" if value else b"f"
    if isinstance(value, (int, np.integer)):
        return b"i" + hex(int(value)).encode()  # Python refuses to write long ones in decimals
    plain = float(value)
    if plain == value or plain != plain:  # noqa: PLR0124 - NaN
        return b"n" + struct.pack("<d", plain)
    return b"g" + repr(value).encode()
