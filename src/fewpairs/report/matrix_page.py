"""The page of a factored matrix: its error, what it is like, and every item's nearest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import IntArray
from fewpairs.error.estimate import CurvePoint
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.factored.spectrum import Spectrum, spectrum_of
from fewpairs.files.writing import refuse_unwritable
from fewpairs.items.ids import shown_ids
from fewpairs.notebook.svg import Point, curve, interval, spectrum
from fewpairs.report.contents import Chart, Contents, Fact, Labels, Links
from fewpairs.report.findings import findings_of
from fewpairs.report.origin import origin_of, time_fact
from fewpairs.report.page import write_page
from fewpairs.report.texts import both_sides, check_given, check_most, texts_of
from fewpairs.tasks.maps.places import Mapped, is_one_set, map_of


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
    write_page(contents_of(matrix, texts, ids, labels, title, most), path)


def contents_of(
    matrix: FactoredMatrix, texts: Any, ids: Any, labels: Any, title: str, most: int
) -> Contents:
    """Return what is on the page of a matrix."""
    check_most(most)
    source = matrix.source
    square = is_one_set(matrix)
    both = both_sides(texts, matrix.shape, "texts", square=square)
    check_given(labels.of if isinstance(labels, Labels) else labels, len(matrix), "labels")
    named = source.ids if ids is None else shown_ids(ids, matrix.shape, square=square)
    rows, columns = some_of(matrix.shape[0], most), some_of(matrix.shape[1], most)
    mapped = map_of(matrix, rows, columns)
    values = spectrum_of(matrix)
    names = [str(name) for name in named.name(rows)]
    shown = texts_of(source.items, rows, both[0])
    if not square:
        names += [str(name) for name in named.name(columns, right=True)]
        shown += texts_of(source.others, columns, both[1])
    return Contents(
        title=title or _title(matrix),
        lead=_lead(matrix),
        facts=_facts(matrix),
        findings=findings_of(matrix, values, mapped.sides[0]),
        charts=_charts(matrix, values),
        provenance=origin_of(
            matrix.provenance,
            [("method", matrix.method), ("similarity", _similarity(matrix))],
        ),
        texts=shown,
        names=names,
        second=len(rows),
        places=mapped.places,
        links=_links(mapped),
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
    items = f"{n:,} items" if is_one_set(matrix) else f"{n:,} items and {m:,} others"
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
    one_order = is_one_set(matrix) and matrix.source.symmetric
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
    shown, everyone = len(rows), matrix.shape[0]
    if not is_one_set(matrix):
        shown, everyone = shown + len(columns), sum(matrix.shape)
    if shown == everyone:
        return near
    return (
        f"{shown:,} of {everyone:,} items are on this page, drawn at random; the nearest of an "
        f"item are the nearest among them. {near}"
    )


def _links(mapped: Mapped) -> Links:
    """Join the neighbours of rows among columns, and of columns among rows, to one list."""
    there = mapped.table >= 0
    return Links(
        left=np.broadcast_to(np.arange(len(there))[:, None], there.shape)[there],
        right=mapped.table[there],
        approximate=np.concatenate([side.approximate.ravel() for side in mapped.sides]),
        exact=np.concatenate([side.exact.ravel() for side in mapped.sides]),
        both=False,
    )


def _labels(
    matrix: FactoredMatrix, rows: IntArray, columns: IntArray, given: Any, *, square: bool
) -> Labels | None:
    """Return colours: what the user gives, or which items are landmarks."""
    if isinstance(given, Labels):
        return given._replace(of=given.of[rows])
    if given is not None:
        if square:
            return Labels.given(given, rows)
        told = Labels.given(given, rows, rest="others")
        return told._replace(of=np.append(told.of, np.zeros(len(columns), dtype=np.int64)))
    if not square:
        second = np.repeat([1, 2], [len(rows), len(columns)])
        return Labels(second, ["", "items", "others"])
    landmarks = matrix.source.left_landmarks
    if landmarks is None:
        return None
    return Labels(np.isin(rows, landmarks) + 1, ["", "items", "landmarks, compared with all"])
