"""How good the largest entries of a matrix are, from a few rows read whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewpairs.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    RandomState,
    generator,
    is_number,
    is_whole,
)
from fewpairs.error.rows import Share, share_of_rows
from fewpairs.errors import InputError, StoppedError
from fewpairs.factored.neighbors import check_numbers, how_many_candidates, reranked, scores_of
from fewpairs.notebook import svg
from fewpairs.notebook.card import card
from fewpairs.numerics import largest
from fewpairs.oracle.progress import Progress, ProgressOption

if TYPE_CHECKING:
    from fewpairs.factored.answers import Answers

#: Neighbours that are checked unless the caller says how many, as many as `nearest` returns.
_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Check:
    """Recall and precision of a matrix's largest entries, each with a 95 % interval.

    Attributes
    ----------
    recall : Share
        Of the true neighbours (or of the entries beyond the threshold), the share that the
        factored scores find; ``value``, ``low``, ``high``.
    precision : Share
        Of what they put there, the share that belongs there. For neighbours it is the recall.
    reranked : Share or None
        Recall of `nearest` with exact ranking of `candidates` candidates.
    k : int or None
    above, below : float or None
        What was asked.
    candidates : int
    rows : int
        Rows that were read.
    of : int
        Rows that the matrix does not hold exactly, from which they were drawn.
    entries : int
        True neighbours, or entries beyond the threshold, in these rows.
    evaluations : int
        What reading them took.
    skipped : int
        Pairs in these rows that have no value: they are left out.
    """

    recall: Share
    precision: Share
    reranked: Share | None
    k: int | None
    above: float | None
    below: float | None
    candidates: int
    rows: int
    of: int
    entries: int
    evaluations: int
    skipped: int = 0

    def _repr_html_(self) -> str:
        stated = {
            "recall": self.recall,
            "precision": None if self.k is not None else self.precision,
            "ranked exactly": self.reranked,
        }
        shown = {name: share for name, share in stated.items() if share is not None}
        drawn = [svg.interval(*share) for share in shown.values() if not np.isnan(share.value)]
        rows = [(name, str(share)) for name, share in shown.items()]
        return card("the largest entries", rows if self.of else [], "<br>".join(drawn), str(self))

    def __str__(self) -> str:
        if not self.of:
            return "every row of the matrix is known exactly: nothing is to be checked"
        source = (
            f"from {self.rows:,} of the {self.of:,} rows that are not known, read for "
            f"{self.evaluations:,} evaluations"
        )
        if self.skipped:
            source += f"; {self.skipped:,} pairs without a value are left out"
        if self.k is not None:
            text = f"of the {self.k:,} nearest, the factored scores find {self.recall}"
            if self.reranked is not None:
                text += f", and with {self.candidates:,} candidates ranked exactly {self.reranked}"
            return f"{text}; {source}"
        beyond = f"above {self.above:g}" if self.below is None else f"below {self.below:g}"
        if not self.entries and np.isnan(self.precision.value):
            return f"no entry {beyond}, neither true nor factored; {source}"
        return (
            f"entries {beyond}: recall {self.recall}, precision {self.precision}; {source}, "
            f"with {self.entries:,} such entries"
        )


def check(
    matrix: Answers,
    k: int | None,
    *,
    above: float | None,
    below: float | None,
    rows: int,
    rerank: int | None,
    random_state: RandomState,
    n_jobs: int,
    progress: ProgressOption,
) -> Check:
    """Check neighbours or a threshold; see `FactoredMatrix.check`."""
    k = _checked_question(k, above, below, rows, rerank)
    # Rows that are known whole are right, and tell nothing of the others.
    unknown = np.setdiff1d(np.arange(matrix.shape[0]), matrix.known.rows.index)
    drawn = generator(random_state).permutation(unknown)[:rows]
    before = matrix.evaluations
    read = _read(matrix, drawn, n_jobs, progress)
    candidates = 0 if k is None else how_many_candidates(matrix, k, rerank)
    own = 1 if matrix.source.square else 0  # an item's entry with itself is not read
    counts = np.zeros((4, len(drawn)))  # true, found, both; both after exact ranking
    for place, (row, exact) in enumerate(zip(drawn.tolist(), read, strict=True)):
        scores = scores_of(matrix, row)
        scores[np.isnan(exact)] = -np.inf  # what was skipped is nobody's neighbour
        others = np.isfinite(scores)
        if k is None:
            with np.errstate(invalid="ignore"):
                truth, guess = _beyond(exact, above, below), _beyond(scores, above, below)
            counts[:3, place] = [np.sum(s & others) for s in (truth, guess, truth & guess)]
            continue
        best = min(k, int(others.sum()))
        counts[:2, place] = best
        nearest = np.sort(exact[others])[len(exact[others]) - best :]
        counts[2, place] = _true_ones(exact[largest(scores, best)], nearest)
        if candidates:
            known = matrix.known_in_row(row, np.arange(matrix.shape[1]))
            found = reranked(scores, known, k, candidates, exact.__getitem__)
            counts[3, place] = _true_ones(found.similarities, nearest)
    shares = [
        share_of_rows(counts[hits], counts[totals], len(unknown))
        for hits, totals in ((2, 0), (2, 1), (3, 0))
    ]
    return Check(
        recall=shares[0],
        precision=shares[1],
        reranked=shares[2] if candidates else None,
        k=k,
        above=above,
        below=below,
        candidates=candidates,
        rows=len(drawn),
        of=len(unknown),
        entries=int(counts[0].sum()),
        evaluations=matrix.evaluations - before,
        skipped=sum(int(np.isnan(exact).sum()) for exact in read) - own * len(read),
    )


def _true_ones(listed: FloatArray, nearest: FloatArray) -> int:
    """Count true neighbours in a list, by the values of the nearest in rising order.

    Of entries that equal the last of them any will do, for as many places as they have there; none
    makes up for a nearer one.
    """
    if not len(nearest):
        return 0
    last = nearest[0]
    ties = min(int(np.sum(listed == last)), int(np.sum(nearest == last)))
    return int(np.sum(listed > last)) + ties


def _beyond(values: FloatArray, above: float | None, below: float | None) -> BoolArray:
    if above is not None:
        return np.asarray(values >= above)
    assert below is not None  # noqa: S101 - the caller looked
    return np.asarray(values <= below)


def _read(
    matrix: Answers, rows: IntArray, n_jobs: int, progress: ProgressOption
) -> list[FloatArray]:
    """Return whole rows; an item's entry with itself is not asked for."""
    m = matrix.shape[1]
    everyone = np.arange(m)
    read = []
    before = matrix.evaluations
    with Progress(len(rows) * m, progress) as watching:
        for row in rows.tolist():
            wanted = everyone[everyone != row] if matrix.source.square else everyone
            values = np.full(m, np.nan)
            values[wanted] = matrix.exactly(row, wanted, n_jobs=n_jobs)
            read.append(values)
            if not watching.update(matrix.evaluations - before):
                raise StoppedError(
                    f"the progress callback stopped the check after {len(read)} rows.",
                    "They are kept, and not paid for again.",
                    "Call it again with the same random_state, or with fewer rows.",
                )
    return read


def _checked_question(k: Any, above: Any, below: Any, rows: Any, rerank: Any) -> int | None:
    """Refuse what is no question; return the number of neighbours, or None for a threshold."""
    given = [value for value in (k, above, below) if value is not None]
    thresholds = [value for value in (above, below) if value is not None]
    if len(given) > 1 or not all(is_number(value) for value in thresholds):
        raise InputError(
            f"a check of k={k!r}, above={above!r}, below={below!r} was asked for.",
            "It is of neighbours or of one threshold.",
            "Call K.check(k=10) or K.check(above=0.9).",
        )
    if not is_whole(rows) or rows < 1:
        raise InputError(
            f"rows is {rows!r}.",
            "It is the number of rows that are read whole.",
            "Pass a whole number, for example 20.",
        )
    if thresholds:
        return None
    wanted = _NEIGHBORS if k is None else k
    check_numbers(wanted, rerank)
    return int(wanted)
