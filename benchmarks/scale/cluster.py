"""Evaluations on a Dask cluster of this machine: time beside local threads, the same factors.

Two similarities. One sleeps a quarter of a second for each block, so that cores do not matter and
everything above the ideal is overhead. One is Word Mover's Distance of made-up documents of 60 words
on made-up vectors, which needs the cores: blocks of half a second and more. Nyström with all its columns
and no error estimate, so that evaluations are nearly all of the time. Each cell is the best of some
runs, after one that is not counted; the cluster is started before. Efficiency is the time of two
local threads over that of two workers; of the sleeper also the ideal over the time. "Plan" is what
`fewpairs.plan_cluster` says beforehand, less its start. Every run's factors are compared with those
of the first, bit by bit. Writes docs/tables/cluster.md.

    python -m benchmarks.scale.cluster [--quick]
"""

from __future__ import annotations

import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table

SECONDS = 0.25
#: As in run/scaling.py: a cluster that is there already needs no start.
START = 2.0


class Sleeper(fp.Similarity):
    """exp(−|a − b|), a quarter of a second for each block."""

    name, symmetric, block_size = "sleeper", True, (100, 20)

    def block(self, left, right):
        time.sleep(SECONDS)
        return np.exp(-np.abs(np.subtract.outer(left, right)))


def sleeping(quick: bool):
    n = 1600 if quick else 6400
    return np.random.default_rng(0).random(n), Sleeper(), 20, SECONDS / 2000


def moving(quick: bool):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(2000)]
    vectors = fp.WordVectors(words, rng.normal(size=(2000, 50)))
    texts = [" ".join(rng.choice(words, 60)) for _ in range(500 if quick else 2000)]
    return texts, fp.WordMover(vectors, gamma=0.1), 40 if quick else 160, None


def timed(case, runs: int, **how):
    """Best time of some runs, and the factors, which must not change."""
    items, similarity, landmarks, _ = case
    best, dense = np.inf, None
    for k in range(runs + 1):
        begun = time.perf_counter()
        K = fp.approximate(
            items,
            similarity,
            landmarks=landmarks,
            method="nystrom",
            error_pairs=0,
            random_state=0,
            **how,
        )
        took = time.perf_counter() - begun
        rows = K.entries(np.arange(500), np.arange(500)[::-1])
        assert dense is None or np.array_equal(rows, dense)
        dense = rows
        best = min(best, took) if k else np.inf
    return best, dense, K.evaluations


def main() -> None:
    from distributed import Client, LocalCluster

    options = arguments(__doc__).parse_args()
    runs = 1 if options.quick else 3
    rows = []
    for name, make in (("sleeping", sleeping), ("Word Mover's", moving)):
        case = make(options.quick)
        threads, exact, evaluations = timed(case, runs, n_jobs=2)
        each = case[3] or 2 * threads / evaluations
        rows.append([name, "2 threads", f"{threads:.2f}", "", "", ""])
        for workers in (2, 4) if case[3] else (2,):
            with (
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
                ) as cluster,
                Client(cluster) as client,
            ):
                took, found, _ = timed(case, runs, client=client)
            assert np.array_equal(found, exact)
            plan = fp.plan_cluster(
                len(case[0]),
                workers=workers,
                seconds_per_pair=each,
                landmarks=case[2],
                evaluations=evaluations,
            )
            ideal = evaluations * each / workers if case[3] else None
            rows.append(
                [
                    name,
                    f"{workers} Dask workers",
                    f"{took:.2f}",
                    f"{2 * threads / workers / took:.0%}",
                    "" if ideal is None else f"{ideal / took:.0%}",
                    f"{plan.seconds - START:.2f}",
                ]
            )
        with_processes, found, _ = timed(case, runs, n_jobs=2, workers="processes")
        assert np.array_equal(found, exact)
        rows.append([name, "2 processes", f"{with_processes:.2f}", "", "", ""])
    headings = ("similarity", "home", "seconds", "of local threads", "of ideal", "plan, s")
    text = table(headings, rows)
    print(text)
    about = (
        "# A cluster of this machine\n\n`python -m benchmarks.scale.cluster`: factors were the same "
        "to the last bit in every row. Processes are started within the time, a cluster before it.\n\n"
    )
    publish("cluster", about + text, quick=options.quick)


if __name__ == "__main__":
    main()
