"""Similarities as parts of another one: asked in the best way that each of them offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray
from fewpairs.errors import SimilarityError
from fewpairs.items.items import Items
from fewpairs.similarities.protocol import Similarity

#: Entries in one call of a part that declares no preference, by the fastest way it is written: a
#: call that is interrupted is lost, and single pairs are the expensive kind.
_UNDECLARED = {"pair": 256, "pairs": 1024, "block": 2**14}


def block_values(part: Similarity, left: Any, right: Any, shape: tuple[int, int]) -> FloatArray:
    """Return the part's similarities of every item on the left with every one on the right."""
    assert part.block is not None  # noqa: S101 - the caller looked
    return _checked(part.block(left, right), shape, part)


def aligned_values(part: Similarity, left: Any, right: Any, count: int) -> FloatArray:
    """Return the part's similarities of item k on the left with item k on the right."""
    answer: Any
    if part.aligned is not None:
        answer = part.aligned(left, right)
    elif part.pairs is not None:
        answer = part.pairs(list(zip(left, right, strict=True)))
    elif part.pair is not None:
        answer = [part.pair(a, b) for a, b in zip(left, right, strict=True)]
    else:
        assert part.block is not None  # noqa: S101 - it has one of the four
        sides = Items(left), Items(right)
        ones = (part.block(*(side.take([k]) for side in sides)) for k in range(count))
        answer = [_checked(one, (1, 1), part)[0, 0] for one in ones]
    return _checked(answer, (count,), part)


def common_block_size(parts: Sequence[Similarity]) -> int | tuple[int, int]:
    """Return a block size that suits every part."""
    sizes = [part.block_size or _UNDECLARED[part.kinds[-1]] for part in parts]
    entries = min((size for size in sizes if isinstance(size, int)), default=None)
    shapes = [size for size in sizes if isinstance(size, tuple)]
    if not shapes:
        assert entries is not None  # noqa: S101 - there is at least one part
        return entries
    rows, columns = (min(shape[side] for shape in shapes) for side in (0, 1))
    if entries is None:
        return rows, columns
    columns = min(columns, entries)
    return max(1, min(rows, entries // columns)), columns


def _checked(answer: Any, shape: tuple[int, ...], part: Similarity) -> FloatArray:
    # Values are checked by the oracle, as those of any similarity. The shape must be checked here:
    # a number too few could be spread over many pairs.
    values: npt.NDArray[Any] = (
        np.ma.filled(answer.astype(float), np.nan)
        if isinstance(answer, np.ma.MaskedArray)
        else np.asarray(answer, dtype=float)
    )
    if values.shape != shape:
        raise SimilarityError(
            f"the part {part.fingerprint} returned the shape {values.shape} where {shape} was "
            "asked for.",
            "With a missing or an extra number, every later one would belong to the wrong pair.",
            "Return one number for each pair, or len(left) × len(right) for a block.",
        )
    return values
