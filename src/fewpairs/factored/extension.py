"""A matrix with new items: compared with all landmarks, with some of them, or with none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, SingleArray, generator, is_whole
from fewpairs.error.afresh import judge_afresh
from fewpairs.errors import InputError
from fewpairs.factored.completion import complete_lines
from fewpairs.factored.grown import Grown
from fewpairs.factored.standing_in import stood_in
from fewpairs.files.scratch import lengthened
from fewpairs.items.ids import longer_ids
from fewpairs.items.items import as_items
from fewpairs.oracle.known import Known, Lines

if TYPE_CHECKING:
    from fewpairs.factored.factors import Factors
    from fewpairs.factored.line_guide import LineGuide
    from fewpairs.factored.matrix import FactoredMatrix
    from fewpairs.factored.source import Source
    from fewpairs.factored.squares import Squares


#: Columns whose entries say whether completed lines are to be trusted.
_ENTRIES = 200


class NewRows(NamedTuple):
    """Rows of both factors for new items, and their guide's vectors."""

    left: FloatArray
    right: FloatArray | None  # None where only rows are new, or both factors are one
    vectors: SingleArray | None


def check_error_pairs(error_pairs: int) -> None:
    """Refuse what is no number of pairs, before anything is evaluated."""
    if not is_whole(error_pairs) or error_pairs < 0:
        raise InputError(
            f"error_pairs is {error_pairs!r}.",
            "It is the number of unseen pairs that the error estimate rests on.",
            "Pass a whole number; 0 turns the estimate off.",
        )


def extended(
    matrix: FactoredMatrix,
    new_items: Any,
    evaluations: int | None,
    guide: Any,
    ids: Any,
    n_jobs: int,
    progress: Any,
) -> dict[str, Any]:
    """Return the parts of the matrix with new items, compared with its landmarks."""
    source = matrix.source
    most = landmarks_for(source, evaluations)
    new = as_items(new_items, records=bool(getattr(source.similarity, "takes_records", False)))
    names = longer_ids(source.ids, ids, new)
    grown = source.compare(new, most=most, n_jobs=n_jobs, progress=progress)
    skipped = grown.skipped
    vectors = vectors_of_new(grown, guide)
    grown = stood_in(matrix, grown, vectors)
    rows = _rows_of(matrix, grown, vectors)
    own, spent = None, grown.evaluations
    if matrix.known.diagonal is not None and (most is None or grown.own_is_free):
        own, more = grown.own()
        spent += more
        gone = np.flatnonzero(np.isnan(own))
        own[gone] = matrix.known.diagonal.mean()
        skipped = np.concatenate([skipped, np.stack([gone, gone], axis=1) + grown.forth_start])
    longer = _with_lines if most is None else _with_entries
    known = longer(matrix.known, grown, own)
    left = known.columns.values
    # The known columns may be the very array of the left factor: then they still are.
    if matrix.left is not matrix.known.columns.values or left.shape[1] != matrix.left.shape[1]:
        left = lengthened(matrix.left, rows.left)
    right = None if matrix.right is matrix.left else matrix.right
    if right is not None and rows.right is not None:
        right = lengthened(right, rows.right)
    squares = matrix.squares
    if rows.vectors is not None and source.guide is not None:
        ends = np.cumsum(source.guide.widths)[:-1]
        wide = grown.back is not None
        each = np.split(rows.vectors, ends, axis=1)
        squares = tuple(
            part.extended(mine, mine if wide else None)
            for mine, part in zip(each, matrix.squares, strict=True)
        )
    return {
        "left": left,
        "core": matrix.core,
        "right": right,
        "squares": squares,
        "known": known,
        "source": replace(grown.source, journal=None, tally=None, ids=names),
        "evaluations": matrix.evaluations + spent,
        "error": None,
        "skipped": np.concatenate([matrix.skipped, skipped]),
    }


def judged(
    matrix: FactoredMatrix,
    error_pairs: int,
    random_state: RandomState,
    n_jobs: int,
    source: Source,
) -> FactoredMatrix:
    """Return the matrix with its error from fresh pairs; `source` counts, and has the journal."""
    recording = replace(matrix.source, journal=source.journal, tally=source.tally)
    oracle = recording.oracle(n_jobs=n_jobs)
    error = judge_afresh(matrix, oracle, int(error_pairs), generator(random_state)).warned()
    return matrix.judged(error, matrix.evaluations + oracle.evaluations)


def landmarks_for(source: Source, evaluations: int | None) -> int | None:
    """Return how many landmarks so many evaluations of a new item pay for; None for all."""
    if evaluations is None:
        return None
    if not is_whole(evaluations) or evaluations < 0:
        raise InputError(
            f"evaluations is {evaluations!r}.",
            "It is what each new item may cost.",
            "Pass a whole number, 0 or more, or None to compare with all landmarks.",
        )
    if source.guide is None and evaluations == 0:
        raise InputError(
            "new items without any evaluation were asked of a matrix without a guide.",
            "Nothing is known of them then.",
            "Allow evaluations, or make the matrix with guide=….",
        )
    orders = 1 if source.symmetric or not source.square else 2
    count = int(evaluations) // (orders * source.price_of_entry)
    if source.guide is None:
        count = max(count, 1)
    every = 0 if source.left_landmarks is None else len(source.left_landmarks)
    return None if count >= every else count


