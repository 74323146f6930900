"""Look for inputs that break a promise: the tests of tests/fuzz with many examples, fresh seeds.

Each round runs every test in a process of its own, so that a death or a hang is a finding too. What
was run, what was found (with Hypothesis' smallest example) and how often stated intervals held the
truth is printed; a run of all families writes docs/tables/fuzz.md.

    python -m benchmarks.reliability.fuzz [--quick] [--minutes M] [--count N]
                                          [--family F] [--seed S]

Minutes are those of the whole run, the count is that of each family; whichever ends first.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "fuzz"
# Not this file's own folder, which Python adds where the file is run by its path: what is in it
# would hide the tests' package, and a library that Numba looks for.
elsewhere = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
sys.path[:] = [str(ROOT), str(TESTS.parent), str(TESTS), *elsewhere]

import hypothesis  # noqa: E402

from benchmarks.shared.command import arguments  # noqa: E402
from benchmarks.shared.tables import publish, table  # noqa: E402

#: Examples of one process: enough that starting it costs little, few enough to end in time.
_ROUND, _QUICK_ROUND = 100, 20
#: Seconds after which a process is taken to hang.
_PATIENCE = 1200
#: Items of the largest matrices; pytest stays below.
_MOST_ITEMS = "300"


@dataclass
class Family:
    """The tests of one file, and what became of them."""

    name: str
    tests: list[str]
    examples: int = 0
    findings: list[str] = field(default_factory=list)
    held: Counter[str] = field(default_factory=Counter)


def families(only: str | None) -> list[Family]:
    """Return every file of tests, or one."""
    every = [path.stem.removeprefix("test_") for path in sorted(TESTS.glob("test_*.py"))]
    if only is not None and only not in every:
        sys.exit(f"no family {only}; there are {', '.join(every)}")
    chosen = every if only is None else [only]
    return [Family(name, tests_of(name)) for name in chosen]


def tests_of(family: str) -> list[str]:
    """Return the names of the tests that Hypothesis runs."""
    found = vars(load(family)).items()
    return [name for name, f in found if name.startswith("test_") and hasattr(f, "hypothesis")]


def load(family: str) -> Any:
    """Import the tests of a family."""
    return importlib.import_module(f"fuzz.test_{family}")


# ---------------------------------------------------------------------- in a process of its own


def run_here(family: str, test: str, seed: int, examples: int, last: Path) -> dict[str, Any]:
    """Run one test; count the examples before anything fails, and write down the last one."""
    function = getattr(load(family), test)
    hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )(function)
    hypothesis.seed(seed)(function)
    count = _counted(function, last)
    findings = []
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
        findings = [_described(e) for e in _each(error)]
    # Kept by the tests of `approximate`.
    held = getattr(sys.modules.get("promises"), "HELD", Counter())
    return {
        "examples": count["examples"],
        "findings": findings,
        "held": {"\t".join(key): times for key, times in held.items()},
    }


def _counted(function: Callable[..., Any], last: Path) -> Counter[str]:
    inner = function.hypothesis.inner_test  # type: ignore[attr-defined]
    count: Counter[str] = Counter()

    @functools.wraps(inner)
    def counting(*args: Any, **kwargs: Any) -> None:
        last.write_text(f"{args or ''}{kwargs}"[:10_000], encoding="utf-8")
        try:
            inner(*args, **kwargs)
        except (hypothesis.errors.UnsatisfiedAssumption, hypothesis.errors.StopTest):
            raise  # Hypothesis' own way to give an example up
        except BaseException:
            # Whatever follows is the search for a smaller example.
            count["examples"] += not count["failed"]
            count["failed"] = 1
            raise
        count["examples"] += not count["failed"]

    function.hypothesis.inner_test = counting  # type: ignore[attr-defined]
    return count


def _each(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _each(one)
    else:
        yield error


def _described(error: BaseException) -> str:
    notes = "\n".join(getattr(error, "__notes__", []))
    return f"{type(error).__name__}: {str(error)[:1000]}\n{notes[:4000]}"


# ---------------------------------------------------------------------- all of them


def run_apart(family: str, test: str, seed: int, examples: int) -> dict[str, Any]:
    """Run one test in a process of its own, whose death is a finding."""
    with tempfile.TemporaryDirectory() as folder:
        last = Path(folder) / "last"
        command = [sys.executable, str(Path(__file__).resolve()), "--one", family, test]
        command += [str(seed), str(examples), str(last)]
        environment = {"FEWPAIRS_FUZZ_ITEMS": _MOST_ITEMS, **os.environ}
        try:
            done = subprocess.run(  # noqa: S603 - this very file
                command,
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            ended = f"no end after {_PATIENCE} seconds"
        else:
            if done.returncode == 0:
                return dict(json.loads(done.stdout.splitlines()[-1]))
            ended = f"the process ended with {done.returncode}: {done.stderr[-1500:]}"
        example = last.read_text(encoding="utf-8") if last.exists() else "none"
    return {"examples": 0, "findings": [f"{ended}\nlast example: {example}"], "held": {}}


def search(chosen: list[Family], seed: int, seconds: float, count: int, size: int) -> None:
    """Run rounds until the time or the count is used up; a test that fails is not run again."""
    end = time.monotonic() + seconds
    left = {(family.name, test) for family in chosen for test in family.tests}
    for turn in range(sys.maxsize):
        for family in chosen:
            share = -(-count // len(family.tests))  # so that no test of a family is left out
            for test in family.tests:
                examples = min(size, share, count - family.examples)
                if (family.name, test) not in left or examples <= 0:
                    continue
                if time.monotonic() > end:
                    return
                outcome = run_apart(family.name, test, seed + turn, examples)
                family.examples += outcome["examples"]
                family.held.update(outcome["held"])
                family.findings += [f"{test}, seed {seed + turn}: {f}" for f in outcome["findings"]]
                if outcome["findings"] or not outcome["examples"]:
                    left.discard((family.name, test))
                print(
                    f"{family.name} | {test} | seed {seed + turn} | {outcome['examples']} examples",
                    *outcome["findings"],
                    sep="\n    ",
                    flush=True,
                )
        if not any((f.name, t) in left and f.examples < count for f in chosen for t in f.tests):
            return


def report(chosen: list[Family], seed: int) -> str:
    """Write what was run, what was found, and how often intervals held."""
    rows = [[f.name, len(f.tests), f"{f.examples:,}", len(f.findings)] for f in chosen]
    text = f"Seeds from {seed} on.\n\n"
    text += table(["family", "tests", "examples run", "findings"], rows) + "\n"
    broken = importlib.import_module("limits").BROKEN
    if broken:
        text += "\nKnown to be broken, and not asked for:\n\n"
        text += "".join(f"- {promise}\n" for promise in sorted(broken))
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


def options() -> argparse.Namespace:
    parser = arguments(__doc__ or "")
    parser.add_argument("--minutes", type=float, help="of the whole run (10 unless told)")
    parser.add_argument("--count", type=int, help="examples of each family")
    parser.add_argument("--family", help="one file of tests/fuzz, without test_")
    parser.add_argument("--seed", type=int, help="of the first round; fresh unless told")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    told = options()
    if told.one:
        family, test, seed, examples, last = told.one
        print(json.dumps(run_here(family, test, int(seed), int(examples), Path(last))))
        return
    chosen = families(told.family)
    seed = secrets.randbelow(10**6) if told.seed is None else told.seed
    count = told.count or (_QUICK_ROUND if told.quick else sys.maxsize)
    minutes = told.minutes or (10 if told.count is None else sys.maxsize)
    search(chosen, seed, 60.0 * minutes, count, _QUICK_ROUND if told.quick else _ROUND)
    text = report(chosen, seed)
    print("\n" + text)
    publish("fuzz", text, quick=told.quick or told.family is not None)
    if any(family.findings for family in chosen):
        sys.exit(1)


if __name__ == "__main__":
    main()
