"""How often the stated interval of f(UVᵀ)'s error holds the truth, on f and U made to mislead it.

Whole runs of `elementwise` and `rbf_kernel`: for each kind of f and U, size and number of columns
the share of runs whose 95 % interval holds the true error, the 99 % upper bound of that share (a
cell fails where it is below 95 %), how often the truth was above the interval, medians of the true
error and of the interval's half-width. Up to a million entries the stated error is computed from
all of them. Writes docs/tables/sketch-intervals.md.

    python -m benchmarks.sketches.sketch_intervals [--quick] [--runs 400] [--only NAME]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import beta
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table

COLUMNS = (12, 60)
RUNS_OF_A_MATRIX = 20
#: A function of inner products, or γ of a Gaussian kernel; rows of U, and of V if there is one.
Case = tuple[Callable[[np.ndarray], np.ndarray] | float, np.ndarray, np.ndarray | None]


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def kinds(n: int, rng: np.random.Generator) -> dict[str, Callable[[], Case]]:
    """One matrix of each kind."""
    x = rng.normal(size=(n, 10))
    heavy = np.where(np.arange(n) < max(1, n // 200), 4.0, 1.0)[:, None]
    doubled = unit(x.copy())
    pairs = max(2, n // 50)
    doubled[:pairs] = doubled[pairs : 2 * pairs]
    apart = np.hstack([x / 4, np.zeros((n, 4))])
    apart[: max(3, n // 150)] = [0.0] * 10 + [1.2] * 4
    centres = rng.normal(size=(max(2, n // 15), 10))[rng.integers(0, max(2, n // 15), n)]
    sparse = rng.normal(size=(n, 60)) * (rng.random((n, 60)) < 0.03)
    near = x.copy()
    near[:pairs] = near[pairs : 2 * pairs] + 0.01 * rng.normal(size=(pairs, 10))
    narrow = 10 / (2 * 10)  # γ = 10 over the mean squared distance
    return {
        "exp": lambda: (np.exp, x / 4, None),
        "exp, wide range": lambda: (np.exp, x, None),
        "exp, heavy rows": lambda: (np.exp, 0.3 * x * heavy, None),
        "tanh": lambda: (lambda y: np.tanh(2 * y), x / 3, None),
        "threshold": lambda: (lambda y: (y > 0.6) * 1.0, unit(x), None),
        "rare window": lambda: (lambda y: ((y > 0.5) & (y < 0.51)) * 1.0, unit(x), None),
        "labels 0/1": lambda: (lambda y: (y > 0.99) * 1.0, unit(centres), None),
        "duplicates 0/1": lambda: (lambda y: (y > 0.999) * 1.0, doubled, None),
        "a few rows apart": lambda: (lambda y: y**3, apart, None),
        "sparse rows": lambda: (np.square, sparse, None),
        "Cauchy rows": lambda: (np.tanh, rng.standard_cauchy((n, 5)), None),
        "Cauchy rows, linear": lambda: (lambda y: y * 1.0, rng.standard_cauchy((n, 80)), None),
        "narrow Gaussian": lambda: (narrow, x, None),
        "narrow, near-duplicates": lambda: (narrow, near, None),
        "narrow, clusters": lambda: (2.0, centres + 0.1 * x, None),
        "narrow, two sides": lambda: (narrow, x, np.vstack([near[: n // 2], x[: n // 3] + 0.3])),
        "exp, two sides": lambda: (np.exp, 0.5 * x, 0.7 * near[: n // 2]),
    }  # fmt: skip


def dense(case: Case) -> np.ndarray:
    """The whole matrix."""
    f, u, v = case
    other = u if v is None else v
    if callable(f):
        return np.asarray(f(u @ other.T))
    return rbf_kernel(u, other, gamma=f)


def run(case: Case, columns: int, seed: int) -> fp.FactoredMatrix:
    """One run."""
    f, u, v = case
    if callable(f):
        return fp.elementwise(f, u, v, columns=columns, random_state=seed)
    return fp.rbf_kernel(u, v, gamma=f, columns=columns, random_state=seed)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=int, nargs="*", default=[60, 300, 2000])
    options = parser.parse_args()
    runs = 10 if options.quick else options.runs
    lines = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in options.rows:
            for name in kinds(n, np.random.default_rng(0)):
                if options.only not in name:
                    continue
                for columns in COLUMNS:
                    if columns >= n:
                        continue
                    found = []
                    for seed in range(runs):
                        if seed % RUNS_OF_A_MATRIX == 0:
                            case = kinds(n, np.random.default_rng(seed))[name]()
                            exact = dense(case)
                        K = run(case, columns, seed)
                        true, error = relative(K.to_dense(), exact), K.error
                        slack = 1e-9 * true + 1e-12  # rounding, of errors from all entries
                        above, below = true - slack > error.high, true + slack < error.low
                        half = error.high / error.value - 1 if error.value else 0.0
                        found.append((not above and not below, above, true, half))
                    held, above, true, half = np.array(found).T
                    count = int(held.sum())
                    bound = beta.ppf(0.99, count + 1, runs - count) if count < runs else 1.0
                    lines.append([
                        n, name, columns, f"{held.mean():.1%}", f"{bound:.1%}",
                        f"{above.mean():.1%}", f"{np.median(true):.2g}", f"{np.median(half):.1%}",
                    ])  # fmt: skip
                    verdict = "" if bound >= 0.95 else " FAILS"
                    print(*lines[-1], sep=" | ", end=f"{verdict}\n", flush=True)
    headings = ["rows", "f and U", "columns", "holds", "99 % bound", "too low", "true error"]
    text = f"{runs} runs a line.\n\n{table([*headings, 'half-width'], lines)}\n"
    partial = bool(options.only) or options.rows != [60, 300, 2000]
    publish("sketch-intervals", text, quick=options.quick or partial)


if __name__ == "__main__":
    main()
