"""Guides on matrices that are made to mislead them: low rank, and a few entries hold most of it.

Factors are Cauchy, Student (2 degrees), Pareto or log-normal, some matrices have noise or negative
eigenvalues, some are not symmetric. The guide is the factors themselves, the same under noise, in
another order, or Gaussian. Errors with and without it are compared at equal evaluations and with
the same seed. What luck alone does is told by runs without a guide and with another seed. Writes
docs/tables/hostile-guides.md. Takes a minute on one core.

    python -m benchmarks.matrix.hostile_guides [--quick] [--runs 600]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs.errors import BudgetError

TAILS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "Student": lambda rng, shape: rng.standard_t(2, shape),
    "Pareto": lambda rng, shape: rng.pareto(1.2, shape),
    "log-normal": lambda rng, shape: np.exp(1.5 * rng.normal(size=shape)),
}
GUIDES = ("the factors", "under noise", "shuffled", "Gaussian")
SHARES = (0.05, 0.1, 0.15, 0.2, 0.4)
#: Errors below this are those of a matrix that was found.
FOUND = 1e-6


class Case(NamedTuple):
    """A matrix, whether it is symmetric, the guide, and the share of pairs to spend."""

    matrix: np.ndarray
    symmetric: bool
    guide: np.ndarray
    share: float


def made(seed: int) -> tuple[str, Case]:
    """Return a matrix and a guide; the guide's name."""
    rng = np.random.default_rng(seed)
    n, rank = int(rng.integers(60, 301)), int(rng.integers(1, 9))
    draw = list(TAILS.values())[rng.integers(len(TAILS))]
    left = draw(rng, (n, rank))
    symmetric = bool(rng.random() < 0.7)
    right = left if symmetric else draw(rng, (n, rank))
    signs = rng.choice([-1, 1], rank) if rng.random() < 0.5 else np.ones(rank)
    matrix = (left * signs) @ right.T
    if rng.random() < 0.4:
        noise = draw(rng, (n, n))
        noise = (noise + noise.T) / 2 if symmetric else noise
        matrix = matrix + rng.choice([1e-3, 1e-1]) * np.median(np.abs(matrix)) * noise
    unit = left / np.linalg.norm(left, axis=1, keepdims=True)
    guide = {
        "the factors": left,
        "under noise": unit + rng.normal(size=left.shape) / np.sqrt(rank),
        "shuffled": left[rng.permutation(n)],
        "Gaussian": rng.normal(size=(n, 16)),
    }
    name = GUIDES[seed % len(GUIDES)]
    return name, Case(matrix, symmetric, guide[name], float(rng.choice(SHARES)))


def error(case: Case, seed: int, *, guided: bool) -> float:
    """Return the true relative error of the whole matrix."""
    found = fp.approximate(
        range(len(case.matrix)),
        fp.Precomputed(case.matrix, symmetric=case.symmetric),
        budget=case.share,
        error_pairs=0,
        random_state=seed,
        guide=case.guide if guided else None,
    )
    return max(relative(found.to_dense(), case.matrix), FOUND)


def row(name: str, ratios: np.ndarray, lucky: np.ndarray) -> list[str]:
    """Of the runs that a guide has changed, those far worse and far better; and by luck."""
    return [
        name,
        str(len(ratios)),
        str(int((ratios != 1).sum())),
        f"{(ratios > 2).sum()}, {(ratios < 0.5).sum()}",
        f"{np.exp(np.log(ratios).mean()):.2f}",
        f"{(lucky > 2).sum()}, {(lucky < 0.5).sum()}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=600)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in GUIDES}
    for seed in range(24 if options.quick else options.runs):
        name, case = made(seed)
        try:
            plain = error(case, seed, guided=False)
            with_guide = error(case, seed, guided=True)
            another = error(case, 10_000 + seed, guided=False)
        except BudgetError:  # less than one column
            continue
        found[name].append((with_guide / plain, another / plain))
    rows = [row(name, *np.array(ratios).T) for name, ratios in found.items()]
    rows.append(row("all", *np.array([pair for ratios in found.values() for pair in ratios]).T))
    text = (
        "Made matrices of 60 to 300 items and rank 1 to 8 with heavy tails, 5 to 40 % of all "
        'pairs, the same seed with a guide and without. "Changed" are runs that a guide had a say '
        "in. Twice the error or more, half of it or less; the geometric mean of the errors' ratios "
        f"over all runs (errors below {FOUND:g} count as that). The last column is luck: twice and "
        "half without a guide, with another seed.\n\n"
        + table(["guide", "runs", "changed", "twice, half", "ratio", "by luck"], rows)
    )
    print(text)
    publish("hostile-guides", text, quick=options.quick)


if __name__ == "__main__":
    main()
