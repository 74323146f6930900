"""Items on disk beside items in a list: memory, time and the same numbers.

Texts of 40 to 260 letters, 200 MB of them, in a column of a CSV, a JSONL and a Parquet file (row
groups of 10,000) and as lines of a text; beside it a column of ids. Each line is a process of its
own with one thread. It reads the items and approximates their similarities (Hamming, Nyström with 2
landmarks, no error estimate: little is computed, because memory is the question). "Items" is the
anonymous memory (RssAnon) that they take when they are there, "peak" its largest amount in all of
it, both above what the process had before, with the libraries that read; the system can drop the
pages of files. Seconds are processor time. Factors are compared bit by bit with those of the list.
Takes a minute
of processor time. Writes docs/tables/sources.md.

    python -m benchmarks.scale.sources [--quick] [--folder FOLDER] [--keep FOLDER]
"""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.million import Peak
from benchmarks.shared.tables import publish, table

N, QUICK = 1_330_000, 5_000
HOW = {"method": "nystrom", "landmarks": 2, "error_pairs": 0, "random_state": 0}
FORMS = ("list", "lines", "csv", "jsonl", "parquet", "dask")


def rows(n: int):
    """Ids and texts, a part at a time."""
    rng = np.random.default_rng(0)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz      ", dtype=np.uint8)
    for start in range(0, n, 10_000):
        count = min(10_000, n - start)
        lengths = rng.integers(40, 261, size=count)
        written = letters[rng.integers(len(letters), size=lengths.sum())].tobytes().decode()
        ends = np.cumsum(lengths)
        texts = [written[b - a : b] for a, b in zip(lengths, ends, strict=True)]
        yield [f"id{k}" for k in range(start, start + count)], [f"x{text}" for text in texts]


def write(folder: Path, n: int) -> None:
    """Write the same texts in every format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with (
        (folder / "a.txt").open("w", encoding="utf-8") as lines,
        (folder / "a.csv").open("w", encoding="utf-8", newline="") as cells,
        (folder / "a.jsonl").open("w", encoding="utf-8") as objects,
        pq.ParquetWriter(folder / "a.parquet", schema) as columns,
    ):
        table_writer = csv.writer(cells)
        table_writer.writerow(["id", "text"])
        for ids, texts in rows(n):
            lines.writelines(f"{text}\n" for text in texts)
            pairs = list(zip(ids, texts, strict=True))
            table_writer.writerows(pairs)
            objects.writelines(json.dumps({"id": i, "text": t}) + "\n" for i, t in pairs)
            columns.write_table(pa.table({"id": ids, "text": texts}, schema=schema))
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), folder / "small.parquet")


def read(form: str, folder: Path):
    """The items, in a list or on disk."""
    if form == "list":
        with (folder / "a.txt").open(encoding="utf-8") as lines:
            return [line.rstrip("\n") for line in lines]
    if form == "lines":
        return fp.TextLines(folder / "a.txt")
    if form == "dask":
        import dask.dataframe as dd

        return fp.ItemsOnDisk(dd.read_parquet(folder / "a.parquet", split_row_groups=True)["text"])
    return fp.ItemsOnDisk(folder / f"a.{form}", "text", folder=folder)


def measure(form: str, folder: Path) -> dict[str, float | str]:
    """One line of the table, in this process."""
    near = fp.StringSimilarity("hamming")
    fp.approximate(["ape", "bee", "cat"], near, landmarks=2, method="nystrom", random_state=0)
    if form in ("parquet", "dask"):
        fp.ItemsOnDisk(folder / "small.parquet", "text")
    if form == "dask":
        import dask.dataframe as dd

        dd.read_parquet(folder / "small.parquet")["text"].head()
    peak, begun = Peak(), time.process_time()
    items = read(form, folder)
    had, took = peak.now() - peak.first, time.process_time() - begun
    K = fp.approximate(items, near, **HOW)
    peak.over = True
    return {
        "items": had,
        "peak": peak.most,
        "reading": took,
        "all": time.process_time() - begun,
        "sum": hashlib.sha256(np.ascontiguousarray(K.left).tobytes()).hexdigest(),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--folder", metavar="FOLDER", help="on a disk with 2 GB of room")
    parser.add_argument("--keep", metavar="FOLDER", help="keep files and figures there, to go on")
    parser.add_argument("--one", choices=FORMS, help="measure one line here, and write it there")
    options = parser.parse_args()
    if options.one:
        found = json.dumps(measure(options.one, Path(options.folder)))
        (Path(options.folder) / f"{options.one}.json").write_text(found, encoding="ascii")
        return
    lines, exact = [], None
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(options.keep or temporary)
        if not (folder / "small.parquet").exists():  # which is written last
            write(folder, QUICK if options.quick else N)
        for form in FORMS:
            kept = folder / f"{form}.json"
            if not kept.exists():
                command = [sys.executable, "-m", "benchmarks.scale.sources", "--one", form]
                done = subprocess.run(  # noqa: S603 - ourselves
                    [*command, "--folder", str(folder)], capture_output=True, text=True, check=False
                )
                if done.returncode:
                    sys.exit(done.stderr)
            found = json.loads(kept.read_text(encoding="ascii"))
            exact = exact or found["sum"]
            if found["sum"] != exact:
                sys.exit(f"{form}: the numbers differ from those of a list")
            lines.append(
                [
                    form,
                    *(f"{found[name] / 1e6:,.0f} MB" for name in ("items", "peak")),
                    *(f"{found[name]:.3g}" for name in ("reading", "all")),
                ]
            )
            print(" | ".join(lines[-1]), flush=True)
    text = table(("items", "items take", "peak", "reading, s", "all, s"), lines)
    print(text)
    about = (
        "# Items on disk\n\n`python -m benchmarks.scale.sources`: 1,330,000 texts, 200 MB, in a "
        "list, as `TextLines`, and as `ItemsOnDisk` of several files and of a column of Dask; "
        "anonymous memory, processor time on one thread. The factors were the same to the last "
        "bit in every row.\n\n"
    )
    publish("sources", about + text, quick=options.quick)


if __name__ == "__main__":
    main()
