"""The folder of a journal: what lies where, and what is none of ours."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewpairs.errors import FewpairsError, FileFormatError, JournalError
from fewpairs.files.writing import atomic
from fewpairs.oracle.journal.lock import unwritable

FORMAT = "fewpairs journal"
#: Of the folder; a higher one is refused.
VERSION = 1
DTYPES = ("float64", "float32")
_FACTS, _SIMILARITY, SEEDS = "journal.json", "similarity.json", "seeds.json"
LOCK = "lock"
_BLOCK, _TAIL = (re.compile(rf"(\d{{8,18}})\.{kind}") for kind in ("block", "tail"))
#: What a process that was killed while it made the folder may have left in it.
_OURS = re.compile(r"lock(\.recovery)?|.*\.fewpairs-part")
#: Descriptions are short, and nobody can make us read a long one.
_LONGEST = 2**20
#: Written and removed again before anything is bought: a full disk takes no more.
_PROBE = 2**16


@dataclass(frozen=True)
class Shelf:
    """The part of a journal that belongs to one similarity.

    Parameters
    ----------
    path : Path
    identity : str
        What the similarity is known by.
    """

    path: Path
    identity: str

    @property
    def checksum(self) -> str:
        """The identity in short, as blocks carry it."""
        return _checksum(self.identity)

    def blocks(self) -> list[Path]:
        """Return the blocks, oldest first."""
        return self._numbered(_BLOCK)

    def tails(self) -> list[Path]:
        """Return what is not in blocks yet, oldest first."""
        return self._numbered(_TAIL)

    def _numbered(self, name: re.Pattern[str]) -> list[Path]:
        try:
            found = [entry for entry in self.path.iterdir() if name.fullmatch(entry.name)]
        except FileNotFoundError:
            return []
        return sorted(found, key=lambda entry: int(entry.stem))

    def next_block(self) -> Path:
        """Return where the next block is written."""
        last = [int(found.stem) for found in self.blocks()[-1:]]
        # A block that was set aside keeps its number.
        with suppress(FileNotFoundError):
            last += [
                int(entry.name.split(".")[0])
                for entry in self.path.iterdir()
                if re.fullmatch(r"\d{8,18}\.block\.bad", entry.name)
            ]
        return self.path / f"{max(last, default=0) + 1:08d}.block"

    def set_aside(self, bad: Iterable[Path]) -> None:
        """Give damaged files another name, by which nobody reads them."""
        for path in bad:
            try:
                path.rename(path.with_name(path.name + ".bad"))
            except OSError as error:
                raise unwritable(self.path, error) from error

    def make(self) -> None:
        """Make the folder of this similarity, with its name in it."""
        make_folder(self.path)
        if not (self.path / _SIMILARITY).exists():
            write_json(self.path / _SIMILARITY, {"identity": self.identity})

    def check(self) -> None:
        """Refuse a folder that calls itself another similarity's."""
        described = self.path / _SIMILARITY
        if described.exists() and read_json(described).get("identity") != self.identity:
            raise JournalError(
                f"{str(self.path)!r} belongs to another similarity than its name says.",
                "Values of another similarity would look exactly like right ones.",
                "Choose another folder for the journal.",
            )


class Folder:
    """A journal on disk.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def shelf(self, identity: str) -> Shelf:
        """Return the part that belongs to a similarity."""
        title = re.sub(r"[^a-z0-9]+", "-", identity.partition("{")[0].lower()).strip("-")[:40]
        name = f"{title or 'similarity'}-{_checksum(identity)[:16]}"
        return Shelf(self.path / name, identity)

    def shelves(self) -> Iterator[Shelf]:
        """Yield the parts of all similarities."""
        for entry in sorted(self.path.iterdir()):
            if (entry / _SIMILARITY).is_file():
                yield Shelf(entry, str(read_json(entry / _SIMILARITY).get("identity")))

    def exists(self) -> bool:
        """Say whether a journal is there; refuse what is something else, or newer."""
        try:
            return self._exists()
        except FewpairsError:
            raise
        except (OSError, ValueError) as error:  # no name of a file, or a folder of somebody else
            raise unwritable(self.path, error) from error

    def _exists(self) -> bool:
        if (self.path / _FACTS).is_file():
            self._check(read_json(self.path / _FACTS))
            return True
        if not self.path.exists():
            return False
        if not self.path.is_dir() or any(
            not _OURS.fullmatch(entry.name) for entry in self.path.iterdir()
        ):
            raise JournalError(
                f"{str(self.path)!r} is no journal, and not empty.",
                "What is in it may belong to somebody else.",
                "Name a folder that does not exist yet, or one that a journal has made.",
            )
        return False

    def make_room(self) -> None:
        """Make the folder itself, in which a lock can lie."""
        make_folder(self.path)

    def open(self, dtype: str | None) -> str:
        """Return the type of the values, in a journal that is made if there is none yet."""
        if not self.exists():
            facts = {"format": FORMAT, "version": VERSION, "dtype": dtype or DTYPES[0]}
            write_json(self.path / _FACTS, facts)
        found: str = read_json(self.path / _FACTS)["dtype"]
        if dtype is not None and dtype != found:
            raise JournalError(
                f"the journal {str(self.path)!r} holds {found}, and dtype={dtype!r} was given.",
                "A run that mixes both would not be the run that it was.",
                "Leave dtype out, or choose another folder.",
            )
        return found

    def probe(self) -> None:
        """Write to the folder and remove it again, before anything is paid for."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.path, suffix=".fewpairs-part") as file:
                file.write(b"\0" * _PROBE)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _check(self, facts: dict[str, Any]) -> None:
        version = facts.get("version")
        if facts.get("format") != FORMAT or type(version) is not int:
            raise JournalError(
                f"{str(self.path / _FACTS)!r} is not the description of a journal.",
                "What lies beside it may be anything.",
                "Choose another folder.",
            )
        if version > VERSION:
            raise JournalError(
                f"the journal {str(self.path)!r} has the version {version:.6g}; this fewpairs "
                f"knows {VERSION}.",
                "A newer one may mean other things by the same names.",
                "Upgrade fewpairs: pip install -U fewpairs",
            )
        if facts.get("dtype") not in DTYPES:
            raise JournalError(
                f"the journal {str(self.path)!r} holds values of the type {facts.get('dtype')!r}.",
                f"This fewpairs knows {' and '.join(DTYPES)}.",
                "Upgrade fewpairs, or choose another folder.",
            )


def make_folder(path: Path) -> None:
    """Make a folder of a journal, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def write_json(path: Path, facts: dict[str, Any]) -> None:
    """Write a description, whole or not at all."""
    with atomic(path) as unfinished:
        unfinished.write_text(json.dumps(facts, indent=1, sort_keys=True), encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a description; what is none raises FileFormatError."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_LONGEST))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FileFormatError(
            f"{str(path)!r} is damaged: it is not a description in JSON.",
            "Without it nobody can tell what lies beside it.",
            "Restore it from a copy, or choose another folder.",
        )
    return found


def _checksum(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
