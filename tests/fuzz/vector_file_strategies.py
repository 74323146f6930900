"""Files of word vectors in every format, whole, and with content that misleads."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
from hypothesis import strategies as st

#: What stands between words and numbers in text files, and so cannot be part of a word there.
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=6)
ANY = st.text(max_size=8) | st.sampled_from(["", " ", "nul\0", "\ud800", "a\nb", "\r", "1 2"])
FORMATS = ["text", "headed", "binary", "gensim", "npz", "deflated", "gzip", "gzip binary"]


@st.composite
def tables(draw: st.DrawFn, words: st.SearchStrategy[str]) -> tuple[list[str], np.ndarray]:
    """Make words and vectors."""
    listed = draw(st.lists(words, min_size=1, max_size=8, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    size = draw(st.sampled_from([1, 2, 3, 7]))
    return listed, rng.normal(size=(len(listed), size)).astype(np.float32)


def written(words: list[str], array: np.ndarray, kind: str) -> bytes:
    """Return a file of that format, as other programs write it."""
    if kind in ("npz", "deflated"):
        file = io.BytesIO()
        save = np.savez if kind == "npz" else np.savez_compressed
        save(file, words=np.array(words), vectors=array)
        return file.getvalue()
    header = f"{len(words)} {array.shape[1]}\n".encode()
    coded = [word.encode("utf-8", "replace") for word in words]
    if kind in ("binary", "gensim", "gzip binary"):
        end = b"" if kind == "gensim" else b"\n"
        bare = [word.replace(b" ", b"_") for word in coded]
        entries = [w + b" " + row.tobytes() + end for w, row in zip(bare, array, strict=True)]
    else:
        rows = [" ".join(map(repr, row.tolist())).encode() for row in array]
        entries = [w + b" " + row + b"\n" for w, row in zip(coded, rows, strict=True)]
    content = (b"" if kind == "text" else header) + b"".join(entries)
    return gzip.compress(content) if kind.startswith("gzip") else content


COUNTS = st.sampled_from([0, 1, 2, 3, 7, 1000, 2**31, 10**12, 2**63, 10**18, 10**40])


@st.composite
def promising(draw: st.DrawFn) -> bytes:
    """Write a header that promises anything before a little content."""
    count, size = draw(COUNTS), draw(COUNTS)
    body = draw(
        st.binary(max_size=40)
        | st.sampled_from([b"ape 1 2\n" * 3, b"ape \0\0\0\0\0\0\0\0" * 3, b" " * 300, b"\0" * 5000])
    )
    content = f"{count} {size}\n".encode() + body
    return gzip.compress(content) if draw(st.booleans()) else content


SHAPES = st.sampled_from(
    "(3,) | (3, 2) | (1000000000000,) | (1000000000000, 300) | (3, 0) | (-1, 2) | () | (0, 2) | "
    "(1000000000000, 0) | (0,) | (3, 2, 1) | (9223372036854775807, 2) | (1.5, 2) | [3] | None | ((("
    "".split(" | ")
)
TYPES = st.sampled_from(
    ["<f4", "<f8", "<U3", "<U0", "<U500000000", "|O", "<i8", "<f16", ">f4", "|V8", "x", "<M8[s]"]
)


@st.composite
def forged_archives(draw: st.DrawFn) -> bytes:
    """Write an archive whose arrays claim any shape and type."""
    file = io.BytesIO()
    how = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))
    with zipfile.ZipFile(file, "w", how) as archive:
        for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)):
            header = f"{{'descr': {draw(TYPES)!r}, 'fortran_order': {draw(st.booleans())}, "
            header += f"'shape': {draw(SHAPES)}, }}\n"
            version = draw(st.sampled_from([1, 2, 3, 9]))
            length = len(header).to_bytes(2 if version == 1 else 4, "little")
            data = draw(st.binary(max_size=60) | st.just(b"\0" * 10**5))
            start = b"\x93NUMPY" + bytes([version, 0]) + length
            archive.writestr(f"{name}.npy", start + header.encode() + data)
    return file.getvalue()


NAMES = ["words", "vectors", "words_utf8", "words_ends", "x"]
