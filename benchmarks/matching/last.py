"""Which matches of DBLP–ACM are found last, and what the guides say of them.

The matches that `find_pairs` reaches last, by the texts that they pair: how often these stand in
the table, where their pairs come in the order of each guide, and where in that of the search. And
the same publications with each text once: how many pairs are evaluated until the true recall is
0.9, 0.95 and 0.99. Writes docs/tables/finding-last.md. Takes about five minutes on one core.

    python -m benchmarks.matching.last [--quick]
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.shared import matching_runs
from benchmarks.shared.case_lines import SEEDS
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matching_cases import CASES, Case
from benchmarks.shared.matching_orders import RECALLS, Pairs, guides_of
from benchmarks.shared.tables import publish, table

#: Share of all matches that are looked at: the last ones.
LAST = 0.02
GUIDES = ("runs of characters", "characters", "words", "lengths")


class Noted(matching_runs.Watched):
    """A run that notes by when the search had reached each match."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.reached: dict[int, int] = {}

    def _is_settled(self, search: Any, steering: Any) -> bool:
        for key in search.labels.matches():
            self.reached.setdefault(int(key), len(search.labels))
        return super()._is_settled(search, steering)


def each_once(case: Case) -> Case:
    """The same with every text once."""
    first = {text: k for k, text in reversed(list(enumerate(case.items)))}
    kept = sorted(first.values())
    return replace(
        case,
        name=f"{case.name}, each text once",
        items=[case.items[k] for k in kept],
        matrix=case.values[np.ix_(kept, kept)],
    )


def shares(case: Case, looks: list[np.ndarray], seeds: range) -> tuple[list[str], Noted]:
    """A line of the first table, and the run of the first seed."""
    pairs = Pairs(case)
    alone = min((pairs.until(look) for look in looks), key=lambda until: until[1])
    runs = [matching_runs.searched(case, seed, RECALLS, Noted) for seed in seeds]
    mine = np.mean([until for _, until in runs], axis=0)
    written = [
        " / ".join(f"{x * case.pairs:,.0f}" for x in until) for until in (np.array(alone), mine)
    ]
    ratio = " / ".join(f"{x:.2f}" for x in mine / np.array(alone))
    size = [f"{len(case.items):,}", f"{len(case.truth):,}"]
    return [case.name, *size, *written, ratio], runs[0][0]


def last_ones(case: Case, run: Noted, looks: list[np.ndarray]) -> list[list[str]]:
    """The matches that were reached last, by the texts that they pair."""
    n, texts, never = len(case.items), case.items, case.pairs
    by_time = sorted(case.truth.tolist(), key=lambda key: run.reached.get(key, never))
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key in by_time[-round(LAST * len(by_time)) :]:
        one, other = sorted((texts[key // n], texts[key % n]))
        groups[one, other].append(key)
    above = np.triu(np.ones((n, n), dtype=bool), 1)
    ordered = [np.sort(look[above]) for look in looks]
    rows = []
    for (one, other), keys in groups.items():
        i, j = keys[0] // n, keys[0] % n
        places = [
            f"{len(scores) - np.searchsorted(scores, look[i, j]):,}"
            for scores, look in zip(ordered, looks, strict=True)
        ]
        times = sorted({run.reached.get(key, never) for key in keys})
        when = "later" if times[-1] == never else f"{times[-1]:,}"
        titles = " · ".join(text if len(text) <= 60 else f"{text[:57]}…" for text in (one, other))
        rows.append([titles, f"{len(keys)}", f"{case.values[i, j]:.3f}", *places, when])
    return rows


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    case = CASES["dblp"]()
    if options.quick:
        kept = range(800)
        case = replace(case, items=case.items[:800], matrix=case.values[np.ix_(kept, kept)])
    seeds = SEEDS[:1] if options.quick else SEEDS
    lines, rows = [], []
    for one in (case, each_once(case)):
        looks = guides_of(one)
        line, run = shares(one, looks, seeds)
        lines.append(line)
        print(*line, sep=" | ", flush=True)
        rows = rows or last_ones(one, run, looks)
    heads = ("case", "items", "matches", "best guide alone", "`find_pairs`", "ratio")
    found = ("texts", "matches", "similarity", *GUIDES, "reached by")
    text = (
        f"Pairs until the true recall is {' / '.join(f'{x:g}' for x in RECALLS)}, by the best "
        f"guide alone and by `find_pairs` (means of {len(SEEDS)} seeds, blind pairs not counted), "
        f"and with each text once.\n\n{table(heads, lines)}\n\nThe last {100 * LAST:g} % of the "
        "matches of DBLP–ACM that the search reaches (one seed), by the texts that they pair; "
        f"their place among all {case.pairs:,} pairs by each guide alone, and by how many pairs "
        f"the search had reached all of them.\n\n{table(found, rows)}\n"
    )
    print("\n" + text)
    publish("finding-last", text, quick=options.quick)


if __name__ == "__main__":
    main()
