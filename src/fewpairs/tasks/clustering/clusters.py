"""Clusters: which items belong together, and what is stated about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.error.rows import Share
from fewpairs.errors import InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.files.results import Paged, Tabular
from fewpairs.items.ids import NO_IDS, Ids
from fewpairs.items.items import Items
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.clustering.tree import Tree
from fewpairs.tasks.matching.threshold import Threshold

#: Clusters, and items of each, that a notebook shows.
_SHOWN, _NAMED = 5, 6


@dataclass(frozen=True, eq=False)
class Clusters(Tabular, Paged):
    """Items in clusters, numbered by their first items.

    `to_pandas`, `to_polars` and `to_csv` give the columns id and cluster; with ``texts=True`` also
    text.

    Attributes
    ----------
    labels : ndarray of int
        For each item the number of its cluster.
    precision : Share or None
        Of all pairs within a cluster, the share whose similarity is at least the threshold;
        ``value``, ``low``, ``high``. None where no pairs were drawn to state it.
    recall : Share or None
        Of all pairs whose similarity is at least the threshold, the share within a cluster.
    undecided : int or None
        Merges, made or not, whose average is so near to the threshold that the noise of what was
        not evaluated could have decided otherwise. None where nobody knows that noise.
    evaluations : int
        What all of it took.
    spent : dict
        Evaluations by purpose: "matrix", "decisions", "blind".
    noise : float or None
        What an entry that was not evaluated is off by, typically, near these decisions.
    exact_sums : bool
        False where a guide's squares went through 500 anchors before they were added up.
    symmetrized : bool
        Whether the matrix was not symmetric, and the mean of both orders was clustered.
    skipped : int
        Pairs that were asked for and have no value: predictions stand in for them when clusters are
        merged, and in what is stated they count as no matches.
    matrix : FactoredMatrix or None
        What was clustered, before pairs were evaluated for decisions.
    """

    labels: IntArray
    threshold: Threshold
    tree: Tree = field(repr=False)
    precision: Share | None = None
    recall: Share | None = None
    undecided: int | None = None
    evaluations: int = 0
    spent: dict[str, int] = field(default_factory=dict)
    noise: float | None = None
    exact_sums: bool = True
    symmetrized: bool = False
    skipped: int = 0
    ids: Ids = field(default=NO_IDS, repr=False)
    oracle: Oracle | None = field(default=None, repr=False)
    matrix: FactoredMatrix | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.n_clusters

    @property
    def n_clusters(self) -> int:
        """Number of clusters, single items included."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> IntArray:
        """Number of items in each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters).astype(np.int64)

    @property
    def items(self) -> Items | None:
        """What was put into clusters, where it is there."""
        return None if self.matrix is None else self.matrix.source.items

    @property
    def merges(self) -> FloatArray:
        """Average similarity (or distance) of each merge that was made, best first."""
        return self.tree.similarity if self.threshold.above else -self.tree.similarity

    def groups(self, smallest: int = 2) -> list[Any]:
        """Return the clusters of at least so many items, largest first, each as ids or positions.

        Parameters
        ----------
        smallest : int, default=2

        Returns
        -------
        list of list
        """
        if not is_whole(smallest):
            raise InputError(
                f"the smallest group is {smallest!r}.",
                "It is how many items a cluster has at least, to be listed.",
                "Pass a whole number.",
            )
        order = np.argsort(self.labels, kind="stable")
        members = np.split(order, np.cumsum(self.sizes)[:-1])
        kept = sorted((some for some in members if len(some) >= smallest), key=len, reverse=True)
        if self.ids.left is None:
            return [some.tolist() for some in kept]
        return [list(self.ids.name(some)) for some in kept]

    def __repr__(self) -> str:
        n, sizes = len(self.labels), self.sizes
        several = int((sizes > 1).sum())
        largest = int(sizes.max(initial=0))
        text = (
            f"<{n:,} items in {self.n_clusters:,} clusters, {several:,} of more than one item, "
            f"the largest of {largest:,}"
        )
        if self.evaluations:
            text += f"; {self.evaluations:,} evaluations"
        if self.precision is not None:
            text += f"; precision {self.precision}, recall {self.recall}"
        if self.undecided is not None:
            text += f"; {self.undecided:,} merges undecided"
        if self.skipped:
            text += f"; {self.skipped:,} skipped pairs count as no matches"
        return text + ">"

    def _repr_html_(self) -> str:
        sizes, found = self.sizes, self.groups()
        stated = [share for share in (self.precision, self.recall) if share is not None]
        rows = [
            ("sizes", f"{len(found):,} of several items, the largest of {int(sizes.max()):,}"),
            ("evaluations", f"{self.evaluations:,}" if self.evaluations else ""),
            ("precision", "" if self.precision is None else str(self.precision)),
            ("recall", "" if self.recall is None else str(self.recall)),
            ("undecided", "" if self.undecided is None else f"{self.undecided:,} merges"),
            *((f"{len(group):,} items", _few(group)) for group in found[:_SHOWN]),
        ]
        more = len(found) - _SHOWN
        note = f"and {more:,} more clusters: .to_pandas(), .report(path)" if more > 0 else ""
        drawn = "".join(svg.interval(*share) for share in stated if share.value == share.value)
        title = f"{len(self.labels):,} items in {self.n_clusters:,} clusters"
        return card(title, rows, drawn, note)

    # ------------------------------------------------------------------ other forms

    def _columns(self, *, texts: bool) -> dict[str, Any]:
        columns = {"id": self.ids.name(np.arange(len(self.labels))), "cluster": self.labels}
        if texts and self.items is not None and self.items.kind == "text":
            columns["text"] = list(self.items.values)
        return columns

    def _write_page(self, path: str | Path, **shown: Any) -> None:
        from fewpairs.report.clusters_page import report_clusters  # noqa: PLC0415 - a face

        report_clusters(self, path, **shown)


def _few(group: list[Any]) -> str:
    """Write the first items of a cluster."""
    more = f", and {len(group) - _NAMED:,} more" if len(group) > _NAMED else ""
    return ", ".join(map(str, group[:_NAMED])) + more
