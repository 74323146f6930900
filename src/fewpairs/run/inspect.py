"""inspect(): facts about a similarity, before the run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator, is_whole
from fewpairs.errors import InputError
from fewpairs.oracle.oracle import Oracle
from fewpairs.run.arguments import as_oracle

#: Pairs that are asked for in both orders, and pairs that are asked for twice. A similarity that
#: depends on the order, or on chance, does so for most pairs.
_BOTH_ORDERS, _REPEATED = 100, 20


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
    items: Any, similarity: Any = None, *, sample: int = 50, random_state: RandomState = 0
) -> Inspection:
    """Evaluate a small random square of the matrix and report what it is like.

    Parameters
    ----------
    items : sequence or Oracle
        With an `Oracle`, what is bought here is not paid for again by a run that follows.
    similarity : Similarity
    sample : int, default=50
        Number of items whose square is evaluated: one triangle of it if symmetric, and 100 of its
        pairs in both orders; 20 pairs are asked for twice.
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
    if not is_whole(sample) or sample < 1:
        raise InputError(
            f"sample is {sample!r}.",
            "It is the number of items whose square is evaluated.",
            "Pass a positive integer, for example 50.",
        )
    oracle = as_oracle(items, similarity, progress=False)
    if not oracle.square:
        raise InputError(
            "inspect was asked for a matrix between two sets of items.",
            "Symmetry, diagonal and spectrum are those of one set.",
            "Inspect one of the two sets.",
        )
    before = oracle.evaluations
    n = len(oracle.items)
    rng = generator(random_state)
    chosen = np.sort(rng.permutation(n)[: int(sample)])
    first = np.arange(min(len(chosen), _REPEATED))
    last = len(chosen) - 1 - first
    # These come first because a first call may load or compile something, which is not timed.
    repeated = oracle.repeated(chosen[first], chosen[last])
    with oracle.tolerant():
        already, start = oracle.evaluations, time.perf_counter()
        square = oracle.block(chosen, chosen)
        seconds = (time.perf_counter() - start) / max(oracle.evaluations - already, 1)
        difference = _difference(oracle, chosen, square, rng)
    repeated = np.abs(repeated - square[first, last])
    return _report(oracle, square, difference, repeated, oracle.evaluations - before, seconds)


def _difference(
    oracle: Oracle, chosen: IntArray, square: FloatArray, rng: np.random.Generator
) -> float:
    """Return ‖K − Kᵀ‖ of the square, estimated from some pairs where one order stands for both."""
    if not oracle.symmetric:
        return float(np.linalg.norm(np.nan_to_num(square - square.T)))
    i, j = np.triu_indices(len(chosen), 1)
    if not len(i):
        return 0.0
    some = rng.permutation(len(i))[:_BOTH_ORDERS]
    there, back = oracle.both_orders(chosen[i[some]], chosen[j[some]])
    gaps = np.nan_to_num(there - back)
    return float(np.sqrt(2 * len(i) / len(some)) * np.linalg.norm(gaps))


def _report(
    oracle: Oracle,
    square: FloatArray,
    difference: float,
    repeated: FloatArray,
    evaluations: int,
    seconds: float,
) -> Inspection:
    finite = np.isfinite(square)
    filled = np.where(finite, square, 0.0)
    size = len(square)
    off_diagonal = filled[~np.eye(size, dtype=bool) & finite]
    eigenvalues: FloatArray = np.asarray(np.linalg.eigvalsh((filled + filled.T) / 2)[::-1], float)
    mass = float(np.abs(eigenvalues).sum())
    norm = float(np.linalg.norm(filled))
    itself = np.diag(filled)
    values = off_diagonal if off_diagonal.size else itself
    similarity = oracle.similarity
    return Inspection(
        name=similarity.name or type(similarity).__name__,
        n_items=len(oracle.items),
        n_sampled=size,
        evaluations=evaluations,
        declared_symmetric=bool(similarity.symmetric),
        asymmetry=difference / norm if norm else 0.0,
        diagonal=(float(itself.min()), float(itself.max())),
        range=(float(values.min()), float(values.max())),
        repeatability=float(np.nanmax(repeated, initial=0.0)),
        non_finite=int((np.triu(~finite) if oracle.symmetric else ~finite).sum()),
        eigenvalues=eigenvalues,
        negative_share=float(np.abs(eigenvalues[eigenvalues < 0]).sum()) / mass if mass else 0.0,
        seconds_per_evaluation=seconds,
    )
