"""Files: the facts of a file without its arrays, and paths that cannot be written."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from safetensors.numpy import save_file

from fewpairs.errors import FewpairsError, FileFormatError
from fewpairs.files import archive as files


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