def rows_of_new(matrix: Factors, grown: Grown, guide: Any = None) -> NewRows:
    """Return the rows of both factors; entries with landmarks that were not asked are predicted."""
    vectors = vectors_of_new(grown, guide)
    return _rows_of(matrix, stood_in(matrix, grown, vectors), vectors)


def vectors_of_new(grown: Grown, guide: Any) -> SingleArray | None:
    """Return the guide's vectors of new items, where a guide was followed."""
    source = grown.source
    return None if source.guide is None else source.guide.vectors_of(grown.new, guide, source.items)


def _rows_of(matrix: Factors, grown: Grown, vectors: SingleArray | None) -> NewRows:
    source = grown.source
    assert source.left_landmarks is not None  # noqa: S101 - they were compared
    assert source.right_landmarks is not None  # noqa: S101 - they were compared
    left = _side(matrix, grown.left, vectors, source, across=False)
    right = None
    if matrix.right is not matrix.left and grown.back is not None:
        right = _side(matrix, grown.right, vectors, source, across=True)
    return NewRows(left, right, vectors)


def squares_of_new(matrix: Factors, guide: LineGuide | None, rows: NewRows) -> list[Squares]:
    """Return the guide's squares with rows of new items alone."""
    if rows.vectors is None or guide is None:
        return []
    each = np.split(rows.vectors, np.cumsum(guide.widths)[:-1], axis=1)
    return [
        replace(part, left=vectors, rows=None)
        for part, vectors in zip(matrix.squares, each, strict=True)
    ]


def _side(
    matrix: Factors,
    lines: FloatArray,
    vectors: SingleArray | None,
    source: Source,
    *,
    across: bool,
) -> FloatArray:
    """Return new rows of the left factor, or (`across`) of the right one."""
    tall, other = (matrix.right, matrix.left) if across else (matrix.left, matrix.right)
    landmarks = source.right_landmarks if across else source.left_landmarks
    assert landmarks is not None  # noqa: S101 - the caller looked
    s, count = len(landmarks), lines.shape[1]
    made = lines
    beside = np.empty((len(lines), 0))
    unit = float(np.ldexp(1.0, -source.power))
    if source.guide is not None and vectors is not None:
        marks = other[landmarks, s:-1] / unit
        made = source.guide.tall(lines, vectors, marks[:count], unit)
        lines, beside = made[:, :count], made[:, count:]
    if count == s:
        return made
    mine = source.left_landmarks if across else source.right_landmarks
    own = np.empty(0, dtype=np.int64) if mine is None or not source.square else mine
    if not beside.size:
        core = matrix.core.T if across else matrix.core
        few = other[:: max(1, len(other) // _ENTRIES)]
        same = matrix.left is matrix.right

        def entries(rows: FloatArray, columns: FloatArray | None) -> FloatArray:
            return np.asarray(rows @ core @ (few if columns is None or not same else columns).T)

        return complete_lines(tall, s, own, lines, beside, entries)
    # The last column is the same for all.
    return np.hstack([complete_lines(tall[:, :-1], s, own, lines, beside[:, :-1]), beside])


def _with_lines(known: Known, grown: Grown, own: FloatArray | None) -> Known:
    """Lengthen what is known by the new items."""
    columns = grown.columns(known.columns)
    rows = columns if known.rows is known.columns else grown.rows(known.rows)
    diagonal = None
    if known.diagonal is not None and own is not None:
        diagonal = np.concatenate([known.diagonal, own])
    i, j = known.places_of(known.keys)
    return Known(columns, rows, diagonal).with_entries(i, j, known.values)


def _with_entries(known: Known, grown: Grown, own: FloatArray | None) -> Known:
    """Keep whole lines as single entries, for the new items make them incomplete."""
    n, m = known.shape
    more = len(grown.new)
    wide = m if grown.back is None else m + more
    lines = Lines.none(n + more, wide)
    rows = lines if known.symmetric else Lines.none(wide, n + more)
    diagonal = None
    i, j = known.places_of(known.keys)
    found: list[tuple[IntArray, IntArray, FloatArray]] = [(i, j, known.values)]
    if known.diagonal is not None:
        if own is not None:
            diagonal = np.concatenate([known.diagonal, own])
        else:
            found.append((np.arange(n), np.arange(n), known.diagonal))
    found.append(_entries_of(known.columns, 0))
    if not known.symmetric:
        across, down, values = _entries_of(known.rows, 0)
        found.append((down, across, values))
    found.append(_entries_of(grown.forth, n))
    if grown.back is not None and not known.symmetric:
        across, down, values = _entries_of(grown.back, m)
        found.append((down, across, values))
    i, j, values = (np.concatenate(part) for part in zip(*found, strict=True))
    return Known(lines, rows, diagonal).with_entries(i, j, values)


def _entries_of(lines: Lines, start: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return whole columns as entries, whose rows count from `start`."""
    height, count = lines.values.shape
    rows = np.repeat(np.arange(start, start + height), count)
    return rows, np.tile(lines.index, height), lines.values.ravel()
