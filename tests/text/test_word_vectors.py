"""Tables of word vectors: from everywhere, checked by name."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import fewpairs as fp

WORDS = ["ape", "bee", "New York", "Ülm"]
ARRAY = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def same(table: fp.WordVectors) -> None:
    assert table.words == WORDS
    np.testing.assert_allclose(table.array, ARRAY, rtol=1e-6)


def test_from_what_people_have():
    same(fp.WordVectors(WORDS, ARRAY))
    same(fp.WordVectors(dict(zip(WORDS, ARRAY, strict=True))))
    keyed = SimpleNamespace(index_to_key=WORDS, vectors=ARRAY)
    same(fp.WordVectors.of(keyed))
    same(fp.WordVectors.of(SimpleNamespace(wv=keyed)))
    table = fp.WordVectors.of(dict(zip(WORDS, ARRAY, strict=True)))
    assert fp.WordVectors.of(table) is table
    assert table.array.dtype == np.float32


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("header", [False, True])
def test_text_files(tmp_path, header, compressed):
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(WORDS, ARRAY, strict=True)]
    text = "\n".join(([f"{len(WORDS)} 3"] if header else []) + lines) + "\n"
    path = tmp_path / "vectors.txt"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if compressed else data)
    same(fp.WordVectors.load(path))


def test_binary_files(tmp_path):
    content = b"4 3\n"
    for word, row in zip(WORDS, ARRAY, strict=True):
        # word2vec's own format cannot hold a space inside a word.
        content += word.replace(" ", "_").encode() + b" " + struct.pack("<3f", *row) + b"\n"
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    table = fp.WordVectors.load(path)
    assert table.words == [w.replace(" ", "_") for w in WORDS]
    np.testing.assert_array_equal(table.array, ARRAY)
    path.write_bytes(content[:-5])
    with pytest.raises(fp.errors.FileFormatError, match="3 of 4"):
        fp.WordVectors.load(path)


def test_npz_is_written_and_mapped(tmp_path):
    table = fp.WordVectors(WORDS, ARRAY)
    table.save(tmp_path / "v.npz")
    same(fp.WordVectors.load(tmp_path / "v.npz"))
    mapped = fp.WordVectors.load(tmp_path / "v.npz", mmap=True)
    same(mapped)
    assert isinstance(mapped.array, np.memmap)
    np.savez_compressed(tmp_path / "c.npz", words=np.array(WORDS), vectors=ARRAY)
    same(fp.WordVectors.load(tmp_path / "c.npz", mmap=True))  # read, for it cannot be mapped
    table.save(tmp_path / "v.txt")
    same(fp.WordVectors.load(tmp_path / "v.txt"))


def test_the_ending_decides_what_is_written(tmp_path):
    table = fp.WordVectors(WORDS, ARRAY)
    for name in ("v.txt", "v.TXT.gz"):
        table.save(tmp_path / name)
        same(fp.WordVectors.load(tmp_path / name))
    packed = (tmp_path / "v.TXT.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "v.txt").read_bytes()
    for name in ("v", "v.gz", "v.bin", "v.npz.gz"):
        with pytest.raises(fp.errors.InputError, match="does not end in"):
            table.save(tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 2


def test_an_unfinished_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "v.txt"
    fp.WordVectors(WORDS, ARRAY).save(path)
    broken = fp.WordVectors(WORDS, ARRAY)
    broken.words = WORDS[:2]  # fails in the middle
    with pytest.raises(ValueError, match="zip"):
        broken.save(path)
    same(fp.WordVectors.load(path))
    assert [file.name for file in tmp_path.iterdir()] == ["v.txt"]


def test_mapped_vectors_are_not_read_before_they_are_needed(tmp_path):
    path = tmp_path / "v.npz"
    array = np.random.default_rng(0).normal(size=(4, 10_000)).astype(np.float32)
    fp.WordVectors(WORDS, array).save(path)
    content = path.read_bytes()
    bee = content.index(array[1].tobytes())
    # Whoever reads the array through the archive meets a checksum that does not fit any more.
    path.write_bytes(content[:bee] + np.float32("nan").tobytes() + content[bee + 4 :])
    with pytest.raises(fp.errors.FileFormatError, match="CRC"):
        fp.WordVectors.load(path)
    mapped = fp.WordVectors.load(path, mmap=True)
    np.testing.assert_array_equal(mapped["ape"], array[0])
    for metric in ("euclidean", "cosine"):
        with pytest.raises(fp.errors.InputError, match="'bee'"):
            fp.wmd(["ape"], ["ape"], mapped, metric=metric)


def test_arrays_that_are_not_vectors_are_refused_by_name(tmp_path):
    np.savez(tmp_path / "v.npz", words=np.array(WORDS), count=np.array(4))
    with pytest.raises(fp.errors.FileFormatError, match="words', 'count"):
        fp.WordVectors.load(tmp_path / "v.npz")
    whole = (tmp_path / "v.npz").read_bytes()
    (tmp_path / "v.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(fp.errors.FileFormatError, match="zip"):
        fp.WordVectors.load(tmp_path / "v.npz")


def test_nothing_in_a_file_is_executed(tmp_path):
    np.savez(tmp_path / "evil.npz", words=np.array(WORDS, dtype=object), vectors=ARRAY)
    with pytest.raises(fp.errors.FileFormatError, match="pickle"):
        fp.WordVectors.load(tmp_path / "evil.npz")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"ape 1 2\nbee 1 x\n", "line 2"),
        (b"ape 1 2 3\nbee 1\n", "line 2"),
        (b"1 2 3\n4\n", "line 2"),
        (b"ape 1 2\nbee 1e39 2\n", "line 2 has a number that is not finite"),
        (b"ape 1 nan\n", "line 1 has a number that is not finite"),
        (b"1000000000000 300\nape 1 2\n", "promises 1,000,000,000,000 vectors"),
        (b"1 1000000000000\nape 1 2\n", "promises 1 vectors of 1,000,000,000,000"),
        (b"9" * 5000 + b" 2\nape 1 2\n", "more than any file could hold"),
        (b"0 2\n", "no vectors"),
        (b"1 0\nape\n", "no word with numbers"),
        (b"", "no word with numbers"),
        ("ape 1 2\nbee 3 4\n".encode("utf-16"), "line 1"),
        (b"2 2\nape 1 2\n\nbee 1 x\n", "line 4"),
        (b"2 2\nape 1 2\n", "promises 2"),
        (b"ape\n", "no word with numbers"),
    ],
)
def test_broken_files_say_where(tmp_path, content, words):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(fp.errors.FileFormatError, match=words):
        fp.WordVectors.load(path)


def test_repeated_words_keep_their_first_vector(tmp_path):
    with pytest.warns(fp.errors.DuplicateWordsWarning, match="'ape'"):
        table = fp.WordVectors(["ape", "bee", "ape"], [[1.0], [2.0], [3.0]])
    assert table["ape"] == 1.0
    assert len(table) == 2
    (tmp_path / "v.txt").write_text("ape 1 2\nape 3 4\n")
    with pytest.warns(fp.errors.DuplicateWordsWarning, match="'ape'") as caught:
        fp.WordVectors.load(tmp_path / "v.txt")
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("words", "array", "message"),
    [
        (["ape", "bee"], [[1.0], [np.nan]], "'bee'"),
        (["ape"], [[1.0], [2.0]], "1 words were given with an array of shape"),
        ([], [], "0 words"),
        (["ape", 3], [[1.0], [2.0]], "the word 3"),
        (["ape"], [["x"]], "dtype"),
        ({"ape": [1.0], "bee": [1.0, 2.0], "cow": [1.0]}, None, "'bee' has 2 numbers"),
        ({"ape": [1.0]}, [[1.0]], "beside a mapping"),
    ],
)
def test_bad_tables_are_refused(words, array, message):
    with pytest.raises(fp.errors.InputError, match=message):
        fp.WordVectors(words, array)
    with pytest.raises(fp.errors.InputError, match="are a int"):
        fp.WordVectors.of(7)


def test_similar_words():
    table = fp.WordVectors(["a", "b", "c"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    assert [w for w, _ in table.most_similar("a", k=5)] == ["b", "c"]
    assert table.most_similar([0.0, 2.0], k=1)[0] == ("c", pytest.approx(1.0))
    for word, cosine in table.most_similar("a", k=5):
        assert table.similarity("a", word) == table.similarity(word, "a") == pytest.approx(cosine)
    assert table.similarity("a", "a") == pytest.approx(1.0)
    for size in (1e300, 1e-300):
        far = fp.WordVectors(["a", "b"], [[size, size], [size, 0.0]])
        assert far.similarity("a", "b") == pytest.approx(0.5**0.5)
    with pytest.raises(KeyError):
        table.similarity("a", "unheard")
    assert fp.WordVectors(["a", "z"], [[1.0], [0.0]]).similarity("a", "z") == 0
    with pytest.raises(KeyError):
        table["zebra"]


def test_an_unknown_word_is_told_with_those_that_are_spelled_nearly_so():
    words = ["harbour", "Ship", "chip", "ships", "ship", "shipyards"]
    table = fp.WordVectors(words, np.eye(6))
    with pytest.raises(fp.errors.UnknownWordError, match="none of the 6 words") as caught:
        table["shp"]
    assert isinstance(caught.value, KeyError)
    assert "Did you mean" not in str(caught.value)  # asked for thousands of words, it stays cheap
    with pytest.raises(fp.errors.UnknownWordError) as caught:
        table.most_similar("shp")
    # The first of two spellings is the more frequent one; "chip" begins otherwise.
    assert str(caught.value).endswith("Did you mean 'Ship' or 'ships'?")
    with pytest.raises(fp.errors.UnknownWordError, match="Did you mean 'harbour'"):
        table.analogy("ship", "ships", "harbor")
    for word in ("zebra", ""):
        with pytest.raises(fp.errors.UnknownWordError, match="word in vectors"):
            table.most_similar(word)


def test_a_byte_order_mark_is_no_part_of_a_word(tmp_path):
    path = tmp_path / "v.txt"
    for header in ("", "2 2\n"):
        path.write_bytes(f"\ufeff{header}ape 1 2\nbee 3 4\n".encode())
        table = fp.WordVectors.load(path)
        assert table.words == ["ape", "bee"]
        np.testing.assert_array_equal(table.array, [[1, 2], [3, 4]])


def binary(words, array, header, end=b"\n"):
    entries = (w.encode() + b" " + row.tobytes() + end for w, row in zip(words, array, strict=True))
    return header + b"".join(entries)


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("count", [1, 30, 31, 60])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5, 8, 300])
def test_binary_files_with_a_wrong_header_are_refused(tmp_path, count, dimensions, end):
    array = np.random.default_rng(0).normal(size=(31, 4)).astype(np.float32)
    words = [f"word{i}" for i in range(31)]
    path = tmp_path / "v.bin"
    path.write_bytes(binary(words, array, f"{count} {dimensions}\n".encode(), end))
    if (count, dimensions) == (31, 4):
        np.testing.assert_array_equal(fp.WordVectors.load(path).array, array)
        return
    with pytest.raises(fp.errors.FileFormatError):
        fp.WordVectors.load(path)


def test_binary_files_are_read_in_pieces(tmp_path):
    array = np.random.default_rng(0).normal(size=(700, 500)).astype(np.float32)
    words = [f"wörd{i}" for i in range(700)]
    content = binary(words, array, b"700 500\n")
    for name, packed in (("v.bin", content), ("v.bin.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(packed)
        table = fp.WordVectors.load(tmp_path / name)
        assert table.words == words
        np.testing.assert_array_equal(table.array, array)


STRANGE = ["nul\0", "\0", "", " ", "\u2028", "a b", "lone \ud800", "x" * 5000, "\t", "\ufeffmark"]


def test_strange_words_come_back_from_an_npz(tmp_path):
    words = [*STRANGE, "line\nbreak"]
    array = np.arange(2.0 * len(words)).reshape(-1, 2)
    fp.WordVectors(words, array).save(tmp_path / "v.npz")
    for mmap in (False, True):
        table = fp.WordVectors.load(tmp_path / "v.npz", mmap=mmap)
        assert table.words == words
        np.testing.assert_array_equal(table.array, array)


def test_strange_words_come_back_from_a_text_or_are_refused(tmp_path):
    words = [word for word in STRANGE if "\ud800" not in word]
    array = np.arange(2 * len(words), dtype=np.float32).reshape(-1, 2)
    fp.WordVectors(words, array).save(tmp_path / "v.txt")
    assert fp.WordVectors.load(tmp_path / "v.txt").words == words
    for word in ("line\nbreak", "lone \ud800"):
        with pytest.raises(fp.errors.InputError, match="line break or half a character"):
            fp.WordVectors([word], [[1.0]]).save(tmp_path / "w.txt")
    assert not (tmp_path / "w.txt").exists()


def test_one_long_word_does_not_fill_the_memory(tmp_path):
    words = [f"w{i}" for i in range(2000)] + ["x" * 200_000]  # 1.6 GB as NumPy's own array
    array = np.ones((2001, 2), dtype=np.float32)
    tracemalloc.start()
    try:
        fp.WordVectors(words, array).save(tmp_path / "v.npz")
        assert fp.WordVectors.load(tmp_path / "v.npz").words == words
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()


def test_large_finite_vectors_are_no_reason_to_refuse_them():
    table = fp.WordVectors(["ape", "bee"], np.full((2, 4), 3e38, dtype=np.float32))
    assert len(table) == 2
    with pytest.raises(fp.errors.InputError, match="'bee'"):
        fp.WordVectors(["ape", "bee"], [[1.0, 2.0], [np.inf, -np.inf]])


def test_a_missing_file_is_our_error(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.txt"):
        with pytest.raises(FileNotFoundError, match="no file"):
            fp.WordVectors.load(path)
