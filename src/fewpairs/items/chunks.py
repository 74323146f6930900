"""Single items of what comes in parts: collections of Dask, streams of columns and frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fewpairs.errors import InputError


def is_dask(items: Any) -> bool:
    """Say whether these are a bag, an array or a column of Dask."""
    kind = type(items)
    return kind.__module__.partition(".")[0] == "dask" and kind.__name__ in (
        "Array", "Bag", "Index", "Series",
    )  # fmt: skip


def is_numeric(collection: Any) -> bool:
    """Say whether a collection of Dask holds numbers, which take no more than their places."""
    kind = getattr(getattr(collection, "dtype", None), "kind", "O")
    return type(collection).__name__ == "Array" or kind in "biuf"


def is_persisted(collection: Any) -> bool:
    """Say whether the parts of a collection are on a cluster, where only its client finds them."""
    return any(
        type(part).__name__ == "Future" for part in dict(collection.__dask_graph__()).values()
    )


def dask_items(collection: Any, **how: Any) -> Iterator[Any]:
    """Compute a collection part by part, and give its items."""
    for part in collection.to_delayed():
        yield from part.compute(**how)


def stream_items(stream: Any, column: str | None) -> Iterator[Any]:
    """Give the items of a stream, of which each element is an item, or holds some.

    Parameters
    ----------
    stream : iterable
    column : str or None
        Of frames.
    """
    if isinstance(stream, (bytes, dict)) or not isinstance(stream, Iterable):
        raise InputError(
            f"the source is a {type(stream).__name__}.",
            "Items are read from it one after the other.",
            "Pass the path of a file, a bag or column of Dask, or an iterable.",
        )
    for element in stream:
        if isinstance(element, str):
            yield element
        else:
            yield from _items_of(element, column)


def _items_of(element: Any, column: str | None) -> Iterable[Any]:
    import narwhals.stable.v2 as nw  # noqa: PLC0415 - the command starts fast

    if hasattr(element, "to_pylist") and hasattr(element, "schema"):  # a batch or table of Arrow
        return _chosen(element.schema.names, column, lambda name: element[name].to_pylist())
    if hasattr(element, "to_pylist"):
        found: list[Any] = element.to_pylist()
        return found
    part = nw.from_native(element, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(part, nw.Series):
        return part.to_list()
    if isinstance(part, nw.DataFrame):
        return _chosen(part.columns, column, lambda name: part[name].to_list())
    return [element]


def _chosen(names: list[str], column: str | None, read: Any) -> list[Any]:
    if column is None and len(names) == 1:
        column = names[0]
    if column not in names:
        raise InputError(
            f"the parts of the stream have the columns {', '.join(map(str, names[:8]))}.",
            "One item is one value; which column holds the items cannot be guessed.",
            "Pass column=, one of these names.",
        )
    found: list[Any] = read(column)
    return found
