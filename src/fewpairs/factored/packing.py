"""A factored matrix as arrays and facts, and back: what a file says is checked, not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.error.estimate import CurvePoint, ErrorEstimate, SketchPoint
from fewpairs.errors import InputError
from fewpairs.factored.line_guide import LineGuide
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.source import Source
from fewpairs.factored.squares import Squares
from fewpairs.files.contents import all_finite, are_numbers, are_positions, require
from fewpairs.guides.basis import Basis
from fewpairs.guides.guides import ARRAY
from fewpairs.items.ids import Ids
from fewpairs.items.packing import NONE, pack_items, unpack_items
from fewpairs.items.spelling import pack_names, unpack_names
from fewpairs.oracle.known import Known, checked_lines
from fewpairs.oracle.provenance import Provenance

Arrays = dict[str, npt.NDArray[Any]]

#: What a file states beside its arrays, and its type.
_FACTS: dict[str, type | tuple[type, ...]] = {
    "stored_as": dict,
    "items": str,
    "others": str,
    "square": bool,
    "symmetric_known": bool,
    "similarity": str,
    "symmetric": bool,
    "derived": str,
    "power": int,
    "evaluations": int,
    "method": str,
    "nugget": float,
    "error": (list, type(None)),
    # Files of version 1 have neither of these.
    "curve": list,
    "stopped_because": str,
    # Files of matrices that were made before there were guides have none of these.
    "squares": list,
    "guide": list,
    "bases": list,
    # Files of matrices that were made before there were reports have neither of these.
    "version": str,
    "seed": (int, type(None)),
    # Files of matrices that were made before there were ids have neither of these.
    "ids": str,
    "other_ids": str,
}
#: Numbers lie between 2^-1074 and 2^1024.
_LARGEST_POWER = 1100
#: Arrays without columns take no room, whatever number of rows they claim.
_MOST_EMPTY_ROWS = 10**6
_POINTS: dict[str, Any] = {kind.__name__: kind for kind in (CurvePoint, SketchPoint)}


def pack(matrix: FactoredMatrix) -> tuple[Arrays, dict[str, Any]]:
    """Return everything that a file holds of a matrix.

    Parameters
    ----------
    matrix : FactoredMatrix

    Returns
    -------
    arrays : dict of str to ndarray
    facts : dict
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
        "skipped": np.ascontiguousarray(matrix.skipped) if len(matrix.skipped) else None,
    }
    for k, part in enumerate(matrix.squares):
        wanted |= {
            f"squares.{k}.left": part.left,
            f"squares.{k}.right": part.right,
            f"squares.{k}.rows": part.rows,
            f"squares.{k}.columns": part.columns,
        }
    if source.guide is not None:
        wanted["guide.taken_off"] = source.guide.taken_off
        for k, basis in enumerate(source.guide.bases):
            if basis is not None:
                wanted |= {f"guide.{k}.places": basis.places, f"guide.{k}.basis": basis.matrix}
    arrays: Arrays = {}
    stored_as: dict[str, str] = {}
    names: dict[int, str] = {}
    for name, array in wanted.items():
        if array is not None:  # an array with two roles is written once
            stored_as[name] = names.setdefault(id(array), name)
            arrays[stored_as[name]] = array
    for name in ("left", "core", "right", "known.columns", "known.rows", "known.values"):
        _refuse_nonfinite(name, wanted[name])
    item_arrays, item_kind = pack_items(source.items, "items")
    other_arrays, other_kind = pack_items(source.others, "others")
    id_arrays, id_kind = pack_names(source.ids.left, "ids")
    right = None if source.ids.right is source.ids.left else source.ids.right
    other_id_arrays, other_id_kind = pack_names(right, "other_ids")
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
        "squares": [float(part.weight).hex() for part in matrix.squares],
        "guide": [] if source.guide is None else source.guide.parts,
        "bases": [] if source.guide is None else [b and b.columns for b in source.guide.bases],
        "version": matrix.provenance.version,
        "seed": matrix.provenance.seed,
        "ids": id_kind,
        "other_ids": other_id_kind,
    }
    return arrays | item_arrays | other_arrays | id_arrays | other_id_arrays, facts


