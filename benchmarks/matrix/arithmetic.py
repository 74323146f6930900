"""Time of everything but evaluations: the default method on one core, and at 100,000 items.

Seconds of a run less those inside the similarity, tanh of inner products. Each run in a process of
its own, medians of three where there are several. And where evaluations cost next to nothing, all
of a run beside scikit-learn's `Nystroem` with as many landmarks: processor time of one thread, the
least of three, on Gaussian kernels of ten clusters in 22 dimensions. `--guided` measures what a
guide adds, on a stored matrix of 1,494 sentences with their embeddings. Prints its tables. Takes
about ten minutes on two cores.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.arithmetic [--quick] [--nystroem] [--guided]
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import threadpoolctl
from sklearn.kernel_approximation import Nystroem

import fewpairs as fp
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import STORED, stored_matrix
from benchmarks.shared.measures import peak_memory, relative
from benchmarks.shared.tables import table
from fewpairs import datasets

#: Seconds of a first prototype on one core, by (n, s): what the method must not fall back to.
PROTOTYPE = {(2000, 100): 2, (5000, 200): 6, (10_000, 300): 16, (20_000, 300): 41}
#: Two sizes large enough that near items are found by an index: how time grows between them.
INDEXED = [(100_000, 300), (200_000, 300)]
#: Ways to a factored matrix that are compared with `Nystroem`, as multiples of its time.
WAYS: dict[str, dict] = {
    "default": {},
    "default, not judged": {"error_pairs": 0},
    "also no near-duplicates": {"error_pairs": 0, "near": 0.0},
    "plain, not judged": {"error_pairs": 0, "known": None},
    "nystrom": {"method": "nystrom"},
    "nystrom, not judged": {"method": "nystrom", "error_pairs": 0},
}


def once(n: int, s: int) -> tuple[float, float, float]:
    """Seconds beside the similarity, peak memory in GB, stated error."""
    vectors = np.random.default_rng(0).normal(size=(n, 20))
    inside = 0.0

    class Tanh(fp.VectorSimilarity):
        def block(self, left, right):
            nonlocal inside
            start = time.perf_counter()
            values = super().block(left, right)
            inside += time.perf_counter() - start
            return values

    tanh = Tanh("sigmoid", gamma=0.1, coef0=-0.5)
    fp.approximate(vectors[:100], tanh, landmarks=15)  # compiles before the clock starts
    inside = 0.0
    budget = cost_of_columns(n, s)
    start = time.perf_counter()
    found = fp.approximate(vectors, tanh, budget=budget, random_state=0, error_pairs=1000)
    took = time.perf_counter() - start
    return took - inside, peak_memory() / 1e9, found.error.value


def processor_seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The least of a few runs, on one thread."""
    found = []
    with threadpoolctl.threadpool_limits(1):
        for _ in range(repeats):
            start = time.process_time()
            run()
            found.append(time.process_time() - start)
    return min(found)


def beside_nystroem(n: int, s: int) -> list[str]:
    """Seconds of `Nystroem`, and how many times as long each of our ways takes."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(10, 22))[rng.integers(0, 10, n)] + rng.normal(size=(n, 22))
    gamma = 1 / 44
    rbf = fp.VectorSimilarity("rbf", gamma=gamma)
    theirs = processor_seconds(
        lambda: Nystroem(gamma=gamma, n_components=s, random_state=0).fit_transform(rows)
    )
    ours = [
        processor_seconds(lambda o=o: fp.approximate(rows, rbf, landmarks=s, random_state=0, **o))
        for o in WAYS.values()
    ]
    return [f"{n:,}", str(s), f"{theirs:.4f}", *(f"{own / theirs:.1f}" for own in ours)]


def print_beside_nystroem(*, quick: bool) -> None:
    fp.approximate(np.eye(100), fp.VectorSimilarity("rbf"), landmarks=15, error_pairs=0)
    sizes = [(n, s) for n in (3000, 20_000) for s in (50, 100, 300)]
    lines = [beside_nystroem(n, s) for n, s in (sizes[:3] if quick else sizes)]
    print(table(["n", "s", "`Nystroem`, s", *WAYS], lines))


def print_guided() -> None:
    """CPU seconds with a guide and without one, the least of three, and their errors."""
    file, _ = STORED["STS-B large"]
    matrix = stored_matrix("STS-B large")
    vectors = np.load(datasets.benchmark_folder() / "matrices" / f"{file}.minilm.npy")
    lines = []
    for s in (75, 149, 299):
        seconds, errors = [], []
        for guide in (None, vectors.astype(np.float32)):
            found = []

            def run(guide=guide, found=found, s=s) -> None:
                made = fp.approximate(
                    range(len(matrix)),
                    fp.Precomputed(matrix),
                    budget=cost_of_columns(len(matrix), s),
                    guide=guide,
                    error_pairs=0,
                    random_state=0,
                )
                found.append(made)

            seconds.append(processor_seconds(run))
            errors.append(relative(found[-1].to_dense(), matrix))
        plain, guided = seconds
        cells = [f"{plain:.2f}", f"{guided:.2f}", f"{guided / plain:.1f}×"]
        lines.append([s, *cells, *(f"{error:.3f}" for error in errors)])
    headings = ["s", "without a guide, CPU s", "with", "with / without"]
    print(table([*headings, "error without", "error with"], lines))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--nystroem", action="store_true", help="that table alone")
    parser.add_argument("--guided", action="store_true", help="that table alone")
    parser.add_argument("--once", nargs=3, type=int, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.once:
        n, s, threads = options.once
        with threadpoolctl.threadpool_limits(threads):
            print(*once(n, s))
        return
    if options.guided:
        need_data()
        print_guided()
        return
    print_beside_nystroem(quick=options.quick)
    if options.nystroem:
        return
    sizes = [*PROTOTYPE] if not options.quick else [*PROTOTYPE][:2]
    rows = []
    seconds: dict[tuple[int, int], float] = {}
    for n, s in [
        *sizes,
        *([] if options.quick else [(50_000, 300), *INDEXED, (100_000, 500)]),
    ]:
        threads = 1 if (n, s) in PROTOTYPE else 2
        command = [sys.executable, "-m", "benchmarks.matrix.arithmetic", "--once"]
        command += [str(n), str(s), str(threads)]
        found = []
        for _ in range(1 if n == 50_000 or s == 500 else 3):
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
            found.append([float(x) for x in done.stdout.split()])
        took, memory, error = np.median(found, axis=0)
        slowest = max(run[0] for run in found)
        before = PROTOTYPE.get((n, s))
        gain = f"{before / took:.1f}× ({before / slowest:.1f} at worst)" if before else "–"
        seconds[n, s] = float(took)
        rows.append((f"{n:,}", s, threads, f"{took:.1f}", gain, f"{memory:.2f}", f"{error:.3f}"))
        print(rows[-1], flush=True)
    headings = ["n", "s", "threads", "seconds", "prototype / ours", "peak GB", "stated error"]
    print(table(headings, rows))
    if not options.quick:
        (n, _), (m, _) = INDEXED
        power = np.log(seconds[INDEXED[1]] / seconds[INDEXED[0]]) / np.log(m / n)
        print(f"\nfrom {n:,} to {m:,} items the time grows like n^{power:.2f}")


if __name__ == "__main__":
    main()
