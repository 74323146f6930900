"""Look for inputs that break a promise: the tests of tests/fuzz with many examples, fresh seeds.

Each round runs every test in a process of its own, so that a death or a hang is a finding too. What
was run, what was found (with Hypothesis' smallest example) and how often stated intervals held the
truth is printed; a run of all families writes docs/tables/fuzz.md. Takes as many minutes as it is
told, ten by default.

    python -m benchmarks.reliability.fuzz [--quick] [--minutes M] [--count N [FAMILY=N …]]
                                          [--family F …] [--seed S] [--join FILE]

Minutes are those of the whole run, a count is that of a family; whichever ends first. With --join,
what was run is kept in a file, and families that are not run now are taken from it: after a mend
one family can be run anew, and the table is still written from what the command has counted.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Not this file's own folder, which Python adds where the file is run by its path: what is in it
# would hide a library that Numba looks for.
elsewhere = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
sys.path[:] = [str(Path(__file__).resolve().parents[2]), *elsewhere]

from benchmarks.shared import fuzz_process  # noqa: E402
from benchmarks.shared.command import arguments  # noqa: E402
from benchmarks.shared.tables import publish, table  # noqa: E402

#: Examples of one process: few at first, so that each test has its turn; then twice as many as long
#: as all tests of a family take less than so many seconds, so that starting them costs little.
_ROUND, _LARGEST_ROUND, _QUICK_ROUND, _SHORT = 100, 10_000, 20, 60.0


@dataclass
class Family:
    """The tests of one file, and what became of them: examples that were run, by test."""

    name: str
    seed: int
    examples: dict[str, int]
    findings: list[str] = field(default_factory=list)
    held: Counter[str] = field(default_factory=Counter)
    ended: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Examples of all tests."""
        return sum(self.examples.values())

    def wanted(self, test: str, counts: Mapping[str, int]) -> int:
        """Return how many examples a test still has to run: all that go on run as many."""
        if test in self.ended:
            return 0
        others = sum(self.examples[name] for name in self.ended)
        share = -(-(counts[self.name] - others) // (len(self.examples) - len(self.ended)))
        return max(0, min(share - self.examples[test], counts[self.name] - self.total))


def names() -> list[str]:
    """Return every file of tests."""
    return [path.stem.removeprefix("test_") for path in sorted(fuzz_process.TESTS.glob("test_*"))]


def search(
    chosen: list[Family], seconds: float, counts: Mapping[str, int], *, quick: bool, keep: Any
) -> None:
    """Run rounds until the time or the count is used up; a test that fails is not run again."""
    end = time.monotonic() + seconds
    sizes = dict.fromkeys(counts, _QUICK_ROUND if quick else _ROUND)
    for turn in range(sys.maxsize):
        planned = [(f, test) for f in chosen for test in f.examples if f.wanted(test, counts)]
        if not planned:
            return
        longest = dict.fromkeys(counts, 0.0)
        for family, test in planned:
            start = time.monotonic()
            if start > end:
                return
            seed = family.seed + turn
            wanted = min(sizes[family.name], family.wanted(test, counts))
            if not wanted:  # the others have run what was left
                continue
            outcome = fuzz_process.run_apart(family.name, test, seed, wanted)
            longest[family.name] = max(longest[family.name], time.monotonic() - start)
            family.examples[test] += outcome["examples"]
            family.held.update(outcome["held"])
            family.findings += [f"{test}, seed {seed}: {f}" for f in outcome["findings"]]
            # One that ran fewer has no more: Hypothesis has tried them all.
            if outcome["findings"] or outcome["examples"] < wanted:
                family.ended.append(test)
            keep()
            print(
                f"{family.name} | {test} | seed {seed} | {outcome['examples']} examples",
                *outcome["findings"],
                sep="\n    ",
                flush=True,
            )
        for name, taken in longest.items():
            if 0 < taken < _SHORT and not quick:
                sizes[name] = min(2 * sizes[name], _LARGEST_ROUND)


def report(chosen: list[Family]) -> str:
    """Write what was run, what was found, and how often intervals held."""
    rows: list[list[Any]] = []
    for family in chosen:
        for test, examples in family.examples.items():
            found = sum(finding.startswith(f"{test},") for finding in family.findings)
            promise = test.removeprefix("test_").replace("_", " ")
            rows.append([family.name, promise, family.seed, f"{examples:,}", found])
        rows.append([f"**{family.name}**", "", "", f"**{family.total:,}**", len(family.findings)])
    text = table(["family", "promise", "first seed", "examples run", "findings"], rows) + "\n"
    broken = fuzz_process.known_to_be_broken()
    if broken:
        text += "\nKnown to be broken, and not asked for:\n\n"
        text += "".join(f"- {promise}\n" for promise in broken)
    for family in chosen:
        for finding in family.findings:
            text += f"\n{family.name}: " + finding.replace("\n", "\n    ") + "\n"
    held = sum((family.held for family in chosen), Counter())
    if held:
        kinds = sorted({key.split("\t")[0] for key in held})
        places = ("held", "below", "above")
        rows = [[kind, *(held[f"{kind}\t{place}"] for place in places)] for kind in kinds]
        text += (
            "\nStated 95 % intervals against the truth; sizes, budgets and seeds are those that "
            "Hypothesis thinks of, small and extreme ones among them.\n\n"
            + table(["matrix", "held it", "truth was below", "truth was above"], rows)
            + "\n"
        )
    return text


def stored(path: Path | None) -> dict[str, Family]:
    """Read what earlier runs have kept."""
    if path is None or not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {name: Family(**{**f, "held": Counter(f["held"])}) for name, f in found.items()}


def options() -> argparse.Namespace:
    parser = arguments(__doc__ or "")
    parser.add_argument("--minutes", type=float, help="of the whole run (10 unless told)")
    parser.add_argument("--count", nargs="+", help="examples of each family, or FAMILY=N for one")
    parser.add_argument("--family", nargs="+", help="files of tests/fuzz, without test_")
    parser.add_argument("--seed", type=int, help="of the first round; fresh unless told")
    parser.add_argument("--join", type=Path, help="file in which what was run is kept")
    return parser.parse_args()


def counts_of(told: list[str] | None, otherwise: int) -> dict[str, int]:
    """Return how many examples each family runs: ["1000", "files=9"] means 9 for files."""
    given = [part.rpartition("=") for part in told or []]
    plain = [int(number) for name, _, number in given if not name]
    of_one = {name: int(number) for name, _, number in given if name}
    check_names(of_one)
    return {name: of_one.get(name, plain[-1] if plain else otherwise) for name in names()}


def check_names(told: Any) -> None:
    unknown = sorted(set(told) - set(names()))
    if unknown:
        sys.exit(f"no family {', '.join(unknown)}; there are {', '.join(names())}")


def main() -> None:
    told = options()
    check_names(told.family or [])
    seed = secrets.randbelow(10**6) if told.seed is None else told.seed
    counts = counts_of(told.count, _QUICK_ROUND if told.quick else sys.maxsize)
    minutes = told.minutes or (10 if told.count is None else sys.maxsize)
    chosen = [
        Family(name, seed, dict.fromkeys(fuzz_process.tests_of(name), 0))
        for name in told.family or names()
    ]
    known = stored(told.join) | {family.name: family for family in chosen}

    def keep() -> None:
        if told.join is not None:
            everything = {name: vars(family) for name, family in known.items()}
            told.join.write_text(json.dumps(everything, indent=1), encoding="utf-8")

    search(chosen, 60.0 * minutes, counts, quick=told.quick, keep=keep)
    every = [known[name] for name in names() if name in known]
    text = report(every)
    print("\n" + text)
    publish("fuzz", text, quick=told.quick or len(every) < len(names()))
    if any(family.findings for family in chosen):
        sys.exit(1)


if __name__ == "__main__":
    main()
