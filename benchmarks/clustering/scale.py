"""Average linkage of many items: time and memory, beside scikit-learn and fastcluster.

Points in clusters, their Gaussian kernel by Nyström with 200 landmarks, columns known exactly. The
whole tree is made. scikit-learn and fastcluster get distances of the same matrix as they take them:
all n² (scikit-learn) or half of them (fastcluster), in double precision; making these counts
neither in their time nor in their memory's start, and a size whose distances take more than
--gigabytes, or than is free, is left out. Each run is a process of its own. The growth is that of
the time between the two largest sizes. Writes docs/tables/clustering-scale.md; sizes that are not
run keep their rows (--sizes without any makes the growth of these anew). Takes about a quarter
of an hour on one core.

    python -m benchmarks.clustering.scale [--quick] [--sizes N …] [--only NAME …] [--gigabytes 4]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.measures import free_memory, peak_memory
from benchmarks.shared.tables import publish, published_rows, table
from fewpairs.oracle.known import Known, Lines

SIZES = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
LANDMARKS = 200
#: Gigabytes of distances: those of 20,000 items take 3.2, and scikit-learn 10 with its copies.
MOST = 4.0
NAMES = ("fewpairs", "fewpairs, at 0.7", "scikit-learn", "fastcluster")


def factored(n: int) -> fp.FactoredMatrix:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n // 20, 10))
    x = centres[rng.integers(len(centres), size=n)] + 0.5 * rng.normal(size=(n, 10))
    chosen = rng.choice(n, LANDMARKS, replace=False)
    similarity = fp.VectorSimilarity("rbf", gamma=0.05)
    columns = np.vstack([similarity.block(x[k : k + 4096], x[chosen]) for k in range(0, n, 4096)])
    core = np.linalg.pinv(columns[chosen], rcond=1e-6, hermitian=True)
    lines = Lines.of(chosen, columns, n)
    return fp.FactoredMatrix(columns, (core + core.T) / 2, known=Known(lines, lines))


def distances(matrix: fp.FactoredMatrix, *, half: bool) -> np.ndarray:
    n = len(matrix)
    size = n * (n - 1) // 2
    result = np.empty(size if half else (n, n))
    begin = 0
    for start in range(0, n, 256):
        rows = 1 - matrix[start : start + 256]
        if not half:
            rows[np.arange(len(rows)), start + np.arange(len(rows))] = 0
            result[start : start + 256] = rows
            continue
        for k, row in enumerate(rows):
            end = begin + n - start - k - 1
            result[begin:end] = row[start + k + 1 :]
            begin = end
    return result


def run(name: str, n: int) -> dict[str, float]:
    warnings.simplefilter("ignore")
    # What is compiled once is compiled before.
    fp.FactoredAgglomerative(2).fit(
        fp.FactoredMatrix(np.random.default_rng(0).random((50, 3)), np.eye(3))
    )
    matrix = factored(n)
    if name.startswith("fewpairs"):
        given = {"threshold": 0.7} if "at" in name else {"n_clusters": 1}
        begin = time.perf_counter()
        fitted = fp.FactoredAgglomerative(**given).fit(matrix)
        merges = len(fitted.children_)
    elif name == "scikit-learn":
        from sklearn.cluster import AgglomerativeClustering

        dense = distances(matrix, half=False)
        begin = time.perf_counter()
        fitted = AgglomerativeClustering(1, metric="precomputed", linkage="average").fit(dense)
        merges = len(fitted.children_)
    else:
        import fastcluster

        dense = distances(matrix, half=True)
        begin = time.perf_counter()
        merges = len(fastcluster.linkage(dense, "average", preserve_input=False))
    return {
        "seconds": time.perf_counter() - begin,
        "gigabytes": peak_memory() / 1e9,
        "merges": merges,
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--gigabytes", type=float, default=MOST)
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--one", nargs=2, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run(options.one[0], int(options.one[1]))))
        return
    sizes = [1000, 2000] if options.quick else options.sizes
    rows = {} if options.quick else published_rows("clustering-scale")
    rows.pop("growth", None)
    for n in sizes:
        old = rows.get(f"{n:,}", [f"{n:,}", *[""] * len(NAMES)])
        for place, name in enumerate(NAMES, 1):
            if name not in options.only or distances_of(name, n) > min(
                options.gigabytes * 1e9, free_memory()
            ):
                continue
            command = [sys.executable, "-m", "benchmarks.clustering.scale", "--one", name, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                old[place] = "out of memory" if done.returncode < 0 else "failed"
            else:
                got = json.loads(done.stdout.splitlines()[-1])
                old[place] = f"{got['seconds']:.1f} s, {got['gigabytes']:.2f} GB"
            print(n, name, old[place], flush=True)
        rows[f"{n:,}"] = old
    ordered = sorted(rows.values(), key=lambda row: int(row[0].replace(",", "")))
    ordered.append(["growth", *(growth(ordered, k) for k in range(1, len(NAMES) + 1))])
    text = (
        f"Seconds, and peak memory of the whole process; {LANDMARKS} landmarks; the whole tree, or "
        "all merges above 0.7. The memory of fewpairs holds the factored matrix, that of others "
        f"the distances.\n\n{table(['items', *NAMES], ordered)}"
    )
    print(text)
    publish("clustering-scale", text, quick=options.quick)


def distances_of(name: str, n: int) -> int:
    """Bytes of the distances that are made before a run."""
    each = {"scikit-learn": n * n, "fastcluster": n * (n - 1) // 2}
    return 8 * each.get(name, 0)


def growth(rows: list[list[str]], column: int) -> str:
    """The exponent of the time between the two largest sizes."""
    there = [
        (int(row[0].replace(",", "")), float(row[column].split()[0]))
        for row in rows
        if row[column].endswith("GB")
    ]
    if len(there) < 2 or not there[-2][1]:
        return ""
    (n, s), (m, t) = there[-2:]
    return f"n^{np.log(t / s) / np.log(m / n):.2f}"


if __name__ == "__main__":
    main()
