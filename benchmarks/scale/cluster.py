"""Evaluations on a Dask cluster of this machine: time beside local threads, the same numbers.

Two similarities. One sleeps a quarter of a second for each block, so that cores do not matter and
everything above the ideal is overhead. One is Word Mover's Distance of made-up documents of 60
words, which needs the cores: 40 blocks of a quarter of a second or more. Whole columns are read and
nothing else is done. "Quiet" is a cluster that looks at itself less often, by settings of Dask that
the page on scale names. Each cell is the best of some runs, after one that is not counted; the
cluster is started before. "Of local threads" is the time of two threads over that of two workers
(half of it for four that sleep; four that need the two cores can be no quicker than two); "of
ideal" what the sleeper would take without any overhead. "Plan" is what
`fewpairs.plan_cluster` says beforehand, less its start. "Processor" is the time that all processes
together were busy in the last run: threads or workers, client, scheduler and what watches the
workers; of Word Mover's Distance what is more than that of the threads is overhead. "Idle" is what
the same processes need in as many seconds when there is nothing to do. What was read is compared
with what the threads have read, bit by bit. Writes docs/tables/cluster.md. Takes about five minutes
on two cores.

    python -m benchmarks.scale.cluster [--quick]
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table

SECONDS = 0.25
#: Of this machine; what needs them is not compared with what more would do.
CORES = 2
#: As in run/scaling.py: a cluster that is there already needs no start.
START = 2.0
#: Workers that do not watch which line they are at every 10 ms, nor their loop every 20 ms; set
#: before the cluster is started.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}


class Sleeper(fp.Similarity):
    """exp(−|a − b|), a quarter of a second for each block."""

    name, symmetric, block_size = "sleeper", True, (100, 20)

    def block(self, left, right):
        """Sleep, and compare."""
        time.sleep(SECONDS)
        return np.exp(-np.abs(np.subtract.outer(left, right)))


def sleeping(quick: bool):
    n = 1600 if quick else 6400
    return np.random.default_rng(0).random(n), Sleeper(), 20, SECONDS / 2000


def moving(quick: bool):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(2000)]
    vectors = fp.WordVectors(words, rng.normal(size=(2000, 50)))
    texts = [" ".join(rng.choice(words, 60)) for _ in range(500 if quick else 1000)]
    return texts, fp.WordMover(vectors, gamma=0.1), 40 if quick else 320, None


def processor() -> float:
    """Processor time of this process so far."""
    took = os.times()
    return took.user + took.system


def busy(client) -> float:
    """Processor time of this process and of all workers so far."""
    return processor() + (0 if client is None else sum(client.run(processor).values()))


def idle(client) -> float:
    """Processor time for each second in which nothing is done."""
    begun, since = busy(client), time.perf_counter()
    time.sleep(5)
    return (busy(client) - begun) / (time.perf_counter() - since)


def timed(case, runs: int, **how):
    """Best time of some runs, and the columns, which must not change."""
    items, similarity, landmarks, _ = case
    client = how.get("client")
    best, found, spent = np.inf, None, 0.0
    for k in range(runs + 1):
        oracle = fp.Oracle(items, similarity, others=items[:landmarks], **how)
        before, begun = busy(client), time.perf_counter()
        columns = oracle.columns(range(landmarks))
        took = time.perf_counter() - begun
        spent = busy(client) - before
        if found is not None and not np.array_equal(columns, found):
            sys.exit("the numbers differ")
        found = columns
        best = min(best, took) if k else np.inf
    return best, found, oracle.evaluations, spent


def compare(found, exact) -> None:
    if not np.array_equal(found, exact):
        sys.exit("the numbers differ from those of threads")


def main() -> None:
    import dask
    from distributed import Client, LocalCluster

    options = arguments(__doc__).parse_args()
    runs = 1 if options.quick else 3
    rows = []
    for name, make in (("sleeping", sleeping), ("Word Mover's", moving)):
        case = make(options.quick)
        threads, exact, evaluations, spent = timed(case, runs, n_jobs=2)
        each = case[3] or 2 * threads / evaluations
        rows.append([name, "2 threads", f"{threads:.2f}", *[""] * 3, f"{spent:.2f}", ""])
        homes = [(2, {}), (4, {})] if case[3] else [(2, {}), (2, QUIET), (4, QUIET)]
        for workers, settings in homes:
            with (
                dask.config.set(settings),
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
                ) as cluster,
                Client(cluster) as client,
            ):
                took, found, _, spent = timed(case, runs, client=client)
                resting = idle(client)
            compare(found, exact)
            plan = fp.plan_cluster(
                len(case[0]),
                workers=workers,
                seconds_per_pair=each,
                landmarks=case[2],
                evaluations=evaluations,
            )
            ideal = evaluations * each / workers if case[3] else None
            busy_at_once = workers if case[3] else min(workers, CORES)
            rows.append(
                [
                    name,
                    f"{workers} Dask workers{', quiet' if settings else ''}",
                    f"{took:.2f}",
                    f"{2 * threads / busy_at_once / took:.0%}",
                    "" if ideal is None else f"{ideal / took:.0%}",
                    f"{plan.seconds - START:.2f}" if busy_at_once == workers else "",
                    f"{spent:.2f}",
                    f"{resting * took:.2f}",
                ]
            )
        with_processes, found, *_ = timed(case, runs, n_jobs=2, workers="processes")
        compare(found, exact)
        rows.append([name, "2 processes", f"{with_processes:.2f}", *[""] * 5])
    headings = ("similarity", "home", "seconds", "of local threads", "of ideal", "plan, s")
    headings = (*headings, "processor, s", "idle, s")
    text = table(headings, rows)
    print(text)
    about = (
        "# A cluster of this machine\n\n`python -m benchmarks.scale.cluster`: what was read was "
        "the same to the last bit in every row. Processes are started within the time, a cluster "
        "before it.\n\n"
    )
    publish("cluster", about + text, quick=options.quick)


if __name__ == "__main__":
    main()
