"""How often the stated precision and recall of clusters hold the true ones, over whole runs.

Made matrices of 300 items, one for each run: Gaussian clusters, the same with noise that makes the
matrix indefinite, with a similarity that depends on the order (its mean of both orders is what
counts), with pairs that have no value, and one that is nothing but noise. Of each run the clusters
are judged by all pairs of its matrix. A case fails where the 99 % upper bound of a coverage is
below 0.95. Writes docs/tables/clustering-coverage.md; kinds that are not run keep their rows. Takes
about a quarter of an hour on one core.

    python -m benchmarks.clustering.coverage [--quick] [--runs 300] [--kinds NAME …]
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, published_rows, table

N = 300


class Kind(NamedTuple):
    """How a matrix is made, and what may be spent on it."""

    noise: float
    budget: float
    symmetric: bool = True
    holes: float = 0.0
    clusters: bool = True
    guide: bool = False


KINDS = {
    "clusters": Kind(0.0, 0.1),
    "clusters, a guide": Kind(0.0, 0.05, guide=True),
    "indefinite": Kind(0.1, 0.1),
    "indefinite, 30 % of all pairs": Kind(0.1, 0.3),
    "both orders": Kind(0.1, 0.1, symmetric=False),
    "both orders, a guide": Kind(0.1, 0.2, symmetric=False, guide=True),
    "a tenth without a value": Kind(0.05, 0.15, holes=0.1),
    "nothing but noise": Kind(0.3, 0.1, clusters=False),
}


def made(kind: Kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A matrix, and vectors that hint at it."""
    centres = rng.normal(size=(N // 20, 6))
    x = centres[rng.integers(len(centres), size=N)] + 0.4 * rng.normal(size=(N, 6))
    matrix = np.exp(-0.2 * ((x[:, None] - x) ** 2).sum(axis=2)) * kind.clusters
    matrix += kind.noise * rng.normal(size=(N, N))
    missing = rng.random((N, N)) < kind.holes
    if kind.symmetric:
        matrix = (matrix + matrix.T) / 2
        missing = np.triu(missing, 1) | np.triu(missing, 1).T
    np.fill_diagonal(matrix, 1)
    np.fill_diagonal(missing, False)
    return np.where(missing, np.nan, matrix), x


def one(kind: Kind, seed: int) -> list[float]:
    """What a run states and what is true: of precision and of recall, held and how wide."""
    rng = np.random.default_rng(seed)
    matrix, x = made(kind, rng)
    upper = np.triu_indices(N, 1)
    both = ((matrix + matrix.T) / 2)[upper]
    threshold = float(np.nanquantile(both, 1 - rng.uniform(0.01, 0.2)))

    def alike(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(rows, columns)]

    clusters = fp.cluster(
        range(N),
        fp.similarity(alike, kind="block", symmetric=kind.symmetric),
        threshold=threshold,
        budget=kind.budget,
        guide=x if kind.guide else None,
        on_nonfinite="skip" if kind.holes else None,
        random_state=seed,
    )
    match = both >= threshold  # what has no value is nobody's match
    same = (clusters.labels[:, None] == clusters.labels)[upper]
    hits = int((match & same).sum())
    found: list[float] = []
    for stated, of in ((clusters.precision, same), (clusters.recall, match)):
        # Of no pairs there is no share, and anything is true.
        truth = hits / of.sum() if of.any() else stated.low
        held = stated.low - 1e-9 <= truth <= stated.high + 1e-9
        found += [held, stated.high - stated.low]
    return found


def line(name: str, runs: np.ndarray) -> list[str]:
    """A row of the table: of precision and recall, coverage and median width."""
    n = len(runs)
    held, widths = runs[:, ::2].sum(axis=0).astype(int), np.median(runs[:, 1::2], axis=0)
    cells = [
        cell for h, w in zip(held, widths, strict=True) for cell in (f"{h / n:.3f}", f"{w:.2f}")
    ]
    best = [1.0 if h == n else float(beta.ppf(0.99, h + 1, n - h)) for h in held]
    return [name, f"{n}", *cells, "fails" if min(best) < 0.95 else "holds"]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", fp.errors.FewpairsWarning)
    rows = {} if options.quick else published_rows("clustering-coverage")
    for name in options.kinds:
        seeds = range(2 if options.quick else options.runs)
        rows[name] = line(name, np.array([one(KINDS[name], seed) for seed in seeds]))
        print(*rows[name], sep=" | ", flush=True)
        publish("clustering-coverage", page(rows), quick=options.quick)


def page(rows: dict[str, list[str]]) -> str:
    head = ["matrix", "runs", "precision holds", "width", "recall holds", "width", ""]
    return (
        f"Whole runs of `fp.cluster` on made matrices of {N} items: the share of runs whose 95 % "
        "intervals hold the true pairwise precision and recall, and how wide these intervals are "
        f"(median).\n\n{table(head, rows.values())}"
    )


if __name__ == "__main__":
    main()
