"""The page of a factored matrix: its error, what it is like, and every item's nearest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.error.estimate import CurvePoint
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.spectrum import Spectrum, spectrum_of
from fewpairs.files.writing import refuse_unwritable
from fewpairs.notebook.svg import Point, curve, interval, spectrum
from fewpairs.report.contents import Chart, Contents, Fact, Labels, Links
from fewpairs.report.findings import findings_of
from fewpairs.report.layout import neighbor_map
from fewpairs.report.neighbors import Neighbors, nearest_of_all
from fewpairs.report.origin import origin_of, time_fact
from fewpairs.report.page import write_page
from fewpairs.report.texts import check_given, texts_of


def report_matrix(
    matrix: FactoredMatrix,
    path: str | Path,
    *,
    texts: Any = None,
    ids: Any = None,
    labels: Any = None,
    title: str = "",
    most: int = 10_000,
) -> None:
    """Write the page; `FactoredMatrix.report` documents the parameters."""
    refuse_unwritable(Path(path))
    for given, what in ((texts, "texts"), (ids, "ids"), (labels, "labels")):
        check_given(given, len(matrix), what)
    write_page(_contents(matrix, texts, ids, labels, title, most), path)


def _contents(
    matrix: FactoredMatrix, texts: Any, ids: Any, labels: Any, title: str, most: int
) -> Contents:
    source = matrix.source
    square = source.square and matrix.shape[0] == matrix.shape[1]
    rows, columns = some_of(matrix.shape[0], most), some_of(matrix.shape[1], most)
    near = nearest_of_all(matrix, rows, columns, square=square)
    values = spectrum_of(matrix)
    names = [str(ids[k]) for k in rows.tolist()] if ids is not None else [str(k) for k in rows]
    shown = texts_of(source.items, rows, texts)
    sides = [near]
    if not square:
        sides.append(nearest_of_all(matrix.T, columns, rows, square=False))
        names += [str(k) for k in columns]
        shown += texts_of(source.others, columns)
    links = _links(sides, len(rows))
    return Contents(
        title=title or _title(matrix),
        lead=_lead(matrix),
        facts=_facts(matrix),
        findings=findings_of(matrix, values, near),
        charts=_charts(matrix, values),
        provenance=origin_of(
            matrix.provenance,
            [("method", matrix.method), ("similarity", _similarity(matrix))],
        ),
        texts=shown,
        names=names,
        second=len(rows),
        places=neighbor_map(_table(sides, len(rows)), _start(matrix, rows, columns, square=square)),
        links=links,
        labels=_labels(matrix, rows, columns, labels, square=square),
        pairs_title="Most similar pairs",
        map_note=_note(matrix, rows, columns),
    )


def some_of(count: int, most: int) -> IntArray:
    """Return all positions, or as many as a page shows, drawn at random, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def _title(matrix: FactoredMatrix) -> str:
    n, m = matrix.shape
    items = f"{n:,} items" if matrix.source.square else f"{n:,} items and {m:,} others"
    return f"The similarities of {items}"


def _lead(matrix: FactoredMatrix) -> str:
    share = matrix.evaluations / _all_pairs(matrix)
    if matrix.error is None:
        return (
            f"{share:.1%} of all pairs were evaluated; the rest is predicted, with no stated error."
        )
    if matrix.error.high == 0:
        return "Every pair was evaluated."
    return (
        f"{share:.1%} of all pairs were evaluated; the rest is predicted, and the whole matrix is "
        f"wrong by {matrix.error.value:.1%} of its norm."
    )


