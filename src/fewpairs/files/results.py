"""What results can become: a data frame, a file, a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from fewpairs.errors import MissingExtraError
from fewpairs.files.tables import write_table


class Tabular:
    """A result that is a table; its columns are those that its class documents.

    With ``texts=True`` the items themselves are beside their ids, where they are texts; pairs of
    records have a column for each field.
    """

    #: Whether texts are there unless asked otherwise.
    _with_texts: ClassVar[bool] = False

    def _columns(self, *, texts: bool) -> dict[str, Any]:
        raise NotImplementedError

    def to_pandas(self, *, texts: bool | None = None) -> Any:
        """Return the table as a pandas data frame."""
        try:
            import pandas as pd  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtraError("pandas", "frames", "to_pandas") from error
        return pd.DataFrame(self._chosen(texts))

    def to_polars(self, *, texts: bool | None = None) -> Any:
        """Return the table as a polars data frame."""
        try:
            import polars as pl  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtraError("polars", "frames", "to_polars") from error
        columns = self._chosen(texts)
        try:
            return pl.DataFrame(columns)
        except TypeError:  # ids of several kinds, which a column of polars holds as they are
            whole = {
                name: pl.Series(values, dtype=pl.Object) if _is_mixed(values) else values
                for name, values in columns.items()
            }
            return pl.DataFrame(whole)

    def to_csv(self, path: str | Path, *, texts: bool | None = None, escape: bool = True) -> None:
        """Write the table to a file, .csv or another that its ending says; the old one or the new.

        A text that a spreadsheet would take for a formula gets an apostrophe before it, unless
        `escape` is False.
        """
        write_table(Path(path), self._chosen(texts), escape=escape)

    def _chosen(self, texts: bool | None) -> dict[str, Any]:
        return self._columns(texts=self._with_texts if texts is None else texts)


def _is_mixed(values: Any) -> bool:
    """Say whether a column has values of several kinds, or what is made of several."""
    kinds = {type(value) for value in values} if isinstance(values, list) else set()
    return len(kinds) > 1 or tuple in kinds


class Paged:
    """A result that is shown on a page of its own."""

    def report(
        self,
        path: str | Path,
        *,
        texts: Any = None,
        ids: Any = None,
        labels: Any = None,
        title: str = "",
        most: int = 10_000,
    ) -> None:
        """Write one HTML page to look at: what is stated, a map of the items, pairs side by side.

        It needs no network and evaluates nothing (docs/report.md).

        Parameters
        ----------
        path : str or Path
            The old file or the new one, never half of it.
        texts : sequence, optional
            What to show of each item, where that is not the item itself; of two sets, a pair.
        ids : sequence, optional
            Your names of the items, where the result has none, or others; of two sets, a pair.
        labels : sequence, optional
            A label for each item of one set: a colour on the map. By default its group or cluster.
        title : str
        most : int, default=10,000
            Items on the page, of each set; the page says so where these are not all.

        Examples
        --------
        >>> import fewpairs as fp
        >>> names = ["Anna Berg", "Ana Berg", "Bob Stone", "Bob Ston", "Carl May"]
        >>> found = fp.find_pairs(names, fp.StringSimilarity("jaro_winkler"), above=0.95)
        >>> found.report("names.html")  # doctest: +SKIP
        """
        self._write_page(path, texts=texts, ids=ids, labels=labels, title=title, most=most)

    def _write_page(self, path: str | Path, **shown: Any) -> None:
        raise NotImplementedError
