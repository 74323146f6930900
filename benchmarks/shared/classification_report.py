"""The page of wmd_classification.py, in the papers' layouts."""

from __future__ import annotations

import re
import sys

import numpy as np

from benchmarks.shared.document_features import METHODS, RANDOM
from benchmarks.shared.earlier import MARK, NONE, Earlier
from benchmarks.shared.kept import Kept
from benchmarks.shared.papers import PRINTED, SECONDS
from benchmarks.shared.tables import table
from benchmarks.shared.tasks import ALL_SETS

ALL_PAIRS = ("Optimal", "exact kernel")
#: Test documents by which the price of kNN-WMD is told where it was not run.
PRICED = 60
#: Sizes that may have been run, and which rank of the papers each stands beside.
SIZES = {256: "small", 512: "small", 1024: "large", 2048: "large"}
TITLES = (*RANDOM, *METHODS, *ALL_PAIRS)
TEXT = """\
All documents of each set, but for those whose number stands in the heading ({documents}). SMART
stop words left out, 100-dimensional vectors derived from GloVe (the papers: 300 dimensions, Google
News); 20NEWS without headers, quotations and signatures, but for the column that says so. Published
splits where there are some (OHSUMED, 20NEWS, R8), else random ones of 70/30, mean ± standard
deviation of five, or one of them; 1,500 training documents are in all five, so that ± is less than
that of independent ones. A linear SVM on centred features; γ and C are chosen on training
documents alone, for every method at the size in the table. Landmarks are the same for all methods
and splits. The exact kernel is a support vector machine's, of pairs of classes or of each against
the rest, whichever does better in validation.
"Length one": words scaled to that length, as in the code of the WME paper's authors,
and up to 12 of them in a random document in place of 6.

## Accuracy: Table 2 of the SMS paper

Per cent of the test documents; in brackets what the papers print, for "small rank" (at most 550)
beside {small}, for "large rank" (up to 4,096) beside {large}. "–": not run; all pairs would take
{hours} hours of one core.

{accuracy}

## Time and speed-up: Table 2 of the WME paper, Table 6 of the SMS paper

Processor seconds of one core for the distances of all documents, and for the methods' own
arithmetic; in brackets the paper's seconds on 12 threads. kNN-WMD is exact, by pruned search; its
time is for the neighbours of the test documents. The speed-up is kNN-WMD over WME. Distances were
timed when they were computed, at different hours of a machine with other work: ratios are
rough.{price}

{times}

## What was chosen

γ; for WME γ times the spread of distances to a random document, and the longest random document;
then C of the last split.

{chosen}

## Validation accuracy against γ: Figure 7 of the SMS paper

Per cent right in three folds of {always} training documents, at {first} columns.

{validation}
"""


def part_of(name: str, size: int, title: str) -> str:
    """What the results of a method are kept under; the kernel itself has no size."""
    return f"{name}|{title}" if title == "exact kernel" else f"{name}|{size}|{title}"


def mean(kept: Kept, part: str, what: str = "test") -> tuple[float, float, int] | None:
    """Mean, standard deviation and number of the splits that were run."""
    values = [kept[f"{part}|{s}"][what] for s in range(20) if f"{part}|{s}" in kept]
    return (float(np.mean(values)), float(np.std(values)), len(values)) if values else None


def spread(found: tuple[float, float, int] | None) -> str:
    if found is None:
        return "–"
    return f"{found[0]:.1f} ± {found[1]:.1f}" if found[2] > 1 else f"{found[0]:.1f}"


def written(kept: Kept, earlier: Earlier | None = None) -> str:
    """The whole page, of what there is, with columns for the sets of an earlier page."""
    before = earlier.page if earlier else ""
    made = {name: label_of(kept, name) for name in ALL_SETS}
    # Sets of an earlier run keep their columns.
    names = [label or name for name, label in made.items() if label or f"| {name} |" in before]
    if not any(made.values()):
        sys.exit("nothing is kept that this code has made: run it without --print")
    sizes = [
        size
        for size in (64, *SIZES)
        if any(f"{n}|{size}|{t}|0" in kept for n in names for t in ("WME", "SMS-Nyström"))
        or f"| WME | {size} |" in before
    ]
    first = min((s for s in sizes if s >= 512), default=max(sizes))
    facts = {name: kept[f"{name}|facts"] for name in names if f"{name}|facts" in kept}
    # Seconds of a row are of one run: where it lacks some that are there, all of them stay.
    timed = [n for n in names if is_timed(kept, n, first, before)]
    hours = {
        n: f[3] * f[0] * (f[0] - 1) / 2 / 3600 for n, f in facts.items() if f[3] and n in timed
    }
    accuracy = [["kNN-WMD", ""]]
    for name in names:
        found = mean(kept, f"{name}|kNN-WMD")
        accuracy[0].append(with_paper(spread(found), PRINTED.get((set_of(name), "–", "kNN-WMD"))))
    for size in sizes:
        for title in TITLES:
            rank = "–" if title == "exact kernel" else SIZES.get(size, "")
            cells = [
                with_paper(
                    spread(mean(kept, part_of(n, size, title))),
                    PRINTED.get((set_of(n), rank, title)),
                )
                for n in names
            ]
            again = title == "exact kernel" and size != sizes[0]
            if not again and any(not cell.startswith("–") for cell in cells):
                accuracy.append([title, "" if title == "exact kernel" else size, *cells])
    return TEXT.format(
        documents=", ".join(
            f"{n} {facts[n][0]:,}: {facts[n][1]:,} for training"
            if n in facts
            else next(iter(re.findall(rf"\b{n} [\d,]+: [\d,]+ for training", before)), n)
            for n in names
        ),
        small=" and ".join(str(s) for s in sizes if SIZES.get(s) != "large") or "nothing",
        large=" and ".join(f"{s:,}" for s in sizes if SIZES.get(s) == "large") or "nothing",
        hours=", ".join(
            f"{n} {hours[n]:.1f}" if n in hours else found
            for n in names
            if n in hours or (earlier and (found := hours_before(earlier, n)))
        ),
        accuracy=table(["method", "columns", *names], accuracy),
        times=table(
            ["data", "words", "µs a distance", "kNN-WMD", f"WME, {first}", f"SMS, {first}",
             f"fitted, {first}", "speed-up"],
            [
                time_row(kept, name, first) if name in timed else [name, *["–"] * 7]
                for name in names
            ],
        ),
        price=priced(kept, names),
        chosen=table(["method", *names], chosen_rows(kept, names, first)),
        validation=table(["method", "γ", *names], validation_rows(kept, names, first)),
        always="1,500", first=first,
    )  # fmt: skip


