"""One test of tests/fuzz with many examples, in a process whose death is a finding too.

python -m benchmarks.shared.fuzz_process FAMILY TEST SEED EXAMPLES LAST
"""

from __future__ import annotations

import functools
import importlib
import json
import mmap
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "fuzz"
#: Seconds after which a process is taken to hang.
_PATIENCE = 1200
#: Items of the largest matrices; pytest stays below.
_MOST_ITEMS = "300"
#: Bytes of an example that are written down.
_TOLD = 10_000


def load(family: str) -> Any:
    """Import the tests of a family."""
    for folder in (TESTS, TESTS.parent):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return importlib.import_module(f"fuzz.test_{family}")


def tests_of(family: str) -> list[str]:
    """Return the names of the tests that Hypothesis runs."""
    found = vars(load(family)).items()
    return [name for name, f in found if name.startswith("test_") and hasattr(f, "hypothesis")]


def known_to_be_broken() -> list[str]:
    """Return the promises that the tests do not ask for."""
    load("approximate")
    return sorted(importlib.import_module("limits").BROKEN)


def run_apart(family: str, test: str, seed: int, examples: int) -> dict[str, Any]:
    """Run one test in a process of its own, whose death is a finding."""
    with tempfile.TemporaryDirectory() as folder:
        last = Path(folder) / "last"
        command = [sys.executable, "-m", "benchmarks.shared.fuzz_process", family, test]
        command += [str(seed), str(examples), str(last)]
        environment = {"FEWPAIRS_FUZZ_ITEMS": _MOST_ITEMS, **os.environ}
        try:
            done = subprocess.run(  # noqa: S603 - this very file
                command,
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                cwd=ROOT,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            ended = f"no end after {_PATIENCE} seconds"
        else:
            if done.returncode == 0:
                return dict(json.loads(done.stdout.splitlines()[-1]))
            ended = f"the process ended with {done.returncode}: {done.stderr[-1500:]}"
        example = last.read_text(encoding="utf-8", errors="replace") if last.exists() else "none"
    example = example.strip() or "none"
    return {"examples": 0, "findings": [f"{ended}\nlast example: {example}"], "held": {}}


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
    # In shared memory: it outlives the process, and opening a file for each example took longer
    # than most examples.
    last.write_bytes(b" " * _TOLD)
    with last.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), _TOLD)

    @functools.wraps(inner)
    def counting(*args: Any, **kwargs: Any) -> None:
        told = f"{args or ''}{kwargs}".encode(errors="replace")[:_TOLD]
        memory[:] = told.ljust(_TOLD)
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


if __name__ == "__main__":
    name, test_name, seed_text, count_text, last_text = sys.argv[1:]
    print(json.dumps(run_here(name, test_name, int(seed_text), int(count_text), Path(last_text))))
