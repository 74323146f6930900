"""Candidates by inner products of vectors: ours, exact and by cells, beside libraries.

CPU seconds (one thread), memory beyond the vectors, and recall: of each item's best 10, 30 and 60,
of the largest products of all, and of the pairs that match in the end. Each figure comes from a
process of its own; with `--keep FOLDER` a second run takes up what the first has measured. Needs
rapidfuzz; a library that is not installed is skipped. Writes docs/tables/candidates.md. Takes about
half an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matching.candidates [--quick] [--keep FOLDER]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.shared import guides
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.measures import peak_memory
from benchmarks.shared.neighbor_rivals import RIVALS, facts, installed
from benchmarks.shared.tables import publish, table
from fewpairs.candidates import largest_products, most_similar

MOST = 60
ROWS = 1000
#: Above this many items nobody compares all pairs for the best of each here, and one library that
#: searches a graph speaks for the other, which took longer.
MANY, SPOKEN_FOR = 60_000, "usearch"
ALL_PAIRS = {"largest, tiles": True, "largest, cells": False}


def prepare(folder: Path, *, quick: bool) -> dict[str, str]:
    """Write vectors and matches of each set to the folder; return their titles."""
    sizes = {"publications": 2000, "places": 4000, "persons": 8000} if quick else {}
    titles = {}
    for name in ("publications", "places", "persons"):
        if not (folder / f"{name}.npy").exists():
            pairs = None
            if name == "persons":
                texts, pairs = guides.persons(sizes.get(name, 200_000))
            else:
                texts = getattr(guides, name)()[: sizes.get(name)]
            grams = guides.character_grams(texts)
            if name == "places":
                pairs = guides.jaro_winkler_pairs(texts, 0.9)
                of_guides(folder, grams, pairs)
            if pairs is not None:
                np.save(folder / f"{name}.matches.npy", pairs)
            np.save(folder / f"{name}.npy", guides.reduced(grams, 128))
        titles[name] = f"{name}, n = {len(np.load(folder / f'{name}.npy', mmap_mode='r')):,}"
    return titles


def of_guides(folder: Path, grams, matches: np.ndarray) -> None:
    """Write what share of the matches the largest products of each guide hold."""
    n = grams.shape[0]
    shares = {}
    for name in ("SVD, 128 dimensions", "SVD, 256 dimensions", "all n-grams, sparse"):
        if name.startswith("SVD"):
            rows = guides.reduced(grams, int(name.split()[1]))
            start = time.process_time()
            found = largest_products(rows, rows, 60 * n, np.random.default_rng(0), square=True)
            keys = found.rows * n + found.columns
        else:
            start = time.process_time()
            keys = guides.largest_sparse(grams, 60 * n)
        took = time.process_time() - start
        shares[name] = [
            took,
            *(float(np.isin(matches, keys[: k * n]).mean()) for k in (10, 30, 60)),
        ]
    (folder / "guides.json").write_text(json.dumps(shares))


def measure(folder: Path, name: str, rival: str) -> dict[str, object]:
    """Run one of them on one set, in this process."""
    rows = np.load(folder / f"{name}.npy")
    n, rng = len(rows), np.random.default_rng(0)
    if rival in ALL_PAIRS:
        before, start = peak_memory(), time.process_time()
        found = largest_products(rows, rows, MOST * n, rng, square=True, exact=ALL_PAIRS[rival])
        keys = found.rows * n + found.columns
    else:
        RIVALS[rival][1](rows[:1500].copy(), MOST, 1)  # what is compiled is not counted
        before, start = peak_memory(), time.process_time()
        near = RIVALS[rival][1](rows, MOST, 1)
    out: dict[str, object] = {
        "cpu": time.process_time() - start,
        "memory": max(peak_memory() - before, 0),
    }
    if rival == "largest, tiles":
        np.save(folder / f"{name}.largest.npy", keys)
    if rival not in ALL_PAIRS:
        out["best"] = recall_of_best(rows, near)
        i, j = np.repeat(np.arange(n), near.shape[1]), near.ravel().astype(np.int64)
        keys = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[j >= 0])
    out["pairs"] = len(keys) / n
    held = np.isin(np.load(folder / f"{name}.largest.npy"), keys)
    out["largest"] = [float(held[: k * n].mean()) for k in (1, 10, 60)]
    if (folder / f"{name}.matches.npy").exists():
        out["matches"] = float(np.isin(np.load(folder / f"{name}.matches.npy"), keys).mean())
    return out


def recall_of_best(rows: np.ndarray, near: np.ndarray) -> list[float]:
    """Share of the true best 10, 30 and 60 of some rows that are among as many found."""
    some = np.random.default_rng(1).permutation(len(rows))[:ROWS]
    products = rows[some] @ rows.T
    products[np.arange(len(some)), some] = -np.inf
    true = np.argpartition(-products, MOST, axis=1)[:, :MOST]
    order = np.argsort(-np.take_along_axis(products, true, axis=1), axis=1)
    true = np.take_along_axis(true, order, axis=1)
    return [
        float(
            np.mean([np.isin(a[:k], near[i, :k]).mean() for a, i in zip(true, some, strict=True)])
        )
        for k in (10, 30, 60)
    ]


def measured(folder: Path, name: str, rival: str) -> dict:
    """Measure in a fresh process, unless it was done before."""
    kept = folder / f"{name}.{rival.replace(', ', '-')}.json"
    if not kept.exists():
        command = [sys.executable, "-m", "benchmarks.matching.candidates", "--one"]
        command += [str(folder), name, rival]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, env=one_thread
        )
        kept.write_text(done.stdout.splitlines()[-1])
    return json.loads(kept.read_text())


def no_cosines(folder: Path) -> str:
    """Recall of cells between two sides whose rows have very different lengths."""
    rows, rng = np.load(folder / "places.npy"), np.random.default_rng(0)
    rows = rows * np.exp(0.5 * rng.normal(size=(len(rows), 1))).astype(np.float32)
    left, right = rows[::2], rows[1::2]
    count = 60 * len(left)
    every, some = (
        largest_products(left, right, count, rng, square=False, exact=exact)
        for exact in (True, False)
    )
    true, found = (x.rows * len(right) + x.columns for x in (every, some))
    near, by_cells = (
        most_similar(left, right, MOST, rng, square=False, exact=exact).columns
        for exact in (True, False)
    )
    held = [np.isin(a, b).mean() for a, b in zip(near, by_cells, strict=True)]
    return (
        f"Two sides of {len(left):,} places with lengths drawn anew (log-normal, σ = 0.5), so that "
        f"products are no cosines: cells hold {np.isin(true, found).mean():.3f} of the 60n "
        f"largest, and {np.mean(held):.3f} of the best 60 of each."
    )


def lines(folder: Path, name: str, title: str) -> list[list[str]]:
    """The rows of the table for one set."""
    n, out = len(np.load(folder / f"{name}.npy", mmap_mode="r")), []
    for rival in (*ALL_PAIRS, *RIVALS):
        if rival in RIVALS and not installed(rival):
            print(f"skipped: {rival} is not installed", flush=True)
            continue
        if n > MANY and (rival == SPOKEN_FOR or (rival in RIVALS and RIVALS[rival][2])):
            continue
        m = measured(folder, name, rival)
        best = " / ".join(f"{x:.3f}" for x in m["best"]) if "best" in m else "–"
        shares = " / ".join(f"{x:.3f}" for x in m["largest"])
        matches = f"{m['matches']:.3f}" if "matches" in m else "–"
        cells = [f"{m['cpu']:.1f}", f"{m['memory'] / 1e6:.0f}", best, f"{m['pairs']:.0f}n", shares]
        out.append([title, rival, *cells, matches])
        print(*out[-1], sep=" | ", flush=True)
    return out


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="folder for what is measured")
    parser.add_argument("--one", nargs=3, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.one:
        folder, name, rival = options.one
        print(json.dumps(measure(Path(folder), name, rival)))
        return
    need_data()
    with tempfile.TemporaryDirectory() as passing:
        folder = options.keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        titles = prepare(folder, quick=options.quick)
        rows = [line for name, title in titles.items() for line in lines(folder, name, title)]
        shares = json.loads((folder / "guides.json").read_text())
        small = np.load(folder / "publications.npy")
        text = page(rows, shares, no_cosines(folder), facts(small))
    print("\n" + text)
    publish("candidates", text, quick=options.quick)


def page(rows, shares, mixed: str, libraries) -> str:
    """Everything that was measured, for readers."""
    headings = ["vectors", "way", "CPU s", "MB", "best 10 / 30 / 60 of each", "pairs"]
    headings += ["largest n / 10n / 60n", "matches"]
    of_guide = [
        (name, f"{took:.1f}", *(f"{x:.3f}" for x in found))
        for name, (took, *found) in shares.items()
    ]
    first = (
        "TF-IDF of two to four characters in 128 dimensions (SVD), unit rows; one thread. "
        "*largest*: the 60n pairs with the largest products of all; the others: the best 60 of "
        "each item. Recall of the true ones, and share of the matches (places: Jaro–Winkler above "
        "0.9; persons: made duplicates):"
    )
    second = "Share of the places' matches among the 10n, 30n, 60n largest products, exact:"
    third = (
        "The libraries as installed here. The same neighbours, to the last one, in a second run "
        "and with two threads? (Ours are: tests/candidates.)"
    )
    of_libraries = ["package", "version", "MB", "needs", "licence", "second run", "two threads"]
    tables = [
        table(headings, rows),
        table(["guide", "CPU s", "10n", "30n", "60n"], of_guide),
        table(of_libraries, libraries),
    ]
    return "\n\n".join([first, tables[0], mixed, second, tables[1], third, tables[2]])


if __name__ == "__main__":
    main()
