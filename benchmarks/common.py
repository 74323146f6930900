"""What benchmarks share: the matrices at hand, tables, memory, ratios."""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from fewpairs import datasets

DOCS = Path(__file__).resolve().parent.parent / "docs"


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def clip(values):
    return np.clip(values, 0, 1)


#: Stored all-pairs outputs of real sentence-pair models, on both scales.
STORED: dict[str, tuple[str, Callable]] = {
    "STS-B cross-encoder": ("stsb-dev-crossencoder", np.asarray),
    "STS-B cross-encoder, clipped": ("stsb-dev-crossencoder", clip),
    "STS-B cross-attention": ("stsb-dev-crossattn", np.asarray),
    "STS-B cross-attention, clipped": ("stsb-dev-crossattn", clip),
    "STS-B large": ("stsb-dev-large-crossattn", np.asarray),
    "STS-B large, clipped": ("stsb-dev-large-crossattn", clip),
    "MRPC logits": ("mrpc-dev-crossattn", np.asarray),
    "MRPC probabilities": ("mrpc-dev-crossattn", sigmoid),
    "RTE logits": ("rte-dev-crossattn", np.asarray),
    "RTE probabilities": ("rte-dev-crossattn", sigmoid),
}


def stored_matrix(title: str) -> np.ndarray:
    """A stored matrix on its scale, symmetrised."""
    name, scale = STORED[title]
    matrix = scale(datasets.read_matrix(name))
    return (matrix + matrix.T) / 2


def random_psd(n: int = 1000, *, normal: bool = True) -> np.ndarray:
    """The paper's control ZZᵀ: N(0, 1) in its text, U[0, 1] in its code."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, n)) if normal else rng.random((n, n))
    return z @ z.T


def relative(guess: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(guess - exact) / np.linalg.norm(exact))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation; above 10 only the order matters."""
    mean = float(np.mean(values))
    return ">10" if mean > 10 else f"{mean:.3f} ± {np.std(values):.3f}"


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes.

    Linux's own high-water mark starts anew with each program; getrusage inherits the parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a smaller run, in a minute or two")
    return parser


def need_data() -> None:
    """Leave with a reason where the data are not on this machine."""
    try:
        datasets.benchmark_folder()
    except datasets.DataNotFoundError as error:
        sys.exit(f"skipped: {error}")
