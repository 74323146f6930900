"""All matches among tens and hundreds of thousands of items: evaluations, recall, time, memory.

All 45,747 names of places (Jaro–Winkler of at least 0.9, recall 0.95; all pairs tell the truth),
and 200,000 made persons of whom 5 % are others with typing errors (ratio of at least 0.85, recall
0.9; the truth are the pairs that were made). Each run has a process of its own, whose peak memory
is told. Writes docs/tables/matching-scale.md; cases that are not run keep their rows. Takes about
half an hour on one core.

    python -m benchmarks.matching.scale [--quick] [--cases places persons] [--jobs N]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.guides import jaro_winkler_pairs, persons, places
from benchmarks.shared.tables import publish, published_rows, table

CASES = {"places": ("jaro_winkler", 0.9, 0.95), "persons": ("ratio", 0.85, 0.9)}


def run(name: str, n: int, jobs: int) -> dict[str, object]:
    scorer, above, recall = CASES[name]
    if name == "places":
        texts = places()[:n]
    else:
        texts, made = persons(n)
    start, before = time.perf_counter(), time.process_time()
    similarity = fp.StringSimilarity(scorer)
    found = fp.find_pairs(
        texts,
        similarity,
        above=above,
        recall=recall,
        all_pairs=False,
        random_state=0,
        n_jobs=jobs,
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    keys = found.left * len(texts) + found.right
    if name == "places":
        truth = jaro_winkler_pairs(texts, np.nextafter(above, 0))
    else:
        scores = fp.score_pairs(
            similarity,
            [texts[k // len(texts)] for k in made],
            [texts[k % len(texts)] for k in made],
        )
        truth = made[scores >= above]
    return {
        "items": len(texts),
        "matches": len(truth),
        "found": len(found),
        "true": float(np.isin(truth, keys).mean()),
        "low": found.recall.low,
        "value": found.recall.value,
        "target": recall,
        "evaluations": found.evaluations,
        "share": found.evaluations / found.recall.pairs,
        "price": fp.plan_pairs(len(texts), matches=len(truth), recall=recall).share,
        "spent": found.spent,
        "seconds": seconds,
        "cpu": cpu,
        "gigabytes": peak,
    }


def in_a_process(name: str, n: int, jobs: int) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks.matching.scale", "--one", name, str(n)]
    done = subprocess.run(  # noqa: S603 - ourselves
        [*command, "--jobs", str(jobs)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--one", nargs=2, help="a case and its size, printed as JSON")
    options = parser.parse_args()
    need_data()
    if options.one:
        print(json.dumps(run(options.one[0], int(options.one[1]), options.jobs)))
        return
    sizes = (
        {"places": 3000, "persons": 5000}
        if options.quick
        else {
            "places": 45_747,
            "persons": 200_000,
        }
    )
    results = {name: in_a_process(name, sizes[name], options.jobs) for name in options.cases}
    rows = {
        name: [
            name,
            f"{r['items']:,}",
            f"{r['matches']:,}",
            f"{r['found']:,}",
            f"{r['true']:.4f}",
            f"{r['low']:.3f}",
            f"{r['target']:g}",
            f"{r['evaluations']:,}",
            f"{100 * r['share']:.3f} %",
            f"{100 * r['price']:.3f} %",
            f"{r['seconds']:.0f}",
            f"{r['cpu']:.0f}",
            f"{r['gigabytes']:.2f}",
        ]
        for name, r in results.items()
    }
    rows = published_rows("matching-scale") | rows
    heading = (
        "Items, matches, pairs found, true recall, lower end of the stated one and what was asked "
        "for, evaluations and their share of all pairs, the share that the statement alone takes, "
        f"seconds, CPU seconds, peak gigabytes; {options.jobs} threads."
    )
    head = [
        "case",
        "n",
        "matches",
        "found",
        "true",
        "low",
        "asked",
        "evaluations",
        "share",
        "price",
        "s",
        "CPU s",
        "GB",
    ]
    text = f"{heading}\n\n{table(head, [rows[name] for name in CASES if name in rows])}"
    print(text)
    publish("matching-scale", text, quick=options.quick)


if __name__ == "__main__":
    main()
