"""TensorSketch against scikit-learn's PolynomialCountSketch: time at equal degree and size.

20,000 rows: dense in float64 and in float32, the same for both; and sparse, TF-IDF of R8's texts,
drawn with replacement. CPU time of one thread. The two take turns, three times (sparse: twice);
best times, and the median ratio with the smallest and the largest. Writes
docs/tables/tensor-sketch.md. Takes about half an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.tensor_sketch [--quick]
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.tables import publish, table
from fewpairs import datasets
from fewpairs.sketches.tensor_sketch import TensorSketch

ROWS = 20_000


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def line(rows, degree: int, size: int, repeats: int) -> list[str]:
    """One line of the table: both on the same rows."""
    d = rows.shape[1]
    theirs = PolynomialCountSketch(n_components=size, degree=degree, random_state=0).fit(rows[:100])
    ours = TensorSketch(d, size, degree, np.random.default_rng(0))
    ours.power(rows[:100])  # compiles before the clock starts
    works = (lambda: ours.power(rows)), (lambda: theirs.transform(rows))
    taken = np.array([[seconds(work) for work in works] for _ in range(repeats)])
    ratio, (mine, spent) = taken[:, 1] / taken[:, 0], 1e3 * taken.min(axis=0)
    kind = "sparse" if sp.issparse(rows) else str(rows.dtype)
    cells = [kind, str(d), str(size), str(degree), f"{mine:.0f}", f"{spent:.0f}"]
    return [*cells, f"**{np.median(ratio):.1f}×** ({ratio.min():.1f}–{ratio.max():.1f})"]


def add(rows: list[list[str]], new: list[str], *, quick: bool) -> None:
    """Print a line, and write the table so far: the whole of it takes long."""
    rows.append(new)
    print(*new, sep=" | ", flush=True)
    headings = ["input", "d", "size", "degree", "ours, ms", "scikit-learn, ms", "ratio"]
    publish("tensor-sketch", table(headings, rows), quick=quick)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    rng = np.random.default_rng(0)
    repeats = 1 if options.quick else 3
    dimensions, sizes, degrees = ((64,), (64,), (2,)) if options.quick else (
        (64, 256, 1024), (64, 256, 1024), (2, 3, 5)
    )  # fmt: skip
    rows = []
    with threadpool_limits(1):
        for d in dimensions:
            dense = rng.normal(size=(ROWS, d))
            for size in sizes:
                for degree in degrees:
                    add(rows, line(dense, degree, size, repeats), quick=options.quick)
                for degree in degrees:
                    add(
                        rows,
                        line(dense.astype(np.float32), degree, size, repeats),
                        quick=options.quick,
                    )
        words = TfidfVectorizer(min_df=3).fit_transform(
            [record["text"] for record in datasets.read_records("r8", "train")]
        )
        text = sp.csr_array(words[rng.integers(0, words.shape[0], ROWS)])
        for size in sizes:
            add(rows, line(text, 2, size, min(2, repeats)), quick=options.quick)


if __name__ == "__main__":
    main()
