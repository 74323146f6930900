"""inspect(): facts about a similarity, before the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator, is_whole
from fewpairs.errors import InputError
from fewpairs.notebook import svg
from fewpairs.notebook.card import card_of
from fewpairs.numerics import exponent, most_affordable
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner
from fewpairs.run.arguments import as_oracle
from fewpairs.similarities.cost import Cost

#: Items whose square is evaluated, where the user has not said how many; at least the second.
_SAMPLE, _SMALLEST = 50, 10
#: A look costs at most this part of all pairs: dearer, and one might as well evaluate them.
_PART_OF_ALL = 4
#: Pairs that are asked for in both orders, and pairs that are asked for twice: at most so many, and
#: so few of a small sample. A similarity that depends on the order, or on chance, does so for most
#: pairs.
_BOTH_ORDERS, _SHARE_IN_BOTH = 100, 10
_REPEATED, _SHARE_REPEATED = 20, 2


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
        NaN if everything was known already.
    cost : Cost or None
        Of one evaluation, where it is declared.
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
    cost: Cost | None = None

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
        paid = "" if self.cost is None else f" for {self.cost.written(self.evaluations)}"
        bad = f", {self.non_finite} not finite" if self.non_finite else ""
        return "\n".join(
            [
                (
                    f"{self.name}, on {self.n_sampled} of {self.n_items:,} items "
                    f"({self.evaluations:,} evaluations{paid})"
                ),
                f"  symmetry   {symmetric} (declared {declared})",
                f"  diagonal   {diagonal}",
                f"  range      {self.range[0]:.4g} to {self.range[1]:.4g}{bad}",
                f"  repeats    {repeat}",
                f"  spectrum   {signs}",
                f"  time       {_time(self.seconds_per_evaluation)}",
            ]
        )

    def _repr_html_(self) -> str:
        return card_of(str(self), svg.spectrum(self.eigenvalues))


def inspect(
    items: Any,
    similarity: Any = None,
    *,
    sample: int | None = None,
    random_state: RandomState = 0,
    journal: JournalOption = None,
) -> Inspection:
    """Evaluate a small random square of the matrix and report what it is like.

    Parameters
    ----------
    items : sequence or Oracle
        With an `Oracle`, what is bought here is not paid for again by a run that follows.
    similarity : Similarity
    sample : int, optional
        Number of items whose square is evaluated: one triangle of it if symmetric, and up to 100 of
        its pairs in both orders; up to 20 pairs are asked for twice, and one more before the
        clock starts, where a similarity is written both as pairs and as a block. By default 50
        items (1,495 evaluations of a symmetric ``pair``); fewer, but ten, where that would be more
        than a quarter of all pairs.
    random_state : int, Generator, RandomState or None, default=0
    journal : str, Path, Journal or None, default=None
        As for `approximate`.

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
    if sample is not None and (not is_whole(sample) or sample < 1):
        raise InputError(
            f"sample is {sample!r}.",
            "It is the number of items whose square is evaluated.",
            "Pass a positive integer, for example 50.",
        )
    oracle = as_oracle(items, similarity, progress=False, journal=journal)
    if not oracle.square:
        raise InputError(
            "inspect was asked for a matrix between two sets of items.",
            "Symmetry, diagonal and spectrum are those of one set.",
            "Inspect one of the two sets.",
        )
    before = oracle.evaluations
    n = len(oracle.items)
    count = _affordable_sample(oracle.planner) if sample is None else min(int(sample), n)
    rng = generator(random_state)
    chosen = np.sort(rng.permutation(n)[:count])
    first = np.arange(_repeated_pairs(count))
    last = len(chosen) - 1 - first
    # A first call may load or compile something, by pairs and by blocks, which is not timed.
    repeated = oracle.repeated(chosen[first], chosen[last])
    with oracle.tolerant():
        if not oracle.planner.by_block_only and not oracle.planner.by_pairs_only:
            oracle.block(chosen[:1], chosen[-1:])
        already, start = oracle.evaluations, oracle.seconds
        square = oracle.block(chosen, chosen)
        asked = oracle.evaluations - already
        seconds = (oracle.seconds - start) / asked if asked else np.nan
        # By a power of two to about 1, where squares can be summed.
        power = exponent(np.nan_to_num(square, posinf=0, neginf=0))
        difference = _difference(oracle, chosen, np.ldexp(square, -power), power, rng)
    moved = np.abs(repeated - square[first, last])
    return _report(oracle, square, power, difference, moved, oracle.evaluations - before, seconds)


def _time(seconds: float) -> str:
    return "unknown" if np.isnan(seconds) else f"{seconds * 1e6:.3g} µs an evaluation"


def _repeated_pairs(count: int) -> int:
    return min(_REPEATED, -(-count // _SHARE_REPEATED))


def _pairs_in_both_orders(count: int) -> int:
    return min(_BOTH_ORDERS, -(-(count * (count - 1) // 2) // _SHARE_IN_BOTH))


def _affordable_sample(planner: Planner) -> int:
    """Return 50, or fewer where that would cost more than a quarter of all pairs."""

    def price(count: int) -> int:
        twice = 2 * _pairs_in_both_orders(count) if planner.symmetric else 0
        more = (twice + _repeated_pairs(count) + 1) * planner.per_entry
        return planner.price_of_square(count) + more

    most = min(_SAMPLE, planner.n)
    limit = planner.price_of_everything // _PART_OF_ALL
    return most_affordable(price, most, limit, least=min(_SMALLEST, most))


def _difference(
    oracle: Oracle, chosen: IntArray, square: FloatArray, power: int, rng: np.random.Generator
) -> float:
    """Return ‖K − Kᵀ‖ of the square, estimated from some pairs where one order stands for both."""
    if not oracle.symmetric:
        return float(np.linalg.norm(np.nan_to_num(square - square.T)))
    i, j = np.triu_indices(len(chosen), 1)
    if not len(i):
        return 0.0
    some = rng.permutation(len(i))[: _pairs_in_both_orders(len(chosen))]
    there, back = oracle.both_orders(chosen[i[some]], chosen[j[some]])
    gaps = np.nan_to_num(np.ldexp(there, -power) - np.ldexp(back, -power))
    return float(np.sqrt(2 * len(i) / len(some)) * np.linalg.norm(gaps))


def _report(
    oracle: Oracle,
    square: FloatArray,
    power: int,
    difference: float,
    repeated: FloatArray,
    evaluations: int,
    seconds: float,
) -> Inspection:
    """Make the report; `difference` is in units of 2^power."""
    finite = np.isfinite(square)
    filled = np.where(finite, square, 0.0)
    size = len(square)
    off_diagonal = filled[~np.eye(size, dtype=bool) & finite]
    small = np.ldexp(filled, -power)
    eigenvalues: FloatArray = np.asarray(np.linalg.eigvalsh((small + small.T) / 2)[::-1], float)
    mass = float(np.abs(eigenvalues).sum())
    norm = float(np.linalg.norm(small))
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
        cost=oracle.planner.cost,
        repeatability=float(np.nanmax(repeated, initial=0.0)),
        non_finite=int((np.triu(~finite) if oracle.symmetric else ~finite).sum()),
        eigenvalues=np.ldexp(eigenvalues, power),
        negative_share=float(np.abs(eigenvalues[eigenvalues < 0]).sum()) / mass if mass else 0.0,
        seconds_per_evaluation=seconds,
    )
