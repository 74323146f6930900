"""What a journal costs: time per evaluation, bytes per value, opening and verifying a large one.

Similarities of three prices are evaluated with and without a journal, in turns; values are written
and found again by the journal, by joblib.Memory (one call for each pair) and by SQLite (a table
with both keys as its primary key, a transaction for each request, WAL); a journal of 10⁷ values is
opened and verified, and with --large one of 10⁸. Writes docs/tables/journal.md. Takes about ten
minutes on one core.

    python -m benchmarks.reliability.journal [--quick] [--large]
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table
from fewpairs.items.items import as_items
from fewpairs.items.keys import item_keys
from fewpairs.oracle.journal.identity import recorder_of
from fewpairs.oracle.journal.recorder import Recorder
from fewpairs.oracle.journal.upkeep import existing, faults
from fewpairs.oracle.requests import Rectangle

#: Turns of each comparison; the median is told.
_TURNS = 3
#: Values of one request, where values are written without being evaluated.
_REQUEST = 2**16
#: Columns of a large journal that are read at a time.
_COLUMNS = 25


@contextmanager
def room() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fewpairs-journal-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def took(work: Callable[[], Any]) -> float:
    """Return how many seconds something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def texts(count: int) -> list[str]:
    """Return different texts."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(400)]
    return [" ".join(rng.choice(words, 4)) + f" {k}" for k in range(count)]


def slow(a: str, b: str) -> float:
    """Take a millisecond, as a small model does."""
    time.sleep(0.001)
    return 1.0 / (1 + abs(len(a) - len(b)))


def overheads(*, quick: bool) -> list[list[Any]]:
    """Compare whole columns with and without a journal, in turns."""
    slowly = fp.similarity(slow, kind="pair", symmetric=True, name="slow", version="1")
    scale = 10 if quick else 1
    vectors = np.random.default_rng(0).random((20_000 // scale, 16))
    cases: list[tuple[str, Any, Any, int]] = [
        ("a function that takes 1 ms", texts(1_200 // scale), slowly, 10),
        ("Levenshtein, by blocks", texts(20_000 // scale), fp.StringSimilarity(), 100),
        ("Gaussian kernel, by blocks", vectors, fp.VectorSimilarity("rbf"), 500),
    ]
    rows = []
    for name, items, similarity, landmarks in cases:
        times: list[tuple[float, float]] = []
        for _ in range(2 if quick else _TURNS):
            plain = fp.Oracle(items, similarity)
            without = took(partial(plain.columns, range(landmarks)))
            with room() as folder:
                kept = fp.Oracle(items, similarity, journal=folder)
                within = took(partial(kept.columns, range(landmarks)))
                bytes_each = size_of(folder) / kept.evaluations
            times.append((without / plain.evaluations, within / kept.evaluations))
        without, within = (statistics.median(column) for column in zip(*times, strict=True))
        rows.append(
            [
                name,
                f"{plain.evaluations:,}",
                f"{without * 1e9:,.0f} ns",
                f"{(within - without) * 1e9:,.0f} ns",
                f"{within / without - 1:.1%}",
                f"{bytes_each:.2f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def rivals(*, quick: bool) -> list[list[Any]]:
    """Write values and find them again: this journal, SQLite, joblib.Memory."""
    n, landmarks, few = (2_000, 50, 300) if quick else (20_000, 100, 5_000)
    items = texts(n)
    similarity = fp.StringSimilarity()
    columns = fp.Oracle(items, similarity).columns(range(landmarks))
    count = columns.size
    rows = []

    def add(name: str, values: int, write: float, size: int, find: float) -> None:
        each = [f"{seconds / values * 1e9:,.0f} ns" for seconds in (write, find)]
        rows.append([name, f"{values:,}", each[0], f"{size / values:.1f}", each[1]])
        print(*rows[-1], sep=" | ", flush=True)

    for dtype in ("float64", "float32"):
        with room() as folder:
            journal = fp.Journal(folder, dtype=dtype, check=0)
            recorder = recorder_of(journal, similarity, [(as_items(items), as_items(items))])
            write = took(partial(written, recorder, columns))
            again = fp.Oracle(items, similarity, journal=journal)
            find = took(partial(again.columns, range(landmarks)))
            add(f"journal, {dtype}", count, write, size_of(folder), find)
    keys = item_keys(as_items(items)).tolist()
    with room() as folder:
        write, find, values = sqlite(folder / "values.db", keys, columns)
        add("SQLite", values, write, size_of(folder), find)
    with room() as folder:
        memory = joblib.Memory(folder, verbose=0)
        cached = memory.cache(lookup, ignore=["value"])
        pairs = [(k, k % landmarks) for k in range(few)]
        write, find = (
            took(lambda: [cached(items[i], items[j], float(columns[i, j])) for i, j in pairs])
            for _ in range(2)
        )
        add("joblib.Memory", few, write, size_of(folder), find)
    return rows


def written(recorder: Recorder, columns: np.ndarray) -> None:
    """Write columns to a journal, request by request, as an oracle does."""
    n, s = columns.shape
    tall = max(1, _REQUEST // s)
    with recorder.writing():
        for top in range(0, n, tall):
            rows = np.arange(top, min(n, top + tall))
            recorder.add(Rectangle(rows, np.arange(s)), columns[rows])
        recorder.flush()


def lookup(_left: str, _right: str, value: float) -> float:
    """Stand for a similarity that costs nothing, so that only the cache is timed."""
    return value


def sqlite(path: Path, keys: list[bytes], columns: np.ndarray) -> tuple[float, float, int]:
    """Write columns to a table and find them; return both times, and the number of values."""
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute(
        "CREATE TABLE pairs (a BLOB, b BLOB, value REAL, PRIMARY KEY (a, b)) WITHOUT ROWID"
    )
    n, s = columns.shape
    tall = max(1, _REQUEST // s)

    def write() -> None:
        for top in range(0, n, tall):
            rows = range(top, min(n, top + tall))
            with base:
                base.executemany(
                    "INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)",
                    ((keys[i], keys[j], float(columns[i, j])) for i in rows for j in range(s)),
                )

    def find() -> None:
        one = "SELECT value FROM pairs WHERE a = ? AND b = ?"
        for i in range(n):
            for j in range(s):
                base.execute(one, (keys[i], keys[j])).fetchone()

    times = took(write), took(find)
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    return *times, n * s


def large(sizes: list[tuple[int, int]]) -> list[list[Any]]:
    """Open and verify large journals; the memory that takes is that of the columns themselves."""
    rows = []
    for n, landmarks in sizes:
        vectors = np.random.default_rng(0).random((n, 8))
        similarity = fp.VectorSimilarity("rbf")
        with room() as folder:
            first = fp.Oracle(vectors, similarity, journal=folder)
            for start in range(0, landmarks, _COLUMNS):  # what is returned is a copy
                first.columns(range(start, min(landmarks, start + _COLUMNS)))
            values, size = first.evaluations, size_of(folder)
            del first
            verify = took(lambda: list(faults(existing(folder))))
            journal = fp.Journal(folder, check=0)
            start = time.perf_counter()
            again = fp.Oracle(vectors, similarity, journal=journal)
            keyed = time.perf_counter() - start
            opened = took(partial(again.entries, [0], [n - 1]))
            rows.append(
                [
                    f"{values:,}",
                    f"{n:,}",
                    f"{size / 1e6:,.0f} MB",
                    f"{keyed:.2f} s",
                    f"{opened:.2f} s",
                    f"{verify:.2f} s",
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--large", action="store_true", help="also a journal of 10⁸ values")
    options = parser.parse_args()
    sizes = [(20_000, 51)] if options.quick else [(100_000, 100)]
    if options.large:
        sizes.append((1_000_000, 100))
    text = "Whole columns, with and without a journal in turns; medians.\n\n"
    text += table(
        ["similarity", "evaluations", "each", "more with a journal", "share", "bytes per value"],
        overheads(quick=options.quick),
    )
    text += (
        "\n\nThe same values written and found again. Times of writing are without evaluations, "
        "until everything is on the disk.\n\n"
    )
    text += table(
        ["", "values", "write, each", "bytes per value", "find, each"], rivals(quick=options.quick)
    )
    text += (
        "\n\nA large journal: keys of all items, everything read for the first time, verified.\n\n"
    )
    text += table(
        ["values", "items", "size", "keys", "opened", "`fewpairs journal verify`"], large(sizes)
    )
    print("\n" + text)
    publish("journal", text + "\n", quick=options.quick)


if __name__ == "__main__":
    main()
