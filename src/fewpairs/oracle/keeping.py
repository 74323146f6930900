"""What an oracle has evaluated, to a file and back, so that nobody pays for it twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fewpairs.errors import FileFormatError, InputError
from fewpairs.files import archive
from fewpairs.files.contents import are_numbers, are_positions, require
from fewpairs.items.packing import digest
from fewpairs.oracle.known import Known, checked_lines
from fewpairs.oracle.oracle import Oracle

#: Tells these files from those of matrices.
_KIND = "evaluations"


def keep(oracle: Oracle, path: Path, inputs: dict[str, str]) -> bool:
    """Write everything that was evaluated to a file; say whether there was anything.

    Parameters
    ----------
    oracle : Oracle
    path : Path
    inputs : dict
        Whatever else the answers depend on, such as a checksum of a file.

    Returns
    -------
    bool
    """
    known, ordered = oracle.bought()
    if known.empty and not len(ordered[0]):
        return False
    arrays: dict[str, npt.NDArray[Any]] = {}
    for role, lines in (("columns", known.columns), ("rows", known.rows)):
        if role == "columns" or not known.symmetric:
            arrays |= {f"{role}.index": lines.index, role: lines.values}
    arrays["entries.rows"], arrays["entries.columns"], arrays["entries"] = known.outside_lines()
    arrays["ordered.keys"], arrays["ordered"] = ordered
    facts = _identity(oracle, inputs) | {"evaluations": oracle.evaluations}
    archive.write(path, arrays, facts)
    return True


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
    with _dispensable():
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
    with _dispensable(), archive.unpacking(path):
        known, ordered = _unpack(arrays, oracle.shape, symmetric=oracle.symmetric)
        evaluations = int(facts["evaluations"])
    oracle.endow(known, ordered, evaluations)


@contextmanager
def _dispensable() -> Iterator[None]:
    """Tell of a file that cannot be read that one can do without it: there is no copy of it."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(
            str(error).splitlines()[0],
            "It should hold what an earlier run has evaluated, which can be evaluated again.",
            "Delete it to begin anew.",
        ) from error


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
    columns = checked_lines(arrays["columns.index"], arrays["columns"], n, m)
    rows = columns if symmetric else checked_lines(arrays["rows.index"], arrays["rows"], m, n)
    i, j, keys = arrays["entries.rows"], arrays["entries.columns"], arrays["ordered.keys"]
    values, ordered = arrays["entries"], arrays["ordered"]
    places = are_positions(i, n) and are_positions(j, m) and are_positions(keys, n * m)
    require(places and len(i) == len(j), "its entries do not fit")
    require(are_numbers(values, (len(i),)), "its entries do not fit")
    require(are_numbers(ordered, (len(keys),)), "its pairs do not fit")
    return Known(columns, rows).with_entries(i, j, values), (keys, ordered)