def check_facts(facts: dict[str, Any]) -> None:
    """Refuse facts that are not there or not of their type; fill in what old files lack."""
    # Files written before there was one hold similarities of ordinary size.
    facts.setdefault("power", 0)
    facts.setdefault("curve", [])
    facts.setdefault("stopped_because", "")
    facts.setdefault("squares", [])
    facts.setdefault("guide", [])
    facts.setdefault("bases", [])
    facts.setdefault("version", "")
    facts.setdefault("seed", None)
    facts.setdefault("ids", NONE)
    facts.setdefault("other_ids", NONE)
    for name, kind in _FACTS.items():
        value = facts[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            message = f'"{name}" is a {type(value).__name__}'
            raise TypeError(message)


def unpack(arrays: Arrays, facts: dict[str, Any]) -> FactoredMatrix:
    """Make the matrix that a file describes, or raise: a checksum says nothing of who made it."""
    check_facts(facts)
    stored_as = facts["stored_as"]

    def get(name: str) -> Any:
        return arrays[stored_as[name]] if name in stored_as else None

    left, core, right = get("left"), get("core"), get("right")
    n, m = len(left), len(right)
    require(left.size + right.size or n + m < _MOST_EMPTY_ROWS, "it has rows without a number")
    for factor in (left, core, right):
        fits = factor.ndim == 2 and are_numbers(factor, factor.shape)  # noqa: PLR2004 - a table
        require(fits, "its factors are no tables of finite numbers")
    require(core.shape == (left.shape[1], right.shape[1]), "its factors do not fit together")
    columns = checked_lines(get("known.columns.index"), get("known.columns"), n, m)
    rows = checked_lines(get("known.rows.index"), get("known.rows"), m, n)
    require(n == m or not facts["symmetric_known"], "it is not square, and symmetric")
    diagonal, keys, values = get("known.diagonal"), get("known.keys"), get("known.values")
    require(diagonal is None or (n == m and are_numbers(diagonal, (n,))), "its diagonal is wrong")
    require(
        are_positions(keys, n * m) and are_numbers(values, (len(keys),)), "its entries are wrong"
    )
    known = Known(columns, columns if facts["symmetric_known"] else rows, diagonal)
    # Files of version 1 hold both orders of a pair; one is enough.
    known = known.with_entries(*known.places_of(keys), values)
    of_left, of_right = get("landmarks.left"), get("landmarks.right")
    for landmarks in (of_left, of_right):
        require(landmarks is None or are_positions(landmarks, max(n, m)), "its landmarks are wrong")
    skipped = get("skipped")
    if skipped is not None:
        two = skipped.ndim == 2 and skipped.shape[1] == 2  # noqa: PLR2004 - row and column
        fits = two and are_positions(skipped[:, 0], n) and are_positions(skipped[:, 1], m)
        require(fits, "its skipped pairs are wrong")
    require(abs(facts["power"]) <= _LARGEST_POWER, "its scale is that of no number")
    nugget = facts["nugget"]
    guide = _unpack_guide(facts["guide"], facts["bases"], get, n)
    beside = 0 if guide is None else guide.width + 1
    fits = all(
        marks is None or len(marks) + beside == tall.shape[1]
        for marks, tall in ((of_left, left), (of_right, right))
    )
    require(guide is None or (fits and of_left is not None), "its guide does not fit")
    own = of_left is not None and len(of_left) + beside == left.shape[1]
    require(np.isfinite(nugget) and (nugget == 0 or own), "its nugget does not fit")
    # The transpose of an asymmetric similarity's matrix has its items on the other side.
    sides = ((n, m), (m, n)) if facts["derived"] else ((n,), (m,))
    return FactoredMatrix(
        left,
        core,
        None if right is left else right,
        known=known,
        source=Source(
            items=unpack_items(arrays, facts["items"], "items", sides[0]),
            others=unpack_items(arrays, facts["others"], "others", sides[1]),
            square=facts["square"],
            fingerprint=facts["similarity"],
            left_landmarks=of_left,
            right_landmarks=of_right,
            symmetric=facts["symmetric"],
            derived=facts["derived"],
            power=facts["power"],
            guide=guide,
            ids=_unpack_ids(arrays, facts, n, m),
        ),
        squares=[
            _unpack_squares(weight, f"squares.{k}", get, (n, m))
            for k, weight in enumerate(facts["squares"])
        ],
        evaluations=facts["evaluations"],
        error=None if facts["error"] is None else _unpack_error(facts["error"]),
        method=facts["method"],
        nugget=nugget,
        curve=[_unpack_point(packed) for packed in facts["curve"]],
        stopped_because=facts["stopped_because"],
        provenance=Provenance(facts["version"], facts["seed"]),
    ).without(np.empty((0, 2), dtype=np.int64) if skipped is None else skipped)


def _unpack_ids(arrays: Arrays, facts: dict[str, Any], n: int, m: int) -> Ids:
    left = unpack_names(arrays, facts["ids"], "ids", n)
    if facts["other_ids"] == NONE and facts["square"]:
        require(left is None or n == m, "its ids are not those of its columns")
        return Ids(left, left)
    return Ids(left, unpack_names(arrays, facts["other_ids"], "other_ids", m))


def _unpack_squares(weight: str, name: str, get: Any, shape: tuple[int, int]) -> Squares:
    left, right = get(f"{name}.left"), get(f"{name}.right")
    for table, count in zip((left, right), shape, strict=True):
        fits = table.ndim == 2 and table.dtype == np.float32  # noqa: PLR2004 - a table
        require(fits and len(table) == count, "its guide's vectors are wrong")
        require(bool(np.isfinite(table).all()), "its guide's vectors are wrong")
    require(left.shape[1] == right.shape[1], "its guide's vectors are wrong")
    rows, columns = get(f"{name}.rows"), get(f"{name}.columns")
    for scale, count in zip((rows, columns), shape, strict=True):
        require(scale is None or are_numbers(scale, (count,)), "its guide's scales are wrong")
    value = float.fromhex(weight)
    require(bool(np.isfinite(value)), "its guide's weight is none")
    return Squares(value, left, right, rows, columns)


def _unpack_guide(parts: list[Any], bases: list[Any], get: Any, n: int) -> LineGuide | None:
    if not parts:
        return None
    taken_off = get("guide.taken_off")
    widths, which = zip(*parts, strict=True)
    whole = all(type(x) is int for x in (*widths, *which))
    require(whole and min(widths) > 0 and min(which) >= 0, "its guide is wrong")
    require(are_numbers(taken_off, (2 * len(parts),)), "its guide is wrong")
    require(len(bases) in (0, len(parts)), "its guide is wrong")
    made: list[Basis | None] = []
    for k, columns in enumerate(bases):
        places, matrix = get(f"guide.{k}.places"), get(f"guide.{k}.basis")
        made.append(None)
        if columns is None:
            continue
        require(type(columns) is int and columns >= 0, "its guide is wrong")
        fits = are_positions(places, columns or n)
        fits = fits and are_numbers(matrix, (len(places), widths[k]))
        require(fits, "its guide is wrong")
        made[k] = Basis(places, matrix, columns)
    return LineGuide(taken_off, tuple(widths), tuple(which), ARRAY, tuple(made))


def _refuse_nonfinite(name: str, array: Any) -> None:
    if not all_finite(array):
        raise InputError(
            f"the matrix has numbers that are not finite, in {name}.",
            "A file with such numbers counts as damaged, and would not be read again.",
            "Save the matrix from which this one was made, before it was scaled.",
        )


def _pack_error(error: ErrorEstimate) -> list[str]:
    # Hexadecimal floats are exact, and know infinity, which JSON does not.
    return [*(float(x).hex() for x in error[:3]), str(error.n_pairs)]


def _unpack_error(packed: list[str]) -> ErrorEstimate:
    value, low, high = (float.fromhex(x) for x in packed[:3])
    require(value == value and low <= high, "its stated error is none")  # noqa: PLR0124 - NaN
    return ErrorEstimate(value, low, high, int(packed[3]))


def _pack_point(point: CurvePoint | SketchPoint) -> list[Any]:
    return [type(point).__name__, *(int(x) for x in point[:-1]), _pack_error(point.error)]


def _unpack_point(packed: list[Any]) -> CurvePoint | SketchPoint:
    name, *numbers, error = packed
    require(all(type(x) is int for x in numbers), "its curve has other than numbers")
    point: CurvePoint | SketchPoint = _POINTS[name](*numbers, _unpack_error(error))
    return point
