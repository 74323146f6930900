"""The page of clusters: how right they are, and the matrix that they were made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.error.rows import Share
from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.files.writing import refuse_unwritable
from fewpairs.items.ids import shown_ids
from fewpairs.notebook.svg import interval
from fewpairs.report.contents import Contents, Fact, Labels
from fewpairs.report.matrix_page import contents_of
from fewpairs.report.page import write_page
from fewpairs.tasks.clustering.clusters import Clusters

#: Clusters that are named in a sentence, and items of each.
_NAMED, _MEMBERS = 3, 4


def report_clusters(
    clusters: Clusters,
    path: str | Path,
    *,
    texts: Any = None,
    ids: Any = None,
    labels: Any = None,
    title: str = "",
    most: int = 10_000,
) -> None:
    """Write the page; `Clusters.report` documents the parameters."""
    refuse_unwritable(Path(path))
    matrix, n = clusters.matrix, len(clusters.labels)
    if matrix is None:
        raise InputError(
            "a page was asked for of clusters of a single item.",
            "There is nobody to compare it with.",
            "Cluster two items or more.",
        )
    named = clusters.ids if ids is None else shown_ids(ids, (n, n), square=True)
    clusters = replace(clusters, ids=named)
    given = None if named.left is None else named.left.values
    colours = labels
    if labels is None:
        colours = Labels.largest_first(clusters.labels, "alone", "cluster")
    shown = matrix if clusters.threshold.above else _negative(matrix)
    contents = contents_of(shown, texts, given, colours, title or _title(clusters), most)
    contents = replace(
        contents,
        lead=_lead(clusters),
        facts=[*_facts(clusters), *contents.facts[1:]],
        findings=[*_findings(clusters), *contents.findings],
    )
    write_page(contents if clusters.threshold.above else _of_distances(contents, clusters), path)


def _negative(matrix: FactoredMatrix) -> FactoredMatrix:
    """Return distances with their signs turned, so that the nearest have the largest."""
    turned = matrix.scaled(np.full(matrix.shape[0], -1.0), np.ones(matrix.shape[1]))
    turned.source, turned.error, turned.method = matrix.source, matrix.error, matrix.method
    return turned


def _of_distances(contents: Contents, clusters: Clusters) -> Contents:
    """Turn the signs back; what is said of the spectrum would be that of the turned ones."""
    links = contents.links
    values = (None if v is None else -v for v in (links.approximate, links.exact))
    approximate, exact = values
    return replace(
        contents,
        links=links._replace(approximate=approximate, exact=exact),
        findings=_findings(clusters),
        charts=[],
        small_is_near=True,
    )


def _title(clusters: Clusters) -> str:
    return f"{clusters.n_clusters:,} clusters of {len(clusters.labels):,} items"


def _lead(clusters: Clusters) -> str:
    at = clusters.threshold
    what, than = ("similarity", "at least") if at.above else ("distance", "at most")
    told = f"Clusters are merged while their average {what} is {than} {at.at:g}."
    if clusters.precision is None or clusters.recall is None:
        return told
    if np.isnan(clusters.precision.value) or np.isnan(clusters.recall.value):
        return told
    return (
        f"{told} Of the pairs within a cluster {clusters.precision.value:.1%} reach that by "
        f"themselves; of all pairs that do, {clusters.recall.value:.1%} are within a cluster."
    )


def _facts(clusters: Clusters) -> list[Fact]:
    several = int((clusters.sizes > 1).sum())
    facts = [
        Fact(
            "clusters of several items",
            f"{several:,}",
            f"the largest of {int(clusters.sizes.max()):,}; "
            f"{clusters.n_clusters - several:,} items alone",
        )
    ]
    for name, share in (("precision", clusters.precision), ("recall", clusters.recall)):
        if share is not None and not np.isnan(share.value):
            facts.append(_stated(name, share))
    facts.append(Fact("pairs evaluated", f"{clusters.evaluations:,}"))
    return facts


def _stated(name: str, share: Share) -> Fact:
    note = f"95 % interval {share.low:.3f} to {share.high:.3f}"
    if share.low == share.high:
        note = "exact"
    return Fact(name, f"{share.value:.3f}", note, interval(share.value, share.low, share.high))


def _findings(clusters: Clusters) -> list[str]:
    told = []
    if clusters.undecided is not None:
        told.append(
            f"{clusters.undecided:,} merges are so near to the threshold that what was not "
            "evaluated could have decided otherwise."
        )
    for group in clusters.groups()[:_NAMED]:
        more = f" and {len(group) - _MEMBERS:,} more" if len(group) > _MEMBERS else ""
        told.append(f"A large cluster: {', '.join(map(str, group[:_MEMBERS]))}{more}.")
    return told
