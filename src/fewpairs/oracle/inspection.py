"""inspect(): facts about a similarity, before the run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, RandomState, generator, is_whole
from fewpairs.errors import InputError
from fewpairs.items.items import as_items
from fewpairs.oracle.evaluation import evaluate
from fewpairs.oracle.requests import Rectangle, Scattered
from fewpairs.similarities.base import as_similarity

_REPEATED = 20


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a sample says about a similarity.

    Attributes
    ----------
    name : str
    n_items, n_sampled, evaluations : int
    declared_symmetric : bool
    asymmetry : float
        ‖K − Kᵀ‖ / ‖K‖ on the sample.
    diagonal : (float, float)
        Smallest and largest self-similarity.
    range : (float, float)
        Smallest and largest similarity of two different items.
    repeatability : float
        Largest difference when the same pairs are asked again.
    non_finite : int
        Sampled pairs whose similarity is not a finite number.
    eigenvalues : ndarray
        Of the symmetrised sample, largest first.
    negative_share : float
        Σ|negative eigenvalues| / Σ|eigenvalues|.
    seconds_per_evaluation : float
    """

    name: str
    n_items: int
    n_sampled: int
    evaluations: int
    declared_symmetric: bool
    asymmetry: float
    diagonal: tuple[float, float]
    range: tuple[float, float]
    repeatability: float
    non_finite: int
    eigenvalues: FloatArray
    negative_share: float
    seconds_per_evaluation: float

    def __str__(self) -> str:
        symmetric = "symmetric" if self.asymmetry < 1e-8 else f"{self.asymmetry:.1%} asymmetric"  # noqa: PLR2004
        declared = "symmetric" if self.declared_symmetric else "asymmetric"
        low, high = self.diagonal
        diagonal = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        signs = (
            "positive semidefinite on the sample"
            if self.negative_share < 1e-10  # noqa: PLR2004
            else f"indefinite: {self.negative_share:.1%} of the eigenvalue mass is negative"
        )
        repeat = "exact" if self.repeatability == 0 else f"within {self.repeatability:.2g}"
        bad = f", {self.non_finite} not finite" if self.non_finite else ""
        return "\n".join(
            [
                (
                    f"{self.name}, on {self.n_sampled} of {self.n_items:,} items "
                    f"({self.evaluations:,} evaluations)"
                ),
                f"  symmetry   {symmetric} (declared {declared})",
                f"  diagonal   {diagonal}",
                f"  range      {self.range[0]:.4g} to {self.range[1]:.4g}{bad}",
                f"  repeats    {repeat}",
                f"  spectrum   {signs}",
                f"  time       {self.seconds_per_evaluation * 1e6:.3g} µs an evaluation",
            ]
        )


def inspect(
    items: Any, similarity: Any, *, sample: int = 50, random_state: RandomState = 0
) -> Inspection:
    """Evaluate a small random square of the matrix and report what it is like.

    Parameters
    ----------
    items : sequence
    similarity : Similarity
    sample : int, default=50
        Number of items; their square is evaluated in both orders.
    random_state : int, Generator, RandomState or None, default=0

    Returns
    -------
    Inspection
        Prints as a few lines.

    Examples
    --------
    >>> import fewpairs as fp
    >>> report = inspect(range(2), fp.Precomputed([[0.0, 1.0], [1.0, 0.0]]))
    >>> report.negative_share, report.asymmetry
    (0.5, 0.0)
    """
    everything = as_items(items)
    checked = as_similarity(similarity)
    if not is_whole(sample) or sample < 1:
        raise InputError(
            f"sample is {sample!r}.",
            "It is the number of items whose square is evaluated.",
            "Pass a positive integer, for example 50.",
        )
    size = min(int(sample), len(everything))
    chosen = np.sort(generator(random_state).permutation(len(everything))[:size])
    prepared = checked.prepare(everything.subset(chosen))
    who = np.arange(size)

    start = time.perf_counter()
    first = evaluate(checked, prepared, prepared, Rectangle(who, who))
    took = time.perf_counter() - start
    # A value that is not finite is reported here; anything else that fails is the user's to see.
    if first.error is not None and first.error.pair is None:
        raise first.error
    if first.error is not None and first.error.__cause__ is not None:
        raise first.error
    again = Scattered(who[:_REPEATED], who[::-1][:_REPEATED])
    second = evaluate(checked, prepared, prepared, again)

    square = first.values
    finite = np.isfinite(square)
    filled = np.where(finite, square, 0.0)
    off = filled[~np.eye(size, dtype=bool) & finite]
    eigenvalues: FloatArray = np.asarray(np.linalg.eigvalsh((filled + filled.T) / 2)[::-1], float)
    mass = float(np.abs(eigenvalues).sum())
    norm = float(np.linalg.norm(filled))
    repeated = np.abs(second.values - square[again.rows, again.columns])
    itself = np.diag(filled)
    return Inspection(
        name=checked.name or type(checked).__name__,
        n_items=len(everything),
        n_sampled=size,
        evaluations=(first.asked + second.asked) * checked.evaluations_per_entry,
        declared_symmetric=bool(checked.symmetric),
        asymmetry=float(np.linalg.norm(filled - filled.T)) / norm if norm else 0.0,
        diagonal=(float(itself.min()), float(itself.max())),
        range=(float(off.min(initial=np.inf)), float(off.max(initial=-np.inf)))
        if off.size
        else (float(itself.min()), float(itself.max())),
        repeatability=float(np.nanmax(repeated, initial=0.0)),
        non_finite=int((~finite).sum()),
        eigenvalues=eigenvalues,
        negative_share=float(np.abs(eigenvalues[eigenvalues < 0]).sum()) / mass if mass else 0.0,
        seconds_per_evaluation=took / (size * size * checked.evaluations_per_entry),
    )
