"""A factored matrix to and from a file. Items are kept if they are texts or numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fewpairs import files
from fewpairs.error.estimate import CurvePoint, ErrorEstimate, SketchPoint
from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.source import Source
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.known import Known, Lines
from fewpairs.similarities.base import Similarity, as_similarity

Arrays = dict[str, npt.NDArray[Any]]


def save(matrix: FactoredMatrix, path: str | Path) -> None:
    """Write a factored matrix to one file.

    Parameters
    ----------
    matrix : FactoredMatrix
    path : str or Path
    """
    known, source = matrix.known, matrix.source
    wanted: dict[str, npt.NDArray[Any] | None] = {
        "left": matrix.left,
        "core": matrix.core,
        "right": matrix.right,
        "known.columns.index": known.columns.index,
        "known.columns": known.columns.values,
        "known.rows.index": known.rows.index,
        "known.rows": known.rows.values,
        "known.diagonal": known.diagonal,
        "known.keys": known.keys,
        "known.values": known.values,
        "landmarks.left": source.left_landmarks,
        "landmarks.right": source.right_landmarks,
    }
    arrays: Arrays = {}
    stored_as: dict[str, str] = {}
    names: dict[int, str] = {}
    for name, array in wanted.items():
        if array is not None:  # an array with two roles is written once
            stored_as[name] = names.setdefault(id(array), name)
            arrays[stored_as[name]] = array
    item_arrays, item_kind = _pack_items(source.items, "items")
    other_arrays, other_kind = _pack_items(source.others, "others")
    error = matrix.error
    facts = {
        "stored_as": stored_as,
        "items": item_kind,
        "others": other_kind,
        "square": source.square,
        "symmetric_known": known.symmetric,
        "similarity": source.similarity.fingerprint if source.similarity else source.fingerprint,
        "symmetric": source.symmetric,
        "derived": source.derived,
        "power": source.power,
        "evaluations": int(matrix.evaluations),
        "method": matrix.method,
        "nugget": float(matrix.nugget),
        "error": None if error is None else _pack_error(error),
        "curve": [_pack_point(point) for point in matrix.curve],
        "stopped_because": matrix.stopped_because,
    }
    files.write(path, arrays | item_arrays | other_arrays, facts)


def load(
    path: str | Path, similarity: Any = None, items: Any = None, others: Any = None
) -> FactoredMatrix:
    """Read a factored matrix from a file; nothing in the file is ever executed.

    Parameters
    ----------
    path : str or Path
    similarity : Similarity, optional
        Attach it to compare new items and to re-rank; it must be the one that was used.
    items : sequence, optional
        Attach the items if they are neither texts nor numbers, and were not stored.
    others : sequence, optional
        Likewise the items of the columns, of a matrix between two sets.

    Returns
    -------
    FactoredMatrix
    """
    arrays, facts = files.read(path)
    stored_as = facts["stored_as"]

    def get(name: str) -> Any:
        return arrays[stored_as[name]] if name in stored_as else None

    left, right = get("left"), get("right")
    n, m = len(left), len(right)
    columns = Lines.of(get("known.columns.index"), get("known.columns"), m)
    rows = Lines.of(get("known.rows.index"), get("known.rows"), n)
    known = Known(columns, columns if facts["symmetric_known"] else rows, get("known.diagonal"))
    # Files of version 1 hold both orders of a pair; one is enough.
    known = known.with_entries(*known.places_of(get("known.keys")), get("known.values"))
    source = Source(
        items=_attached_items(items, n) or _unpack_items(arrays, facts["items"], "items"),
        others=_attached_items(others, m) or _unpack_items(arrays, facts["others"], "others"),
        square=facts["square"],
        similarity=_attached_similarity(similarity, facts["similarity"]),
        fingerprint=facts["similarity"],
        left_landmarks=get("landmarks.left"),
        right_landmarks=get("landmarks.right"),
        symmetric=facts["symmetric"],
        derived=facts["derived"],
        # Files written before there was one hold similarities of ordinary size.
        power=facts.get("power", 0),
    )
    return FactoredMatrix(
        left,
        get("core"),
        None if right is left else right,
        known=known,
        source=source,
        evaluations=facts["evaluations"],
        error=None if facts["error"] is None else _unpack_error(facts["error"]),
        method=facts["method"],
        nugget=facts["nugget"],
        # Files of version 1 have none.
        curve=[_unpack_point(packed) for packed in facts.get("curve", [])],
        stopped_because=facts.get("stopped_because", ""),
    )


def _pack_error(error: ErrorEstimate) -> list[str]:
    # Hexadecimal floats are exact, and know infinity, which JSON does not.
    return [*(float(x).hex() for x in error[:3]), str(error.n_pairs)]


def _unpack_error(packed: list[str]) -> ErrorEstimate:
    value, low, high = (float.fromhex(x) for x in packed[:3])
    return ErrorEstimate(value, low, high, int(packed[3]))


_POINTS: dict[str, Any] = {kind.__name__: kind for kind in (CurvePoint, SketchPoint)}


def _pack_point(point: CurvePoint | SketchPoint) -> list[Any]:
    return [type(point).__name__, *(int(x) for x in point[:-1]), _pack_error(point.error)]


def _unpack_point(packed: list[Any]) -> CurvePoint | SketchPoint:
    name, *numbers, error = packed
    point: CurvePoint | SketchPoint = _POINTS[name](*numbers, _unpack_error(error))
    return point


def _pack_items(items: Items | None, role: str) -> tuple[Arrays, str]:
    kind = "objects" if items is None else items.kind
    if items is None or kind == "objects":
        return {}, "none"
    if kind == "text":
        # Lone surrogates are legal in Python strings, so they must survive.
        encoded = [text.encode("utf-8", "surrogatepass") for text in items.values]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        content = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return {f"{role}.text": content, f"{role}.ends": ends}, kind
    if kind == "sparse":
        matrix = sp.csr_array(items.values)
        return {
            f"{role}.data": matrix.data.astype(np.float64),
            f"{role}.indices": matrix.indices.astype(np.int64),
            f"{role}.indptr": matrix.indptr.astype(np.int64),
            f"{role}.shape": np.array(matrix.shape, dtype=np.int64),
        }, kind
    array = np.asarray(items.values)
    whole = array.dtype.kind in "biu"
    single = array.dtype == np.float32
    dtype = np.int64 if whole else np.float32 if single else np.float64
    return {f"{role}.numbers": array.astype(dtype)}, kind


def _unpack_items(arrays: Arrays, kind: str, role: str) -> Items | None:
    if kind == "none":
        return None
    if kind == "text":
        content, ends = arrays[f"{role}.text"].tobytes(), arrays[f"{role}.ends"]
        starts = np.concatenate([[0], ends[:-1]])
        pieces = zip(starts, ends, strict=True)
        return Items([content[a:b].decode("utf-8", "surrogatepass") for a, b in pieces])
    if kind == "sparse":
        parts = (arrays[f"{role}.data"], arrays[f"{role}.indices"], arrays[f"{role}.indptr"])
        return Items(sp.csr_array(parts, shape=tuple(arrays[f"{role}.shape"])))
    return Items(arrays[f"{role}.numbers"])


def _attached_items(items: Any, n: int) -> Items | None:
    if items is None:
        return None
    attached = as_items(items)
    if len(attached) != n:
        raise InputError(
            f"{len(attached)} items were attached to a matrix of {n}.",
            "Row i (or column i) of the matrix is item i.",
            "Attach the items that the matrix was made from, in the same order.",
        )
    return attached


def _attached_similarity(similarity: Any, fingerprint: str) -> Similarity | None:
    if similarity is None:
        return None
    attached = as_similarity(similarity)
    if attached.fingerprint != fingerprint:
        raise InputError(
            f"the matrix was made with {fingerprint} and {attached.fingerprint} was attached.",
            "New items would be compared by another measure than the old ones.",
            "Attach the same similarity with the same parameters.",
        )
    return attached
