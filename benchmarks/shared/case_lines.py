"""Tables with a line for each case of matching: the lines, and what a caption says of the cases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept_lines import KeptLines, place_of
from benchmarks.shared.matching_cases import CASES, Case

#: Of each case.
SEEDS = range(3)
#: Cases once more with other guides.
OTHER_GUIDES = {"rte": ("none",), "sts634": ("none", "noise", "spoilt")}
#: Cases that take hours, and are not in every table.
LARGE = {
    "DBLP–ACM": "4,910 publications",
    "Febrl 3": "5,000 persons",
    "Amazon–Google": "4,589 products, each against each",
}


def lines_of_cases(
    docstring: str, name: str, row: Callable[..., list[str]]
) -> tuple[list[list[str]], bool]:
    """Read the command line, and make the lines that are not kept.

    Parameters
    ----------
    docstring : str
        Of the benchmark.
    name : str
        Of the file that keeps lines.
    row : callable
        ``row(case, quick=…)`` returns a line, its title aside.

    Returns
    -------
    lines : list
    quick : bool
        Whether they are for a look only.
    """
    parser = arguments(docstring)
    parser.add_argument("--only", nargs="+", choices=CASES, default=None)
    parser.add_argument("--lines", type=Path, default=place_of(name), help="where lines are kept")
    options = parser.parse_args()
    need_data()
    names = options.only or (["rte", "mrpc"] if options.quick else list(CASES))
    kept = KeptLines(None if options.quick else options.lines)
    for key in names:
        case = CASES[key]()
        kinds = () if options.quick else OTHER_GUIDES.get(key, ())
        for other in (case, *(case.guided(kind) for kind in kinds)):
            if (title := title_of(other)) in kept.lines:
                continue
            start = time.perf_counter()
            kept.add([title, *row(other, quick=options.quick)])
            print(*kept.lines[title], f"{time.perf_counter() - start:.0f} s", sep=" | ", flush=True)
    return list(kept.lines.values()), options.quick


def title_of(case: Case) -> str:
    """The first cell of a case's line."""
    return f"{case.name} ({len(case.truth):,})"


def sizes(titles: Iterable[str]) -> str:
    """Say how many items the cases have, and which large ones have no line."""
    every = list(titles)
    there = [name for name in LARGE if any(title.startswith(f"{name} (") for title in every)]
    text = "STS-B has 1,494 sentences, or 634, RTE 539, MRPC 405, Amazon–Google 1,363 and 3,226"
    text += " products" + "".join(f", {name} {LARGE[name]}" for name in there) + "."
    missing = [f"{name} ({size})" for name, size in LARGE.items() if name not in there]
    return f"{text} Not measured: {', '.join(missing)}." if missing else text
