"""Peak memory of `approximate` beside what its plan says, at three sizes, each in a fresh process.

The plan counts the tall arrays that a method holds at the same time, in bytes. What is measured is
the process's own high-water mark, less what it held before the run. Writes
docs/tables/memory.md; takes about three minutes.

    python -m benchmarks.reliability.memory [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.tables import publish, table

SIZES = [(20_000, 200), (50_000, 300), (100_000, 400)]
SMALL = [(5_000, 100), (10_000, 200), (20_000, 200)]
METHODS = ("auto", "nystrom", "sms", "sicur")


def measure(method: str, n: int, s: int) -> None:
    """Print what the plan says and what the run took, in bytes."""
    warnings.simplefilter("ignore", fp.errors.FewpairsWarning)

    def block(left, right):
        # Of rank four, without an array of its own beside the answer.
        return np.cos(np.asarray(left)[:, None] * 0.001 - np.asarray(right)[None] * 0.001)

    similarity = fp.similarity(block, kind="block", symmetric=True, name="waves")
    fp.approximate(range(2_000), similarity, landmarks=50, method=method, random_state=0)
    items = np.arange(n)
    planned = fp.plan(items, similarity, landmarks=s, method=method, timed=False).memory
    before = peak_memory()
    fp.approximate(items, similarity, landmarks=s, method=method, random_state=0)
    print(planned, peak_memory() - before)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--of", nargs=3, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.of:
        method, n, s = options.of
        measure(method, int(n), int(s))
        return
    rows = []
    for method in METHODS:
        for n, s in SMALL if options.quick else SIZES:
            command = [sys.executable, "-m", "benchmarks.reliability.memory", "--of"]
            command += [method, str(n), str(s)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
            planned, peak = (int(word) for word in done.stdout.split())
            sizes = f"{planned / 1e6:,.0f} MB", f"{peak / 1e6:,.0f} MB"
            rows.append((method, f"{n:,}", s, *sizes, f"{peak / planned:.2f}"))
    columns = ["method", "items", "landmarks", "planned", "measured", "measured / planned"]
    text = "Peak memory of `approximate`, beside the items, and what its plan says.\n\n"
    text += table(columns, rows)
    print(text)
    publish("memory", text, quick=options.quick)


if __name__ == "__main__":
    main()
