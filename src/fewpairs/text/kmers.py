"""Sequences as documents: proteins, genes, logs and any other strings, cut into k-mers."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import FloatArray, is_whole
from fewpairs.errors import FileFormatError, InputError
from fewpairs.text.word_vectors import WordVectors


def kmers(sequence: str, k: int = 3) -> list[list[str]]:
    """Cut a sequence into k-mers that do not overlap, in k lists: one for each place to begin.

    Parameters
    ----------
    sequence : str
        Over any alphabet.
    k : int, default=3

    Returns
    -------
    list of k lists of str

    Examples
    --------
    >>> kmers("ADTIVAVET")
    [['ADT', 'IVA', 'VET'], ['DTI', 'VAV'], ['TIV', 'AVE']]
    """
    if not is_whole(k) or k < 1:
        raise InputError(f"k is {k!r}.", "It is the length of a piece.", "Pass a positive integer.")
    if not isinstance(sequence, str):
        raise InputError(
            f"a sequence is a {type(sequence).__name__}.",
            "It is cut into pieces of k characters.",
            "Pass a string.",
        )
    return [
        [sequence[i : i + k] for i in range(start, len(sequence) - k + 1, k)] for start in range(k)
    ]


def kmer_documents(sequences: Iterable[str], k: int = 3) -> Iterator[list[str]]:
    """Give the k-mer lists of many sequences, each as a document of its own.

    Parameters
    ----------
    sequences : iterable of str
    k : int, default=3

    Yields
    ------
    list of str
    """
    for sequence in sequences:
        yield from (part for part in kmers(sequence, k) if part)


def embed_sequences(sequences: Iterable[str], vectors: WordVectors, k: int = 3) -> FloatArray:
    """Give each sequence a vector: the mean vector of each of its k lists, averaged over them.

    Parameters
    ----------
    sequences : iterable of str
    vectors : WordVectors
        Of k-mers; unknown ones are left out, and a sequence without a known one is zero.
    k : int, default=3

    Returns
    -------
    ndarray of shape (n_sequences, dimensions)
    """
    return np.array([_embed(sequence, vectors, k) for sequence in sequences])


def _embed(sequence: str, vectors: WordVectors, k: int) -> Any:
    """Embed one sequence; lists without a known k-mer do not count."""
    known = [[vectors.place[x] for x in part if x in vectors] for part in kmers(sequence, k)]
    means = [vectors.array[part].mean(axis=0, dtype=np.float64) for part in known if part]
    return np.mean(means, axis=0) if means else np.zeros(vectors.dimensions)


class Sequence(NamedTuple):
    """One entry of a FASTA file: the line behind ``>``, and the letters."""

    name: str
    letters: str


def read_fasta(path: str | Path) -> Iterator[Sequence]:
    """Read the sequences of a FASTA file, one at a time.

    Parameters
    ----------
    path : str or Path
        A name that ends in ``.gz`` is unpacked.

    Yields
    ------
    Sequence
    """
    opener: Any = gzip.open if Path(path).suffix == ".gz" else open
    name: str | None = None
    lines: list[str] = []
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text.startswith(">"):
                if name is not None:
                    yield Sequence(name, "".join(lines))
                name, lines = text[1:].strip(), []
            elif text and name is None:
                raise FileFormatError(
                    f"line {number} of {Path(path).name} is {text[:40]!r}.",
                    "The first line of a FASTA file begins with >.",
                    "Check that the file is FASTA.",
                )
            elif text:
                lines.append(text)
    if name is not None:
        yield Sequence(name, "".join(lines))
