"""f(UVᵀ) in linear time: seconds and memory for n = 10⁴ … 10⁶ rows, and one product with it.

d = 50, degree 10, sketch size 10, f = exp. Each size has a process of its own and is timed three
times, because fresh memory is slow on some machines; the best time counts. Slopes are those of log
seconds against log n. The part of our time that does not grow with n (tuning) is worked out from a
run on 2,000 rows and shown apart. The exact product is computed in blocks, timed at n = 20,000 and
extrapolated by n². Writes docs/tables/linear-growth.md. Takes about ten minutes on one core.

    python -m benchmarks.sketches.linear_growth [--quick]
"""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import publish, table

METHODS: dict[str, dict[str, Any]] = {
    "**fewpairs (default)**": {},
    "Coreset-TS": {"coefficients": "coreset", "exact_terms": False},
}
DIMENSIONS, THREADS, EXACT_ROWS, FEW, REPEATS = 50, 2, 20_000, 2000, 3


def rows(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, DIMENSIONS)) / np.sqrt(DIMENSIONS)


def run(title: str, n: int) -> tuple[float, float, float, float, int, float]:
    """Wall and CPU seconds of factoring, seconds of one product and of a few rows; bytes; error."""
    options = {"random_state": 0, "n_jobs": THREADS, **METHODS[title]}
    u = rows(n)
    fp.elementwise(np.exp, u[:FEW], **options)  # compiles, starts threads
    few = time.perf_counter()
    fp.elementwise(np.exp, u[:FEW], **options)
    few = time.perf_counter() - few
    before, taken, cpu, matrix = peak_memory(), np.inf, np.inf, None
    for _ in range(REPEATS):
        matrix = None  # its memory is free for the next
        start, used = time.perf_counter(), time.process_time()
        matrix = fp.elementwise(np.exp, u, **options)
        taken = min(taken, time.perf_counter() - start)
        cpu = min(cpu, time.process_time() - used)
    memory = peak_memory() - before
    x = np.ones(n)
    start = time.perf_counter()
    matrix @ x
    product = time.perf_counter() - start
    return taken, cpu, product, few, memory, matrix.error.value


def exact_seconds(n: int) -> float:
    """Seconds of exp(UUᵀ)·x in blocks."""
    u, x = rows(n), np.ones(n)
    start = time.perf_counter()
    for k in range(0, n, 500):
        np.exp(u[k : k + 500] @ u.T) @ x
    return time.perf_counter() - start


def slope(sizes: list[int], values: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def main() -> None:
    options = arguments(__doc__).parse_args()
    sizes = (
        [10_000, 20_000, 40_000, 80_000]
        if options.quick
        else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    )
    exact = exact_seconds(EXACT_ROWS)
    lines, notes = [], [f"Exact product at n = {EXACT_ROWS:,}: {exact:.1f} s."]
    for title in METHODS:
        seconds, growing, bytes_used = [], [], []
        for n in sizes:
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                taken, cpu, product, few, memory, error = pool.submit(run, title, n).result()
            # Where the line through the times at a few rows and at n rows meets n = 0.
            fixed = few * max(0.0, 1 - FEW * (taken - few) / ((n - FEW) * few))
            seconds.append(taken)
            growing.append(taken - fixed)
            bytes_used.append(memory)
            whole = exact * (n / EXACT_ROWS) ** 2
            lines.append([
                title, f"{n:,}", f"{taken:.2f}", f"{cpu:.2f}", f"{fixed:.2f}",
                f"{memory / 1e9:.2f}", f"{product:.3f}", f"{whole:.3g}",
                f"{whole / (taken + product):.0f}×", f"{error:.1e}",
            ])  # fmt: skip
            print(*lines[-1], sep=" | ", flush=True)
        notes.append(
            f"{title}: slopes {slope(sizes, seconds):.2f} of time, {slope(sizes, growing):.2f} "
            f"without the fixed part, {slope(sizes, bytes_used):.2f} of memory; from the third "
            f"size on {slope(sizes[2:], seconds[2:]):.2f} of time and "
            f"{slope(sizes[2:], bytes_used[2:]):.2f} of memory."
        )
        print(notes[-1], flush=True)
    headings = ["method", "n", "factoring, s", "CPU s", "fixed part, s", "GB", "one product, s"]
    headings += ["exact product, s (extrapolated)", "ratio, factoring included", "stated error"]
    text = f"{table(headings, lines)}\n\n" + "\n\n".join(notes) + "\n"
    publish("linear-growth", text, quick=options.quick)


if __name__ == "__main__":
    main()
