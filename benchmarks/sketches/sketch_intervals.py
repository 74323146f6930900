"""How often the stated interval of f(UVᵀ)'s error holds the truth, on f and U made to mislead it.

For each kind of f and U and each size, maps of 30 columns are made for several draws of U, and the
error of each is stated many times. The share of statements whose 95 % interval holds the true
error, the 99 % upper bound of that share (a line fails where it is below 95 %), how often the truth
was above the interval, medians of the true error and of the interval's half-width. Up to a million
entries the stated error is computed from all of them, and one statement of each map is enough.
Writes docs/tables/sketch-intervals.md. Takes about an hour on one core.

    python -m benchmarks.sketches.sketch_intervals [--quick] [--only NAME]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import beta
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs.sketches.elementwise import balanced
from fewpairs.sketches.error import estimate_error
from fewpairs.sketches.exact import Exact, GaussianKernel
from fewpairs.sketches.families import Families
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.gaussian import scaled_rows
from fewpairs.sketches.size import Proposals, choose_family

COLUMNS, SIZES = 30, (60, 300, 2000)
MAPS, STATEMENTS = 10, 40
CAPTION = (
    f"Maps of {COLUMNS} columns for f and U made to mislead the stated error: share of statements "
    "whose 95 % interval holds the truth, the 99 % upper bound of that share, how often the truth "
    "was above the interval (too low), medians of the true error and of the interval's half-width. "
    f"{MAPS} draws of U, and {STATEMENTS} statements of each; with 60 and 300 rows every statement "
    "is computed from all entries, and one of each draw is enough."
)
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


def made(case: Case, seed: int) -> tuple[FeatureMap, Exact]:
    """A map of a matrix, as `elementwise` or `rbf_kernel` makes it."""
    f, u, v = case
    rng = np.random.default_rng(seed)
    if callable(f):
        exact = Exact(f, *balanced(u, u if v is None else v))
    else:
        scaled = [scaled_rows(x, np.zeros(x.shape[1]), f) for x in (u, u if v is None else v)]
        exact = GaussianKernel(scaled[0], scaled[0] if v is None else scaled[1])
    options = SketchOptions()
    proposals = Proposals(exact.function, *exact.sides, options, None, rng)
    return choose_family(COLUMNS, Families(exact, options, rng), proposals).feature_map, exact


def statements(case: Case, seed: int, count: int) -> list[tuple[bool, bool, float, float]]:
    """Whether each statement of one map's error holds, whether it is too low, truth and width."""
    feature_map, exact = made(case, seed)
    features = feature_map.of_both(exact)
    true = relative((features[0] * feature_map.signs) @ features[1].T, dense(case))
    slack = 1e-9 * true + 1e-12  # rounding, of errors from all entries
    found = []
    for k in range(count):
        error = estimate_error(features, feature_map, exact, np.random.default_rng([seed, k]))
        above, below = true - slack > error.high, true + slack < error.low
        half = error.high / error.value - 1 if error.value else 0.0
        found.append((not above and not below, above, true, half))
        if error.n_pairs == 0:
            break
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    n_maps, each = (2, 10) if options.quick else (MAPS, STATEMENTS)
    lines = []
    with threadpool_limits(1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for n in SIZES:
            for name in kinds(n, np.random.default_rng(0)):
                if options.only not in name:
                    continue
                found = []
                for seed in range(n_maps):
                    case = kinds(n, np.random.default_rng(seed))[name]()
                    found += statements(case, seed, each)
                held, above, true, half = np.array(found).T
                count, runs = int(held.sum()), len(found)
                bound = beta.ppf(0.99, count + 1, runs - count) if count < runs else 1.0
                lines.append([
                    n, name, runs, f"{held.mean():.1%}", f"{bound:.1%}", f"{above.mean():.1%}",
                    f"{np.median(true):.2g}", f"{np.median(half):.1%}",
                ])  # fmt: skip
                verdict = "" if bound >= 0.95 else " FAILS"
                print(*lines[-1], sep=" | ", end=f"{verdict}\n", flush=True)
    headings = ["rows", "f and U", "statements", "holds", "99 % bound", "too low", "true error"]
    text = f"{CAPTION}\n\n{table([*headings, 'half-width'], lines)}\n"
    publish("sketch-intervals", text, quick=options.quick or bool(options.only))


if __name__ == "__main__":
    main()
