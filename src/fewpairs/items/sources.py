"""Where items come from: a file or standard input, opened once and for all formats."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from fewpairs.errors import SPREADSHEETS, FewpairsError, InputError, MissingFileError

#: What reading a damaged file, or one of another format, raises.
READ_ERRORS = (OSError, EOFError, ValueError, RecursionError, csv.Error, zlib.error)
#: How standard input is called on the command line.
STANDARD_INPUT = Path("-")
#: Names for a character that is hard to type.
_TYPED = {"\\t": "\t", "tab": "\t"}


@dataclass(frozen=True)
class Source:
    """A file with items, and what its name does not say; or standard input.

    Use `Source.of`, which refuses what cannot be read.

    Attributes
    ----------
    path : Path
    ending : str
        Which reader it takes, in lower case: ``".csv"``, ``".jsonl.gz"``.
    encoding : str
        Of a text.
    delimiter : str or None
        Between the cells of a line; None leaves it to the ending.
    content : bytes or None
        What came from standard input, which can be read only once.
    """

    path: Path
    ending: str
    encoding: str = "utf-8"
    delimiter: str | None = None
    content: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        path: Path,
        known: Iterable[str] = (),
        *,
        encoding: str = "utf-8",
        delimiter: str | None = None,
        form: str | None = None,
    ) -> Source:
        r"""Look a file up, or read standard input to its end.

        Parameters
        ----------
        path : Path
            "-" is standard input, where its format is given.
        known : iterable of str
            Endings to tell apart; of ``a.csv.gz`` the longer one is taken if it is among them.
        encoding : str, default="utf-8"
        delimiter : str, optional
            One character; ``tab`` and ``\t`` stand for that one.
        form : str, optional
            Of standard input: an ending without its first dot.
        """
        checked = _encoding(encoding), _delimiter(delimiter)
        if path == STANDARD_INPUT and form is not None:
            return cls(path, "." + form.lower().removeprefix("."), *checked, _standard_input())
        _refuse_no_file(path)
        double = "".join(path.suffixes[-2:]).lower()
        return cls(path, double if double in known else path.suffix.lower(), *checked)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path.name if self.content is None else "standard input"

    def open_bytes(self) -> BinaryIO:
        """Open it as it is."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    @property
    def is_packed(self) -> bool:
        """Whether its name ends in .gz."""
        return self.ending.endswith(".gz")

    def open_unpacked(self) -> BinaryIO:
        """Open it, unpacked if it ends in .gz."""
        plain = self.open_bytes()
        return cast("BinaryIO", _Unpacked(fileobj=plain, mode="rb")) if self.is_packed else plain

    def open_text(self, newline: str = "\n") -> TextIO:
        """Open it as a text, unpacked if it ends in .gz.

        Only a line feed ends a line; other line ends of Unicode may be part of an item.
        """
        file = self.open_unpacked()
        # "-sig" leaves out the mark that spreadsheets write at the beginning.
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return io.TextIOWrapper(file, encoding=encoding, newline=newline)


class _Unpacked(gzip.GzipFile):
    """A packed file that closes what it was unpacked from."""

    def close(self) -> None:
        packed: Any = self.fileobj
        super().close()
        if packed is not None:
            packed.close()


@contextmanager
def one_message(source: Source) -> Iterator[None]:
    """Turn whatever a reader raises into one message that names the file."""
    try:
        yield
    except READ_ERRORS as error:
        if isinstance(error, FewpairsError):
            raise
        raise InputError(
            f"{source.name} cannot be read: {str(error).rstrip('. ')}.",
            "Nothing was evaluated.",
            _advice(error, source),
        ) from error


def _advice(error: Exception, source: Source) -> str:
    """Say what to do about a file that cannot be read."""
    if isinstance(error, UnicodeError):
        encoding = "UTF-8" if source.encoding == "utf-8" else source.encoding
        said = f"Text files are read as {encoding}"
        if _begins_as_utf_16(source):
            return f"{said}, and this one begins as UTF-16 does: pass --encoding utf-16."
        return f"{said}; --encoding names another."
    if source.ending.startswith(".jsonl"):
        return ".jsonl files hold one object a line: mend the file."
    if source.ending == ".npy":
        return ".npy files hold numbers, as numpy.save writes them."
    return "Check the file."


def _begins_as_utf_16(source: Source) -> bool:
    with suppress(*READ_ERRORS), source.open_unpacked() as file:
        return file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return False


def refuse_spreadsheet(source: Source) -> None:
    """Say what to do with a file that a spreadsheet program has written."""
    if source.ending in SPREADSHEETS:
        raise InputError(
            f"{source.name} is a spreadsheet.",
            "It may hold several tables, and no reader of them is here.",
            "Save the table as .csv in the program that made it, and pass that file.",
        )


def texts_only(lines: Iterable[str]) -> Iterator[str]:
    """Refuse what can be decoded and is no text: UTF-16 without a mark, or bytes of a program."""
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            message = f"line {number} has the character NUL, which no text has"
            raise UnicodeError(message)
        yield line


def _standard_input() -> bytes:
    stream: Any = sys.stdin
    if stream is None:  # as after <&- in a shell
        raise InputError(
            "standard input is closed.", "It should hold the items.", "Pass a file, or pipe one in."
        )
    content: bytes = stream.buffer.read()
    return content


def _refuse_no_file(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise InputError(
            f"{str(path)!r} is a folder, a pipe or a device.",
            "The ending of a file's name says how it is read, and some are read twice.",
            "Write the items to a file first, for example items.txt; match, dedupe and neighbors "
            "read standard input as -.",
        )
    if not path.is_file():
        raise MissingFileError(
            f"there is no file {str(path)!r}.", "It holds the items.", "Check the path."
        )


def _encoding(name: str) -> str:
    try:
        found = codecs.lookup(name).name
        io.TextIOWrapper(io.BytesIO(), encoding=found)  # refuses "hex", which gives bytes
    except (LookupError, ValueError, TypeError) as error:
        raise InputError(
            f"the encoding {name!r} is not known.",
            "It says which bytes stand for which letters.",
            "Pass for example --encoding utf-8, latin-1, cp1252 or utf-16.",
        ) from error
    return found


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    character = _TYPED.get(given, given)
    if len(character) != 1 or character in '"\r\n\0':
        raise InputError(
            f"the delimiter is {given!r}.",
            "It is the character between two cells of a line.",
            "Pass one character, for example --delimiter ';' or --delimiter tab.",
        )
    return character
