"""How often the stated 95 % interval holds the true error, on matrices made to mislead it.

Whole runs of `approximate` with its defaults: for each kind of matrix, size and budget the share of
runs whose interval holds the truth, the median of the true error, and the median interval; square
matrices, and matrices between two sets of items. A cell fails where the 99 % upper bound of its
coverage is below 0.95. Where a few pairs are larger than all others the share of runs that have
evaluated one is told as well: without one, nobody could know of them. Writes
docs/tables/coverage.md. A seed, which is a run of every cell, takes about 0.3 s, 3 s and 16 s of a
core at n = 60, 300 and 2,000; with --keep a run that was stopped goes on where it was. Takes about
two hours on one core.

    python -m benchmarks.reliability.coverage [--quick] [--runs N60 N300 N2000] [--keep FILE]
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.special
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.kept import Kept
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

#: Items of the largest matrices; two ways to set the size are enough there.
LARGE = 2000
BUDGETS = {
    "5 %": {"budget": 0.05},
    "20 %": {"budget": 0.2},
    "100 landmarks": {},
}


def symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def squared_distances(x: np.ndarray) -> np.ndarray:
    squares = (x**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)


def with_pairs(n: int, pairs: int, value: float, rest: np.ndarray, rng) -> np.ndarray:
    """A few pairs of items with another value than the rest."""
    matrix = rest.copy()
    i, j = rng.permutation(n)[: 2 * pairs].reshape(2, -1)
    matrix[i, j] = matrix[j, i] = value
    return matrix


def kinds(n: int, seed: int) -> dict[str, np.ndarray]:
    """One matrix of each kind."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20))
    smooth = np.tanh(x @ x.T / 5)
    heavy = smooth * np.where(np.arange(n) < max(1, n // 100), 30, 1)
    labels = rng.integers(0, max(2, n // 15), n)
    links = np.triu(rng.random((n, n)) < 0.02, 1)
    clusters = rng.normal(size=(n, 6)) + 2 * rng.normal(size=(8, 6))[rng.integers(0, 8, n)]
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    twins = rng.normal(size=(n, 30))
    twins[: n // 10] = twins[n // 10 : 2 * (n // 10)] + 0.05 * rng.normal(size=(n // 10, 30))
    spikes = np.triu(rng.random((n, n)) < 0.005, 1) * 20 * rng.normal(size=(n, n))
    groups = np.repeat(np.arange(n), 1 + rng.geometric(0.4, n))[rng.permutation(n)]
    return {
        "tanh of inner products": smooth,
        "clusters, Gaussian kernel": np.exp(-squared_distances(clusters) / 8),
        "noise": symmetric(rng.normal(size=(n, n))),
        "block labels 0/1": (labels[:, None] == labels[None]).astype(float),
        "duplicate labels 0/1": with_pairs(n, n // 5, 1.0, np.eye(n), rng),
        "few duplicate labels 0/1": with_pairs(n, max(3, n // 50), 1.0, np.eye(n), rng),
        "sparse 0/1": links + links.T + np.eye(n),
        "near-diagonal": np.exp(-steps / 1.5),
        "near-duplicates, Gaussian kernel": np.exp(-squared_distances(twins) / 20),
        "rank four and spikes": x[:, :4] @ x[:, :4].T + spikes + spikes.T,
        "many small groups 0/1": (groups[:, None] == groups[None]).astype(float),
        "heavy rows": symmetric(heavy * np.where(np.arange(n) < max(1, n // 100), 30, 1)[:, None]),
        "lognormal": symmetric(np.exp(2 * rng.normal(size=(n, n)))),
        "Cauchy": symmetric(rng.standard_cauchy((n, n))),
        "many outlier pairs": with_pairs(n, n // 5, 5.0, 0.1 * smooth, rng),
        "few outlier pairs": with_pairs(n, max(2, n // 30), 5.0, 0.1 * smooth, rng),
    }


#: Pairs above this are few, and unlike all others. (Between an item and itself there are such
#: values too, so that near-duplicates count between two sets only.)
RARE = {
    ("many outlier pairs", "square"): 4.0,
    ("many outlier pairs", "two sets"): 4.0,
    ("few outlier pairs", "square"): 4.0,
    ("few outlier pairs", "two sets"): 4.0,
    ("near-duplicates, Gaussian kernel", "two sets"): 0.6,
    ("rank four and spikes", "square"): 16.0,
    ("rank four and spikes", "two sets"): 16.0,
}


@dataclass(frozen=True)
class Run:
    """One run: its cell, the true error, the stated one, whether a rare pair was evaluated."""

    cell: tuple[str, str, str]
    true: float
    error: fp.ErrorEstimate
    seen: bool | None

    @classmethod
    def of(cls, kept: dict) -> Run:
        """Read what a file has kept."""
        cell, error = tuple(kept["cell"]), fp.ErrorEstimate(*kept["error"])
        return cls(cell, kept["true"], error, kept["seen"])

    @property
    def holds(self) -> bool:
        """Whether the truth lies in the stated interval."""
        slack = 1e-9 * self.true + 1e-12  # rounding of errors that are zero
        return self.error.low <= self.true + slack and self.true - slack <= self.error.high


def tried(matrix: np.ndarray, kind: str, shape: str, budget: str, seed: int) -> Run | None:
    """One run of `approximate`, on a square or on the block between two sets of items."""
    if shape == "square":
        similarity, items, others = fp.Precomputed(matrix), range(len(matrix)), None
    else:
        rows = 2 * len(matrix) // 3
        order = np.random.default_rng(seed).permutation(len(matrix))
        matrix = matrix[np.ix_(order[:rows], order[rows:])]
        block = fp.similarity(
            lambda a, b, of=matrix: of[np.ix_(a, b)], kind="block", symmetric=False, name="block"
        )
        similarity, items, others = block, range(rows), range(matrix.shape[1])
    oracle = fp.Oracle(items, similarity, others=others)
    try:
        made = fp.approximate(oracle, random_state=seed, **BUDGETS[budget])
    except fp.errors.BudgetError:
        return None
    if not made.error.n_pairs or not matrix.any():
        return None
    known = oracle.known()
    judging = matrix.ravel()[oracle.reserved]
    evaluated = (known.columns.values, known.rows.values, known.values, judging)
    seen = None
    if (kind, shape) in RARE:
        seen = any(bool((np.abs(v) > RARE[kind, shape]).any()) for v in evaluated)
    return Run((kind, shape, budget), relative(made.to_dense(), matrix), made.error, seen)


def runs(n: int, seed: int) -> list[dict]:
    """One run of each kind, shape and budget, as a file can keep them."""
    found = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for kind, matrix in kinds(n, seed).items():
            found += [
                tried(matrix, kind, shape, budget, seed)
                for shape in ("square", "two sets")
                for budget in BUDGETS
                if n < LARGE or budget in ("5 %", "100 landmarks")
            ]
    return [asdict(run) for run in found if run is not None]


def upper_bound(held: int, count: int) -> float:
    """The coverage that is just compatible with so few, at 99 % (Clopper and Pearson)."""
    if held == count:
        return 1.0
    return float(scipy.special.betaincinv(held + 1, count - held, 0.99))


def row(n: int, every: list[Run]) -> list[str]:
    """One line of the table."""
    kind, shape, budget = every[0].cell
    numbers = np.array([(r.true, r.error.value, r.error.low, r.error.high) for r in every])
    true, value, low, high = (f"{x:.2g}" for x in np.median(numbers, axis=0))
    held = sum(r.holds for r in every)
    fails = " fails" if upper_bound(held, len(every)) < 0.95 else ""
    seen = ""
    if every[0].seen is not None:
        met = [r for r in every if r.seen]
        share = f"{np.mean([r.holds for r in met]):.3f}" if met else "–"
        seen = f"met in {len(met) / len(every):.3f}, then {share}"
    return [
        f"{n:,}",
        kind,
        shape,
        budget,
        len(every),
        f"{held / len(every):.3f}{fails}",
        seen,
        true,
        f"{value} ({low}–{high})",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, nargs=3, default=None, metavar=("N60", "N300", "N2000"))
    parser.add_argument("--keep", type=Path, help="a file for the runs that are done")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    counts = options.runs or ((40, 10, 1) if options.quick else (400, 400, 400))
    rows = []
    kept = Kept(options.keep)
    for n, count in zip((60, 300, LARGE), counts, strict=True):
        cells = defaultdict(list)
        left = [seed for seed in range(count) if f"{n} {seed}" not in kept]
        work = Parallel(n_jobs=options.jobs, return_as="generator")
        for seed, one in zip(left, work(delayed(runs)(n, s) for s in left), strict=True):
            kept.add(f"{n} {seed}", one)
        for seed in range(count):
            for run in map(Run.of, kept[f"{n} {seed}"]):
                cells[run.cell].append(run)
        for every in cells.values():
            rows.append(row(n, every))
            print(*rows[-1], sep=" | ", flush=True)
    failed = [r for r in rows if "fails" in r[5]]
    blind = sum(bool(r[6]) for r in failed)
    headings = [
        "n",
        "matrix",
        "shape",
        "budget",
        "runs",
        "holds",
        "rare pairs",
        "true error",
        "stated error and interval",
    ]
    text = (
        "Share of runs whose 95 % interval holds the true error; medians of the true and the "
        "stated error, and of its ends. A cell fails where the 99 % upper bound of its coverage is "
        f"below 0.95: {len(failed)} of {len(rows)} do, {blind} of them with rare pairs that a "
        f"run may not have met.\n\n{table(headings, rows)}\n"
    )
    print("\n" + text)
    publish("coverage", text, quick=options.quick)


if __name__ == "__main__":
    main()
