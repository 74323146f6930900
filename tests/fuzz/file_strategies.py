"""Files and what can happen to them: damage by accident, and content made to mislead a reader."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from safetensors import safe_open

import fewpairs as fp
from fewpairs.errors import FewpairsError, FewpairsWarning

FOLDER = tempfile.TemporaryDirectory(prefix="fewpairs-fuzz-")
#: What a reader may take beside a few times the size of the file.
FREE = 2**26
#: How many times.
TIMES = 60

Content = tuple[dict[str, np.ndarray], dict[str, Any]]


def attempt(read: Callable[[Path], Any], content: bytes, name: str = "file") -> Any:
    """Return what a reader makes of a file, or None where it refuses it with our error.

    Anything else that it raises, a warning of others, and too much memory is a finding.
    """
    path = Path(FOLDER.name) / name
    path.write_bytes(content)
    sentences = ["", ""]
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FewpairsWarning)
            found = read(path)
    except FewpairsError as error:
        found, sentences = None, str(error).splitlines()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found is not None or len(sentences) >= 2, sentences
    assert peak < FREE + TIMES * len(content), peak
    return found


# ------------------------------------------------------------------ damage by accident


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Flip, cut, insert, double, move or blank some bytes, once or more."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        to = at + draw(st.sampled_from([0, 1, 2, 4, 8, 64, len(content)]))
        piece = content[at:to]
        new = draw(
            st.sampled_from(
                [
                    bytes([content[at] ^ 1 << at % 8]) + content[at + 1 : to] if content else b"",
                    b"",
                    piece * 2,
                    b"\0" * len(piece),
                    b"\xff" * len(piece),
                    piece[::-1],
                    b"\n" + piece,
                    b" " + piece,
                ]
            )
            | st.binary(max_size=12)
        )
        content = content[:at] + new + content[max(to, at) :]
    return content


# ------------------------------------------------------------------ files of matrices


@functools.cache
def matrices() -> list[fp.FactoredMatrix]:
    """Make a matrix of each kind that a file may hold."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 2))
    rbf = fp.VectorSimilarity("rbf")
    odd = fp.similarity(lambda a, b: a - 2.0 * b, kind="pair", symmetric=False, name="odd")
    words = ["", "ape", "nul \0", "lone \ud800", "ß" * 20, "bee", "cow", "dog"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewpairsWarning)
        return [
            fp.approximate(words, fp.StringSimilarity(), landmarks=3, random_state=0),
            fp.approximate(x, rbf, target_error=0.3, random_state=0),
            fp.approximate(sp.csr_array(np.round(x)), rbf, landmarks=3, random_state=0),
            fp.approximate(x, rbf, method="sms-rescaled", landmarks=3, random_state=0),
            fp.approximate([1, 2, 3, 4, 5], odd, others=[6.5, 7, 8], landmarks=2, random_state=0),
            fp.approximate(np.arange(7, dtype=np.uint64), odd, landmarks=3, random_state=0).T,
            fp.elementwise(np.exp, x / 3, target_error=0.2, random_state=0),
        ]


@functools.cache
def stored() -> list[tuple[np.ndarray, bytes]]:
    """Return each matrix, dense, and the file that holds it."""
    path = Path(FOLDER.name) / "stored"
    found = []
    for matrix in matrices():
        matrix.save(path)
        found.append((matrix.to_dense(), path.read_bytes()))
    return found


def opened(content: bytes) -> Content:
    """Take a file apart: its arrays and its facts."""
    path = Path(FOLDER.name) / "opened"
    path.write_bytes(content)
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["fewpairs"])
        return {name: file.get_tensor(name) for name in file.keys()}, header["facts"]  # noqa: SIM118


