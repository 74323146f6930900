"""Files: verified before they are used, written whole or not at all, and nothing left behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fuzz.file_strategies import described, forged
from safetensors.numpy import save_file

from fewpairs.errors import FewpairsError, FileFormatError, UnwritableError
from fewpairs.files import archive as files
from fewpairs.files.writing import atomic, refuse_overwriting


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "file"
    files.write(path, {"ones": np.ones(1000)}, {"name": "ö", "count": 3})
    return path


def test_facts_are_read_without_the_arrays(stored):
    assert files.read_facts(stored) == {"name": "ö", "count": 3}
    # The last bytes belong to the array: facts do not depend on them, the whole file does.
    stored.write_bytes(stored.read_bytes()[:-1] + b"\0")
    assert files.read_facts(stored)["count"] == 3
    with pytest.raises(FileFormatError, match="checksum"):
        files.read(stored)


def test_facts_of_a_damaged_header_are_refused(stored):
    stored.write_bytes(stored.read_bytes().replace(b"count", b"coins"))
    with pytest.raises(FileFormatError, match="header"):
        files.read_facts(stored)
    with pytest.raises(FileNotFoundError):
        files.read_facts(stored.parent / "missing")


def test_a_path_that_cannot_be_written_is_refused_with_the_reason(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(FewpairsError, match="folder"):
            files.write(path, {}, {})
        with pytest.raises(OSError, match="folder"), files.atomic(path):
            pass


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": "1"}', '{"version": 1}'])
def test_a_header_of_other_content_is_refused_even_with_a_right_checksum(tmp_path, text):
    checksum = hashlib.sha256(text.encode()).hexdigest()
    metadata = {"fewpairs": text, "sha256": checksum}
    save_file({"ones": np.ones(3)}, tmp_path / "file", metadata=metadata)
    for read in (files.read, files.read_facts):
        with pytest.raises(FileFormatError, match="not a fewpairs file"):
            read(tmp_path / "file")


def test_what_a_killed_writer_has_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "out [1].fewpairs"
    code = f"""
import os, pathlib, signal
from fewpairs.files.writing import atomic
with atomic(pathlib.Path({str(path)!r})) as unfinished:
    unfinished.write_bytes(b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for _ in range(2):  # the second one removes what the first has left, and leaves its own
        subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
        (left,) = tmp_path.iterdir()
        assert left.name.endswith(".fewpairs-part")
    files.write(path, {"ones": np.ones(3)}, {})
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_what_a_living_writer_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "out"
    mine = tmp_path / ".out.notes.fewpairs-part"  # no name that a writer makes
    mine.touch()
    with atomic(path) as first:
        first.write_text("first")
        with atomic(path) as second:
            assert first.exists()
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert sorted(tmp_path.iterdir()) == [mine, path]


def test_the_longest_name_that_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    files.write(path, {}, {"name": "long"})
    assert files.read_facts(path) == {"name": "long"}


def test_a_link_stays_a_link_and_a_device_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    files.write(tmp_path / "link", {}, {"name": "x"})
    assert (tmp_path / "link").is_symlink()
    assert files.read_facts(tmp_path / "real" / "file") == {"name": "x"}
    for path in ("/dev/null", tmp_path / "a\0b"):
        with pytest.raises(UnwritableError):
            files.write(path, {}, {})
    assert not Path("/dev/null").is_file()


def test_an_output_that_is_an_input_is_refused_under_every_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = tmp_path / "given.txt"
    given.write_text("text")
    (tmp_path / "link.txt").symlink_to(given)
    os.link(given, tmp_path / "hard.txt")
    for name in ("given.txt", "./given.txt", str(given), "link.txt", "hard.txt"):
        with pytest.raises(FewpairsError, match="would be lost"):
            refuse_overwriting(Path(name), (None, given))
    refuse_overwriting(Path("other.txt"), (None, given))
    (tmp_path / "other.txt").touch()
    refuse_overwriting(Path("other.txt"), (None, given))


def hostile(folder):
    """Write files that ask for terabytes."""
    (folder / "rows.txt").write_bytes(b"1000000000000 300\nape 1 2\n")
    (folder / "numbers.txt").write_bytes(b"2 300000000000\nape 1 2\n")
    (folder / "packed.txt").write_bytes(gzip.compress(b"1000000 1000000\n" + b"a" * 10**6))
    (folder / "bomb.txt").write_bytes(gzip.compress(b"a" * 2**27, 1))
    (folder / "zeros.txt").write_bytes(gzip.compress(b"100000 300\n" + b"\0" * 10**7))
    for name, kind, shape in (
        ("table", "<f4", "(1000000000000, 300)"),
        ("long", "<U500000000", "(2, )"),
    ):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        array = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + b"\0" * 64
        (folder / f"{name}.npy").write_bytes(array)
        with zipfile.ZipFile(folder / f"{name}.npz", "w") as archive:
            archive.writestr("words.npy", array)
            archive.writestr("vectors.npy", array)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        words, table = io.BytesIO(), io.BytesIO()
        np.save(words, np.array(["a"] * 40_000))
        np.save(table, np.zeros((40_000, 700), dtype=np.float32))
        archive.writestr("words.npy", words.getvalue())
        archive.writestr("vectors.npy", table.getvalue())
    stored = {"left": np.empty((10**12, 0)), "core": np.empty((0, 0))}
    facts = {"stored_as": {"left": "left", "right": "left", "core": "core"}}
    (folder / "empty.fewpairs").write_bytes(forged(stored, described(stored, facts)))


def test_files_that_promise_terabytes_get_no_memory(tmp_path):
    hostile(tmp_path)
    code = """
import resource, sys
from pathlib import Path
import fewpairs as fp
from fewpairs.items.readers import read_items
fp.load, fp.WordVectors, fp.errors
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, -1))
for path in sorted(Path(sys.argv[1]).iterdir()):
    read = {".fewpairs": fp.load, ".npy": read_items}.get(path.suffix, fp.WordVectors.load)
    try:
        read(path)
    except fp.errors.FewpairsError as error:
        print(path.name, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    refused = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    assert {path.name for path in tmp_path.iterdir()} <= refused
