"""A million items under a ceiling of 2 GB: columns on disk, time by stage, growth with the number.

Points on a sphere in eight dimensions, a Gaussian kernel, 200 landmarks whose columns (1.6 GB in
double precision) go to a scratch folder: the default method, and Nyström. Each line is a process of
its own, with one thread. Stages, in processor time: evaluating the columns, the rest of the run
(storing, near-duplicates, core, error), K @ X for ten vectors, the nearest of ten items with
candidates ranked exactly, vectors of all items, ten new items (which copies the columns on disk),
writing a file and reading it again. "Largest error" is that of 10,000 sampled entries, beside the
stated relative error. "Peak" is the largest amount of anonymous memory (RssAnon) above what the
process had with its items; pages of the files are the system's to drop. The growth is the exponent
of all stages together between the smallest and the largest size. Takes ten minutes. Writes
docs/tables/million.md line by line; lines that are not run stay.

    python -m benchmarks.scale.million [--quick] [--sizes N …] [--methods M …] [--scratch FOLDER]
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.million import (
    CEILING,
    GAMMA,
    Peak,
    exact,
    growth,
    in_own_process,
    number,
    points,
)
from benchmarks.shared.tables import publish, published_rows, table

SIZES, QUICK = (10_000, 100_000, 1_000_000), (5_000, 20_000)
METHODS = ("default", "nystrom")
LANDMARKS = 200
STAGES = ("columns", "rest", "K @ X", "nearest", "vectors", "extend", "file")


class Clocked(fp.VectorSimilarity):
    """A Gaussian kernel that counts its processor time."""

    seconds = 0.0

    def block(self, left, right):
        """Evaluate, and count."""
        begun = time.process_time()
        values = super().block(left, right)
        self.seconds += time.process_time() - begun
        return values


def measure(n: int, method: str, scratch: str) -> dict[str, float]:
    rng = np.random.default_rng(1)
    items, name = points(n), "auto" if method == "default" else method
    near = Clocked("rbf", gamma=GAMMA)
    fp.approximate(items[:500], near, landmarks=20, method=name, random_state=0)  # compiled
    near.seconds = 0.0
    peak, took = Peak(), {}

    def stage(name, work):
        begun = time.process_time()
        found = work()
        took[name] = time.process_time() - begun
        return found

    K = stage(
        "rest",
        lambda: fp.approximate(
            items,
            near,
            landmarks=LANDMARKS,
            method=name,
            random_state=0,
            max_memory=CEILING,
            scratch=scratch,
        ),
    )
    took["columns"] = near.seconds
    took["rest"] -= near.seconds
    path = Path(scratch) / "million.fewpairs"

    def file() -> None:
        K.save(path)
        fp.load(path)

    with fp.max_memory(CEILING):
        x = rng.normal(size=(n, 10))
        stage("K @ X", lambda: K @ x)
        stage("nearest", lambda: [K.nearest(k, 10) for k in range(10)])
        stage("vectors", K.embedding)
        stage("extend", lambda: K.extend(items[:10] + np.float32(0.01)))
        stage("file", file)
    peak.over = True
    path.unlink()
    i, j = rng.integers(n, size=(2, 10_000))
    return took | {
        "peak": peak.most,
        "largest": float(np.abs(K.entries(i, j) - exact(items[i], items[j])).max()),
        "stated": K.error.value,
        "single": float(K.left.dtype == np.float32),
    }


def row(n: int, method: str, found: dict[str, float]) -> list[str]:
    return [
        f"{method}, {n:,}",
        "disk, float32" if found["single"] else "memory, float64",
        *(f"{found[name]:.3g}" for name in STAGES),
        f"{sum(found[name] for name in STAGES):.3g}",
        f"{found['peak'] / 1e6:,.0f} MB",
        f"{found['largest']:.1e}",
        f"{found['stated']:.1e}",
    ]


def page(rows: dict[str, list[str]]) -> str:
    headings = ("method, items", "columns in", *(f"{name}, s" for name in STAGES), "all, s", "peak")
    order = sorted(rows, key=lambda key: (key.split(", ")[0], number(key.split(", ")[1])))
    text = table((*headings, "largest error", "stated"), (rows[key] for key in order))
    for method in METHODS:
        mine = [key for key in order if key.startswith(f"{method}, ")]
        if len(mine) > 1:
            sizes = [number(key.split(", ")[1]) for key in (mine[0], mine[-1])]
            seconds = [float(rows[key][2 + len(STAGES)]) for key in (mine[0], mine[-1])]
            power = growth((sizes[0], seconds[0]), (sizes[1], seconds[1]))
            text += f"\n\n{method}: from {sizes[0]:,.0f} to {sizes[1]:,.0f} items time grows with "
            text += f"the power {power:.2f}."
    return text


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--scratch", metavar="FOLDER")
    parser.add_argument("--one", nargs=2, help="measure one line here, and print it as JSON")
    options = parser.parse_args()
    about = (
        "# A million items under 2 GB\n\n`python -m benchmarks.scale.million`, one thread, seconds "
        "of processor time; peak is anonymous memory beside the items.\n\n"
    )
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        if options.one:
            method, n = options.one
            print(json.dumps(measure(int(n), method, scratch)))
            return
        rows = {} if options.quick else published_rows("million")
        for n in options.sizes or (QUICK if options.quick else SIZES):
            for method in options.methods:
                one = ("--one", method, str(n), "--scratch", scratch)
                found = in_own_process("benchmarks.scale.million", *one)
                line = row(n, method, found)
                rows[line[0]] = line
                print(" | ".join(line), flush=True)
                publish("million", about + page(rows), quick=options.quick)
    print(page(rows))


if __name__ == "__main__":
    main()
