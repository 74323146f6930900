"""What an oracle has evaluated, to a file and back, so that nobody pays for it twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.errors import InputError
from fewpairs.files import archive
from fewpairs.items.packing import digest
from fewpairs.oracle.known import Known, Lines
from fewpairs.oracle.oracle import Oracle

#: Tells these files from those of matrices.
_KIND = "evaluations"


def keep(oracle: Oracle, path: Path, inputs: dict[str, str]) -> None:
    """Write everything that was evaluated to a file.

    Parameters
    ----------
    oracle : Oracle
    path : Path
    inputs : dict
        Whatever else the answers depend on, such as a checksum of a file.
    """
    known, ordered = oracle.bought()
    arrays: dict[str, npt.NDArray[Any]] = {}
    for role, lines in (("columns", known.columns), ("rows", known.rows)):
        if role == "columns" or not known.symmetric:
            arrays |= {f"{role}.index": lines.index, role: lines.values}
    arrays["entries.rows"], arrays["entries.columns"], arrays["entries"] = known.outside_lines()
    arrays["ordered.keys"], arrays["ordered"] = ordered
    facts = _identity(oracle, inputs) | {"evaluations": oracle.evaluations}
    archive.write(path, arrays, facts)


def restore(oracle: Oracle, path: Path, inputs: dict[str, str]) -> None:
    """Let an oracle look up what was evaluated before for the same items and similarity.

    Parameters
    ----------
    oracle : Oracle
        Not used yet.
    path : Path
        A file that `keep` wrote.
    inputs : dict
        As they were then.
    """
    arrays, facts = archive.read(path)
    if facts.get("kind") != _KIND:
        raise archive.damaged(path, "it holds no evaluations")
    expected = _identity(oracle, inputs)
    if {name: facts.get(name) for name in expected} != expected:
        raise InputError(
            f"{str(path)!r} holds evaluations of other items, or by another similarity.",
            "They belong to a run that was stopped, and would be wrong in this one.",
            "Choose another output, or delete that file if nobody needs it.",
        )
    with archive.unpacking(path):
        known, ordered = _unpack(arrays, oracle.shape, symmetric=oracle.symmetric)
        evaluations = int(facts["evaluations"])
    oracle.endow(known, ordered, evaluations)


def _identity(oracle: Oracle, inputs: dict[str, str]) -> dict[str, Any]:
    return {
        "kind": _KIND,
        "shape": list(oracle.shape),
        "symmetric": oracle.symmetric,
        "similarity": oracle.similarity.fingerprint,
        "items": digest(oracle.items),
        "others": None if oracle.square else digest(oracle.others),
        "inputs": inputs,
    }


def _unpack(
    arrays: archive.Arrays, shape: tuple[int, int], *, symmetric: bool
) -> tuple[Known, tuple[Any, Any]]:
    n, m = shape
    columns = _lines(arrays["columns.index"], arrays["columns"], n, m)
    rows = columns if symmetric else _lines(arrays["rows.index"], arrays["rows"], m, n)
    i, j = arrays["entries.rows"], arrays["entries.columns"]
    keys = arrays["ordered.keys"]
    for places, length in ((i, n), (j, m), (keys, n * m)):
        _check(places, length)
    known = Known(columns, rows).with_entries(i, j, arrays["entries"])
    return known, (keys, arrays["ordered"])


def _lines(index: npt.NDArray[Any], values: npt.NDArray[Any], height: int, width: int) -> Lines:
    _check(index, width)
    return Lines.of(index, values.reshape(height, len(index)), width)


def _check(places: npt.NDArray[Any], length: int) -> None:
    if places.dtype != np.int64 or np.any((places < 0) | (places >= length)):
        message = "it names items that are not there"
        raise ValueError(message)
