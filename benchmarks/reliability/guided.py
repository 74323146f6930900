"""Readers of files against inputs that are led by what code they reach: libFuzzer, by Atheris.

Every reader starts from a whole file. libFuzzer changes bytes, watches which branches of fewpairs
are reached, and goes on from what reached new ones. A reader may give what it has read or raise an
error of fewpairs; another exception, a death, a hang, or 512 MB are findings. Each runs in a
process of its own. Writes docs/tables/guided.md. Takes about half an hour on one core. Needs: pip
install atheris

    python -m benchmarks.reliability.guided [--quick] [--runs N] [--seed S]
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table

READERS = ("matrix", "journal block", "journal tail", "description", "word vectors")
#: Seconds that one input may take, megabytes, and the longest input.
_SECONDS, _MEGABYTES, _LONGEST = 30, 512, 16_384


def prepared(reader: str, folder: Path) -> tuple[bytes, str, Callable[[Path], Any]]:
    """Return a whole file, how such files are called, and what reads them."""
    import numpy as np

    import fewpairs as fp
    from fewpairs.oracle import hearing
    from fewpairs.oracle.journal.blocks import read_block
    from fewpairs.oracle.journal.folder import Folder, read_json
    from fewpairs.oracle.journal.folding import read_tail

    words = [f"{a}{k}" for k in range(4) for a in ("ape", "bee", "cat")]
    if reader == "matrix":
        fp.approximate(words, "levenshtein", landmarks=3, random_state=0).save(folder / "whole")
        return (folder / "whole").read_bytes(), "matrix.fewpairs", fp.load
    if reader == "word vectors":
        vectors = fp.WordVectors(words, np.arange(24.0).reshape(12, 2))
        vectors.save(folder / "whole.npz")
        return (folder / "whole.npz").read_bytes(), "words.npz", fp.WordVectors.load
    tails: list[bytes] = []

    def score(a: str, b: str) -> float:
        tails[:] = [path.read_bytes() for path in folder.glob("*/*.tail")] or tails
        return float(len(set(a) & set(b)))

    hearing.SLOW = 0.0
    similarity = fp.similarity(score, kind="pair", symmetric=True, name="score", version="1")
    fp.approximate(words, similarity, landmarks=3, random_state=0, journal=folder)
    (shelf,) = Folder(folder).shelves()
    if reader == "description":
        described = (shelf.path / "similarity.json").read_bytes()
        return described, "similarity.json", read_json
    if reader == "journal tail":
        return tails[0], "1.tail", lambda path: read_tail(path, shelf.checksum)
    whole = shelf.blocks()[0].read_bytes()
    return whole, "1.block", lambda path: read_block(path, shelf.checksum)


def fuzz(reader: str, runs: int, seed: int) -> None:
    """Run one reader; the process ends when libFuzzer does."""
    import atheris

    with atheris.instrument_imports(include=["fewpairs"]):
        import fewpairs.factored.storage
        import fewpairs.oracle.journal.folding
        import fewpairs.text.vector_files  # noqa: F401 - what is watched
    from fewpairs.errors import FewpairsError

    folder = Path(tempfile.mkdtemp(prefix="fewpairs-guided-"))
    corpus, made = folder / "corpus", folder / "made"
    corpus.mkdir()
    made.mkdir()
    whole, name, read = prepared(reader, made)
    (corpus / "whole").write_bytes(whole)
    path = folder / name

    def one(data: bytes) -> None:
        path.write_bytes(data)
        with suppress(FewpairsError):
            read(path)

    limits = [f"-timeout={_SECONDS}", f"-rss_limit_mb={_MEGABYTES}", f"-max_len={_LONGEST}"]
    told = [f"-runs={runs}", f"-seed={seed}", *limits, f"-artifact_prefix={folder}/", str(corpus)]
    atheris.Setup([sys.argv[0], *told], one)
    atheris.Fuzz()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--runs", type=int, default=20_000, help="inputs of each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", help="used by the benchmark itself")
    options = parser.parse_args()
    runs = 2_000 if options.quick else options.runs
    if options.reader:
        fuzz(options.reader, runs, options.seed)
        return
    if find_spec("atheris") is None:
        sys.exit("Atheris is not installed: pip install atheris")
    rows = []
    for reader in READERS:
        command = [sys.executable, "-m", "benchmarks.reliability.guided", "--reader", reader]
        command += ["--runs", str(runs), "--seed", str(options.seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        counted = re.findall(r"Done (\d+) runs", done.stderr)
        reached = re.findall(r"cov: (\d+)", done.stderr)
        found = "none" if counted and not done.returncode else done.stderr[-2000:]
        rows.append(
            [reader, f"{int(counted[-1]):,}" if counted else "?", (reached or ["?"])[-1], found]
        )
        print(*rows[-1], sep=" | ", flush=True)
    text = table(["reader", "inputs", "branches reached", "findings"], rows) + (
        f"\n\nlibFuzzer by Atheris, seed {options.seed}; inputs of up to {_LONGEST:,} bytes, "
        f"{_SECONDS} s and {_MEGABYTES} MB for each.\n"
    )
    print("\n" + text)
    publish("guided", text, quick=options.quick)
    if any(row[3] != "none" for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
