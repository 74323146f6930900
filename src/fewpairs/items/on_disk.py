"""Items of files, of Dask and of streams that stay on disk: read once, part by part, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.errors import FileFormatError, InputError, UnknownNameError
from fewpairs.items.chunks import dask_items, is_dask, is_persisted, stream_items
from fewpairs.items.readers import choose_column
from fewpairs.items.rows import ROWS
from fewpairs.items.sources import Source, one_message, refuse_spreadsheet
from fewpairs.items.spool import Spool, written
from fewpairs.items.stored import Stored, is_missing
from fewpairs.parallel import require_memory

#: Where a file has no further row, or no item is left for one.
_GONE: Any = object()


class ItemsOnDisk(Stored):
    r"""Items of a file, of Dask or of a stream, which are never in memory all at once.

    They are read once, part by part, and copied to a file without a name, where any of them is
    found; 8 bytes of each are in memory. What happens to the original afterwards does not matter.
    To the workers of a cluster goes where the items come from, not what they are: each worker reads
    the same file in the same place, or computes the same bag, and refuses other items. A stream
    cannot be read again, so its items are sent.

    Parameters
    ----------
    source : str, Path, dask.bag.Bag, column of a dask.dataframe, or iterable
        A file: .csv, .tsv, .jsonl, .txt, each also with .gz, or .parquet. A stream may give single
        items, or parts: columns and frames of pandas and polars, arrays and batches of Arrow.
    column : str, optional
        Of a table that has several. ``fields.title`` is a field of a field.
    encoding : str, default="utf-8"
        Of a text file.
    delimiter : str, optional
        Between the cells of a .csv file, if it is not the comma (of a .tsv file, the tab).
    folder : str or Path, optional
        Where the copy is kept; where that is no folder, as on a worker, and by default, where
        temporary files are. In some systems that is memory.

    Examples
    --------
    >>> import fewpairs as fp
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "animals.csv"
    ...     _ = path.write_text("id,name\n7,ape\n8,bee\n9,cat\n", encoding="utf-8")
    ...     names = fp.ItemsOnDisk(path, "name")
    >>> len(names), names[[2, 0]]
    (3, ['cat', 'ape'])
    """

    def __init__(
        self,
        source: Any,
        column: str | None = None,
        *,
        encoding: str = "utf-8",
        delimiter: str | None = None,
        folder: str | Path | None = None,
    ) -> None:
        self._origin: _File | _Dask | None = None
        items: Iterable[Any]
        if isinstance(source, (str, Path)):
            path = str(Path(source).resolve())
            items = self._origin = _File(path, column, encoding, delimiter)
        elif is_dask(source):
            items = dask_items(source)
            self._origin = None if is_persisted(source) else _Dask(source)
        else:
            items = stream_items(source, column)
        self._folder = None if folder is None else str(folder)
        self._spool = self._copied(items)

    def _copied(self, items: Iterable[Any]) -> Spool:
        there = self._folder is not None and Path(self._folder).is_dir()
        return written(items, self._folder if there else None)

    def __reduce__(self) -> tuple[Any, ...]:
        spool = self._spool
        if self._origin is not None:
            return _read_again, (self._origin, self._folder, len(self), spool.checksum)
        require_memory(
            len(spool.content),
            "items of a stream that are sent to other processes",
            "Write them to a file that all of these can read, and pass its path",
        )
        sent = Spool(spool.content[:], spool.ends, spool.pickled, spool.missing, spool.checksum)
        return _as_sent, (sent,)

    def __repr__(self) -> str:
        return f"<{len(self):,} items on disk, {len(self._spool.content):,} bytes>"

    def __len__(self) -> int:
        return len(self._spool.ends)

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        """Whether every item is a text."""
        return not len(self._spool.pickled)

    def _item(self, k: int) -> Any:
        return self._spool.item(k)

    def missing(self) -> list[int]:
        """Return the positions of None and NaN."""
        return self._spool.missing

    def column(self, name: str) -> list[Any]:
        """Read another column of the same file into memory: ids, for example."""
        if not isinstance(self._origin, _File):
            raise InputError(
                f"the column {name!r} was named, and the items are not those of a file.",
                "Other columns are read from the same file.",
                "Pass the column itself.",
            )
        return list(self._beside(self._origin, name))

    def _beside(self, origin: _File, name: str) -> Iterator[Any]:
        """Read another column, and see that the items beside it are still the same."""
        for cells, item in zip_longest(origin.rows(origin.column, name), self, fillvalue=_GONE):
            if cells is _GONE or not _same(cells[0], item):
                raise FileFormatError(
                    f"{origin} was changed after its items were read.",
                    f"Values of the column {name!r} would belong to other items.",
                    "Read the items again, or pass the column itself.",
                )
            yield cells[1]

    def packed(self) -> tuple[Any, Any]:
        """Return texts one after the other as UTF-8, and where each ends, as they are on disk."""
        return np.frombuffer(self._spool.content, dtype=np.uint8), self._spool.ends


@dataclass(frozen=True)
class _File:
    """A column of a file, which any process that has it can read."""

    path: str
    column: str | None
    encoding: str
    delimiter: str | None

    def __iter__(self) -> Iterator[Any]:
        return (cells[0] for cells in self.rows(self.column))

    def rows(self, *columns: str | None) -> Iterator[tuple[Any, ...]]:
        source = Source.of(Path(self.path), ROWS, encoding=self.encoding, delimiter=self.delimiter)
        refuse_spreadsheet(source)
        if source.ending not in ROWS:
            raise UnknownNameError("file ending", source.ending, ROWS, where=f"of {source.name}")
        with one_message(source):
            rows = ROWS[source.ending](
                source, lambda names: [choose_column(name, names, source) for name in columns]
            )
            yield from (cells for _, cells in rows)

    def __str__(self) -> str:
        return repr(self.path)


@dataclass(frozen=True, eq=False)
class _Dask:
    """A collection, which any process can compute."""

    collection: Any

    def __iter__(self) -> Iterator[Any]:
        # In this thread: a task that waits for other tasks may wait for ever.
        return dask_items(self.collection, scheduler="synchronous")

    def __str__(self) -> str:
        return "the Dask collection"


def _read_again(origin: _File | _Dask, folder: str | None, count: int, checksum: str) -> Stored:
    """Read the same items in another process, and see that they are the same."""
    items = ItemsOnDisk.__new__(ItemsOnDisk)
    items._origin, items._folder = origin, folder  # noqa: SLF001 - its own
    items._spool = spool = items._copied(origin)  # noqa: SLF001
    if (len(items), spool.checksum) != (count, checksum):
        raise FileFormatError(
            f"{origin} has {len(items):,} items here, and {count:,} where the run was started, "
            "or others, or in another order.",
            "Row 3 of the matrix belongs to item 3.",
            "Put the same file in the same place on every machine, and leave it alone during a "
            "run; of a bag, let every computation give the same.",
        )
    return items


def _as_sent(spool: Spool) -> Stored:
    items = ItemsOnDisk.__new__(ItemsOnDisk)
    items._origin, items._folder, items._spool = None, None, spool  # noqa: SLF001 - its own
    return items


def _same(one: Any, other: Any) -> bool:
    """Say whether an item is what it was; two that are missing are."""
    return (is_missing(one) and is_missing(other)) or one == other
