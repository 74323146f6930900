"""Is what `K.check` states true? Its intervals against all rows of real matrices.

Matrices from 10 % of the pairs, five seeds each; a hundred draws of rows from each. Neighbours, and
thresholds that one entry in a hundred or in a thousand reaches. The truth is that of all rows that
the matrix does not hold exactly. Writes docs/tables/check.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.check [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import catalogues, common_words, stored_matrix, strings
from benchmarks.shared.tables import publish, table
from fewpairs import datasets

BUDGET = 0.1
ROWS = (5, 20)


def cases() -> Iterator[tuple[str, np.ndarray, bool, bool]]:
    """Title, matrix, whether it is symmetric, whether rows and columns are the same items."""
    for title in ("STS-B cross-encoder", "MRPC probabilities", "RTE logits"):
        yield title, stored_matrix(title), True, True
    asymmetric = np.asarray(datasets.read_matrix("rte-dev-crossattn"), dtype=np.float64)
    yield "RTE logits, both orders", asymmetric, False, True
    yield "Jaro–Winkler, words", strings(common_words(), "jaro_winkler"), True, True
    yield "Jaro–Winkler, two catalogues", catalogues(), False, False


def approximated(matrix: np.ndarray, seed: int, *, symmetric: bool, square: bool):
    similarity = fp.similarity(
        lambda a, b: matrix[np.ix_(a, b)], kind="block", symmetric=symmetric, name="matrix"
    )
    others = {} if square else {"others": range(matrix.shape[1])}
    return fp.approximate(
        range(len(matrix)), similarity, budget=BUDGET, error_pairs=0, random_state=seed, **others
    )


def covered(share, truth) -> bool:
    return np.isnan(truth.value) or share.low <= truth.value <= share.high


def judge(matrix: np.ndarray, questions: dict, seeds: range, draws: int, **facts) -> Iterator:
    """For each question and number of rows: the mean truth, widths and coverage."""
    found: dict = {}
    for seed in seeds:
        K = approximated(matrix, seed, **facts)
        for name, question in questions.items():
            truth = K.check(rows=len(matrix), random_state=0, **question)
            for rows in ROWS:
                for draw in range(draws):
                    said = K.check(rows=rows, random_state=draw, **question)
                    cells = found.setdefault((name, rows), [])
                    both = [(said.recall, truth.recall), (said.precision, truth.precision)]
                    if said.reranked is not None:
                        both[1] = (said.reranked, truth.reranked)
                    cells.append([(t.value, s.high - s.low, covered(s, t)) for s, t in both])
    for (name, rows), cells in found.items():
        yield name, rows, np.nanmean(np.array(cells, dtype=float), axis=0), len(cells)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    seeds, draws = (range(1), 20) if options.quick else (range(5), 100)
    lines = []
    for title, matrix, symmetric, square in cases():
        apart = matrix[~np.eye(len(matrix), dtype=bool)] if square else matrix.ravel()
        questions: dict = {"10 nearest": {"k": 10}}
        for share in (0.01, 0.001):
            questions[f"largest {share:.1%}"] = {"above": float(np.quantile(apart, 1 - share))}
        facts = {"symmetric": symmetric, "square": square}
        for name, rows, means, count in judge(matrix, questions, seeds, draws, **facts):
            cells = [f"{true:.2f} ± {width / 2:.2f}: {rate:.1%}" for true, width, rate in means]
            lines.append([title, name, rows, *cells])
            print(*lines[-1], count, sep=" | ", flush=True)
    text = (
        f"Truth ± half the mean width of the stated interval: how often it holds the truth, of "
        f"{len(seeds) * draws} draws of rows. The second share is the precision; for neighbours it "
        "is the recall with candidates ranked exactly, as `K.nearest` does.\n\n"
        + table(["matrix", "question", "rows", "recall", "precision or re-ranked"], lines)
    )
    print("\n" + text)
    publish("check", text, quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):  # threads of many small products wait for each other
        main()
