"""Clusters: which items belong together, and what is stated about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, is_whole
from fewpairs.error.rows import Share
from fewpairs.errors import InputError, MissingExtraError
from fewpairs.oracle.oracle import Oracle
from fewpairs.tasks.clustering.tree import Tree
from fewpairs.tasks.matching.identity import Ids
from fewpairs.tasks.matching.threshold import Threshold


@dataclass(frozen=True, eq=False)
class Clusters:
    """Items in clusters, numbered by their first items.

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
    ids: Ids = field(default=Ids(None, None), repr=False)
    oracle: Oracle | None = field(default=None, repr=False)

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

    # ------------------------------------------------------------------ other forms

    def _columns(self) -> dict[str, Any]:
        return {"id": self.ids.name(np.arange(len(self.labels))), "cluster": self.labels}

    def to_pandas(self) -> Any:
        """Return a data frame with the columns id and cluster."""
        try:
            import pandas as pd  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtraError("pandas", "frames", "to_pandas") from error
        return pd.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a data frame with the columns id and cluster."""
        try:
            import polars as pl  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtraError("polars", "frames", "to_polars") from error
        return pl.DataFrame(self._columns())

    def to_csv(self, path: str | Path, *, escape: bool = True) -> None:
        """Write a table with the columns id and cluster; the old file or the new one.

        An id that a spreadsheet would take for a formula gets an apostrophe before it, unless
        `escape` is False.
        """
        from fewpairs.files.tables import write_table  # noqa: PLC0415 - only where it is written

        write_table(Path(path), self._columns(), escape=escape)
