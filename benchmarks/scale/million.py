"""A million items under a ceiling of 2 GB: columns on disk, time by stage, growth with the number.

Points in eight dimensions, a Gaussian kernel, Nyström with 200 landmarks whose columns (1.6 GB in
double precision) go to a scratch folder. Each size is a process of its own, with one thread.
Stages, in processor time: evaluating the columns, the rest of the run (storing, core, error), K @ x
for one vector, the nearest of ten items by factored scores, and ten new items (which copies the
columns on disk). "Largest error" is that of 10,000 sampled entries, beside the stated relative
error. "Peak" is the largest amount of anonymous memory (RssAnon) above what the process had with
its items; pages of the files are the system's to drop. The growth is the exponent of all stages
together between two sizes. Takes three minutes. Writes docs/tables/million.md; sizes that are not
run keep their rows.

    python -m benchmarks.scale.million [--quick] [--sizes N …] [--scratch FOLDER]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, published_rows, table

SIZES, QUICK = (10_000, 100_000, 1_000_000), (5_000, 20_000)
LANDMARKS, CEILING = 200, "2 GB"
STAGES = ("columns", "rest", "K @ x", "nearest", "extend")


class Clocked(fp.VectorSimilarity):
    """A Gaussian kernel that counts its processor time."""

    seconds = 0.0

    def block(self, left, right):
        """Evaluate, and count."""
        begun = time.process_time()
        values = super().block(left, right)
        self.seconds += time.process_time() - begun
        return values


class Peak(threading.Thread):
    """The largest amount of anonymous memory since it was started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.first, self.most, self.over = self.now(), 0, False
        self.start()

    @staticmethod
    def now() -> int:
        """Anonymous memory of this process, in bytes."""
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

    def run(self) -> None:
        """Look every few milliseconds."""
        while not self.over:
            self.most = max(self.most, self.now() - self.first)
            time.sleep(0.005)


def measure(n: int, scratch: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    points = rng.random((n, 8), dtype=np.float32)
    near = Clocked("rbf", gamma=0.5)
    fp.approximate(points[:500], near, landmarks=20, method="nystrom", random_state=0)  # compiled
    near.seconds = 0.0
    peak, took = Peak(), {}

    def stage(name, work):
        begun = time.process_time()
        found = work()
        took[name] = time.process_time() - begun
        return found

    # Uniform, as on disk, whatever the size: stages are then comparable.
    K = stage(
        "rest",
        lambda: fp.approximate(
            points,
            near,
            landmarks=LANDMARKS,
            method="nystrom",
            error_draw="uniform",
            random_state=0,
            max_memory=CEILING,
            scratch=scratch,
        ),
    )
    took["columns"] = near.seconds
    took["rest"] -= near.seconds
    with fp.max_memory(CEILING):
        stage("K @ x", lambda: K @ np.ones(n))
        stage("nearest", lambda: [K.nearest(k, 10, rerank=0) for k in range(10)])
        stage("extend", lambda: K.extend(rng.random((10, 8), dtype=np.float32)))
    peak.over = True
    i, j = rng.integers(n, size=(2, 10_000))
    exact = np.exp(-0.5 * ((points[i].astype(float) - points[j]) ** 2).sum(axis=1))
    return took | {
        "peak": peak.most,
        "largest": float(np.abs(K.entries(i, j) - exact).max()),
        "stated": K.error.value,
        "single": float(K.left.dtype == np.float32),
    }


def row(n: int, found: dict[str, float]) -> list[str]:
    stages = [f"{found[name]:.3g}" for name in STAGES]
    kept = "disk, float32" if found["single"] else "memory, float64"
    return [
        f"{n:,}",
        kept,
        *stages,
        f"{sum(found[name] for name in STAGES):.3g}",
        f"{found['peak'] / 1e6:,.0f} MB",
        f"{found['largest']:.1e}",
        f"{found['stated']:.1e}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--scratch", metavar="FOLDER")
    parser.add_argument("--one", type=int, help="measure one size here, and print it as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        if options.one:
            print(json.dumps(measure(options.one, scratch)))
            return
        rows = {} if options.quick else published_rows("million")
        for n in options.sizes or (QUICK if options.quick else SIZES):
            command = [sys.executable, "-m", "benchmarks.scale.million", "--one", str(n)]
            done = subprocess.run(  # noqa: S603 - ourselves
                [*command, "--scratch", scratch], capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(done.stderr)
            found = json.loads(done.stdout.splitlines()[-1])
            rows[f"{n:,}"] = row(n, found)
            print(" | ".join(rows[f"{n:,}"]), flush=True)
    by_size = sorted(rows.values(), key=lambda cells: int(cells[0].replace(",", "")))
    headings = ("items", "columns in", *(f"{name}, s" for name in STAGES), "all, s", "peak")
    text = table((*headings, "largest error", "stated"), by_size)
    if len(by_size) > 1:
        (first, begin), (last, end) = (
            (int(cells[0].replace(",", "")), float(cells[2 + len(STAGES)]))
            for cells in (by_size[0], by_size[-1])
        )
        growth = np.log(end / begin) / np.log(last / first)
        text += f"\n\nFrom {first:,} to {last:,} items time grows with the power {growth:.2f}.\n"
    print(text)
    about = (
        "# A million items under 2 GB\n\n`python -m benchmarks.scale.million`, one thread, seconds "
        "of processor time; peak is anonymous memory beside the items.\n\n"
    )
    publish("million", about + text, quick=options.quick)


if __name__ == "__main__":
    main()
