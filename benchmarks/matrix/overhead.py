"""Our own cost: time per entry beside a bare copy, share of an expensive run, peak memory.

The targets in the printed tables are the library's own: 20 ns an entry, 1 % of a run whose
similarity takes 1 ms a pair, and 2.2 times the block of columns. Prints its tables. Takes about
five minutes on one core.

    python -m benchmarks.matrix.overhead [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import table


def per_entry(n: int, s: int, repeats: int) -> list[float]:
    """Nanoseconds per entry of the oracle, less those of a NumPy copy of the same block."""
    ready = np.random.default_rng(0).normal(size=2**14)

    def free(left, right):
        return ready[: len(left) * len(right)].reshape(len(left), len(right))

    similarity = fp.similarity(free, kind="block", symmetric=False, name="free")
    block = np.random.default_rng(0).normal(size=(n, s))
    extra = []
    for _ in range(repeats):
        start = time.perf_counter()
        fp.Oracle(np.arange(n), similarity, progress=False).columns(np.arange(s))
        ours = time.perf_counter() - start
        start = time.perf_counter()
        block.copy()
        bare = time.perf_counter() - start
        extra.append((ours - bare) / (n * s) * 1e9)
    return extra


def of_an_expensive_run(kind: str, n: int, s: int) -> float:
    """Time outside a similarity that takes 1 ms a pair, relative to the time inside it."""
    inside = 0.0
    clock = time.perf_counter

    def finish(start, count):
        """Wait until 1 ms has passed for each pair, and add up the time since the call."""
        nonlocal inside
        while clock() < start + 1e-3 * count:
            pass
        inside += clock() - start

    def pair(a, b):
        start = clock()
        value = 1.0 / (1 + abs(int(a) - int(b)))
        finish(start, 1)
        return value

    def pairs(both):
        start = clock()
        values = [1.0 / (1 + abs(int(a) - int(b))) for a, b in both]
        finish(start, len(both))
        return values

    def block(left, right):
        start = clock()
        values = 1.0 / (1 + np.abs(np.subtract.outer(left, right)))
        finish(start, values.size)
        return values

    function = {"pair": pair, "pairs": pairs, "block": block}[kind]
    similarity = fp.similarity(function, kind=kind, symmetric=True, name="slow")
    fp.approximate(np.arange(5), similarity, landmarks=2, progress=False)  # before the clock starts
    inside = 0.0
    start = time.perf_counter()
    fp.approximate(
        np.arange(n), similarity, landmarks=s, method="nystrom", progress=False, random_state=0
    )
    total = time.perf_counter() - start
    return (total - inside) / inside


def memory_of(metric: str, n: int, s: int, method: str) -> None:
    """Print peak memory beside the vectors, in units of the n × s block; in a fresh process."""
    vectors = np.random.default_rng(0).normal(size=(n, 64))
    fp.approximate(vectors[:200], fp.VectorSimilarity(metric), landmarks=20, method=method)
    before = peak_memory()
    start = time.perf_counter()
    found = fp.approximate(
        vectors, fp.VectorSimilarity(metric), landmarks=s, method=method, n_jobs=2, random_state=0
    )
    took = time.perf_counter() - start
    ratio = (peak_memory() - before) / (8 * n * s)
    print(f"{ratio:.3f} {took:.1f} {found.error.value:.4f}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--memory-of", nargs=4, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.memory_of:
        metric, n, s, method = options.memory_of
        memory_of(metric, int(n), int(s), method)
        return
    n, s = (20_000, 100) if options.quick else (100_000, 200)
    extra = per_entry(n, s, 7)
    print("## A block similarity that costs nothing\n")
    print(
        f"{n:,} × {s} entries: {np.median(extra):.1f} ns an entry over a NumPy copy "
        f"(from {min(extra):.1f} to {max(extra):.1f} in {len(extra)} runs; target 20)\n"
    )
    print("## A similarity that costs 1 ms a pair\n")
    size = (100, 20) if options.quick else (300, 20)
    rows = []
    for kind in ("pair", "pairs", "block"):
        shares = sorted(of_an_expensive_run(kind, *size) for _ in range(5))
        rows.append((kind, f"{shares[2]:.2%} ({shares[0]:.2%} to {shares[-1]:.2%})"))
    print(table(["written as", "our own share, median of 5 runs (target 1 %)"], rows))
    n, s = (20_000, 200) if options.quick else (100_000, 500)
    print(f"\n## Memory: {n:,} vectors of 64 numbers, {s} landmarks, 2 threads\n")
    rows = []
    for metric, method in (
        ("cosine", "nystrom"),
        ("rbf", "nystrom"),
        ("rbf", "auto"),
        ("rbf", "sms"),
        ("rbf", "sicur"),
        ("rbf", "stacur"),
    ):
        command = [sys.executable, "-m", "benchmarks.matrix.overhead", "--memory-of"]
        command += [metric, str(n), str(s), method]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        rows.append((metric, method, *done.stdout.split()))
    print(table(["metric", "method", "peak / (n·s·8 bytes), target 2.2", "s", "error"], rows))


if __name__ == "__main__":
    main()