def _all_pairs(matrix: FactoredMatrix) -> int:
    n, m = matrix.shape
    one_order = matrix.source.square and matrix.source.symmetric
    return (n * (n + 1) // 2 if one_order else n * m) * matrix.source.price_of_entry


def _facts(matrix: FactoredMatrix) -> list[Fact]:
    everything, error = _all_pairs(matrix), matrix.error
    facts = [
        Fact(
            "pairs evaluated",
            f"{matrix.evaluations:,}",
            f"{matrix.evaluations / everything:.2%} of all {everything:,}",
        )
    ]
    if error is not None:
        exact = error.n_pairs == 0 and error.low == error.high
        facts.append(
            Fact(
                "relative error",
                f"{error.value:.3g}",
                "exact: every pair was evaluated"
                if exact
                else f"95 % interval {error.low:.3g} to {error.high:.3g}, from {error.n_pairs:,} "
                "unseen pairs",
                interval(error.value, error.low, error.high, most=None),
            )
        )
    facts += time_fact(matrix.provenance)
    if matrix.price_written:
        facts.append(Fact("price", matrix.price_written))
    return facts


def _charts(matrix: FactoredMatrix, values: Spectrum) -> list[Chart]:
    charts = []
    if len(values.values) > 1:
        largest = values.values[0]
        kind = "eigenvalues" if values.signed else "singular values"
        note = f"The largest, {largest:.4g}, is left out: the others would not be seen beside it."
        if values.signed and values.negative_share > 0:
            note = f"Negative ones are orange. {note}"
        charts.append(Chart(f"Spectrum: {kind} of the factors", spectrum(values.values), note))
    points = [
        Point(step.evaluations, *step.error[:3])
        for step in matrix.curve
        if isinstance(step, CurvePoint)
    ]
    if len(points) > 1:
        why = f"The run ended because {matrix.stopped_because}." if matrix.stopped_because else ""
        charts.append(Chart("Error while the run went on, with its interval", curve(points), why))
    return charts


def _similarity(matrix: FactoredMatrix) -> str:
    source = matrix.source
    return source.similarity.fingerprint if source.similarity else source.fingerprint


def _note(matrix: FactoredMatrix, rows: IntArray, columns: IntArray) -> str:
    near = (
        "Items lie beside their nearest, as the matrix has them; distances say no more than that."
    )
    left_out = matrix.shape[0] - len(rows) + matrix.shape[1] - len(columns)
    if not left_out:
        return near
    return (
        f"{len(rows):,} of {matrix.shape[0]:,} items are on this page, drawn at random; the "
        f"nearest of an item are the nearest among them. {near}"
    )


def _links(sides: list[Neighbors], second: int) -> Links:
    """Join the neighbours of rows among columns, and of columns among rows, to one list."""
    table = _table(sides, second)
    there = table >= 0
    height = max(side.places.shape[1] for side in sides)
    return Links(
        left=np.broadcast_to(np.arange(len(table))[:, None], table.shape)[there],
        right=table[there],
        approximate=np.vstack([_padded(side.approximate, height) for side in sides])[there],
        exact=np.vstack([_padded(side.exact, height) for side in sides])[there],
        both=False,
    )


def _table(sides: list[Neighbors], second: int) -> IntArray:
    """Return the neighbours of all items on the page, as places on it; -1 for none."""
    if len(sides) == 1:
        return sides[0].places
    height = max(side.places.shape[1] for side in sides)
    moved = [sides[0].places + second, sides[1].places]
    return np.vstack([np.nan_to_num(_padded(t, height), nan=-1) for t in moved]).astype(np.int64)


def _padded(table: Any, height: int) -> FloatArray:
    padded = np.full((len(table), height), np.nan)
    padded[:, : table.shape[1]] = table
    return padded


def _start(
    matrix: FactoredMatrix, rows: IntArray, columns: IntArray, *, square: bool
) -> FloatArray:
    """Return two leading directions after the first, which usually says what all share."""
    if square:
        return _two(matrix.embedding(psd=True)[rows])
    # Both factors through one core, so that near rows and columns lie near each other.
    w, sizes, vt = np.linalg.svd(matrix.core, full_matrices=False)
    root = np.sqrt(sizes)
    both = [matrix.left[rows] @ (w * root), matrix.right[columns] @ (vt.T * root)]
    return _two(np.vstack(both))


def _two(vectors: FloatArray) -> FloatArray:
    order = np.argsort(-np.einsum("ik,ik->k", vectors, vectors), kind="stable")
    chosen = vectors[:, order[1:3]]
    return np.hstack([chosen, np.zeros((len(vectors), 2 - chosen.shape[1]))])


def _labels(
    matrix: FactoredMatrix, rows: IntArray, columns: IntArray, given: Any, *, square: bool
) -> Labels | None:
    """Return colours: what the user gives, or which items are landmarks."""
    if given is not None:
        names, numbers = np.unique(np.asarray(given), return_inverse=True)
        rest = np.zeros(0 if square else len(columns), dtype=np.int64)
        of = np.concatenate([numbers.ravel()[rows] + 1, rest])
        return Labels(of, ["others" if len(rest) else "", *map(str, names.tolist())], "label")
    if not square:
        second = np.repeat([1, 2], [len(rows), len(columns)])
        return Labels(second, ["", "items", "others"])
    landmarks = matrix.source.left_landmarks
    if landmarks is None:
        return None
    return Labels(np.isin(rows, landmarks) + 1, ["", "items", "landmarks, compared with all"])