def priced(kept: Kept, names: list[str]) -> str:
    """What kNN-WMD would take where it was not run, if that was looked at."""
    prices = [
        f"{name} {kept[part] / 60:.1f}"
        for name in names
        if (part := f"{name}|price of kNN-WMD") in kept and f"{name}|kNN-WMD|0" not in kept
    ]
    if not prices:
        return ""
    told = ", ".join(prices)
    return f" By {PRICED} of the test documents kNN-WMD would take {told} minutes of one core."


def hours_before(earlier: Earlier, name: str) -> str:
    """What an earlier page says of the hours of a set, with its mark."""
    page = earlier.page.partition("all pairs would take")[2].partition("hours of one core")[0]
    found = re.search(rf"\b({name} \d+\.\d)({MARK}?)(?=,| |$)", page)
    return found[1] + (found[2] or earlier.mark) if found else ""


def label_of(kept: Kept, name: str) -> str | None:
    """The name of a set that was run whole, or with how many of its documents it was."""
    labels = [name, *(f"{name}, {most}" for most in (3000, 1500, 600))]
    return next((label for label in labels if f"{label}|facts" in kept), None)


def set_of(label: str) -> str:
    """The name that a set has in the papers."""
    return label.split(",", maxsplit=1)[0].removesuffix(" with headers")


def with_paper(ours: str, paper: str | None) -> str:
    return f"{ours} ({paper})" if paper else ours


def is_timed(kept: Kept, name: str, size: int, before: str) -> bool:
    """Whether this run has every time that the earlier page has."""
    lines = before.partition("## Time and speed-up")[2].splitlines()
    line = next((line for line in lines if line.startswith(f"| {name} |")), "")
    there = [not cell.strip().startswith(NONE) for cell in line.split("|")[1:-1]]
    mine = [not cell.startswith(NONE) for cell in time_row(kept, name, size)]
    return all(new or not old for old, new in zip(there, mine, strict=False))


def time_row(kept: Kept, name: str, size: int) -> list[str]:
    """Seconds of the methods that the papers time."""
    if f"{name}|facts" in kept:
        _, _, words, each = kept[f"{name}|facts"]
        cells = [name, f"{words:.0f}", f"{1e6 * each:.1f}" if each else "–"]
    else:
        cells = [name, "–", "–"]
    near = mean(kept, f"{name}|kNN-WMD", "distances")
    cells.append(with_paper(f"{near[0]:.0f}" if near else "–", SECONDS[set_of(name), "kNN-WMD"]))
    wme = None
    for title in ("WME", "SMS-Nyström", "fitted"):
        distances = mean(kept, f"{name}|{size}|{title}", "distances")
        own = mean(kept, f"{name}|{size}|{title}", "arithmetic")
        cell = f"{distances[0]:.0f} + {own[0]:.0f}" if distances and own else "–"
        if title == "WME":
            wme, cell = distances, with_paper(cell, SECONDS[set_of(name), "small"])
        cells.append(cell)
    ratio = f"{near[0] / wme[0]:.1f}" if near and wme else "–"
    return [*cells, with_paper(ratio, SECONDS[set_of(name), "speedup"])]


def chosen_rows(kept: Kept, names: list[str], size: int) -> list[list[str]]:
    rows = []
    for title in TITLES:
        row = [title]
        for name in names:
            part = part_of(name, size, title)
            runs = [k for s in range(20) if (k := f"{part}|{s}") in kept]
            if not runs:
                row.append("–")
                continue
            last = kept[runs[-1]]
            words = f", D = {last['D']}" if title in RANDOM else ""
            cost = f"; {last['cost']:g}" if last["cost"] else ""
            row.append(f"{last['gamma']:g}{words}{cost}")
        rows.append(row)
    return rows


def validation_rows(kept: Kept, names: list[str], size: int) -> list[list[str]]:
    rows = []
    for title in (*RANDOM, *METHODS):
        made = {n: kept[p][2] for n in names if (p := f"{n}|{size}|{title}|choice") in kept}
        for tried in dict.fromkeys(key for found in made.values() for key in found):
            gamma, words = tried.split()
            shown = f"{gamma}, D = {words}" if title in RANDOM else gamma
            cells = [f"{made[n][tried]:.1f}" if tried in made.get(n, {}) else "–" for n in names]
            rows.append([title, shown, *cells])
    return rows
