"""Kill runs with SIGKILL at random moments, and see what the journal has kept.

A run of `approximate` with a journal is started in a process of its own, killed at a random moment,
and started again, until it ends by itself; then the next one. Every evaluation is logged by the
process that makes it, before and after. No pair that was answered may ever be asked for again, but
for the last of each thread, whose answer may not have been handed over when the kill came; and the
matrix in the end must be that of an undisturbed run, to the last bit. Writes docs/tables/kills.md.
Takes about twenty minutes on one core.

    python -m benchmarks.reliability.kills [--quick] [--kills N] [--seed S]
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table
from fewpairs.oracle.journal import writer

WORDS = [f"{a}{b}{k * k}" for k in range(20) for a in ("ape", "bee", "cat") for b in ("", "s")]
#: A run takes a second or two, so that many can be killed, and blocks are written often.
_EVALUATION, _BLOCKS = 0.0005, 0.02
#: Kills that one run gets, at most, and when they come, in seconds after its first evaluation.
_EACH, _EARLIEST, _LATEST = 8, 0.0, 0.4


@dataclass
class Case:
    """One way to evaluate, and what became of its runs."""

    name: str
    kind: str
    n_jobs: int = 1
    kills: int = 0
    runs: int = 0
    needed: int = 0
    asked: int = 0
    again: int = 0
    different: int = 0


def alike(a: str, b: str) -> float:
    """Compare two texts, character by character."""
    return sum(x == y for x, y in zip(a, b, strict=False)) / max(len(a), len(b))


def run(case: Case, folder: Path, begin: int) -> None:
    """Carry one run out, logging each pair before it is evaluated; write the matrix in the end."""
    writer._SOONEST = writer._LATEST = _BLOCKS  # noqa: SLF001 - the only way to see many blocks in a short run
    begun: list[int] = []
    asked, done = (
        os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for name in ("asked", "answered")
    )

    def pairs(these: list[tuple[str, str]]) -> list[float]:
        if not begun:
            begun.append(os.write(begin, b"!"))
        names = [f"{a} {b}" for a, b in these]
        os.write(asked, "".join(f"{name}\n" for name in names).encode())
        time.sleep(_EVALUATION * len(these))
        os.write(done, ("|".join(names) + "\n").encode())
        return [alike(a, b) for a, b in these]

    functions = {
        "pair": lambda a, b: pairs([(a, b)])[0],
        "pairs": pairs,
        "block": lambda left, right: np.reshape(
            pairs([(a, b) for a in left for b in right]), (len(left), len(right))
        ),
    }
    similarity = fp.similarity(
        functions[case.kind],
        kind=case.kind,
        symmetric=True,
        name="alike",
        version="1",
        block_size=16,
    )
    matrix = fp.approximate(
        WORDS,
        similarity,
        landmarks=12,
        random_state=0,
        journal=fp.Journal(folder / "journal", check=0),
        n_jobs=case.n_jobs,
    )
    (folder / "part").write_bytes(matrix.to_dense().tobytes())
    (folder / "part").rename(folder / "matrix")


def started(case: Case, folder: Path) -> int:
    """Start a run in a process of its own, and return its number."""
    begun, begin = os.pipe()
    child = os.fork()
    if not child:
        try:
            run(case, folder, begin)
        finally:
            os._exit(0)
    os.close(begin)
    os.read(begun, 1)  # until the first evaluation
    os.close(begun)
    return child


def answered(folder: Path, n_jobs: int) -> set[str]:
    """Return the pairs that were answered, but for the last call of each thread."""
    log = folder / "answered"
    calls = log.read_text().splitlines() if log.exists() else []
    return {pair for call in calls[: max(0, len(calls) - n_jobs)] for pair in call.split("|")}


def killed_until_done(case: Case, calm: bytes, chance: random.Random, folder: Path) -> None:
    """Kill one run again and again until it ends, and note what was repeated."""
    complete: set[str] = set()
    read = kills = 0
    while not (folder / "matrix").exists():
        child = started(case, folder)
        if kills < _EACH:
            time.sleep(chance.uniform(_EARLIEST, _LATEST))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += os.WIFSIGNALED(status)
        lines = (folder / "asked").read_text().splitlines()
        case.again += sum(line in complete for line in lines[read:])
        read, complete = len(lines), answered(folder, case.n_jobs)
    case.kills, case.runs, case.asked = case.kills + kills, case.runs + 1, case.asked + read
    case.different += (folder / "matrix").read_bytes() != calm


def measure(case: Case, kills: int, chance: random.Random) -> None:
    """Kill runs of one case until so many kills have come."""
    room = Path(tempfile.mkdtemp(prefix="fewpairs-kills-"))
    try:
        (room / "calm").mkdir()
        os.waitpid(started(case, room / "calm"), 0)
        calm = (room / "calm" / "matrix").read_bytes()
        case.needed = len((room / "calm" / "asked").read_text().splitlines())
        while case.kills < kills:
            folder = room / f"{case.runs}"
            folder.mkdir()
            killed_until_done(case, calm, chance, folder)
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(room)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=120, help="kills in all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = [
        Case("pair by pair", "pair"),
        Case("lists of pairs", "pairs"),
        Case("blocks", "block"),
        Case("pair by pair, two threads", "pair", n_jobs=2),
    ]
    each = -(-(12 if options.quick else options.kills) // len(cases))
    chance = random.Random(options.seed)  # noqa: S311 - of kills
    fp.approximate(WORDS, fp.StringSimilarity(), landmarks=12, random_state=0)  # all is loaded
    rows = []
    for case in cases:
        measure(case, each, chance)
        rows.append(
            [
                case.name,
                case.kills,
                case.runs,
                f"{case.needed:,}",
                f"{case.asked - case.runs * case.needed:,}",
                case.again,
                case.different,
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    total = [sum(row[k] for row in rows) for k in (1, 2)]
    headings = [
        "evaluated",
        "kills",
        "runs",
        "evaluations of an undisturbed run",
        "asked for again, in all runs",
        "of these, answered before the last call of each thread",
        "other matrices in the end",
    ]
    text = table(headings, rows) + (
        f"\n\n{total[0]} kills (SIGKILL, at a random moment up to {_LATEST} s after the first "
        f"evaluation) of {total[1]} runs, seed {options.seed}. An evaluation takes "
        f"{_EVALUATION * 1e3:g} ms, a call for a list or a block up to 16 of them, and a block of "
        f"the journal is written every {_BLOCKS * 1e3:g} ms. What is asked for again was under "
        "way: at most one call of each thread for every kill.\n"
    )
    print(text)
    publish("kills", text, quick=options.quick)


if __name__ == "__main__":
    main()
