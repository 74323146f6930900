"""TensorSketch against scikit-learn's PolynomialCountSketch: seconds at equal degree and size.

20,000 rows, dense in float64 and float32, the same on both sides, and TF-IDF of R8's texts, drawn
with replacement; one thread, CPU time. Both take turns, thrice (sparse: twice): the best times,
and the median ratio with the smallest and the largest. Writes docs/tensor-sketch-table.md.

    FEWPAIRS_DATA=… python benchmarks/tensor_sketch.py [--quick]
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from common import DOCS, arguments, need_data, table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import PolynomialCountSketch
from threadpoolctl import threadpool_limits

from fewpairs import datasets
from fewpairs.sketches.tensor_sketch import TensorSketch

ROWS = 20_000


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def line(rows, degree: int, size: int, repeats: int) -> list[str]:
    d = rows.shape[1]
    theirs = PolynomialCountSketch(n_components=size, degree=degree, random_state=0).fit(rows[:100])
    ours = TensorSketch(d, size, degree, np.random.default_rng(0))
    ours.power(rows[:100])  # compiled
    works = (lambda: ours.power(rows)), (lambda: theirs.transform(rows))
    taken = np.array([[seconds(work) for work in works] for _ in range(repeats)])
    ratio, (mine, spent) = taken[:, 1] / taken[:, 0], 1e3 * taken.min(axis=0)
    kind = "sparse" if sp.issparse(rows) else str(rows.dtype)
    cells = [kind, str(d), str(size), str(degree), f"{mine:.0f}", f"{spent:.0f}"]
    return [*cells, f"**{np.median(ratio):.1f}×** ({ratio.min():.1f}–{ratio.max():.1f})"]


def add(rows: list[list[str]], new: list[str], *, quick: bool) -> None:
    """Print a line, and write the table so far."""
    rows.append(new)
    print(*new, sep=" | ", flush=True)
    headings = ["input", "d", "size", "degree", "ours, ms", "scikit-learn, ms", "ratio"]
    if not quick:
        (DOCS / "tensor-sketch-table.md").write_text(table(headings, rows) + "\n", "utf-8")


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
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