def forged(arrays: dict[str, np.ndarray], header: str) -> bytes:
    """Put a file together whose checksums are right, whatever it holds."""
    checksum = hashlib.sha256(header.encode("utf-8", "replace")).hexdigest()
    listed: dict[str, Any] = {"__metadata__": {"fewpairs": header, "sha256": checksum}}
    body = b""
    for name, array in arrays.items():
        kind = {"f": "F", "i": "I", "u": "U", "b": "BOOL"}[array.dtype.kind]
        listed[name] = {
            "dtype": kind + ("" if kind == "BOOL" else str(8 * array.dtype.itemsize)),
            "shape": array.shape,
            "data_offsets": [len(body), len(body) + array.nbytes],
        }
        body += array.tobytes()
    text = json.dumps(listed).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def described(
    arrays: dict[str, np.ndarray], facts: Any, header: dict[str, Any] | None = None
) -> str:
    """Write our own header, with the right checksums of the arrays; `header` replaces parts."""
    listed = {
        name: {
            "dtype": array.dtype.name,
            "shape": array.shape,
            "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        }
        for name, array in arrays.items()
    }
    whole = {"format": "fewpairs", "version": 3, "arrays": listed, "facts": facts}
    return json.dumps(whole | (header or {}))


NUMBERS = st.sampled_from(
    [0, 1, -1, 3, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**400]
) | st.sampled_from([0.5, -0.0, 1e308, float("inf"), float("nan")])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
SHAPES = st.sampled_from(
    [(), (0,), (1,), (2, 2), (9,), (9, 3), (10**12, 0), (0, 10**12), (10**6 + 1, 0), (2, 0, 3)]
)


def _one(draw: st.DrawFn, mapping: dict[str, Any]) -> str:
    return draw(st.sampled_from(sorted(mapping)))


@st.composite
def hostile_arrays(draw: st.DrawFn, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Change an array in a way that a checksum does not see."""
    changed = dict(arrays)
    name = _one(draw, changed)
    array = changed[name]
    how = draw(st.sampled_from(["drop", "swap", "type", "shape", "cut", "value", "name", "values"]))
    if how == "drop":
        del changed[name]
    elif how == "swap":
        other = _one(draw, changed)
        changed[name], changed[other] = changed[other], changed[name]
    elif how == "type":
        kinds = ["float32", "float64", "int64", "uint8", "int32", "uint64", "bool", "float16"]
        with np.errstate(all="ignore"):
            changed[name] = array.astype(draw(st.sampled_from(kinds)))
    elif how == "shape":
        shape = draw(SHAPES)
        fits = int(np.prod(shape, dtype=object)) == array.size
        changed[name] = array.reshape(shape) if fits else np.empty(shape if 0 in shape else 0)
    elif how == "cut":
        changed[name] = array[: draw(st.integers(0, 3))] if array.ndim else array
    elif how == "name":
        changed[draw(st.text(max_size=6))] = changed.pop(name)
    elif array.size:
        extreme = draw(st.sampled_from([-1, 0, 1, 2**31, 2**62, -(2**62), np.nan, np.inf, 1e308]))
        flat = array.copy().reshape(-1)
        with np.errstate(all="ignore"):
            place = slice(None) if how == "values" else draw(st.integers(0, array.size - 1))
            flat[place] = np.array(extreme).astype(array.dtype)
        changed[name] = flat.reshape(array.shape)
    return changed


@st.composite
def hostile_facts(draw: st.DrawFn, facts: dict[str, Any]) -> dict[str, Any]:
    """Change what a file states beside its arrays."""
    changed = json.loads(json.dumps(facts))
    name = _one(draw, changed)
    how = draw(st.sampled_from(["drop", "value", "swap", "inside"]))
    if how == "drop":
        del changed[name]
    elif how == "value":
        changed[name] = draw(VALUES)
    elif how == "swap":
        other = _one(draw, changed)
        changed[name], changed[other] = changed[other], changed[name]
    elif isinstance(changed[name], dict) and changed[name]:
        changed[name][_one(draw, changed[name])] = draw(VALUES | st.sampled_from(["left", "core"]))
    elif isinstance(changed[name], list) and changed[name]:
        changed[name][draw(st.integers(0, len(changed[name]) - 1))] = draw(VALUES)
    else:
        changed[draw(st.text(max_size=6))] = draw(VALUES)
    return changed


@st.composite
def hostile_files(draw: st.DrawFn, which: int) -> bytes:
    """Rewrite a stored file with right checksums and wrong content."""
    arrays, facts = opened(stored()[which][1])
    for _ in range(draw(st.integers(0, 2))):
        arrays = draw(hostile_arrays(arrays)) if arrays else arrays
    for _ in range(draw(st.integers(0, 2))):
        facts = draw(hostile_facts(facts)) if facts else facts
    parts = st.sampled_from(["format", "version", "arrays"])
    header = draw(st.just({}) | st.dictionaries(parts, VALUES, max_size=1))
    return forged(arrays, described(arrays, facts, header))


@st.composite
def hostile_headers(draw: st.DrawFn, which: int) -> bytes:
    """Rewrite the part of a stored file that the format's own library reads."""
    content = stored()[which][1]
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    name = _one(draw, header)
    how = draw(st.sampled_from(["value", "field", "deep", "double", "length", "text"]))
    if how == "value":
        header[name] = draw(VALUES)
    elif how == "field" and header[name]:
        header[name][_one(draw, header[name])] = draw(VALUES | st.lists(NUMBERS, max_size=3))
    text = json.dumps(header)
    if how == "deep":
        depth = draw(st.sampled_from([50, 200, 5000, 200_000]))
        text = text.replace('"shape": [', '"shape": ' + "[" * depth, 1)
    if how == "double":
        text = text[:-1] + ", " + text[1:]
    if how == "text":
        text = draw(st.text(max_size=40))
    data = text.encode("utf-8", "surrogatepass")
    length = len(data)
    if how == "length":
        length = draw(st.sampled_from([0, 1, length - 1, length + 1, 2**31, 2**40, 2**64 - 1]))
    return length.to_bytes(8, "little") + data + content[8 + size :]
